"""Convolutions and pooling: an output position reads a window of input positions, and padding is a constant.

Without zeros in the kernel the window is a box, joined axis by axis. A tap whose weights are all exactly 0 (a masked
kernel) is not read. Channels of a group are joined.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..domain import FIXED, NONE_HI, NONE_LO, ZERO, Array, Shadow, align, compress, join_intervals, kinds_from
from ..registry import rule
from ..transfer.elementwise import assemble


def window(
    a: Array, axis: int, size: int, taps: Sequence[int], stride: int, offset: int, out: int, empty: int, reduce: Any
) -> Array:
    """Along `axis` (of length `size`): out[t] joins a[t · stride + offset + tap] over the taps; outside is `empty`."""
    full = list(a.shape)
    full[axis] = size
    a = np.broadcast_to(a, full)
    first, last = offset + min(taps), (out - 1) * stride + offset + max(taps)
    widths = [(0, 0)] * a.ndim
    widths[axis] = (max(0, -first), max(0, last - size + 1))
    a = np.pad(a, widths, constant_values=empty)
    start = offset + max(0, -first)
    result: Array | None = None
    for tap in taps:
        begin = start + tap
        piece = a[(slice(None),) * axis + (slice(begin, begin + (out - 1) * stride + 1, stride),)]
        result = piece.copy() if result is None else reduce(result, piece)
    assert result is not None
    return result


def scattered(
    a: Array, axis: int, size: int, taps: Sequence[int], stride: int, padding: int, out: int, empty: int, reduce: Any
) -> Array:
    """The transposed window: a[s] reaches out[s · stride − padding + tap]."""
    full = list(a.shape)
    full[axis] = size
    a = np.broadcast_to(a, full)
    span = max((size - 1) * stride + max(taps) + 1, out + padding)
    shape = list(a.shape)
    shape[axis] = span
    result = np.full(shape, empty, a.dtype)
    lead = (slice(None),) * axis
    for tap in taps:
        where = (*lead, slice(tap, tap + (size - 1) * stride + 1, stride))
        result[where] = reduce(result[where], a)
    return result[(*lead, slice(padding, padding + out))]


PARTS = ((NONE_LO, np.minimum), (NONE_HI, np.maximum), (0, np.maximum))


def triple(s: Shadow) -> tuple[Array, Array, Array]:
    """lo, hi, and 1 where the element is no constant."""
    return s.lo, s.hi, (s.kind < FIXED).astype(np.uint8)


@rule(
    "aten.convolution", "aten._convolution", "aten.convolution_overrideable", "aten.mkldnn_convolution",
    fails="never", sees_sign=False,
)  # fmt: skip
def convolution(call: Any) -> Shadow:
    """Any number of spatial axes, groups, strides, dilations, padding; transposed or not."""
    x, w, bias = call["input"] if call.has("input") else call["self"], call["weight"], call["bias"]
    shape = tuple(call.value.shape)
    s = x.shadow
    spatial = len(w.shape) - 2
    batched = len(s.shape) == spatial + 2
    if not batched:  # one example without a batch axis
        s = Shadow((1, *s.shape), *(align(a, spatial + 2) for a in (s.lo, s.hi, s.kind)))
    out_shape = shape if batched else (1, *shape)
    stride, padding, dilation = (_each(call[n], spatial) for n in ("stride", "padding", "dilation"))
    transposed = bool(call["transposed"]) if call.has("transposed") else False
    groups = call["groups"] if call.has("groups") else 1
    taps_zero = _zero_taps(call, w, spatial)
    joined = [_join_channels(a, s.shape[1], groups, reduce) for a, (_, reduce) in zip(triple(s), PARTS, strict=True)]
    sizes, kernel = s.shape[2:], w.shape[2:]
    results = []
    for a, (empty, reduce) in zip(joined, PARTS, strict=True):
        if taps_zero is None:
            for i in range(spatial):
                taps = [k * dilation[i] for k in range(kernel[i])]
                if transposed:
                    a = scattered(a, 2 + i, sizes[i], taps, stride[i], padding[i], out_shape[2 + i], empty, reduce)
                else:
                    a = window(a, 2 + i, sizes[i], taps, stride[i], -padding[i], out_shape[2 + i], empty, reduce)
            total = a
        else:
            parts = []
            for index in itertools.product(*(range(k) for k in kernel)):
                if taps_zero[index]:
                    continue
                b = a
                for i in range(spatial):
                    tap = [index[i] * dilation[i]]
                    if transposed:
                        b = scattered(b, 2 + i, sizes[i], tap, stride[i], padding[i], out_shape[2 + i], empty, reduce)
                    else:
                        b = window(b, 2 + i, sizes[i], tap, stride[i], -padding[i], out_shape[2 + i], empty, reduce)
                parts.append(b)
            total = reduce.reduce(parts) if parts else np.full((1,) * a.ndim, empty, a.dtype)
        results.append(_spread_channels(compress(total), out_shape[1], groups))
    lo, hi, loose = results
    others = [o.shadow for o in (w, bias) if o is not None]
    lo_w, hi_w = min(int(o.lo.min()) for o in others), max(int(o.hi.max()) for o in others)
    lo, hi = np.minimum(lo, np.int32(lo_w)), np.maximum(hi, np.int32(hi_w))
    fixed = (loose == 0) & all(o.is_fixed for o in others)
    result = assemble(out_shape, lo, hi, kinds_from(fixed))
    if batched:
        return result
    return Shadow(shape, *(a.reshape(a.shape[1:]) for a in (result.lo, result.hi, result.kind)))


def _each(value: Any, count: int) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def _zero_taps(call: Any, w: Any, spatial: int) -> Array | None:
    """Boolean over the kernel's taps: all weights exactly 0; None when there is no such tap."""
    s = w.known()
    if not (s.kind == ZERO).any():
        return None
    zero = np.broadcast_to((s.kind == ZERO).all((0, 1)), s.shape[2:])
    if not zero.any():
        return None
    call.zeros_used(w)
    return zero


