"""Sizes and guards that PyTorch writes as expressions of SymPy, as terms: linear ones, wherever that is proved."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import integers
from ..integers import NotLinear, solver, whole
from ..sampling import numbers

if TYPE_CHECKING:
    from ..integers import Statements, Term, Truth
    from ..shadow import Size

AT = (97, 98, 99, 101)  # numbers for the variable that a linear form is read off from

RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "Equality": operator.eq, "Unequality": operator.ne, "StrictLessThan": operator.lt, "LessThan": operator.le,
    "StrictGreaterThan": operator.gt, "GreaterThan": operator.ge,
}  # fmt: skip
FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    "Max": lambda a, b: solver.If(a >= b, a, b), "Min": lambda a, b: solver.If(a <= b, a, b),
}  # fmt: skip
JOINED: dict[str, Callable[..., Any]] = {"And": solver.And, "Or": solver.Or, "Not": solver.Not}


class AtenSizes:
    """The symbols of one program: `names` says which term each of them is, `variable` is the only one in those."""

    def __init__(self, statements: Statements, variable: Term, names: Mapping[str, Term]) -> None:
        self._statements, self._variable, self._names = statements, variable, names
        self._known: dict[Any, Term] = {}

    def shape(self, shape: Any) -> tuple[Size, ...]:
        """A shape: numbers stay numbers."""
        return tuple(self.size(d) for d in shape)

    def size(self, size: Any) -> Size:
        """One size; NotLinear where it is no linear term."""
        if isinstance(size, int) or solver.is_expr(size):
            return size
        found = self.term(size.node.expr)
        return found.as_long() if solver.is_int_value(found) else found

    def term(self, expression: Any) -> Term:
        """An expression that is a whole number."""
        if expression not in self._known:
            self._known[expression] = self.linear(self._read(expression))
        return self._known[expression]

    def truth(self, expression: Any) -> Truth:
        """An expression that is a truth value."""
        kind = type(expression).__name__
        if kind in ("BooleanTrue", "BooleanFalse"):
            return solver.BoolVal(kind == "BooleanTrue")
        if kind in RELATIONS:
            return solver.simplify(RELATIONS[kind](*map(self.term, expression.args)))
        if kind in JOINED:
            return solver.simplify(JOINED[kind](*map(self.truth, expression.args)))
        raise NotLinear(f"the condition {expression} is not known")

    def _read(self, e: Any) -> Term:
        kind = type(e).__name__
        if e.is_Integer:
            return whole(int(e))
        if e.is_Symbol:
            if e.name not in self._names:
                raise NotLinear(f"the size {e} depends on data")
            return self._names[e.name]
        if kind in ("FloorDiv", "CleanDiv"):
            return self.divided(*map(self.term, e.args))[0]
        if kind in ("Mod", "PythonMod"):
            return self.divided(*map(self.term, e.args))[1]
        if kind == "Pow" and e.args[1].is_Integer and int(e.args[1]) >= 0:
            return self._product([e.args[0]] * int(e.args[1]))
        if e.is_Mul:
            return self._product(e.args)
        if e.is_Add:
            return reduce(operator.add, map(self.term, e.args))
        if kind in FOLDED:
            return reduce(FOLDED[kind], map(self.term, e.args))
        raise NotLinear(f"the size {e} is not known")

    def _product(self, factors: Sequence[Any]) -> Term:
        return reduce(operator.mul, map(self.term, factors), whole(1))

    def divided(self, a: Term, b: Term) -> tuple[Term, Term]:
        """a // b and what is left, for b > 0: by a number, or where the quotient is the same at every length."""
        if solver.is_int_value(b) and b.as_long() > 0:
            return self.linear(a / b), self.linear(a % b)
        found = {int(p // q) if q else None for p, q in zip(*map(self._shown, (a, b)), strict=True)}
        if len(found) == 1 and None not in found:
            quotient = whole(found.pop())
            if self._statements.hold(solver.And(b > 0, quotient * b <= a, a < (quotient + 1) * b)):
                return quotient, self.linear(a - quotient * b)
        raise NotLinear(f"a size is divided by {b}, which is not linear")

    def _shown(self, term: Term) -> list[Any]:
        return [numbers(term, {self._variable.decl().name(): np.int64(v)}) for v in AT]

    def linear(self, term: Term) -> Term:
        """The same as slope · variable + start, where both solvers prove it; else itself."""
        term = solver.simplify(term)
        if solver.is_int_value(term) or not _has_cases(term) or integers.names(term) != {self._variable.decl().name()}:
            return term
        first, second, *more = self._shown(term)
        slope = int(second - first) // (AT[1] - AT[0])
        start = int(first) - slope * AT[0]
        if all(int(v) == slope * x + start for v, x in zip(more, AT[2:], strict=True)):
            form = solver.simplify(whole(slope) * self._variable + start)
            self._statements.about = "a size"
            if self._statements.hold(term == form):
                return form
        return term


def _has_cases(term: Term) -> bool:
    kind = term.decl().kind()
    cases = (solver.Z3_OP_ITE, solver.Z3_OP_IDIV, solver.Z3_OP_MOD)
    return kind in cases or any(map(_has_cases, term.children()))
