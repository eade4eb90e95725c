"""One call of a PyTorch operation, as a rule sees it: its arguments by name, their shadows, and what a rule may
report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .domain import BIG, BIG_MASK, FIXED, NEGINF, PLAIN, ZERO, Shadow, align, compress
from .memory import Geometry
from .pytree import leaves
from .records import MaskCondition
from .schema import Info

if TYPE_CHECKING:
    from .tracer import Tracer

NOISE = "random draws are the same in every run"
STREAMS = "each element of a draw that takes as many random numbers as its values ask for has a stream of its own"


class TorchOperand:
    """A tensor argument of the call at hand (see `registry.Operand`)."""

    __slots__ = ("_tracer", "memory", "shadow", "shape", "value")

    def __init__(self, tracer: Tracer, tensor: torch.Tensor) -> None:
        self._tracer, self.value = tracer, tensor
        self.shape = shape_of(tensor)
        self.memory = tracer.memory_of(tensor)
        self.shadow = tracer.shadow_of(tensor)

    def known(self) -> Shadow:
        """The shadow with every constant looked at."""
        if (self.shadow.kind == FIXED).any():
            self.shadow = look(self.shadow, self.value, self._tracer.finite_masks)
            if (self.shadow.kind >= NEGINF).any():
                self._tracer.values_of(self.memory)
            if self.memory is not None and not self.memory.exposed:
                self.memory.remember(geometry_of(self.value), self.shadow)
        return self.shadow

    def array(self) -> np.ndarray:
        """The numbers of the concrete run, on the host; formats that NumPy lacks become float64."""
        value = self.value.detach().resolve_conj().resolve_neg().cpu()
        try:
            return value.numpy()  # type: ignore[no-any-return]
        except TypeError:
            return value.double().numpy()  # type: ignore[no-any-return]


class TorchCall:
    """One call of an operation (see `registry.Call`)."""

    def __init__(self, tracer: Tracer, info: Info, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.tracer, self.info, self.args, self.kwargs = tracer, info, args, kwargs
        self.name = info.name
        self.value: Any = None
        self.killed = False  # an exact zero removed a dependency: the result may be a zero of either sign
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
                found = self._operands[id(value)] = TorchOperand(self.tracer, value)
            return found
        if isinstance(value, (list, tuple)):
            return [self._wrap(v) for v in value]
        return value

    def operands(self) -> list[TorchOperand]:
        """Every tensor argument, lists flattened."""
        if self._flat is None:
            found = (
                self._wrap(v) for _, v in leaves((list(self.args), dict(self.kwargs))) if isinstance(v, torch.Tensor)
            )
            self._flat = list(found)
        return self._flat

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
        return self.tracer.finite_masks

    @property
    def last(self) -> int:
        """The largest rank of the chosen input."""
        return self.tracer.last

    def zeros_used(self, *operands: TorchOperand) -> None:
        """Zeros of these operands removed a dependency."""
        self.killed = True
        for operand in operands:
            if operand.memory is not None:
                self.tracer.parameter_zeros |= operand.memory.sources
                self.tracer.parameter_values |= operand.memory.valued

    def values_used(self, *operands: TorchOperand) -> None:
        """The outputs' dependencies rest on what these operands hold, zero or not."""
        for operand in operands:
            self.tracer.values_of(operand.memory)

    def masked_zero(
        self, where: np.ndarray, constant: float | None = None, value: Any = None, alone: bool = False
    ) -> np.ndarray:
        """Of the outputs in `where`, those that are exactly 0 in the concrete run; records the condition.

        `value`: what to look at instead of the operation's (first) output. `alone`: each output follows from its own
        input, so that the condition is on the masked values themselves and not on the gap to a visible one.
        """
        if value is None:
            value = self.value[0] if isinstance(self.value, (tuple, list)) else self.value
        if not self.tracer.finite_masks or not where.any() or not isinstance(value, torch.Tensor):
            return np.zeros((1,) * max(where.ndim, 1), bool)
        where = np.broadcast_to(align(where, value.dim()), value.shape)
        nonzero = torch.from_numpy(where.copy()).to(value.device) & (value != 0)
        if bool(nonzero.any()):
            where = where & ~nonzero.cpu().numpy()
        if where.any():
            self.tracer.mask_condition(self.info.name, value.dtype, constant, alone)
        return compress(where)

    def masked_below(self, scores: TorchOperand, masked: np.ndarray, axes: Sequence[int]) -> bool:
        """Whether every score in `masked` lies 104 or more below the largest other one over `axes`, in the concrete
        run; records the condition where it does.
        """
        value = scores.value.double()
        where = torch.from_numpy(np.array(np.broadcast_to(masked, scores.shape))).to(value.device)
        best = value.masked_fill(where, -math.inf).amax(tuple(axes), keepdim=True)
        if not bool(((value <= best - 104) | ~where | (best == -math.inf)).all()):
            return False
        result = self.value[0] if isinstance(self.value, (tuple, list)) else self.value
        self.tracer.mask_condition(self.info.name, result.dtype, None)
        return True

    def must_be_finite(self, operand: TorchOperand) -> None:
        """Exact zeros kill numbers of this operand, which holds for finite ones only."""
        value = operand.value
        if value.is_floating_point() and not bool(value.isfinite().all()):
            where = torch.from_numpy(np.array(operand.shadow.kind < FIXED)).to(value.device)
            if bool((~value.isfinite() & where).any()):
                self.tracer.broken(self.info.name)

    def nonzero_denominator(self) -> None:
        """An exact 0 is divided by a value that is taken not to be 0; records the condition."""
        operation = self.tracer.operation(self.info.name)
        text = f"the denominator at {operation.line} is never 0"
        self.tracer.conditions.setdefault(
            ("nonzero-denominator", operation.line), MaskCondition("nonzero-denominator", operation, text)
        )

    def starved(self, rows: np.ndarray) -> None:
        """Softmax rows (boolean, any shape) in which nothing is visible."""
        if rows.any():
            operation = self.tracer.operation(self.info.name)
            self.tracer.starved.setdefault((operation.name, operation.module, operation.line), (operation, rows))

    def noise(self, steered: bool = False) -> None:
        """The outputs hold fresh random numbers; `steered`: as many were drawn as the values asked for."""
        self.tracer.assumptions.setdefault(NOISE)
        if steered:
            self.tracer.assumptions.setdefault(STREAMS)


