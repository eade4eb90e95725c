"""One equation of a jaxpr whose sizes are symbols, as a rule sees it, and what a rule may ask of its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from . import integers
from .integers import TRUE, solver
from .shadow import LengthShadow, moved, total

if TYPE_CHECKING:
    from ..trace.ledger import Ledger
    from .dims import Dims
    from .integers import Statements, Term
    from .shadow import Size


class Unfollowed(ValueError):
    """An operation whose dependencies are not followed, with the reason."""


class Run(Protocol):
    """The run that an equation is part of (see `interpreter.LengthRun`)."""

    @property
    def statements(self) -> Statements:
        """What is known of the length."""
        ...

    @property
    def dims(self) -> Dims:
        """The sizes that are symbols."""
        ...

    @property
    def last(self) -> Term:
        """The last position."""
        ...

    @property
    def ledger(self) -> Ledger:
        """What was found."""
        ...

    def closed(self, closed: Any, arguments: Sequence[LengthShadow]) -> list[LengthShadow]:
        """The results of an inner program."""
        ...


class Equation:
    """One equation, as a rule sees it."""

    def __init__(self, run: Run, equation: Any, operands: Sequence[LengthShadow]) -> None:
        self.run, self.equation, self.operands = run, equation, list(operands)
        self.name: str = equation.primitive.name
        self.params: Mapping[str, Any] = equation.params

    @cached_property
    def shapes(self) -> list[tuple[Size, ...]]:
        """The shapes of the results."""
        return [self.run.dims.shape(getattr(v.aval, "shape", ())) for v in self.equation.outvars]

    @property
    def shape(self) -> tuple[Size, ...]:
        """The shape of the (first) result."""
        return self.shapes[0]

    @cached_property
    def dtypes(self) -> list[Any]:
        """The number formats of the results."""
        return [getattr(v.aval, "dtype", None) for v in self.equation.outvars]

    @cached_property
    def operand_types(self) -> list[Any]:
        """The number formats of the operands."""
        return [getattr(v.aval, "dtype", None) for v in self.equation.invars]

    @cached_property
    def operand_shapes(self) -> list[tuple[Size, ...]]:
        """The shapes of the operands."""
        return [x.shape for x in self.operands]

    @cached_property
    def aligned(self) -> list[LengthShadow]:
        """The operands in the shape of the result: single numbers are stretched."""
        return [x if x.shape else moved(x, self.shape, []) for x in self.operands]

    @property
    def statements(self) -> Statements:
        """What is known of the length."""
        return self.run.statements

    @property
    def last(self) -> Term:
        """The last position."""
        return self.run.last

    def size(self, size: Any) -> Size:
        """A size of JAX's."""
        return self.run.dims.size(size)

    def everything(self, shape: Sequence[Size] | None = None) -> LengthShadow:
        """What may depend on all that some operand depends on, and more."""
        return total(self.shape if shape is None else shape, self.operands, self.last)

    def sees_sign(self) -> None:
        """Unfollowed where an operand may be a zero of either sign."""
        if any(x.signed for x in self.operands):
            raise Unfollowed("tells +0 from −0, where a product of an exact 0 may be either")

    def divides(self, x: LengthShadow, divided: LengthShadow | None = None) -> None:
        """The operand must not be a constant zero of either sign; an exact 0 divided by it, not 0 at all."""
        if x.signed and not solver.is_false(integers.either(x.zero, x.fixed)):
            raise Unfollowed("tells +0 from −0, where a product of an exact 0 may be either")
        if divided is not None and not solver.is_false(divided.zero) and not x.positive.eq(TRUE):
            self.run.ledger.nonzero_denominator(self.name)

    def finite_mask(self, alone: bool) -> None:
        """A condition: the lowered scores are low enough here."""
        self.run.ledger.finite_mask(self.name, str(self.operand_types[0]), None, alone, tried=False)
