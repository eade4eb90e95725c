"""Reductions, running totals, windows, sorting and Fourier transforms (see `transfer.reductions`, `transfer.scans`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..domain import Array, Shadow, join_intervals, kinds_from
from ..transfer import convolution, fourier, scans
from ..transfer import reductions as transfer
from ..transfer.elementwise import assemble
from ..transfer.indexing import loose
from .movement import each
from .registry import primitive

if TYPE_CHECKING:
    from .calls import JaxCall


@primitive("reduce_min reduce_prod reduce_and reduce_or reduce_xor")
@primitive("argmax argmin")
def reduced(call: JaxCall) -> Shadow:
    """Depends on everything along the axes."""
    return transfer.reduced(call.operands[0].shadow, tuple(call.params["axes"]), call.shape)


@primitive("reduce_sum")
def total(call: JaxCall) -> Shadow:
    """A sum."""
    x, axes = call.operands[0], tuple(call.params["axes"])
    return transfer.total(x.known(), axes, call.shape) if axes else x.shadow


@primitive("reduce_max")
def largest(call: JaxCall) -> Shadow:
    """The largest element."""
    return transfer.largest(call, call.operands[0], tuple(call.params["axes"]), call.shape)


@primitive("reduce")
def folded(call: JaxCall) -> list[Shadow]:
    """Any function of all elements along the axes, of all operands."""
    joined, axes = _joined(call), tuple(call.params["dimensions"])
    return [transfer.reduced(joined, axes, shape) for shape in call.shapes]


def _joined(call: JaxCall) -> Shadow:
    """All operands as one in the shape of the first, constant where all of them are."""
    shadows = [o.shadow for o in call.operands]
    shape = shadows[0].shape
    lo, hi = join_intervals(shadows, len(shape))
    return Shadow(shape, lo, hi, kinds_from(np.full((1,) * len(shape), all(s.is_fixed for s in shadows))))


# -- running totals -----------------------------------------------------------------------------------------------


def _running(call: JaxCall, over: Callable[[Shadow, int], Shadow]) -> Shadow:
    """Along the axis from its start, or from its end."""
    axis, x = call.params["axis"], call.operands[0].known()

    def stretched(a: Array) -> Array:
        return np.broadcast_to(a, [n if d == axis else a.shape[d] for d, n in enumerate(x.shape)])

    def flipped(s: Shadow) -> Shadow:
        return each(s, s.shape, lambda a: np.flip(np.asarray(a), axis)) if call.params["reverse"] else s

    return flipped(over(flipped(each(x, x.shape, stretched)), axis))


@primitive("cumprod cummax cummin cumlogsumexp")
def running(call: JaxCall) -> Shadow:
    """Each element with all before it."""
    return _running(call, scans.prefix)


@primitive("cumsum")
def running_sum(call: JaxCall) -> Shadow:
    """The same; of numbers above 0 it is above 0."""
    return _running(call, scans.running_sum)


# -- windows ------------------------------------------------------------------------------------------------------


@primitive("reduce_window_sum reduce_window_max reduce_window_min reduce_window")
def windowed(call: JaxCall) -> list[Shadow]:
    """What a window over every axis holds."""
    joined = _joined(call)
    return [_windows(joined, shape, call.params) for shape in call.shapes]


def _windows(x: Shadow, shape: tuple[int, ...], p: Any) -> Shadow:
    arrays = []
    for a, (empty, reduce) in zip(convolution.triple(x), convolution.PARTS, strict=True):
        for axis, out in enumerate(shape):
            a, size = spread(a, axis, x.shape[axis], p["base_dilation"][axis], empty)
            taps = [k * p["window_dilation"][axis] for k in range(p["window_dimensions"][axis])]
            stride, before = p["window_strides"][axis], p["padding"][axis][0]
            if taps != [0] or stride != 1 or before or out != size:
                a = convolution.window(a, axis, size, taps, stride, -before, out, empty, reduce)
        arrays.append(a)
    return assemble(shape, arrays[0], arrays[1], kinds_from(arrays[2] == 0))


def spread(a: Array, axis: int, size: int, step: int, empty: int) -> tuple[Array, int]:
    """Elements set apart along an axis, and its length then; between them is nothing."""
    if step == 1:
        return a, size
    length = max(size - 1, 0) * step + min(size, 1)
    wide = np.full((*a.shape[:axis], length, *a.shape[axis + 1 :]), empty, a.dtype)
    wide[(slice(None),) * axis + (slice(None, None, step),)] = a
    return wide, length


@primitive("select_and_gather_add select_and_scatter_add")
def picked(call: JaxCall) -> list[Shadow]:
    """What a window's largest element picks, in any of them."""
    return [transfer.whole(shape, (o.shadow for o in call.operands)) for shape in call.shapes]


# -- sorting and transforms -----------------------------------------------------------------------------------------


@primitive("sort top_k")
def ordered(call: JaxCall) -> list[Shadow]:
    """An element of a sorted axis may come from any place of it, and depends on all."""
    shape = call.operands[0].shape
    axis = call.params.get("dimension", call.params.get("axis", len(shape) - 1))
    lo, hi = join_intervals([o.shadow for o in call.operands], len(shape))
    lo, hi = (r.reduce(np.asarray(a), axis=axis, keepdims=True) for r, a in ((np.minimum, lo), (np.maximum, hi)))
    return [loose(s, lo, hi) for s in call.shapes]


@primitive("fft")
def transformed(call: JaxCall) -> Shadow:
    """Every coefficient reads the whole of the transformed axes, the last ones."""
    x = call.operands[0].shadow
    count = len(call.params["fft_lengths"])
    return fourier.transform(x, tuple(range(len(x.shape) - count, len(x.shape))), call.shape)
