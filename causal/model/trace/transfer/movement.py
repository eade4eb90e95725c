"""Moving, copying, joining and cutting elements: nothing is computed, so the shadow moves the way the elements do.

What an operation does to its elements it does to the three arrays of the shadow. They may be sent through the
operation itself (`through`), expanded without copying (stride 0 where they are compressed), so that an axis along which
nothing varies stays free. Reshapes work on the compressed arrays directly (`domain.reshape`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..deferred import late
from ..domain import (
    FIXED,
    NONE_HI,
    NONE_LO,
    POSITIVE,
    RANK,
    VARIES,
    ZERO,
    Array,
    Shadow,
    align,
    compress,
    full,
    join_all,
    uniform,
)
from .elementwise import assemble, chosen

if TYPE_CHECKING:
    from .context import Context, Operand

Through = Callable[[Sequence[Array]], Sequence[Array]]  # the operation at hand: the tensors it moves, what comes out


def moved(shadows: Sequence[Shadow], through: Through, squeeze: bool = False) -> tuple[Shadow, ...]:
    """The outputs of an operation that only moves elements: lo, hi and kind are sent through it, one after the other.

    `squeeze`: compress what comes out, for operations that write a copy and so fill the axes of stride 0.
    """
    parts = [through([expanded(getattr(s, part), s.shape) for s in shadows]) for part in ("lo", "hi", "kind")]
    return tuple(_of(arrays, squeeze) for arrays in zip(*parts, strict=True))


def expanded(array: Array, shape: tuple[int, ...]) -> Array:
    """The array in its tensor's own shape, without copying."""
    return np.broadcast_to(np.asarray(array), shape)


def without_repeats(array: Array) -> Array:
    """The array with axes of stride 0 cut to size 1."""
    steps = zip(array.strides, array.shape, strict=True)
    cut = (slice(0, 1) if step == 0 and size > 1 else slice(None) for step, size in steps)
    return array[(*cut, ...)]  # the dots: an array without axes stays one


def _of(arrays: Sequence[Array], squeeze: bool) -> Shadow:
    cut = [without_repeats(a) for a in arrays]
    return Shadow(arrays[0].shape, *(compress(a) if squeeze else a for a in cut))


def converted(x: Shadow, positive: bool = False) -> Shadow:
    """Another type: rounding and truncation are functions of the element. Constants are to be looked at again, but an
    exact 0 stays one.

    `positive`: what is above 0 stays above 0, as it does as a floating number or as a truth value, and not as a whole
    number (0.5 becomes 0).
    """
    kind = np.where(x.kind >= FIXED, np.uint8(FIXED), np.uint8(VARIES))
    kind = np.where(x.kind == ZERO, np.uint8(ZERO), kind)
    if positive:
        kind = np.where(x.kind == POSITIVE, np.uint8(POSITIVE), kind)
    return Shadow(x.shape, x.lo, x.hi, kind)


def joined(shadows: Sequence[Shadow], axis: int, shape: tuple[int, ...]) -> Shadow:
    """Tensors joined end to end along `axis`, with `shape` as the result."""
    if not shadows:
        return uniform(shape, FIXED)
    parts = []
    for arrays in zip(*((s.lo, s.hi, s.kind) for s in shadows), strict=True):
        sizes = [max(a.shape[d] for a in arrays) for d in range(len(shape))]
        pieces = []
        for a, s in zip(arrays, shadows, strict=True):
            target = list(sizes)
            target[axis] = s.shape[axis]
            pieces.append(np.broadcast_to(a, target))
        parts.append(compress(np.concatenate(pieces, axis)))
    return Shadow(shape, *parts)


