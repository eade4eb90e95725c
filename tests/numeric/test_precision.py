from __future__ import annotations

import threading

import mpmath
import numpy as np
import pytest
from attnproof.numeric import precision
from attnproof.numeric.enclosure import ball_attention, ball_compressed
from attnproof.numeric.enclosure import precision as balls_at

from numeric import oracle


@pytest.mark.claim("T1")
@pytest.mark.parametrize("digits", [10, 60, 300])
def test_mpmath_lies_in_the_ball(rng, digits):
    Q, K, V, E, F = oracle.head(rng, n=4, r=2)
    with balls_at(precision.bits_for(digits) + 60):
        balls = ball_attention(Q, K, V), ball_compressed(Q, K, V, E, F)
    found = precision.attention(Q, K, V, digits), precision.compressed(Q, K, V, E, F, digits)
    mp = precision.context(digits + 30)
    for ball, value in zip(balls, found, strict=True):
        for i in range(4):
            for j in range(2):
                centre = mp.mpf(ball[i, j].mid()._mpf_)
                assert abs(mp.mpf(value[i, j]) - centre) <= abs(centre) * mp.mpf(10) ** (1 - digits)


def test_singular_values_and_determinants(rng):
    M = rng.standard_normal((4, 4))
    np.testing.assert_allclose([float(s) for s in precision.singular_values(M, 30)], np.linalg.svd(M)[1], rtol=1e-12)
    assert float(precision.determinant(M, 30)) == pytest.approx(np.linalg.det(M), rel=1e-12)


def test_the_global_context_is_left_alone():
    before = mpmath.mp.prec
    precision.attention([[1]], [[1]], [[1]], 77)
    precision.singular_values([[1, 2]], 77)
    assert mpmath.mp.prec == before


def test_two_threads_at_different_precisions():
    """The same sum at 20 and at 200 digits, at once, gives what each gives alone."""
    inputs = [[1]], [[1], [2], [3]], [[10], [20], [30]]
    alone = {digits: str(precision.attention(*inputs, digits)[0, 0]) for digits in (20, 200)}
    found: dict[int, set[str]] = {20: set(), 200: set()}
    start = threading.Barrier(2)

    def work(digits):
        start.wait()
        for _ in range(60):
            found[digits].add(str(precision.attention(*inputs, digits)[0, 0]))

    threads = [threading.Thread(target=work, args=(digits,)) for digits in found]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == {digits: {text} for digits, text in alone.items()}
    assert alone[200].startswith(alone[20][:-1])


@pytest.mark.parametrize("bad", [0, -3, 2.5, True, None])
def test_no_precision(bad):
    with pytest.raises(ValueError, match="is no precision; pass a whole number of at least 1"):
        precision.context(bad)
