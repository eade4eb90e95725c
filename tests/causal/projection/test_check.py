"""`check_projection`: the cases of tests/cases/projections.md by number, and the rules that keep statuses apart."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from hashlib import sha256

import numpy as np
import oracle
import pytest
from attnproof import (
    Boundary,
    NotProvedError,
    PrefixLeakError,
    Verdict,
    assert_prefix_safe,
    check_projection,
    largest_safe_mask,
    nearest_safe_projection,
)
from heads import fractions, grids, heads, one_query
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need

pytestmark = pytest.mark.claim("T10", "T11", "T12", "T13")


def status(F, E=None, **keywords):
    verdict = check_projection(F, E, **{"layout": "slots-first", **keywords})
    for condition in verdict.conditions:
        assert condition.counterexample is None or condition.counterexample.replay()
    if verdict.witness is not None:
        assert verdict.witness.replay()
    assert (verdict.status.name == "REFUTED") == (verdict.witness is not None)
    assert Verdict.from_json(verdict.to_json()) == verdict
    return verdict.status.name


def leaks(F, E=None, visible=None, boundary=None):
    """All (t, j) such that output t changes with input j: each asked alone, everything else allowed."""
    F = np.asarray(F, object)
    n = F.shape[1]
    m = n if visible is None else len(visible)
    boundary = Boundary.prefix(n, queries=m) if boundary is None else boundary
    found = set()
    for t in range(boundary.queries):
        row = None if visible is None else np.asarray(visible)[t : t + 1]
        for j in np.flatnonzero(~boundary.allowed_row(t)):
            only = np.arange(n)[None, :] != j
            if status(F.tolist(), None if E is None else E, visible=row, boundary=Boundary.relation(only)) == "REFUTED":
                found.add((t, int(j)))
    return found


def block_means(n, size):
    return np.kron(np.eye(n // size), np.full((1, size), 1 / size))


# -- the cases --------------------------------------------------------------------------------------------------------


def test_case_1_a_triangular_mask_over_slots_is_no_causal_mask():
    F = np.random.default_rng(0).standard_normal((4, 8))
    triangle = np.tri(8, 4, dtype=bool)
    assert status(F, visible=triangle) == "REFUTED"
    found = leaks(F, visible=triangle)
    assert {t for t, _ in found} == set(range(7))
    assert (0, 7) in found


def test_case_2_pairs_of_positions():
    F = block_means(8, 2)
    t, s = np.arange(8)[:, None], np.arange(4)[None, :]
    closed, early = t >= 2 * s + 1, t >= 2 * s
    for layout, given_array in (("slots-first", F), ("positions-first", F.T.copy())):
        verdict = check_projection(given_array, layout=layout, visible=closed)
        assert (verdict.status.name, tuple(verdict.starved)) == ("PROVED", (0,))
        assert "1 of 8 queries starved" in str(verdict).splitlines()[0]
        assert status(given_array, layout=layout, visible=early) == "REFUTED"
    assert leaks(F, visible=early) == {(0, 1), (2, 3), (4, 5), (6, 7)}
    with pytest.raises(ValueError, match="square"):
        check_projection(np.eye(4))


def test_case_3_blocks_of_four_and_polarity():
    F = block_means(8, 4)
    t, s = np.arange(8)[:, None], np.arange(2)[None, :]
    early, closed = s <= t // 4, s < (t + 1) // 4
    assert (0, 3) in leaks(F, visible=early)
    verdict = check_projection(F, visible=closed)
    assert (verdict.status.name, tuple(verdict.starved)) == ("PROVED", (0, 1, 2))
    assert (0, 7) in leaks(F, visible=~closed)


def test_case_4_the_article():
    F = [[Fraction(1, 2), Fraction(1, 2), 0], [0, 0, 1]]
    assert leaks(F) == {(0, 1), (0, 2), (1, 2)}
    only = np.array([[True, False]] * 3)
    assert (0, 1) in leaks(F, visible=only)
    verdict = check_projection(F)
    assert (verdict.witness.query, verdict.witness.position) == (0, 1)
    assert (verdict.claims, bool(verdict)) == (("T11", "T12"), False)


def test_case_5_values_that_cancel():
    F = [[1, 2, 5], [3, -2, -5]]
    E = [[0, 0, 0], [0, 0, 0]]
    assert status(F, E) == "PROVED_IF"
    assert "T11" in check_projection(F, E).claims
    assert status([[1, 2, 5], [3, -2, -4]], E) == "REFUTED"


def test_case_6_a_constant_column_shifts_and_cancels():
    E = [[1, 2, 7], [0, 1, 7], [5, 0, 7]]
    F = [[1, 4, 0], [2, 8, 0], [3, 0, 0]]
    at_one = Boundary.from_times([0, 1, 2], [1])
    assert status(F, E, boundary=at_one) == "PROVED_IF"
    moved = [E[0], E[1], [5, 0, 8]]
    assert status(F, moved, boundary=at_one) == "REFUTED"
    mean = [[1, 4, 0], [3, 0, 0], [2, 2, 0]]  # the third row is the mean of the first two
    same = [[1, 2, 7], [1, 2, 7], [5, 0, 8]]
    assert status(mean, same, boundary=at_one) == "PROVED_IF"


def test_case_7_the_product_of_two_choices():
    E = [[0, 0], [1, 0], [0, 1], [1, 1]]
    F = [[3, 0], [5, 0], [3, 0], [5, 0]]
    assert status(F, E, boundary=Boundary.bidirectional(2)) == "PROVED"
    at_zero = Boundary.from_times([0, 1], [0])
    assert status(F, E, boundary=at_zero) == "PROVED_IF"
    for s in range(4):
        for j in range(2):
            changed = [list(row) for row in F]
            changed[s][j] += 1
            assert status(changed, E, boundary=at_zero) == "REFUTED"


def test_case_8_equal_rows():
    E = np.random.default_rng(1).integers(-3, 4, (3, 4)).tolist()
    at_zero = Boundary.from_times([0, 1, 2, 3], [0])
    assert status([[2, 0, 0, 0]] * 3, E, boundary=at_zero) == "PROVED_IF"
    assert (0, 1) in leaks([[2, 1, 0, 0]] * 3, E)
    F = [[1, 4, -1, 0], [1, -3, 2, 0], [1, -1, -1, 0]]
    one_row = [[5, 6, 7, 8]] * 3
    assert status(F, one_row, boundary=at_zero) == "PROVED_IF"
    alone = np.array([[True, False, False]])
    assert status(F, one_row, boundary=at_zero, visible=alone) == "REFUTED"


def test_case_9_two_queries_at_the_end():
    eye = np.eye(5)
    at_end = Boundary.prefix(5, queries=2)
    bottom_right = np.tri(2, 5, 3, dtype=bool)
    verdict = check_projection(eye, layout="slots-first", visible=bottom_right)
    assert verdict.status.name == "PROVED"
    assert verdict.boundary == at_end
    top_left = np.tri(2, 5, dtype=bool)
    assert status(eye, visible=top_left) == "PROVED"
    assert (0, 4) in leaks(eye, visible=np.ones((2, 5), bool))
    staleness = largest_safe_mask(eye, layout="slots-first", boundary=at_end).staleness
    assert staleness.tolist() == [0, 0]


def test_case_10_floats_are_what_they_are():
    F = np.array([[1, 1e-30], [1, 0]], np.float32)
    verdict = check_projection(F, layout="slots-first")
    assert (verdict.status.name, verdict.witness.position) == ("REFUTED", 1)
    assert Fraction(verdict.leak_bound.values) >= Fraction(float(np.float32(1e-30))) > Fraction(1, 10**30)
    same = np.array([[1, 1e-30], [1, 1e-30]], np.float32)
    values = np.array([[2, 0], [3, 0]], np.float32)
    assert status(values, same) == "PROVED_IF"


def test_case_11_a_finite_bias_is_not_minus_infinity():
    F = np.array([[1, 0], [0, 1]], np.float32)
    hides = np.array([[0, -1e9], [0, 0]])
    verdict = check_projection(F, layout="slots-first", visible=hides)
    assert (verdict.status.name, bool(verdict)) == ("PROVED_IF", False)
    (condition,) = verdict.conditions
    assert "slot 1 in float32" in condition.text
    assert "a score difference z_hidden − z_kept ≤ 999999896 before rounding" in condition.text  # 10⁹ less 104
    broken = condition.counterexample
    assert broken.replay()
    raised = max(abs(v[1]) for v in broken.keys.values())
    assert raised >= 10**9
    (before, after) = (float(x) for x in broken.outputs)
    assert after - before > 0.5
    two = broken.__class__.from_dict({**broken.to_dict(), "keys": {"1": [str(2 * 10**9)] * 2}})
    assert two.replay()
    assert float(two.outputs[1]) == 1.0
    assert status(F, visible=np.array([[-1e9, -1e9], [0, 0]])) == "REFUTED"
    assert status(F, visible=np.array([[0, -np.inf], [0, 0]])) == "PROVED"
    assert status(F, visible=np.array([[-1e9, 0], [0, 0]])) == "REFUTED"


def test_case_12_packed_documents():
    boundary = Boundary.documents([3, 5])
    across = np.zeros((2, 8))
    across[0, :2], across[1, 2:4] = 0.5, 0.5
    t = np.arange(8)
    both = np.column_stack([t >= 1, t >= 3])
    assert status(across, boundary=boundary, visible=both) == "REFUTED"
    blocks = np.zeros((3, 8))
    blocks[0, :2], blocks[1, 3:5], blocks[2, 5:7] = 0.5, 0.5, 0.5
    inside = np.column_stack([(t >= 1) & (t < 3), t >= 4, t >= 6])
    verdict = check_projection(blocks, boundary=boundary, visible=inside)
    assert (verdict.status.name, tuple(verdict.starved)) == ("PROVED", (0, 3))
    other = inside.copy()
    other[3, 0] = True
    assert (3, 0) in leaks(blocks, visible=other, boundary=boundary)


# -- rules ------------------------------------------------------------------------------------------------------------


def test_only_cancellation_makes_it_conditional_and_rounding_breaks_it():
    for dtype in (np.float16, np.float32, np.float64):
        F, E = np.array([[1, 1], [3, -1]], dtype), np.ones((2, 2), dtype)
        verdict = check_projection(F, E, layout="slots-first")
        (condition,) = verdict.conditions
        assert condition.text == "real arithmetic: 1 query is safe because terms cancel, which rounding can undo"
        broken = condition.counterexample
        assert broken.arithmetic == np.dtype(dtype).name
        before, after = broken.outputs
        assert before != after
        v = {j: [dtype(float(x)) for x in pair] for j, pair in broken.values.items()}
        half = dtype(0.5)  # equal scores: both weights are one half
        for side in (0, 1):
            slots = [dtype(F[s, 0] * v[0][side]) + dtype(F[s, 1] * v[1][side]) for s in (0, 1)]
            assert float(half * slots[0] + half * slots[1]) == broken.outputs[side]
        assert any("real" in assumption for assumption in verdict.assumptions)
        assert verdict.claims == ("T10", "T11")  # query 1 may use everything that it sees


def test_bfloat16_breaks_in_bfloat16():
    torch = need("torch")
    F, E = torch.tensor([[1.0, 1.0], [3.0, -1.0]]).bfloat16(), torch.ones(2, 2).bfloat16()
    broken = check_projection(F, E, layout="slots-first").conditions[0].counterexample
    assert broken.arithmetic == "bfloat16"
    for pair in broken.values.values():
        for x in pair:
            assert float(torch.tensor(float(x)).bfloat16()) == float(x)
    v = {j: [torch.tensor(float(x)).bfloat16() for x in pair] for j, pair in broken.values.items()}
    half = torch.tensor(0.5).bfloat16()
    for side in (0, 1):
        a, b = (F[s, 0] * v[0][side] + F[s, 1] * v[1][side] for s in (0, 1))
        assert float(half * a + half * b) == broken.outputs[side]


def test_shift_invariance_breaks_in_floats_as_well():
    E = np.array([[1, 1], [0, 1]], np.float32)
    F = np.array([[1, 0], [2, 0]], np.float32)
    verdict = check_projection(F, E, layout="slots-first")
    broken = verdict.conditions[0].counterexample
    assert broken.position == 1
    assert 1 in broken.keys
    weights = []
    for side in (0, 1):
        k = [np.float32(float(broken.keys[j][side])) if j in broken.keys else np.float32(0) for j in (0, 1)]
        z = [np.float32(E[s, 0] * k[0]) + np.float32(E[s, 1] * k[1]) for s in (0, 1)]
        w = np.exp(np.array(z) - max(z))
        weights.append(float(w[0] / (w[0] + w[1])))
    assert weights[0] != weights[1]


def test_a_tolerance_is_conditional_at_best():
    F = np.array([[1, 1e-6], [1, 0]])
    E = np.ones((2, 2))
    verdict = check_projection(F, E, layout="slots-first", tolerance=1e-5)
    assert verdict.status.name == "PROVED_IF"
    assert verdict.leak_bound.values == 1e-6
    assert "a leak of at most 1e-06 per unit of the forbidden values" in verdict.conditions[0].text
    assert verdict.conditions[0].counterexample.replay()
    assert status(F, E, tolerance=1e-7) == "REFUTED"
    safe = check_projection(np.array([[1.0, 0], [1, 0]]), layout="slots-first", tolerance=0.1)
    assert (safe.status.name, safe.leak_bound.values) == ("PROVED_IF", 0.0)
    assert any("no leak at all" in reason for reason in safe.reasons)
    moving = check_projection(
        np.array([[1.0, 0], [2, 0]]), np.array([[0, 0.0], [0, 1]]), layout="slots-first", tolerance=0.1
    )
    assert moving.status.name == "REFUTED"  # the bound on values is 0, the bound on keys is 1/4
    assert moving.leak_bound.keys >= 0.25
    for bad in (-1, float("nan"), "much", True):
        with pytest.raises(ValueError, match=f"tolerance = {bad!r} is no bound; pass a number ≥ 0"):
            check_projection(F, layout="slots-first", tolerance=bad)


def test_a_tolerance_is_compared_before_it_is_said():
    """Terms cancel, entries are as large as 1: the leak is 0 in real arithmetic, but no bound within 1e-9 says so."""
    F, E = np.array([[1.0, 1.0], [3.0, -1.0]]), np.ones((2, 2))
    verdict = check_projection(F, E, layout="slots-first", tolerance=1e-9)
    assert verdict.status.name == "PROVED_IF"
    assert [c.text.partition(":")[0] for c in verdict.conditions] == ["real arithmetic"]
    wide = check_projection(F, E, layout="slots-first", tolerance=1)
    assert [c.text.partition(" ")[0] for c in wide.conditions] == ["real", "a"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_weights_that_add_up_to_one_but_for_rounding_have_their_breaking_input(dtype):
    """Equal rows of F, and keys of short mantissas show nothing: it takes products that round."""
    E, F = np.array([[0.5, 1, 0], [0.5, 0.5, 0]], dtype), np.array([[-1, 0, 0], [-1, 0, 0]], dtype)
    boundary = Boundary.relation([[True, False, False]])
    (condition,) = check_projection(F, E, layout="slots-first", boundary=boundary).conditions
    broken = condition.counterexample
    assert broken.position == 1
    assert broken.replay()
    assert broken.outputs[0] != broken.outputs[1]


FIRST = {"layout": "slots-first"}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_no_condition_where_rounding_cannot_undo_what_cancels(dtype):
    """A lone visible slot has weight 1 whatever its score, and rows of F that are 0 add up to 0."""
    lone = check_projection(np.array([[0, 1]], dtype), np.array([[1, 0]], dtype), boundary=one_query(2, 0), **FIRST)
    assert lone.status.name == "REFUTED"
    E, F = np.array([[1, 0]], dtype), np.array([[0, 1]], dtype)
    at_one = Boundary.relation([[False, True]])
    lone = check_projection(F, E, boundary=at_one, **FIRST)
    assert (lone.status.name, lone.claims, lone.conditions) == ("PROVED", ("T11",), ())
    assert any("a softmax over a single slot is exactly 1" in assumption for assumption in lone.assumptions)
    assert not any("real" in assumption for assumption in lone.assumptions)
    still = check_projection(np.zeros((3, 2), dtype), np.array([[1, 0], [2, 3], [4, 5]], dtype), **FIRST)
    assert (still.status.name, still.conditions) == ("PROVED", ())
    both = np.array([[1, 0], [0, 0]], dtype), np.array([[0, 1], [0, 2]], dtype)
    assert check_projection(*both, **FIRST).status.name == "REFUTED"
    equal = np.array([[1, 0], [1, 0]], dtype), np.array([[0, 1], [0, 2]], dtype)
    assert check_projection(*equal, **FIRST).status.name == "PROVED_IF"
    mixed = Boundary.relation([[False, True], [True, False]])
    two = check_projection(*equal, boundary=mixed, visible=np.array([[False, False], [True, True]]), **FIRST)
    assert two.status.name == "PROVED_IF"
    one = check_projection(*equal, boundary=mixed, visible=np.array([[False, False], [True, False]]), **FIRST)
    assert one.status.name == "PROVED"


# -- biases -----------------------------------------------------------------------------------------------------------


@given(heads(), st.data())
@settings(max_examples=250, deadline=None)
def test_biases_against_brute_force(head, data):
    """Groups by (row, bias); conditional only where hiding biased slots makes it safe, refuted where nothing does."""
    E, F, cut = head
    r, n = E.shape
    levels = st.sampled_from([0.0, 0.0, -1.0, -1e4, -1e9, -np.inf])
    bias = np.array(data.draw(st.lists(levels, min_size=r, max_size=r)))
    boundary = one_query(n, cut)
    verdict = check_projection(F, E, layout="slots-first", visible=bias[None], boundary=boundary)
    name = verdict.status.name
    kept = np.flatnonzero(bias > -np.inf)
    forbidden = set(range(cut, n))
    e, f, b = fractions(E), fractions(F), [Fraction(x) if np.isfinite(x) else None for x in bias]

    def safe(slots):
        return not len(slots) or oracle.safe(
            [e[s] for s in slots], [f[s] for s in slots], forbidden, [b[s] for s in slots]
        )

    read = [any(E[s, j] or F[s, j] for j in forbidden) for s in range(r)]
    if not any(read[s] for s in kept):
        assert name == "PROVED"
        return
    if safe(kept):
        rounds = len(kept) > 1 and bool(F[kept].any())
        assert name == ("PROVED_IF" if rounds else "PROVED")
        assert [c.text.startswith("real arithmetic") for c in verdict.conditions] == [True] * rounds
        return
    top = max(bias[s] for s in kept)
    hideable = [s for s in kept if bias[s] < top]
    subsets = [[s for k, s in enumerate(hideable) if choice >> k & 1] for choice in range(1, 2 ** len(hideable))]
    possible = any(safe([s for s in kept if s not in hidden]) for hidden in subsets)
    if name == "PROVED_IF":
        assert possible
        assert "the finite bias hides" in verdict.conditions[0].text
    else:
        assert name == "REFUTED"
        # Slots with the largest bias cannot be hidden; if they alone leak, nothing helps.
        assert (
            not possible
            or safe([s for s in kept if bias[s] == top]) is False
            or not any(safe([s for s in kept if bias[s] > level]) for level in {bias[s] for s in hideable})
        )
        assert verdict.witness.bias is not None or len(set(bias[kept])) == 1
        assert verdict.witness.replay()
    for condition in verdict.conditions:
        if condition.counterexample is not None:
            assert condition.counterexample.replay()
            assert condition.counterexample.position in forbidden


def test_a_small_bias_is_conditional_and_called_no_mask():
    F = np.eye(2)
    verdict = check_projection(F, layout="slots-first", visible=np.array([[0.0, -0.5], [0.0, 0.0]]))
    assert verdict.status.name == "PROVED_IF"
    assert "this bias is no mask, the condition fails already when all scores are equal" in verdict.conditions[0].text
    assert verdict.conditions[0].counterexample.keys == {}


def test_the_largest_score_that_a_bias_survives():
    """|score| up to the printed limit: the float weight is 0 at random scores; just above it, it need not be."""
    F = np.eye(2, dtype=np.float32)
    for gap in (200.0, 1e4, 1e9):
        text = check_projection(F, layout="slots-first", visible=np.array([[0.0, -gap], [0, 0]])).conditions[0].text
        limit = float(text.rsplit("≤ ", 1)[1])
        rng = np.random.default_rng(0)
        scores = (rng.uniform(-1, 1, (1000, 2)) * limit).astype(np.float32)
        scores = np.vstack([scores, np.array([[-limit, limit]], np.float32)])
        scores = np.clip(scores, -np.float32(limit), np.float32(limit)) * np.float32(1 - 1e-6)
        biased = scores + np.array([0, -gap], np.float32)
        weights = np.exp(biased - biased.max(axis=1, keepdims=True))
        assert (weights[:, 1] == 0).all()
        loud = np.array([-limit * 1.01 - 60, limit * 1.01 + 60], np.float32) + np.array([0, -gap], np.float32)
        assert np.exp(loud - loud.max())[1] > 0


def test_a_bias_that_the_type_cannot_hold_is_rounded_once_more():
    """In float32 these biases become multiples of 16, and at scores of ±8.34 the weight of the second slot is not 0."""
    bias = np.array([[-134217998.17403483, -134218134.87098122], [0, 0]])
    text = check_projection(np.eye(2, dtype=np.float32), layout="slots-first", visible=bias).conditions[0].text
    limit = float(text.rsplit("≤ ", 1)[1])
    score = np.float32(8.34)
    biased = np.array([-score, score], np.float32) + bias[0].astype(np.float32)
    assert np.exp(biased - biased.max())[1] > 0
    assert limit < 8.34


def test_what_cancellation_breaks_is_shown_for_all_that_the_query_sees():
    """Slots 0 and 1 cancel; slot 2 leaks and is hidden by its bias. The input that breaks rounding has all three."""
    F = np.array([[1.0, 1.0], [3.0, -1.0], [0.0, 1.0]])
    verdict = check_projection(
        F, np.array([[1.0, 0], [1, 0], [0, 0]]), layout="slots-first", visible=np.array([[0, 0, -1e6], [0, 0, 0]])
    )
    assert verdict.status.name == "PROVED_IF"
    hidden, cancelled = verdict.conditions
    assert "hides slot 2" in hidden.text
    assert "real arithmetic" in cancelled.text
    assert cancelled.counterexample.slots == (0, 1, 2)
    assert cancelled.counterexample.replay()


def test_underflow_margins_are_those_of_the_types_that_rows_are_summed_in():
    from attnproof.causal.projection.finite_bias import UNDERFLOW

    for name, theta in UNDERFLOW.items():
        summed = "float64" if name == "float64" else "float32"
        kind = np.dtype(summed).type
        assert np.exp(np.float64(-theta)).astype(kind) == 0
        assert np.exp(kind(-theta)) == 0
        if summed != "float64":
            assert np.exp(np.float64(-theta + 1)).astype(kind) > 0


def test_a_short_type_sums_what_it_rounds_to_zero():
    """At a gap of 19 a hidden score still moves the other weights of a float16 row, as the library computes it."""
    torch = need("torch")
    scores = torch.randn(200, 4096, generator=torch.Generator().manual_seed(0)).half()
    scores[:, 0] = 6
    low, lower = scores.clone(), scores.clone()
    low[:, 8:], lower[:, 8:] = -13, -60000
    assert (low.softmax(-1)[:, 8:] == 0).all()
    assert (low.softmax(-1)[:, :8] != lower.softmax(-1)[:, :8]).any()


def test_a_boundary_may_be_a_text():
    F = [[1.0, 0, 0, 0]]
    for text, boundary in {"strict": Boundary.strict(4), "lag:2": Boundary.lagged(4, 2), "prefix": None}.items():
        assert check_projection(F, boundary=text).status == check_projection(F, boundary=boundary).status
    with pytest.raises(ValueError, match="boundary"):
        check_projection(F, boundary="strcit")


# -- sizes, masks and words -------------------------------------------------------------------------------------------


def test_empty_projections_have_answers():
    none = check_projection(np.zeros((0, 3)), layout="slots-first")
    assert (none.status.name, tuple(none.starved)) == ("PROVED", (0, 1, 2))
    assert any("outputs 0" in assumption for assumption in none.assumptions)
    nothing = check_projection(np.zeros((3, 0)), layout="slots-first")
    assert (nothing.status.name, tuple(nothing.starved)) == ("PROVED", ())
    both = check_projection(np.zeros((0, 0)), layout="slots-first")
    assert both.status.name == "PROVED"
    with pytest.raises(ValueError, match=r"shape \(0, 0\), which is square"):
        check_projection(np.zeros((0, 0)))
    assert status([[], []], visible=np.zeros((0, 2), bool)) == "PROVED"
    for F in ([], [[]]):
        assert status(F, visible="largest") == "PROVED"


BAD_MASKS = [
    (np.ones((3, 3), bool), ValueError, r"visible has shape \(3, 3\); pass \(queries, r\) with r = 2"),
    (
        np.ones((2, 5), bool),
        ValueError,
        r"visible has shape \(2, 5\) \(it looks transposed\); pass \(queries, r\) with r = 2",
    ),
    (np.ones(2, bool), ValueError, r"visible has shape \(2,\); pass \(queries, r\)"),
    (
        np.ones((4, 2), int),
        TypeError,
        r"visible has dtype int64, in which 0 could mean hidden or no bias; pass booleans",
    ),
    (np.ones((4, 2), complex), TypeError, r"visible has dtype complex128"),
    (np.full((4, 2), np.nan), ValueError, r"visible\[0, 0\] = nan is no bias; pass -inf for hidden"),
    (np.full((4, 2), np.inf), ValueError, r"visible\[0, 0\] = inf is no bias"),
    (np.ones((0, 2), bool), ValueError, r"visible has shape \(0, r\), no query for n = 4 positions; pass one row"),
    ("all", ValueError, "visible = 'all' is unknown; pass 'largest', a"),
    (3, TypeError, r"visible is of type int; pass a \(queries, r\) array, a SafeMask, 'largest' or None"),
    (np.ones((9, 2), bool), ValueError, "visible has 9 queries, more than n = 4 positions; pass a boundary"),
    (
        np.ma.masked_array(np.ones((4, 2), bool), np.eye(4, 2)),
        TypeError,
        "visible is a masked array, and a masked entry",
    ),
    (
        np.full((4, 2), -(np.longdouble(10) ** 4000)),
        ValueError,
        "is no bias; pass -inf for hidden and a finite float64",
    ),
]


@pytest.mark.parametrize(("mask", "error", "sentence"), BAD_MASKS)
def test_masks_that_fit_nothing(mask, error, sentence):
    with pytest.raises(error, match=sentence):
        check_projection(np.zeros((2, 4)), visible=mask)


@pytest.mark.parametrize("text", [None, "prefix", "lag:0"])
def test_a_mask_of_fewer_queries_stands_at_the_end_whether_the_boundary_is_named_or_not(text):
    F, seen = np.eye(4), np.array([[True, True, True, False], [False, False, False, True]])
    verdict = check_projection(F, layout="slots-first", visible=seen, boundary=text)
    assert (verdict.status.name, verdict.boundary.stands.tolist()) == ("PROVED", [2, 3])
    with pytest.raises(ValueError, match=r"visible has shape \(0, r\), no query for n = 4"):
        check_projection(F, layout="slots-first", visible=np.zeros((0, 4), bool), boundary=text)


@pytest.mark.parametrize("text", ["prefix", "strict", "lag:1", "lag:2"])
def test_a_text_leaves_the_queries_of_a_safe_mask_where_they_stand(text):
    mask = largest_safe_mask(np.eye(4), layout="slots-first", boundary=Boundary.parse(text, 4, 2, "start"))
    verdict = check_projection(np.eye(4), layout="slots-first", visible=mask, boundary=text)
    assert verdict.boundary.stands.tolist() == [0, 1]


def test_masks_and_boundaries_that_disagree():
    F = np.zeros((2, 4))
    with pytest.raises(
        ValueError, match=r"boundary has 4 queries, visible has 3; make them agree, for instance Boundary\.prefix"
    ):
        check_projection(F, visible=np.ones((3, 2), bool), boundary=Boundary.prefix(4))
    with pytest.raises(ValueError, match="boundary speaks of n = 5 positions, the projection has n = 4"):
        check_projection(F, boundary=Boundary.prefix(5))
    with pytest.raises(TypeError, match="boundary must be a Boundary, not int"):
        check_projection(F, boundary=3)
    with pytest.raises(ValueError, match="visible is a mask over 3 slots, the projection has r = 2"):
        check_projection(F, visible=largest_safe_mask(np.zeros((3, 4))))


@pytest.mark.parametrize("library", ["torch", "jax", "dask.array", "array_api_strict"])
def test_masks_of_other_libraries(library):
    module = need(library)
    build = module.numpy.asarray if library == "jax" else module.asarray
    F = block_means(8, 2)
    closed = np.arange(8)[:, None] >= 2 * np.arange(4)[None, :] + 1
    assert check_projection(F, visible=build(closed)).status.name == "PROVED"
    bias = np.where(closed, 0, -np.inf).astype(np.float32)
    assert check_projection(F, visible=build(bias)).status.name == "PROVED"
    assert check_projection(F, visible=build(~closed)).status.name == "REFUTED"
    assert check_projection(F, visible=closed.tolist()).status.name == "PROVED"
    with pytest.raises(TypeError, match=r"visible has dtype \w+, in which 0 could mean hidden or no bias"):
        check_projection(F, visible=build(closed.astype(np.int32)))


@given(grids(3, 4), grids(3, 4), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_a_mask_of_one_projection_under_another_boundary(F, G, k, lag):
    """A rule is what its table is."""
    mask = largest_safe_mask(G, layout="slots-first", boundary=Boundary.lagged(4, k))
    boundary = Boundary.lagged(4, lag)
    rule = check_projection(F, layout="slots-first", visible=mask, boundary=boundary)
    table = check_projection(F, layout="slots-first", visible=mask.to_array(), boundary=boundary)
    assert rule.status is table.status
    assert rule.starved == table.starved
    assert rule.witness == table.witness


def test_a_mask_keeps_the_place_of_its_queries():
    """No boundary given: the mask's own, if it is a prefix boundary, with its queries at the start or at the end."""
    F = block_means(8, 2)
    for align in ("start", "end"):
        mask = largest_safe_mask(F, boundary=Boundary.prefix(8, queries=3, align=align))
        verdict = check_projection(F, visible=mask)
        assert verdict.boundary == mask.boundary
        assert tuple(verdict.starved) == tuple(mask.starved)
    other = block_means(8, 4)  # releases later: seen too early by the queries at the start alone
    mask = largest_safe_mask(np.eye(2, 8), boundary=Boundary.prefix(8, queries=3, align="start"))
    assert check_projection(other, visible=mask).status.name == "REFUTED"