def padded(x: Shadow, fill: Shadow, widths: Sequence[tuple[int, int]]) -> Shadow:
    """A border of one constant; `widths`: (before, after) for every axis, a negative one cuts."""
    arrays = [x.lo, x.hi, x.kind]
    shape = list(x.shape)
    for axis, (before, after) in enumerate(widths):
        if before == 0 and after == 0:
            continue
        size = x.shape[axis]
        shape[axis] = before + size + after
        inside = (slice(None),) * axis + (slice(max(0, -before), size - max(0, -after)),)
        border = [(0, 0)] * len(shape)
        border[axis] = (max(0, before), max(0, after))
        for which, value in enumerate((fill.lo, fill.hi, fill.kind)):
            a = arrays[which]
            a = np.broadcast_to(a, (*a.shape[:axis], size, *a.shape[axis + 1 :]))[inside]
            arrays[which] = np.pad(a, border, constant_values=value.reshape(-1)[0])
    return Shadow(tuple(shape), *(compress(a) for a in arrays))


def transported(x: Shadow, through: Callable[[Array], Array]) -> Shadow:
    """Each output element is one input element or an exact 0: numbers that name the elements are sent through the
    operation, 1, 2, … as float64, which holds them exactly; 0 names what no element fills.
    """
    named = np.arange(1, math.prod(x.shape) + 1, dtype=np.float64).reshape(x.shape)
    which = through(named).astype(np.int64)
    parts = []
    for a, empty in zip(full(x), (NONE_LO, NONE_HI, ZERO), strict=True):
        flat = np.concatenate([np.array([empty], a.dtype), a.reshape(-1)])
        parts.append(compress(flat[which]))
    return Shadow(which.shape, *parts)


def triangle(x: Shadow, diagonal: int, upper: bool) -> Shadow:
    """The elements on and below a diagonal (`upper`: on and above it); exact zeros on the other side."""
    rows, columns = x.shape[-2:]
    keep = ~np.tri(rows, columns, diagonal - 1, bool) if upper else np.tri(rows, columns, diagonal, bool)
    keep = align(keep, len(x.shape))
    lo, hi = late(np.where, keep, x.lo, RANK(NONE_LO)), late(np.where, keep, x.hi, RANK(NONE_HI))
    return Shadow(x.shape, lo, hi, late(np.where, keep, x.kind, np.uint8(ZERO)))


def among_zeros(shadows: Sequence[Shadow], through: Through) -> Shadow:
    """The elements, and exact zeros elsewhere, as on a diagonal: the operation puts 0 where nothing is.

    Every part is shifted on its way through, so that 0 means an empty interval and an exact zero.
    """
    parts = []
    for part, empty in (("lo", NONE_LO), ("hi", NONE_HI), ("kind", ZERO)):
        (back,) = through([expanded(getattr(s, part), s.shape).astype(np.int64) - empty for s in shadows])
        parts.append(back + empty)
    lo, hi, kind = parts
    lo, hi = compress(lo.astype(RANK)), compress(hi.astype(RANK))
    return assemble(kind.shape, lo, hi, compress(kind.astype(np.uint8)))


def broadcast(x: Shadow, shape: tuple[int, ...]) -> Shadow:
    """The elements repeated to fill `shape`; more axes than it has, of size 1, are dropped in front."""
    axes = len(shape)
    return Shadow(shape, *(align(a.reshape(a.shape[max(0, a.ndim - axes) :]), axes) for a in (x.lo, x.hi, x.kind)))


def masked_scatter(run: Context, target: Operand, mask: Operand, source: Shadow, shape: tuple[int, ...]) -> Shadow:
    """Elements of the source in the order of the mask's true entries: any of them, wherever the mask may be true."""
    if mask.shadow.is_fixed:
        any_of_it = uniform(shape, VARIES, *join_all((source,)))
        return chosen(run, mask, mask.known(), any_of_it, target.known(), shape)
    lo, hi = join_all((mask.shadow, source))
    t = target.shadow
    return assemble(
        shape, np.minimum(t.lo, RANK(lo)), np.maximum(t.hi, RANK(hi)), np.zeros((1,) * len(shape), np.uint8)
    )
