"""A run and its operands in NumPy alone, for transfer functions, and what a function depends on, by brute force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from attnproof.causal.model.trace.domain import (
    BIG,
    BIG_MASK,
    FIXED,
    NEGINF,
    NONE_HI,
    NONE_LO,
    PLAIN,
    ZERO,
    Shadow,
    full,
    ranked,
    uniform,
)

Array = np.ndarray


@dataclass(eq=False)
class PlainOperand:
    """Numbers and their shadow."""

    value: Array
    shadow: Shadow

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def known(self) -> Shadow:
        kinds = np.select(
            [self.value == 0, self.value == -np.inf, self.value <= BIG_MASK], [ZERO, NEGINF, BIG], PLAIN
        ).astype(np.uint8)
        if (self.shadow.kind == FIXED).any():
            self.shadow = replace(self.shadow, kind=np.where(self.shadow.kind == FIXED, kinds, self.shadow.kind))
        return self.shadow

    def array(self) -> Array:
        assert self.shadow.is_fixed, "numbers that depend on data were looked at"
        return self.value


def constant(value: Any) -> PlainOperand:
    """Numbers that are the same in every run."""
    array = np.asarray(value)
    return PlainOperand(array, uniform(array.shape, FIXED))


def varying(value: Any, axis: int = 0) -> PlainOperand:
    """The input itself: position j along `axis` depends on rank j."""
    array = np.asarray(value)
    return PlainOperand(array, ranked(array.shape, axis, np.arange(array.shape[axis])))


@dataclass(eq=False)
class PlainRun:
    """What a transfer function may ask, and `told`: the names of what it told, with the operands."""

    output: Array | None = None  # the concrete result, to see where it is 0
    finite_masks: bool = True
    last: int = 5
    told: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)

    def _tell(self, what: str, *operands: Any) -> None:
        self.told.append((what, operands))

    def zeros_used(self, *operands: Any) -> None:
        self._tell("zeros", *operands)

    def values_used(self, *operands: Any) -> None:
        self._tell("values", *operands)

    def masked_zero(self, where: Array, *, constant: float | None = None, alone: bool = False) -> Array:
        self._tell("masked")
        return where & (np.asarray(self.output) == 0)

    def masked_below(self, scores: Any, masked: Array, axes: Sequence[int]) -> bool:
        self._tell("below", scores)
        best = np.where(masked, -np.inf, scores.value).max(tuple(axes), keepdims=True)
        return bool(((scores.value <= best - 104) | ~masked).all())

    def must_be_finite(self, operand: Any) -> None:
        self._tell("finite", operand)

    def nonzero_denominator(self) -> None:
        self._tell("denominator")

    def starved(self, rows: Array) -> None:
        self._tell("starved", rows)

    def noise(self, steered: bool = False) -> None:
        self._tell("steered noise" if steered else "noise")


def depends(function: Callable[[Array], Array], x: Array, axis: int = 0, draws: int = 6) -> tuple[Array, Array]:
    """For every element of function(x), the first and last position along `axis` whose change was seen to move it."""
    g = np.random.default_rng(0)
    base = function(x)
    lo, hi = np.full(base.shape, NONE_LO), np.full(base.shape, NONE_HI)
    for j in range(x.shape[axis]):
        for draw in range(draws):
            y = x.copy()
            where = (slice(None),) * axis + (j,)
            y[where] = g.normal(size=y[where].shape) * (0.5, 2.0, 6.0)[draw % 3]
            after = function(y)
            change = np.abs(after - base) > 1e-9 * (1 + np.abs(base))
            lo[change], hi[change] = np.minimum(lo[change], j), np.maximum(hi[change], j)
    return lo, hi


def holds(shadow: Shadow, function: Callable[[Array], Array], x: Array, axis: int = 0, exact: bool = True) -> bool:
    """Whether a shadow has the shape of function(x), holds every dependency that was seen, and, if `exact`, no other;
    and whether no element moves that is said to be a constant.
    """
    first, last = depends(function, x, axis)
    if shadow.shape != first.shape:
        return False
    lo, hi, kind = full(shadow)
    none = first > last
    sound = (none | ((lo <= first) & (hi >= last) & (kind < FIXED))).all()
    zeros = (function(x)[kind == ZERO] == 0).all()
    same = np.array_equal(lo > hi, none) and (none | ((lo == first) & (hi == last))).all()
    return bool(sound and zeros and (same or not exact))


def normal(*shape: int, seed: int = 0) -> Array:
    """Numbers without a pattern."""
    return np.random.default_rng(seed).normal(size=shape)