def test_strict_boundaries_say_where_queries_come_from():
    F = np.array([[1.0, 0, 0]])
    strict = check_projection(F, boundary=Boundary.strict(3), visible="largest")
    assert any("queries are computed from something else" in a for a in strict.assumptions)
    assert not any("something else" in a for a in check_projection(F).assumptions)
    assert tuple(strict.starved) == (0,)


def test_polarity_is_true_for_visible():
    F = block_means(4, 2)
    closed = np.arange(4)[:, None] >= 2 * np.arange(2)[None, :] + 1
    assert status(F, visible=closed) == "PROVED"
    assert status(F, visible=~closed) == "REFUTED"


def test_assertions():
    half = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    assert assert_prefix_safe(half, visible="largest").status.name == "PROVED"
    with pytest.raises(PrefixLeakError, match="output 0 changes from 0 to 1/4 when value 1 changes from 0 to 1"):
        assert_prefix_safe(half)
    cancels = ([[1.0, 1], [3, -1]], [[1.0, 1], [1, 1]])
    with pytest.raises(NotProvedError, match="real arithmetic"):
        assert_prefix_safe(*cancels, layout="slots-first")
    assert assert_prefix_safe(*cancels, layout="slots-first", accept=("PROVED", "PROVED_IF")).status.name == "PROVED_IF"
    let_pass = assert_prefix_safe(half, suppress="a fixture that leaks on purpose")
    assert "accepted all the same" in str(let_pass)


