"""The exact criterion (T11) against brute force: literal sums in fractions, and evaluation to 60 digits."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import oracle
import pytest
from attnproof import Boundary, check_projection, largest_safe_mask
from attnproof.causal.projection import columns as columns_room
from attnproof.causal.projection import exact as exact_room
from attnproof.causal.projection.columns import Columns, enough_primes, modulo, primes
from attnproof.causal.projection.entries import read
from attnproof.causal.projection.exact import keys_leak, open_thresholds, questions, values_leak
from attnproof.causal.projection.leak import Decider, find_leak
from by_path import benchmark
from heads import cases, fractions, grids, heads, one_query
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.claim("T11")


@given(heads())
@settings(max_examples=400, deadline=None)
def test_the_verdict_is_brute_force(head):
    E, F, cut = head
    n = E.shape[1]
    verdict = check_projection(F, E, layout="slots-first", boundary=one_query(n, cut))
    assert (verdict.status.name != "REFUTED") == oracle.safe(fractions(E), fractions(F), set(range(cut, n)))


@given(heads())
@settings(max_examples=120, deadline=None)
def test_the_verdict_is_what_evaluation_shows(head):
    """No theorem at all: replace the future at random and look, to 60 digits; moderate numbers only."""
    E, F, cut = head
    n = E.shape[1]
    assume(np.abs(E).max() <= 8 and np.abs(F).max() <= 8)
    assume(all(x == 0 or abs(x) > 1e-3 for x in (*E.flat, *F.flat)))
    verdict = check_projection(F, E, layout="slots-first", boundary=one_query(n, cut))
    moved = oracle.moves(fractions(E), fractions(F), set(range(cut, n)))
    assert (verdict.status.name == "REFUTED") == moved


@given(heads(), st.sampled_from([columns_room.STRIP, 4, 0]))
@settings(max_examples=250, deadline=None)
def test_the_decision_alone_agrees_without_its_shortcuts(head, strip):
    """(1) and (2) by modular elimination, no cheap refutation first, in strips so short that classes span several."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_strips(patch, strip)
        decision_agrees(head)


def shorten_strips(patch, strip):
    """Both the columns and the pairs of columns are taken in strips of this length."""
    patch.setattr(columns_room, "STRIP", strip)


def decision_agrees(head):
    E, F, cut = head
    n = E.shape[1]
    keys, values = read(E, "E", "slots-first"), read(F, "F", "slots-first")
    slots = np.arange(len(E))
    (question,) = questions(one_query(n, cut), slots, None, np.array([0]))
    assume(cut < n)
    a, b = Columns(keys, slots), Columns(values, slots)
    leak = values_leak(question, a, b)
    if leak is None:
        thresholds = open_thresholds(question, a, b)
        leak = keys_leak(question, a, b, thresholds) if len(thresholds) else None
    assert (leak is None) == oracle.safe(fractions(E), fractions(F), set(range(cut, n)))
    if leak is not None:
        assert leak.j >= cut
        assert leak.i is None or leak.i < cut


@given(cases())
@settings(max_examples=300, deadline=None)
def test_masks_and_boundaries(case):
    E, F, boundary, sees = case
    verdict = check_projection(F, E, layout="slots-first", visible=sees, boundary=boundary)
    allowed = boundary.to_array()
    assert (verdict.status.name != "REFUTED") == oracle.safe_projection(fractions(E), fractions(F), sees, allowed)
    reads = (E != 0) | (F != 0)
    violated = [
        (t, s) for t in range(len(sees)) for s in range(len(E)) if sees[t, s] and (reads[s] & ~allowed[t]).any()
    ]
    rounds = [t for t, _ in violated if sees[t].sum() > 1 and F[sees[t]].any()]  # else cancelling is exact in floats
    assert (verdict.status.name == "PROVED") == (not rounds and verdict.status.name != "REFUTED")
    assert ("T11" in verdict.claims) == bool(violated)
    assert verdict.starved == tuple(t for t, row in enumerate(sees) if not row.any())
    if verdict.witness is not None:
        witness = verdict.witness
        assert not allowed[witness.query, witness.position]
        assert witness.slots == tuple(np.flatnonzero(sees[witness.query]))
        for name, matrix in (("E", E), ("F", F)):
            for j, column in getattr(witness, name).items():
                assert list(column) == [Fraction(matrix[s, j]) for s in witness.slots]


