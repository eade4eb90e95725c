"""One reading of exact numbers for three floors: every kind is itself, and what is no number is none."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
import sympy
from attnproof.causal.projection.entries import exact as as_fraction
from attnproof.numeric.exact import rational
from attnproof.symbolic.exact import exact as as_expression
from attnproof.symbolic.ratio import ratio

pytestmark = pytest.mark.claim("T3", "T11")

NUMBERS = [
    0.1,
    -3,
    2**200,
    Fraction(1, 3),
    Decimal("0.1"),
    np.float32(0.1),
    np.longdouble(1) / 3,
    np.int64(-3),
    np.uint64(2**63),
    sympy.Rational(1, 3),
    sympy.Float("0.1", 30),
    sympy.Float(-3),
    mpmath.mpf(-2.5),
    mpmath.mpf(2) ** 80,
    mpmath.mpf(0),
    flint.fmpq(1, 3),
    flint.fmpz(7),
]
NOT_FINITE = [float("nan"), float("-inf"), np.float32("inf"), mpmath.mpf("inf"), mpmath.mpf("-inf"), mpmath.mpf("nan")]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda x: f"{type(x).__name__} {x}")
def test_every_floor_takes_the_same_number(number):
    p, q = ratio(number)
    assert (p, q) == (Fraction(p, q).numerator, Fraction(p, q).denominator)
    assert mpmath.mpf(p) / q == pytest.approx(float(str(number)) if "/" not in str(number) else 1 / 3)
    assert as_fraction(number, "x") == Fraction(p, q)
    assert rational(number) == flint.fmpq(p, q)
    assert as_expression(number) == sympy.Rational(p, q)


@pytest.mark.parametrize("number", NOT_FINITE, ids=lambda x: f"{type(x).__name__} {x}")
def test_no_floor_takes_what_is_not_finite(number):
    with pytest.raises((OverflowError, ValueError)):
        ratio(number)
    for take in (lambda x: as_fraction(x, "x"), rational, as_expression):
        with pytest.raises(ValueError, match="finite"):
            take(number)


@pytest.mark.parametrize("other", ["0.1", None, 1j, flint.arb(1), np.timedelta64(3, "s"), sympy.pi, sympy.oo, [1]])
def test_what_is_no_rational_number_is_none(other):
    assert ratio(other) is None
