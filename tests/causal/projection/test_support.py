"""The scan (T10): what each slot reads, in every library and layout, one compute on lazy arrays, bad entries named."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from attnproof import Boundary, check_projection, largest_safe_mask, nearest_safe_projection
from attnproof.causal.projection import support as support_room
from attnproof.causal.projection.entries import Entries, exact, read
from attnproof.causal.projection.support import BLOCK, NEVER, NOTHING, scan_all, supports
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need

pytestmark = pytest.mark.claim("T10")


def ends(matrix):
    """First and last non-zero column of each row, literally."""
    found = [[j for j, x in enumerate(row) if x != 0] for row in matrix]
    return [min(js, default=NEVER) for js in found], [max(js, default=NOTHING) for js in found]


@st.composite
def sparse_matrices(draw, rows=5, columns=7):
    r, n = draw(st.integers(1, rows)), draw(st.integers(1, columns))
    entries = st.sampled_from([0.0, 0.0, 0.0, -0.0, 1.0, -2.5, 5e-324, 1e-30, 1e300])
    return np.array(draw(st.lists(entries, min_size=r * n, max_size=r * n))).reshape(r, n)


@given(sparse_matrices(), st.sampled_from(["C", "F", "strided", "backwards"]))
@settings(max_examples=100, deadline=None)
def test_the_scan_finds_the_ends_whatever_the_memory(matrix, memory):
    x = np.asarray(matrix, order="F" if memory == "F" else "C")
    if memory == "strided":
        x = np.repeat(np.repeat(matrix, 2, axis=0), 3, axis=1)[::2, ::3]
    if memory == "backwards":
        x = matrix[::-1, ::-1].copy()[::-1, ::-1]
    found = scan_all([read(x, layout="slots-first")])[0]
    assert (found.lowest.tolist(), found.highest.tolist()) == ends(matrix)
    turned = scan_all([read(x.T, layout="positions-first")])[0]
    assert turned.highest.tolist() == ends(matrix)[1]
    assert found.low.min() == matrix.min()
    assert found.high.max() == matrix.max()


@given(sparse_matrices(columns=40), st.sampled_from([1, 6, 15, 64]), st.sampled_from([5, 16, 64, 1 << 16]))
@settings(max_examples=200, deadline=None)
def test_rows_that_are_reduced_together_give_the_extremes_of_each_slot(matrix, fold, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(support_room, "FOLD", fold)
        patch.setattr(support_room, "BLOCK", block)
        found = scan_all([read(np.ascontiguousarray(matrix.T), layout="positions-first")])[0]
    assert (found.lowest.tolist(), found.highest.tolist()) == ends(matrix)
    cuts = found.edges.tolist()
    for b, (start, stop) in enumerate(pairwise(cuts)):
        assert found.low[:, b].tolist() == matrix[:, start:stop].min(axis=1).tolist()
        assert found.high[:, b].tolist() == matrix[:, start:stop].max(axis=1).tolist()


@pytest.mark.parametrize("first", [0, 1, 255, 256, 1279, 1280, 5376, 6999])
@pytest.mark.parametrize("last", [0, 1623, 1624, 5719, 5720, 6743, 6744, 6999])
def test_ends_are_found_however_far_inside_a_block_they_lie(first, last):
    x = np.zeros((1, 7000), np.float32)
    x[0, [min(first, last), max(first, last)]] = 1
    found = scan_all([read(x)])[0]
    assert (found.lowest.tolist(), found.highest.tolist()) == ends(x)


@given(sparse_matrices(), st.data(), st.sampled_from([1, 64]), st.sampled_from([1, 3, BLOCK]))
@settings(max_examples=150, deadline=None)
def test_ranks_other_than_positions(matrix, data, top, block):
    n = matrix.shape[1]
    rank = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    with pytest.MonkeyPatch.context() as patch:  # few positions of extreme rank, so that blocks are searched, too
        patch.setattr(support_room, "TOP", top)
        patch.setattr(support_room, "BLOCK", block)
        found = scan_all([read(matrix, layout="slots-first")], rank)[0]
    for s, row in enumerate(matrix):
        read_ranks = rank[row != 0]
        assert found.lowest[s] == read_ranks.min(initial=NEVER)
        assert found.highest[s] == read_ranks.max(initial=NOTHING)


@pytest.mark.parametrize("layout", ["slots-first", "positions-first"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_blocks_meet_at_every_edge(layout, dtype):
    n = 2 * BLOCK + 17
    x = np.zeros((5, n), dtype)
    spots = [0, BLOCK - 1, BLOCK, 2 * BLOCK, n - 1]
    for s, j in enumerate(spots):
        x[s, j] = -1
    x[0, BLOCK + 3] = 1
    given_array = x if layout == "slots-first" else np.ascontiguousarray(x.T)
    found = scan_all([read(given_array, layout=layout)])[0]
    assert found.lowest.tolist() == spots
    assert found.highest.tolist() == [BLOCK + 3, *spots[1:]]
    for bad in (np.nan, np.inf, -np.inf):
        x[3, 2 * BLOCK + 1] = bad
        given_array = x if layout == "slots-first" else np.ascontiguousarray(x.T)
        place = f"3, {2 * BLOCK + 1}" if layout == "slots-first" else f"{2 * BLOCK + 1}, 3"
        with pytest.raises(ValueError, match=rf"F\[{place}\] = {bad} is not finite; a projection holds finite numbers"):
            check_projection(given_array, layout=layout)


def test_a_bad_entry_of_E_is_named_too():
    F = np.ones((2, 3))
    E = np.ones((2, 3))
    E[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"E\[1, 2\] = nan is not finite"):
        check_projection(F, E)


@given(sparse_matrices(), sparse_matrices(), st.data())
@settings(max_examples=150, deadline=None)
def test_readable_means_that_no_forbidden_position_is_read(F, E, data):
    n = min(F.shape[1], E.shape[1])
    r = min(len(F), len(E))
    F, E = F[:r, :n], E[:r, :n]
    kind = data.draw(st.sampled_from(["prefix", "lagged", "documents", "times", "relation", "bidirectional"]))
    if kind == "documents":
        cut = data.draw(st.integers(0, n - 1))
        boundary = Boundary.documents([cut, n - cut] if cut else [n])
    elif kind == "times":
        draw = st.lists(st.integers(0, 3), min_size=n, max_size=n)
        boundary = Boundary.from_times(data.draw(draw), data.draw(draw))
    elif kind == "relation":
        bits = data.draw(st.lists(st.booleans(), min_size=2 * n, max_size=2 * n))
        boundary = Boundary.relation(np.array(bits).reshape(2, n))
    else:
        k = data.draw(st.integers(0, n + 1)) if kind == "lagged" else 0
        boundary = Boundary.bidirectional(n) if kind == "bidirectional" else Boundary.lagged(n, k)
    matrices = [read(F, "F", "slots-first"), read(E, "E", "slots-first")]
    support = supports(matrices, boundary)[0]
    got = support.readable(np.arange(boundary.queries))
    allowed = boundary.to_array()
    for t in range(boundary.queries):
        for s in range(r):
            reads = (F[s] != 0) | (E[s] != 0)
            assert got[t, s] == (not np.any(reads & ~allowed[t]))


# -- libraries --------------------------------------------------------------------------------------------------------


def library(name):
    """A function that builds a (slots-first) array of that library from NumPy."""
    if name == "numpy":
        return np.asarray
    if name == "memmap":

        def build(x, _count=[0]):  # noqa: B006
            import tempfile

            file = tempfile.NamedTemporaryFile(suffix=".npy")  # noqa: SIM115 - lives as long as the array
            np.save(file.name, x)
            build.kept = [*getattr(build, "kept", []), file]
            return np.load(file.name, mmap_mode="r")

        return build
    module = need(name)
    if name == "torch":
        return lambda x: module.asarray(x).requires_grad_(True)
    if name == "jax":
        return module.numpy.asarray
    if name == "dask.array":
        return lambda x: module.from_array(x, chunks=(2, 3))
    return module.asarray


@pytest.mark.parametrize("name", ["numpy", "memmap", "torch", "jax", "dask.array", "array_api_strict"])
def test_every_library_gives_the_same_verdicts(name):
    build = library(name)
    half = np.array([[0.5, 0.5, 0, 0], [0, 0, 1, 0]], np.float32)
    same = np.array([[1, 0, 0, 0], [1, 0, 0, 0]], np.float32)
    moving = np.array([[0, 1, 2, 3], [0, 0, 1, 7]], np.float32)
    expected = [
        check_projection(half),
        check_projection(half, visible="largest"),
        check_projection(same, moving),
        check_projection(half.T.copy(), layout="positions-first"),
    ]
    got = [
        check_projection(build(half)),
        check_projection(build(half), visible="largest"),
        check_projection(build(same), build(moving)),
        check_projection(build(half.T.copy()), layout="positions-first"),
    ]
    for mine, reference in zip(got, expected, strict=True):
        assert mine.status is reference.status
        assert mine.starved == reference.starved
        assert mine.witness == reference.witness
        assert mine.details["dtype"] == "float32"
        assert mine.leak_bound == reference.leak_bound
    assert largest_safe_mask(build(half)).release.tolist() == [1, 2]
    bad = half.copy()
    bad[1, 3] = np.nan
    with pytest.raises(ValueError, match=r"F\[1, 3\] = nan is not finite"):
        check_projection(build(bad))
    whole = np.array([[1, 1], [3, -1]])
    assert check_projection(build(whole.astype(np.float32)), layout="slots-first").status.name == "REFUTED"


@pytest.mark.parametrize("name", ["dask.array", "array_api_strict"])
@pytest.mark.parametrize("rank", [None, np.array([4, 0, 3, 1, 2])])
def test_scans_of_other_libraries_are_those_of_numpy(name, rank):
    """The lowest ranks among them, which only boundaries of several documents ask for."""
    x = np.array([[0, 0, 0, 0, 0], [0, 2, 0, -1, 0], [0, 0, 0, 0, 3.0]])
    found, reference = (scan_all([read(build(x))], rank)[0] for build in (library(name), np.asarray))
    assert found.lowest.tolist() == reference.lowest.tolist()
    assert found.highest.tolist() == reference.highest.tolist()
    assert found.low.shape == found.high.shape == (3, len(found.edges) - 1)
    assert found.low.min(axis=1).tolist() == [0, -1, 0]
    assert found.high.max(axis=1).tolist() == [0, 2, 3]


@pytest.mark.parametrize("name", ["torch", "torch bfloat16", "jax", "array_api_strict"])
def test_arrays_that_stay_on_their_device(name):
    """The path of a GPU, taken on a CPU: reductions where the array lives, only what is asked for comes over."""
    library_name, _, narrow = name.partition(" ")
    module = need(library_name)
    build = module.numpy.asarray if library_name == "jax" else module.asarray
    rng = np.random.default_rng(0)
    F = rng.integers(-2, 3, (4, 9)).astype(np.float32)
    F[:, 5:] = 0
    E = F.copy()
    E[:, 5:] = 3
    late = F.copy()
    late[2, 8] = 1

    def there(x, label):
        array = build(x).bfloat16() if narrow else build(x)
        return Entries(label, array, narrow or "float32", "device", "slots-first", False)

    at_four = Boundary.from_times(np.arange(9), [4])
    times = Boundary.from_times([3, 1, 2, 0, 4, 4, 4, 4, 4], [2, 4])
    for values, keys, boundary, visible in (
        (F, E, at_four, None),
        (late, E, at_four, None),
        (F, F, at_four, None),
        (F, late, None, "largest"),
        (late, late, times, np.array([[True, False, True, False]] * 2)),
    ):
        given_keywords = {"boundary": boundary, "visible": visible}
        here = check_projection(values, keys, layout="slots-first", **given_keywords)
        far = check_projection(there(values, "F"), there(keys, "E"), **given_keywords)
        assert far.status is here.status
        assert far.witness == here.witness
        assert far.leak_bound == here.leak_bound
        assert far.starved == here.starved
    bad = F.copy()
    bad[3, 7] = np.inf
    with pytest.raises(ValueError, match=r"F\[3, 7\] = inf is not finite"):
        check_projection(there(bad, "F"))


def test_dask_computes_once_and_validates_on_the_way():
    dask, array = need("dask"), need("dask.array")
    computes = []

    class Counter(dask.callbacks.Callback):
        def _start(self, dsk):
            computes.append(len(dsk))

    E = array.ones((4, 100), chunks=(2, 30), dtype=np.float32)
    F = array.from_array(np.tri(4, 100, 20, dtype=np.float32), chunks=(3, 25))
    with Counter():
        verdict = check_projection(F, E, visible="largest")
    assert len(computes) == 1
    assert len(verdict.starved) == 99
    with Counter():
        assert largest_safe_mask(F).release.tolist() == [20, 21, 22, 23]
    assert len(computes) == 2
    unknown = F[F[:, 0] > 0]
    with pytest.raises(ValueError, match=r"unknown shape .*; call compute_chunk_sizes\(\)"):
        check_projection(unknown, layout="slots-first")


def test_integers_outside_numpy_stay_exact():
    array, torch = need("dask.array"), need("torch")
    big = np.array([[2**53 + 1, 1], [2**53, -1]])
    same = np.ones((2, 2))
    # Column 0 is constant after rounding to float32 or float64, not before.
    kept = check_projection(np.array([[1.0, 0], [2, 0]]), big[:, ::-1].copy(), layout="slots-first")
    assert kept.status.name == "REFUTED"
    assert (
        check_projection([[1, 0], [2, 0]], torch.asarray(big[:, ::-1].copy()), layout="slots-first").status.name
        == "REFUTED"
    )
    with pytest.raises(ValueError, match="F holds integers of 2⁵³ or more outside NumPy; pass it as a NumPy array"):
        check_projection(array.from_array(big), same, layout="slots-first")
    near = np.array([[2**24 + 1, 0], [2**24, 0]])  # float32 would make these equal
    for keys in (near, array.from_array(near[:, ::-1])):
        values = [[1, 0], [2, 0]]
        layout = {"layout": "slots-first", "boundary": Boundary.relation(np.array([[keys is not near, keys is near]]))}
        assert (
            check_projection(values if keys is not near else [[0, 1], [0, 2]], keys, **layout).status.name == "REFUTED"
        )
    with pytest.raises(TypeError, match="F has dtype object and is not held by NumPy; pass floats of at most 64 bits"):
        check_projection(array.from_array(np.array([[1, 2, 3]], object), chunks=(1, 3)))
    with pytest.raises(TypeError, match=r"F has dtype (float128|longdouble) and is not held by NumPy"):
        check_projection(array.ones((1, 2), dtype=np.longdouble))


def test_bfloat16_of_every_source_is_exact():
    torch, ml_dtypes = need("torch"), need("ml_dtypes")
    x = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 2.0**-130]], np.float32)
    for narrow in (torch.asarray(x).bfloat16(), x.astype(ml_dtypes.bfloat16)):
        entries = read(narrow)
        assert entries.dtype == "bfloat16"
        assert entries.fractions([1], slice(2, 3)) == [[Fraction(2) ** -130]]
        verdict = check_projection(narrow)
        assert verdict.status.name == "REFUTED"
        assert (verdict.witness.query, verdict.witness.position) == (0, 2)


# -- reading ----------------------------------------------------------------------------------------------------------


def test_numbers_are_taken_exactly():
    sympy = need("sympy")
    mpmath, flint = need("mpmath"), need("flint")
    third = Fraction(1, 3)
    assert exact(0.1, "x") == Fraction(3602879701896397, 36028797018963968)
    assert exact(np.float32(0.1), "x") == Fraction(13421773, 134217728)
    assert exact(np.longdouble(1) / 3, "x") == Fraction(*(np.longdouble(1) / 3).as_integer_ratio())
    assert exact(sympy.Rational(1, 3), "x") == third
    assert exact(sympy.Float(0.1), "x") == Fraction(0.1)
    assert exact(sympy.Float(-0.1), "x") == Fraction(-0.1)
    assert exact(mpmath.mpf(-2.5), "x") == Fraction(-5, 2)
    for not_finite in ("inf", "-inf", "nan"):  # which mpmath writes with the mantissa 0
        with pytest.raises(ValueError, match="is not finite; a projection holds finite numbers, replace it"):
            exact(mpmath.mpf(not_finite), "x")
    assert exact(flint.fmpq(1, 3), "x") == third
    with pytest.raises(TypeError, match=r"x = .* is of type arb, not a real number"):  # a ball has a midpoint as well
        exact(flint.arb(1), "x")
    assert exact(2**200, "x") == 2**200
    big = read([[2**60 + 1, 0.5]], layout="slots-first")
    assert big.data[0, 0] == 2**60 + 1
    assert read(np.array([[2**60 + 1, 2**60]]), layout="slots-first").data[0, 0] == 2**60 + 1
    assert read(np.array([[1, 2, 3]], np.uint8)).dtype == "exact"
    assert read(np.array([[1.0, 2.0]], ">f4"), layout="slots-first").dtype == "float32"
    assert read(np.longdouble([[1, 2]]) / 3, layout="slots-first").is_exact
    matrix = read(sympy.Matrix([[sympy.Rational(1, 2), 0, 1]]))
    assert matrix.data.tolist() == [[Fraction(1, 2), 0, 1]]
    assert read(matrix) is matrix


BAD = [
    ([[1j, 0.0, 1.0]], TypeError, r"F\[0, 0\] = 1j is complex; projections are real"),
    (np.ones((1, 2), complex), TypeError, r"F has dtype complex128; projections are real, pass F.real"),
    (
        np.ones((1, 2), bool),
        TypeError,
        r"F has dtype bool; pass numbers, for instance F.astype\(float\): masks go to visible",
    ),
    ([[True, False, True]], TypeError, r"F\[0, 0\] = True is a boolean; pass numbers here, masks go to visible"),
    (np.array([["a", "b"]], object), TypeError, r"F\[0, 0\] = 'a' is of type str, not a real number"),
    (np.array([["a", "b"]]), TypeError, r"F has dtype <U1, which is no real number"),
    (np.array([None, 1], object), ValueError, r"F is an object array of shape \(2,\); pass a 2-D array"),
    (np.zeros(3), ValueError, r"F has shape \(3,\); pass a 2-D array"),
    (np.zeros((2, 2, 2)), ValueError, r"F has shape \(2, 2, 2\); pass a 2-D array"),
    ([1.0, 2.0], ValueError, r"F has shape \(2,\); pass a 2-D array"),
    ([[[1.0]], [[2.0]]], ValueError, r"F has more than two axes"),
    ([[1.0, 2.0], [1.0]], ValueError, r"F has rows of lengths 1 and 2; make all rows equally long"),
    (np.ma.masked_array([[1.0, 2.0]], [[0, 1]]), TypeError, r"F is a masked array, and a masked entry has no value"),
    ([[Fraction(1), float("nan"), 0]], ValueError, r"F\[0, 1\] = nan is not finite"),
    (5.0, ValueError, r"F has shape \(\); pass a 2-D array"),
    (None, TypeError, r"F is of type NoneType; pass a 2-D array or nested lists of numbers"),
    ("f.npy", TypeError, r"F is of type str; pass a 2-D array"),
    (np.array([[1, 2, 3]], "m8[s]"), TypeError, r"F has dtype timedelta64\[s\], which is no real number"),
]


@pytest.mark.parametrize(("array", "error", "sentence"), BAD)
def test_what_is_no_projection_gets_one_sentence(array, error, sentence):
    with pytest.raises(error, match=sentence):
        check_projection(array)


def test_torch_arrays_that_hold_no_matrix():
    torch = need("torch")
    with pytest.raises(TypeError, match="F is on the meta device and holds no numbers"):
        check_projection(torch.empty((2, 3), device="meta"))
    with pytest.raises(TypeError, match="F has dtype bool"):
        check_projection(torch.ones((2, 3), dtype=torch.bool))
    assert check_projection(torch.eye(3, dtype=torch.int64), layout="slots-first").status.name == "REFUTED"


def test_what_wraps_an_array_is_unwrapped_or_named():
    assert check_projection(np.eye(2, 3).view(np.matrix)).status.name == "REFUTED"
    pandas = need("pandas")
    assert check_projection(pandas.DataFrame(np.eye(2, 3))).status.name == "REFUTED"


def test_irrational_entries_are_named():
    sympy = need("sympy")
    with pytest.raises(TypeError, match=r"F\[0, 1\] = sqrt\(2\) is not a rational number; pass a Rational, or float"):
        check_projection(sympy.Matrix([[1, sympy.sqrt(2), 0]]))


def test_layout_is_named_or_the_array_is_wider_than_tall():
    sentence = (
        r"layout = None cannot be read off F of shape \(3, 3\), which is square; pass layout='slots-first' \(r = 3"
    )
    with pytest.raises(ValueError, match=sentence):
        check_projection(np.eye(3))
    with pytest.raises(
        ValueError, match=r"shape \(4, 2\), which is taller than wide; .* or 'positions-first' \(r = 2, n = 4\)"
    ):
        check_projection(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="layout = 'rows' is unknown; pass 'slots-first' or 'positions-first'"):
        check_projection(np.zeros((2, 4)), layout="rows")
    assert "read as slots-first (r = 2, n = 4)" in check_projection(np.zeros((2, 4))).reasons[0]
    assert check_projection(np.zeros((2, 4)), layout="slots-first").reasons == ()
    with pytest.raises(ValueError, match=r"E has shape \(2, 5\) and F \(2, 4\), slots first; make them agree"):
        check_projection(np.zeros((2, 4)), np.zeros((2, 5)))


def test_entries_know_where_the_user_wrote_them():
    entries = read(np.zeros((4, 2)), "E", "positions-first")
    assert isinstance(entries, Entries)
    assert entries.place(1, 3) == "E[3, 1]"
    assert entries.block([0], [1, 3]).shape == (1, 2)


def test_slices_end_where_the_array_ends():
    """The standard leaves a slice past the end undefined, and array_api_strict raises an IndexError."""
    strict = need("array_api_strict")
    F, relation = strict.asarray([[1.0, 0.0, 0.0]]), Boundary.relation(np.ones((1, 3), bool))
    assert check_projection(F, boundary=relation).status.name == "PROVED"
    near = nearest_safe_projection(F, visible=np.ones((1, 1), bool), boundary=relation)
    assert np.asarray(near).tolist() == [[1.0, 0.0, 0.0]]
