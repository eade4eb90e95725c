"""Deciding identities between expressions in symbols, their exponentials and e^{1/k}.

An expression is read as a rational function of *generators*: each symbol x (or x^{1/k} where roots of it occur),
e^{m/k} for each monomial m of an exponent, e^{1/k} for the exponents' constants, log x, and π where no e^{1/k} stands
beside it (whether e and π are independent is not known). The generators are algebraically independent over ℚ: e^{1/k}
is transcendental (Hermite 1873), π is (Lindemann 1882), and exponentials of polynomials that are linearly independent
modulo constants are algebraically independent over the rational functions (Ax 1971, the function-field case of
Lindemann–Weierstrass). So the expression is identically zero iff its numerator, a polynomial with rational
coefficients, is the zero polynomial. That is a decision, not a heuristic; what does not fit this form raises
`Undecidable`. Symbols stand for real numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import sympy
from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx
from sympy import Add, Expr, Mul, Pow, Rational, Symbol
from sympy.core.numbers import Exp1

from .exact import Undecidable, exact

HYPERBOLIC = (sympy.sinh, sympy.cosh, sympy.tanh, sympy.coth, sympy.sech, sympy.csch)


@dataclass(frozen=True)
class Quotient:
    """A reduced quotient of two polynomials over ℚ; the arithmetic of a field."""

    num: fmpq_mpoly
    den: fmpq_mpoly

    @classmethod
    def reduced(cls, num: fmpq_mpoly, den: fmpq_mpoly) -> Quotient:
        """The quotient in lowest terms, the denominator monic. Raises ZeroDivisionError for the denominator 0."""
        if den.is_zero():
            raise ZeroDivisionError("the denominator is identically zero")
        if den.is_constant():
            lead = den.leading_coefficient()
            return cls(num / lead, den / lead)
        common = num.gcd(den)
        num, den = num / common, den / common
        lead = den.leading_coefficient()
        return cls(num / lead, den / lead)

    def __add__(self, other: Quotient) -> Quotient:
        if self.den == other.den:
            return Quotient.reduced(self.num + other.num, self.den)
        return Quotient.reduced(self.num * other.den + other.num * self.den, self.den * other.den)

    def __neg__(self) -> Quotient:
        return Quotient(-self.num, self.den)

    def __sub__(self, other: Quotient) -> Quotient:
        return self + (-other)

    def __mul__(self, other: Quotient) -> Quotient:
        return Quotient.reduced(self.num * other.num, self.den * other.den)

    def __truediv__(self, other: Quotient) -> Quotient:
        return Quotient.reduced(self.num * other.den, self.den * other.num)

    def power(self, exponent: int) -> Quotient:
        """An integer power."""
        if exponent >= 0:
            return Quotient(self.num**exponent, self.den**exponent)
        return Quotient.reduced(self.den**-exponent, self.num**-exponent)

    def is_zero(self) -> bool:
        """Whether it is the zero of the field."""
        return bool(self.num.is_zero())


def _plain(expression: Expr) -> Expr:
    """Hyperbolic functions written as exponentials."""
    return expression.rewrite(sympy.exp) if expression.has(*HYPERBOLIC) else expression


def _exponent(argument: Expr) -> Iterator[tuple[Fraction, Expr]]:
    """An exponent as a sum of rational coefficients times distinct monomials (1 for the constant)."""
    for term in Add.make_args(sympy.expand(argument)):
        coefficient, monomial = term.as_coeff_Mul()
        factors = [f.as_base_exp() for f in Mul.make_args(monomial) if f is not sympy.S.One]
        if not isinstance(coefficient, Rational) or not all(
            isinstance(base, Symbol) and isinstance(power, Rational) for base, power in factors
        ):
            raise Undecidable(f"the exponent {argument} is not a polynomial with rational coefficients")
        yield Fraction(int(coefficient.p), int(coefficient.q)), monomial


def _check_symbol(symbol: Expr) -> None:
    """Undecidable for a symbol that does not stand for an arbitrary real number (of some sign)."""
    if not symbol.is_commutative or symbol.is_zero or symbol.is_real is False:
        raise Undecidable(
            f"the symbol {symbol} is assumed not to commute, to be 0, or not to be real; use a plain symbol"
        )


def _is_real(generator: Expr) -> bool:
    """Whether a generator is real for real values of its symbols: a root needs its symbol to be at least 0."""
    if isinstance(generator, sympy.exp):
        return all(_is_real(power) for power in Mul.make_args(generator.args[0]) if power.free_symbols)
    if isinstance(generator, sympy.log):
        return bool(generator.args[0].is_positive)
    base, power = generator.as_base_exp()
    return bool(power.is_Integer or base.is_nonnegative)


def _sign_of(generator: Expr) -> str:
    if not _is_real(generator):
        return "!"
    if isinstance(generator, (sympy.exp, Exp1)) or generator.is_positive:
        return "+"
    return "0+" if generator.is_nonnegative else "?"


class Field:
    """The field ℚ(generators) that holds the given expressions.

    >>> x = Symbol("x")
    >>> k = Field([sympy.exp(x / 2), sympy.E])
    >>> k.generators
    (E, exp(x/2))
    >>> k.element(sympy.exp(x) - sympy.exp(x / 2) ** 2).is_zero()
    True
    """

    def __init__(self, expressions: Iterable[Any]) -> None:
        self._roots: dict[Expr, int] = {}
        self._exponents: dict[Expr, int] = {}
        self._logs: dict[Expr, None] = {}
        seen: set[Expr] = set()
        for expression in expressions:
            self._collect(_plain(exact(expression)), seen)
        if sympy.pi in self._roots and sympy.S.One in self._exponents:
            raise Undecidable("whether π and e are independent is not known; write a symbol for one of them")
        self._symbols = sorted(self._roots, key=str)
        self._monomials = sorted(self._exponents, key=str)
        self.generators: tuple[Expr, ...] = (
            *(Pow(x, Rational(1, self._roots[x])) for x in self._symbols),
            *(sympy.exp(m / self._exponents[m]) for m in self._monomials),
            *self._logs,
        )
        names = [f"g{i}" for i in range(max(1, len(self.generators)))]
        self._context = fmpq_mpoly_ctx.get(names, Ordering.lex)
        gens = self._context.gens()
        self.one = Quotient(self._context.constant(1), self._context.constant(1))
        places = [Quotient(g, self._context.constant(1)) for g in gens]
        count = len(self._symbols)
        self._of_symbol: dict[Expr, Quotient] = dict(zip(self._symbols, places, strict=False))
        self._of_monomial: dict[Expr, Quotient] = dict(zip(self._monomials, places[count:], strict=False))
        self._of_log: dict[Expr, Quotient] = dict(zip(self._logs, places[count + len(self._monomials) :], strict=False))
        self._memo: dict[Expr, Quotient] = {}

    def _collect(self, node: Expr, seen: set[Expr]) -> None:
        if node in seen:
            return
        seen.add(node)
        if isinstance(node, Symbol) or node is sympy.pi:
            _check_symbol(node)
            self._roots.setdefault(node, 1)
        elif isinstance(node, Exp1):
            self._exponents.setdefault(sympy.S.One, 1)
        elif isinstance(node, sympy.exp):  # E**x without evaluation counts as one
            for symbol in node.exp.free_symbols:
                _check_symbol(symbol)
            for coefficient, monomial in _exponent(node.exp):
                self._exponents[monomial] = lcm(self._exponents.get(monomial, 1), coefficient.denominator)
        elif isinstance(node, Pow):
            base, power = node.args
            if not isinstance(power, Rational):
                raise Undecidable(f"the power {node} has an exponent that is not rational")
            letter = isinstance(base, Symbol) or base is sympy.pi
            if power.q != 1 and not letter:
                beside = "and beside other numbers or symbols only roots of symbols are decided; write a symbol for it"
                raise Undecidable(f"{node} is not a root of a symbol, {beside}")
            if letter:
                _check_symbol(base)
                self._roots[base] = lcm(self._roots.get(base, 1), int(power.q))
            else:
                self._collect(base, seen)
        elif isinstance(node, sympy.log) and isinstance(node.args[0], Symbol):
            _check_symbol(node.args[0])
            self._logs.setdefault(node)
        elif isinstance(node, (Add, Mul)):
            for child in node.args:
                self._collect(child, seen)
        elif not isinstance(node, Rational):
            if node.is_number:
                problem = "is a number whose relations to others are not decided here (rationals, π, e^{p/q} are)"
                raise Undecidable(f"{node} {problem}; write a symbol for it")
            raise Undecidable(f"{node} is neither a rational function nor an exponential of symbols; rewrite it so")

    def element(self, expression: Any) -> Quotient:
        """The expression as a quotient of polynomials in the generators. Raises Undecidable or ZeroDivisionError."""
        return self._element(_plain(exact(expression)))

    def _element(self, node: Expr) -> Quotient:
        if node not in self._memo:
            self._memo[node] = self._built(node)
        return self._memo[node]

    def _built(self, node: Expr) -> Quotient:
        if isinstance(node, Rational):
            return Quotient(self._context.constant(fmpq(int(node.p), int(node.q))), self.one.den)
        if isinstance(node, Symbol) or node is sympy.pi:
            return self._of_symbol[node].power(self._roots[node])
        if isinstance(node, Exp1):
            return self._of_monomial[sympy.S.One].power(self._exponents[sympy.S.One])
        if isinstance(node, sympy.exp):
            found = self.one
            for coefficient, monomial in _exponent(node.exp):
                found *= self._of_monomial[monomial].power(int(coefficient * self._exponents[monomial]))
            return found
        if isinstance(node, sympy.log):
            return self._of_log[node]
        if isinstance(node, Pow):
            base, power = node.args
            if base in self._of_symbol:
                return self._of_symbol[base].power(int(power * self._roots[base]))
            return self._element(base).power(int(power))
        parts = [self._element(child) for child in node.args]
        total = parts[0]
        for part in parts[1:]:
            total = total + part if isinstance(node, Add) else total * part
        return total

    def polynomial(self, poly: fmpq_mpoly) -> Expr:
        """A polynomial in the generators as a SymPy expression."""
        return Add(
            *(
                Mul(
                    Rational(int(c.p), int(c.q)),
                    *(g**p for g, p in zip(self.generators, powers, strict=False) if p),
                )
                for powers, c in poly.to_dict().items()
            )
        )

    def expression(self, element: Quotient) -> Expr:
        """An element back as a SymPy expression, numerator over denominator."""
        return self.polynomial(element.num) / self.polynomial(element.den)

    def signs(self) -> list[str]:
        """Per generator: "+" positive, "0+" non-negative, "?" real of unknown sign, "!" possibly not real."""
        return [_sign_of(g) for g in self.generators]

    def manifest_sign(self, poly: fmpq_mpoly) -> str:
        """ "+", "0+" or "?" for a polynomial, read off its coefficients and the signs of its generators.

        "+" needs every term non-negative and one term positive; it is a proof, "?" is not a disproof.
        """
        signs, strict = self.signs(), False
        for powers, coefficient in poly.to_dict().items():
            if coefficient < 0:
                return "?"
            used = [(signs[i], p) for i, p in enumerate(powers) if p]
            if any(sign == "!" or (sign == "?" and p % 2) for sign, p in used):
                return "?"
            strict |= all(sign == "+" for sign, _ in used)
        return "+" if strict else "0+"


def remainder(left: Any, right: Any = 0) -> Expr:
    """`left − right` in normal form: the expression 0 iff the two are identically equal.

    Raises Undecidable when a side is outside the field, ZeroDivisionError when a denominator vanishes identically.

    >>> e = sympy.E
    >>> remainder((e - 1) * (e + 1), e**2 - 1)
    0
    >>> remainder(sympy.exp(Rational(3, 2)), e)
    -E + exp(3/2)
    """
    difference = exact(left) - exact(right)
    field = Field([difference])
    return field.expression(field.element(difference))


def is_zero(expression: Any) -> bool:
    """Whether the expression is identically zero, decided.

    >>> x = Symbol("x")
    >>> is_zero(sympy.cosh(x) ** 2 - sympy.sinh(x) ** 2 - 1), is_zero(sympy.cosh(x) - 1)
    (True, False)
    """
    expression = exact(expression)
    field = Field([expression])
    return field.element(expression).is_zero()


def normal(expression: Any) -> Expr:
    """The expression as one reduced fraction; equal expressions have equal normal forms.

    >>> x = Symbol("x")
    >>> normal(1 / (1 - x) + 1 / (1 + x))
    -2/(x**2 - 1)
    """
    return remainder(expression)


def manifestly(expression: Any, relation: str = ">") -> bool:
    """Whether the expression is visibly positive (">") or non-negative (">="): its reduced fraction's coefficients are.

    Symbols count by their SymPy assumptions (positive, nonnegative); exponentials are positive; even powers are
    non-negative. False means only that the form does not show it.

    >>> a = Symbol("a", positive=True)
    >>> manifestly(a / (1 + sympy.exp(a))), manifestly(a - 1)
    (True, False)
    """
    if relation not in (">", ">="):
        raise ValueError(f"relation = {relation!r} is unknown; use '>' or '>='")
    expression = exact(expression)
    field = Field([expression])
    element = field.element(expression)
    for num, den in ((element.num, element.den), (-element.num, -element.den)):
        if field.manifest_sign(den) == "+" and field.manifest_sign(num) in ({"+"} if relation == ">" else {"+", "0+"}):
            return True
    return False


def is_real(expression: Any) -> bool:
    """Whether the expression is visibly real for real symbols (no root or logarithm of what may be negative).

    >>> x, p = Symbol("x"), Symbol("p", positive=True)
    >>> is_real(x), is_real(sympy.sqrt(x)), is_real(sympy.log(p))
    (True, False, True)
    """
    return all(map(_is_real, Field([expression]).generators))


def sign(constant: Any) -> int:
    """The sign of a constant of ℚ(e^{1/k}): −1, 0 or 1. Zero is decided exactly first, so the enclosures end.

    Raises Undecidable for an expression with symbols or outside the field.

    >>> sign(sympy.E - Rational(2718281828459045, 10**15)), sign(sympy.E**2 - sympy.exp(2))
    (1, 0)
    """
    from .ball import enclosure

    constant = exact(constant)
    if constant.free_symbols:
        raise Undecidable(f"{constant} has symbols, so it has no one sign; substitute numbers")
    if is_zero(constant):
        return 0
    bits = 64
    while True:
        ball = enclosure(constant, bits)
        if ball > 0:
            return 1
        if ball < 0:
            return -1
        bits *= 2
