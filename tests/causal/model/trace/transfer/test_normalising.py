"""Softmax and norms, without a tensor library."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.model.trace.domain import FIXED, MASKED, NEGINF, ZERO, Shadow, full
from attnproof.causal.model.trace.transfer import normalising as transfer
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from shadow_probe import Run, check, elements, intervals

SCORES = arrays.arrays(float, (2, 3), elements=st.sampled_from([-1.0, 0.0, 2.0, -np.inf]))
FLAGS = arrays.arrays(bool, (2, 3))


def softmax(x):
    """As the safe kernel does it: zeros for a row of −∞."""
    best = x.max(-1, keepdims=True)
    e = np.exp(x - np.where(best == -np.inf, 0, best))
    return e / np.where(e.sum(-1, keepdims=True) == 0, 1, e.sum(-1, keepdims=True))


@given(SCORES, FLAGS)
def test_softmax_joins_what_is_visible(x, p):
    hidden = x == -np.inf
    a, run = elements(x, p & ~hidden), Run()
    got = check(softmax, transfer.softmax(run, a.known(), 1, safe=True), a)
    assert (full(got)[2][hidden] == ZERO).all()
    assert ("starved" in run.told) == hidden.all(1).any()


def test_one_visible_score_has_weight_one():
    a = elements([[1.0, -np.inf], [1.0, 2.0]], [[True, False], [True, True]])
    assert intervals(transfer.softmax(Run(), a.known(), 1, safe=False)) == [None, None, [2, 3], [2, 3]]


def lowered_row():
    """Scores of ranks 0, 1, 2, of which the last is lowered."""
    s = elements([[1.0, 2.0, -300.0]], True).known()
    return Shadow(s.shape, s.lo, s.hi, np.where([[False, False, True]], np.uint8(MASKED), s.kind))


@pytest.mark.parametrize(("weight", "row"), [(0.0, [[0, 1], [0, 1], None]), (1e-9, [[0, 2]] * 3)])
def test_a_lowered_score_counts_unless_its_weight_is_zero(weight, row):
    run = Run(output=np.array([[0.3, 0.7, weight]]))
    assert intervals(transfer.softmax(run, lowered_row(), 1, safe=False)) == row
    assert run.told == ["masked"]


def test_of_lowered_scores_only_those_of_weight_zero_are_left_out():
    s = elements([[1.0, -300.0, -300.0]], True).known()
    s = Shadow(s.shape, s.lo, s.hi, np.where([[False, True, True]], np.uint8(MASKED), s.kind))
    run = Run(output=np.array([[1.0, 0.0, 1e-9]]))
    assert intervals(transfer.softmax(run, s, 1, safe=False)) == [[0, 2], None, [0, 2]]


def test_a_row_of_lowered_scores_only_counts_whole():
    a = elements([[-300.0, -300.0]], True, lowered=True)
    assert intervals(transfer.softmax(Run(output=np.zeros((1, 2))), a.known(), 1, safe=False)) == [[0, 1]] * 2


@given(SCORES, FLAGS)
def test_log_softmax_keeps_minus_infinity(x, p):
    hidden = x == -np.inf
    hidden[hidden.all(1)] = False
    x = np.where(hidden, x, np.maximum(x, -1))
    a = elements(x, p & ~hidden)
    got = transfer.log_softmax(Run(), a, 1)
    check(
        lambda x: x - np.log(np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)) - x.max(1, keepdims=True),
        got,
        a,
    )
    assert (full(got)[2][hidden & (p & ~hidden).any(1, keepdims=True)] == NEGINF).all()


@pytest.mark.parametrize(("below", "row"), [(True, [[0, 1], [0, 1], [0, 2]]), (False, [[0, 2]] * 3)])
def test_log_softmax_leaves_a_lowered_score_out_where_the_run_does(below, row):
    scores = elements([[1.0, 2.0, -300.0]], True)
    scores.known = lowered_row
    run = Run(below=below)
    got = transfer.log_softmax(run, scores, 1)
    assert (intervals(got), run.told) == (row, ["below"])
    assert full(got)[2].tolist() == [[0, 0, MASKED]]


def normalised(x, axes):
    """Numbers less their mean over their deviation."""
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


@given(arrays.arrays(bool, (2, 3)), arrays.arrays(bool, 3))
def test_layer_norm_joins_the_last_axes(p, q):
    x, weight = elements(np.arange(6.0).reshape(2, 3), p), elements(np.ones(3), q, first=6)
    out, row = transfer.layer_norm(x.shadow, 1, [weight.shadow])
    check(lambda x, w: normalised(x, 1) * w, out, x, weight)
    check(lambda x, w: x.mean(1, keepdims=True), row, x, weight)


@given(arrays.arrays(bool, (2, 4, 2)), arrays.arrays(bool, 4))
def test_group_norm_joins_the_channels_of_a_group(p, q):
    x, weight = elements(np.arange(16.0).reshape(2, 4, 2), p), elements(np.ones(4), q, first=16)
    out, group = transfer.group_norm(x.shadow, 2, [weight.shadow])

    def brute(x, w):
        return normalised(x.reshape(2, 2, 4), 2).reshape(2, 4, 2) * w[:, None]

    check(brute, out, x, weight)
    check(lambda x, w: x.reshape(2, 2, 4).mean(2), group, x, weight)


@given(arrays.arrays(bool, (2, 2, 2)), st.booleans())
def test_batch_norm_reads_the_batch_only_in_training(p, training):
    x, mean = elements(np.arange(8.0).reshape(2, 2, 2), p), elements([0.5, 0.25], [True, False], first=8)
    out, (after,), statistic = transfer.batch_norm(x.shadow, [mean.shadow], [], training)

    def center(x, mean):
        return x - (x.mean((0, 2)) if training else mean)[:, None]

    check(center, out, x, mean)
    check(lambda x, mean: mean + x.mean((0, 2)) if training else mean, after, x, mean)
    check(lambda x, mean: x.mean((0, 2)), statistic, x, mean)
    if not training:
        assert intervals(after) == [[8, 8], None]
        assert (full(out)[2][~p & np.array([[False], [True]])] >= FIXED).all()
