"""Transfer functions against brute force on small arrays, in NumPy alone: operands, a run that notes what it is told,
and a check that changes what varies and looks at what moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from attnproof.causal.model.trace.domain import (
    BIG,
    BIG_MASK,
    FIXED,
    MASKED,
    NEGINF,
    NONE_HI,
    NONE_LO,
    PLAIN,
    POSITIVE,
    VARIES,
    ZERO,
    Shadow,
    full,
    ranked,
    uniform,
)

Array = np.ndarray
VALUES = (-3.0, -1.0, 0.5, 2.0, 7.0)  # what an element that varies is set to
SCALES = (0.5, 2.0, 6.0) * 2  # of the random numbers that it is set to besides


@dataclass(eq=False)
class Operand:
    """Numbers and their shadow."""

    value: Array
    shadow: Shadow

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def known(self) -> Shadow:
        x, kind = self.value, self.shadow.kind
        kinds = np.select([x == 0, x == -np.inf, x <= BIG_MASK], [ZERO, NEGINF, BIG], PLAIN)
        if not (kind == FIXED).any():
            return self.shadow
        return replace(self.shadow, kind=np.where(kind == FIXED, kinds, kind).astype(np.uint8))

    def array(self) -> Array:
        assert self.shadow.is_fixed, "numbers that depend on data were looked at"
        return self.value


def constant(value: Any) -> Operand:
    """Numbers that are the same in every run."""
    array = np.asarray(value)
    return Operand(array, uniform(array.shape, FIXED))


def varying(value: Any, axis: int = 0) -> Operand:
    """The input itself: position j along `axis` depends on rank j."""
    array = np.asarray(value)
    return Operand(array, ranked(array.shape, axis, np.arange(array.shape[axis])))


def elements(value: Any, varies: Any, first: int = 0, above: bool = False, lowered: bool = False) -> Operand:
    """Element number i (row-major) depends on rank `first + i` where it varies, else it is a constant.

    `above`: the elements that vary are above 0 (kind POSITIVE); `lowered`: they are scores lowered by a large constant.
    """
    array = np.asarray(value, float)
    varies = np.broadcast_to(np.asarray(varies, bool), array.shape)
    ranks = np.arange(array.size).reshape(array.shape) + first
    lo, hi = np.where(varies, ranks, NONE_LO).astype(np.int32), np.where(varies, ranks, NONE_HI).astype(np.int32)
    loose = POSITIVE if above else MASKED if lowered else VARIES
    return Operand(array, Shadow(array.shape, lo, hi, np.where(varies, loose, FIXED).astype(np.uint8)))


def normal(*shape: int, seed: int = 0) -> Array:
    """Numbers without a pattern."""
    return np.random.default_rng(seed).normal(size=shape)


@dataclass(eq=False)
class Run:
    """A `Context` that notes what it is told (`told`), and of which operands (`about`)."""

    output: Any = None  # the concrete result, to see where it is 0
    below: bool = True  # what `masked_below` finds
    finite_masks: bool = True
    last: int = 5
    told: list[str] = field(default_factory=list)
    about: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def _tell(self, what: str, *operands: Any) -> None:
        self.told.append(what)
        self.about[what] = operands

    def zeros_used(self, *operands: Any) -> None:
        self._tell("zeros", *operands)

    def values_used(self, *operands: Any) -> None:
        self._tell("values", *operands)

    def masked_zero(self, where: Array, *, constant: float | None = None, alone: bool = False) -> Array:
        self._tell("masked")
        return where & (np.asarray(self.output) == 0)

    def masked_below(self, scores: Any, masked: Array, axes: Sequence[int]) -> bool:
        self._tell("below", scores)
        return self.below

    def masked_alike(self, scores: Any, masked: Array, axes: Sequence[int]) -> bool:
        self._tell("alike", scores)
        return self.below

    def mask_seen(self, number: float) -> None:
        self._tell("mask")

    def still_masks(self, factor: float) -> bool:
        self._tell("scaled")
        return True

    def must_be_finite(self, operand: Any) -> None:
        self._tell("finite", operand)

    def nonzero_denominator(self) -> None:
        self._tell("denominator")

    def starved(self, rows: Array) -> None:
        self._tell("starved", rows)

    def noise(self, steered: bool = False) -> None:
        self._tell("steered noise" if steered else "noise")


def check(
    function: Callable[..., Any], shadow: Shadow, *inputs: Operand, values: Sequence[float] | None = None
) -> Shadow:
    """Asserts that `shadow` is sound for `function` (arrays to an array): no output outside an element's interval moves
    with what has that rank, and every kind holds whatever the inputs are (`values`: what alone they may be set to).
    """
    _observe(function, shadow, inputs, values)
    return shadow


def check_exact(function: Callable[..., Any], shadow: Shadow, *inputs: Operand) -> Shadow:
    """Asserts that `shadow` is sound and claims no dependency that was not seen."""
    first, last = _observe(function, shadow, inputs, None)
    lo, hi, _ = full(shadow)
    none = first > last
    assert np.array_equal(lo > hi, none), "imprecise: what depends on nothing"
    assert (none | (lo == first)).all(), "imprecise: earliest"
    assert (none | (hi == last)).all(), "imprecise: latest"
    return shadow


def _observe(
    function: Callable[..., Any], shadow: Shadow, inputs: Sequence[Operand], values: Sequence[float] | None
) -> tuple[Array, Array]:
    """The first and last rank whose change was seen to move each output; asserts what `check` says."""
    lo, hi, kind = full(shadow)
    base = np.asarray(function(*(x.value for x in inputs)))
    assert base.shape == shadow.shape
    _kinds_hold(kind, base)
    first, last = np.full(base.shape, NONE_LO), np.full(base.shape, NONE_HI)
    for rank, numbers in _changes(inputs, values):
        got = np.asarray(function(*numbers))
        moved = ~((got == base) | (np.isnan(got) & np.isnan(base)))
        assert not (moved & ~((lo <= rank) & (rank <= hi))).any(), ("a dependency that was seen is not claimed", rank)
        assert not (moved & (kind >= FIXED)).any(), ("a constant moves", rank)
        _kinds_hold(kind, got)
        first[moved], last[moved] = np.minimum(first[moved], rank), np.maximum(last[moved], rank)
    return first, last


def _changes(inputs: Sequence[Operand], values: Sequence[float] | None) -> Iterator[tuple[int, list[Array]]]:
    """The inputs with what has one rank set to something else, for every rank."""
    g = np.random.default_rng(0)
    for place, x in enumerate(inputs):
        ranks, _, kind = full(x.shadow)
        for rank in np.unique(ranks[kind < FIXED]):
            where = (ranks == rank) & (kind < FIXED)
            draws = [g.normal(size=where.sum()) * scale for scale in SCALES] if values is None else []
            for new in [*(VALUES if values is None else values), *draws]:
                numbers = [x.value.copy() for x in inputs]
                numbers[place][where] = np.where(kind[where] == POSITIVE, np.abs(new), new)
                yield int(rank), numbers


def _kinds_hold(kind: Array, numbers: Array) -> None:
    assert (numbers[kind == ZERO] == 0).all()
    assert (numbers[kind == POSITIVE] > 0).all()
    assert (numbers[kind == NEGINF] == -np.inf).all()


def intervals(shadow: Shadow) -> list[list[int] | None]:
    """[lo, hi] of every element, None where it depends on nothing."""
    lo, hi, _ = full(shadow)
    return [None if a > b else [int(a), int(b)] for a, b in zip(lo.reshape(-1), hi.reshape(-1), strict=True)]