def test_the_hash_is_of_the_content():
    F = np.array([[1.0, 0, 0], [0, 0, 0]])
    one, same = check_projection(F).input_hash, check_projection(F.copy()).input_hash
    assert one == same
    assert one == "sha256:" + sha256(b"(2, 3) float64;" + F.tobytes()).hexdigest()
    assert check_projection(F * 2).input_hash != one
    assert check_projection(F, F * 2).input_hash != one
    assert check_projection(F.T.copy(), layout="positions-first").input_hash == one
    assert check_projection(F.astype(np.float32)).input_hash != one


def test_details_hold_what_a_picture_needs():
    verdict = check_projection([[0.5, 0.5, 0, 0], [0, 0, 1.0, 0]], visible="largest")
    details = verdict.details
    assert details["reads_values"] == [[[0, 2]], [[2, 3]]]
    assert details["seen_by"] == [[[1, 4]], [[2, 4]]]
    assert "reads_values" not in check_projection(np.zeros((2, 70_000))).details


def test_large_sizes_stay_lean():
    """Rules take no (queries, r) memory, and a scan no more than a few per cent."""
    import tracemalloc

    F = np.zeros((64, 200_000), np.float32)
    F[np.arange(64), np.arange(64) * 3000 + 2999] = 1
    mask = largest_safe_mask(F)
    tracemalloc.start()
    verdict = check_projection(F, visible="largest")
    again = check_projection(F, visible=mask)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert verdict.status.name == again.status.name == "PROVED"
    assert len(verdict.starved) == 2999
    assert peak < 5 * 8 * 200_000  # at most five vectors over the positions: 4 % of (256, 1 000 000) float32
    leak = check_projection(F)
    assert (leak.witness.query, leak.witness.position) == (0, 2999)
    assert leak.leak_bound.values >= 1


