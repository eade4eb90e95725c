"""Indexing: reading and writing at places that are themselves numbers.

Where an index is a known constant, the shadow is read or written at that very index. Where it depends on data, the
output depends on the index and on everything that it may pick: the whole indexed axis. Writing at such an index may hit
any place of the axis, so every place may depend on the index and on what is written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..domain import (
    FIXED,
    NONE_HI,
    NONE_LO,
    RANK,
    VARIES,
    Array,
    Shadow,
    align,
    compress,
    full,
    join_all,
    kinds_from,
    reshape,
    uniform,
)
from .context import Context, Number, Operand
from .elementwise import assemble, chosen, known
from .movement import broadcast


@dataclass(frozen=True)
class Index:
    """A tensor that names elements: their places along one axis, or a `mask` (true where one is meant) over several."""

    operand: Operand
    mask: bool = False

    @property
    def fixed(self) -> bool:
        """Whether the places are the same in every run."""
        return self.operand.shadow.is_fixed

    @property
    def axes(self) -> int:
        """How many axes of the indexed tensor it stands for."""
        return len(self.operand.shape) if self.mask else 1

    def places(self) -> Array:
        """The places, or the mask as truth values; zeros, as many as there are places, where they depend on data."""
        if not self.fixed:
            return np.zeros(self.operand.shape, np.int64)
        return self.operand.array().astype(bool) if self.mask else self.operand.array()


def places_of(indices: Sequence[Index | None]) -> tuple[Array | slice, ...]:
    """What to index an array with; None takes the whole axis."""
    return tuple(slice(None) if i is None else i.places() for i in indices)


def within(places: Array, extent: int) -> Array:
    """The places, which lie among so many; IndexError where they do not, as a kernel raises where it has numbers."""
    if places.size and not 0 <= places.min() <= places.max() < extent:
        raise IndexError(f"index {places[(places < 0) | (places >= extent)][0]} is out of range for {extent} places")
    return places


def loose(shape: tuple[int, ...], lo: Array, hi: Array) -> Shadow:
    """Elements of unknown value."""
    return Shadow(shape, lo, hi, np.zeros((1,) * len(shape), np.uint8))


# -- reading ----------------------------------------------------------------------------------------------------------


def picked(x: Shadow, indices: Sequence[Index | None], shape: tuple[int, ...]) -> Shadow:
    """x[i, j, …], None for an axis taken whole. A mask is known (else the shape would depend on data)."""
    indexed: dict[int, Index] = {}
    axis = 0
    for i in indices:
        if i is not None:
            indexed |= dict.fromkeys(range(axis, axis + i.axes), i)
        axis += 1 if i is None else i.axes
    open_axes = sorted(d for d, i in indexed.items() if not i.fixed)
    where = places_of(indices)
    if not open_axes:
        return Shadow(shape, *(_at(a, x.shape, indexed, where) for a in (x.lo, x.hi, x.kind)))
    lo, hi = x.lo, x.hi
    for d in open_axes:
        lo, hi = np.minimum.reduce(lo, axis=d, keepdims=True), np.maximum.reduce(hi, axis=d, keepdims=True)
    lo, hi = (_at(a, x.shape, indexed, where) for a in (lo, hi))
    lead, block = _block(indices)
    tail = len(shape) - lead - len(block)
    for i in indices:
        if i is None or i.fixed:
            continue
        t = i.operand.shadow
        front, back = (1,) * (lead + len(block) - len(t.shape)), (1,) * tail
        lo = np.minimum(lo, t.lo.reshape(front + t.lo.shape + back))
        hi = np.maximum(hi, t.hi.reshape(front + t.hi.shape + back))
    return loose(shape, lo, hi)


def _at(a: Array, shape: tuple[int, ...], indexed: dict[int, Index], where: tuple[Array | slice, ...]) -> Array:
    """The part at known places; axes that are not indexed stay compressed."""
    source = np.broadcast_to(a, [shape[d] if d in indexed else a.shape[d] for d in range(a.ndim)])
    return compress(source[where])


def _block(indices: Sequence[Index | None]) -> tuple[int, tuple[int, ...]]:
    """The first axis of the result that the indices make, and the shape that they make together: they stand where the
    indexed axes stood when those are neighbours, in front of everything otherwise.
    """
    block = np.broadcast_shapes(*(i.operand.shape for i in indices if i is not None and not i.mask))
    places = [a for a, i in enumerate(indices) if i is not None]
    adjacent = places == list(range(places[0], places[0] + len(places)))
    return places[0] if adjacent else 0, block


def gathered(x: Shadow, i: Operand, axis: int, shape: tuple[int, ...]) -> Shadow:
    """out[…, k, …] = x[…, i[…, k, …], …] along `axis`; other axes of x are cut to the size of the index."""
    if not shape:
        return assemble((), *_pair(x, i.shadow))
    if math.prod(shape) == 0:
        return uniform(shape, FIXED)
    x = x if x.shape else reshape(x, (1,))
    if i.shadow.is_fixed:
        where = within(i.array(), x.shape[axis])
        return Shadow(shape, *(_along(a, where, axis) for a in (x.lo, x.hi, x.kind)))
    row = _joined_axis(x, axis)
    cut = tuple(slice(0, size) for size in shape)
    return loose(shape, np.minimum(row.lo[cut], i.shadow.lo), np.maximum(row.hi[cut], i.shadow.hi))


def _along(a: Array, where: Array, axis: int) -> Array:
    """The part at known places along one axis."""
    a = a[tuple(slice(None) if d == axis else slice(0, size) for d, size in enumerate(where.shape))]
    if a.shape[axis] == 1:  # nothing varies along the axis, so that it does not matter what is picked
        return compress(a)
    target = [a.shape[d] if d == axis else size for d, size in enumerate(where.shape)]
    return compress(np.take_along_axis(np.broadcast_to(a, target), where, axis))


def _joined_axis(s: Shadow, axis: int) -> Shadow:
    return Shadow(
        s.shape,
        s.lo.min(axis, keepdims=True, initial=NONE_LO),
        s.hi.max(axis, keepdims=True, initial=NONE_HI),
        kinds_from((s.kind >= FIXED).all(axis, keepdims=True)),
    )


def _pair(a: Shadow, b: Shadow) -> tuple[Array, Array, Array]:
    lo, hi = np.minimum(a.lo.min(), b.lo.min()), np.maximum(a.hi.max(), b.hi.max())
    fixed = bool((a.kind >= FIXED).all() and (b.kind >= FIXED).all())
    return np.asarray(lo), np.asarray(hi), np.asarray(FIXED if fixed else VARIES, np.uint8)


def rows(table: Shadow, i: Operand, axis: int, shape: tuple[int, ...]) -> Shadow:
    """Whole slices of a table along one axis; the axes of the index take its place (a single place may keep it)."""
    if not table.shape:
        return assemble(shape, *_pair(table, i.shadow))
    extent = shape[axis : axis + len(shape) - len(table.shape) + 1]
    free = (1,) * len(extent)
    if i.shadow.is_fixed:
        where = within(i.array().reshape(-1), table.shape[axis])
        parts = []
        for a in (table.lo, table.hi, table.kind):
            one = a.shape[axis] == 1
            a = a if one else a.take(where, axis)
            parts.append(compress(a.reshape((*a.shape[:axis], *(free if one else extent), *a.shape[axis + 1 :]))))
        return Shadow(shape, *parts)
    row = _joined_axis(table, axis)
    lo, hi = (a.reshape((*a.shape[:axis], *free, *a.shape[axis + 1 :])) for a in (row.lo, row.hi))
    before, after = (1,) * axis, (1,) * (len(table.shape) - axis - 1)
    t = reshape(i.shadow, extent)
    lo = np.minimum(lo, t.lo.reshape(before + t.lo.shape + after))
    hi = np.maximum(hi, t.hi.reshape(before + t.hi.shape + after))
    return loose(shape, lo, hi)


def bags(table: Shadow, indices: Shadow, weights: Shadow | None, offsets: Operand, shape: tuple[int, ...]) -> Shadow:
    """Bag b sums the rows of a table that its indices name, from offsets[b] up to the next offset, times weights.

    Offsets that are not known, or bags that are empty, join all bags.
    """
    starts = offsets.array() if offsets.shadow.is_fixed else np.zeros(0, int)
    count, total = shape[0], indices.shape[0]
    if not (len(starts) >= count > 0 and (np.diff(starts[:count]) > 0).all() and starts[count - 1] < total):
        read = [table, indices, offsets.shadow] + ([] if weights is None else [weights])
        return uniform(shape, VARIES, *join_all(read))
    low, high = join_all([table])
    lo, hi = (np.broadcast_to(a, (total,)) for a in (indices.lo, indices.hi))
    if weights is not None:
        lo, hi = np.minimum(lo, weights.lo), np.maximum(hi, weights.hi)
    lo = np.minimum(np.minimum.reduceat(lo, starts[:count]), RANK(low))
    hi = np.maximum(np.maximum.reduceat(hi, starts[:count]), RANK(high))
    return loose(shape, lo[:, None], hi[:, None])


def taken(x: Shadow, i: Shadow, shape: tuple[int, ...]) -> Shadow:
    """Elements by their places in row-major order: any of them."""
    lo, hi = join_all([x])
    return loose(shape, np.minimum(i.lo, RANK(lo)), np.maximum(i.hi, RANK(hi)))


def kept(x: Shadow, mask: Operand, shape: tuple[int, ...]) -> Shadow:
    """The elements that a known mask names, in order; both are broadcast together."""
    both = np.broadcast_shapes(x.shape, mask.shape)
    names = np.broadcast_to(mask.array(), both)
    return Shadow(shape, *(compress(np.broadcast_to(a, both)[names]) for a in (x.lo, x.hi, x.kind)))


# -- writing ----------------------------------------------------------------------------------------------------------


def slots_of(shape: tuple[int, ...]) -> Array:
    """Every place of a tensor by its number in row-major order."""
    return np.arange(math.prod(shape)).reshape(shape)


def written(target: Shadow, slots: Array, source: Shadow, accumulate: bool) -> Shadow:
    """`source` (of the shape of `slots`) written at, or with `accumulate` joined to, the flat places `slots`."""
    parts = [np.array(a).reshape(-1) for a in full(target)]
    lo, hi, kind = parts
    where = slots.reshape(-1)
    a, b, k = (np.broadcast_to(v, slots.shape).reshape(-1) for v in full(source))
    if not accumulate:
        lo[where], hi[where] = NONE_LO, NONE_HI
    np.minimum.at(lo, where, a)
    np.maximum.at(hi, where, b)
    if accumulate:
        fixed = kind >= FIXED
        np.logical_and.at(fixed, where, k >= FIXED)
        new = np.where(fixed, np.uint8(FIXED), np.uint8(VARIES))
        touched = np.zeros(len(kind), bool)
        touched[where] = True
        kind = np.where(touched, new, kind)
    else:
        kind[where] = k
        clash = kind[where] != k  # the same place written twice, in an order that is not ours to know
        if clash.any():
            open_ = np.zeros(len(kind), bool)
            np.logical_or.at(open_, where, k < FIXED)
            twice = np.zeros(len(kind), bool)
            twice[where[clash]] = True
            kind = np.where(twice, np.where(open_, np.uint8(VARIES), np.uint8(FIXED)), kind)
    shape = target.shape
    return assemble(shape, *(compress(v.reshape(shape)) for v in (lo, hi, kind)))


def everywhere(target: Shadow, others: Sequence[Shadow]) -> Shadow:
    """The target joined with everything in the others: a write that may hit any place."""
    lo, hi = join_all(others)
    return loose(target.shape, np.minimum(target.lo, RANK(lo)), np.maximum(target.hi, RANK(hi)))


def put(run: Context, x: Operand, indices: Sequence[Index | None], values: Operand, accumulate: bool) -> Shadow:
    """x[i, j, …] = values, or += with `accumulate`; None for an axis taken whole."""
    given = [i for i in indices if i is not None]
    if all(i.fixed for i in given):
        slots = slots_of(x.shape)[places_of(indices)]
        source = broadcast(values.shadow if accumulate else values.known(), slots.shape)
        return written(x.shadow, slots, source, accumulate)
    first, one = indices[0], math.prod(values.shape) == 1
    if first is not None and len(given) == 1 and first.mask and one and not accumulate:
        return _masked_write(run, x, first.operand, values)
    return everywhere(x.shadow, [*(i.operand.shadow for i in given), values.shadow])


def _masked_write(run: Context, x: Operand, mask: Operand, value: Operand) -> Shadow:
    """One number written wherever a mask (over the leading axes) is true: a selection."""
    tail = (1,) * (len(x.shape) - len(mask.shape))
    m = mask.known()
    wide = Shadow(m.shape + tail, *(a.reshape(a.shape + tail) for a in (m.lo, m.hi, m.kind)))
    return chosen(run, mask, wide, broadcast(value.known(), ()), x.known(), x.shape)


def scattered(run: Context, x: Operand, i: Operand, source: Operand | Number, axis: int, accumulate: bool) -> Shadow:
    """out[…, i[…, k, …], …] = source[…, k, …] along `axis`, or += (any reduction) with `accumulate`."""
    if math.prod(i.shape) == 0:
        return x.shadow
    if not x.shape:
        return everywhere(x.shadow, [i.shadow, known(run, source)])
    index = i.shadow if i.shape else reshape(i.shadow, (1,))
    cut = tuple(slice(0, size) for size in index.shape)
    if index.is_fixed:
        where = within(i.array().reshape(index.shape), x.shape[axis])
        beside = tuple(slice(None) if d == axis else c for d, c in enumerate(cut))
        slots = np.take_along_axis(slots_of(x.shape)[beside], where, axis)
        s = known(run, source)
        arrays = [np.broadcast_to(a, s.shape)[cut] if s.shape else align(a, slots.ndim) for a in (s.lo, s.hi, s.kind)]
        return written(x.shadow, slots, Shadow(slots.shape, *arrays), accumulate)
    s = known(run, source) if isinstance(source, Number) else source.shadow
    parts = []
    for part, empty, reduce in (("lo", NONE_LO, np.minimum), ("hi", NONE_HI, np.maximum)):
        b = np.broadcast_to(getattr(s, part), s.shape)
        hit = reduce(getattr(index, part), compress(b[cut]) if s.shape else b)
        hit = _extended(reduce.reduce(hit, axis=axis, keepdims=True), axis, index.shape, x.shape, empty)
        parts.append(reduce(getattr(x.shadow, part), hit))
    return loose(x.shape, *parts)


def _extended(hit: Array, axis: int, extent: tuple[int, ...], shape: tuple[int, ...], empty: int) -> Array:
    """Beyond the index' extent, along the other axes, nothing is written."""
    for d in range(hit.ndim):
        if d != axis and extent[d] < shape[d]:
            wide = [*hit.shape[:d], extent[d], *hit.shape[d + 1 :]]
            widths = [(0, 0)] * hit.ndim
            widths[d] = (0, shape[d] - extent[d])
            hit = np.pad(np.broadcast_to(hit, wide), widths, constant_values=empty)
    return hit


def slices_written(
    run: Context, x: Operand, i: Operand, source: Operand | Number, axis: int, accumulate: bool
) -> Shadow:
    """Whole slices along `axis` written at, or with `accumulate` added to, the places of an index."""
    s = known(run, source)
    if not x.shape:
        return everywhere(x.shadow, [i.shadow, s])
    axes = len(x.shape)
    if i.shadow.is_fixed:
        slots = np.take(slots_of(x.shape), within(i.array().reshape(-1), x.shape[axis]), axis)
        return written(
            x.shadow, slots, Shadow(slots.shape, *(align(a, axes) for a in (s.lo, s.hi, s.kind))), accumulate
        )
    bounds = join_all([i.shadow])
    parts = []
    for part, bound, reduce in (("lo", bounds[0], np.minimum), ("hi", bounds[1], np.maximum)):
        b = getattr(s, part)
        row = reduce.reduce(b, axis=axis, keepdims=True) if len(s.shape) == axes else align(b, axes)
        parts.append(reduce(reduce(getattr(x.shadow, part), row), RANK(bound)))
    return loose(x.shape, *parts)
