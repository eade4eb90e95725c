"""Rows that data choose: `nonzero` of a mask, in a run without values.

How many rows are chosen depends on data. The run answers with every place of the mask, and whatever is made of them is
a frame of its own (`transfer.frames`): its rows are those of a superset, of which the program has the chosen ones. A
function of rows does not feel which others are there; where the rows are written or added at their own places, each
item comes or does not, as its mask says. That is theorem T25 with an injection in the place of the permutation.

Nothing else may touch such a tensor, since it has another shape than in the program: an operation of which it is not
known that it goes row by row (no note is left of its results), a shape that Python asks for, a result that is returned.
There the run ends, as it would have at the `nonzero`. Operations are followed only within functions of PyTorch that
Python called where this could be seen: no script, operator of others, mode, index, profiler or graph of a gradient can
read a shape unseen, and no handler takes the failure of a function that another number of rows makes fail.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from .domain import VARIES, join_all, uniform
from .failures import REFUSED, caught
from .frames import Note
from .mode import Mode
from .records import BY_VALUES
from .registry import names
from .shadows import PLAIN_TYPES, geometry_of
from .transfer import frames
from .transfer.frames import Frame
from .twins import META, flat

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from .calls import TorchCall, TorchOperand
    from .domain import Shadow
    from .frames import Frames
    from .ledger import Ledger
    from .schema import Info
    from .shadows import Shadows
    from .transfer.frames import Rows

    Aside = Callable[[], AbstractContextManager[None]]
    Asks = Callable[[], bool]

MOST = 1 << 24  # places of a mask that are looked at one by one
STARTS = {"nonzero", "where", "argwhere", "__getitem__", "__setitem__", "index_put", "index_put_", "masked_select"}
# what a tensor is asked that does not tell how many rows it has
ASKED = {"dim", "ndimension", "is_floating_point", "is_complex", "is_signed", "element_size", "get_device"}
ATTRIBUTES = {
    getattr(torch.Tensor, name).__get__
    for name in ("ndim", "requires_grad", "is_leaf", "itemsize", "grad", "grad_fn", "is_cpu", "is_cuda", "is_meta",
                 "is_sparse", "is_quantized", "is_nested")
}  # fmt: skip
OURS = {"torch", __name__.partition(".")[0]}
PLAIN = (torch.dtype, torch.device, torch.layout)
SIMPLE = {
    bool, int, float, complex, str, type(None), type(...), torch.memory_format, torch.Generator, *PLAIN, *PLAIN_TYPES,
}  # fmt: skip
IN_C = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType, MethodWrapperType)
# functions of PyTorch, written in Python, that call what they compute with and ask for no number of rows
IN_PYTHON = {
    "softmax", "log_softmax", "relu", "relu6", "leaky_relu", "elu", "selu", "celu", "silu", "mish", "glu", "hardswish",
    "hardsigmoid", "hardtanh", "softsign", "tanhshrink", "layer_norm", "rms_norm", "dropout", "embedding", "split",
    "norm", "__rsub__", "__rpow__", "__rdiv__", "__rtruediv__", "__rfloordiv__",
}  # fmt: skip
OWN_SIZES = {"linear", "matmul", "__matmul__", "flatten"}  # whose views have the sizes of what they are given
SIZED = names("view _unsafe_view _reshape_copy view_copy reshape expand expand_copy")
SQUEEZED = names("squeeze squeeze_copy")
EXPANDED = names("expand expand_copy")
# what a function may do beside its chosen rows: these keep sizes, or name one
BESIDE = names("t transpose permute select slice unsqueeze squeeze alias detach _to_copy lift_fresh")
COPIES = names("clone _to_copy view_copy _unsafe_view _reshape_copy view")  # by `reshape` and the like, as rows lie
MASKED = names("index index_put index_put_ _unsafe_index_put masked_select")


class Chosen:
    """The choices of one run. `current`: the function of PyTorch that Python called, where that was seen."""

    def __init__(self, ledger: Ledger, shadows: Shadows, stepping_aside: Aside, is_suppressing: Asks) -> None:
        self.ledger, self.shadows = ledger, shadows
        self.stepping_aside, self.is_suppressing = stepping_aside, is_suppressing
        self.is_on = False  # something was chosen
        self.current = ""
        self._given = False  # it was given chosen rows
        self._fits = False  # the sizes of a view that is about to be made follow from what is viewed
        self._hooks = _hooks()
        self._begun = ("", "")  # what the first of them was, and where

    # -- what ends the run -------------------------------------------------------------------------------------------

    def end(self) -> NoReturn:
        """How many rows there are may come to matter."""
        self.ledger.need(*self._begun)

    def leaves(self, values: Sequence[torch.Tensor]) -> None:
        """The program returns these, or shows them to Python: in the shape that they have."""
        if self.is_on and self.among(values) is not None:
            self.end()

    def among(self, values: Any) -> Frame | None:
        """The frame of the chosen rows among some values; of several, none can be followed."""
        found: Frame | None = None
        for value in flat(values):
            memory = self.shadows.memory_of(value) if isinstance(value, torch.Tensor) else None
            if memory is not None and memory.chosen is not None:
                if found not in (None, memory.chosen):
                    self.end()
                found = memory.chosen
        return found

    def followed(self, info: Info, args: Any, kwargs: Any, notes: Frames, run: Callable[..., Any]) -> Any:
        """Run an operation, of which it must be seen, where it is given chosen rows, that it goes row by row."""
        frame = self.among((args, kwargs)) if self.is_on else None
        if frame is None:
            if self._given and info.name not in BESIDE:
                self.end()  # it may be given a size that the function took from chosen rows
            return run(info, args, kwargs)
        if torch.is_grad_enabled() or not self._may_run(info, args, kwargs):
            self.end()  # the nodes of a graph know the sizes of what they were given
        notes.came_home = False
        value = run(info, args, kwargs)
        results = list(flat(value))
        if not results or not all(self._keeps(info, frame, notes.came_home, result) for result in results):
            self.end()
        if info.name in COPIES:
            self._loosen((args, value))
        return value

    def _may_run(self, info: Info, args: Any, kwargs: Any) -> bool:
        facts = info.facts
        if not self.current or facts.reads or facts.silent or info.undeclared or info.moves_itself or info.is_random:
            return False
        sized = info.dynamic and not facts.shaped_by_masks
        if sized or (info.rule is None and info.functional is None) or (info.written and not info.functional):
            return False
        if info.name not in (*SIZED, *SQUEEZED):
            return True
        rows, axes = self._rows(args[0]), args[0].dim()
        if rows is None:
            return False
        if info.name in SQUEEZED:
            given = [*args[1:], *kwargs.values()]
            return bool(given) and rows.axis not in [int(d) % axes for d in flat(given)]
        sizes = list(args[1] if len(args) > 1 else kwargs.get("size", ()))
        if info.name in EXPANDED:
            return bool(sizes[rows.axis + len(sizes) - axes] == -1)
        return self._fits or _leaves_open(rows.axis, tuple(args[0].shape), sizes)

    def _keeps(self, info: Info, frame: Frame, came_home: bool, result: Any) -> bool:
        """Whether a result has its rows in the frame, or is a tensor of another kind where these were put."""
        memory = self.shadows.memory_of(result) if isinstance(result, torch.Tensor) else None
        if memory is None:
            return False
        rows = self._rows(result)
        if rows is None or rows.frame is not frame:
            return came_home and memory.chosen is None
        if memory.chosen is None and info.written:
            return False  # others may know it as something else
        memory.chosen = memory.chosen or frame
        return memory.chosen is frame

    def _loosen(self, values: Any) -> None:
        """A copy of these may be none, or the other way round, where there are fewer rows: nobody may write there."""
        for value in flat(values):
            memory = self.shadows.memory_of(value) if isinstance(value, torch.Tensor) else None
            if memory is not None and memory.chosen is not None:
                memory.is_loose, memory.is_apart = True, False

    # -- functions that Python calls -----------------------------------------------------------------------------------

    def seen(self, func: Any, args: Any, kwargs: Any, call: Callable[..., Any]) -> Any:
        """Call a function of PyTorch, and look at what it tells of chosen rows."""
        before = self.current, self._given, self._fits
        name = _named(func)
        if (self.is_on or name in STARTS) and not (self._is_unseen() and _are_plain((args, kwargs))):
            if self.is_on:
                self.end()
            name = ""
        self.current, self._given, self._fits = name, False, False
        try:
            if self.is_on:
                with self.stepping_aside():
                    self._look(func, name, args, kwargs)
            result = call(func, args, kwargs)
        finally:
            self.current, self._given, self._fits = before
        if self.is_on:
            with self.stepping_aside():
                self._told(func, name, args, kwargs, result)
        return result

    def _is_unseen(self) -> bool:
        """Whether no code of the program's runs while an operation does, nor a profiler: they see the sizes of all that
        it is given.
        """
        if _hooks() != self._hooks or torch._C._autograd._profiler_enabled():
            return False
        below = {type(mode).__module__.partition(".")[0] for mode in _get_current_function_mode_stack()}
        return below <= OURS and all(isinstance(mode, Mode) for mode in _get_current_dispatch_mode_stack())

    def _look(self, func: Any, name: str, args: Any, kwargs: Any) -> None:
        """A function is about to be called, while which nobody sees what the program asks of a tensor."""
        if not (name or _is_own(func)):
            self.end()
        self._given = self.among((args, kwargs)) is not None
        if self._given:
            if not name or self._is_caught():
                self.end()
            self._fits = self._keeps_sizes(args, kwargs)

    def _is_caught(self) -> bool:
        """Whether the program would see that a function fails, as it may for another number of rows."""
        return self.is_suppressing() or caught(REFUSED)

    def _told(self, func: Any, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """A function has told this of what it was given; what wraps a tensor, and has no memory, may be chosen rows."""
        given = [v for v in flat((args, kwargs)) if isinstance(v, torch.Tensor)]
        chosen = self.among(given) is not None
        if (chosen or any(self.shadows.memory_of(t) is None for t in given)) and self._tells(func, name, result):
            self.end()
        if chosen and not name.endswith("_") and any(result is t for t in given):
            self._loosen(result)
        elif chosen and (name == "contiguous" or "memory_format" in kwargs):
            self.end()  # it may be the very tensor that it was given, where there is but one row

    def _tells(self, func: Any, name: str, result: Any) -> bool:
        """Whether a result may say how many rows there are."""
        if all(isinstance(v, torch.Tensor) for v in flat(result)) or isinstance(result, PLAIN):
            return False
        asked = name in ASKED or func in ATTRIBUTES or (result is None and name == "__setitem__")
        return not asked

    def _keeps_sizes(self, args: Any, kwargs: Any) -> bool:
        """Whether the views that a function makes have the number of rows that there are."""
        if self.current not in ("view", "reshape"):
            return self.current in OWN_SIZES
        sizes = list(flat((args[1:], kwargs)))
        rows = self._rows(args[0]) if args else None
        if rows is None or not all(type(v) is int for v in sizes):
            return False
        return _leaves_open(rows.axis, tuple(args[0].shape), sizes)

    def _rows(self, tensor: Any) -> Rows | None:
        """How the rows of a tensor stand; None where that is not known."""
        memory = self.shadows.memory_of(tensor) if isinstance(tensor, torch.Tensor) else None
        if memory is None or memory.exposed or tensor.is_neg() or tensor.is_conj():
            return None
        found = memory.notes.get(geometry_of(tensor))
        return found.rows if isinstance(found, Note) else None

    # -- where choices begin -------------------------------------------------------------------------------------------

    def begins(self, call: TorchCall) -> bool:
        """Whether the places of a mask can stand for those that will be chosen."""
        return call.name == "aten.nonzero" and self._can_begin(call.operands()[0])

    def _can_begin(self, mask: TorchOperand) -> bool:
        memory, size = mask.memory, math.prod(mask.shape)
        if self.shadows.has_values or self.current not in STARTS or mask.shadow.is_fixed or self._is_caught():
            return False
        plain = memory is not None and not memory.exposed and memory.chosen is None
        return plain and 2 <= size <= MOST and not mask.value.is_neg() and not mask.value.is_conj()

    def _frame(self, mask: TorchOperand, how: str) -> Frame:
        """The frame of a mask's places, the same until the mask is written."""
        memory, geometry = mask.memory, geometry_of(mask.value)
        assert memory is not None
        if not self.is_on:
            self._begun = f"{how} {BY_VALUES}", self.ledger.places.line()
        self.is_on = True
        note = memory.notes.get(geometry, Note())
        if note.chosen is None:
            lo, hi = (np.broadcast_to(np.asarray(a), mask.shape).reshape(-1) for a in (mask.shadow.lo, mask.shadow.hi))
            frame = Frame(math.prod(mask.shape), object(), lo, hi, is_choice=True)
            note = memory.notes[geometry] = replace(note, chosen=frame)
        found: Frame = note.chosen
        return found

    def places(self, call: TorchCall, node: Callable[[Sequence[Shadow]], int]) -> torch.Tensor:
        """What `nonzero` returns."""
        (mask,) = call.operands()
        self._frame(mask, call.name)
        return self._made(mask, np.stack(np.unravel_index(np.arange(math.prod(mask.shape)), mask.shape), 1), node)

    def _made(self, mask: TorchOperand, columns: np.ndarray, node: Callable[[Sequence[Shadow]], int]) -> torch.Tensor:
        """A tensor of places, for each item a row or a number."""
        frame = self._frame(mask, "")
        value = torch.empty(columns.shape, dtype=torch.int64, device=META)
        shadow = uniform(columns.shape, VARIES, *join_all([mask.shadow]))
        self.shadows.assign(value, shadow, node=node([shadow]))
        memory = self.shadows.memory_of(value)
        assert memory is not None
        memory.chosen = frame
        one = columns if columns.ndim == 1 else columns[:, 0] if columns.shape[1] == 1 else None
        several = columns if columns.ndim > 1 else None
        memory.notes[geometry_of(value)] = Note(rows=frames.constant(frame, one), columns=several)
        return value

    def instead(self, call: TorchCall, node: Callable[[Sequence[Shadow]], int]) -> Callable[[], Any] | None:
        """An operation that names its places by a mask, as PyTorch brings it about by those places."""
        if call.name == "aten.masked_select":
            x, mask = call["self"], call["mask"]
            if x.shape != mask.shape or not self._can_begin(mask):
                return None
            return partial(torch.ops.aten.index.Tensor, x.value, self._columns(call, mask, node))
        given = call["indices"]
        masks = [i for i in given if i is not None and i.value.dtype == torch.bool and not i.shadow.is_fixed]
        reads = call.name == "aten.index"
        if not masks or not all(map(self._can_begin, masks)) or not (reads or self.among(call.args[2]) is not None):
            return None
        indices: list[Any] = []
        for i in given:
            indices += [None] if i is None else self._columns(call, i, node) if i in masks else [i.value]
        return partial(call.info.function, call.args[0], indices, *call.args[2:])

    def _columns(
        self, call: TorchCall, mask: TorchOperand, node: Callable[[Sequence[Shadow]], int]
    ) -> list[torch.Tensor]:
        """The places of a mask, a tensor for each of its axes."""
        self._frame(mask, call.name)
        places = np.unravel_index(np.arange(math.prod(mask.shape)), mask.shape)
        return [self._made(mask, column, node) for column in places]


