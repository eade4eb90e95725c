"""Enclosures: FLINT balls that contain an exact value, and mpmath at any number of digits, in contexts of their own.

A ball is a proof: the value lies in it. The printed digits of an `Enclosure` are those on which its two ends agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, arb_mat, fmpq
from mpmath.ctx_mp import MPContext
from sympy import Expr

from ..symbolic.ball import enclosure, evaluate
from ..symbolic.exact import exact
from ..symbolic.precision import precision
from ..symbolic.rank import as_matrix
from .enclosure import singular_values as enclosed_singular_values

MOST_BITS = 1 << 20


def _bits(digits: int) -> int:
    """Bits that carry this many decimal digits, with room for a few operations."""
    if isinstance(digits, bool) or not isinstance(digits, int) or digits < 1:
        raise ValueError(f"digits = {digits!r} is not a precision; pass a whole number from 1")
    return int(digits * 3.33) + 32


def as_fraction(ball: arb) -> Fraction:
    """The exact value of a ball of radius 0."""
    mantissa, exponent = ball.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@dataclass(frozen=True)
class Enclosure:
    """An interval with exact dyadic ends that contains a value.

    >>> print(enclose(sympy.E, 10))
    2.718281828…
    """

    lower: Fraction
    upper: Fraction
    digits: int

    @classmethod
    def of(cls, ball: arb, digits: int) -> Enclosure:
        """The interval of a ball. Raises ArithmeticError for a ball that is not finite."""
        if not ball.is_finite():
            raise ArithmeticError("the enclosure is not finite; raise the precision")
        with precision(max(64, 2 * _bits(digits))):
            middle, radius = as_fraction(ball.mid()), as_fraction(ball.rad())
        return cls(middle - radius, middle + radius, digits)

    @property
    def width(self) -> Fraction:
        """Upper end minus lower end."""
        return self.upper - self.lower

    def contains(self, value: Any) -> bool:
        """Whether a rational value (a Fraction, an int, a float taken exactly) lies in it."""
        return self.lower <= Fraction(value) <= self.upper

    def overlaps(self, other: Enclosure) -> bool:
        """Whether the two intervals meet; two values with disjoint enclosures differ."""
        return self.lower <= other.upper and other.lower <= self.upper

    def __float__(self) -> float:
        return float((self.lower + self.upper) / 2)

    def __str__(self) -> str:
        return decimals(self.lower, self.upper, self.digits)


def decimals(lower: Fraction, upper: Fraction, digits: int) -> str:
    """The decimal digits on which both ends agree, truncated, at most `digits` significant ones.

    >>> decimals(Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**6), 4)
    '0.3333…'
    """
    if lower == upper and (lower.denominator == 1 or not 10**digits % lower.denominator):
        if lower.denominator == 1:
            return str(lower)
        text = str(abs(int(lower * 10**digits))).zfill(digits + 1)
        return f"{'-' * (lower < 0)}{text[:-digits]}.{text[-digits:]}".rstrip("0")
    sign = "-" if upper < 0 else ""
    a, b = (abs(upper), abs(lower)) if upper < 0 else (lower, upper)
    if a < 0 < b or a <= 0:
        return f"0 ± {float(max(abs(lower), abs(upper))):.1e}"
    whole = len(str(int(b))) if b >= 1 else 0
    leading = 0  # zeros between the point and the first digit
    while b * 10 ** (leading + 1) < 1:
        leading += 1
    for places in range(max(0, digits - whole + leading), -1, -1):
        first, second = int(a * 10**places), int(b * 10**places)
        if first == second:
            text = str(first).zfill(places + 1)
            return f"{sign}{text[:-places]}.{text[-places:]}…" if places else f"{sign}{text}…"
    return f"{float((lower + upper) / 2):.15g} ± {float((upper - lower) / 2):.1e}"


def enclose(expression: Any, digits: int = 30, values: Mapping[Expr, Any] | None = None) -> Enclosure:
    """An interval of relative width below 10^−digits that contains a constant expression.

    `values` gives the symbols, as exact numbers. The working precision doubles until the width is reached;
    a value that is exactly 0 but not visibly so stays an interval around 0. Raises ValueError for digits below 1,
    ArithmeticError when the value is not a finite number.

    >>> print(enclose(10 * (1 + 2 * sympy.E + 3 * sympy.E**2) / (1 + sympy.E + sympy.E**2), 12))
    25.7521038260…
    """
    bits = _bits(digits)
    goal = Fraction(1, 10**digits)
    while True:
        found = Enclosure.of(enclosure(expression, bits, values), digits) if bits <= MOST_BITS else None
        if found is None:
            raise ArithmeticError(f"no finite enclosure of {expression} within {MOST_BITS} bits")
        size = max(abs(found.lower), abs(found.upper))
        if found.width <= goal * size or size <= goal**4:
            return found
        bits *= 2


def at_digits(expression: Any, digits: int = 30, values: Mapping[Expr, Any] | None = None) -> Any:
    """The value of a constant expression by mpmath, in a context of its own with this many digits.

    An independent evaluation (no enclosure): it agrees with `enclose` to about `digits` digits.

    >>> str(at_digits(sympy.E, 20))
    '2.7182818284590452354'
    """
    context = MPContext()
    context.prec = _bits(digits)
    given = {k: context.mpf(int(sympy.Rational(v).p)) / int(sympy.Rational(v).q) for k, v in (values or {}).items()}
    value = evaluate(
        exact(expression), lambda p, q: context.mpf(p) / q, lambda name, x: getattr(context, name)(x), given
    )
    context.dps = digits
    return +value


def confirm(expression: Any, digits: int) -> Enclosure:
    """The enclosure, after mpmath's value at the same digits was found inside it (widened by a few units of the last).

    Raises ArithmeticError when the two arithmetics disagree.
    """
    found = enclose(expression, digits)
    sample = at_digits(expression, digits + 5)
    value = Fraction(int(sample.man)) * Fraction(2) ** int(sample.exp) * (-1 if sample._mpf_[0] else 1)
    room = Fraction(4, 10**digits) * max(abs(value), Fraction(1, 10**digits))
    if not found.lower - room <= value <= found.upper + room:
        raise ArithmeticError(f"mpmath's {sample} lies outside FLINT's enclosure {found} of {expression}")
    return found


def ball_matrix(matrix: Any, bits: int) -> arb_mat:
    """An exact matrix as a matrix of balls."""
    m = as_matrix(matrix)
    return arb_mat(m.rows, m.cols, [enclosure(e, bits) for e in m])


def singular_values(matrix: Any, digits: int = 30) -> list[Enclosure]:
    """Enclosures of the singular values of an exact matrix, largest first, min(rows, columns) of them.

    They are the square roots of the eigenvalues of the smaller of AAᵀ and AᵀA, which FLINT encloses and counts.

    >>> print(singular_values([[1, 1], [0, 1]], 8)[0])
    1.6180339…
    """
    m = as_matrix(matrix)
    bits = _bits(digits) + 16 * max(m.shape)
    while True:
        with precision(bits):
            found = [Enclosure.of(s, digits) for s in enclosed_singular_values(ball_matrix(m, 3 * bits))]
        largest = max([e.upper for e in found] + [Fraction(1, 10**digits)])
        if all(e.width * 10**digits <= largest for e in found) or bits > MOST_BITS:
            return found
        bits *= 2


def root_sum_squares(parts: list[Enclosure], digits: int) -> Enclosure:
    """An enclosure of (Σ x²)^{1/2} for enclosed x ≥ 0, such as the tail of the singular values."""
    with precision(2 * _bits(digits)):
        total = arb(0)
        for part in parts:
            low, high = max(part.lower, Fraction(0)), part.upper
            ball = arb(fmpq(low.numerator, low.denominator)).union(arb(fmpq(high.numerator, high.denominator)))
            total += ball * ball
        return Enclosure.of(total.nonnegative_part().sqrt() if parts else arb(0), digits)