def test_a_linformer_after_repair():
    rng = np.random.default_rng(3)
    P = rng.standard_normal((64, 16)).astype(np.float32)
    blocks = np.arange(64)[:, None] // 4 > np.arange(16)[None, :]
    assert status(P, layout="positions-first", visible=blocks) == "REFUTED"
    near = nearest_safe_projection(P, layout="positions-first", visible=blocks)
    assert near.dtype == np.float32
    assert status(near, layout="positions-first", visible=blocks) == "PROVED"
    largest = check_projection(P, layout="positions-first", visible="largest")
    assert str(largest).splitlines()[0].endswith("63 of 64 queries starved")


# -- what stands for numbers, and what is near the end of a type ------------------------------------------------------


@pytest.mark.parametrize(("dtype", "bias"), [(np.float16, -1e9), (np.float16, -1e38), (np.float32, -1e308)])
def test_no_score_that_a_condition_allows_is_past_the_end_of_its_type(dtype, bias):
    with np.errstate(all="raise"):
        verdict = check_projection(np.eye(2, dtype=dtype), layout="slots-first", visible=np.array([[0, bias], [0, 0]]))
    most = Fraction(verdict.conditions[0].text.rpartition("≤ ")[2])
    assert 0 < most <= Fraction(float(np.finfo(dtype).max))


