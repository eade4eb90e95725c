"""How many tokens there are, told by the tables that they index, directly or after slices, shifts and offsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax.extend.core import Literal

from ..trace.jaxpr.calls import called

if TYPE_CHECKING:
    from ..trace.jaxpr.frontend import Recording

KEEPS = {
    "reshape", "broadcast_in_dim", "squeeze", "transpose", "slice", "dynamic_slice", "rev", "concatenate", "pad",
    "convert_element_type", "select_n", "add", "sub", "max", "min", "clamp", "rem", "copy", "copy_p", "gather",
    "expand_dims", "stop_gradient",
}  # fmt: skip


def tokens_of(recording: Recording) -> int | None:
    """The rows of the smallest table that tokens index, None where there is none."""
    jaxpr = recording.program.jaxpr
    marked = [given.role == "input" for given in recording.given]
    found: list[int] = []
    _followed(jaxpr, marked, found)
    return min(found, default=None)


def _followed(jaxpr: Any, marked: Sequence[bool], found: list[int]) -> list[bool]:
    """Which results of a jaxpr are tokens, given which of its arguments are; the sizes of tables go to `found`."""
    tokens = {v for v, is_token in zip(jaxpr.invars, marked, strict=True) if is_token}

    def among(variables: Sequence[Any]) -> list[bool]:
        return [not isinstance(v, Literal) and v in tokens for v in variables]

    for equation in jaxpr.eqns:
        given, name = among(equation.invars), equation.primitive.name
        if not any(given):
            continue
        body = called(equation)
        if body is not None:
            results = _followed(getattr(body, "jaxpr", body), given, found)
        else:
            results = [name in KEEPS and jnp.issubdtype(v.aval.dtype, jnp.integer) for v in equation.outvars]
            found.extend(_rows(equation, given))
        tokens.update(v for v, is_token in zip(equation.outvars, results, strict=True) if is_token)
    return among(jaxpr.outvars)


def _rows(equation: Any, given: Sequence[bool]) -> Iterator[int]:
    """The size of the axis that tokens choose from, where an equation takes them for places."""
    if equation.primitive.name == "gather" and given[1] and not given[0]:
        table = equation.invars[0].aval.shape
        yield from (table[axis] for axis in equation.params["dimension_numbers"].start_index_map)
