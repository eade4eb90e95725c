from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
from attnproof.numeric.enclosure import precision
from attnproof.numeric.exact import exact_matrix
from attnproof.numeric.rank import (
    PRIMES,
    certified_mixing_rank,
    certified_rank,
    certified_softmax_rank,
    exact_determinant,
)
from flint import arb, arb_mat, fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

matrices = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(st.integers(-1, 2), min_size=n, max_size=n), min_size=1, max_size=5)
)


def minor_of(M, found):
    exact = exact_matrix(M)
    return fmpq_mat(len(found.rows), len(found.columns), [exact[i, j] for i in found.rows for j in found.columns])


@settings(max_examples=120, deadline=None)
@given(matrices)
def test_exact_entries_settle_the_rank(rows):
    found = certified_rank(rows)
    assert found.rank == sympy.Matrix(rows).rank()
    assert len(found.rows) == len(found.columns) == found.lower
    if found.rank:
        assert minor_of(rows, found).det() != 0


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_balls_never_claim_too_much(rows):
    """The matrix over 7, as balls that are never exact: below stands the rank, above the smaller side."""
    true = sympy.Matrix(rows).rank()
    shape = len(rows), len(rows[0])

    def sevenths(bits):
        return arb_mat(*shape, [arb(x) / 7 for row in rows for x in row])

    found = certified_rank(sevenths, cap_bits=128)
    assert found.lower == true
    assert found.upper == min(shape)
    assert found.rank == (true if true == min(shape) else None)
    if found.rank is None:
        assert "rank unknown" in str(found)
        assert "no larger one excludes 0 up to 128 bits" in found.why_lower
    closed = certified_rank(sevenths, at_most=(true, "known"), cap_bits=128)
    assert closed.rank == true
    if true < min(shape):
        assert closed.why_upper == "known"


def test_a_fixed_ball_matrix_is_tried_once():
    wide = arb_mat(2, 2, [arb("1 +/- 2"), 0, 0, 1])
    found = certified_rank(wide)
    assert (found.lower, found.upper, found.rank) == (1, 2, None)


def test_the_precision_is_raised_until_decided():
    """1 and 1 + 2^-500 in one column: 64 bits see rank 1 of 2, some 512 bits see 2."""

    def nearly(bits):
        return arb_mat(2, 2, [1, 1, 1, 1 + arb(2) ** -500])

    assert certified_rank(nearly, cap_bits=256).rank is None
    found = certified_rank(nearly)
    assert found.rank == 2
    assert 500 <= found.bits <= 1024
    with pytest.raises(ValueError, match="cap_bits = 3 leaves no precision to try; pass at least 64"):
        certified_rank(nearly, cap_bits=3)


def test_floats_are_the_dyadic_rationals_they_are():
    M = np.array([[0.1, 1.0], [0.3, 3.0]])
    assert np.linalg.matrix_rank(M) == 1
    assert certified_rank(M).rank == 2  # 0.3 is not three times 0.1 once both are rounded
    assert certified_rank([[sympy.Rational(1, 10), 1], [sympy.Rational(3, 10), 3]]).rank == 1


@pytest.mark.parametrize("scale", [1, PRIMES[0], PRIMES[0] * PRIMES[1], PRIMES[0] * PRIMES[1] * PRIMES[2]])
def test_a_prime_that_divides_every_minor_does_not_mislead(scale):
    assert certified_rank([[scale, 0, 0], [0, scale, 0]]).rank == 2
    found = certified_rank([[scale, 0, 0], [0, 1, 0], [0, 0, 0]])
    assert found.rank == 2
    assert (found.rows, found.columns) == ((0, 1), (0, 1))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_has_rank_0(shape):
    assert certified_rank(np.ones(shape)).rank == 0


def test_leading_axes(backend, rng):
    if backend.traced:
        return  # a certificate is no array; test_enclosure shows the refusal under jit
    M = rng.integers(-2, 3, (2, 3, 4, 2)).astype(float) @ rng.integers(-2, 3, (2, 3, 2, 4)).astype(float)
    found = certified_rank(backend.array(M))
    assert found.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert found[index].rank == np.linalg.matrix_rank(M[index])


@pytest.mark.claim("T3")
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_mixing_has_at_most_rank_r(data):
    m, r, n = (data.draw(st.integers(1, 4)) for _ in range(3))
    draw = st.integers(-1, 2)
    B = data.draw(st.lists(st.lists(draw, min_size=r, max_size=r), min_size=m, max_size=m))
    F = data.draw(st.lists(st.lists(draw, min_size=n, max_size=n), min_size=r, max_size=r))
    found = certified_mixing_rank(B, F)
    product = exact_matrix(B) * exact_matrix(F)
    assert found.rank == product.rank() <= r
    if found.rank:
        assert minor_of(product, found).det() != 0


@pytest.mark.claim("T3")
def test_the_mixing_rank_needs_no_product(rng):
    B, F = rng.standard_normal((3000, 3)), rng.standard_normal((3, 3000))
    assert certified_mixing_rank(B, F).rank == 3
    several = certified_mixing_rank(rng.standard_normal((2, 1, 5, 3)), rng.standard_normal((4, 3, 5)))
    assert [c.rank for c in several.flat] == [3] * 8
    with pytest.raises(ValueError, match=r"B has shape \(3000, 3\), F has shape \(3000, 3\): r = 3 against 3000"):
        certified_mixing_rank(B, B)


@pytest.mark.claim("T5")
def test_softmax_of_rank_one_logits_has_full_rank_at_128():
    found = certified_softmax_rank(range(128), [j / 128 for j in range(128)])
    assert found.rank == 128
    assert 128 < found.bits <= 1 << 13
    assert f"by balls at {found.bits} bits" in str(found)


@pytest.mark.claim("T5")
@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=6), st.lists(st.fractions(-2, 2), min_size=1, max_size=6))
def test_softmax_rank_counts_distinct_entries(x, y):
    found = certified_softmax_rank(x, y)
    assert found.rank == min(len(set(x)), len(set(y)))
    logits = np.outer(np.array(x, float), np.array([float(v) for v in y]))
    weights = np.exp(logits - logits.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    assert np.linalg.matrix_rank(weights) <= found.rank
    with precision(300):
        at = [
            [(arb(fmpq(x[i])) * arb(fmpq(y[j].numerator, y[j].denominator))).exp() for j in found.columns]
            for i in found.rows
        ]
        determinant = arb_mat(at).det()
    assert determinant > 0 or determinant < 0


@pytest.mark.claim("T5")
def test_softmax_rank_batched_and_unknown(rng):
    x, y = rng.standard_normal((2, 1, 4)), rng.standard_normal((3, 5))
    found = certified_softmax_rank(x, y)
    assert found.shape == (2, 3)
    assert all(c.rank == 4 for c in found.flat)
    unknown = certified_softmax_rank(range(60), [j / 64 for j in range(60)], cap_bits=64)
    assert unknown.rank is None
    assert unknown.upper == 60
    with pytest.raises(ValueError, match="is not finite"):
        certified_softmax_rank([float("nan")], [1])
    with pytest.raises(ValueError, match="cap_bits = 10 leaves no precision to try; pass at least 64"):
        certified_softmax_rank([1], [1], cap_bits=10)
    with pytest.raises(ValueError, match="only a square matrix has a determinant"):
        exact_determinant([[1, 2]])
    assert exact_determinant(np.array([[0.5, 0.0], [1.0, 3.0]])) == Fraction(3, 2)
