"""Equal equations are gone through once; what looks alike and is not, is told apart."""

from __future__ import annotations

from dataclasses import replace

from needs import need

need("jax")

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attnproof.causal.model.trace.domain import full
from attnproof.causal.model.trace.jaxpr.registry import BINDINGS
from jaxpr_probe import claimed

N, D = 5, 3
X = jnp.asarray(np.random.default_rng(0).normal(size=(N, D)), jnp.float32)
SEEN = np.tril(np.ones((N, N), bool))


def layer(x, seen, low=-1e9):
    return jax.nn.softmax(jnp.where(seen, x @ x.T, low), -1) @ x


def latest(f):
    _, hi, _ = full(claimed(f, X).outputs[0].shadow)
    return hi.max(1).tolist()


def test_layers_alike_are_gone_through_once(monkeypatch):
    calls, honest = [], BINDINGS["dot_general"]

    def counted(call):
        calls.append(call)
        return honest.rule(call)

    monkeypatch.setitem(BINDINGS, "dot_general", replace(honest, rule=counted))

    def deep(x):
        for k in range(6):
            with jax.named_scope(f"layer_{k}"):
                x = layer(x, SEEN)
        return x

    trace = claimed(deep, X)
    assert len(calls) <= 4  # two for the first layer, and two for those on what a layer gives
    assert trace.operations["dot_general"] == 12
    assert [c.operation.module for c in trace.conditions] == [f"layer_{k}" for k in range(6)]  # every place is told


def test_constants_that_differ_are_no_equal_layers():
    assert latest(lambda x: layer(layer(x, SEEN), SEEN)) == [0, 1, 2, 3, 4]
    assert latest(lambda x: layer(layer(x, SEEN), np.roll(SEEN, 1, 1)))[0] > 0
    assert latest(lambda x: layer(x, SEEN, 0.0) + layer(x, SEEN, -1e9)) == [4] * N
    assert latest(lambda x: x[::-1] * 0.0 + (x[::-1] * 0.0) * 1.0) == [-1] * N
    assert latest(lambda x: x[::-1] * 0.0 + x[::-1] * 1.0) == [4, 3, 2, 1, 0]


def test_parameters_of_an_equation_are_told_apart():
    assert latest(lambda x: jnp.cumsum(x, 0) + jax.lax.cumsum(x, 0, reverse=True)) == [4] * N
    assert latest(lambda x: jnp.cumsum(x, 0) + jnp.cumsum(x, 0)) == [0, 1, 2, 3, 4]


def test_a_large_constant_shows_again_what_a_mask_hid_wherever_it_is_gone_through():
    def shown(x, number):
        scores = x @ x.T + jnp.where(SEEN, 0.0, -1e9)
        return jax.nn.softmax(scores + jnp.where(jnp.arange(N) == 3, number, 0.0), -1) @ x

    assert latest(lambda x: shown(shown(x, 8.0), -8.0)) == [0, 1, 2, 3, 4]
    assert latest(lambda x: shown(shown(x, 8.0), 1e9)) == [3, 3, 3, 3, 4]


def test_a_mask_may_be_scaled_away_wherever_it_is_gone_through():
    def scaled(x, mask):
        scores = (x @ x.T + jnp.where(SEEN, 0.0, mask)) * 1e-3
        return jax.nn.softmax(scores, -1) @ x

    assert latest(lambda x: scaled(scaled(x, -1e9), -1e9)) == [0, 1, 2, 3, 4]
    assert latest(lambda x: scaled(scaled(x, -1e9), -1e4)) == [4, 4, 4, 4, 4]
    assert latest(lambda x: scaled(scaled(x, -1e6), -1e9)) == [0, 1, 2, 3, 4]


def test_a_mask_may_be_scaled_away_in_steps_wherever_it_is_gone_through():
    def scaled(x, *factors):
        scores = x @ x.T + jnp.where(SEEN, 0.0, -1e9)
        for factor in factors:
            scores = scores * factor
        return jax.nn.softmax(scores, -1) @ x

    causal, all_seen = [0, 1, 2, 3, 4], [4, 4, 4, 4, 4]
    assert latest(lambda x: scaled(x, 1e-3, 1e-3) + scaled(x, 1e-3)) == causal
    assert latest(lambda x: scaled(x, 1e-3) + scaled(x, 1e-3, 1e-3, 1e-3)) == all_seen

    def deep(x):
        for _ in range(12):
            x = scaled(x, 0.25, 0.5)
        return x

    assert latest(deep) == causal


@pytest.mark.parametrize("factor", [1e-2, 1e-4])
@pytest.mark.parametrize(
    "again",
    [
        lambda s, factor: jax.jit(lambda s: s * factor)(s) * factor,
        lambda s, factor: jax.lax.fori_loop(0, 2, lambda _, s: s * factor, s),
        lambda s, factor: jax.lax.map(lambda row: row * factor, s) * factor,
        lambda s, factor: jax.lax.scan(lambda s, _: (s * factor, None), s, None, length=2)[0],
        lambda s, factor: jax.nn.log_softmax((s * factor).astype(jnp.bfloat16).astype(jnp.float32)) * factor,
    ],
)
def test_a_mask_may_be_scaled_away_in_loops_and_calls(again, factor):
    def attention(x):
        return jax.nn.softmax(again(x @ x.T + jnp.where(SEEN, 0.0, -1e9), factor), -1) @ x

    assert latest(attention) == ([0, 1, 2, 3, 4] if factor == 1e-2 else [4, 4, 4, 4, 4])


@pytest.mark.parametrize(("factor", "last"), [(0.1, [0, 1, 2, 3, 4]), (1e-8, [4, 4, 4, 4, 4])])
def test_a_mask_that_takes_away_a_large_number_is_scaled_as_one_that_adds(factor, last):
    assert latest(lambda x: jax.nn.softmax((x @ x.T - 1e9 * ~SEEN) * factor, -1) @ x) == last
    assert latest(lambda x: jax.nn.softmax(jnp.where(SEEN, x @ x.T, x @ x.T - 1e9) * factor, -1) @ x) == last
