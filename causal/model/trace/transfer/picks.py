"""Which whole numbers an index may hold, where scores that are −∞ are never picked before others.

Put in order, largest first, a row of n scores of which m are above −∞ begins with those m, and ends with the others: so
the place that stands in slot s is one of the m for s < m, and one of the others from there on, and what stands there is
−∞. `Bounds` of a tensor of whole numbers say of each element between which two it lies, in a shadow's `lo` and `hi`, so
that what moves elements moves their bounds as well. Whoever reads along an axis at a bounded index depends on the index
and on what stands between its bounds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..domain import (
    BIG,
    MASKED,
    NEGINF,
    NONE_HI,
    NONE_LO,
    PLAIN,
    RANK,
    VARIES,
    ZERO,
    Array,
    Shadow,
    align,
    compress,
    join_intervals,
)
from .elementwise import assemble

Bounds = Shadow
FURTHEST = 2**30  # a bound beyond it is none


def bounds(shape: tuple[int, ...], lo: Array, hi: Array) -> Bounds | None:
    """Bounds out of arrays that broadcast to the shape; None where they are too large to be kept, or empty."""
    if not (lo.size and hi.size) or lo.min() < -FURTHEST or hi.max() > FURTHEST or (lo > hi).any():
        return None
    axes = len(shape)
    low, high = (compress(align(np.asarray(a), axes).astype(RANK)) for a in (lo, hi))
    return Shadow(shape, low, high, np.full((1,) * axes, VARIES, np.uint8))


def exactly(numbers: Array) -> Bounds | None:
    """Those of constants."""
    whole = numbers.astype(np.int64)
    return bounds(numbers.shape, whole, whole)


@dataclass(frozen=True)
class Slots:
    """Rows along `axis` put in order, cut to the first slots: which of those hold one of the places that come first for
    certain (`above`), and of which that is not known (`mixed`), as where the slots stand in no order. Broadcastable.
    """

    axis: int
    above: Array
    mixed: Array


def in_slots(last: Array, shape: tuple[int, ...], axis: int, slots: int, largest: bool, ordered: bool) -> Slots:
    """The first `slots` of rows in which `last` says what comes after all others, for a tensor of this shape; `ordered`
    says whether the slots stand in order.
    """
    size = shape[axis]
    out = np.broadcast_to(last, [*last.shape[:axis], size, *last.shape[axis + 1 :]])
    s = np.arange(slots).reshape([-1 if a == axis else 1 for a in range(out.ndim)])
    above = (s if largest else size - 1 - s) < size - out.sum(axis, keepdims=True)
    mixed = above.any(axis, keepdims=True) & ~above.all(axis, keepdims=True)
    return Slots(axis, above, mixed if not ordered else np.zeros_like(mixed))


def in_order(
    last: Array, shape: tuple[int, ...], axis: int, slots: int, largest: bool, ordered: bool
) -> tuple[Bounds | None, Array]:
    """The places that the first `slots` of a row may come from, and which slots hold those that come last for certain
    (see `in_slots`).
    """
    found, size = in_slots(last, shape, axis, slots, largest, ordered), shape[axis]
    out = np.broadcast_to(last, [*last.shape[:axis], size, *last.shape[axis + 1 :]])
    where = np.arange(size).reshape([-1 if a == axis else 1 for a in range(out.ndim)])
    among, beyond = (_ends(where, some, axis) for some in (~out, out))
    lo, hi = (np.where(found.above, a, b) for a, b in zip(among, beyond, strict=True))
    lo, hi = np.where(found.mixed, 0, lo), np.where(found.mixed, size - 1, hi)
    return bounds((*shape[:axis], slots, *shape[axis + 1 :]), lo, hi), ~(found.above | found.mixed)


def _ends(where: Array, among: Array, axis: int) -> tuple[Array, Array]:
    """The first and the last place of a row that is among some; the other way round where none is."""
    size = where.size
    return np.where(among, where, size).min(axis, keepdims=True), np.where(among, where, -1).max(axis, keepdims=True)


def read_by(slots: Slots, x: Shadow, last: Array, shape: tuple[int, ...]) -> tuple[Shadow, Shadow]:
    """What the numbers in the slots, and the places that they come from, can depend on: a slot that holds one of those
    that come first is found among these alone; of the others the number is found among them, while which of equal ones
    is taken may depend on the whole row.
    """
    rest, axis = ~last, slots.axis
    values, places = [], []
    for part, empty, reduce in ((np.asarray(x.lo), NONE_LO, np.minimum), (np.asarray(x.hi), NONE_HI, np.maximum)):
        first, beyond = (
            reduce.reduce(np.where(among, part, RANK(empty)), axis=axis, keepdims=True) for among in (rest, last)
        )
        row = reduce(first, beyond)
        values.append(np.where(slots.mixed, row, np.where(slots.above, first, beyond)))
        places.append(np.where(slots.mixed | ~slots.above, row, first))
    loose = np.zeros((1,) * len(shape), np.uint8)
    return assemble(shape, values[0], values[1], loose), assemble(shape, places[0], places[1], loose)


def kind_of(k: Array, last: Array, axis: int) -> Array:
    """Of what kind the elements of a row are that come last, where they are all alike, with the axis kept: −∞, a large
    finite mask, 0, or scores lowered by one.
    """

    def only(*kinds: int) -> Array:
        return np.asarray((~last | np.isin(k, kinds)).all(axis, keepdims=True))

    found = np.where(only(BIG, MASKED), np.uint8(MASKED), np.uint8(VARIES))
    for kind in (BIG, ZERO, NEGINF):
        found = np.where(only(kind), np.uint8(kind), found)
    return found


def with_kinds(values: Shadow, places: Array, kind: Array | int) -> Shadow:
    """The sorted values, of which some are of this kind for certain."""
    return assemble(values.shape, values.lo, values.hi, np.where(places, np.uint8(kind), values.kind))


# -- arithmetic of bounds ---------------------------------------------------------------------------------------------


def corners(function: Callable[[Array, Array], Array], x: Bounds, y: Bounds, shape: tuple[int, ...]) -> Bounds | None:
    """f(x, y) for an f that goes up or down in each: it lies between the values at the corners."""
    axes = len(shape)
    ends = [[align(np.asarray(a), axes).astype(np.int64) for a in (b.lo, b.hi)] for b in (x, y)]
    found = [function(a, b) for a in ends[0] for b in ends[1]]
    return bounds(shape, functools.reduce(np.minimum, found), functools.reduce(np.maximum, found))


def either(x: Bounds, y: Bounds, condition: Bounds | None, shape: tuple[int, ...]) -> Bounds | None:
    """One of two, by a condition that may be bounded itself."""
    axes = len(shape)
    lo, hi = np.minimum(align(x.lo, axes), align(y.lo, axes)), np.maximum(align(x.hi, axes), align(y.hi, axes))
    if condition is not None:
        for chosen, where in ((x, align(condition.lo, axes) > 0), (y, align(condition.hi, axes) < 1)):
            lo, hi = np.where(where, align(chosen.lo, axes), lo), np.where(where, align(chosen.hi, axes), hi)
    return bounds(shape, lo, hi)


COMPARED: dict[str, Callable[[Array, Array, Array, Array], tuple[Array, Array]]] = {
    "lt": lambda a, b, c, d: (b < c, a < d),
    "le": lambda a, b, c, d: (b <= c, a <= d),
    "gt": lambda a, b, c, d: (a > d, b > c),
    "ge": lambda a, b, c, d: (a >= d, b >= c),
    "eq": lambda a, b, c, d: ((a == b) & (c == d) & (a == c), (a <= d) & (c <= b)),
    "ne": lambda a, b, c, d: ((a > d) | (c > b), ~((a == b) & (c == d) & (a == c))),
}  # for x in [a, b] and y in [c, d]: whether it is true for certain, and whether it may be


def compared(name: str, x: Bounds, y: Bounds, shape: tuple[int, ...]) -> Bounds | None:
    """The bounds of a truth value: 1 for what is true for certain, 0 for what is false."""
    axes = len(shape)
    certain, possible = COMPARED[name](*(align(a, axes) for a in (x.lo, x.hi, y.lo, y.hi)))
    return bounds(shape, certain.astype(RANK), possible.astype(RANK))


def decided(result: Shadow, truth: Bounds) -> Shadow:
    """The comparison's shadow, constant where the bounds decide it."""
    kind = np.where(truth.hi < 1, np.uint8(ZERO), np.where(truth.lo > 0, np.uint8(PLAIN), result.kind))
    return assemble(result.shape, result.lo, result.hi, kind)


