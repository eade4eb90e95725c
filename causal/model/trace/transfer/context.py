"""What a transfer function may ask of the run that it is part of, and must tell it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..domain import Array, Shadow


class Operand(Protocol):
    """A tensor argument, whatever library it comes from."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        ...

    @property
    def shadow(self) -> Shadow:
        """The shadow, constants possibly not looked at (kind FIXED)."""
        ...

    def known(self) -> Shadow:
        """The shadow with every constant looked at: no element is of kind FIXED."""
        ...

    def array(self) -> Array:
        """The numbers of the concrete run, on the host; they speak for every run only where the shadow is fixed."""
        ...


Number = int | float | complex | bool


class Context(Protocol):
    """The run. A claim that rests on more than the shadows is told here, so that the verdict names what it rests on."""

    @property
    def finite_masks(self) -> bool:
        """Whether large negative numbers may stand in for −∞."""
        ...

    @property
    def last(self) -> int:
        """The largest rank of the chosen input."""
        ...

    def zeros_used(self, *operands: Operand) -> None:
        """Zeros of these operands removed a dependency (they may be a parameter's)."""
        ...

    def values_used(self, *operands: Operand) -> None:
        """A dependency was left out because of what these operands hold, zero or not."""
        ...

    def masked_zero(self, where: Array, *, constant: float | None = None, alone: bool = False) -> Array:
        """Of the output's elements in `where`, those that are exactly 0 in the concrete run; records the condition.

        `alone`: each output follows from its own input, so that the condition is on the masked values themselves and
        not on the gap to a visible one.
        """
        ...

    def masked_below(self, scores: Operand, masked: Array, axes: Sequence[int]) -> bool:
        """Whether in the concrete run every score in `masked` lies so far below the largest other one over `axes` that
        its exponential counts for nothing beside it; records the condition where it does.
        """
        ...

    def masked_alike(self, scores: Operand, masked: Array, axes: Sequence[int]) -> bool:
        """Whether in the concrete run all scores in `masked` are one number for each row over `axes`, that of the mask,
        to which the score adds nothing; records the condition where they are.
        """
        ...

    def mask_seen(self, number: float) -> None:
        """A large negative number, or a large one that is taken away, may come to stand in for −∞."""
        ...

    def still_masks(self, factor: float) -> bool:
        """Whether a score that a mask lowered, times this factor above 0, may be taken for a lowered one; the run is
        told that masks are no longer what their numbers say.
        """
        ...

    def must_be_finite(self, operand: Operand) -> None:
        """Exact zeros kill numbers of this operand, which holds for finite ones only."""
        ...

    def nonzero_denominator(self) -> None:
        """An exact 0 is divided by a value that is taken not to be 0; records the condition."""
        ...

    def starved(self, rows: Array) -> None:
        """Softmax rows (boolean, any shape) in which nothing is visible."""
        ...

    def noise(self, steered: bool = False) -> None:
        """The outputs hold fresh random numbers; `steered`: as many were drawn as the values asked for."""
        ...
