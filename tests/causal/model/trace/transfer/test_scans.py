"""Scans, recurrent layers, searches and Fourier transforms, without a tensor library."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.model.trace.domain import PLAIN, POSITIVE, ZERO, full, ranked, uniform
from attnproof.causal.model.trace.transfer import fourier, recurrent, scans, sorting
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from shadow_probe import Run, check, elements, intervals

NUMBERS = arrays.arrays(float, 5, elements=st.sampled_from([-2.0, 0.0, 1.0]))
FLAGS = arrays.arrays(bool, 5)


@given(NUMBERS, FLAGS)
def test_scans_join_what_came_before(x, p):
    a, run = elements(x, p), Run()
    check(np.maximum.accumulate, scans.prefix(a.shadow, 0), a)
    check(np.cumsum, scans.running_sum(a.known(), 0), a)
    got = check(np.cumprod, scans.running_product(run, a, 0), a)
    dead = np.logical_or.accumulate(~p & (x == 0))
    assert (full(got)[2][dead] == ZERO).all()
    assert ("zeros" in run.told) == dead.any()


def test_a_running_sum_of_numbers_above_zero_stays_above_zero():
    a = elements(np.ones(3), True, above=True)
    assert (full(check(np.cumsum, scans.running_sum(a.shadow, 0), a))[2] == POSITIVE).all()


@pytest.mark.parametrize("reverse", [False, True])
def test_a_recurrent_layer_reads_the_steps_before_and_the_first_state(reverse):
    x, state = elements(np.ones((3, 1, 2)), True, first=10), elements(np.ones((1, 1)), False)

    def steps(x, state):
        rows = x.sum(-1)[::-1] if reverse else x.sum(-1)
        out = np.cumsum(rows, 0) + state
        return (out[::-1] if reverse else out)[..., None]

    got = recurrent.layer(x.shadow, [state.shadow], reverse, (3, 1, 1))
    check(steps, got, x, state)
    assert intervals(got) == ([[10, 15], [12, 15], [14, 15]] if reverse else [[10, 11], [10, 13], [10, 15]])
    learned = elements(np.ones((1, 1)), True, first=3)
    assert intervals(recurrent.layer(x.shadow, [learned.shadow], reverse, (3, 1, 1)))[1][0] == 3


@given(arrays.arrays(bool, 2), FLAGS, st.booleans())
def test_a_place_in_a_row_depends_on_the_element_and_the_row(p, q, ordered):
    element, row = elements([0.5, 1.5], p), elements(np.arange(5.0), q, first=2)
    order = elements(np.arange(5.0), True, first=20) if ordered else None
    got = sorting.place(element.shadow, row.shadow, order.shadow if order else None, (2,))
    check(lambda e, r: (r[None, :] < e[:, None]).sum(1), got, element, row)
    assert not ordered or all(high == 24 for _, high in intervals(got))


def test_a_coefficient_reads_the_whole_axis():
    a = elements(np.ones((2, 4)), [[True, False, False, True], [False] * 4])
    got = check(lambda x: np.abs(np.fft.rfft(x, axis=1)), fourier.transform(a.shadow, (1,), (2, 3)), a)
    assert intervals(got) == [[0, 3]] * 3 + [None] * 3
    assert fourier.transform(a.shadow, (), (2, 4)).shape == (2, 4)


def test_a_search_through_an_order_reads_the_order_at_both_ends():
    """An order that earlier and later positions decide widens the place on both sides."""
    element, row = ranked((1,), 0, [5]), uniform((3,), PLAIN)
    order = ranked((3,), 0, [2, 7, 4])
    got = sorting.place(element, row, order, (1,))
    assert (int(got.lo.min()), int(got.hi.max())) == (2, 7)
    alone = sorting.place(element, row, uniform((3,), PLAIN), (1,))
    assert (int(alone.lo.min()), int(alone.hi.max())) == (5, 5)
