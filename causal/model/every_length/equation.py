"""One equation of a program whose sizes are symbols, as a rule sees it, and what a rule may ask of its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from . import integers
from .formats import name_of
from .integers import TRUE, solver
from .shadow import LengthShadow, moved, total

if TYPE_CHECKING:
    from ..trace.ledger import Ledger
    from .dims import Sizes
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
    def dims(self) -> Sizes:
        """The sizes that are symbols."""
        ...

    @property
    def last(self) -> Term:
        """The last position, and the last rank."""
        ...

    def rank(self, position: Term) -> Term:
        """The rank of a position, by which this run orders them."""
        ...

    @property
    def ledger(self) -> Ledger:
        """What was found."""
        ...

    def uniform(self, number: Any, shape: tuple[Size, ...], dtype: Any) -> LengthShadow:
        """One number everywhere."""
        ...

    def closed(self, closed: Any, arguments: Sequence[LengthShadow]) -> list[LengthShadow]:
        """The results of an inner program."""
        ...


class Equation:
    """One equation, as a rule sees it: an operation by its `name` in JAX, whichever library recorded it.

    `shapes` and `dtypes` are those of the results; `said` is what a person calls the operation.
    """

    def __init__(
        self,
        run: Run,
        name: str,
        params: Mapping[str, Any],
        operands: Sequence[LengthShadow],
        shapes: Sequence[tuple[Size, ...]],
        dtypes: Sequence[Any],
        operand_types: Sequence[Any],
        said: str = "",
        effects: bool = False,
    ) -> None:
        self.run, self.name, self.params, self.operands = run, name, params, list(operands)
        self.shapes, self.dtypes, self.operand_types = list(shapes), list(dtypes), list(operand_types)
        self.said, self.effects = said or name, effects

    @property
    def shape(self) -> tuple[Size, ...]:
        """The shape of the (first) result."""
        return self.shapes[0]

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
        """A size as the program writes it."""
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
            self.run.ledger.nonzero_denominator(self.said)

    def finite_mask(self, alone: bool) -> None:
        """A condition: the lowered scores are low enough here."""
        self.run.ledger.finite_mask(self.said, name_of(self.operand_types[0]), None, alone, tried=False)
