from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from attnproof.numeric.enclosure import precision
from attnproof.numeric.retention import (
    certified_span_retention,
    exact_leverage,
    exact_projector,
    leverage,
    span_retention,
)
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.claim("T8")


def projector(F):
    return np.linalg.pinv(F) @ F


@pytest.mark.parametrize("lead", [(), (2, 3)])
def test_leverages(backend, rng, lead):
    F = rng.standard_normal((*lead, 3, 8))
    found = backend.run(leverage, F)
    np.testing.assert_allclose(found.values, np.diagonal(projector(F), axis1=-2, axis2=-1), rtol=1e-10)
    assert (found.rank == 3).all()
    assert (found.error < 1e-12).all()


@pytest.mark.parametrize("lead", [(), (2,)])
def test_leverages_of_a_projection_that_is_not_of_full_rank(backend, rng, lead):
    F = rng.standard_normal((*lead, 4, 8))
    F[..., 2, :] = F[..., 0, :] - F[..., 1, :]
    F[..., 3, :] = 0  # a slot that reads nothing
    F[..., 5] = 0  # a position that nothing reads
    found = backend.run(leverage, F)
    assert (found.rank == 2).all()
    np.testing.assert_allclose(found.values.sum(-1), 2, rtol=1e-12)
    np.testing.assert_allclose(found.values, np.diagonal(projector(F), axis1=-2, axis2=-1), atol=1e-12)
    assert (found.values[..., 5] < 1e-28).all()


def test_the_zero_projection_retains_nothing(backend):
    found = backend.run(leverage, np.zeros((2, 5)))
    assert (found.values == 0).all()
    assert found.rank == 0
    assert (backend.run(span_retention, np.zeros((2, 5)), start=1, stop=4).values == 0).all()


@pytest.mark.parametrize("lead", [(), (2, 3)])
@pytest.mark.parametrize("span", [(0, 2), (3, 8), (5, 6)])
def test_spans(backend, rng, lead, span):
    F = rng.standard_normal((*lead, 3, 8))
    found = backend.run(span_retention, F, start=span[0], stop=span[1])
    exact = np.linalg.svd(projector(F)[..., :, slice(*span)], compute_uv=False)
    assert found.values.shape == (*lead, span[1] - span[0])
    np.testing.assert_allclose(found.values, exact, atol=1e-12)
    total = backend.run(leverage, F).values[..., slice(*span)].sum(-1)
    np.testing.assert_allclose((found.values**2).sum(-1), total, rtol=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 9))
def test_the_error_estimate_covers_the_true_error(seed, decades):
    """Against exact leverages over ℚ of the very floats given, up to a condition number of 1e9."""
    rng = np.random.default_rng(seed)
    r = int(rng.integers(1, 4))
    n = int(rng.integers(r, 8))
    F = rng.standard_normal((r, r)) @ (10.0 ** -np.linspace(0, decades, r)[:, None] * rng.standard_normal((r, n)))
    exact = exact_leverage(F)
    found = leverage(F, rtol=0.0)
    assert max(abs(Fraction(float(a)) - b) for a, b in zip(found.values, exact, strict=True)) <= Fraction(
        float(found.error)
    )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_exact_leverages(data):
    r = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(r, 5))
    F = data.draw(st.lists(st.lists(st.integers(-1, 2), min_size=n, max_size=n), min_size=r, max_size=r))
    P = exact_projector(F)
    assert P * P == P
    assert P.transpose() == P
    values = exact_leverage(F)
    assert sum(values) == np.linalg.matrix_rank(np.array(F))
    assert all(0 <= v <= 1 for v in values)
    np.testing.assert_allclose([float(v) for v in values], np.diag(projector(np.array(F, float))), atol=1e-12)
    start = data.draw(st.integers(0, n - 1))
    stop = data.draw(st.integers(start + 1, n))
    with precision(100):
        balls, total = certified_span_retention(F, start, stop)
    assert total == sum(values[start:stop])
    floats = span_retention(np.array(F, float), start, stop).values
    for ball, value in zip(balls, floats, strict=True):
        assert abs(float(ball.mid()) - value) < 1e-7 + float(ball.rad())
        assert float(ball.rad()) < 1e-20


def test_the_span_is_checked_over_the_rationals_too():
    with pytest.raises(ValueError, match="the span from 2 to 9 is not inside the n = 3 positions"):
        certified_span_retention([[1, 0, 0]], 2, 9)


def test_exact_leverages_of_several_heads(rng):
    F = rng.integers(-2, 3, (2, 3, 2, 4))
    found = exact_leverage(F)
    assert found.shape == (2, 3)
    assert all(found[i] == exact_leverage(F[i].tolist()) for i in np.ndindex(2, 3))
    with precision(80):
        spans = certified_span_retention(F, 0, 2)
    assert all(spans[i][1] == sum(found[i][:2]) for i in np.ndindex(2, 3))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_leverage_and_no_singular_value_of_a_span_passes_one(backend, rng, dtype):
    """Positions that are recovered exactly came out as 1 + 8ε, and 1 − ℓ as a negative variance."""
    F = rng.standard_normal((50, 4, 4)).astype(dtype)
    for values in (backend.run(leverage, F).values, backend.run(lambda f: span_retention(f, 0, 4), F).values):
        assert np.asarray(values).min() > 1 - 1e-4
        assert np.asarray(values).max() <= 1