# -- reading and writing between bounds --------------------------------------------------------------------------------


def windows(x: Shadow, axis: int, index: Bounds) -> tuple[Shadow, Array, Array]:
    """A table along `axis`, and the two places in it at which each element of the index sees all that stands between
    its bounds: x, then x with every two neighbours joined, then every four, and so on.
    """
    size = x.shape[axis]
    low, high = (np.broadcast_to(np.asarray(a), index.shape).astype(np.int64) for a in (index.lo, index.hi))
    level = np.floor(np.log2(high - low + 1)).astype(np.int64)
    parts = [[_whole(a, axis, size)] for a in (x.lo, x.hi)]
    for k in range(int(level.max(initial=0))):
        for part, reduce in zip(parts, (np.minimum, np.maximum), strict=True):
            part.append(_doubled(part[-1], axis, 2**k, reduce))
    lo, hi = (np.concatenate(part, axis) for part in parts)
    shape = (*x.shape[:axis], size * len(parts[0]), *x.shape[axis + 1 :])
    table = Shadow(shape, lo, hi, np.zeros((1,) * len(shape), np.uint8))
    return table, level * size + low, level * size + high - 2**level + 1


def _whole(a: Array, axis: int, size: int) -> Array:
    return np.broadcast_to(np.asarray(a), [size if d == axis else n for d, n in enumerate(a.shape)])


