"""The abstract domain: for each element the ranks it can depend on, and what is known of its value.

An element's *interval* [lo, hi] holds every rank of the chosen input that its value can depend on; lo > hi says none.
An element's *kind* says what is known of its value. Arrays are compressed by broadcasting: along an axis where nothing
varies they have size 1, whatever the tensor's own size there, so features and heads cost nothing.

This file knows NumPy only; front ends bring their own arrays to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import deferred
from .deferred import held, late

Array = np.ndarray

RANK = np.int32
NONE_LO = np.iinfo(RANK).max  # the interval of an element that depends on nothing is [NONE_LO, NONE_HI]
NONE_HI = -1

# Kinds. From FIXED on, the element has the value that the concrete run shows, in every run: its interval is empty.
VARIES = 0  # any finite number
POSITIVE = 1  # any finite number above 0
MASKED = 2  # a score lowered by a large constant, standing in for −∞
FIXED = 3  # a known constant, not looked at yet
PLAIN = 4  # a known constant, none of the following
ZERO = 5  # exactly 0 (or False)
NEGINF = 6  # exactly −∞
BIG = 7  # a finite constant of BIG_MASK or below
BIG_MASK = -100.0  # exp of it is 0 or nearly so in every float format that people train in


@dataclass(frozen=True, slots=True, eq=False)
class Shadow:
    """The shadow of a tensor of shape `shape`: `lo`, `hi` (ranks) and `kind`, each of the same number of axes, each
    axis either the tensor's size or 1. Large ones are `deferred`.
    """

    shape: tuple[int, ...]
    lo: Array
    hi: Array
    kind: Array
    name: Any = field(default=None, init=False, repr=False)  # what `sharing` calls it

    def __post_init__(self) -> None:
        if max(self.lo.size, self.hi.size, self.kind.size) < deferred.LARGE:
            return
        for part in ("lo", "hi"):
            if isinstance(getattr(self, part), np.ndarray):
                object.__setattr__(self, part, held(getattr(self, part)))
        object.__setattr__(self, "kind", held(self.kind))  # one byte each, and asked for often: computed once

    def along(self, axis: int) -> tuple[Array, Array]:
        """Earliest and latest rank over each position of one axis, int64 of that axis' length."""
        axis = range(len(self.shape))[axis]
        rest = tuple(a for a in range(len(self.shape)) if a != axis)
        size = self.shape[axis]
        if math.prod(self.shape) == 0:
            return np.full(size, NONE_LO, np.int64), np.full(size, NONE_HI, np.int64)
        lo = np.broadcast_to(self.lo.min(axis=rest, keepdims=False), (size,))
        hi = np.broadcast_to(self.hi.max(axis=rest, keepdims=False), (size,))
        return lo.astype(np.int64), hi.astype(np.int64)

    @property
    def is_fixed(self) -> bool:
        """Whether every element is a known constant."""
        return bool((self.kind >= FIXED).all())

    @property
    def depends(self) -> bool:
        """Whether some element depends on the chosen input."""
        return bool((self.hi >= self.lo).any())


def uniform(shape: Sequence[int], kind: int = VARIES, lo: int = NONE_LO, hi: int = NONE_HI) -> Shadow:
    """A tensor whose elements all have the same interval and kind."""
    ones = (1,) * len(shape)
    return Shadow(tuple(shape), np.full(ones, lo, RANK), np.full(ones, hi, RANK), np.full(ones, kind, np.uint8))


def ranked(shape: Sequence[int], axis: int, ranks: Array) -> Shadow:
    """The chosen input itself: along `axis`, position j depends on rank `ranks[j]` and on nothing else."""
    sizes = [1] * len(shape)
    sizes[axis] = shape[axis]
    r = np.asarray(ranks, RANK).reshape(sizes)
    return Shadow(tuple(shape), r, r, np.full((1,) * len(shape), VARIES, np.uint8))


# -- arrays ---------------------------------------------------------------------------------------------------------


def align(array: Array, axes: int) -> Array:
    """The array with axes of size 1 put in front until it has `axes` of them (broadcasting aligns at the right)."""
    return array.reshape((1,) * (axes - array.ndim) + array.shape)


