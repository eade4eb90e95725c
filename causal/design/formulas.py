"""What rules answer, as formulas: comparisons of symbolic integers joined by `&`, `|`, `^` and `~`, in SMT-LIB."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

Environment = Mapping[str, Any]


def refuse(operation: str, remedy: str) -> NoReturn:
    """TypeError that names an operation which rules may not use."""
    raise TypeError(f"{operation} is not supported in a rule that must hold for every n; {remedy}")


class Formula:
    """A comparison of terms, or formulas joined by `&`, `|`, `^` and `~`."""

    __slots__ = ("operator", "parts")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, operator: str, *parts: Any) -> None:
        self.operator, self.parts = operator, parts

    def __and__(self, other: Any) -> Formula:
        return self._join("and", "true", formula(other, "&"))

    def __or__(self, other: Any) -> Formula:
        return self._join("or", "false", formula(other, "|"))

    def _join(self, operator: str, neutral: str, other: Formula) -> Formula:
        for one, rest in ((self, other), (other, self)):
            if one.operator in ("true", "false"):
                return rest if one.operator == neutral else one
        return Formula(operator, self, other)

    def __xor__(self, other: Any) -> Formula:
        return Formula("xor", self, formula(other, "^"))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Formula:
        if self.operator in ("true", "false"):
            return Formula("false" if self.operator == "true" else "true")
        return Formula("not", self)

    def __eq__(self, other: Any) -> Formula:  # type: ignore[override]
        return ~self.__xor__(other)

    def __ne__(self, other: Any) -> Formula:  # type: ignore[override]
        return self.__xor__(other)

    def __bool__(self) -> bool:
        refuse(
            "the truth value of a comparison (if, and, or, not, min, max, in, a < b < c)",
            "use &, |, ~ and choose(condition, a, b), and write a < b < c as (a < b) & (b < c)",
        )

    def arithmetic(self, other: Any = None) -> NoReturn:
        """What every operation of arithmetic on a comparison raises."""
        refuse("arithmetic on a comparison", "use choose(condition, a, b) to turn it into a number")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = arithmetic
    __mod__ = __rmod__ = __truediv__ = __rtruediv__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = arithmetic

    def evaluate(self, env: Environment) -> bool:
        """Its truth value with Python's integers."""
        values = (part.evaluate(env) for part in self.parts)
        if self.operator == "<=":
            return bool(next(values) <= 0)
        if self.operator == "=":
            return bool(next(values) == 0)
        if self.operator == "not":
            return not next(values)
        if self.operator == "xor":
            return bool(next(values)) != bool(next(values))
        if self.operator in ("true", "false"):
            return self.operator == "true"
        return all(values) if self.operator == "and" else any(values)

    def __str__(self) -> str:
        if self.operator in ("true", "false"):
            return self.operator
        zero = " 0" if self.operator in ("<=", "=") else ""
        return f"({self.operator} {' '.join(map(str, self.parts))}{zero})"

    __repr__ = __str__


def formula(value: Any, operation: str = "&") -> Formula:
    """A formula from a formula or a truth value; TypeError names the operation for anything else."""
    if isinstance(value, Formula):
        return value
    if isinstance(value, (bool, np.bool_)):
        return Formula("true" if value else "false")
    return refuse(f"{operation} with {value!r}", "join comparisons")


def conjunction(parts: Iterable[Formula]) -> Formula:
    """All of them; true for none."""
    whole = formula(True)
    for part in parts:
        whole = part if whole.operator == "true" else whole & part
    return whole
