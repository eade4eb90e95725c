"""Sparse projections of every library and format give what the same projection gives dense."""

import numpy as np
import pytest
from attnproof import Boundary, check_projection, largest_safe_mask, nearest_safe_projection
from attnproof.causal.projection import sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need


def scipy_of(x, kind):
    return getattr(need("scipy.sparse"), f"{kind}_array")(x)


def torch_of(x, kind):
    tensor = need("torch").tensor(x)
    return {
        "coo": tensor.to_sparse_coo,
        "csr": tensor.to_sparse_csr,
        "csc": tensor.to_sparse_csc,
        "bsr": lambda: tensor.to_sparse_bsr((1, 1)),
    }[kind]()


def jax_of(x, kind):
    jax = need("jax")
    from jax.experimental import sparse as experimental

    with jax.enable_x64(True):
        return getattr(experimental, kind).fromdense(jax.numpy.asarray(x), **({"nse": 20} if kind == "BCOO" else {}))


MADE = [
    *((scipy_of, kind) for kind in ("csr", "csc", "coo", "lil", "dia", "bsr")),
    *((torch_of, kind) for kind in ("coo", "csr", "csc", "bsr")),
    (jax_of, "BCOO"),
]
ENTRIES = st.sampled_from([0.0, 0.0, 0.0, 1.0, -0.5, 2.0])


@pytest.mark.parametrize(("make", "kind"), MADE)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_sparse_is_dense(make, kind, data):
    F = np.array(data.draw(st.lists(ENTRIES, min_size=15, max_size=15))).reshape(3, 5)
    boundary = data.draw(
        st.sampled_from([None, "strict", Boundary.from_times([3, 0, 2, 1, 4], [1, 3]), Boundary.documents([2, 3])])
    )
    visible = data.draw(st.sampled_from([None, "largest"]))
    for x, layout in ((F, "slots-first"), (np.ascontiguousarray(F.T), "positions-first"))[:: -1 if F[0, 0] else 1][:1]:
        told = check_projection(make(x, kind), layout=layout, boundary=boundary, visible=visible)
        dense = check_projection(x, layout=layout, boundary=boundary, visible=visible)
        assert (told.status, told.starved, told.details["safe_queries"]) == (
            dense.status,
            dense.starved,
            dense.details["safe_queries"],
        )
        assert told.witness == dense.witness
        assert told.leak_bound is None or told.leak_bound.values >= dense.leak_bound.values
        mask, other = (largest_safe_mask(y, layout=layout, boundary=boundary) for y in (make(x, kind), x))
        assert mask.release.tolist() == other.release.tolist()


def test_rows_of_zeros_are_known_in_columns_too():
    """Slots whose row of F is 0 cancel in floats; stored by column they were PROVED_IF."""
    scipy = need("scipy.sparse")
    values = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 2.0]])
    keys = np.array([[0, 0, 0], [-1, 0, -1], [0, -1, 0], [0, 0, 0], [0, 0, 0.0]])
    asked = {"layout": "slots-first", "visible": np.tril(np.ones((3, 5), bool)), "boundary": "strict"}
    found = [check_projection(make(values), make(keys), **asked) for make in (scipy.csr_array, scipy.csc_array)]
    assert found[0].status is found[1].status


def test_flags_of_libraries_are_not_believed():
    """Unsorted places, places that stand twice, zeros that are stored, and flags that say otherwise."""
    scipy, torch = need("scipy.sparse"), need("torch")
    jax = need("jax")
    from jax.experimental.sparse import BCOO

    values, places, starts = np.array([1.0, 2, 3, 0, -3]), np.array([4, 0, 2, 1, 2]), np.array([0, 2, 5])
    lying = scipy.csr_array((values, places, starts), shape=(2, 6))
    lying.has_sorted_indices = lying.has_canonical_format = True
    rows = np.array([0, 0, 1, 1, 1])
    claims = {"is_coalesced": True, "check_invariants": False}
    tensor = torch.sparse_coo_tensor(np.stack([rows, places]), torch.tensor(values), (2, 6), **claims)
    compressed = torch.sparse_csr_tensor(starts, places, torch.tensor(values), (2, 6), check_invariants=False)
    bcoo = BCOO((values, np.stack([rows, places], 1)), shape=(2, 6), indices_sorted=True, unique_indices=True)
    for given_, transposed in ((lying, lying.T), (tensor, tensor.T), (compressed, None), (bcoo, bcoo.T)):
        assert largest_safe_mask(given_).release.tolist() == [4, -1]
        if transposed is not None:
            assert largest_safe_mask(transposed, layout="positions-first").release.tolist() == [4, -1]
    assert np.array_equal(lying.indices, places), "the array given was changed"
    del jax