def _doubled(a: Array, axis: int, step: int, reduce: Callable[[Array, Array], Array]) -> Array:
    """Each place joined with the one `step` further on; the last ones, which nobody reads, as they are."""
    rest = a.shape[axis] - step
    both = reduce(a.take(range(rest), axis), a.take(range(step, step + rest), axis))
    return np.concatenate([both, a.take(range(rest, rest + step), axis)], axis)


def joined(*shadows: Shadow) -> Shadow:
    """All of them, of unknown value."""
    shape = shadows[0].shape
    lo, hi = join_intervals(shadows, len(shape))
    return assemble(shape, lo, hi, np.zeros((1,) * len(shape), np.uint8))


def both_hold(x: Shadow, y: Shadow) -> Shadow:
    """What two shadows of one tensor say together; the first says of what kind it is."""
    axes = len(x.shape)
    lo, hi = np.maximum(align(x.lo, axes), align(y.lo, axes)), np.minimum(align(x.hi, axes), align(y.hi, axes))
    none = lo > hi
    return assemble(x.shape, np.where(none, RANK(NONE_LO), lo), np.where(none, RANK(NONE_HI), hi), x.kind)


def touched(index: Bounds, axis: int, shape: tuple[int, ...]) -> Array:
    """Which places of a tensor a write at the index along `axis` may hit; the index has as many axes."""
    place = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    among = np.broadcast_shapes(index.lo.shape, index.hi.shape)
    sizes = [index.shape[axis] if a == axis else n for a, n in enumerate(among)]
    lo, hi = (np.broadcast_to(np.asarray(a), sizes) for a in (index.lo, index.hi))
    hit = np.zeros([shape[a] if a == axis else n for a, n in enumerate(sizes)], bool)
    for s in range(index.shape[axis]):
        hit |= (lo.take([s], axis) <= place) & (place <= hi.take([s], axis))
    return hit


def written(target: Shadow, within: Bounds, index: Shadow, source: Shadow, axis: int) -> tuple[Shadow, Array]:
    """Numbers written, or joined, at an index that lies between bounds: a place depends on what may be written there,
    and on whether it is. The second result says where a 0 may have been written over a 0, which leaves one.

    Index and source have the size of the target along all other axes.
    """
    place = np.arange(target.shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(target.shape))])
    lo, hi, kind = np.asarray(target.lo), np.asarray(target.hi), np.asarray(target.kind)
    hit: Array = np.zeros((1,) * lo.ndim, bool)
    zero = kind == ZERO
    slots = within.shape[axis]
    ends = [_whole(a, axis, slots) for a in (within.lo, within.hi, index.lo, source.lo, index.hi, source.hi)]
    none = _whole(source.kind == ZERO, axis, slots)
    for s in range(slots):
        first, last, i_lo, s_lo, i_hi, s_hi = (a.take([s], axis) for a in ends)
        here = (first <= place) & (place <= last)
        lo = np.where(here, np.minimum(lo, np.minimum(i_lo, s_lo)), lo)
        hi = np.where(here, np.maximum(hi, np.maximum(i_hi, s_hi)), hi)
        hit, zero = hit | here, zero & (~here | none.take([s], axis))
    kind = np.where(zero, np.uint8(ZERO), np.where(hit, np.uint8(VARIES), kind))
    return assemble(target.shape, lo, hi, kind), hit & zero


def nothing(shape: tuple[int, ...]) -> Shadow:
    """What depends on nothing, of unknown value."""
    ones = (1,) * len(shape)
    return Shadow(shape, np.full(ones, NONE_LO, RANK), np.full(ones, NONE_HI, RANK), np.zeros(ones, np.uint8))
