"""Moving, copying, joining and cutting elements (see `transfer.movement`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..domain import Array, Shadow, compress, full, reshape
from ..transfer.movement import joined
from .registry import primitive

if TYPE_CHECKING:
    from .calls import JaxCall


def parts(shadow: Shadow) -> tuple[Array, Array, Array]:
    """lo, hi and kind."""
    return shadow.lo, shadow.hi, shadow.kind


def each(shadow: Shadow, shape: Sequence[int], move: Callable[[Array], Array]) -> Shadow:
    """The shadow whose arrays were moved one by one."""
    return Shadow(tuple(shape), *(move(a) for a in parts(shadow)))


def arranged(shadow: Shadow, order: Sequence[int]) -> Shadow:
    """Axes in another order."""
    return each(shadow, [shadow.shape[d] for d in order], lambda a: np.asarray(a).transpose(order))


@primitive("broadcast_in_dim", moves=True)
def broadcast(call: JaxCall) -> Shadow:
    """Axes put in, or stretched from size 1."""
    shape, places = call.shape, call.params["broadcast_dimensions"]

    def wide(a: Array) -> Array:
        sizes = [1] * len(shape)
        for place, size in zip(places, a.shape, strict=True):
            sizes[place] = size
        return a.reshape(sizes)

    return each(call.operands[0].shadow, shape, wide)


@primitive("reshape squeeze", moves=True)
def reshaped(call: JaxCall) -> Shadow:
    """The elements in row-major order in another shape."""
    x = call.operands[0].shadow
    if call.params.get("dimensions") is not None and call.name == "reshape":
        x = arranged(x, call.params["dimensions"])
    return reshape(x, call.shape)


@primitive("transpose", moves=True)
def transposed(call: JaxCall) -> Shadow:
    """Axes in another order."""
    return arranged(call.operands[0].shadow, call.params["permutation"])


@primitive("slice", moves=True)
def cut(call: JaxCall) -> Shadow:
    """Every so many places from a start to a limit."""
    p = call.params
    strides = p["strides"] or (1,) * len(p["start_indices"])
    spans = [slice(*ends) for ends in zip(p["start_indices"], p["limit_indices"], strides, strict=True)]
    return _cut(call.operands[0].shadow, call.shape, spans)


def _cut(x: Shadow, shape: Sequence[int], spans: Sequence[slice]) -> Shadow:
    def part(a: Array) -> Array:
        return compress(a[tuple(slice(None) if a.shape[d] == 1 else span for d, span in enumerate(spans))])

    return each(x, shape, part)


@primitive("rev", moves=True)
def reversed_(call: JaxCall) -> Shadow:
    """Axes from the end to the start."""
    x = call.operands[0].shadow
    return each(x, x.shape, lambda a: np.flip(np.asarray(a), call.params["dimensions"]))


@primitive("split", moves=True)
def split(call: JaxCall) -> list[Shadow]:
    """Pieces of an axis."""
    axis, start, pieces = call.params["axis"], 0, []
    x = call.operands[0].shadow
    for size, shape in zip(call.params["sizes"], call.shapes, strict=True):
        spans = [slice(start, start + size) if d == axis else slice(None) for d in range(len(shape))]
        pieces.append(_cut(x, shape, spans))
        start += size
    return pieces


@primitive("unstack", moves=True)
def unstacked(call: JaxCall) -> list[Shadow]:
    """One array for every place of an axis."""
    axis, x = call.params["axis"], call.operands[0].shadow
    return [
        each(x, shape, lambda a, i=i: np.asarray(a).take(0 if a.shape[axis] == 1 else i, axis))  # type: ignore[misc]
        for i, shape in enumerate(call.shapes)
    ]


@primitive("concatenate", moves=True)
def concatenated(call: JaxCall) -> Shadow:
    """End to end; constants are looked at first, since each is known by its own numbers only."""
    return joined([o.known() for o in call.operands], call.params["dimension"], call.shape)


@primitive("stack", moves=True)
def stacked(call: JaxCall) -> Shadow:
    """Side by side along a new axis."""
    axis, shape = call.params["axis"], call.shape
    one = (*shape[:axis], 1, *shape[axis + 1 :])
    return joined([reshape(o.known(), one) for o in call.operands], axis, shape)


@primitive("tile", moves=True)
def tiled(call: JaxCall) -> Shadow:
    """Repeated along axes."""
    x = call.operands[0].shadow
    reps = call.params["reps"]

    def repeat(a: Array) -> Array:
        return np.tile(a, [r if size > 1 else 1 for r, size in zip(reps, a.shape, strict=True)])

    return each(x, call.shape, repeat)


@primitive("pad", moves=True)
def padded(call: JaxCall) -> Shadow:
    """One number before, behind and between the elements; negative widths cut."""
    x, fill = (o.known() for o in call.operands)
    places = _places(x.shape, call.params["padding_config"])
    arrays = []
    for a, f in zip(full(x), parts(fill), strict=True):
        wide = np.full(call.shape, np.asarray(f).reshape(-1)[0], a.dtype)
        if math.prod(x.shape) and all(len(to) for _, to in places):
            wide[np.ix_(*(to for _, to in places))] = a[np.ix_(*(frm for frm, _ in places))]
        arrays.append(compress(wide))
    return Shadow(call.shape, *arrays)


def _places(shape: Sequence[int], widths: Sequence[tuple[int, int, int]]) -> list[tuple[Array, Array]]:
    """Along each axis, the places of the elements that stay, before and after."""
    found = []
    for size, (low, high, between) in zip(shape, widths, strict=True):
        length = low + high + size + max(size - 1, 0) * between
        to = low + np.arange(size) * (between + 1)
        stays = (to >= 0) & (to < length)
        found.append((np.flatnonzero(stays), to[stays]))
    return found
