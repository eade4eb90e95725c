from __future__ import annotations

import numpy as np
import pytest
from attnproof.numeric import arrays
from attnproof.numeric.optimum import compression_gap, projection_error, truncation_error
from hypothesis import given, settings
from hypothesis import strategies as st

from numeric import oracle

pytestmark = pytest.mark.claim("T6")


def tail(A, r):
    s = np.linalg.svd(A, compute_uv=False)
    return np.sqrt((s[..., r:] ** 2).sum(-1)), s[..., r] if r < s.shape[-1] else 0 * s[..., 0]


def brackets(found, A, r):
    frobenius, spectral = tail(A, r)
    slack = 1e-12
    assert (found.frobenius_lower <= frobenius + slack).all()
    assert (frobenius <= found.frobenius + slack).all()
    assert (found.spectral_lower <= spectral + slack).all()
    assert (spectral <= found.spectral + slack).all()


@pytest.mark.parametrize("lead", [(), (2,)])
@pytest.mark.parametrize("centred", [False, True])
def test_the_optimum_is_bracketed(backend, rng, lead, centred):
    Q, K = 2 * rng.standard_normal((*lead, 13, 3)), rng.standard_normal((*lead, 20, 3))
    A = oracle.weights(Q, K)
    A = A - A.mean(-2, keepdims=True) if centred else A
    found = backend.run(truncation_error, Q, K, r=2, oversample=4, centred=centred)
    brackets(found, A, 2)
    assert (found.frobenius <= 1.2 * tail(A, 2)[0]).all()
    everything = backend.run(truncation_error, Q, K, r=2, oversample=30, centred=centred)
    np.testing.assert_allclose(everything.frobenius, tail(A, 2)[0], atol=1e-11)
    np.testing.assert_allclose(everything.frobenius_lower, tail(A, 2)[0], atol=1e-11)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 20), st.booleans())
def test_brackets_hold_for_flat_and_peaked_attention(seed, sharpness, centred):
    rng = np.random.default_rng(seed)
    m, n = (int(x) for x in rng.integers(2, 40, 2))
    Q, K = sharpness * rng.standard_normal((m, 3)), rng.standard_normal((n, 3))
    A = oracle.weights(Q, K)
    A = A - A.mean(0) if centred else A
    r = int(rng.integers(0, min(m, n) + 1))
    found = truncation_error(Q, K, r, oversample=3, centred=centred, seed=seed)
    brackets(found, A, r)
    assert (found.values <= np.linalg.svd(A, compute_uv=False)[: len(found.values)] + 1e-12).all()


def test_blocks_change_nothing(rng, monkeypatch):
    Q, K, _, E, F = oracle.head(rng, n=30, r=4)
    before = truncation_error(Q, K, 4), projection_error(Q, K, E, F)
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 1000)
    for one, two in zip((truncation_error(Q, K, 4), projection_error(Q, K, E, F)), before, strict=True):
        for a, b in zip(one, two, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("lead", [(), (2,)])
@pytest.mark.parametrize("n", [6, 25])
def test_what_is_achieved(backend, rng, lead, n):
    Q, K, _, E, F = oracle.head(rng, *lead, n=n, m=9, r=3)
    M = oracle.weights(Q, K) - oracle.slots(Q, K, E) @ F
    found = backend.run(projection_error, Q, K, E, F)
    np.testing.assert_allclose(found.frobenius, np.sqrt((M**2).sum((-1, -2))), rtol=1e-11)
    exact = np.linalg.svd(M, compute_uv=False)[..., 0]
    assert (found.spectral <= exact * (1 + 1e-12)).all()
    assert (exact <= found.spectral_upper * (1 + 1e-12)).all()
    assert (found.spectral_upper <= 1.3 * exact).all()
    np.testing.assert_allclose(found.spectral, exact, rtol=0.05)


def test_single_precision_does_not_overflow(rng):
    Q, K, _, E, F = (x.astype(np.float32) for x in oracle.head(rng, n=30, r=3))
    F *= np.float32(1e6)
    found = projection_error(Q, K, E, F)
    exact = np.linalg.norm(oracle.weights(Q, K) - oracle.slots(Q, K, E) @ F, 2)
    assert found.spectral_upper == pytest.approx(exact, rel=0.3)
    assert found.spectral == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("backend", ["numpy", "torch", "dask"], indirect=True)
def test_no_error_is_exact(backend):
    """All scores equal: A has rank one and one uniform slot reproduces it."""
    Q, K = np.ones((4, 2)), np.ones((5, 2))
    found = backend.run(compression_gap, Q, K, np.ones((1, 5)), np.full((1, 5), 0.2))
    assert found.frobenius < 1e-15
    assert found.best_frobenius < 1e-15


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_no_head_beats_its_optima(seed):
    rng = np.random.default_rng(seed)
    Q, K, _, E, F = oracle.head(rng, n=12, m=int(rng.integers(1, 15)), r=int(rng.integers(1, 5)))
    A, r = oracle.weights(Q, K), E.shape[0]
    gap = compression_gap(Q, K, E, F / 5, oversample=20)
    assert gap.frobenius >= tail(A - A.mean(0), r - 1)[0] - 1e-12
    assert tail(A - A.mean(0), r - 1)[0] >= tail(A, r)[0] - 1e-12  # the sharper bound is never weaker
    assert gap.best_head == pytest.approx(tail(A - A.mean(0), r - 1)[0], abs=1e-11)
    assert gap.best_frobenius == pytest.approx(tail(A, r)[0], abs=1e-11)
    if gap.best_frobenius > 1e-9:
        assert gap.ratio_frobenius >= gap.ratio_head * (1 - 1e-9) >= 1 - 1e-9


def test_the_article(backend):
    """Both optima and ratios on Q = K = (1, 2, 3) with its projection."""
    Q, half = np.array([[1.0], [2], [3]]), np.array([[0.5, 0.5, 0], [0, 0, 1]])
    gap = backend.run(compression_gap, Q, Q, half, half)
    A = oracle.weights(Q, Q)
    M = A - oracle.slots(Q, Q, half) @ half
    assert gap.frobenius == pytest.approx(np.linalg.norm(M), rel=1e-12)
    assert gap.spectral == pytest.approx(np.linalg.norm(M, 2), rel=1e-9)
    assert gap.best_frobenius == pytest.approx(tail(A, 2)[0], rel=1e-7)
    assert gap.ratio_frobenius == pytest.approx(np.linalg.norm(M) / tail(A, 2)[0], rel=1e-7)


@pytest.mark.parametrize("backend", ["numpy", "torch", "dask"], indirect=True)
def test_a_starved_query_takes_the_sharper_bound_away(backend, rng):
    Q, K, _, E, F = oracle.head(rng, r=2)
    bias = np.zeros((10, 2))
    bias[0] = -np.inf
    gap = backend.run(compression_gap, Q, K, E, F, bias)
    assert gap.best_head == gap.best_frobenius


def test_steps_that_are_no_numbers():
    ones = np.ones((3, 1))
    for name in ("oversample", "passes", "iterations"):
        with pytest.raises(ValueError, match=f"{name} = -1 is out of range; pass at least"):
            truncation_error(ones, ones, 1, **{name: -1})
        with pytest.raises(TypeError, match=f"{name} = 1.0 is no whole number; pass an int"):
            truncation_error(ones, ones, 1, **{name: 1.0})
