"""Which tensors are indices that lie within known bounds, and what each operation makes of it (see `transfer.picks`).

Kept beside the shadows, as notes of each memory that any write to it drops. An operation that is not named here leaves
no bounds: what is missing costs precision alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .domain import BIG, FIXED, MASKED, NEGINF, PLAIN, POSITIVE, ZERO, Array, Shadow, align, uniform
from .instead import Instead
from .shadows import geometry_of
from .sharing import as_list
from .transfer import picks
from .transfer.elementwise import assemble, known

if TYPE_CHECKING:
    from .calls import TorchCall, TorchOperand
    from .ledger import Ledger
    from .transfer.picks import Bounds

ORDERED = {"aten.sort", "aten.topk", "aten.argmax", "aten.argmin", "aten.max", "aten.min"}
COMPARED = {f"aten.{name}": name for name in picks.COMPARED}
ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "aten.add": np.add, "aten.sub": np.subtract, "aten.mul": np.multiply, "aten.floor_divide": np.floor_divide,
    "aten.maximum": np.maximum, "aten.minimum": np.minimum, "aten.clamp_min": np.maximum, "aten.clamp_max": np.minimum,
}  # fmt: skip
READING = {"aten.gather": "index", "aten.index_select": "index", "aten.embedding": "indices", "aten.index": "indices"}
WRITING = {"aten.scatter", "aten.scatter_add", "aten.scatter_reduce"}
CHOOSING = {"aten.where": ("self", "other", "condition"), "aten.masked_fill": ("value", "self", "mask")}
WHOLE = (torch.int64, torch.int32)
MOST = 1 << 27  # pairs of a place and a slot that are looked at one by one
UNKNOWN = "a constant among data"
TIES = "which of equal scores is taken does not depend on scores that a large finite mask lowered"


@dataclass(frozen=True)
class Last:
    """What is known of rows that are put in order: which elements come after all others, in which rows (axis kept) the
    others are above 0, and whether some of the last vary.
    """

    last: Array
    above_zero: Array
    varies: bool = False


def bounds_of(operand: TorchOperand) -> Bounds | None:
    """What is kept of an operand."""
    memory = operand.memory
    if memory is None or memory.exposed or not memory.picks or operand.value.is_neg():
        return None
    found = memory.picks.get(geometry_of(operand.value))
    return found if isinstance(found, Shadow) else None


class Picks:
    """The bounds of one run."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def follow(self, call: TorchCall, outputs: Sequence[torch.Tensor], shadows: list[Shadow]) -> list[Shadow]:
        """The shadows of the results, sharper where an index is bounded; its own bounds are left in `call.picks`."""
        if call.name in ORDERED:
            return self._put_in_order(call, outputs, shadows)
        if not any(o.memory is not None and o.memory.picks for o in call.operands()):  # nearly always
            return shadows
        if call.name in READING and shadows:
            return [self._read(call, shadows[0]), *shadows[1:]]
        if call.name in WRITING and shadows:
            return [self._written(call, shadows[0])]
        if len(outputs) == 0 or any(t.dtype not in (*WHOLE, torch.bool) for t in outputs):
            return shadows
        call.picks = self._made(call, outputs)
        truth = call.picks[0] if call.name in COMPARED and call.picks else None
        return shadows if truth is None or not shadows else [picks.decided(shadows[0], truth)]

    def keep(self, call: TorchCall, tensors: Sequence[torch.Tensor]) -> None:
        """What was found of the results holds of these tensors, to which they were written; or of views."""
        for tensor, found in zip(tensors, call.picks, strict=False):
            memory = call.shadows.memory_of(tensor)
            if found is not None and memory is not None and not tensor.is_neg() and found.shape == tuple(tensor.shape):
                memory.picks[geometry_of(tensor)] = found

    # -- where bounds begin -----------------------------------------------------------------------------------------

    def _put_in_order(self, call: TorchCall, outputs: Sequence[torch.Tensor], shadows: list[Shadow]) -> list[Shadow]:
        """A row put in order, or the first of one."""
        x, name = call.operands()[0], call.name.removeprefix("aten.")
        axes = len(x.shape)
        dim = call["dim"] if call.has("dim") else None
        if dim is None or not axes or not shadows or x.shape[int(dim) % axes] == 0:
            return shadows
        axis = int(dim) % axes
        if name == "sort":
            largest, ordered, slots = bool(call["descending"]), True, x.shape[axis]
        elif name == "topk":
            largest, ordered, slots = bool(call["largest"]), bool(call["sorted"]), int(call["k"])
        else:
            largest, ordered, slots = name in ("max", "argmax"), True, 1
        found = self._last(call, x, axis, slots == 1 and largest)
        last, k = found.last, np.asarray(x.shadow.kind)
        parted = picks.in_slots(last, x.shape, axis, slots, largest, ordered)
        bounds, lowest = picks.in_order(last, x.shape, axis, slots, largest, ordered)
        values: Shadow | None = None
        places: Shadow | None = None
        if last.any():
            shape = (*x.shape[:axis], slots, *x.shape[axis + 1 :])
            values, places = picks.read_by(parted, x.shadow, last, shape)
            if found.varies and not (name == "sort" and call.has("stable") and call["stable"]):
                self.ledger.assume(TIES)
        if name in ("sort", "topk"):
            call.picks = [None, bounds]
            if values is None or places is None:
                return shadows
            first = picks.both_hold(shadows[0], values)
            first = picks.with_kinds(first, lowest, picks.kind_of(k, last, axis))
            first = picks.with_kinds(first, parted.above & ~parted.mixed & found.above_zero, POSITIVE)
            return [first, picks.both_hold(shadows[1], places), *shadows[2:]]
        if not call["keepdim"]:
            bounds, places = (None if b is None else _dropped(b, axis) for b in (bounds, places))
        call.picks = [bounds] if name in ("argmax", "argmin") else [None, bounds]
        if places is None:
            return shadows
        return [*shadows[:-1], picks.both_hold(shadows[-1], places)]

    def _is_known(self, x: TorchOperand) -> bool:
        """Whether what may be −∞ is: constants whose number was not computed may be."""
        x.known()
        return bool(x.value.is_floating_point()) and not self.ledger.without_value and UNKNOWN not in self.ledger.wanted

    def _last(self, call: TorchCall, x: TorchOperand, axis: int, one: bool) -> Last:
        """Which elements come after all others in a row: those that are −∞, or that a large finite mask lowered, or
        zeros among numbers above 0. `one`: it is enough that some other one of each row comes before them.
        """
        none: Array = np.zeros((1,) * len(x.shape), bool)
        if not self._is_known(x):
            return Last(none, none)
        k = np.asarray(x.known().kind)
        hidden, low = k == NEGINF, (k == MASKED) | (k == BIG)
        above = _above_zero(x, k)
        if not call.finite_masks:
            return Last(hidden, none)
        last = hidden
        if low.any() and call.masked_under(x, low | hidden, axis, some=one):
            last = low | hidden
        varies = bool((last & (np.asarray(x.shadow.hi) >= np.asarray(x.shadow.lo)) & (k < FIXED)).any())
        weights = (above | (k == ZERO)).all(axis, keepdims=True)
        zero = weights & (k == ZERO) & above.any(axis, keepdims=True)
        if zero.any() and call.masked_under(x, zero, axis, some=one, weights=True):
            last = last | zero
        if last.any() and (above & (k == PLAIN)).any():
            call.values_used(x)
        rest = (above | last).all(axis, keepdims=True)
        return Last(last, rest, varies)

    # -- what becomes of them ---------------------------------------------------------------------------------------

    def _made(self, call: TorchCall, outputs: Sequence[torch.Tensor]) -> Sequence[Bounds | None]:
        """The bounds of whole numbers made of some that are bounded."""
        name, shape = call.name, tuple(outputs[0].shape)
        if name in COMPARED:
            pair = self._pair(call, "self", "other")
            return [] if pair is None else [picks.compared(COMPARED[name], *pair, shape)]
        if name in ("aten.where", "aten.masked_fill"):
            first, second, truth = CHOOSING[name]
            pair = self._pair(call, first, second)
            return [] if pair is None else [picks.either(*pair, self._bounds(call, truth), shape)]
        if name in ARITHMETIC:
            if outputs[0].dtype not in WHOLE or (call.has("alpha") and call["alpha"] != 1):
                return []
            pair = self._pair(call, "self", next(a for a in ("other", "min", "max") if call.has(a)))
            if pair is None or (name == "aten.floor_divide" and int(pair[1].lo.min()) < 1):
                return []
            return [picks.corners(ARITHMETIC[name], *pair, shape)]
        if name == "aten._to_copy":
            return [self._bounds(call, "self")] if outputs[0].dtype in WHOLE else []
        return self._moved(call, outputs) if call.info.facts.moves else []

    def _moved(self, call: TorchCall, outputs: Sequence[torch.Tensor]) -> Sequence[Bounds | None]:
        """Whatever moves elements moves their bounds."""
        operands, rule = call.operands(), call.info.rule
        known = [self._of_tensor(call, o) for o in operands]
        if rule is None or any(b is None for b in known) or any(o.value.dtype != outputs[0].dtype for o in operands):
            return []
        instead = {o: b for o, b in zip(operands, known, strict=True) if b is not None}
        found = as_list(rule.function(Instead(call, instead)))
        return [picks.bounds(b.shape, np.asarray(b.lo), np.asarray(b.hi)) for b in found]

    def _pair(self, call: TorchCall, *names: str) -> tuple[Bounds, Bounds] | None:
        """The bounds of two arguments, where both have some."""
        first, second = (self._bounds(call, name) for name in names)
        return None if first is None or second is None else (first, second)

    def _bounds(self, call: TorchCall, name: str) -> Bounds | None:
        value = call[name]
        if isinstance(value, int):  # a truth value, too
            return picks.exactly(np.asarray(int(value)))
        return self._of_tensor(call, value) if hasattr(value, "memory") else None

    def _of_tensor(self, call: TorchCall, operand: TorchOperand) -> Bounds | None:
        """What is kept of an operand, or its numbers where it is constant."""
        found = bounds_of(operand)
        if found is not None or operand.value.dtype not in (*WHOLE, torch.bool) or not operand.shadow.is_fixed:
            return found
        numbers = call.shadows.numbers(operand.value)
        if numbers is None:
            return None
        call.values_used(operand)
        return picks.exactly(numbers.detach().cpu().numpy())

    # -- reading and writing ----------------------------------------------------------------------------------------

    def _read(self, call: TorchCall, shadow: Shadow) -> Shadow:
        """What is read at a bounded index depends on that, and on what stands between the bounds."""
        x = call["weight" if call.name == "aten.embedding" else "self"]
        found = self._index(call, x)
        if found is None or call.info.rule is None:
            return shadow
        index, axis, within = found
        rule = call.info.rule.function
        table, *ends = picks.windows(x.shadow, axis, within)
        fixed = uniform(index.shape, FIXED)
        parts = [as_list(rule(Instead(call, {x: table, index: fixed}, {index: places})))[0] for places in ends]
        return picks.both_hold(
            shadow, picks.joined(as_list(rule(Instead(call, {x: picks.nothing(x.shape)})))[0], *parts)
        )

    def _index(self, call: TorchCall, x: TorchOperand) -> tuple[TorchOperand, int, Bounds] | None:
        """The one index that is open, the axis that it goes along, and bounds that lie within that."""
        given = call[READING[call.name]]
        if isinstance(given, list):
            open_ = [(axis, i) for axis, i in enumerate(given) if i is not None and not i.shadow.is_fixed]
            if len(open_) != 1 or any(i is not None and i.value.dtype not in WHOLE for i in given):
                return None
            axis, index = open_[0]
        else:
            index, axis = given, int(call["dim"]) % max(1, len(x.shape)) if call.has("dim") else 0
        within = bounds_of(index)
        if within is None or not x.shape or index.shadow.is_fixed or not index.shape:
            return None
        if int(within.lo.min()) < 0 or int(within.hi.max()) >= x.shape[axis]:
            return None
        return index, axis, within

    def _written(self, call: TorchCall, shadow: Shadow) -> Shadow:
        """What a write at a bounded index cannot hit is as it was."""
        x, index = call["self"], call["index"]
        within = bounds_of(index)
        if within is None or len(within.shape) != len(x.shape) or not x.shape:
            return shadow
        axis = int(call["dim"]) % len(x.shape)
        sizes = zip(within.lo.shape, within.hi.shape, x.shape, strict=True)
        if any(a != axis and {n, m} - {1, size} for a, (n, m, size) in enumerate(sizes)):
            return shadow
        exact = self._exactly_written(call, within, axis)
        if exact is not None:
            return picks.both_hold(exact, shadow)
        hit, before = picks.touched(within, axis, x.shape), x.known()
        pairs = ((shadow.lo, before.lo), (shadow.hi, before.hi), (shadow.kind, before.kind))
        return assemble(x.shape, *(np.where(hit, np.asarray(after), np.asarray(old)) for after, old in pairs))

    def _exactly_written(self, call: TorchCall, within: Bounds, axis: int) -> Shadow | None:
        """What each place depends on, where that is not too much work to be followed slot by slot."""
        x, index = call["self"], call["index"]
        source = call["src"] if call.has("src") else call["value"]
        alike = [a == axis or n == m for a, (n, m) in enumerate(zip(index.shape, x.shape, strict=True))]
        shape = getattr(source, "shape", index.shape)
        if not all(alike) or shape != index.shape or index.shape[axis] * math.prod(x.shape) > MOST:
            return None
        s = known(call, source)
        s = Shadow(index.shape, *(align(a, len(shape)) for a in (s.lo, s.hi, s.kind)))
        result, over = picks.written(x.known(), within, index.shadow, s, axis)
        if over.any():
            call.zeros_used()  # of either sign
        return result


def _above_zero(x: TorchOperand, k: Array) -> Array:
    """Which elements of these kinds are above 0, whether they vary or are constants; constants beside zeros only."""
    if not (k == ZERO).any() or not (k == PLAIN).any():
        return np.asarray(k == POSITIVE)
    return np.asarray((k == POSITIVE) | ((k == PLAIN) & (np.asarray(x.array(), np.float64) > 0)))


def _dropped(shadow: Shadow, axis: int) -> Shadow:
    """Without an axis of size 1."""
    kept = (*shadow.shape[:axis], *shadow.shape[axis + 1 :])
    return Shadow(kept, *(np.asarray(a).squeeze(axis) for a in (shadow.lo, shadow.hi, shadow.kind)))
