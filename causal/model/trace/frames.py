"""Which tensors stand in an order that depends on data, and what each operation makes of it (see `transfer.frames`).

Kept beside the shadows, as notes of each memory that any write to it drops. An operation that is not named here leaves
no note, and its results keep the ordinary shadow, which joins every row: so what is missing here costs precision alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from .domain import ZERO, Shadow
from .picks import bounds_of
from .pytree import tensors_of
from .registry import names
from .shadows import geometry_of
from .transfer import frames

if TYPE_CHECKING:
    from .calls import TorchCall, TorchOperand
    from .domain import Array
    from .ledger import Ledger
    from .transfer.frames import Frame, Rows

ALONG_AN_AXIS = names("gather index_select scatter scatter_add scatter_reduce index_add index_copy")
POINTWISE = "aten.pointwise"  # stands for every operation that says so of itself
EXACT = 2**24  # up to here, single precision holds every whole number
CHOSEN = (
    "a row is computed alike whichever others stand beside it, and sums do not depend on the order of additions: rows "
    "that data choose, as the tokens of an expert, are put back where they came from"
)
ALIKE = (
    "a row is computed alike wherever it stands among others, and sums do not depend on the order of additions: rows "
    "sorted by a key that follows from data, as tokens by their expert, are put back where they came from"
)


@dataclass(frozen=True, eq=False)
class Counts:
    """How many numbers of a key are 0, 1, …, all of them counted; `ends`: summed up, so that each is a group's end."""

    key: object
    ends: bool = False


@dataclass(frozen=True, eq=False)
class Note:
    """What is known of one tensor.

    `rows`: its rows stand in a frame. `inverse`: it says for each item of a frame in which slot that stands, in
    row-major order. `counts`: how often each number occurs in a key. `span`: its numbers are whole, and lie between
    these two. `key`: it holds the numbers of this key, in whatever order; `same`: the numbers of this name, in
    row-major order. `equals`: it says where the numbers of a name, in this shape, are this one. `chosen`: the frame of
    the places where it is not 0, in row-major order; `columns`: its numbers, in the rows of such a frame.
    """

    rows: Rows | None = None
    inverse: Frame | None = None
    counts: Counts | None = None
    span: tuple[int, int] | None = None
    key: object = None
    same: object = None
    equals: tuple[object, tuple[int, ...], int] | None = None
    chosen: Frame | None = None
    columns: Array | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return all(getattr(self, part.name) is None for part in fields(self))


NOTHING = Note()
Step = Callable[["About"], Note | Sequence[Note] | Shadow]  # a shadow where rows came home
Made = TypeVar("Made", bound=Step)
STEPS: dict[str, Step] = {}


def step(text: str) -> Callable[[Made], Made]:
    """Register what operations of PyTorch, named in a text, make of their operands' notes."""

    def register(function: Made) -> Made:
        STEPS.update(dict.fromkeys(names(text), function))
        return function

    return register