def _join_channels(a: Array, channels: int, groups: int, reduce: Any) -> Array:
    """(N, C, …) → (N, groups or 1, …)."""
    if a.shape[1] == 1:
        return a
    split = a.reshape((a.shape[0], groups, channels // groups, *a.shape[2:]))
    result: Array = reduce.reduce(split, axis=2)
    return result


def _spread_channels(a: Array, channels: int, groups: int) -> Array:
    """(N, groups or 1, …) → (N, C_out or 1, …)."""
    return a if a.shape[1] == 1 else np.repeat(a, channels // groups, axis=1)


def pooled(
    call: Any,
    s: Shadow,
    shape: tuple[int, ...],
    kernel: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
) -> Shadow:
    """Windows over the last axes."""
    count = len(kernel)
    results = []
    for a, (empty, reduce) in zip(triple(s), PARTS, strict=True):
        for i in range(count):
            axis = len(shape) - count + i
            taps = [k * dilation[i] for k in range(kernel[i])]
            a = window(a, axis, s.shape[axis], taps, stride[i], -padding[i], shape[axis], empty, reduce)
        results.append(compress(a))
    return assemble(shape, results[0], results[1], kinds_from(results[2] == 0))


@rule(
    "aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices", "aten.avg_pool2d", "aten.avg_pool3d",
    fails="never", sees_sign=False,
)  # fmt: skip
def pool(call: Any) -> Any:
    """The largest or the mean of a window; the index of the largest depends on the window too."""
    s = call["self"].shadow
    kernel = list(call["kernel_size"]) if not isinstance(call["kernel_size"], int) else [call["kernel_size"]]
    count = 1 if "1d" in call.name else 2 if "2d" in call.name else 3
    kernel = _each(kernel, count)
    stride = _each(call["stride"] or kernel, count)
    padding = _each(call["padding"], count)
    dilation = _each(call["dilation"], count) if call.has("dilation") else [1] * count
    value = call.value[0] if isinstance(call.value, (tuple, list)) else call.value
    result = pooled(call, s, tuple(value.shape), kernel, stride, padding, dilation)
    return (result, result) if isinstance(call.value, (tuple, list)) else result


@rule(
    "aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d", "aten.adaptive_max_pool2d", fails="never", sees_sign=False
)
def adaptive_pool(call: Any) -> Any:
    """Output i of m reads inputs ⌊i·n/m⌋ … ⌈(i+1)·n/m⌉ − 1."""
    s = call["self"].shadow
    value = call.value[0] if isinstance(call.value, (tuple, list)) else call.value
    shape = tuple(value.shape)
    count = 1 if "1d" in call.name else 2 if "2d" in call.name else 3
    parts = list(triple(s))
    for which, (_, reduce) in enumerate(PARTS):
        for axis in range(len(shape) - count, len(shape)):
            n, m = s.shape[axis], shape[axis]
            full = list(parts[which].shape)
            full[axis] = n
            a = np.broadcast_to(parts[which], full)
            pieces = [
                reduce.reduce(a.take(range(i * n // m, math.ceil((i + 1) * n / m)), axis), axis=axis, keepdims=True)
                for i in range(m)
            ]
            parts[which] = compress(np.concatenate(pieces, axis))
    result = assemble(shape, parts[0], parts[1], kinds_from(parts[2] == 0))
    return (result, result) if isinstance(call.value, (tuple, list)) else result


def with_operands(result: Shadow, operands: Sequence[Any]) -> Shadow:
    """The result joined with further operands."""
    lo, hi = join_intervals([result, *(o.shadow for o in operands)], len(result.shape))
    return Shadow(result.shape, lo, hi, result.kind)
