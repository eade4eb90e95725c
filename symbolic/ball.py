"""Evaluating an expression in another arithmetic: FLINT balls here, any with the same few functions elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy
from flint import arb, fmpq
from sympy import Add, Expr, Mul, Pow, Rational

from .exact import Undecidable, exact
from .precision import precision

FUNCTIONS = {"exp", "log", "sqrt", "sinh", "cosh", "tanh"}


def evaluate(
    expression: Expr,
    rational: Callable[[int, int], Any],
    function: Callable[[str, Any], Any],
    values: Mapping[Expr, Any],
) -> Any:
    """The value of an expression, given how to write a rational p/q and how to apply a function by its name.

    `values` gives the symbols. Raises Undecidable for a node that is neither arithmetic nor one of FUNCTIONS.
    """

    def walk(node: Expr) -> Any:
        if node in values:
            return values[node]
        if isinstance(node, Rational):
            return rational(int(node.p), int(node.q))
        if node is sympy.E:
            return function("exp", rational(1, 1))
        if isinstance(node, (Add, Mul)):
            parts = [walk(child) for child in node.args]
            total = parts[0]
            for part in parts[1:]:
                total = total + part if isinstance(node, Add) else total * part
            return total
        if isinstance(node, Pow):
            base, power = node.args
            if power.is_Integer:
                return walk(base) ** int(power) if power > 0 else rational(1, 1) / walk(base) ** int(-power)
            if isinstance(power, Rational) and power.q == 2:
                root = function("sqrt", walk(base)) ** abs(int(power.p))
                return root if power > 0 else rational(1, 1) / root
            return function("exp", walk(power) * function("log", walk(base)))
        name = type(node).__name__
        if name in FUNCTIONS:
            return function(name, walk(node.args[0]))
        raise Undecidable(
            f"{node} cannot be evaluated; give it a value or rewrite it with {', '.join(sorted(FUNCTIONS))}"
        )

    return walk(expression)


def enclosure(expression: Any, bits: int = 64, values: Mapping[Expr, Any] | None = None) -> arb:
    """A FLINT ball that contains the value of a constant expression, worked at `bits` bits of precision.

    `values` gives the symbols: rationals or balls. The working precision is set for this call only.

    >>> enclosure(sympy.E, 64).contains(arb("2.71828"))
    False
    >>> enclosure(sympy.E, 64).overlaps(arb("2.718281828459045235", "1e-18"))
    True
    """
    given: dict[Expr, arb] = {
        key: value if isinstance(value, arb) else arb(fmpq(*map(int, exact(value).as_numer_denom())))
        for key, value in (values or {}).items()
    }
    with precision(bits):
        given.setdefault(sympy.pi, arb.pi())
        ball: arb = evaluate(exact(expression), lambda p, q: arb(fmpq(p, q)), lambda name, x: getattr(x, name)(), given)
        return ball
