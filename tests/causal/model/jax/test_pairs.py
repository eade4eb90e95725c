"""The same design written for PyTorch and for JAX has the same verdict: sound ones, leaking twins, conditions."""

from __future__ import annotations

from needs import need

need("torch")
need("jax")

import attnproof as ap
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax import lax

N, D = 8, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(1, N, D)).astype(np.float32)
W = RNG.normal(size=(D, D)).astype(np.float32)
TABLE = RNG.normal(size=(7, D)).astype(np.float32)
TAPS = RNG.normal(size=(D, D, 3)).astype(np.float32)
TOKENS = RNG.integers(0, 7, (1, N))
T = torch.from_numpy


def attention(low, offset=0):
    """Masked by `low` from the diagonal + 1 + offset on."""
    mask = np.triu(np.full((N, N), low, np.float32), 1 + offset)
    mask = np.where(np.triu(np.ones((N, N), bool), 1 + offset), mask, np.float32(0))
    return (
        lambda x: torch.softmax((x @ T(W)) @ x.mT + T(mask), -1) @ x,
        lambda x: jax.nn.softmax((x @ W) @ x.mT + mask, -1) @ x,
    )


def convolved(left, right):
    return (
        lambda x: torch.conv1d(torch.nn.functional.pad(x.mT, (left, right)), T(TAPS)).mT,
        lambda x: lax.conv_general_dilated(x.mT, TAPS, (1,), [(left, right)]).mT,
    )


def recurrent(backwards):
    def of_torch(x):
        state, seen = torch.zeros(1, D), []
        for t in range(N)[:: -1 if backwards else 1]:
            state = torch.tanh(state @ T(W) + x[:, t])
            seen.append(state)
        return torch.stack(seen[:: -1 if backwards else 1], 1)

    def of_jax(x):
        def step(state, row):
            state = jnp.tanh(state @ W + row)
            return state, state

        return lax.scan(step, jnp.zeros((1, D)), x.swapaxes(0, 1), reverse=backwards)[1].swapaxes(0, 1)

    return of_torch, of_jax


def tokens(offset):
    ends = np.tril(np.ones((N, N), np.float32), offset)
    return (
        lambda t: T(ends) @ torch.nn.functional.embedding(t, T(TABLE)),
        lambda t: ends @ jnp.take(jnp.asarray(TABLE), t, axis=0),
    )


def normed(axis):
    return (
        lambda x: torch.cumsum((x - x.mean(axis, keepdim=True)) / (x.var(axis, keepdim=True) + 1).sqrt(), 1),
        lambda x: jnp.cumsum((x - x.mean(axis, keepdims=True)) / jnp.sqrt(x.var(axis, keepdims=True) + 1), 1),
    )


PAIRS = {
    "cumulative sum": (lambda x: x.cumsum(1), lambda x: jnp.cumsum(x, 1), X),
    "cumulative sum from the end": (lambda x: x.flip(1).cumsum(1), lambda x: jnp.cumsum(x[:, ::-1], 1), X),
    "attention, −∞": (*attention(-np.inf), X),
    "attention, −∞, one further": (*attention(-np.inf, 1), X),
    "attention, −1e9": (*attention(-1e9), X),
    "attention, −5": (*attention(-5), X),
    "convolution from the left": (*convolved(2, 0), X),
    "convolution around": (*convolved(1, 1), X),
    "recurrence": (*recurrent(False), X),
    "recurrence backwards": (*recurrent(True), X),
    "norm of features": (*normed(2), X),
    "norm of the sequence": (*normed(1), X),
    "tokens": (*tokens(0), TOKENS),
    "tokens, one further": (*tokens(1), TOKENS),
    "shift": (
        lambda x: torch.cat([torch.zeros(1, 1, D), x[:, :-1]], 1),
        lambda x: jnp.concatenate([jnp.zeros((1, 1, D)), x[:, :-1]], 1),
        X,
    ),
    "roll": (lambda x: x.roll(1, 1), lambda x: jnp.roll(x, 1, 1), X),
    "the largest of all": (lambda x: x - x.max(1, keepdim=True)[0], lambda x: x - x.max(1, keepdims=True), X),
    "the largest so far": (lambda x: x.cummax(1)[0], lambda x: lax.cummax(x, axis=1), X),
    "sorted": (lambda x: x.sort(1)[0], lambda x: jnp.sort(x, 1), X),
    "place of the largest": (
        lambda x: torch.gather(x, 1, x.argmax(1, keepdim=True)).expand(1, N, D),
        lambda x: jnp.broadcast_to(jnp.take_along_axis(x, x.argmax(1, keepdims=True), 1), (1, N, D)),
        X,
    ),
}
PROVED = {"cumulative sum", "attention, −∞", "convolution from the left", "recurrence", "norm of features", "tokens"}
PROVED |= {"shift", "the largest so far"}


@pytest.mark.parametrize("name", PAIRS)
def test_both_libraries_agree(name):
    of_torch, of_jax, x = PAIRS[name]
    ours, theirs = ap.check_model(of_torch, T(x)), ap.check_model(of_jax, jnp.asarray(x))
    assert ours.status is theirs.status, (ours.reasons, theirs.reasons)
    expected = "PROVED" if name in PROVED else "PROVED_IF" if name.endswith("1e9") else "REFUTED"
    assert theirs.status.name == expected
    assert bool(ours.conditions) == bool(theirs.conditions)  # JAX takes a softmax apart
    assert ours.details["earliest"] == theirs.details["earliest"]
    assert ours.details["latest"] == theirs.details["latest"]
    if expected == "REFUTED":
        assert theirs.witness.replay()
        assert theirs.witness.setting.precision == "float64"
        assert theirs.details["blame"]["entry"]["line"].startswith(__file__)


def test_there_are_enough_pairs_with_leaks_among_them():
    assert len(PAIRS) >= 12
    assert len(PAIRS) - len(PROVED) >= 6
