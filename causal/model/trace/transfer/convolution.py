"""Convolutions and pooling: an output position reads a window of input positions, and padding is a constant.

Without zeros in the kernel the window is a box, joined axis by axis. A tap whose weights are all exactly 0 (a masked
kernel) is not read. Channels of a group are joined.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..domain import FIXED, NONE_HI, NONE_LO, RANK, ZERO, Array, Shadow, compress, join_all, kinds_from
from .elementwise import assemble
from .movement import broadcast
from .reductions import reduced

if TYPE_CHECKING:
    from .context import Context, Operand

PARTS: tuple[tuple[int, np.ufunc], ...] = ((NONE_LO, np.minimum), (NONE_HI, np.maximum), (0, np.maximum))


def triple(s: Shadow) -> tuple[Array, Array, Array]:
    """lo, hi, and 1 where the element is no constant: what `PARTS` says how to join, and what stands for nothing."""
    return s.lo, s.hi, (s.kind < FIXED).astype(np.uint8)


def window(
    a: Array,
    axis: int,
    size: int,
    taps: Sequence[int],
    stride: int,
    offset: int,
    out: int,
    empty: int,
    reduce: np.ufunc,
) -> Array:
    """Along `axis` (of length `size`): out[t] joins a[t · stride + offset + tap] over the taps; outside is `empty`."""
    a = _filled(a, axis, size)
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
    a: Array,
    axis: int,
    size: int,
    taps: Sequence[int],
    stride: int,
    padding: int,
    out: int,
    empty: int,
    reduce: np.ufunc,
) -> Array:
    """The transposed window: a[s] reaches out[s · stride − padding + tap]."""
    a = _filled(a, axis, size)
    span = max((size - 1) * stride + max(taps) + 1, out + padding)
    result = np.full((*a.shape[:axis], span, *a.shape[axis + 1 :]), empty, a.dtype)
    lead = (slice(None),) * axis
    for tap in taps:
        where = (*lead, slice(tap, tap + (size - 1) * stride + 1, stride))
        result[where] = reduce(result[where], a)
    return result[(*lead, slice(padding, padding + out))]


def _filled(a: Array, axis: int, size: int) -> Array:
    return np.broadcast_to(a, (*a.shape[:axis], size, *a.shape[axis + 1 :]))


@dataclass(frozen=True)
class Windows:
    """How windows lie over the last axes, one number for each: the kernel's size, and so on."""

    kernel: Sequence[int]
    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    transposed: bool = False

    def joined(
        self,
        a: Array,
        sizes: Sequence[int],
        out: Sequence[int],
        taps: Sequence[Sequence[int]],
        part: tuple[int, np.ufunc],
    ) -> Array:
        """One part of a shadow, its last axes of lengths `sizes`, joined over the taps named, axis by axis."""
        first = a.ndim - len(self.kernel)
        for i, named in enumerate(taps):
            steps, size, stride = [k * self.dilation[i] for k in named], sizes[i], self.stride[i]
            if self.transposed:
                a = scattered(a, first + i, size, steps, stride, self.padding[i], out[i], *part)
            else:
                a = window(a, first + i, size, steps, stride, -self.padding[i], out[i], *part)
        return a


def pooled(s: Shadow, windows: Windows, out: tuple[int, ...]) -> Shadow:
    """The largest, the mean, … of each window over the last axes; `out`: their lengths afterwards."""
    count = len(windows.kernel)
    sizes, taps = s.shape[-count:], [range(k) for k in windows.kernel]
    lo, hi, open_ = (
        compress(windows.joined(a, sizes, out, taps, part)) for a, part in zip(triple(s), PARTS, strict=True)
    )
    return assemble((*s.shape[:-count], *out), lo, hi, kinds_from(open_ == 0))