def squeeze_axis(array: Array, axis: int) -> Array:
    """The array with `axis` reduced to size 1 when nothing varies along it."""
    size = array.shape[axis]
    if size <= 1:
        return array
    first = array.take([0], axis)
    if array.strides[axis] == 0:
        return first
    if not np.array_equal(first, array.take([size - 1], axis)) or not np.array_equal(
        first, array.take([size // 2], axis)
    ):
        return array
    return first if bool((array == first).all()) else array


def compress(array: Array) -> Array:
    """The array with every axis along which nothing varies reduced to size 1."""
    for axis in range(array.ndim):
        array = squeeze_axis(array, axis)
    return array


def compressed(shadow: Shadow) -> Shadow:
    """The same shadow with its arrays compressed."""
    return Shadow(shadow.shape, compress(shadow.lo), compress(shadow.hi), compress(shadow.kind))


def full(shadow: Shadow) -> tuple[Array, Array, Array]:
    """lo, hi and kind as (read-only) arrays of the tensor's own shape."""
    return tuple(np.broadcast_to(np.asarray(a), shadow.shape) for a in (shadow.lo, shadow.hi, shadow.kind))  # type: ignore[return-value]


def equal(a: Shadow, b: Shadow) -> bool:
    """Whether two shadows say the same of every element."""
    return a.shape == b.shape and all(np.array_equal(x, y) for x, y in zip(full(a), full(b), strict=True))


# -- joins ----------------------------------------------------------------------------------------------------------


def join_intervals(shadows: Iterable[Shadow], axes: int) -> tuple[Array, Array]:
    """Elementwise smallest interval that holds those of all operands, broadcast together."""
    lo: Array | None = None
    hi: Array | None = None
    for s in shadows:
        a, b = align(s.lo, axes), align(s.hi, axes)
        if lo is None or hi is None:
            lo, hi = a, b
        else:
            lo, hi = late(np.minimum, lo, a), late(np.maximum, hi, b)
    assert lo is not None
    assert hi is not None
    return lo, hi


def all_fixed(shadows: Iterable[Shadow], axes: int) -> Array:
    """Elementwise whether every operand is a known constant."""
    fixed: Array = np.ones((1,) * axes, bool)
    for s in shadows:
        fixed = fixed & (align(s.kind, axes) >= FIXED)
    return fixed


def kinds_from(fixed: Any) -> Array:
    """FIXED where `fixed`, VARIES elsewhere."""
    return late(np.where, fixed, np.uint8(FIXED), np.uint8(VARIES))


def join_axes(shadow: Shadow, axes: Sequence[int], keepdims: bool = True) -> tuple[Array, Array, Any]:
    """lo, hi, and whether all are known constants, each joined over `axes` (kept with size 1)."""
    axes = tuple(axes)
    return (
        shadow.lo.min(axis=axes, keepdims=keepdims, initial=NONE_LO),
        shadow.hi.max(axis=axes, keepdims=keepdims, initial=NONE_HI),
        (shadow.kind >= FIXED).all(axis=axes, keepdims=keepdims),
    )


def join_all(shadows: Iterable[Shadow]) -> tuple[int, int]:
    """The smallest interval that holds those of every element of every operand."""
    lo, hi = NONE_LO, NONE_HI
    for s in shadows:
        if math.prod(s.shape):
            lo, hi = min(lo, int(s.lo.min())), max(hi, int(s.hi.max()))
    return lo, hi


def without(shadow: Shadow, where: Array, kind: int) -> Shadow:
    """The shadow with the elements in `where` (broadcastable) turned into known constants of `kind`."""
    axes = len(shadow.shape)
    where = align(where, axes)
    return Shadow(
        shadow.shape,
        late(np.where, where, RANK(NONE_LO), shadow.lo),
        late(np.where, where, RANK(NONE_HI), shadow.hi),
        late(np.where, where, np.uint8(kind), shadow.kind),
    )


def coarsen(shadow: Shadow) -> Shadow:
    """The shadow after its bits were read as another type: constants stay constants, of unknown value."""
    return Shadow(shadow.shape, shadow.lo, shadow.hi, kinds_from(shadow.kind >= FIXED))


def reshape(shadow: Shadow, shape: Sequence[int]) -> Shadow:
    """The shadow of the tensor reshaped (row-major) to `shape`; axes along which nothing varies stay compressed."""
    new = tuple(shape)
    if new == shadow.shape:
        return shadow
    if math.prod(new) == 0:
        return uniform(new, FIXED)
    groups = axis_groups(shadow.shape, new)
    return Shadow(new, *(_reshape(a, shadow.shape, new, groups) for a in (shadow.lo, shadow.hi, shadow.kind)))


def axis_groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The finest pairing of runs of old axes with runs of new axes of equal product.

    >>> axis_groups((2, 6), (2, 2, 3))
    [([0], [0]), ([1], [1, 2])]
    """
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        left: list[int] = []
        right: list[int] = []
        p = q = 1
        if i < len(old):
            left, p, i = [i], old[i], i + 1
        if j < len(new) and (p != 1 or new[j] == 1):
            right, q, j = [j], new[j], j + 1
        while p != q:
            if p < q:
                left.append(i)
                p *= old[i]
                i += 1
            else:
                right.append(j)
                q *= new[j]
                j += 1
        groups.append((left, right))
    return groups


def _reshape(array: Array, old: Sequence[int], new: Sequence[int], groups: list[tuple[list[int], list[int]]]) -> Array:
    between, target, split = [], [], []
    for left, right in groups:
        whole = [old[a] for a in left]
        if all(array.shape[a] == 1 for a in left):  # nothing varies inside this group
            between += [1] * len(left)
            target += [1] * len(right)
        else:
            between += whole
            target += [new[a] for a in right]
            split += [a for a in right if len(right) > 1]
    result = np.broadcast_to(array, between).reshape(target)
    for axis in split:
        result = squeeze_axis(result, axis)
    return result