@given(heads(), st.data())
@settings(max_examples=150, deadline=None)
def test_what_leaves_the_verdict_alone(head, data):
    """Order of slots, a non-zero factor of F, and a constant added to a column of E over the visible slots."""
    E, F, cut = head
    r, n = E.shape
    exact_E, exact_F = np.array(fractions(E)), np.array(fractions(F))
    boundary = one_query(n, cut)
    safe = check_projection(exact_F, exact_E, layout="slots-first", boundary=boundary).status.name != "REFUTED"
    order = data.draw(st.permutations(range(r)))
    factor = data.draw(st.sampled_from([Fraction(-1), Fraction(1, 3), Fraction(7, 5)]))
    shift = data.draw(st.sampled_from([Fraction(1, 7), Fraction(-2)]))
    shifted = exact_E.copy()
    shifted[:, data.draw(st.integers(0, n - 1))] += shift
    for keys, values in ((exact_E[order], exact_F[order]), (exact_E, exact_F * factor), (shifted, exact_F)):
        verdict = check_projection(values, keys, layout="slots-first", boundary=boundary)
        assert (verdict.status.name != "REFUTED") == safe


def test_pairs_must_be_grouped():
    """The four-slot product: safe, though neither diagonal pair is safe alone; any changed F entry leaks."""
    E = [[0, 0], [1, 0], [0, 1], [1, 1]]
    F = [[3, 0], [5, 0], [3, 0], [5, 0]]
    boundary = Boundary.relation(np.array([[True, False]]))
    assert check_projection(F, E, layout="slots-first", boundary=boundary).status.name == "PROVED_IF"
    for pair in ([0, 3], [1, 2]):
        two = check_projection([F[s] for s in pair], [E[s] for s in pair], layout="slots-first", boundary=boundary)
        assert two.status.name == "REFUTED"
    for s in range(4):
        for j in range(2):
            changed = [list(row) for row in F]
            changed[s][j] += 1
            assert check_projection(changed, E, layout="slots-first", boundary=boundary).status.name == "REFUTED"


@pytest.mark.parametrize("side", [3, 4])
def test_a_grid_with_many_equal_sums(side):
    """E = a_i + b_j with integer steps, so that classes hold many pairs; F = f_i sees only the first factor."""
    n, cut = 12, 6
    steps = np.arange(side)[:, None]
    a = steps * np.where(np.arange(n) < cut, 1.0, 0.0)
    b = steps * np.where(np.arange(n) < 3, 0.0, 1.0)
    f = np.random.default_rng(0).integers(-3, 4, (side, n)) * (np.arange(n) < cut)
    E, F = (a[:, None] + b[None]).reshape(-1, n), np.repeat(f.astype(float), side, axis=0)
    boundary = one_query(n, cut)
    assert check_projection(F, E, layout="slots-first", boundary=boundary).status.name == "PROVED_IF"
    rng = np.random.default_rng(1)
    for _ in range(20):
        E2, F2 = E.copy(), F.copy()
        (E2 if rng.random() < 0.5 else F2)[rng.integers(len(E)), rng.integers(n)] += 1
        verdict = check_projection(F2, E2, layout="slots-first", boundary=boundary)
        assert (verdict.status.name != "REFUTED") == oracle.safe(fractions(E2), fractions(F2), set(range(cut, n)))