def shape_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """The tensor's shape; () for a nested one, which has none."""
    return () if tensor.is_nested else tuple(tensor.shape)


def geometry_of(tensor: torch.Tensor) -> Geometry:
    """Where a tensor lies in its storage."""
    return Geometry(
        int(tensor.storage_offset()), tuple(tensor.shape), tensor.stride(), tensor.element_size(), str(tensor.dtype)
    )


def look(shadow: Shadow, value: torch.Tensor, finite_masks: bool) -> Shadow:
    """The shadow with its constants looked at: PLAIN, ZERO, NEGINF or BIG instead of FIXED."""
    value = value.detach().resolve_conj().resolve_neg()
    repeated = [a for a in range(value.dim()) if value.stride(a) == 0 and value.shape[a] > 1]
    for a in repeated:
        value = value.narrow(a, 0, 1)
    kinds = np.full(tuple(value.shape), PLAIN, np.uint8)
    if value.numel():
        zero = value == 0
        if bool(zero.any()):
            kinds[zero.cpu().numpy()] = ZERO
        if value.is_floating_point():
            low = value <= BIG_MASK
            if bool(low.any()):
                if finite_masks:
                    kinds[low.cpu().numpy()] = BIG
                kinds[(value == -math.inf).cpu().numpy()] = NEGINF
    return Shadow(shadow.shape, shadow.lo, shadow.hi, compress(np.where(shadow.kind == FIXED, kinds, shadow.kind)))


def cast(shadow: Shadow, old: torch.dtype, new: torch.dtype) -> Shadow:
    """The shadow after a change of type: constants are looked at again unless they are 0."""
    kind = shadow.kind
    if new.is_floating_point and old.is_floating_point:
        return shadow
    keep = (kind <= 0) | (kind == ZERO) | (kind == FIXED)
    return Shadow(
        shadow.shape, shadow.lo, shadow.hi, np.where(keep, kind, np.where(kind >= FIXED, np.uint8(FIXED), np.uint8(0)))
    )
