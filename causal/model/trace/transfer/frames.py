"""Frames of reference: rows that stand in an order which depends on data, as tokens do that are sorted by their expert.

Sorting a key of S numbers gives an order π: slot i holds item π(i). Whoever looks at a slot depends on the whole key.
But row i of a tensor made from item π(i) alone is Y[π(i)] for some Y, and Y[j] depends on no more than item j does. So
`Rows` keeps the intervals of Y beside the ordinary shadow, in the order of the items. A function of rows, the same one
in every slot, commutes with π and stays in the frame. When the rows are put back by π, what comes out is Y, which does
not depend on π, however ties fall. That is theorem T25: derived, tried on random programs, not checked by the kernel.

What is not known to stay in the frame leaves it with the ordinary shadow, in which every slot joins every item.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..domain import NONE_HI, NONE_LO, RANK, Array, Shadow, join_all
from .indexing import loose


@dataclass(frozen=True, eq=False)
class Frame:
    """One order of `size` items, by which the key `key` stands sorted; `lo`, `hi`: what each item's key depends on.

    `is_choice`: only those items stand in it, in their own order, whose key is not 0, and nobody knows how many.
    """

    size: int
    key: object
    lo: Array
    hi: Array
    ascending: bool = True
    is_choice: bool = False


@dataclass(frozen=True, eq=False)
class Rows:
    """A tensor whose slice i along `axis` is Y[π(i)]: what Y[j] depends on, for each item j.

    `numbers`: Y itself, where it is one constant for each item.
    """

    frame: Frame
    axis: int
    lo: Array
    hi: Array
    numbers: Array | None = None

    @property
    def is_order(self) -> bool:
        """Whether it is π itself."""
        return self.numbers is not None and np.array_equal(self.numbers, np.arange(self.frame.size))

    def are_distinct(self, size: int) -> bool:
        """Whether the items' numbers are different places of `size`, counted from either end."""
        if self.numbers is None or not ((-size <= self.numbers) & (self.numbers < size)).all():
            return False
        return np.unique(self.numbers % size).size == self.frame.size


def order_of(frame: Frame) -> Rows:
    """π as a tensor: item j is the number j, which depends on nothing."""
    return constant(frame, np.arange(frame.size))


def constant(frame: Frame, numbers: Array | None) -> Rows:
    """Rows that depend on nothing: one number for each item, or several, which are not told."""
    return Rows(frame, 0, np.full(frame.size, NONE_LO, RANK), np.full(frame.size, NONE_HI, RANK), numbers)


def key_of(frame: Frame) -> Rows:
    """The key in its sorted order."""
    return Rows(frame, 0, frame.lo, frame.hi)


def if_chosen(rows: Rows) -> Rows:
    """Rows as they are seen from where they go: an item that was not chosen does not come."""
    frame = rows.frame
    return replace(rows, lo=np.minimum(rows.lo, frame.lo), hi=np.maximum(rows.hi, frame.hi))


def profile(shadow: Shadow, axis: int) -> tuple[Array, Array]:
    """What each slice along an axis depends on."""
    lo, hi = shadow.along(axis)
    return lo.astype(RANK), hi.astype(RANK)


def together(rows: Iterable[Rows], others: Iterable[Shadow], axis: int) -> Rows:
    """Rows of one frame that are computed each from the same slots of `rows`, and from all of the `others`."""
    rows = list(rows)
    low, high = join_all(others)
    lo = np.minimum.reduce([r.lo for r in rows])
    hi = np.maximum.reduce([r.hi for r in rows])
    return Rows(rows[0].frame, axis, np.minimum(lo, RANK(low)), np.maximum(hi, RANK(high)))


def drawn_from(table: Shadow, places: Mapping[int, Rows], axis: int) -> Rows:
    """Slices of a table at indices that stand in a frame, one for each axis of `places`.

    Where the index is a number for each item, it is known what is read for that item; else anything along that axis.
    """
    exact = {a: r.numbers for a, r in sorted(places.items()) if r.numbers is not None}
    rest = tuple(a for a in range(len(table.shape)) if a not in exact)
    wide = tuple(table.shape[a] for a in exact)
    parts = []
    for part, reduce, empty in (("lo", np.minimum, NONE_LO), ("hi", np.maximum, NONE_HI)):
        some = (
            reduce.reduce(np.asarray(getattr(table, part)), axis=rest, initial=empty) if rest else getattr(table, part)
        )
        some = np.broadcast_to(some, wide)[tuple(exact.values())]
        parts.append(reduce.reduce([np.broadcast_to(some, r.lo.shape) for r in places.values()]))
        parts[-1] = reduce.reduce([parts[-1], *(getattr(r, part) for r in places.values())]).astype(RANK)
    return Rows(next(iter(places.values())).frame, axis, *parts)


def at_home(rows: Rows, shape: tuple[int, ...], extent: tuple[int, ...], axis: int) -> Shadow:
    """Y itself: the items in their own order, as axes of sizes `extent` from `axis` on."""
    lead, tail = (1,) * axis, (1,) * (len(shape) - axis - len(extent))
    return loose(shape, *(a.reshape(lead + extent + tail) for a in (rows.lo, rows.hi)))


def sent_home(
    target: Shadow, axis: int, numbers: Array, rows: Rows | Shadow, shape: tuple[int, ...], keeps: bool
) -> Shadow:
    """Rows of a frame written (numbers all different), or added, at the places along `axis` that belong to the items.

    `keeps`: what was there before counts, too. Sums are those of real numbers, which do not tell in which order they
    were made.
    """
    lo, hi = (a.copy() for a in profile(target, axis))
    a, b = (rows.lo, rows.hi) if isinstance(rows, Rows) else (RANK(v) for v in join_all([rows]))
    if not keeps:
        lo[numbers], hi[numbers] = NONE_LO, NONE_HI
    np.minimum.at(lo, numbers, a)
    np.maximum.at(hi, numbers, b)
    sizes = [1] * len(shape)
    sizes[axis] = shape[axis]
    return loose(shape, lo.reshape(sizes), hi.reshape(sizes))


def axis_after_reshape(axis: int, old: tuple[int, ...], new: tuple[int, ...]) -> int | None:
    """Where an axis stands after a reshape in row-major order; None where it was split or merged.

    >>> axis_after_reshape(0, (6, 4), (1, 6, 2, 2)), axis_after_reshape(0, (6, 4), (3, 8))
    (1, None)
    """
    before = math.prod(old[:axis])
    return next((b for b in range(len(new)) if new[b] == old[axis] and math.prod(new[:b]) == before), None)