def test_equality_is_exact_not_rounded():
    """Two sums that agree in float64 and not exactly: the grouping must tell them apart."""
    tiny = 2.0**-60
    E = np.array([[0, 0], [1, 0], [0, 1], [1 + 2.0**-52, 1.0]])
    F = np.array([[3, 0], [5, 0], [3, 0], [5, 0.0]])
    boundary = Boundary.relation(np.array([[True, False]]))
    assert check_projection(F, E, layout="slots-first", boundary=boundary).status.name == "REFUTED"
    E = np.array([[1.0, 0], [1.0, 0]])
    F = np.array([[1.0, 1.0], [1.0, -1.0 + tiny]])
    assert float(np.float64(1) + (-1 + tiny)) == 0.0
    assert F[1, 1] == -1.0  # 2⁻⁶⁰ vanishes beside 1 in float64: the input itself is −1
    assert check_projection(F, E, layout="slots-first").status.name == "PROVED_IF"
    exact_F = [[1, 1], [1, Fraction(-1) + Fraction(1, 2**60)]]
    assert check_projection(exact_F, E, layout="slots-first").status.name == "REFUTED"
    three = np.array([[1.0, 1e300], [1.0, 1e-300], [1.0, -1e300]])
    assert check_projection(three, np.ones((3, 2)), layout="slots-first").status.name == "REFUTED"


def test_denormals_and_giants_together():
    least, most = 2.0**-1074, 1.7976931348623157e308
    E = np.array([[least, most], [-least, most], [least, most]])
    boundary = one_query(2, 1)
    assert (
        check_projection([[1.0, 0], [2, 0], [4, 0]], E, layout="slots-first", boundary=boundary).status.name
        == "PROVED_IF"
    )
    E[1, 1] = np.nextafter(most, 0)
    verdict = check_projection([[1.0, 0], [2, 0], [4, 0]], E, layout="slots-first", boundary=boundary)
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()


def test_a_finite_list_of_primes_decides():
    small = list(islice(primes(), 3))
    assert small == [2147483647, 2147483629, 2147483587]
    for bits in (0, 30, 31, 62, 500):
        product = 1
        for p in enough_primes(bits):
            product *= p
        assert product > 2**bits
        x = product  # a multiple of all of them is too large to be confused with 0
        assert abs(x) >= 2**bits


@given(grids(3, 4, [0.0, 1.5, -3.0, 2.0**-1074, 1e300, 1e-30]) | grids(3, 4, [0.0, 1e300, -3e300, 1 / 3]))
@settings(max_examples=100, deadline=None)
def test_residues_are_those_of_the_exact_numbers(matrix):
    p = 2147483647
    floats = Columns(read(matrix, layout="slots-first"), np.arange(3))
    got = floats.residues(p, np.arange(4))
    short = floats.bits <= 53  # then a column is counted in the last bit that any of its entries has
    for s in range(3):
        for j in range(4):
            x = Fraction(matrix[s, j]) / Fraction(2) ** int(floats.units[j] if short else 0)
            assert x.denominator == 1 or not short
            assert abs(x) < 2**floats.bits or not short
            assert got[s, j] == x.numerator * pow(x.denominator, -1, p) % p
    whole = Columns(read(np.array(fractions(matrix)), layout="slots-first"), np.arange(3))
    for j in range(4):
        low = min((Fraction(x).limit_denominator(10**400) for x in matrix[:, j] if x), key=abs, default=Fraction(1))
        assert low
        column = whole.block[:, j]
        assert all(isinstance(x, int) and abs(x) < 2**whole.bits for x in column)
        assert [bool(x) for x in column] == [bool(x) for x in matrix[:, j]]
    lowest = min((Fraction(x) for x in matrix.flat if x), key=abs, default=None)
    if lowest is not None:
        assert floats.bits <= 2200


def test_labels_tell_rows_apart_exactly():
    wide = np.zeros((4, 200))
    wide[1, 150] = 2.0**-1074
    wide[2] = -0.0
    labels = Columns(read(wide, layout="slots-first"), np.arange(4)).row_labels(None)
    assert labels.tolist() == [0, 1, 0, 0]
    biased = Columns(read(wide, layout="slots-first"), np.arange(4)).row_labels(np.array([0.0, 0, 1, 0]))
    assert biased.tolist() == [0, 1, 2, 0]


