"""Elementwise transfer functions, without a tensor library."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.model.trace.domain import BIG, FIXED, MASKED, NEGINF, PLAIN, POSITIVE, ZERO, full, uniform
from attnproof.causal.model.trace.transfer import elementwise as transfer
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from shadow_probe import Run, check, elements, intervals

NUMBERS = arrays.arrays(float, 4, elements=st.sampled_from([-2.0, 0.0, 1.0]))
FLAGS = arrays.arrays(bool, 4)


@given(NUMBERS, FLAGS, NUMBERS, FLAGS)
def test_a_product_drops_what_a_zero_kills(x, p, y, q):
    a, b, run = elements(x, p), elements(y, q, first=4), Run()
    got = check(np.multiply, transfer.product(run, a, b, (4,)), a, b)
    killed = (~p & (x == 0) & q) | (~q & (y == 0) & p)
    assert (full(got)[2][killed] == ZERO).all()
    assert ("zeros" in run.told) == killed.any()


@given(NUMBERS, FLAGS, FLAGS)
def test_a_quotient_with_a_constant_zero_above_is_zero_on_a_condition(x, p, q):
    a, b, run = elements(x, p), elements(np.ones(4), q, first=4), Run()
    check(np.divide, transfer.quotient(run, a, b, (4,)), a, b)
    assert ("denominator" in run.told) == (~p & (x == 0) & q).any()
    above = elements(np.ones(4), q, first=4, above=True)
    check(np.divide, transfer.quotient(quiet := Run(), a, above, (4,)), a, above)
    assert "denominator" not in quiet.told


def test_a_zero_times_or_over_a_number_is_known_for_zero_without_a_look():
    run, a = Run(), elements(np.array([0.0, 1.0]), np.zeros(2, bool))
    for got in (
        transfer.product(run, a, -2.0, (2,)),
        transfer.product(run, 0.5, a, (2,)),
        transfer.quotient(run, a, 0.9, (2,)),
    ):
        assert full(got)[2].tolist() == [ZERO, FIXED]
    for got in (transfer.product(run, a, np.inf, (2,)), transfer.quotient(run, a, 0.0, (2,))):
        assert full(got)[2].tolist() == [FIXED, FIXED]  # no number
    assert run.told == []


def test_without_finite_masks_no_denominator_is_taken_for_granted():
    run = Run()
    run.finite_masks = False
    got = transfer.quotient(run, elements([0.0], False), elements([1.0], True, first=4), (1,))
    assert intervals(got) == [[4, 4]]
    assert run.told == ["zeros"]


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=4), FLAGS, NUMBERS, FLAGS, NUMBERS, FLAGS)
def test_a_selection_reads_what_a_constant_condition_selects(c, r, x, p, y, q):
    condition, a, b = elements(c, r), elements(x, p, first=4), elements(y, q, first=8)
    got = transfer.select(Run(), condition, a, b, (4,))
    check(lambda c, x, y: np.where(c != 0, x, y), got, condition, a, b, values=(0.0, 1.0, 5.0))
    fixed = ~r & np.where(np.array(c) != 0, ~p, ~q)
    assert (full(got)[2][fixed] >= FIXED).all()


@given(NUMBERS, FLAGS, NUMBERS, FLAGS)
def test_minus_infinity_absorbs_a_sum(x, p, y, q):
    y = np.where(y == -2, -np.inf, y)
    a, b = elements(x, p), elements(y, q & (y > -np.inf), first=4)
    got = check(np.add, transfer.total(a.known(), b.known(), (4,), real=True), a, b)
    assert (full(got)[2][p & (y == -np.inf)] == NEGINF).all()


def test_only_floating_numbers_are_masked_by_a_large_constant():
    a, low = elements([1.0, 2.0], True), uniform((2,), BIG)
    assert full(transfer.total(a.known(), low, (2,), real=True))[2].tolist() == [MASKED] * 2
    assert MASKED not in full(transfer.total(a.known(), low, (2,), real=False))[2]


@pytest.mark.parametrize(("factor", "number", "masked"), [(1, 100.0, True), (1, -100.0, False), (2.0, 50.0, True), (-1, -100.0, False)])  # fmt: skip  # noqa: E501
def test_a_large_constant_taken_away_masks(factor, number, masked):
    a = elements([1.0, 2.0], True)
    for b in (number, elements([number, number], False)):
        got = check(lambda x: x - factor * number, transfer.difference(Run(), a, b, (2,), factor, real=True), a)
        assert (full(got)[2] == MASKED).all() == masked


@given(NUMBERS, FLAGS)
def test_exponentials_are_above_zero_and_zero_at_minus_infinity(x, p):
    x = np.where(x == -2, -np.inf, x)
    a = elements(x, p & (x > -np.inf))
    got = check(np.exp, transfer.exponential(Run(), a.known()), a)
    assert (full(got)[2][x == -np.inf] == ZERO).all()


def test_a_lowered_score_gives_zero_where_the_run_does():
    a = elements([-300.0, 1.0], True, lowered=True)
    for function in (transfer.exponential, transfer.relu):
        run = Run(output=np.array([0.0, 2.7]))
        assert intervals(function(run, a.known())) == [None, [1, 1]]
        assert run.told == ["masked"]


@given(NUMBERS, FLAGS, NUMBERS, FLAGS)
def test_and_is_decided_by_a_constant_false_alone(x, p, y, q):
    a, b = elements(x != 0, p), elements(y != 0, q, first=4)
    got = transfer.conjunction(Run(), a, b, (4,))
    check(lambda x, y: (x != 0) & (y != 0), got, a, b, values=(0.0, 1.0))
    joined = transfer.pointwise((4,), (a.shadow, b.shadow))
    got = transfer.disjunction(Run(), joined, [a, b])
    check(lambda x, y: (x != 0) | (y != 0), got, a, b, values=(0.0, 1.0))
    assert (full(got)[2][(~p & (x != 0)) | (~q & (y != 0))] >= FIXED).all()


def test_bits_of_numbers_above_zero_may_be_zero():
    a, b = elements([1.0], True, above=True), elements([2.0], True, first=1, above=True)
    assert full(transfer.product(Run(), a, b, (1,)))[2] == POSITIVE
    assert full(transfer.conjunction(Run(), a, b, (1,)))[2] != POSITIVE


def test_halves_of_an_axis_are_joined_pairwise():
    a = elements(np.arange(4.0), [True, True, True, False])
    got = check(lambda x: x[:2] * np.tanh(x[2:]), transfer.gated(a.shadow, 0, (2,)), a)
    assert intervals(got) == [[0, 2], [1, 1]]


def test_plain_numbers_have_a_kind():
    kinds = [(0, ZERO), (0j, ZERO), (1j, PLAIN), (-np.inf, NEGINF), (-1e9, BIG), (1.5, PLAIN), (True, PLAIN)]
    assert all(transfer.number(value).kind == kind for value, kind in kinds)
    assert transfer.number(-1e9, finite_masks=False).kind == PLAIN
