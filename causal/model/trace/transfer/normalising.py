"""Softmax and norms.

Softmax: a row's weights depend on all visible scores of the row. A score that is exactly −∞ gets weight exactly 0 and
adds nothing to the sum. A score lowered by a large finite constant gets weight 0 when another score of the row is
visible and far enough above; that is checked on the inputs given, and recorded as a condition. A row in which *every*
score is lowered is no masked row: its weights depend on all of them.

Norms: layer, group and RMS norm join the normalised axes, batch norm joins the batch and all positions in training
mode and nothing in evaluation mode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..deferred import held, late
from ..domain import (
    BIG,
    FIXED,
    MASKED,
    NEGINF,
    NONE_HI,
    NONE_LO,
    PLAIN,
    POSITIVE,
    RANK,
    ZERO,
    Array,
    Shadow,
    all_fixed,
    join_axes,
    join_intervals,
    kinds_from,
    reshape,
    uniform,
)
from .elementwise import assemble, pointwise
from .reductions import visible

if TYPE_CHECKING:
    from .context import Context, Operand


def softmax(run: Context, x: Shadow, axis: int, safe: bool) -> Shadow:
    """exp(x) / Σ exp(x) over `axis`; `safe`: a row of −∞ only gives zeros instead of NaN."""
    if not x.shape:
        return uniform((), PLAIN)
    k = x.kind
    hidden = k == NEGINF
    lowered = (k == MASKED) | (k == BIG)
    zero = hidden
    lo, hi = x.lo, x.hi
    if lowered.any():
        open_ = ~(hidden | lowered)
        some = open_.any(axis, keepdims=True)
        dropped = held(run.masked_zero(lowered & some))
        if dropped.any():
            lo, hi = late(np.where, dropped, RANK(NONE_LO), lo), late(np.where, dropped, RANK(NONE_HI), hi)
            zero = zero | dropped
    lo = lo.min(axis, keepdims=True, initial=NONE_LO)
    hi = hi.max(axis, keepdims=True, initial=NONE_HI)
    fixed = (k >= FIXED).all(axis, keepdims=True)
    kind: Array = np.where(fixed, np.uint8(FIXED), np.uint8(POSITIVE))
    if zero.any():
        starved = hidden.all(axis, keepdims=True)
        if starved.any():
            run.starved(np.moveaxis(starved, axis, -1))
            kind = np.where(starved, np.uint8(ZERO if safe else FIXED), kind)
            zero = zero & ~starved
        kind = np.where(zero, np.uint8(ZERO), kind)
        # One visible score: its weight is exp(0) / exp(0) = 1 whatever the score is.
        seen = x.shape[axis] - zero.sum(axis, keepdims=True) * (x.shape[axis] if zero.shape[axis] == 1 else 1)
        kind = np.where((seen == 1) & ~zero & (kind == POSITIVE), np.uint8(PLAIN), kind)
    return assemble(x.shape, lo, hi, kind)


def log_softmax(run: Context, operand: Operand, axis: int) -> Shadow:
    """x − log Σ exp(x) over `axis`: −∞ stays −∞, a lowered score stays lowered; every other element depends on the
    whole row.
    """
    x = operand.known()
    if not x.shape:
        return uniform((), ZERO)
    lo, hi, fixed = join_axes(x, (axis,))
    kind = kinds_from(fixed)
    lowered = (x.kind == MASKED) | (x.kind == BIG)
    if lowered.any() and run.finite_masks:
        seen_lo, seen_hi, dropped = visible(x, (axis,))
        if not dropped.any() or run.masked_below(operand, lowered, (axis,)):
            lo, hi = seen_lo, seen_hi
        lo, hi = late(np.where, lowered, np.minimum(lo, x.lo), lo), late(np.where, lowered, np.maximum(hi, x.hi), hi)
        kind = np.where(lowered & ~fixed, np.uint8(MASKED), kind)
    kind = np.where(~fixed & (x.kind == NEGINF), np.uint8(NEGINF), kind)
    return assemble(x.shape, lo, hi, kind)


def _normalised(x: Shadow, axes: tuple[int, ...], parameters: Sequence[Shadow]) -> tuple[Shadow, Shadow]:
    """(x − mean) / deviation over `axes`, times and plus parameters that broadcast at the right; and the row's mean or
    deviation, with the axes kept.
    """
    lo, hi, fixed = join_axes(x, axes)
    kept = tuple(1 if a in axes else size for a, size in enumerate(x.shape))
    row = Shadow(x.shape, lo, hi, kinds_from(fixed))
    return pointwise(x.shape, [row, *parameters]), assemble(kept, lo, hi, row.kind)


def layer_norm(x: Shadow, count: int, parameters: Sequence[Shadow]) -> tuple[Shadow, Shadow]:
    """Joins the normalised axes, the last `count`; the second result is a row's mean or deviation, axes kept."""
    return _normalised(x, tuple(range(len(x.shape) - count, len(x.shape))), parameters)


def group_norm(x: Shadow, groups: int, parameters: Sequence[Shadow]) -> tuple[Shadow, Shadow]:
    """Joins the channels (axis 1) of a group and every position: over a sequence of positions, it looks ahead.

    Parameters have one number per channel; the second result is a group's mean or deviation, of shape (batch, groups).
    """
    n = x.shape[0]
    rows = reshape(x, (n, groups, math.prod(x.shape[1:]) // groups))
    out, statistic = _normalised(rows, (2,), [])
    out = reshape(out, x.shape)
    for p in parameters:
        out = pointwise(x.shape, [out, reshape(p, (p.shape[0],) + (1,) * (len(x.shape) - 2))])
    return out, reshape(statistic, (n, groups))


def batch_norm(
    x: Shadow, running: Sequence[Shadow], parameters: Sequence[Shadow], training: bool
) -> tuple[Shadow, list[Shadow], Shadow]:
    """The output, the running statistics as they are afterwards, and the batch's own mean or variance.

    Channels are axis 1; all but x have one number per channel. In training mode the batch's statistics are used and
    mixed into the running ones, in evaluation mode the running ones are used and stay.
    """
    rank = len(x.shape)
    per_channel = (1, x.shape[1]) + (1,) * (rank - 2)
    lo, hi, fixed = join_axes(x, (0, *range(2, rank)))
    batch = Shadow(per_channel, lo, hi, kinds_from(fixed))
    before = [reshape(r, per_channel) for r in running]
    used = [batch] if training else before
    parts = [x, *used, *(reshape(p, per_channel) for p in parameters)]
    a, b = join_intervals(parts, rank)
    out = assemble(x.shape, a, b, kinds_from(all_fixed(parts, rank)))
    after = [pointwise(per_channel, [old, batch]) if training else old for old in before]
    return (
        out,
        [reshape(new, r.shape) for new, r in zip(after, running, strict=True)],
        reshape(batch, (x.shape[1],)),
    )
