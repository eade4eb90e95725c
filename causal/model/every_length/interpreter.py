"""Walks over the equations of a jaxpr whose sizes are symbols, with a shadow for every length beside every array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..trace.jaxpr.calls import called
from ..trace.jaxpr.places import Places
from ..trace.jaxpr.walk import walked
from . import control, indexing  # noqa: F401
from .equation import Equation
from .formats import WHOLE, is_signed, is_truth, sort_of
from .run import LengthRun
from .shadow import LengthShadow, constant

if TYPE_CHECKING:
    from .dims import Dims


@dataclass
class JaxRun(LengthRun):
    """One run over a jaxpr; `held` names the parameters that it closes over, by their addresses."""

    dims: Dims
    places: Places = field(default_factory=Places)
    held: Mapping[int, str] = field(default_factory=dict)

    def parameter(self, aval: Any) -> LengthShadow:
        """Any numbers, the same in both runs."""
        return LengthShadow(self.dims.shape(aval.shape))

    def constant(self, value: Any, aval: Any) -> LengthShadow:
        """A number or array that stands in the program."""
        if id(value) in self.held:
            return self.parameter(aval)
        shape, dtype = self.dims.shape(aval.shape), aval.dtype
        if not isinstance(dtype, np.dtype) or any(not isinstance(d, int) for d in shape):
            return constant(shape)
        numbers = np.asarray(value)
        if numbers.size and (numbers == numbers.reshape(-1)[0]).all():
            return self.uniform(numbers.reshape(-1)[0].item(), shape, dtype)
        if numbers.size and sort_of(dtype) == WHOLE and (is_truth(dtype) or is_signed(dtype)):
            return self.listed(numbers, shape)
        return constant(shape)

    def closed(self, closed: Any, arguments: Sequence[LengthShadow]) -> list[LengthShadow]:
        """The results of a jaxpr that brings its constants, or has none."""
        return walked(closed, arguments, self.constant, self.equation)

    def equation(self, equation: Any, operands: Sequence[LengthShadow]) -> list[LengthShadow]:
        """The results of one equation."""
        body = called(equation)
        with self.places.at(equation):
            if body is not None and equation.primitive.name != "shard_map":
                return self.closed(body, operands)
            return self.follow(self._read(equation, operands))

    def _read(self, equation: Any, operands: Sequence[LengthShadow]) -> Equation:
        return Equation(
            self,
            equation.primitive.name,
            equation.params,
            operands,
            [self.dims.shape(getattr(v.aval, "shape", ())) for v in equation.outvars],
            [getattr(v.aval, "dtype", None) for v in equation.outvars],
            [getattr(v.aval, "dtype", None) for v in equation.invars],
            effects=bool(equation.effects),
        )
