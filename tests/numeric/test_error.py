from __future__ import annotations

import numpy as np
import pytest
from attnproof.numeric import arrays
from attnproof.numeric.error import certified_error, compression_error
from flint import arb

from numeric import oracle

HALF = [[0.5, 0.5, 0], [0, 0, 1]]


def floats(Q, K, V, E, F, bias=0.0):
    Y = oracle.weights(Q, K) @ V
    off = Y - oracle.slots(Q, K, E, bias) @ (F @ V)
    return np.sqrt((off**2).sum((-1, -2))), np.abs(off).max((-1, -2)), np.sqrt((Y**2).sum((-1, -2)))


@pytest.mark.claim("T1")
def test_the_article():
    found = certified_error([[1]], [[1], [2], [3]], [[10], [20], [30]], HALF, HALF, digits=40)
    e = np.e
    exact = 15 * (1 + 2 * e**1.5) / (1 + e**1.5) - 10 * (1 + 2 * e + 3 * e**2) / (1 + e + e**2)
    assert float(found.frobenius.mid()) == pytest.approx(exact, rel=1e-13)
    assert found.largest.rel_accuracy_bits() > 132
    assert found.frobenius.overlaps(found.largest)
    assert "balls at" in str(found)


@pytest.mark.parametrize("digits", [5, 30])
def test_the_enclosure_holds_what_floats_find(rng, digits):
    head = oracle.head(rng, n=12, m=40)
    found = certified_error(*head, digits=digits)
    for ball, value in zip((found.frobenius, found.largest, found.full_frobenius), floats(*head), strict=True):
        assert float(ball.rad()) <= 10.0**-digits * value
        assert abs(float(ball.mid()) - value) <= 1e-12 * value + float(ball.rad())
    assert float(found.relative.mid()) == pytest.approx(floats(*head)[0] / floats(*head)[2], rel=10.0**-5)


def test_no_error_at_all_ends():
    """E = F = 1 compresses nothing: the enclosure holds 0 and the loop stops without certain digits."""
    eye = np.eye(3)
    found = certified_error(eye, eye, eye, eye, eye)
    assert found.frobenius.contains(0)
    assert found.frobenius.upper() < arb(10) ** -25


def test_masks_and_starved_queries(rng):
    head = oracle.head(rng, n=5, r=2)
    visible = np.array([[True, False], [False, False], [True, True], [False, True], [True, True]])
    bias = np.where(visible, 0.0, -np.inf)
    with np.errstate(all="ignore"):
        expected = floats(*head, bias)
    for mask in (visible, bias, visible.tolist()):
        assert float(certified_error(*head, bias=mask).frobenius.mid()) == pytest.approx(expected[0], rel=1e-12)


def test_leading_axes(rng):
    Q, K, V, E, F = oracle.head(rng, 2, 1, n=6, r=2)
    E, F = E[0, 0], rng.standard_normal((3, 2, 6))
    found = certified_error(Q, K, V, E, F)
    assert found.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        expected = floats(Q[i, 0], K[i, 0], V[i, 0], E, F[j])
        assert float(found[i, j].largest.mid()) == pytest.approx(expected[1], rel=1e-12)


@pytest.mark.parametrize("lead", [(), (2, 3)])
@pytest.mark.parametrize("block", [1 << 25, 500])
def test_in_floats(backend, rng, lead, block, monkeypatch):
    monkeypatch.setattr(arrays, "CHUNK_BYTES", block)
    head = oracle.head(rng, *lead, m=7)
    found = backend.run(compression_error, *head)
    for value, expected in zip(found, floats(*head), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-11)


def test_what_does_not_fit():
    with pytest.raises(
        ValueError, match=r"E has shape \(2, 2\), read as \(r, n\), but K has shape \(3, 1\), read as \(n, d\)"
    ):
        certified_error([[1]], [[1], [2], [3]], [[1], [2], [3]], [[1, 0], [0, 1]], HALF)
    with pytest.raises(ValueError, match=r"Q has shape \(0, 1\), an axis of length 0"):
        certified_error(np.ones((0, 1)), [[1]], [[1]], [[1]], [[1]])
    with pytest.raises(ValueError, match=r"V\[0, 0\] = nan is not finite"):
        certified_error([[1]], [[1]], [[float("nan")]], [[1]], [[1]])
    with pytest.raises(ValueError, match="digits = 0 is no number of digits"):
        certified_error([[1]], [[1]], [[1]], [[1]], [[1]], digits=0)
    with pytest.raises(ValueError, match=r"leading axes of Q \(2, 1, 1\), K \(3, 1, 1\), .* do not broadcast"):
        certified_error(np.ones((2, 1, 1)), np.ones((3, 1, 1)), *[np.ones((1, 1))] * 3)


@pytest.mark.parametrize("scale", [1e-30, 1e25])
def test_errors_whose_squares_leave_the_floats(backend, rng, scale):
    """In float32 an error of 1e-30 squares to 0, one of 1e25 to infinity."""
    Q, K, V = rng.standard_normal((3, 6, 2))
    E = rng.standard_normal((2, 6))
    one, other = (
        backend.run(compression_error, *(x.astype("float32") for x in (Q, K, V * factor, E, E)))
        for factor in (1, scale)
    )
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(np.asarray(b, float), np.asarray(a, float) * scale, rtol=1e-4)
