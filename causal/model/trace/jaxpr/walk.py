"""The walk over a jaxpr, whatever stands for its arrays: shadows of one length or of all, or numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from jax.extend.core import Literal

Value = TypeVar("Value")


def walked(
    closed: Any,
    arguments: Sequence[Value],
    constant: Callable[[Any, Any], Value],
    equation: Callable[[Any, list[Value]], Sequence[Value]],
) -> list[Value]:
    """The results of a jaxpr that brings its constants, or has none.

    `constant` makes a value of a number or array that stands in the program (with its abstract value), `equation` those
    of an equation's results.
    """
    jaxpr = getattr(closed, "jaxpr", closed)
    consts = [constant(c, v.aval) for c, v in zip(getattr(closed, "consts", ()), jaxpr.constvars, strict=True)]
    held: dict[Any, Value] = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *arguments), strict=True))

    def read(v: Any) -> Value:
        return constant(v.val, v.aval) if isinstance(v, Literal) else held[v]

    for e in jaxpr.eqns:
        held.update(zip(e.outvars, equation(e, [read(v) for v in e.invars]), strict=True))
    return [read(v) for v in jaxpr.outvars]
