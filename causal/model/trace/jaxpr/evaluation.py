"""A recorded program run on numbers: with other parameters than those it closes over, or in double precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

from .calls import called, carried
from .walk import walked

SCATTERS = {
    "scatter": lax.scatter, "scatter-add": lax.scatter_add, "scatter-mul": lax.scatter_mul,
    "scatter-min": lax.scatter_min, "scatter-max": lax.scatter_max,
}  # fmt: skip


class CannotWiden(Exception):
    """The program cannot be run in double precision."""


def wide_type(dtype: Any) -> Any:
    """The double-precision type of a real or complex number format; any other as it is."""
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return np.dtype(np.complex128)
    return np.dtype(np.float64) if jnp.issubdtype(dtype, jnp.floating) else dtype


def wider(x: Any) -> Any:
    """The array in double precision, where it holds real or complex numbers."""
    wide = wide_type(x.dtype)
    return x if wide is x.dtype or wide == x.dtype else x.astype(wide)


class Evaluation:
    """Runs closed jaxprs on arrays; `instead` holds, by its address, what stands for an array that one closes over.

    `wide`: every real and complex number is of double precision, whatever the program asks for (under `enable_x64`).
    """

    def __init__(self, wide: bool = False, instead: Mapping[int, Any] | None = None) -> None:
        self.wide, self.instead = wide, instead or {}

    def closed(self, closed: Any, arguments: Sequence[Any]) -> list[Any]:
        """The results of a jaxpr that brings its constants, or has none. Raises CannotWiden."""
        return walked(closed, arguments, self._constant, self._equation)

    def _constant(self, value: Any, aval: Any) -> Any:
        if id(value) in self.instead:
            return self.instead[id(value)]
        if not self.wide:
            return value
        return wider(
            value
            if hasattr(value, "astype")
            else np.asarray(value, getattr(value, "dtype", getattr(aval, "dtype", None)))
        )

    def _equation(self, equation: Any, given: list[Any]) -> list[Any]:
        name, params = equation.primitive.name, equation.params
        body = called(equation)
        if body is not None and name != "shard_map":
            return self.closed(body, given)
        if name in ("cond", "while", "scan"):
            return list(getattr(self, f"_{name}")(params, given))
        if self.wide:
            given, params = self._widened(equation, given)
        if name in SCATTERS and self.wide:
            kept = {k: v for k, v in params.items() if not k.startswith("update_")}
            found = SCATTERS[name](*given, **kept)
        else:
            bound = equation.primitive.get_bind_params(params)
            functions, kept = bound if isinstance(bound, tuple) else ((), bound)  # releases of JAX differ
            found = equation.primitive.bind(*functions, *given, **kept)
        results = list(found) if equation.primitive.multiple_results else [found]
        return [wider(r) for r in results] if self.wide else results

    def _widened(self, equation: Any, given: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The operands and parameters of an equation in double precision; CannotWiden where that is another program."""
        name, params = equation.primitive.name, dict(equation.params)
        if equation.effects or "callback" in name or name in ("pallas_call", "reduce_precision", "ffi_call"):
            raise CannotWiden(f"{name} cannot be run in float64")
        if name == "bitcast_convert_type":
            if jnp.issubdtype(given[0].dtype, jnp.inexact):
                raise CannotWiden("the model reads the bits of a float; it cannot be run in float64")
            return given, params  # whole numbers, as random bits, that become a float of their own size
        return given, {k: wide_type(v) if isinstance(v, np.dtype) else v for k, v in params.items()}

    # -- control ------------------------------------------------------------------------------------------------------

    def _cond(self, params: Mapping[str, Any], given: list[Any]) -> Any:
        which, *rest = given
        return lax.switch(which, [partial(self._body, branch) for branch in params["branches"]], *rest)

    def _body(self, closed: Any, *given: Any) -> list[Any]:
        return self.closed(closed, given)

    def _while(self, params: Mapping[str, Any], given: list[Any]) -> Any:
        first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        tested, held, state = given[:first], given[first:second], given[second:]

        def going(state: list[Any]) -> Any:
            return self.closed(params["cond_jaxpr"], [*tested, *state])[0]

        def after(state: list[Any]) -> list[Any]:
            return self.closed(params["body_jaxpr"], [*held, *state])

        def apart(state: list[Any]) -> list[Any]:
            go = going(state)
            pairs = zip(after(state), state, strict=True)
            return [jnp.where(go.reshape(go.shape + (1,) * (old.ndim - go.ndim)), new, old) for new, old in pairs]

        if params["cond_jaxpr"].out_avals[0].shape:  # a loop under vmap: each goes on as long as its own truth says
            return lax.while_loop(lambda state: going(state).any(), apart, state)
        return lax.while_loop(going, after, state)

    def _scan(self, params: Mapping[str, Any], given: list[Any]) -> Any:
        consts, carries = carried(params)
        held, state, rows = given[:consts], given[consts : consts + carries], given[consts + carries :]

        def step(state: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
            results = self.closed(params["jaxpr"], [*held, *state, *row])
            return results[:carries], results[carries:]

        state, outputs = lax.scan(step, state, rows, params["length"], params["reverse"])
        return [*state, *outputs]