def pooled_evenly(s: Shadow, out: tuple[int, ...]) -> Shadow:
    """Over the last axes, output i of m reads inputs ⌊i·n/m⌋ … ⌈(i+1)·n/m⌉ − 1."""
    shape = (*s.shape[: len(s.shape) - len(out)], *out)
    parts = []
    for a, (_, reduce) in zip(triple(s), PARTS, strict=True):
        for axis in range(len(shape) - len(out), len(shape)):
            n, m = s.shape[axis], shape[axis]
            a = _filled(a, axis, n)
            pieces = [
                reduce.reduce(a.take(range(i * n // m, math.ceil((i + 1) * n / m)), axis), axis=axis, keepdims=True)
                for i in range(m)
            ]
            a = compress(np.concatenate(pieces, axis))
        parts.append(a)
    return assemble(shape, parts[0], parts[1], kinds_from(parts[2] == 0))


def interpolated(x: Shadow, shape: tuple[int, ...]) -> Shadow:
    """Weighted means of neighbours along the axes after the first two, whichever they are: of all along them."""
    axes = tuple(range(2, len(shape)))
    return broadcast(reduced(x, axes, tuple(1 if a in axes else size for a, size in enumerate(x.shape))), shape)


def convolved(
    run: Context, x: Shadow, w: Operand, bias: Shadow | None, windows: Windows, groups: int, shape: tuple[int, ...]
) -> Shadow:
    """Any number of spatial axes, groups, strides, dilations, padding; transposed or not. x: (batch, channels, …), or
    one example without a batch axis. Every output depends on all weights and on the whole bias.
    """
    axes = len(w.shape)
    batch = () if len(x.shape) == axes else (1,)
    s, whole = broadcast(x, (*batch, *x.shape)), (*batch, *shape)
    sizes, out = s.shape[2:], whole[2:]
    dead = _dead_taps(run, w)
    results = []
    for a, part in zip(triple(s), PARTS, strict=True):
        a = join_channels(a, s.shape[1], groups, part[1])
        if dead is None:
            a = windows.joined(a, sizes, out, [range(k) for k in windows.kernel], part)
        else:
            alive = [tap for tap in itertools.product(*(range(k) for k in windows.kernel)) if not dead[tap]]
            pieces = [windows.joined(a, sizes, out, [(k,) for k in tap], part) for tap in alive]
            a = part[1].reduce(pieces) if pieces else np.full((1,) * axes, part[0], a.dtype)
        results.append(spread_channels(compress(a), whole[1], groups))
    lo, hi, open_ = results
    others = [w.shadow] if bias is None else [w.shadow, bias]
    low, high = join_all(others)
    fixed = (open_ == 0) & all(o.is_fixed for o in others)
    result = assemble(whole, np.minimum(lo, RANK(low)), np.maximum(hi, RANK(high)), kinds_from(fixed))
    return broadcast(result, shape)


def convolved_in_time(x: Shadow, parameters: Sequence[Shadow], taps: int, pad: int, shape: tuple[int, ...]) -> Shadow:
    """A convolution along the first axis of x (time, batch, channels)."""
    joined = reduced(x, (2,), (*x.shape[:2], 1))
    parts = []
    for a, part in zip(triple(joined), PARTS, strict=True):
        parts.append(compress(window(a, 0, x.shape[0], range(taps), 1, -pad, shape[0], *part)))
    low, high = join_all(parameters)
    fixed = (parts[2] == 0) & all(p.is_fixed for p in parameters)
    return assemble(shape, np.minimum(parts[0], RANK(low)), np.maximum(parts[1], RANK(high)), kinds_from(fixed))


def _dead_taps(run: Context, w: Operand) -> Array | None:
    """Boolean over the kernel's taps: all weights exactly 0; None when there is no such tap."""
    s = w.known()
    if not (s.kind == ZERO).any():
        return None
    zero = np.broadcast_to((s.kind == ZERO).all((0, 1)), s.shape[2:])
    if not zero.any():
        return None
    run.zeros_used(w)
    return zero


def join_channels(a: Array, channels: int, groups: int, reduce: np.ufunc) -> Array:
    """(N, C, …) → (N, groups or 1, …)."""
    if a.shape[1] == 1:
        return a
    split = a.reshape((a.shape[0], groups, channels // groups, *a.shape[2:]))
    result: Array = reduce.reduce(split, axis=2)
    return result


def spread_channels(a: Array, channels: int, groups: int) -> Array:
    """(N, groups or 1, …) → (N, C_out or 1, …)."""
    return a if a.shape[1] == 1 else np.repeat(a, channels // groups, axis=1)
