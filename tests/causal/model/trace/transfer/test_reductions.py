"""Reductions, without a tensor library."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.model.trace.domain import FIXED, MASKED, POSITIVE, VARIES, ZERO, Shadow, full
from attnproof.causal.model.trace.transfer import reductions as transfer
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from shadow_probe import Run, check, elements, intervals

NUMBERS = arrays.arrays(float, (2, 3), elements=st.sampled_from([-2.0, 0.0, 1.0]))
FLAGS = arrays.arrays(bool, (2, 3))


@given(NUMBERS, FLAGS, st.sampled_from([(0,), (1,), (0, 1)]), st.booleans())
def test_a_sum_joins_the_axes(x, p, axes, keep):
    for above in (False, True):
        a = elements(np.abs(x) + 1 if above else x, p, above=above)
        shape = np.sum(x, axes, keepdims=keep).shape
        check(lambda x: np.sum(x, axes, keepdims=keep), transfer.total(a.known(), axes, shape), a)
        check(lambda x: np.argmax(x, axes[0]), transfer.reduced(a.shadow, axes[:1], x.argmax(axes[0]).shape), a)


def test_a_sum_of_zeros_is_zero_and_every_element_counts():
    a = elements([[0.0, 0.0], [0.0, 1.0]], [[False, False], [True, False]])
    got = transfer.total(a.known(), (1,), (2,))
    assert (intervals(got), full(got)[2].tolist()) == ([None, [2, 2]], [ZERO, 0])
    assert intervals(transfer.whole((2,), [a.shadow])) == [[2, 2]] * 2
    assert full(transfer.whole((2,), [elements([1.0], False).shadow]))[2].tolist() == [FIXED] * 2


def test_a_sum_is_above_zero_only_if_no_term_may_be_below():
    a = elements(np.ones((2, 2)), True).shadow
    kind = np.array([[POSITIVE, ZERO], [POSITIVE, VARIES]], np.uint8)
    got = transfer.total(Shadow(a.shape, a.lo, a.hi, kind), (1,), (2,))
    assert full(got)[2].tolist() == [POSITIVE, VARIES]


@pytest.mark.parametrize(("below", "best"), [(True, [[0, 1]]), (False, [[0, 2]])])
def test_a_lowered_score_leaves_a_maximum_alone_where_the_run_does(below, best):
    a, run = elements([[1.0, 2.0, -300.0]], True), Run(below=below)
    s = a.known()
    a.known = lambda: Shadow(s.shape, s.lo, s.hi, np.where([[False, False, True]], np.uint8(MASKED), s.kind))
    assert intervals(transfer.largest(run, a, (1,), (1,))) == best
    assert run.told == ["below"]


def test_lowered_scores_alone_all_count():
    a, run = elements([[-300.0, -300.0]], True, lowered=True), Run()
    assert intervals(transfer.largest(run, a, (1,), (1,))) == [[0, 1]]
    assert run.told == []
