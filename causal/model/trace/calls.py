"""One call of a PyTorch operation, as a rule sees it: its arguments by name, their shadows, and what a rule may
report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .domain import BIG, BIG_MASK, FIXED, MASKED, NEGINF, Array, Shadow, align, compress
from .ledger import ALIKE, CERTAIN, NOISE, TWO_MASKS, WEAK
from .pytree import tensors_of
from .shadows import Shadows, geometry_of, look, shape_of, unknown

if TYPE_CHECKING:
    from .ledger import Ledger
    from .schema import Info
    from .transfer.context import Operand

STREAMS = "each element of a draw that takes as many random numbers as its values ask for has a stream of its own"


class TorchOperand:
    """A tensor argument of the call at hand (see `registry.Operand`)."""

    __slots__ = ("_ledger", "_shadows", "memory", "shadow", "shape", "value")

    def __init__(self, shadows: Shadows, ledger: Ledger, tensor: torch.Tensor) -> None:
        self._shadows, self._ledger, self.value = shadows, ledger, tensor
        self.shape = shape_of(tensor)
        self.memory = shadows.memory_of(tensor)
        self.shadow = shadows.of(tensor)

    def known(self) -> Shadow:
        """The shadow with every constant looked at."""
        if (self.shadow.kind == FIXED).any():
            numbers = self._shadows.numbers(self.value)
            if numbers is None:  # a constant whose number was not computed: it may be any
                self._ledger.want("a constant among data")
                self.shadow = unknown(self.shadow)
                return self.shadow
            self.shadow = look(self.shadow, numbers, self._shadows.finite_masks)
            if not self._shadows.has_values and (self.shadow.kind == BIG).any():
                self._weigh(numbers)
            if (self.shadow.kind >= NEGINF).any():
                self._ledger.values_of(self.memory)
            if self.memory is not None and not self.memory.exposed:
                self.memory.remember(geometry_of(self.value), self.shadow)
        return self.shadow

    def _weigh(self, numbers: torch.Tensor) -> None:
        """A mask that may be too weak is to be tried on a run."""
        weakest = float(torch.where(numbers <= BIG_MASK, numbers, -math.inf).max())
        if weakest > -math.inf:
            self._ledger.mask_seen(weakest)
        if weakest > CERTAIN:
            self._ledger.want(WEAK)

    def array(self) -> Array:
        """The numbers of the concrete run, on the host; formats that NumPy lacks become float64."""
        value = self._shadows.array(self.value, self.shadow).detach().resolve_conj().resolve_neg().cpu()
        try:
            return value.numpy()
        except TypeError:
            return value.double().numpy()


class TorchCall:
    """One call of an operation (see `registry.Call`)."""

    def __init__(
        self, shadows: Shadows, ledger: Ledger, info: Info, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        self.shadows, self.ledger = shadows, ledger
        self.info, self.args, self.kwargs = info, args, kwargs
        self.name = info.name
        self.value: Any = None
        self.notes: Sequence[Any] = ()  # what `frames` knows of the results
        self.form: Any = None  # what `cancelling` knows of the result
        self.picks: Sequence[Any] = ()  # the bounds of the results, where those are indices
        self.killed = False  # an exact zero removed a dependency: the result may be a zero of either sign
        self.factor = 1.0  # what the rule multiplied by numbers that a mask lowered, at the least
        self._operands: dict[int, TorchOperand] = {}
        self._flat: list[TorchOperand] | None = None

    def __getitem__(self, name: str) -> Any:
        if name in self.kwargs:
            return self._wrap(self.kwargs[name])
        where = self.info.positions[name]
        if where < len(self.args):
            return self._wrap(self.args[where])
        return self.info.defaults[name]

    def has(self, name: str) -> bool:
        """Whether the schema has an argument of this name."""
        return name in self.info.positions

    def _wrap(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            found = self._operands.get(id(value))
            if found is None:
                found = self._operands[id(value)] = TorchOperand(self.shadows, self.ledger, value)
            return found
        if isinstance(value, (list, tuple)):
            return [self._wrap(v) for v in value]
        return value

    def operands(self) -> list[TorchOperand]:
        """Every tensor argument, lists flattened."""
        if self._flat is None:
            self._flat = [self._wrap(t) for t in tensors_of((list(self.args), dict(self.kwargs)))]
        return self._flat

    def raw(self, name: str) -> Any:
        """The argument as the program gave it, None where it gave none."""
        if name in self.kwargs:
            return self.kwargs[name]
        where = self.info.positions[name]
        return self.args[where] if where < len(self.args) else None

    def sources(self) -> tuple[frozenset[str], frozenset[str]]:
        """The parameters whose zeros make the zeros of the results, and those whose values make their constants."""
        zeros: frozenset[str] = frozenset()
        values: frozenset[str] = frozenset()
        for memory in (o.memory for o in self.operands() if self.shadows.stored and o.memory is not None):
            zeros, values = zeros | memory.sources, values | memory.valued
        facts = self.info.facts
        keeps = facts.moves or (facts.zero_from_zero and not ((zeros or values) and self._makes_zeros()))
        return (zeros, values) if keeps else (frozenset(), zeros | values)

    def _makes_zeros(self) -> bool:
        """Whether a result is 0 where no operand is."""
        if any(self.has(name) and _is_zero(self[name]) for name in ("self", "other")):
            return False  # all is 0, whatever the parameters hold
        given = [o.value for o in self.operands() if not any(o.value is self.raw(name) for name in self.info.written)]
        if not isinstance(self.value, torch.Tensor) or any(_is_scattered(t) for t in [self.value, *given]):
            return True
        if not all(_fills(t.shape, self.value.shape) for t in given):
            return True
        if not self.shadows.has_values and not all(o.shadow.is_fixed for o in self.operands()):
            return False  # no number was looked at
        value, *numbers = (self.shadows.numbers(t) for t in [self.value, *given])
        if value is None or any(n is None for n in numbers):
            return True
        made = value == 0
        for tensor in numbers:
            made = made & (tensor != 0)
        return bool(made.any())

    def signed(self) -> bool:
        """Whether a zero among the results may have either sign: 0 · x is −0 for x < 0."""
        killed = self.killed and not all(o.shadow.is_fixed for o in self.operands())
        return killed or any(o.memory is not None and o.memory.signed for o in self.operands())

    def made(self, node: int) -> dict[str, Any]:
        """What the memory of the results is told of the operation, a node of the flow (see `Shadows.assign`)."""
        return {"sources": self.sources(), "signed": self.signed(), "scaled": self.scaled(), "node": node}

    def scaled(self) -> float:
        """What results that a mask lowered were multiplied by since, at the least."""
        known = ((o.memory.scaled, o.shadow) for o in self.operands() if o.memory is not None)
        return self.factor * min((s for s, shadow in known if s < 1 and (shadow.kind == MASKED).any()), default=1.0)

    def steers(self, operand: TorchOperand) -> bool:
        """Whether the operand's values decide how large the results are, where any do."""
        facts = self.info.facts
        if facts.shaped_by_masks:
            given = self[facts.shaped_by_masks]
            among = operand in given if isinstance(given, list) else operand is given
            return among and operand.value.dtype in (torch.bool, torch.uint8)
        return not facts.shaped_by or operand is self[facts.shaped_by]

    def replay(self, *arrays: Any) -> Any:
        """The same operation with the tensor arguments replaced, in order, by `arrays` (torch tensors)."""
        supply = iter(arrays)

        def swap(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return next(supply)
            if isinstance(value, (list, tuple)):
                return type(value)(swap(v) for v in value)
            return value

        return self.info.function(*(swap(a) for a in self.args), **{k: swap(v) for k, v in self.kwargs.items()})

    @property
    def finite_masks(self) -> bool:
        """Whether large negative numbers may stand in for −∞."""
        return self.shadows.finite_masks

    @property
    def last(self) -> int:
        """The largest rank of the chosen input."""
        return self.shadows.last

    def assign(self, operand: TorchOperand, shadow: Shadow) -> None:
        """The operation writes this into an operand, although its schema does not say so."""
        self.shadows.assign(operand.value, shadow)

    def zeros_used(self, *operands: Operand) -> None:
        """Zeros of these operands removed a dependency."""
        self.killed = True
        for operand in operands:
            self.ledger.zeros_of(_own(operand).memory)

    def values_used(self, *operands: Operand) -> None:
        """The outputs' dependencies rest on what these operands hold, zero or not."""
        for operand in operands:
            self.ledger.values_of(_own(operand).memory)

    def masked_zero(self, where: Array, constant: float | None = None, value: Any = None, alone: bool = False) -> Array:
        """Of the outputs in `where`, those that are exactly 0 in the concrete run; records the condition.

        `value`: what to look at instead of the operation's (first) output, or how to compute it. `alone`: each output
        follows from its own input, so that the condition is on the masked values themselves and not on the gap to a
        visible one.
        """
        if value is None:
            value = self.value[0] if isinstance(self.value, (tuple, list)) else self.value
        if not self.finite_masks or not where.any() or not (isinstance(value, torch.Tensor) or callable(value)):
            return np.zeros((1,) * max(where.ndim, 1), bool)
        if not self.shadows.has_values:
            return self._untried(where, constant, alone)
        value = value() if callable(value) else value
        where = np.broadcast_to(align(where, value.dim()), value.shape)
        nonzero = torch.from_numpy(where.copy()).to(value.device) & (value != 0)
        if bool(nonzero.any()):
            self.ledger.want(WEAK)
            where = where & ~nonzero.cpu().numpy()
        if where.any():
            self.finite_mask(value, constant, alone)
        return compress(where)

    def _untried(self, where: Array, constant: float | None, alone: bool) -> Array:
        """All of them, in a run without values: a condition that was not tried."""
        value = self.value[0] if isinstance(self.value, (tuple, list)) else self.value
        self.finite_mask(value, constant, alone)
        return compress(where)

    def masked_below(self, scores: Operand, masked: Array, axes: Sequence[int]) -> bool:
        """Whether every score in `masked` lies 104 or more below the largest other one over `axes`, in the concrete
        run; records the condition where it does.
        """
        result = self.value[0] if isinstance(self.value, (tuple, list)) else self.value
        if not self.shadows.has_values:
            self.finite_mask(result)
            return True
        value = _own(scores).value.double()
        where = torch.from_numpy(np.array(np.broadcast_to(masked, scores.shape))).to(value.device)
        best = value.masked_fill(where, -math.inf).amax(tuple(axes), keepdim=True)
        if not bool(((value <= best - 104) | ~where | (best == -math.inf)).all()):
            return False
        self.finite_mask(result)
        return True

    def masked_alike(self, scores: Operand, masked: Array, axes: Sequence[int]) -> bool:
        """Whether all scores in `masked` are one number for each row over `axes`, in the concrete run: that of a mask
        so large that a score adds nothing to it. Records the condition where they are.
        """
        if not self.shadows.has_values:
            self.ledger.want(ALIKE)
            return False
        value = _own(scores).value
        where = torch.from_numpy(np.array(np.broadcast_to(masked, scores.shape))).to(value.device)
        least = value.masked_fill(~where, math.inf).amin(tuple(axes), keepdim=True)
        size = value.masked_fill(where, 0).abs().nan_to_num(posinf=0.0).max().clamp(min=1.0)  # of a visible score
        if not bool(((value == least) & (value + size == value) & (value - size == value) | ~where).all()):
            return False
        self.finite_mask(value, alone=True)
        return True

    def masked_under(
        self, scores: Operand, masked: Array, axis: int, some: bool = False, weights: bool = False
    ) -> bool:
        """Whether every score in `masked` lies below every other one along the axis (or `some` other one), in the
        concrete run; records the condition where it does. `weights`: the masked ones are 0, and no others are below.
        """
        own = _own(scores).value
        if self.shadows.has_values:
            where = torch.from_numpy(np.array(np.broadcast_to(masked, scores.shape))).to(own.device)
            filled = own.masked_fill(where, -math.inf if some else math.inf)
            least = filled.amax(axis, keepdim=True) if some else filled.amin(axis, keepdim=True)
            alone = where.all(axis, keepdim=True)  # a row in which there is nothing else
            if not bool(((own < least) | ~where | alone).all()):
                return False
        dtype = str(own.dtype).removeprefix("torch.")
        self.ledger.masked_under(self.name, dtype, some, weights, self.shadows.has_values)
        return True

    def finite_mask(self, result: torch.Tensor, constant: float | None = None, alone: bool = False) -> None:
        """A large finite number stood in for −∞: records the condition, in the number format of `result`."""
        dtype = str(result.dtype).removeprefix("torch.")
        self.ledger.finite_mask(self.name, dtype, constant, alone, self.shadows.has_values)

    def mask_seen(self, number: float) -> None:
        """A large negative number, or a large one that is taken away, may come to stand in for −∞."""
        self.ledger.mask_seen(number)
        if number > CERTAIN:
            self.ledger.want(WEAK)

    def still_masks(self, factor: float) -> bool:
        """Where there are values, what becomes of it is looked at; elsewhere, whether the mask stays a large number. A
        run with values is asked for where it may be too weak.
        """
        self.factor = min(self.factor, factor)
        weakest = self.ledger.scales_to(self.scaled())
        if weakest > CERTAIN:
            self.ledger.want(WEAK)
        return self.shadows.has_values or weakest <= BIG_MASK

    def must_be_finite(self, operand: Operand) -> None:
        """Exact zeros kill numbers of this operand, which holds for finite ones only."""
        value = _own(operand).value
        if self.shadows.has_values and value.is_floating_point() and not bool(value.isfinite().all()):
            where = torch.from_numpy(np.array(operand.shadow.kind < FIXED)).to(value.device)
            if bool((~value.isfinite() & where).any()):
                self.ledger.broken(self.name)

    def masked_twice(self) -> None:
        """Two finite masks were added, which a run with values may find to be −∞."""
        self.ledger.want(TWO_MASKS)

    def nonzero_denominator(self) -> None:
        """An exact 0 is divided by a value that is taken not to be 0; records the condition."""
        self.ledger.nonzero_denominator(self.name)

    def starved(self, rows: Array) -> None:
        """Softmax rows (boolean, any shape) in which nothing is visible."""
        if rows.any():
            self.ledger.starved(self.name, rows)

    def noise(self, steered: bool = False) -> None:
        """The outputs hold fresh random numbers; `steered`: as many were drawn as the values asked for."""
        self.ledger.assume(NOISE)
        if steered:
            self.ledger.assume(STREAMS)


def _own(operand: Operand) -> TorchOperand:
    assert isinstance(operand, TorchOperand)  # every operand that a binding hands over came from its call
    return operand


def _is_zero(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex)) and value == 0


def _is_scattered(tensor: torch.Tensor) -> bool:
    return tensor.is_nested or tensor.layout is not torch.strided


def _fills(shape: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether a tensor of this shape broadcasts to the whole."""
    pairs = zip(reversed(shape), reversed(whole), strict=False)
    return len(shape) <= len(whole) and all(n in (1, m) for n, m in pairs)
