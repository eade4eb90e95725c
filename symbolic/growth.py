"""Order and limit at infinity, read off the leading term (a Hardy field with three scales: e^n, n^{1/k}, log n)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Symbol

from .exact import Undecidable, exact
from .field import Field, Quotient, is_zero, manifestly

if TYPE_CHECKING:
    from flint import fmpq_mpoly

Scale = tuple[Fraction, Fraction, Fraction]
CONSTANT: Scale = (Fraction(0), Fraction(0), Fraction(0))


@dataclass(frozen=True)
class LeadingTerm:
    """`coefficient · e^(a n) · n^b · (log n)^c` with `exponents = (a, b, c)`; its coefficient is free of n, not 0."""

    coefficient: Expr
    exponents: Scale

    def __str__(self) -> str:
        names = ("e^n", "n", "log n")
        parts = [name if p == 1 else f"({name})^{p}" for name, p in zip(names, self.exponents, strict=True) if p]
        return " · ".join([str(self.coefficient), *parts])


def _scales(field: Field, n: Symbol) -> list[tuple[int, int, Fraction]]:
    """(generator index, scale 0…2, exponent per unit) of each generator that contains n."""
    found = []
    for i, g in enumerate(field.generators):
        if not g.has(n):
            continue
        if isinstance(g, sympy.log) and g.args[0] == n:
            found.append((i, 2, Fraction(1)))
        elif g == n or (isinstance(g, sympy.Pow) and g.args[0] == n):
            found.append((i, 1, Fraction(1) if g == n else Fraction(int(g.args[1].p), int(g.args[1].q))))
        elif isinstance(g, sympy.exp) and (g.args[0] / n).is_Rational and g.args[0] / n > 0:
            rate = g.args[0] / n
            found.append((i, 0, Fraction(int(rate.p), int(rate.q))))
        else:
            raise Undecidable(f"{g} has no place among e^n, powers of n and log n; substitute for it")
    return found


def _leading(field: Field, poly: fmpq_mpoly, scales: list[tuple[int, int, Fraction]]) -> tuple[Scale, Expr]:
    terms: dict[Scale, list[tuple[tuple[int, ...], Any]]] = {}
    for powers, c in poly.to_dict().items():
        at = [Fraction(0)] * 3
        free = list(powers)
        for i, which, unit in scales:
            at[which] += unit * int(powers[i])
            free[i] = 0
        terms.setdefault((at[0], at[1], at[2]), []).append((tuple(map(int, free)), c))
    top = max(terms)
    lead = sympy.Add(
        *(
            sympy.Rational(int(c.p), int(c.q))
            * sympy.Mul(*(g**p for g, p in zip(field.generators, powers, strict=False)))
            for powers, c in terms[top]
        )
    )
    return top, lead


def leading_term(expression: Any, n: Symbol) -> LeadingTerm | None:
    """The leading term as n → ∞, or None for the expression 0. The coefficient may vanish for special parameters.

    Raises Undecidable where another function of n occurs, and where the leading coefficient of the denominator is not
    visibly of one sign (then special parameters could change the order).

    >>> n, a = sympy.symbols("n a", positive=True)
    >>> print(leading_term((n**2 + n) / (a * n + sympy.log(n)), n))
    1/a · n
    """
    expression = exact(expression)
    field = Field([expression])
    element: Quotient = field.element(expression)
    if element.is_zero():
        return None
    scales = _scales(field, n)
    (top, up), (bottom, down) = (_leading(field, p, scales) for p in (element.num, element.den))
    if not _has_sign(down):
        raise Undecidable(f"the leading coefficient {down} of the denominator may vanish; restrict its symbols")
    return LeadingTerm(up / down, (top[0] - bottom[0], top[1] - bottom[1], top[2] - bottom[2]))


def _has_sign(coefficient: Expr) -> bool:
    return manifestly(coefficient) or manifestly(-coefficient)


def limit(expression: Any, n: Symbol) -> Expr:
    """The limit as n → ∞: an expression, 0, or ±∞ (the sign of the leading coefficient).

    Raises Undecidable when it is infinite and the sign of the leading coefficient is open.

    >>> n, c = sympy.symbols("n c", positive=True)
    >>> limit((c * n + n**2) / (3 * n**2), n), limit(n / sympy.log(n), n)
    (1/3, oo)
    """
    lead = leading_term(expression, n)
    if lead is None or lead.exponents < CONSTANT:
        return sympy.S.Zero
    if lead.exponents == CONSTANT:
        return lead.coefficient
    if not _has_sign(lead.coefficient):
        raise Undecidable(f"the limit of {expression} is infinite, of the sign of {lead.coefficient}")
    return sympy.oo if manifestly(lead.coefficient) else -sympy.oo


def same_order(left: Any, right: Any, n: Symbol) -> bool:
    """Whether left = Θ(right) as n → ∞: their leading terms have the same exponents and coefficients of one sign each.

    >>> n, a = sympy.symbols("n a", positive=True)
    >>> same_order(a * n**2 + n, n**2, n), same_order(n * sympy.log(n), n, n)
    (True, False)
    """
    a, b = leading_term(left, n), leading_term(right, n)
    if a is None or b is None:
        return a is b
    return a.exponents == b.exponents and _has_sign(a.coefficient) and _has_sign(b.coefficient)


def same_limit(expression: Any, expected: Any, n: Symbol) -> Expr:
    """0 when the limit as n → ∞ is `expected`, otherwise the difference (or the limit itself when one is infinite)."""
    found, expected = limit(expression, n), exact(expected)
    if found.is_infinite or expected.is_infinite:
        return sympy.S.Zero if found == expected else found
    return sympy.S.Zero if is_zero(found - expected) else found - expected