def test_a_missing_witness_is_never_read_as_safety(monkeypatch):
    from attnproof.causal.projection import leak as room

    monkeypatch.setattr(room, "values_witness", lambda *a, **k: None)
    with pytest.raises(AssertionError, match="has no witness after 100 random keys: a fault of attnproof"):
        check_projection([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


def test_many_decision_times_share_one_elimination():
    """Every threshold of a chain at once agrees with asking each alone."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        n = 5
        A, B = (rng.integers(0, 2, (2, n)).astype(float) for _ in range(2))
        G = rng.integers(-1, 2, (2, n)).astype(float)
        A[:, 2:], G[:, 2:] = A[:1, 2:], 0
        E, F = (A[:, None] + B[None]).reshape(4, n), np.repeat(G, 2, axis=0)
        if rng.random() < 0.5:
            F[rng.integers(4), rng.integers(n)] += 1
        times = sorted(rng.choice(n, 3, replace=False).tolist())
        together = check_projection(F, E, boundary=Boundary.from_times(np.arange(n), times))
        alone = [check_projection(F, E, boundary=one_query(n, t + 1)).status.name for t in times]
        assert (together.status.name == "REFUTED") == ("REFUTED" in alone)
        slots = np.arange(4)
        (question,) = questions(Boundary.from_times(np.arange(n), times), slots, None, np.arange(3))
        keys, values = read(E, "E"), read(F, "F")
        found = find_leak(question, Decider(keys, values), np.full(4, n))
        assert (found is not None) == ("REFUTED" in alone)


P, Q = 2147483647, 2147483629  # the first primes that the decision uses


@pytest.mark.parametrize("modulus", [P, P * Q, P * Q * 2147483587])
def test_multiples_of_the_primes_are_not_zero(modulus):
    """What vanishes modulo the first primes and not over the integers: sums, differences and products."""
    at_zero = one_query(2, 1)
    equal_rows = [[0, 5], [0, 5]]
    assert (
        check_projection([[1, modulus], [1, 0]], equal_rows, boundary=at_zero, layout="slots-first").status.name
        == "REFUTED"
    )
    assert check_projection([[1, modulus], [1, -modulus]], equal_rows, layout="slots-first").status.name == "PROVED_IF"
    (question,) = questions(at_zero, np.arange(2), None, np.array([0]))

    def decide(E, F):
        rows = np.arange(len(E))
        (question,) = questions(at_zero, rows, None, np.array([0]))
        a, b = (Columns(read(M, layout="slots-first"), rows) for M in (E, F))
        leak = values_leak(question, a, b)
        if leak is not None:
            return "(1)"
        thresholds = open_thresholds(question, a, b)
        return None if not len(thresholds) or keys_leak(question, a, b, thresholds) is None else "(2)"

    assert decide(equal_rows, [[1, modulus], [1, 0]]) == "(1)"
    assert decide([[0, 0], [0, modulus]], [[1, 0], [2, 0]]) == "(2)"
    assert decide([[0, 0], [0, 1]], [[1, 0], [1 + modulus, 0]]) == "(2)"
    product_E, product_F = [[0, 0], [1, 0], [0, 1], [1, 1]], [[3, 0], [5, 0], [3, 0], [5, 0]]
    assert decide(product_E, product_F) is None
    for s in range(4):
        nudged = [list(row) for row in product_F]
        nudged[s][0] += modulus  # the class of two pairs no longer cancels, but does modulo the primes
        assert decide(product_E, nudged) == "(2)"
        moved = [list(row) for row in product_E]
        moved[s][0] += modulus  # the two pair sums agree modulo the primes only
        assert decide(moved, product_F) == "(2)"
    assert question.first_query(1) == 0


def test_pair_sums_are_compared_in_full_where_a_random_form_is_not_enough(monkeypatch):
    """With the separating form switched off (all weights 0), classes still come out right."""

    class Zero:
        def integers(self, low, high, size):
            return np.zeros(size, np.int64)

    E = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [3, 5]])
    first, second = np.triu_indices(5, 1)
    (question,) = questions(one_query(2, 1), np.arange(5), None, np.array([0]))
    columns = Columns(read(E, layout="slots-first"), np.arange(5))
    bases = [exact_room.basis(p, columns, columns, question.rank, None) for p in (P, Q)]
    plain = exact_room.pair_classes(iter(bases), first, second)
    monkeypatch.setattr(exact_room.np.random, "default_rng", lambda seed: Zero())
    blind = exact_room.pair_classes(iter(bases), first, second)
    sums = [tuple(E[s] + E[u]) for s, u in zip(first, second, strict=True)]
    for labels in (plain, blind):
        assert all((labels[a] == labels[b]) == (sums[a] == sums[b]) for a in range(10) for b in range(10))


def test_pairs_are_grouped_by_their_biases_too():
    """The four-slot product: biases that factorise as the scores do keep it safe, others tear its pairs apart."""
    E, F = [[0, 0], [1, 0], [0, 1], [1, 1]], [[3, 0], [5, 0], [3, 0], [5, 0]]
    for bias, expected in (
        ([0, -1, -2, -3], "PROVED_IF"),
        ([0, 0, 0, -1], "REFUTED"),
        ([0, -1, -2, -2.5], "REFUTED"),
        ([-7, -7, -7, -7], "PROVED_IF"),
    ):
        rows = [[Fraction(x) for x in row] for row in E], [[Fraction(x) for x in row] for row in F]
        assert oracle.safe(*rows, {1}, [Fraction(b) for b in bias]) == (expected != "REFUTED")
        (question,) = questions(one_query(2, 1), np.arange(4), np.array(bias, float), np.array([0]))
        keys, values = (Columns(read(M, layout="slots-first"), np.arange(4)) for M in (E, F))
        assert values_leak(question, keys, values) is None
        thresholds = open_thresholds(question, keys, values)
        assert (keys_leak(question, keys, values, thresholds) is None) == (expected != "REFUTED")
        verdict = check_projection(
            F, E, layout="slots-first", boundary=one_query(2, 1), visible=np.array([bias], float)
        )
        if bias[0] == 0 and expected == "REFUTED":
            assert verdict.status.name != "PROVED"
            assert not verdict.conditions or "the finite bias hides" in verdict.conditions[0].text
        else:
            assert verdict.conditions[0].text.startswith("real arithmetic")


def test_the_query_with_the_smallest_horizon_counts():
    """(1) fails only for a query that comes later in order and may use less."""
    F, E = [[1, 1, 0], [2, 0, 0]], [[1, 1, 1], [1, 1, 1]]
    boundary = Boundary.from_times([0, 1, 2], [1, 0])
    (question,) = questions(boundary, np.arange(2), None, np.arange(2))
    keys, values = (Columns(read(M, layout="slots-first"), np.arange(2)) for M in (E, F))
    leak = values_leak(question, keys, values)
    assert (leak.query, leak.j) == (1, 1)
    verdict = check_projection(F, E, layout="slots-first", boundary=boundary)
    assert (verdict.witness.query, verdict.witness.position) == (1, 1)


@pytest.mark.parametrize("strip", [0, 1, 2, columns_room.STRIP])
def test_a_class_that_spans_many_strips_is_summed_whole(strip, monkeypatch):
    """E = ±x: all antipodal pairs have sum 0, and only the sum over the whole class vanishes."""
    shorten_strips(monkeypatch, strip)
    x = np.array([[1, 3], [4, 5], [9, 2], [16, 11], [25, 23]])
    E = np.vstack([x, -x])
    weights = np.array([1, 2, 4, 8])
    last = -int((x[:4, 1] * weights).sum())
    for f, expected in ((last, None), (last + x[4, 1], "leak")):
        # Σ ΔE[·, 1] ΔF[·, 0] over the antipodal pairs is 4 Σ x f; other pairs stand alone, so F must not differ there.
        F = np.zeros((10, 2))
        F[:5, 0] = [*weights * x[4, 1], f]
        first, second = np.arange(5), np.arange(5, 10)
        F[5:, 0] = -F[:5, 0]
        columns = [Columns(read(M.astype(float), layout="slots-first"), np.arange(10)) for M in (E, F)]
        b = exact_room.basis(P, *columns, np.array([0, 1]), None)
        late, soon = b.j, b.i  # thresholds: position 1 is forbidden where position 0 is allowed
        found = exact_room._classes_of_pairs(b, first, second, np.zeros(5, np.int64), late, soon)
        assert (found is None) == (expected is None)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_pivots_are_the_first_columns_that_are_no_combinations_of_earlier_ones(data):
    """Against FLINT on all columns at once; residues up to the largest prime, ranks of every kind."""
    from flint import nmod_mat

    k, n, q = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 30)), data.draw(st.integers(0, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    size = data.draw(st.sampled_from([2, 2**20]))
    block = (rng.integers(-size, size, (k, q)) @ rng.integers(-size, size, (q, n))).astype(object)
    columns = Columns(read(block, layout="slots-first"), np.arange(k))
    order = rng.permutation(n)
    p = next(primes())
    chosen, kept = exact_room._pivots(columns, order, p)
    centred = [[int(block[s, j] - block[0, j]) for j in order] for s in range(k)]
    greedy, rank = [], 0
    for c in range(n):
        now = nmod_mat(k, c + 1, [row[i] % p for row in centred for i in range(c + 1)], p).rank()
        if now > rank:
            greedy.append(int(order[c]))
            rank = now
    assert chosen.tolist() == greedy
    assert kept.shape == (k, rank)


@pytest.mark.parametrize("inner", [1, 3, 255, 1000])
def test_products_of_residues_do_not_round(inner):
    p = next(primes())
    a, x = np.full((2, inner), p - 1), np.full((inner, 3), p - 2)
    a[1] = np.random.default_rng(0).integers(0, p, inner)
    assert exact_room._product(a, x, p).tolist() == ((a.astype(object) @ x.astype(object)) % p).tolist()


@pytest.mark.parametrize("p", [2147483647, 2147483587])
def test_the_quick_remainder_is_the_remainder(p):
    edge = 2**63 - 1
    x = np.array([0, 1, -1, p - 1, p, -p, p * p, -p * p, edge, -edge, -edge - 1], np.int64)
    assert modulo(x, p).tolist() == [int(v) % p for v in x]


def test_a_mask_made_under_another_boundary_is_judged_under_the_prefix_boundary():
    F = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    mask = largest_safe_mask(F, boundary=Boundary.strict(3))
    assert check_projection(F, visible=mask).boundary.kind == "prefix"


@pytest.mark.parametrize("place", [None, 0, 1, 700, 1999, 2000, 3309, 3310, 3311, 3800, 3999])
def test_one_entry_of_thousands_of_columns_is_seen(place):
    """A grid of 64 slots is safe because equal pair sums cancel; one key that differs parts them.

    The columns are worked on in pieces; places 3309 to 3311 lie where the first of them ends.
    """
    positions = 4000
    values, keys = benchmark("projection").grid(positions, side=8)[::-1]
    if place is not None:
        keys[37, place] += 1
    once = Boundary.from_times(np.arange(positions), [positions // 2 - 1])
    verdict = check_projection(values, keys, layout="slots-first", boundary=once)
    assert verdict.status.name == ("PROVED_IF" if place is None else "REFUTED")
    assert verdict.witness is None or verdict.witness.replay()
