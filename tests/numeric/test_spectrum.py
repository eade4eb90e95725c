from __future__ import annotations

import numpy as np
import pytest
from attnproof.numeric import arrays
from attnproof.numeric.precision import context, matrix
from attnproof.numeric.rank import mixing_rank
from attnproof.numeric.retention import leverage, span_retention
from attnproof.numeric.spectrum import mixing_row_sums, mixing_spectrum, most_negative_coefficient
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need

pytestmark = pytest.mark.claim("T3", "T4")


def pair(rng, *lead, m=11, n=8, r=3):
    return rng.standard_normal((*lead, m, r)), rng.standard_normal((*lead, r, n))


@pytest.mark.parametrize("lead", [(), (2, 3)])
def test_singular_values_of_the_mixing(backend, rng, lead):
    B, F = pair(rng, *lead)
    s = backend.run(mixing_spectrum, B, F)
    exact = np.linalg.svd(B @ F, compute_uv=False)
    assert s.values.shape == (*lead, 3)
    np.testing.assert_allclose(s.values, exact[..., :3], rtol=1e-12)
    assert (np.abs(s.values - exact[..., :3]) <= s.error + 1e-15).all()
    assert (s.error < 1e-12).all()


def test_a_shared_projection_broadcasts(backend, rng):
    B, F = pair(rng, 2, 3)[0], rng.standard_normal((3, 8))
    exact = np.linalg.svd(B @ F, compute_uv=False)[..., :3]
    np.testing.assert_allclose(backend.run(mixing_spectrum, B, F).values, exact, rtol=1e-12)


def test_fewer_queries_than_slots(backend, rng):
    B, F = pair(rng, m=2)
    np.testing.assert_allclose(
        backend.run(mixing_spectrum, B, F).values, np.linalg.svd(B @ F, compute_uv=False), rtol=1e-12
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 12))
def test_the_error_estimate_covers_the_true_error(seed, decades):
    """The true singular values come from 50 digits, the factors from badly conditioned draws."""
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    scale = 10.0 ** -np.linspace(0, decades, r)
    B, F = rng.standard_normal((n, r)) * scale, scale[:, None] * rng.standard_normal((r, n))
    found = mixing_spectrum(B, F)
    mp = context(50)
    exact = mp.svd_r(matrix(mp, B) * matrix(mp, F), compute_uv=False)
    for value, error, true in zip(found.values, found.error, exact, strict=False):
        assert abs(mp.mpf(float(value)) - true) <= mp.mpf(float(error))
        assert error <= 1e-13 * max(1.0, float(exact[0])) * 10


def test_single_precision_has_its_own_error(backend, rng):
    B, F = (x.astype(np.float32) for x in pair(rng))
    s = backend.run(mixing_spectrum, B, F)
    exact = np.linalg.svd(B.astype(float) @ F.astype(float), compute_uv=False)[:3]
    assert s.values.dtype == np.float32
    assert (np.abs(s.values - exact) <= s.error).all()


@pytest.mark.parametrize("lead", [(), (2,)])
def test_ranks(backend, rng, lead):
    B, F = pair(rng, *lead)
    assert (backend.run(mixing_rank, B, F) == 3).all()
    F[..., 1, :] = 2 * F[..., 0, :]
    found = backend.run(mixing_rank, B, F)
    assert found.shape == lead
    assert (found == 2).all()
    assert (backend.run(mixing_rank, B, 0 * F) == 0).all()
    assert (backend.run(mixing_rank, B, F, rtol=2.0) == 0).all()


