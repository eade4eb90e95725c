"""What is refused, in the same words on every backend; and what an import of the package loads."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack

import numpy as np
import pytest
from attnproof.numeric.arrays import read
from attnproof.numeric.attention import compressed_attention, full_attention
from attnproof.numeric.error import compression_error
from attnproof.numeric.optimum import compression_gap, projection_error, truncation_error
from attnproof.numeric.rank import mixing_rank
from attnproof.numeric.retention import leverage, span_retention
from attnproof.numeric.spectrum import mixing_row_sums, mixing_spectrum, most_negative_coefficient
from needs import need

PAIRS = (mixing_spectrum, mixing_rank, mixing_row_sums, most_negative_coefficient)


def ones(backend, *shape, dtype=float):
    return backend.array(np.ones(shape), dtype)


@pytest.mark.parametrize("function", PAIRS)
def test_pairs_are_refused_alike(backend, function):
    B, F = ones(backend, 5, 2), ones(backend, 2, 5)
    refuses = backend.refuses
    refuses(
        ValueError,
        r"F has shape \(3, 5\), read as \(r, n\): r = 3, but B has shape \(5, 2\) with r = 2",
        function,
        B,
        ones(backend, 3, 5),
    )
    refuses(
        ValueError,
        r"B has shape \(5, 4\) and F has shape \(4, 3\): r = 4 slots exceed n = 3 positions; pass slots first",
        function,
        ones(backend, 5, 4),
        ones(backend, 4, 3),
    )
    refuses(ValueError, r"F has shape \(2, 0\), an axis of length 0", function, B, ones(backend, 2, 0))
    refuses(ValueError, r"B has shape \(0, 2\), an axis of length 0", function, ones(backend, 0, 2), F)
    refuses(ValueError, r"F has shape \(5,\); pass \(r, n\)", function, B, ones(backend, 5))
    refuses(TypeError, r"F of shape \(2, 5\) has dtype bool where real", function, B, ones(backend, 2, 5, dtype=bool))
    refuses(
        TypeError,
        r"F of shape \(2, 5\) has dtype complex128 where real",
        function,
        B,
        ones(backend, 2, 5, dtype=complex),
    )
    refuses(TypeError, r"F is a list, not an array; pass an array of NumPy, PyTorch", function, B, [[1.0]])
    refuses(
        ValueError,
        r"B has shape \(2, 5, 2\) and F has shape \(3, 2, 5\): leading axes \(2,\) and \(3,\) do not broadcast",
        function,
        ones(backend, 2, 5, 2),
        ones(backend, 3, 2, 5),
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("function", PAIRS)
def test_an_entry_that_is_not_finite_is_named(backend, function, bad):
    values = np.ones((2, 5))
    values[1, 3] = bad
    match = rf"F\[1, 3\] = {bad} in F of shape \(2, 5\) is not finite"
    backend.refuses(ValueError, match, function, ones(backend, 5, 2), backend.array(values))


def test_the_check_for_finite_entries_is_off_under_jit():
    jax = need("jax")
    assert bool(jax.numpy.isnan(jax.jit(mixing_row_sums)(jax.numpy.full((3, 2), np.nan), jax.numpy.ones((2, 3)))).all())


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint32])
@pytest.mark.parametrize("function", PAIRS)
def test_whole_numbers_are_the_floats_that_they_are(backend, function, dtype):
    B, F = [[1, 2], [3, 4], [0, 1]], [[1, 2, 3], [4, 5, 7]]
    found, expected = (
        backend.run(function, np.array(B, dtype=kind), np.array(F, dtype=other))
        for kind, other in ((dtype, np.int16), (float, float))
    )
    for one, other in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        np.testing.assert_array_equal(one, other)


def test_whole_numbers_that_no_float_holds_are_refused(backend):
    if backend.traced:
        pytest.skip("a traced value cannot raise")
    assert backend.run(mixing_row_sums, np.array([[2**53 - 1, 0], [0, 1]]), np.ones((2, 5))).dtype == np.float64
    beyond = backend.array([[2**53 + 1, 0], [0, 1]], dtype=np.int64)
    said = r"B of shape \(.*\) has integers of 9007199254740992 or more, which float64 rounds; pass fewer bits"
    backend.refuses(ValueError, said, mixing_row_sums, beyond, ones(backend, 2, 5))


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_finite_sum_is_not_needed(backend):
    big = np.full((2, 3), 1e308)  # the sum overflows though no entry does
    assert np.isinf(backend.run(mixing_row_sums, np.ones((3, 2)), big)).all()


def test_heads_are_refused_alike(backend):
    Q, K, V, E = ones(backend, 4, 2), ones(backend, 6, 2), ones(backend, 6, 3), ones(backend, 2, 6)
    wrong = ones(backend, 2, 5)
    backend.refuses(
        ValueError,
        r"F has shape \(2, 5\), .* n = 5, but K has shape \(6, 2\) with n = 6",
        compressed_attention,
        Q,
        K,
        V,
        E,
        wrong,
    )
    backend.refuses(
        ValueError, r"F has shape \(2, 5\), .* n = 5, but K has shape \(6, 2\)", compression_error, Q, K, V, E, wrong
    )
    backend.refuses(
        ValueError,
        r"K has shape \(6, 3\), read as \(n, d\): d = 3, but Q has shape \(4, 2\)",
        full_attention,
        Q,
        V,
        V,
    )
    backend.refuses(ValueError, r"K has shape \(6, 3\), .* but Q has shape \(4, 2\)", truncation_error, Q, V, 2)
    backend.refuses(ValueError, r"F has shape \(2, 5\), .* but K has shape \(6, 2\)", projection_error, Q, K, E, wrong)
    backend.refuses(ValueError, r"F has shape \(2, 5\), .* but K has shape \(6, 2\)", compression_gap, Q, K, E, wrong)
    for r in (-1, 7, True, 1.5):
        backend.refuses(ValueError if type(r) is int else TypeError, rf"^r = {r}", truncation_error, Q, K, r)
    bias = np.zeros((4, 2))
    bias[1, 0] = np.inf
    match = r"bias\[1, 0\] = inf in bias of shape \(4, 2\) is neither finite nor −inf"
    backend.refuses(ValueError, match, compressed_attention, Q, K, V, E, E, backend.array(bias))


def test_projections_are_refused_alike(backend):
    F = ones(backend, 2, 5)
    backend.refuses(ValueError, r"F has shape \(5, 2\): r = 5 slots exceed n = 2", leverage, ones(backend, 5, 2))
    for function in (leverage, lambda F, rtol: span_retention(F, 0, 1, rtol)):
        backend.refuses(ValueError, "rtol = -1 is no tolerance", function, F, rtol=-1)
    backend.refuses(ValueError, "rtol = nan is no tolerance", mixing_rank, ones(backend, 5, 2), F, rtol=float("nan"))
    for start, stop in ((2, 2), (-1, 2), (0, 6)):
        backend.refuses(
            ValueError,
            rf"the span from {start} to {stop} is not inside the n = 5 positions",
            span_retention,
            F,
            start=start,
            stop=stop,
        )


def test_half_precision_is_widened_exactly(backend, rng):
    B, F = rng.standard_normal((6, 2)).astype(np.float16), rng.standard_normal((2, 6)).astype(np.float16)
    if backend.name == "array_api_strict":  # it has no half precision; NumPy's stands in
        backend = type(backend)("numpy", ExitStack())
    sums = backend.run(mixing_row_sums, B, F)
    assert sums.dtype == np.float32
    np.testing.assert_allclose(sums, B.astype(float) @ F.astype(float) @ np.ones(6), rtol=1e-5, atol=1e-6)


def test_bfloat16_is_widened_exactly():
    torch = need("torch")
    F = torch.tensor([[0.1, 0.2, 0.3], [1.0, 0.0, 2.0]], dtype=torch.bfloat16)
    assert torch.equal(leverage(F).values, leverage(F.float()).values)


def test_other_dtypes_of_numpy(rng):
    F = rng.standard_normal((2, 5))
    np.testing.assert_allclose(leverage(F.astype(">f8")).values, leverage(F).values, rtol=1e-12)
    for dtype in (np.longdouble, object, "datetime64[s]"):
        with pytest.raises(
            TypeError, match=r"F of shape \(2, 5\) has dtype \S+ where real floating point is needed; pass float32"
        ):
            leverage(np.ones((2, 5)).astype(dtype))


def test_mixed_precisions_meet_in_the_wider(backend, rng):
    B, F = rng.standard_normal((6, 2)).astype(np.float32), rng.standard_normal((2, 6))
    np.testing.assert_allclose(backend.run(mixing_row_sums, B, F), B.astype(float) @ F @ np.ones(6), rtol=1e-12)


def test_mixed_libraries_are_named():
    torch = need("torch")
    match = r"B of shape \(3, 2\) is an array of numpy, F of shape \(2, 3\) one of torch; convert one of them"
    with pytest.raises(TypeError, match=match):
        mixing_spectrum(np.ones((3, 2)), torch.ones(2, 3))


def test_mixed_devices_are_named():
    strict = need("array_api_strict")
    F = strict.ones((2, 3), device=strict.Device("device1"))
    with pytest.raises(
        ValueError, match=r"B of shape \(3, 2\) lies on .*CPU.*, F of shape \(2, 3\) on .*device1.*; move one"
    ):
        mixing_spectrum(strict.ones((3, 2)), F)


@pytest.mark.parametrize(
    "function", [leverage, lambda F: mixing_spectrum(F.T, F), lambda F: most_negative_coefficient(F.T, F)]
)
def test_results_stay_on_another_device(function):
    strict = need("array_api_strict")
    device = strict.Device("device1")
    F = strict.asarray(np.eye(2, 4), device=device)
    assert all(part.device == device for part in function(F))


def test_unknown_sizes_are_refused():
    array = need("dask.array").from_array(np.ones((6, 2)), chunks=3)
    with pytest.raises(
        ValueError, match=r"B has shape \(nan, 2\) with unknown sizes; call compute_chunk_sizes\(\) on it first"
    ):
        mixing_spectrum(array[array[:, 0] > 0], array.T)


def test_gradients_pass_through():
    torch = need("torch")
    F = torch.rand(2, 5, dtype=torch.float64, requires_grad=True)
    leverage(F).values[0].backward()
    assert torch.isfinite(F.grad).all()


def test_nothing_is_written(rng):
    B, F = rng.standard_normal((6, 2)), rng.standard_normal((2, 6))
    before = B.copy(), F.copy()
    for function in PAIRS:
        function(B, F)
    leverage(F)
    assert (before[0] == B).all()
    assert (before[1] == F).all()


def test_none_stays_none():
    _, (a, b) = read({"a": "m r", "b": "m r"}, a=np.ones((2, 2)), b=None)
    assert b is None
    assert a.shape == (2, 2)


def test_an_import_loads_no_array_library():
    code = (
        "import sys, attnproof, attnproof.numeric.spectrum, attnproof.numeric.rank, attnproof.numeric.optimum, "
        "attnproof.numeric.retention, attnproof.numeric.error, attnproof.numeric.scale, numpy as np;"
        "attnproof.numeric.spectrum.mixing_spectrum(np.ones((3, 2)), np.ones((2, 3)));"
        "print([m for m in ('torch', 'jax', 'cupy', 'dask', 'pandas', 'z3') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_loads():
    import attnproof.numeric as numeric

    assert all(callable(getattr(numeric, name)) for name in numeric.__all__)
    assert set(dir(numeric)) == set(numeric.__all__)
    with pytest.raises(
        AttributeError, match=r"module 'attnproof\.numeric' has no attribute 'lverage'; it has certified_error"
    ):
        _ = numeric.lverage