class Frames:
    """The notes of one run."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.came_home = False  # the call at hand put rows where they came from

    def of(self, operand: TorchOperand) -> Note:
        """What is known of an operand."""
        memory, tensor = operand.memory, operand.value
        if memory is None or memory.exposed or not memory.notes or tensor.is_neg() or tensor.is_conj():
            return NOTHING
        found = memory.notes.get(geometry_of(tensor), NOTHING)
        return found if isinstance(found, Note) else NOTHING

    def is_within(self, call: TorchCall, operand: TorchOperand) -> bool:
        """Whether an operand is an index that lies within the axis that it goes along, whatever the input."""
        if call.name not in ALONG_AN_AXIS or operand is not call["index"]:
            return False
        span, shape = self.of(operand).span, call["self"].shape
        return span is not None and bool(shape) and 0 <= span[0] <= span[1] < shape[int(call["dim"]) % len(shape)]

    def note(self, call: TorchCall, tensor: torch.Tensor, note: Note) -> None:
        """This is known of a tensor until it is written next."""
        memory = call.shadows.memory_of(tensor)
        if memory is not None and not (tensor.is_neg() or tensor.is_conj()):
            memory.notes[geometry_of(tensor)] = note

    def keep(self, call: TorchCall, tensors: Sequence[torch.Tensor]) -> None:
        """What was found of the results holds of these tensors, to which they were written; or of views."""
        if all(note.is_empty for note in call.notes):  # nearly always
            return
        for tensor, result, note in zip(tensors, tensors_of(call.value), call.notes, strict=False):
            if not note.is_empty and tensor.dtype == result.dtype:
                self.note(call, tensor, note)

    def follow(self, call: TorchCall, outputs: Sequence[torch.Tensor], shadows: list[Shadow]) -> list[Shadow]:
        """The shadows of the results, sharper where rows came home; what is known of them is left in `call.notes`."""
        found = STEPS.get(call.name) or (STEPS[POINTWISE] if call.info.facts.pointwise else None)
        if found is None or not outputs or call.info.is_random:
            return shadows
        result = found(About(self, call, outputs))
        if isinstance(result, Shadow):
            self.came_home = True
            memories = [o.memory for o in call.operands() if o.memory is not None]
            self.ledger.assume(ALIKE if all(m.chosen is None for m in memories) else CHOSEN)
            return [result, *shadows[1:]]
        notes = [result] * len(outputs) if isinstance(result, Note) else result
        call.notes = [_fitting(note, tensor) for note, tensor in zip(notes, outputs, strict=True)]
        return shadows


def _fitting(note: Note, tensor: torch.Tensor) -> Note:
    """The note, without rows that are not as many as the tensor has."""
    rows = note.rows
    fits = rows is None or (rows.axis < tensor.dim() and tensor.shape[rows.axis] == rows.frame.size)
    return note if fits else replace(note, rows=None)


@dataclass(frozen=True)
class About:
    """The call at hand, with what is known of its operands."""

    frames: Frames
    call: TorchCall
    outputs: Sequence[torch.Tensor]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the first result."""
        return tuple(self.outputs[0].shape)

    def note(self, operand: Any) -> Note:
        """What is known of an operand; of anything else, nothing."""
        return self.frames.of(operand) if hasattr(operand, "memory") else NOTHING

    def rows(self, operand: Any, axis: int | None = None) -> Rows | None:
        """How an operand's rows stand, if they do so along this axis (counted from the front)."""
        found = self.note(operand).rows
        return found if found is not None and axis in (None, found.axis) else None

    def span(self, operand: TorchOperand) -> tuple[int, int] | None:
        """Between which whole numbers an operand lies."""
        note = self.note(operand)
        if note.rows is not None and note.rows.numbers is not None:
            return int(note.rows.numbers.min()), int(note.rows.numbers.max())
        if operand.value.is_floating_point() or operand.value.is_complex() or not operand.shadow.is_fixed:
            within = bounds_of(operand)
            if within is None or not within.lo.size:
                return note.span
            least, most = int(within.lo.min()), int(within.hi.max())
            return (least, most) if note.span is None else (max(least, note.span[0]), min(most, note.span[1]))
        numbers = self.call.shadows.numbers(operand.value)
        if numbers is None or not numbers.numel():
            return None
        self.call.values_used(operand)
        return int(numbers.min()), int(numbers.max())

    def is_uniform(self, operand: TorchOperand, axis: int) -> bool:
        """Whether all slices along an axis are the same, by geometry or as constants."""
        value = operand.value
        if axis < 0 or value.shape[axis] == 1:
            return True
        if value.layout is torch.strided and value.stride(axis) == 0:
            return True
        numbers = self.call.shadows.numbers(value) if operand.shadow.is_fixed else None
        if numbers is None or not bool((numbers == numbers.narrow(axis, 0, 1)).all()):
            return False
        if (operand.shadow.kind == ZERO).all():  # which asks for no more than that they stay zero
            self.frames.ledger.zeros_of(operand.memory)
        else:
            self.call.values_used(operand)
        return True

    def together(self, axes: Mapping[int, int], axis: int) -> Note:
        """A function of rows, the same in every slot: `axes` says along which axis of each operand (by its number
        among the operands) the slots lie, `axis` along which of the result. All of the others is read in every slot.
        """
        found = [
            (operand, along, self.rows(operand, along) if along >= 0 else None)
            for operand, along in ((o, axes.get(at, -1)) for at, o in enumerate(self.call.operands()))
        ]
        rows = [r for _, _, r in found if r is not None]
        if not rows or len({id(r.frame) for r in rows}) > 1:
            return NOTHING
        others = [(operand, along) for operand, along, r in found if r is None]
        if not all(self.is_alike(operand, along, rows[0].frame) for operand, along in others):
            return NOTHING
        return Note(rows=frames.together(rows, [operand.shadow for operand, _ in others], axis))

    def is_alike(self, operand: TorchOperand, axis: int, frame: Frame) -> bool:
        """Whether all slices along an axis (none below 0) are the same beside the rows of a frame, however many."""
        if not frame.is_choice:
            return self.is_uniform(operand, axis)
        chosen = operand.memory is None or operand.memory.chosen is not None
        return not chosen and (axis < 0 or operand.shape[axis] == 1)