def test_row_sums(backend, rng):
    B, F = pair(rng, 2)
    np.testing.assert_allclose(backend.run(mixing_row_sums, B, F), (B @ F).sum(-1), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("lead", [(), (2, 3)])
@pytest.mark.parametrize("block", [1 << 25, 300])
def test_the_most_negative_coefficient(backend, rng, lead, block, monkeypatch):
    monkeypatch.setattr(arrays, "CHUNK_BYTES", block)
    B, F = pair(rng, *lead)
    found = backend.run(most_negative_coefficient, B, F)
    mixing = B @ F
    np.testing.assert_allclose(found.value, mixing.min((-1, -2)), rtol=1e-12)
    flat = mixing.reshape(*lead, -1).argmin(-1)
    assert (found.row == flat // 8).all()
    assert (found.column == flat % 8).all()


def test_no_negative_coefficient_is_reported_as_it_is(backend):
    found = backend.run(most_negative_coefficient, np.ones((2, 1)), np.array([[3.0, 2, 4]]))
    assert (found.value, found.column) == (2, 1)


@pytest.mark.parametrize(
    ("one", "other", "dtype"),
    [
        (1e-200, 1, "float64"),
        (1e200, 1, "float64"),
        (1e200, 1e-200, "float64"),
        (1e-25, 1, "float32"),
        (1e25, 1e-20, "float32"),
    ],
)
def test_the_error_holds_at_scales_whose_squares_leave_the_floats(one, other, dtype):
    """Residuals of 1e-216 have squares that underflow, and the bound on the error was 0 or the values infinite."""
    g = np.random.default_rng(0)
    B, F = (g.standard_normal((4, 3)) * one).astype(dtype), (g.standard_normal((3, 5)) * other).astype(dtype)
    B[:, 1] = B[:, 0]  # rank 2: the third value is rounding alone
    with np.errstate(over="raise", invalid="raise"):
        found = mixing_spectrum(B, F)
    mp = context(60)
    exact = mp.svd_r(matrix(mp, B) * matrix(mp, F), compute_uv=False)
    for value, error, true in zip(found.values.tolist(), found.error.tolist(), exact, strict=False):
        assert abs(value - true) <= error <= 1e-4 * one * other


def at_the_end(dtype, top):
    """Rows of a small projection times a number near an end of the float type."""
    return (np.array([[0.5, 0.5, 0], [0, 0, 1]]) * top).astype(dtype), np.eye(2, dtype=dtype)


@pytest.mark.filterwarnings("error")
def test_chunks_whose_sums_overflow_are_refused_by_name():
    """They used to give rank 0, NaN and a LinAlgError; arrays in memory are scaled first."""
    F, eye = at_the_end(np.float64, 1.5e308)
    F, eye = (need("dask.array").from_array(x, chunks=2) for x in (F, eye))
    computed = need("dask").compute
    said = r"[BF] has entries up to .*e\+30[78], whose squares and sums overflow in float64; scale it, for"
    for refused in (
        lambda: mixing_spectrum(eye, F),
        lambda: mixing_rank(eye, F),
        lambda: leverage(F),
        lambda: span_retention(F, 0, 2),
    ):
        with pytest.raises(ValueError, match=said):
            computed(refused())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("dtype", "top"), [(np.float64, 1.5e308 * 2.0**-64), (np.float64, 1e-308), (np.float32, 3e38), (np.float32, 1e-38)]
)
def test_what_has_no_size_is_right_at_both_ends(dtype, top):
    F, eye = at_the_end(dtype, top)
    assert int(mixing_rank(eye, F)) == int(mixing_rank(F.T, np.eye(2, 3, dtype=dtype))) == 2
    assert np.allclose(leverage(F).values, [0.5, 0.5, 1])
    assert np.allclose(span_retention(F, 0, 2).values, [1, 0])
    assert np.allclose(mixing_spectrum(eye, F).values / top, [1, 0.5**0.5])
    dask = need("dask.array")
    lazy = dask.from_array(F, chunks=(2, 2))
    assert np.allclose(leverage(lazy).values.compute(), [0.5, 0.5, 1])
    assert np.allclose(span_retention(lazy, 0, 2).values.compute(), [1, 0])


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_a_rank_does_not_depend_on_the_size_of_the_product(scale):
    """1e-400 is 0 and 1e400 infinite as floats; a rank asks for ratios alone."""
    B, F = np.eye(2) * scale, np.array([[0.5, 0.5, 0], [0, 0, 1]]) * scale
    assert int(mixing_rank(B, F)) == 2
