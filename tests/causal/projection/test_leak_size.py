"""The size of a leak (T19): never above the bound, however many forbidden inputs move, and never loose without need."""

from __future__ import annotations

import pickle
from fractions import Fraction

import mpmath
import numpy as np
import oracle
import pytest
from attnproof import Boundary, check_projection
from attnproof.causal.projection import decide, leak_size
from attnproof.causal.verdict import LeakBound
from heads import cases, fractions, heads, one_query
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.claim("T19")


def by_definition(E, F, visible, boundary):
    """T19 with η = θ = |V| = 1 and tanh x replaced by x, in fractions: the largest over all queries."""
    values, keys = Fraction(0), Fraction(0)
    e, f = fractions(E), fractions(F)
    for t, row in enumerate(visible):
        slots, late = np.flatnonzero(row), np.flatnonzero(~boundary.allowed_row(t))
        reads = any(e[s][j] or f[s][j] for s in slots for j in late)
        if not reads:
            continue
        values = max([values, *(sum(abs(f[s][j]) for j in late) for s in slots)])
        tilt = max(sum((abs(e[s][j] - e[u][j]) for j in late), Fraction(0)) for s in slots for u in slots)
        spread = max(
            sum((abs(x - y) for x, y in zip(f[s], f[u], strict=True)), Fraction(0)) for s in slots for u in slots
        )
        keys = max(keys, tilt * spread / 4)
    return values, keys


def ways(monkeypatch):
    """The ways to the bound, named: every pair of rows, one row, and the extremes of blocks alone."""
    for name, change in (("pairs", {}), ("one row", {"MOST_PAIRS": 0}), ("extremes", {"MOST": 0})):
        with monkeypatch.context() as patch:
            for which, limit in change.items():
                patch.setattr(leak_size, which, limit)
            yield name


@given(cases())
@settings(max_examples=150, deadline=None)
def test_every_way_to_the_bound_against_the_definition(case):
    E, F, boundary, visible = case
    exact = by_definition(E, F, visible, boundary)
    for name in ways(pytest.MonkeyPatch()):
        bound = check_projection(F, E, layout="slots-first", visible=visible, boundary=boundary).leak_bound
        if bound is None:
            assert exact == (0, 0)
            continue
        found = bound.values, bound.keys
        assert all(mine >= true for mine, true in zip(found, exact, strict=True)), (name, found, exact)
        subnormal = any(0 < abs(x) < 1e-200 for x in (*E.ravel(), *F.ravel()))  # rounded up by a whole unit
        if name == "extremes" or max(found) == np.inf or subnormal:
            continue
        room = 1 if name == "pairs" else 4  # each distance at most twice too large
        assert Fraction(bound.values) <= exact[0] * (1 + Fraction(1, 10**12))
        assert Fraction(bound.keys) <= room * exact[1] * (1 + Fraction(1, 10**12))