def test_other_dtypes_and_what_is_refused():
    scipy, torch = need("scipy.sparse"), need("torch")
    for dtype in (np.int8, np.int64, np.float16):
        x = np.array([[1, 0, 0], [0, 2, 0]], dtype)
        told, dense = (check_projection(y, layout="slots-first") for y in (torch.tensor(x).to_sparse(), x))
        assert (told.status, told.details["dtype"]) == (dense.status, dense.details["dtype"])
    assert largest_safe_mask(jax_of(np.eye(2, 3), "BCSR")).release.tolist() == [0, 1]
    assert check_projection(torch.eye(2, 3).bfloat16().to_sparse()).details["dtype"] == "bfloat16"
    for bad, error, said in (
        (scipy.csr_array(np.eye(2, 3, dtype=bool)), TypeError, "F has dtype bool"),
        (scipy.csr_array(np.eye(2, 3, dtype=complex)), TypeError, "F has dtype complex128"),
        (scipy.csr_array(np.array([[1, 0, np.nan]])), ValueError, r"F\[0, 2\] = nan is not finite"),
        (scipy.csc_array(np.array([[1, 0, 0], [0, 0, -np.inf]])), ValueError, r"F\[1, 2\] = -inf is not finite"),
        (scipy.coo_array(np.ones(3)), ValueError, r"F has shape \(3,\); pass a 2-D array"),
        (torch.ones(2, 3, 2).to_sparse(), ValueError, r"F has shape \(2, 3, 2\); pass a 2-D array"),
        (torch.ones(2, 3).to_sparse(1), TypeError, "F is sparse along one axis only; pass F.to_dense()"),
    ):
        with pytest.raises(error, match=said):
            check_projection(bad)
    with pytest.raises(TypeError, match="F is sparse, and is checked as such but not cleared; pass it dense"):
        nearest_safe_projection(scipy.csr_array(np.eye(2, 3)), visible=None)


def test_what_t11_cannot_hold_is_said(monkeypatch):
    scipy = need("scipy.sparse")
    monkeypatch.setattr(sparse, "MOST", 10)
    F = scipy.csr_array(np.array([[1.0, 1, 0, 0, 0, 1], [1, 1, 0, 0, 0, 1]]))
    E = scipy.csr_array(np.array([[0.0, 1, 0, 0, 0, 1], [0, 0, 0, 1, 1, 0]]))
    with pytest.raises(ValueError, match=r"^[EF] is sparse, fails T10, and T11 would hold 2 × 6 entries at once; pass"):
        check_projection(F, E, boundary="strict")
    blocks = scipy.csr_array(np.array([[1.0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1]]))
    assert check_projection(blocks, visible="largest").status.name == "PROVED"


def test_traced_sparse_arrays_are_named():
    jax = need("jax")

    def inside(x):
        check_projection(x)
        return x.data

    with pytest.raises(TypeError, match="F is traced by JAX and has no values; check it outside jit"):
        jax.jit(inside)(jax_of(np.eye(2, 3), "BCOO"))


@pytest.mark.parametrize(("chunk", "few"), [(1, 0), (2, 8), (3, 1), (4, 0)])
def test_entries_are_read_alike_however_they_are_cut(monkeypatch, chunk, few):
    """By the pieces that a cache holds, here of a few entries; some rows empty, some entries zero or no number."""
    scipy = need("scipy.sparse")
    monkeypatch.setattr(sparse, "CHUNK", chunk)
    monkeypatch.setattr(sparse, "FEW", few)
    rng = np.random.default_rng(chunk)
    for _ in range(40):
        x = rng.choice([0.0, 0.0, 1.0, -2.0], (int(rng.integers(1, 6)), int(rng.integers(1, 8))))
        rank = [None, rng.permutation(x.shape[1])][rng.integers(2)]
        for made in (scipy.csr_array(x), scipy.csc_array(x), scipy.coo_array(x), scipy.csc_array(x.T).T):
            found, _ = sparse.take_sparse(made, "F")
            lowest, highest = found.ends(rank, 99, -1)
            ranks = np.arange(x.shape[1]) if rank is None else rank
            assert lowest.tolist() == [ranks[row != 0].min(initial=99) for row in x]
            assert highest.tolist() == [ranks[row != 0].max(initial=-1) for row in x]
            assert found.span == (x.min(initial=0), x.max(initial=0))
            assert np.array_equal(found.dense(slice(None), slice(None)), x)


def test_padding_of_jax_is_no_entry():
    jax = need("jax")
    from jax.experimental.sparse import BCOO

    places = np.array([[0, 0], [1, 7], [1, 1], [2, 3], [2, 3]])  # five entries, of which two stand in a 2 × 3 matrix
    made = BCOO((jax.numpy.arange(1.0, 6), jax.numpy.asarray(places)), shape=(2, 3))
    assert largest_safe_mask(made).release.tolist() == [0, 1]
    assert largest_safe_mask(made.T, layout="positions-first").release.tolist() == [0, 1]
