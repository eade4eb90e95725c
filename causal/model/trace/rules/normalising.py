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
from typing import Any

import numpy as np

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
    VARIES,
    ZERO,
    Array,
    Shadow,
    align,
    join_intervals,
    kinds_from,
    reshape,
    uniform,
)
from ..registry import rule
from ..transfer.elementwise import assemble
from .reductions import holds, visible


def softmax_shadow(call: Any, x: Shadow, axis: int, safe: bool) -> Shadow:
    """The shadow of a softmax over `axis`; `safe`: a row of −∞ only gives zeros instead of NaN."""
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
        dropped = call.masked_zero(lowered & some)
        if dropped.any():
            lo, hi = np.where(dropped, RANK(NONE_LO), lo), np.where(dropped, RANK(NONE_HI), hi)
            zero = zero | dropped
    lo = lo.min(axis, keepdims=True, initial=NONE_LO)
    hi = hi.max(axis, keepdims=True, initial=NONE_HI)
    fixed = (k >= FIXED).all(axis, keepdims=True)
    kind: Array = np.where(fixed, np.uint8(FIXED), np.uint8(POSITIVE))
    if zero.any():
        starved = hidden.all(axis, keepdims=True)
        if starved.any():
            call.starved(np.moveaxis(starved, axis, -1))
            kind = np.where(starved, np.uint8(ZERO if safe else FIXED), kind)
            zero = zero & ~starved
        kind = np.where(zero, np.uint8(ZERO), kind)
        # One visible score: its weight is exp(0) / exp(0) = 1 whatever the score is.
        seen = x.shape[axis] - zero.sum(axis, keepdims=True) * (x.shape[axis] if zero.shape[axis] == 1 else 1)
        kind = np.where((seen == 1) & ~zero & (kind == POSITIVE), np.uint8(PLAIN), kind)
    return assemble(x.shape, lo, hi, kind)


@rule("aten._softmax", "aten._safe_softmax", fails="never", sees_sign=False)
def softmax(call: Any) -> Shadow:
    """exp(x) / Σ exp(x) over one axis."""
    x = call["self"].known()
    axis = call["dim"] % max(1, len(x.shape))
    return softmax_shadow(call, x, axis, call.name == "aten._safe_softmax")


@rule("aten._log_softmax", fails="never", sees_sign=False)
def log_softmax(call: Any) -> Shadow:
    """x − log Σ exp(x): −∞ stays −∞, a lowered score stays lowered; every other element depends on the whole row."""
    x = call["self"].known()
    if not x.shape:
        return uniform((), ZERO)
    axis = call["dim"] % len(x.shape)
    lo = x.lo.min(axis, keepdims=True, initial=NONE_LO)
    hi = x.hi.max(axis, keepdims=True, initial=NONE_HI)
    fixed = (x.kind >= FIXED).all(axis, keepdims=True)
    kind = np.where(fixed, np.uint8(FIXED), np.uint8(VARIES))
    lowered = (x.kind == MASKED) | (x.kind == BIG)
    if lowered.any() and call.finite_masks:
        lo, hi, dropped = visible(call, x, (axis,))
        if dropped.any() and holds(call["self"], x, (axis,)):
            call.tracer.mask_condition(call.name, call.value.dtype, None)
        elif dropped.any():
            lo, hi = x.lo.min(axis, keepdims=True, initial=NONE_LO), x.hi.max(axis, keepdims=True, initial=NONE_HI)
        lo, hi = np.where(lowered, np.minimum(lo, x.lo), lo), np.where(lowered, np.maximum(hi, x.hi), hi)
        kind = np.where(lowered & ~fixed, np.uint8(MASKED), kind)
    kind = np.where(~fixed & (x.kind == NEGINF), np.uint8(NEGINF), kind)
    return assemble(x.shape, lo, hi, kind)


def _normalised(x: Shadow, axes: tuple[int, ...], parameters: list[Any]) -> tuple[Shadow, Array, Array, Array]:
    """The shadow of (x − mean) / deviation over `axes`, times and plus parameters that broadcast at the right; and the
    row.
    """
    lo = x.lo.min(axes, keepdims=True, initial=NONE_LO)
    hi = x.hi.max(axes, keepdims=True, initial=NONE_HI)
    fixed = (x.kind >= FIXED).all(axes, keepdims=True)
    row = Shadow(x.shape, lo, hi, kinds_from(fixed))
    shadows = [row, *(p.shadow for p in parameters if p is not None)]
    rank = len(x.shape)
    a, b = join_intervals(shadows, rank)
    all_ = fixed
    for s in shadows[1:]:
        all_ = all_ & (align(s.kind, rank) >= FIXED)
    return assemble(x.shape, a, b, kinds_from(all_)), lo, hi, kinds_from(fixed)


@rule("aten.native_layer_norm", "aten._fused_rms_norm", fails="never", sees_sign=False)
def layer_norm(call: Any) -> Any:
    """Joins the normalised axes, the last ones."""
    x = call["input"].shadow
    count = len(call["normalized_shape"])
    axes = tuple(range(len(x.shape) - count, len(x.shape)))
    parameters = [call[n] for n in ("weight", "bias") if call.has(n)]
    out, lo, hi, kind = _normalised(x, axes, parameters)
    if not isinstance(call.value, (tuple, list)):
        return out
    statistic = [assemble(_kept(tuple(v.shape), len(x.shape)), lo, hi, kind) for v in call.value[1:]]
    return (out, *(reshape(s, tuple(v.shape)) for s, v in zip(statistic, call.value[1:], strict=True)))