@given(heads(), st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_no_move_of_forbidden_inputs_exceeds_the_bound(head, seed):
    """All forbidden values and keys move at once, by different amounts, from any point and under any finite bias."""
    E, F, cut = head
    n = E.shape[1]
    if max(np.abs(E).max(), np.abs(F).max()) > 8:
        return
    rng = np.random.default_rng(seed)
    bias = rng.integers(-8, 9, len(E)) / 4
    boundary = one_query(n, cut)
    given_bias = {"visible": bias[None, :]} if rng.integers(2) else {}
    verdict = check_projection(F, E, layout="slots-first", boundary=boundary, **given_bias)
    if verdict.leak_bound is None:
        assert verdict.status.name == "PROVED"
        return
    e, f = fractions(E), fractions(F)
    added = [Fraction(float(b)) for b in bias] if given_bias else [Fraction(0)] * len(E)
    keys, values = ([Fraction(int(x), 8) for x in rng.integers(-16, 17, n)] for _ in range(2))
    base = oracle.evaluate(e, f, added, keys, values)
    for far, fast in ((0, 1), (1, 0), (1, 1), (8, 8)):
        steps = rng.integers(-8, 9, (2, n)) if rng.integers(2) else np.full((2, n), 8)
        dv, dk = np.array([[far], [fast]]) * steps * (np.arange(n) >= cut)
        moved = [
            [x + Fraction(int(d), 8) for x, d in zip(old, by, strict=True)] for old, by in ((keys, dk), (values, dv))
        ]
        change = abs(oracle.evaluate(e, f, added, *moved) - base)
        eta, theta = (Fraction(int(abs(by).max()), 8) for by in (dv, dk))
        most = Fraction(verdict.leak_bound.values) * eta + Fraction(verdict.leak_bound.keys) * theta * max(
            map(abs, values)
        )
        assert change <= mpmath.mpf(most.numerator) / most.denominator * (1 + 1e-12) + 1e-40


def test_many_small_entries_add_up():
    """999 entries of 1e-9: each alone is below a tolerance of 1e-8, and all of them move an output by 1e-6 together."""
    F = np.zeros((1, 1000))
    F[0, 0], F[0, 1:] = 1, 1e-9
    verdict = check_projection(F, tolerance=1e-8)
    assert verdict.status.name == "REFUTED"
    assert 999 * Fraction(1e-9) <= Fraction(verdict.leak_bound.values) <= Fraction(1.0000000001e-6)
    assert check_projection(F, tolerance=1e-6).status.name == "PROVED_IF"
    E = np.zeros((2, 1000))
    E[1, 1:] = 1e-9
    values = np.zeros((2, 1000))
    values[1, 0] = 4
    many = check_projection(values, E, tolerance=1e-8)
    assert many.status.name == "REFUTED"
    assert 999e-9 <= many.leak_bound.keys <= 999e-9 * (1 + 1e-9)
    assert check_projection(values, E, tolerance=1e-6).status.name == "PROVED_IF"


def test_by_hand():
    E, F = [[0, 0, 0], [0, 4, 2]], [[1, Fraction(1, 3), 0], [2, 0, -Fraction(1, 7)]]
    bound = check_projection(F, E, layout="slots-first").leak_bound
    assert Fraction(bound.values) >= Fraction(1, 3) > Fraction(np.nextafter(bound.values, 0))
    exact_keys = Fraction(1, 4) * (4 + 2) * (1 + Fraction(1, 3) + Fraction(1, 7))
    assert exact_keys <= Fraction(bound.keys) < exact_keys * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("layout", ["slots-first", "positions-first"])
def test_a_large_projection_is_bounded_as_tightly_as_a_tolerance_needs(layout, monkeypatch):
    """Block means, disjoint: two rows are 2 apart, whatever their number; the scan alone does not know that."""
    monkeypatch.setattr(leak_size, "MOST", 100)
    monkeypatch.setattr(leak_size, "MOST_PAIRS", 100)
    F = np.kron(np.eye(64), np.full((1, 8), 1 / 8))
    F = F if layout == "slots-first" else F.T
    free = check_projection(F, layout=layout).leak_bound
    close = check_projection(F, layout=layout, tolerance=1e-9).leak_bound
    assert free.keys > close.keys
    assert 1 <= close.values <= 1 + 1e-12
    assert 1 <= close.keys <= 1 + 1e-12
    for huge in (F * 1e308, -F * 1e308):
        with np.errstate(over="raise"):
            assert check_projection(huge, layout=layout, tolerance=1e-9).leak_bound.keys == np.inf


def test_masks_that_share_their_rows_share_one_table(monkeypatch):
    """A triangular mask has a visible set for every slot; what is compared is each pair at each position, once."""
    F = np.random.default_rng(0).standard_normal((16, 40))
    visible = np.arange(40)[:, None] // 2 >= np.arange(16)
    monkeypatch.setattr(leak_size, "MOST_PAIRS", 16 * 16 * 40)
    shared = check_projection(F, visible=visible).leak_bound
    assert shared.keys  # computed here
    monkeypatch.setattr(leak_size, "MOST_PAIRS", 1 << 28)
    assert shared == check_projection(F, visible=visible).leak_bound
    exact = by_definition(F, F, visible, Boundary.prefix(40))
    assert exact[1] <= Fraction(shared.keys) <= exact[1] * (1 + Fraction(1, 10**12))


def test_a_quarter_of_a_tiny_number_is_not_zero():
    """The smallest float and 1e30: a quarter of the one, rounded, is 0, and their product is not."""
    E, F = np.array([[0, 0], [0, 5e-324]]), np.array([[1.0, 0], [1e30, 0]])
    bound = check_projection(F, E, layout="slots-first").leak_bound
    assert Fraction(bound.keys) >= Fraction(5e-324) * Fraction(1e30) / 4 > 0


@pytest.mark.parametrize("exact_entries", [False, True])
def test_a_bound_that_is_looked_at_later_is_that_of_what_was_checked(exact_entries):
    F, E = np.random.default_rng(0).integers(1, 9, (2, 4, 9)).astype(object if exact_entries else float)
    visible = np.ones((9, 4), bool)
    visible[:, 3] = False
    now, later = (check_projection(F, E, visible=visible) for _ in range(2))
    expected = (now.leak_bound.values, now.leak_bound.keys)
    F[:], E[:], visible[:] = 1, 1, True
    assert pickle.loads(pickle.dumps(later.leak_bound)) == LeakBound(*expected)
    assert (later.leak_bound.values, later.leak_bound.keys) == expected
    assert not hasattr(later.leak_bound, "other")


def test_what_a_bound_costs_is_paid_by_who_looks(monkeypatch):
    monkeypatch.setattr(decide, "leak_bound", lambda *a: calls.append(a) or LeakBound(1.0, 2.0))
    calls = []
    F = np.ones((2, 3))
    verdict = check_projection(F)
    assert not calls
    assert str(verdict.leak_bound) == "LeakBound(values=1.0, keys=2.0)"
    assert len(calls) == 1
    check_projection(F, tolerance=0.5)  # asks for it
    assert len(calls) == 2
    monkeypatch.setattr(decide, "LATER", 5)
    check_projection(F)  # would keep too much
    assert len(calls) == 3