def _leaves_open(axis: int, shape: tuple[int, ...], sizes: Sequence[int]) -> bool:
    """Whether the size of an axis is left open where a tensor is viewed in another shape.

    >>> _leaves_open(0, (6, 4), [-1, 2, 2]), _leaves_open(0, (6, 4), [6, -1]), _leaves_open(1, (1, 6, 4), [-1, 4])
    (True, False, True)
    """
    known = -math.prod(sizes)
    if sizes.count(-1) != 1 or known <= 0:
        return False
    whole = tuple(math.prod(shape) // known if size == -1 else size for size in sizes)
    at = frames.axis_after_reshape(axis, shape, whole)
    return at is not None and sizes[at] == -1


def _hooks() -> tuple[Any, Any]:
    """What Python runs at each call."""
    return sys.gettrace(), sys.getprofile()


def _named(func: Any) -> str:
    """The name of a function of PyTorch's own that calls back nothing of the program; "" for others."""
    name = str(getattr(func, "__name__", "")).partition(".")[0]
    if isinstance(func, FunctionType):
        return name if _is_own(func) and name in IN_PYTHON else ""
    if isinstance(func, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return name if str(func).startswith("aten.") else ""
    return name if isinstance(func, IN_C) else ""


def _is_own(func: Any) -> bool:
    """Whether it is one of PyTorch's functions, which is written in Python and runs nothing but what it is given."""
    own = ("torch.nn.functional", "torch.functional", "torch._tensor")
    return isinstance(func, FunctionType) and func.__module__ in own and func.__name__ != "backward"


def _are_plain(values: Any) -> bool:
    """Whether arguments run no code of the program's when they are taken for numbers, indices or lists."""
    for value in values.values() if type(values) is dict else values:
        kind = type(value)
        if kind in (list, tuple, dict, torch.Size):
            if not _are_plain(value):
                return False
        elif kind is slice:
            if not _are_plain((value.start, value.stop, value.step)):
                return False
        elif kind not in SIMPLE and kind.__module__ != "numpy":
            return False
    return True
