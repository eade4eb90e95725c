"""Symbolic integers that ordinary Python functions accept, and their SMT-LIB text.

A `Term` is a polynomial with integer coefficients over atoms (variables, quotients, choices, applications of an unknown
function); comparing terms gives a `Formula`, and `&`, `|`, `~` combine formulas. A rule written with `//`, `%`,
comparisons, `&`, `|`, `~` and `choose` therefore runs on integers, on NumPy arrays and on terms alike.

Python and SMT-LIB divide differently by negative numbers (Python rounds down, SMT-LIB keeps the remainder
non-negative); they agree for positive divisors. Hence only `div` by positive divisors is ever written: `a // -c`
becomes `-a div c`, and `a % c` becomes `a - c * (a // c)`, which is Python's definition for either sign.

Products of two unknowns leave linear arithmetic. They are written as an uninterpreted function `times` with instances
of its monotonicity, so that an unsat holds for every function with these properties, multiplication included; or, on
request, as real multiplication.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from .formulas import Environment, Formula, formula, refuse


class Atom:
    """An indivisible integer: its SMT-LIB text, how to compute it, and the terms and formulas inside it."""

    __slots__ = ("evaluate", "kind", "least", "parts", "text")

    def __init__(
        self,
        kind: str,
        text: str,
        evaluate: Callable[[Environment], int],
        parts: tuple[Any, ...] = (),
        least: int | None = None,
    ) -> None:
        self.kind, self.text, self.evaluate, self.parts, self.least = kind, text, evaluate, parts, least

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class Term:
    """A polynomial over atoms with integer coefficients; arithmetic and comparisons build terms and formulas.

    Raises TypeError, naming the operation, for what linear arithmetic with division lacks (`/`, `**`, shifts, floats,
    and anything that asks for a truth value).

    >>> t, n = variable("t", 0), variable("n", 1)
    >>> str((t + 1) // 4 * 4 <= n)
    '(<= (+ (* 4 (div (+ t 1) 4)) (* (- 1) n)) 0)'
    """

    __slots__ = ("monomials",)
    __array_ufunc__ = None  # a NumPy integer on the left hands the operation over
    __hash__ = None  # type: ignore[assignment]  # `==` builds a formula

    def __init__(self, monomials: Mapping[tuple[Atom, ...], int]) -> None:
        self.monomials = {m: c for m, c in monomials.items() if c}

    # -- arithmetic -----------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Term:
        found = dict(self.monomials)
        for m, c in term(other, "+").monomials.items():
            found[m] = found.get(m, 0) + c
        return Term(found)

    __radd__ = __add__

    def __neg__(self) -> Term:
        return Term({m: -c for m, c in self.monomials.items()})

    def __pos__(self) -> Term:
        return self

    def __sub__(self, other: Any) -> Term:
        return self + -term(other, "-")

    def __rsub__(self, other: Any) -> Term:
        return term(other, "-") - self

    def __mul__(self, other: Any) -> Term:
        found: dict[tuple[Atom, ...], int] = {}
        for m, c in self.monomials.items():
            for k, d in term(other, "*").monomials.items():
                both = tuple(sorted((*m, *k), key=lambda a: a.text))
                found[both] = found.get(both, 0) + c * d
        return Term(found)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Term:
        divisor = term(other, "//")
        constant = divisor.constant
        if constant == 0:
            raise ZeroDivisionError(f"{self} // 0 in a rule; divide by a constant other than 0")
        if constant is not None and constant < 0:
            return -self // -constant
        if constant == 1:
            return self
        if constant is None and (divisor.least() or 0) < 1:
            refuse(f"division by {divisor}", "divide by a constant, or by a parameter declared with a least value of 1")
        if constant is not None and self.constant is not None:
            return term(self.constant // constant)
        name = "div" if constant is not None else "quotient"
        atom = Atom(
            name,
            f"({name} {self} {divisor})",
            lambda env: self.evaluate(env) // divisor.evaluate(env),
            (self, divisor),
            0 if (self.least() or -1) >= 0 else None,
        )
        return Term({(atom,): 1})

    def __rfloordiv__(self, other: Any) -> Term:
        return term(other, "//") // self

    def __mod__(self, other: Any) -> Term:
        return self - term(other, "%") * self.__floordiv__(other)

    def __rmod__(self, other: Any) -> Term:
        return term(other, "%") % self

    def __divmod__(self, other: Any) -> tuple[Term, Term]:
        return self // other, self % other

    def __abs__(self) -> Term:
        return term(choose(self >= 0, self, -self), "abs")

    # -- comparisons ----------------------------------------------------------------------------------------------

    def __le__(self, other: Any) -> Formula:
        return _relation("<=", self - term(other, "<="))

    def __lt__(self, other: Any) -> Formula:
        return (self + 1).__le__(other)

    def __ge__(self, other: Any) -> Formula:
        return term(other, ">=") <= self

    def __gt__(self, other: Any) -> Formula:
        return term(other, ">") + 1 <= self

    def __eq__(self, other: Any) -> Formula:  # type: ignore[override]
        return _relation("=", self - term(other, "=="))

    def __ne__(self, other: Any) -> Formula:  # type: ignore[override]
        return ~self.__eq__(other)

    # -- what is not supported, named -----------------------------------------------------------------------------

    def __bool__(self) -> bool:
        refuse("the truth value of an integer", "compare it, and use &, |, ~ and choose instead of and, or, not, if")

    def __truediv__(self, other: Any) -> NoReturn:
        refuse("/", "use //")

    __rtruediv__ = __truediv__

    def __pow__(self, other: Any) -> NoReturn:
        refuse("**", "write constants out; powers of an unknown are not linear")

    __rpow__ = __pow__

    def __lshift__(self, other: Any) -> NoReturn:
        refuse("<<", "multiply by a constant")

    __rlshift__ = __lshift__

    def __rshift__(self, other: Any) -> NoReturn:
        refuse(">>", "divide by a constant with //")

    __rrshift__ = __rshift__

    def __and__(self, other: Any) -> NoReturn:
        refuse("& between integers", "& joins comparisons; for bits use // and %")

    __or__ = __xor__ = __rand__ = __ror__ = __rxor__ = __and__

    def __invert__(self) -> NoReturn:
        refuse("~ of an integer", "~ negates a comparison; for -x - 1 write that")

    def __index__(self) -> NoReturn:
        refuse("a conversion to int (range, indexing, int, shifting)", "compute with //, % and comparisons only")

    __int__ = __index__

    def __float__(self) -> NoReturn:
        refuse("a conversion to float (math functions)", "compute with //, % and comparisons only")

    def __iter__(self) -> NoReturn:
        refuse("iteration", "compute with //, % and comparisons only")

    # -- reading --------------------------------------------------------------------------------------------------

    @property
    def constant(self) -> int | None:
        """Its value when it has no unknown, otherwise None."""
        if not self.monomials:
            return 0
        return self.monomials[()] if set(self.monomials) == {()} else None

    def least(self) -> int | None:
        """A lower bound from the least values of its atoms, or None where none is evident."""
        total = 0
        for m, c in self.monomials.items():
            bound = c
            for atom in m:
                if c < 0 or atom.least is None or atom.least < 0:
                    return None
                bound *= atom.least
            total += bound
        return total

    def evaluate(self, env: Environment) -> int:
        """Its value with Python's integers."""
        total = 0
        for m, c in self.monomials.items():
            for atom in m:
                c *= atom.evaluate(env)
            total += c
        return total

    def __str__(self) -> str:
        summands = [_summand(m, c) for m, c in self.monomials.items() if m]
        if self.monomials.get((), 0) or not summands:
            summands.append(_number(self.monomials.get((), 0)))
        return summands[0] if len(summands) == 1 else f"(+ {' '.join(summands)})"

    __repr__ = __str__


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _summand(monomial: tuple[Atom, ...], coefficient: int) -> str:
    text = product_text(monomial)
    return text if coefficient == 1 else f"(* {_number(coefficient)} {text})"


def product_text(monomial: tuple[Atom, ...]) -> str:
    """The product of atoms as nested applications of `times`."""
    text = monomial[0].text
    for atom in monomial[1:]:
        text = f"(times {text} {atom.text})"
    return text


def _relation(operator: str, difference: Term) -> Formula:
    value = difference.constant
    if value is None:
        return Formula(operator, difference)
    return formula(value <= 0 if operator == "<=" else value == 0)


def variable(name: str, least: int | None = None) -> Term:
    """An unknown integer; `least` is a lower bound that the caller asserts."""
    return Term({(Atom("variable", name, lambda env: int(env[name]), (), least),): 1})


def application(name: str, argument: Any) -> Term:
    """The value of an unknown function at a term."""
    inner = term(argument, name)
    atom = Atom(name, f"({name} {inner})", lambda env: int(env[name](inner.evaluate(env))), (inner,))
    return Term({(atom,): 1})


def term(value: Any, operation: str = "+") -> Term:
    """A term from a term or a whole number; TypeError names the operation for anything else."""
    if isinstance(value, Term):
        return value
    if isinstance(value, Formula):
        value.arithmetic()
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        return Term({(): int(value)})
    return refuse(f"{operation} with {value!r}", "use whole numbers")


def choose(condition: Any, then: Any, otherwise: Any) -> Any:
    """`then` where the condition holds, `otherwise` elsewhere: for truth values, boolean arrays and formulas alike.

    >>> choose(3 > 2, 5, 7)
    5
    """
    if not isinstance(condition, Formula):
        if isinstance(condition, (bool, np.bool_)):
            return then if condition else otherwise
        if np.asarray(condition).dtype != np.bool_:  # ~True is -2, which would pass for true
            refuse(
                f"choose({condition!r}, …)", "give it a comparison, of which ~ is taken only where it has an unknown"
            )
        return np.where(condition, then, otherwise)
    if isinstance(then, (Formula, bool)) or isinstance(otherwise, (Formula, bool)):
        return (condition & then) | (~condition & otherwise)
    a, b = term(then, "choose"), term(otherwise, "choose")
    lows = (a.least(), b.least())
    atom = Atom(
        "ite",
        f"(ite {condition} {a} {b})",
        lambda env: a.evaluate(env) if condition.evaluate(env) else b.evaluate(env),
        (condition, a, b),
        None if None in lows else min(x for x in lows if x is not None),
    )
    return Term({(atom,): 1})


def walk(root: Term | Formula) -> Iterator[tuple[tuple[Atom, ...], int]]:
    """Every monomial in a term or formula with its coefficient, inner ones included (some more than once)."""
    if isinstance(root, Formula):
        for part in root.parts:
            yield from walk(part)
        return
    for monomial, coefficient in root.monomials.items():
        if monomial:
            yield monomial, coefficient
        for atom in monomial:
            for part in atom.parts:
                yield from walk(part)
