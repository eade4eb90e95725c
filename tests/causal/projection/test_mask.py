"""The largest safe mask (T13), freshness (T14), and the nearest safe projection."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from attnproof import Boundary, SafeMask, check_projection, largest_safe_mask, nearest_safe_projection
from attnproof.causal.projection import mask as mask_room
from heads import cases, grids
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need

pytestmark = pytest.mark.claim("T13", "T14")


@given(cases())
@settings(max_examples=150, deadline=None)
def test_the_mask_is_safe_and_largest(case):
    """It passes T10, and any further entry breaks T10."""
    E, F, boundary, _ = case
    mask = largest_safe_mask(F, E, layout="slots-first", boundary=boundary)
    table = mask.to_array()
    allowed = boundary.to_array()
    reads = (E != 0) | (F != 0)
    for t in range(boundary.queries):
        for s in range(len(E)):
            assert table[t, s] == (not (reads[s] & ~allowed[t]).any())
            assert bool(mask.visible(t, s)) == table[t, s]
    for given_mask in (mask, table, "largest"):
        verdict = check_projection(F, E, layout="slots-first", visible=given_mask, boundary=boundary)
        assert verdict.status.name == "PROVED"
        assert verdict.starved == mask.starved
    assert mask.starved == tuple(np.flatnonzero(~table.any(axis=1)))
    for t, s in np.argwhere(~table)[:3]:
        wider = table.copy()
        wider[t, s] = True
        verdict = check_projection(F, E, layout="slots-first", visible=wider, boundary=boundary)
        assert verdict.details["safe_queries"] == boundary.queries - 1


@given(cases())
@settings(max_examples=150, deadline=None)
def test_staleness_by_definition(case):
    """The allowed positions that come after everything a query sees; later means later available."""
    E, F, boundary, _ = case
    mask = largest_safe_mask(F, E, layout="slots-first", boundary=boundary)
    table, allowed = mask.to_array(), boundary.to_array()
    reads = (E != 0) | (F != 0)
    times = boundary.available if boundary.available is not None else np.arange(boundary.n)
    for t in range(boundary.queries):
        seen = [times[j] for s in range(len(E)) if table[t, s] for j in range(boundary.n) if reads[s, j]]
        latest = max(seen, default=-1)
        assert mask.staleness[t] == sum(1 for j in range(boundary.n) if allowed[t, j] and times[j] > latest)


def test_release_is_the_last_position_read():
    F = [[0.5, 0.5, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    E = [[1.0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, -1]]
    mask = largest_safe_mask(F, E)
    assert mask.release.tolist() == [1, -1, 3]
    assert mask.to_array().astype(int).tolist() == [[0, 1, 0], [1, 1, 0], [1, 1, 0], [1, 1, 1]]
    assert mask.starved == ()
    assert mask.staleness.tolist() == [1, 0, 1, 0]
    assert (mask.slots, mask.queries) == (3, 4)
    assert isinstance(mask, SafeMask)
    late = largest_safe_mask(F, E, boundary=Boundary.lagged(4, 6))
    assert late.to_array().astype(int).tolist() == [[0, 1, 0]] * 4


def test_release_under_other_orders_of_time():
    F = np.array([[1.0, 1, 0], [0, 0, 1]])
    mask = largest_safe_mask(F, boundary=Boundary.from_times([5, 1, 1], [1, 5]))
    assert mask.release.tolist() == [0, 2]  # position 0 becomes available last
    assert mask.to_array().tolist() == [[False, True], [True, True]]
    everything = largest_safe_mask(F, boundary=Boundary.bidirectional(3))
    assert everything.to_array().all()


@pytest.mark.parametrize("n", range(1, 13))
def test_freshness_is_met_and_attained(n):
    """T14: for n ≤ 12 and every r, some query misses its last ⌊n/(r+1)⌋ positions, and some design no more."""
    for r in range(1, n + 1):
        best = n
        for releases in _placements(n, r):
            F = np.zeros((r, n))
            F[np.arange(r), releases] = 1
            worst = int(largest_safe_mask(F, layout="slots-first").staleness.max())
            assert worst >= n // (r + 1)
            best = min(best, worst)
        assert best == n // (r + 1)


def _placements(n, r):
    """Some releases, the even ones among them; all of them for small sizes."""
    from itertools import combinations, islice

    even = [min(n - 1, (k + 1) * n // (r + 1)) for k in range(r)]
    gap = n // (r + 1)
    spread = [min(n - 1, k * (gap + 1) + gap) for k in range(r)]
    return [even, spread, *islice(combinations(range(n), r), 40)]


# -- the nearest projection -------------------------------------------------------------------------------------------


@given(cases())
@settings(max_examples=150, deadline=None)
def test_the_nearest_projection_is_safe_and_keeps_all_it_can(case):
    E, F, boundary, sees = case
    near = nearest_safe_projection(F, layout="slots-first", visible=sees, boundary=boundary)
    keys = nearest_safe_projection(E, layout="slots-first", visible=sees, boundary=boundary)
    assert check_projection(near, keys, layout="slots-first", visible=sees, boundary=boundary).status.name == "PROVED"
    changed = np.argwhere(near != F)
    assert (near[near != F] == 0).all()
    allowed = boundary.to_array()
    for s, j in changed:
        assert any(sees[t, s] and not allowed[t, j] for t in range(boundary.queries))
        back = near.copy()
        back[s, j] = F[s, j]
        again = check_projection(back, layout="slots-first", visible=sees, boundary=boundary)
        assert again.status.name != "PROVED"


@given(cases(), st.sampled_from([1, 4, 7, 1 << 16]), st.booleans(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_rule_clears_what_its_table_clears_in_either_layout(case, block, slots_first, other_boundary):
    E, F, boundary, _ = case
    ruled_by = (
        Boundary.prefix(boundary.n, boundary.queries) if other_boundary and boundary.queries <= boundary.n else boundary
    )
    mask = largest_safe_mask(E, layout="slots-first", boundary=ruled_by)
    allowed, table = boundary.to_array(), mask.to_array()
    seen_and_forbidden = (table[:, :, None] & ~allowed[:, None, :]).any(axis=0)
    given_array, layout = (F, "slots-first") if slots_first else (np.ascontiguousarray(F.T), "positions-first")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mask_room, "BLOCK", block)
        patch.setattr(mask_room, "RUNS", block % 3)
        for visible in (mask, table):
            near = nearest_safe_projection(given_array, layout=layout, visible=visible, boundary=boundary)
            assert np.array_equal(near if slots_first else near.T, np.where(seen_and_forbidden, 0, F))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("layout", ["slots-first", "positions-first"])
@pytest.mark.parametrize("times", [[0, 1, 2, 3], [2, 0, 3, 1]])
def test_numbers_that_are_not_finite_are_refused_wherever_they_stand(dtype, layout, times):
    """Cleared entries among them; the largest numbers, whose sum is infinite, are numbers."""
    boundary = Boundary.from_times(times, times)
    sees = np.ones((4, 3), bool)
    large = np.full((3, 4), np.finfo(dtype).max, dtype)
    asked = {"layout": layout, "visible": sees, "boundary": boundary}
    near = nearest_safe_projection(large if layout == "slots-first" else large.T.copy(), **asked)
    kept = near if layout == "slots-first" else near.T
    assert (kept == np.where(np.array(times) == 0, large, 0)).all()
    for bad in (np.nan, np.inf, -np.inf):
        for s, j in np.ndindex(3, 4):
            x = np.zeros((3, 4), dtype)
            x[s, j] = bad
            place = f"F\\[{s}, {j}\\]" if layout == "slots-first" else f"F\\[{j}, {s}\\]"
            with pytest.raises(ValueError, match=f"{place} = {bad} is not finite"):
                nearest_safe_projection(x if layout == "slots-first" else x.T.copy(), **asked)


@given(grids(2, 3, [Fraction(0), Fraction(1, 3)]))
@settings(max_examples=20, deadline=None)
def test_kinds_layouts_and_libraries_come_back(matrix):
    sees = np.array([[True, False]] * 3)
    expected = np.array(matrix)
    expected[0, 1:] = 0
    near = nearest_safe_projection(matrix.T, layout="positions-first", visible=sees)
    assert np.array_equal(near, expected.T)


def test_every_kind_of_array_comes_back():
    torch, dask, sympy, jax = need("torch"), need("dask.array"), need("sympy"), need("jax")
    strict = need("array_api_strict")
    F = np.array([[1, 1, 0, 2], [0, 0, 3, 0]], np.float32)
    expected = [[1, 0, 0, 0], [0, 0, 3, 0]]
    sees = np.array([[True, False]] + [[True, True]] * 3)
    sees[1, 1] = False
    for build, kind in (
        (np.asarray, np.ndarray),
        (torch.asarray, torch.Tensor),
        (jax.numpy.asarray, jax.Array),
        (lambda x: dask.from_array(x, chunks=2), dask.Array),
        (strict.asarray, type(strict.asarray(F))),
    ):
        near = nearest_safe_projection(build(F), visible=sees)
        assert isinstance(near, kind)
        assert near.dtype == build(F).dtype
        shown = near.compute() if hasattr(near, "compute") else near
        assert np.asarray(shown).tolist() == expected
    thirds = [[Fraction(1, 3), Fraction(1, 3)], [0, 0]]
    assert nearest_safe_projection(thirds, layout="slots-first", visible=np.ones((2, 2), bool)) == [
        [Fraction(1, 3), 0],
        [0, 0],
    ]
    matrix = sympy.Matrix([[sympy.Rational(1, 3), 1, 0]])
    assert nearest_safe_projection(matrix, visible=np.ones((3, 1), bool)) == sympy.Matrix(
        [[sympy.Rational(1, 3), 0, 0]]
    )
    whole = np.array([[1, 1], [0, 1]])
    near = nearest_safe_projection(whole, layout="slots-first", visible=np.ones((2, 2), bool))
    assert near.dtype == whole.dtype
    assert near.tolist() == [[1, 0], [0, 0]]
    narrow = torch.asarray(F).bfloat16()
    assert nearest_safe_projection(narrow, visible=sees).dtype == torch.bfloat16


def test_the_largest_mask_needs_no_change():
    F = np.tri(3, 4, 1)
    assert nearest_safe_projection(F, visible="largest") is F
    mask = largest_safe_mask(F)
    assert np.array_equal(nearest_safe_projection(F, visible=mask), F)


@given(st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=16, deadline=None)
def test_empty_sizes_have_masks(r, n):
    mask = largest_safe_mask(np.ones((r, n)), layout="slots-first")
    assert mask.to_array().shape == (n, r)
    assert mask.release.tolist() == [n - 1] * r
    if r == 0:
        assert mask.starved == tuple(range(n))
        assert mask.staleness.tolist() == [t + 1 for t in range(n)]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_comes_back_as_one(library):
    frame = need(library).DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [0, 5]})
    cleared = nearest_safe_projection(frame, visible=[[True, False]] * 3)
    assert type(cleared) is type(frame)
    assert list(cleared.columns) == ["a", "b", "c"]
    assert cleared.to_numpy().tolist() == [[1, 0, 0], [2, 4, 5]]


@pytest.mark.parametrize("dtype", ["int64", "Int64", "Float64", "float32", "object"])
def test_columns_of_a_data_frame_keep_their_types(dtype):
    pandas = need("pandas")
    frame = pandas.DataFrame([[1, 3, 0], [2, 4, 5]], index=["x", "y"], columns=["a", "b", "b"]).astype(dtype)
    cleared = nearest_safe_projection(frame, visible=[[True, False]] * 3)
    assert cleared.dtypes.tolist() == frame.dtypes.tolist()
    assert (list(cleared.index), list(cleared.columns)) == (["x", "y"], ["a", "b", "b"])
    assert cleared.to_numpy().tolist() == [[1, 0, 0], [2, 4, 5]]
    assert nearest_safe_projection(frame, visible="largest") is frame
    thirds = pandas.DataFrame([[Fraction(1, 3), Fraction(2, 3), 0]])
    assert nearest_safe_projection(thirds, visible=[[True]] * 3).to_numpy().tolist() == [[Fraction(1, 3), 0, 0]]


def test_matrices_of_flint_come_back_as_such():
    flint = need("flint")
    for build in (flint.fmpz_mat, flint.fmpq_mat):
        cleared = nearest_safe_projection(build(2, 3, [1, 3, 0, 2, 4, 5]), visible=[[True, False]] * 3)
        assert cleared == build(2, 3, [1, 0, 0, 2, 4, 5])