def test_what_holds_no_numbers_is_named():
    torch, jax = need("torch"), need("jax")
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(2, 3)

    def inside(transform, x):
        transform(lambda y: check_projection(y).status)(x)

    cases = {
        "F is a FakeTensor inside a transformation or a trace": lambda: check_projection(fake),
        "visible is a FakeTensor inside": lambda: check_projection(np.ones((2, 3)), visible=fake.bool().T),
        "F is a Tensor inside a transformation": lambda: inside(torch.vmap, torch.ones(4, 2, 3)),
        "F is a nested tensor": lambda: check_projection(torch.nested.nested_tensor([torch.ones(2, 3)])),
        "F is traced by JAX": lambda: inside(jax.jit, jax.numpy.ones((2, 3))),
        "F[0, 0] = 1E+99999 has over 4000 digits": lambda: check_projection([[Decimal("1E+99999"), 0]]),
        "F[0, 0] = 1E+999999999 has over 4000 digits": lambda: check_projection([[Decimal("1E+999999999"), 0]]),
    }
    for words, call in cases.items():
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        assert str(caught.value).startswith(words)
        assert "\n" not in str(caught.value)


def test_flint_matrices_are_exact_and_frames_come_back_as_frames():
    flint, pandas = need("flint"), need("pandas")
    half = flint.fmpq(1, 2)
    assert check_projection(flint.fmpq_mat(1, 2, [half, half])).witness.outputs[1] == Fraction(1, 2)
    assert check_projection(flint.fmpz_mat(1, 2, [3, 0])).status.name == "PROVED"
    frame = pandas.DataFrame([[1.0, 2.0, 3.0]], index=["slot"], columns=["a", "b", "c"])
    near = nearest_safe_projection(frame, visible=[[True]] * 3)
    pandas.testing.assert_frame_equal(
        near, pandas.DataFrame([[1.0, 0.0, 0.0]], index=["slot"], columns=["a", "b", "c"])
    )
