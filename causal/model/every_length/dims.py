"""Sizes that a program writes in symbols, as terms."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

from . import integers
from .integers import NotLinear, solver

if TYPE_CHECKING:
    from .integers import Term
    from .shadow import Size


def _divisor(b: Term) -> Term:
    if solver.is_int_value(b) and b.as_long() > 0:
        return b
    raise NotLinear(f"a size is divided by {b}, which is not linear")


MEANINGS: dict[str, Callable[..., Any]] = {
    "floordiv": lambda a, b: a / _divisor(b),
    "mod": lambda a, b: a % _divisor(b),
    "max": lambda *xs: reduce(lambda a, b: solver.If(a >= b, a, b), xs),
    "min": lambda *xs: reduce(lambda a, b: solver.If(a <= b, a, b), xs),
    "non_negative": lambda a: solver.If(a >= 0, a, 0),
}


class Sizes(Protocol):
    """What knows the sizes of a program."""

    def shape(self, shape: Any) -> tuple[Size, ...]:
        """A shape: numbers stay numbers."""
        ...

    def size(self, size: Any) -> Size:
        """One size."""
        ...


class Dims:
    """The variables of the length, by their names, for sizes of JAX's."""

    def __init__(self, names: Mapping[str, Term]) -> None:
        self._names = names

    def shape(self, shape: Any) -> tuple[Size, ...]:
        """A shape of JAX's: numbers stay numbers."""
        return tuple(self.size(d) for d in shape)

    def size(self, size: Any) -> Size:
        """One size."""
        if isinstance(size, int) or not hasattr(size, "_get_vars"):
            return int(size)
        tree = ast.parse(str(size).replace("^", "**"), mode="eval")  # JAX writes powers with ^
        return solver.simplify(self._term(tree.body))

    def _term(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return integers.whole(node.value)
        if isinstance(node, ast.Name):
            return self._names[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._term(node.operand)
        if isinstance(node, ast.BinOp):
            a, b = self._term(node.left), self._term(node.right)
            if isinstance(node.op, ast.Add):
                return a + b
            if isinstance(node.op, ast.Sub):
                return a - b
            if isinstance(node.op, ast.Mult):
                return a * b
            if isinstance(node.op, ast.Pow):
                return reduce(lambda p, _: p * a, range(b.as_long()), integers.whole(1))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MEANINGS:
            return MEANINGS[node.func.id](*map(self._term, node.args))
        raise NotLinear(f"the size {ast.unparse(node)} is not known")