def _kept(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return shape + (1,) * (rank - len(shape))


@rule("aten.native_group_norm", fails="never", sees_sign=False)
def group_norm(call: Any) -> Any:
    """Joins the channels of a group and every position: over a sequence of positions, it looks ahead."""
    x = call["input"].shadow
    n, groups = x.shape[0], call["group"]
    rows = reshape(x, (n, groups, math.prod(x.shape[1:]) // groups))
    out, lo, hi, kind = _normalised(rows, (2,), [])
    back = reshape(out, x.shape)
    for name in ("weight", "bias"):
        p = call[name]
        if p is not None:
            s = reshape(p.shadow, (p.shape[0],) + (1,) * (len(x.shape) - 2))
            a, b = join_intervals([back, s], len(x.shape))
            fixed = (back.kind >= FIXED) & (align(s.kind, len(x.shape)) >= FIXED)
            back = assemble(x.shape, a, b, kinds_from(fixed))
    statistic = reshape(assemble((n, groups, 1), lo, hi, kind), (n, groups))
    return back, statistic, statistic


def _batch_norm(call: Any, training: bool) -> list[Shadow]:
    """Output, then the running mean and variance as they are afterwards."""
    x = call["input"].shadow
    rank = len(x.shape)
    per_channel = (1, x.shape[1]) + (1,) * (rank - 2)
    parts = [x]
    axes = (0, *range(2, rank))
    lo = x.lo.min(axes, keepdims=True, initial=NONE_LO)
    hi = x.hi.max(axes, keepdims=True, initial=NONE_HI)
    batch = Shadow(per_channel, lo, hi, kinds_from((x.kind >= FIXED).all(axes, keepdims=True)))
    running = [call[n] if call.has(n) else None for n in ("running_mean", "running_var")]
    if training:
        parts.append(batch)
    else:
        parts += [reshape(r.shadow, per_channel) for r in running if r is not None]
    parts += [reshape(call[n].shadow, per_channel) for n in ("weight", "bias") if call[n] is not None]
    a, b = join_intervals(parts, rank)
    fixed: Array = np.ones((1,) * rank, bool)
    for s in parts:
        fixed = fixed & (s.kind >= FIXED)
    out = assemble(x.shape, a, b, kinds_from(fixed))
    after = []
    for r in running:
        if r is None:
            continue
        old = reshape(r.shadow, per_channel)
        if training:
            p, q = join_intervals([old, batch], rank)
            old = assemble(per_channel, p, q, kinds_from((old.kind >= FIXED) & (batch.kind >= FIXED)))
        after.append(reshape(old, r.shape))
    return [out, *after, reshape(batch, (x.shape[1],))]


@rule("aten.native_batch_norm", "aten.cudnn_batch_norm", "aten.miopen_batch_norm", fails="never", sees_sign=False)
def batch_norm(call: Any) -> Any:
    """Running statistics are written although the schema does not say so."""
    training = bool(call["training"])
    out, *rest = _batch_norm(call, training)
    statistic = rest[-1]
    for name, shadow in zip(
        [n for n in ("running_mean", "running_var") if call[n] is not None], rest[:-1], strict=True
    ):
        if training:
            call.tracer.assign(call[name].value, shadow)
    results = [out]
    for v in call.value[1:3]:
        results.append(reshape(statistic, tuple(v.shape)) if v.numel() else uniform(tuple(v.shape), VARIES))
    results += [uniform(tuple(v.shape), VARIES, 0, call.tracer.last) for v in call.value[3:]]
    return tuple(results)


@rule(
    "aten._native_batch_norm_legit_no_training",
    "aten._batch_norm_no_update",
    "aten._native_batch_norm_legit.no_stats",
    fails="never",
    sees_sign=False,
)
def batch_norm_pure(call: Any) -> Any:
    """Without writes: evaluation mode, or the batch's own statistics without a running mean."""
    training = call.name == "aten._native_batch_norm_legit"
    out, *_, statistic = _batch_norm(call, training)
    rest = []
    for v in call.value[1:]:
        rest.append(
            reshape(statistic, tuple(v.shape)) if v.numel() == statistic.shape[0] else uniform(tuple(v.shape), VARIES)
        )
    return (out, *rest)


@rule("aten._native_batch_norm_legit", "aten._batch_norm_with_update", fails="never", sees_sign=False)
def batch_norm_legit(call: Any) -> Any:
    """Targets first (running mean and variance), then the outputs."""
    training = bool(call["training"]) if call.has("training") else True
    out, *rest = _batch_norm(call, training)
    statistic, after = rest[-1], rest[:-1]
    fresh = [out]
    for v in call.value[1:]:
        fresh.append(
            reshape(statistic, tuple(v.shape)) if v.numel() == statistic.shape[0] else uniform(tuple(v.shape), VARIES)
        )
    return (*after, *fresh)
