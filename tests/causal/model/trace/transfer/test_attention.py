"""Attention, written out in NumPy: (batch, heads, positions, features)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from attnproof.causal.model.trace.domain import POSITIVE, VARIES, ZERO, full, ranked, uniform
from attnproof.causal.model.trace.transfer import attention
from attnproof.causal.model.trace.transfer.attention import (
    Bias,
    attended,
    attended_rows,
    hidden_pairs,
    rows_of,
    rows_of_mask,
)
from shadow_probe import Operand, Run, check_exact, constant, normal, varying

N = 5
X = normal(N, 3)
X4 = (1, 1, N, 3)
FUTURE = ~np.tri(N, dtype=bool)


def operand(x=X):
    """The positions as queries, keys or values of one head."""
    return Operand(x[None, None], ranked((1, 1, *x.shape), 2, np.arange(len(x))))


def softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def plain(x, bias=0.0, causal=False):
    scores = x @ x.T + bias
    return (softmax(np.where(FUTURE, -np.inf, scores) if causal else scores) @ x)[None, None]


def attend(bias=None, causal=False, run=None):
    return attended(run or Run(), operand(), operand(), operand(), bias, causal, X4)


def test_without_a_mask_every_row_reads_every_row():
    s, last = attend()
    check_exact(plain, s, varying(X))
    assert last == N - 1


def test_causal_attention_joins_prefixes():
    s, last = attend(causal=True)
    check_exact(lambda x: plain(x, causal=True), s, varying(X))
    assert last == N - 1


def test_row_0_of_causal_attention_is_value_0_alone():
    later = Operand(X[None, None], ranked((1, 1, N, 3), 2, np.arange(N)[::-1]))
    s, _ = attended(Run(), later, later, operand(), None, True, X4)
    assert (full(s)[1][0, 0, 0] == 0).all()
    assert (full(s)[1][0, 0, 1] == N - 1).all()


@pytest.mark.parametrize("boolean", [False, True])
def test_a_mask_hides_exactly_and_the_run_is_told(boolean):
    mask = constant(~FUTURE if boolean else np.where(FUTURE, -np.inf, 0.0))
    run = Run()
    s, last = attend(Bias(mask, boolean, lambda where: where), run=run)
    check_exact(lambda x: plain(x, np.where(FUTURE, -np.inf, 0.0)), s, varying(X))
    assert last == N - 1
    assert run.about["values"] == (mask,)


def test_a_mask_and_causal():
    mask = np.where(np.eye(N, k=-2), -np.inf, 0.0)
    s, _ = attend(Bias(constant(mask), False, lambda where: where), causal=True)
    check_exact(lambda x: plain(x, mask, causal=True), s, varying(X))


@pytest.mark.parametrize("all_zero", [False, True])
def test_a_large_finite_number_hides_where_the_weight_is_0(all_zero):
    asked = []

    def dropped(where):
        asked.append(where)
        return where if all_zero else np.zeros_like(where)

    s, _ = attend(Bias(constant(np.where(FUTURE, -1e9, 0.0)), False, dropped))
    assert np.array_equal(asked[0].reshape(N, N), FUTURE)
    assert (full(s)[1][0, 0, :, 0] == (np.arange(N) if all_zero else N - 1)).all()


def test_grouped_queries_join_the_heads_of_keys_and_values():
    heads = ranked((1, 2, N, 3), 1, np.array([3, 4]))
    kv = Operand(normal(1, 2, N, 3), heads)
    q = Operand(normal(1, 4, N, 3), uniform((1, 4, N, 3), VARIES))
    s, _ = attended(Run(), q, kv, kv, None, False, (1, 4, N, 3))
    assert (full(s)[0] == 3).all()
    assert (full(s)[1] == 4).all()


def test_weights_that_are_all_0_make_0_and_no_other_kind_is_claimed():
    s, _ = attend(Bias(constant(np.eye(N, dtype=bool)), True, lambda where: where))
    assert (full(s)[2] == VARIES).all()
    above = operand()
    above.shadow = replace(above.shadow, kind=np.full((1, 1, 1, 1), POSITIVE, np.uint8))
    s, _ = attended(Run(), operand(), operand(), above, Bias(constant(~FUTURE), True, lambda w: w), False, X4)
    assert (full(s)[2] == VARIES).all()
    nothing = np.eye(N, dtype=bool)
    nothing[2] = False
    s, _ = attend(Bias(constant(nothing), True, lambda where: where))
    assert (full(s)[2][0, 0, 2] == ZERO).all()


# -- layers -----------------------------------------------------------------------------------------------------------


def layer(x, hidden):
    return (softmax(np.where(hidden, -np.inf, x @ x.T)) @ x + x)[None]


def never():
    raise AssertionError("no condition is due")


def test_a_layer_joins_what_the_mask_leaves_and_its_parameters():
    s = ranked((1, N, 3), 1, np.arange(N))
    rows = rows_of(s)
    result = attended_rows(rows, rows, FUTURE[None], [], [uniform((3,), VARIES)], (1, N, 3))
    check_exact(lambda x: layer(x, FUTURE), result, varying(X))
    loose = attended_rows(rows, rows, FUTURE[None], [], [uniform((3,), VARIES, 4, 4)], (1, N, 3))
    assert (full(loose)[1] == 4).all()


@pytest.mark.parametrize("reading", ["pairs", "padding", None])
@pytest.mark.parametrize("shape", [(N, N), (2, N, N), (2, 3, N, N)])
def test_a_row_of_a_mask_joins_its_keys_and_heads(shape, reading):
    axis = len(shape) - 1 if reading == "padding" and len(shape) == 2 else len(shape) - 2
    lo, hi = rows_of_mask(ranked(shape, axis, np.arange(N)), reading)
    joined = len(shape) == 2 and reading != "pairs"  # every query sees every key's padding
    assert hi.reshape(hi.shape[0], -1)[0].tolist() == ([N - 1] if joined else list(range(N)))
    assert lo.reshape(lo.shape[0], -1)[0].tolist() == ([0] if joined else list(range(N)))


def test_rows_join_features_and_tensors():
    s = ranked((1, N, 3), 1, np.arange(N))
    lo, hi = rows_of(ranked((1, 1, 3), 2, np.arange(3)), replace(s, lo=s.lo + 2, hi=s.hi + 2))
    assert hi.reshape(-1).tolist() == [2, 3, 4, 5, 6]
    assert lo.reshape(-1).tolist() == [0] * N


def test_two_axes_of_a_mask_are_read_as_told_and_with_care_otherwise():
    mask = constant(FUTURE)
    read = lambda reading, size=N: hidden_pairs(Run(), mask, True, reading, (size, size), never)  # noqa: E731
    assert np.array_equal(read("pairs"), FUTURE[None])
    assert np.array_equal(read("padding"), FUTURE[:, None, :])
    assert np.array_equal(read(None), FUTURE[None] & FUTURE[:, None, :])
    assert np.array_equal(read(None, N + 1), FUTURE[:, None, :])


def test_a_mask_with_heads_counts_where_every_head_hides():
    some = np.stack([FUTURE, np.zeros_like(FUTURE)])
    for mask in (some[None], some):
        run, given = Run(), constant(mask)
        assert not hidden_pairs(run, given, True, None, (N, N), never).any()
        assert (run.told, run.about["values"]) == (["values"], (given,))
    both = constant(np.stack([FUTURE, FUTURE])[None])
    assert np.array_equal(hidden_pairs(Run(), both, True, None, (N, N), never), FUTURE[None])


def test_large_finite_numbers_hide_on_a_condition():
    told = []
    mask = constant(np.where(FUTURE, -1e9, 0.0))
    found = hidden_pairs(Run(), mask, False, "pairs", (N, N), lambda: told.append(1))
    assert np.array_equal(found, FUTURE[None])
    assert told == [1]


def test_transposed_swaps_the_last_axes():
    s = attention.transposed(ranked((2, 3, 4), 1, np.arange(3)))
    assert s.shape == (2, 4, 3)
    assert s.hi.reshape(-1).tolist() == [0, 1, 2]
