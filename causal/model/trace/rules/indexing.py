"""Indexing: reading and writing at places that are themselves numbers.

Where an index is a known constant, the operation is applied to the shadow with that very index. Where it depends on
data, the output depends on the index and on everything that it may pick: the whole indexed axis. Writing at such an
index may hit any place of the axis, so every place may depend on the index and on what is written.
"""

from __future__ import annotations

import math
from typing import Any

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
    uniform,
)
from ..registry import rule
from ..transfer.elementwise import assemble, known, select
from .movement import as_torch


def _is_mask(operand: Any) -> bool:
    return str(operand.value.dtype) in ("torch.bool", "torch.uint8")


@rule("aten.index", fails="whole numbers", sees_sign=False, shaped_by_masks="indices")
@rule("aten._unsafe_index", fails="whole numbers", sees_sign=False)
def index(call: Any) -> Shadow:
    """x[i, j, …] with tensors for some of the axes."""
    x, indices = call["self"], call["indices"]
    shape = tuple(call.value.shape)
    s = x.shadow
    indexed: dict[int, Any] = {}
    axis = 0
    for i in indices:
        if i is None:
            axis += 1
            continue
        for d in range(axis, axis + (len(i.shape) if _is_mask(i) else 1)):
            indexed[d] = i
        axis += len(i.shape) if _is_mask(i) else 1
    loose = {d for d, i in indexed.items() if not i.shadow.is_fixed}
    parts: list[Array] = []
    a: Array
    for a, reduce in ((s.lo, np.minimum), (s.hi, np.maximum), (s.kind, None)):
        if reduce is None and loose:
            a, reduce = (s.kind < FIXED).astype(np.uint8), np.maximum
        for d in sorted(loose):
            assert reduce is not None
            a = reduce.reduce(a, axis=d, keepdims=True)
        source = as_torch(a).expand([s.shape[d] if d in indexed else a.shape[d] for d in range(a.ndim)])
        picked = call.info.function(source, [None if i is None else i.value for i in indices])
        parts.append(compress(picked.numpy()))
    if not loose:
        return Shadow(shape, *parts)
    lo, hi, _ = parts
    tensors = [i for i in indices if i is not None and not _is_mask(i)]
    block = np.broadcast_shapes(*(i.shape for i in tensors))
    places = [a for a, i in enumerate(indices) if i is not None]
    adjacent = places == list(range(places[0], places[0] + len(places)))
    lead = places[0] if adjacent else 0
    tail = len(shape) - lead - len(block)
    for i in tensors:
        if i.shadow.is_fixed:
            continue
        t = i.shadow
        form = (1,) * (lead + len(block) - len(t.shape)), (1,) * tail
        lo = np.minimum(lo, t.lo.reshape(form[0] + t.lo.shape + form[1]))
        hi = np.maximum(hi, t.hi.reshape(form[0] + t.hi.shape + form[1]))
    return Shadow(shape, lo, hi, np.zeros((1,) * len(shape), np.uint8))


def _joined_axis(s: Shadow, axis: int) -> Shadow:
    return Shadow(
        s.shape,
        s.lo.min(axis, keepdims=True, initial=NONE_LO),
        s.hi.max(axis, keepdims=True, initial=NONE_HI),
        kinds_from((s.kind >= FIXED).all(axis, keepdims=True)),
    )


@rule("aten.gather", fails="whole numbers", sees_sign=False)
def gather(call: Any) -> Shadow:
    """out[…, i, …] = x[…, index[…, i, …], …]."""
    x, i = call["self"], call["index"]
    shape = tuple(call.value.shape)
    if not shape:
        return assemble((), *_pair(x.shadow, i.shadow))
    axis = call["dim"] % len(shape)
    s = x.shadow
    if i.shadow.is_fixed:
        parts = []
        for a in (s.lo, s.hi, s.kind):
            source = as_torch(a).expand(s.shape)
            parts.append(compress(source.gather(axis, i.value).numpy()))
        return Shadow(shape, *parts)
    row = _joined_axis(s, axis)
    parts = []
    for a, b, reduce in ((row.lo, i.shadow.lo, np.minimum), (row.hi, i.shadow.hi, np.maximum)):
        cut = a[tuple(slice(0, min(size, a.shape[d])) for d, size in enumerate(shape))]
        parts.append(reduce(cut, b))
    return Shadow(shape, parts[0], parts[1], np.zeros((1,) * len(shape), np.uint8))


def _pair(a: Shadow, b: Shadow) -> tuple[Array, Array, Array]:
    lo, hi = np.minimum(a.lo.min(), b.lo.min()), np.maximum(a.hi.max(), b.hi.max())
    fixed = bool((a.kind >= FIXED).all() and (b.kind >= FIXED).all())
    return np.asarray(lo), np.asarray(hi), np.asarray(FIXED if fixed else VARIES, np.uint8)


@rule("aten.index_select", fails="whole numbers", sees_sign=False, carries=True)
@rule("aten.embedding", fails="whole numbers", sees_sign=False)
def rows(call: Any) -> Shadow:
    """Whole slices along one axis; a lookup table is indexed along its first."""
    table = call["weight"] if call.name == "aten.embedding" else call["self"]
    i = call["indices"] if call.name == "aten.embedding" else call["index"]
    shape = tuple(call.value.shape)
    s = table.shadow
    axis = 0 if call.name == "aten.embedding" or not s.shape else call["dim"] % len(s.shape)
    if not s.shape:
        return assemble(shape, *_pair(s, i.shadow))
    before, after = (1,) * axis, (1,) * (len(s.shape) - axis - 1)
    if i.shadow.is_fixed:
        parts = []
        where = i.value.reshape(-1).cpu().numpy()
        for a in (s.lo, s.hi, s.kind):
            if a.shape[axis] > 1:
                a = a.take(where, axis)
                a = a.reshape((*a.shape[:axis], *i.shape, *a.shape[axis + 1 :]))
            else:
                a = a.reshape((*a.shape[:axis], *(1,) * len(i.shape), *a.shape[axis + 1 :]))
            parts.append(compress(a))
        return Shadow(shape, *parts)
    row = _joined_axis(s, axis)
    lo, hi = (a.reshape((*a.shape[:axis], *(1,) * len(i.shape), *a.shape[axis + 1 :])) for a in (row.lo, row.hi))
    t = i.shadow
    lo = np.minimum(lo, t.lo.reshape(before + t.lo.shape + after))
    hi = np.maximum(hi, t.hi.reshape(before + t.hi.shape + after))
    return Shadow(shape, lo, hi, np.zeros((1,) * len(shape), np.uint8))


@rule("aten._embedding_bag", "aten._embedding_bag_forward_only", fails="whole numbers", sees_sign=False)
def bags(call: Any) -> Any:
    """Bag b sums the looked-up rows of its indices, offsets[b] … offsets[b + 1] − 1; unknown offsets join all bags."""
    lo, hi = join_all(o.shadow for o in call.operands())
    outputs = list(call.value) if isinstance(call.value, (tuple, list)) else [call.value]
    results = [uniform(tuple(v.shape), VARIES, lo, hi) for v in outputs]
    offsets, indices, weights = call["offsets"], call["indices"], call["per_sample_weights"]
    starts = offsets.value.cpu().numpy() if offsets.shadow.is_fixed else np.zeros(0, int)
    count, total = outputs[0].shape[0], indices.shape[0]
    if len(starts) >= count > 0 and (np.diff(starts[:count]) > 0).all() and starts[count - 1] < total:
        low, high = join_all([call["weight"].shadow])
        a, b = (np.broadcast_to(v, (total,)) for v in (indices.shadow.lo, indices.shadow.hi))
        if weights is not None:
            a, b = np.minimum(a, weights.shadow.lo), np.maximum(b, weights.shadow.hi)
        a = np.minimum(np.minimum.reduceat(a, starts[:count]), RANK(low))
        b = np.maximum(np.maximum.reduceat(b, starts[:count]), RANK(high))
        shape = tuple(outputs[0].shape)
        results[0] = Shadow(shape, a[:, None], b[:, None], np.zeros((1, 1), np.uint8))
    return tuple(results) if isinstance(call.value, (tuple, list)) else results[0]


# -- writing ----------------------------------------------------------------------------------------------------------


def written(target: Shadow, slots: Array, source: Shadow, accumulate: bool) -> Shadow:
    """`source` (of the shape of `slots`) written at the flat places `slots` of the target."""
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
            loose = np.zeros(len(kind), bool)
            np.logical_or.at(loose, where, k < FIXED)
            twice = np.zeros(len(kind), bool)
            twice[where[clash]] = True
            kind = np.where(twice, np.where(loose, np.uint8(VARIES), np.uint8(FIXED)), kind)
    shape = target.shape
    return assemble(shape, *(compress(v.reshape(shape)) for v in (lo, hi, kind)))


def _names(shape: tuple[int, ...]) -> Any:
    import torch

    return torch.arange(math.prod(shape)).reshape(shape)


def everywhere(target: Shadow, operands: list[Any], axes: tuple[int, ...] | None = None) -> Shadow:
    """The target joined with everything in the operands: a write that may hit any place."""
    lo, hi = join_all(o.shadow for o in operands)
    return Shadow(
        target.shape,
        np.minimum(target.lo, RANK(lo)),
        np.maximum(target.hi, RANK(hi)),
        np.zeros((1,) * len(target.shape), np.uint8),
    )


@rule("aten.index_put", "aten._unsafe_index_put", "aten._index_put_impl", fails="whole numbers", sees_sign=False)
def index_put(call: Any) -> Shadow:
    """x[i, j, …] = values (or += with accumulate)."""
    x, indices, values = call["self"], call["indices"], call["values"]
    given = [i for i in indices if i is not None]
    accumulate = bool(call["accumulate"])
    if all(i.shadow.is_fixed for i in given):
        slots = _names(x.shape)[tuple(slice(None) if i is None else i.value for i in indices)].numpy()
        v = values.known() if not accumulate else values.shadow
        source = Shadow(
            slots.shape,
            *(align(a.reshape(a.shape[max(0, a.ndim - slots.ndim) :]), slots.ndim) for a in (v.lo, v.hi, v.kind)),
        )
        return written(x.shadow, slots, source, accumulate)
    if (
        len(given) == 1
        and _is_mask(given[0])
        and not accumulate
        and values.value.numel() == 1
        and indices[0] is given[0]
    ):
        return _masked_write(call, x, given[0], values)
    return everywhere(x.shadow, [*given, values])


def _masked_write(call: Any, x: Any, mask: Any, value: Any) -> Shadow:
    """One number written wherever a mask (over the leading axes) is true: a selection."""
    from types import SimpleNamespace

    tail = (1,) * (len(x.shape) - len(mask.shape))
    m = mask.known()
    wide = Shadow(m.shape + tail, *(a.reshape(a.shape + tail) for a in (m.lo, m.hi, m.kind)))
    v = value.known()
    one = Shadow((), *(a.reshape(()) for a in (v.lo, v.hi, v.kind)))
    condition = SimpleNamespace(known=lambda: wide, memory=getattr(mask, "memory", None))
    return select(call, condition, SimpleNamespace(known=lambda: one), x, x.shape)


@rule("aten.scatter", "aten.scatter_add", "aten.scatter_reduce", fails="whole numbers", sees_sign=False)
def scatter(call: Any) -> Shadow:
    """out[…, index[…, i, …], …] = (or +=) src[…, i, …]."""
    x, i = call["self"], call["index"]
    src = call["src"] if call.has("src") else call["value"]
    accumulate = call.name != "aten.scatter" or (call.has("reduce") and call["reduce"] is not None)
    if not x.shape:
        return everywhere(x.shadow, call.operands())
    axis = call["dim"] % len(x.shape)
    if i.shadow.is_fixed:
        where = _names(x.shape).gather(axis, i.value).numpy()
        s = known(call, src)
        if s.shape:
            cut = tuple(slice(0, n) for n in where.shape)
            source = Shadow(where.shape, *(np.broadcast_to(a, s.shape)[cut] for a in (s.lo, s.hi, s.kind)))
        else:
            source = Shadow(where.shape, *(align(a, where.ndim) for a in (s.lo, s.hi, s.kind)))
        return written(x.shadow, where, source, accumulate)
    parts = []
    for a, name, empty, reduce in (
        (x.shadow.lo, "lo", NONE_LO, np.minimum),
        (x.shadow.hi, "hi", NONE_HI, np.maximum),
    ):
        hit = np.asarray(getattr(i.shadow, name)).copy()
        if hasattr(src, "shadow"):
            b = np.broadcast_to(getattr(src.shadow, name), src.shadow.shape)
            b = compress(b[tuple(slice(0, n) for n in i.shape)]) if src.shadow.shape else b
            hit = reduce(hit, b)
        hit = reduce.reduce(hit, axis=axis, keepdims=True)
        for d in range(hit.ndim):  # beyond the index' extent nothing is written
            if d != axis and i.shape[d] < x.shape[d]:
                wide = list(hit.shape)
                wide[d] = i.shape[d]
                widths = [(0, 0)] * hit.ndim
                widths[d] = (0, x.shape[d] - i.shape[d])
                hit = np.pad(np.broadcast_to(hit, wide), widths, constant_values=empty)
        parts.append(reduce(a, hit))
    return Shadow(x.shape, parts[0], parts[1], np.zeros((1,) * len(x.shape), np.uint8))


@rule(
    "aten.index_add", "aten.index_copy", "aten.index_fill", "aten.index_reduce", fails="whole numbers", sees_sign=False
)
def index_write(call: Any) -> Shadow:
    """Whole slices along one axis written or added at indices."""
    x, i = call["self"], call["index"]
    source = call["source"] if call.has("source") else call["value"]
    accumulate = call.name in ("aten.index_add", "aten.index_reduce")
    s = known(call, source)
    if not x.shape:
        return everywhere(x.shadow, call.operands())
    axis = call["dim"] % len(x.shape)
    if i.shadow.is_fixed:
        slots = _names(x.shape).index_select(axis, i.value.reshape(-1)).numpy()
        if len(s.shape) == slots.ndim:
            spread = s
        else:
            spread = Shadow(slots.shape, *(align(a, slots.ndim) for a in (s.lo, s.hi, s.kind)))
        return written(x.shadow, slots, Shadow(slots.shape, spread.lo, spread.hi, spread.kind), accumulate)
    lo, hi = join_all([i.shadow])
    parts = []
    for a, b, bound, reduce in (
        (x.shadow.lo, s.lo, lo, np.minimum),
        (x.shadow.hi, s.hi, hi, np.maximum),
    ):
        row = reduce.reduce(b, axis=axis, keepdims=True) if len(s.shape) == len(x.shape) else align(b, len(x.shape))
        parts.append(reduce(reduce(a, row), RANK(bound)))
    return Shadow(x.shape, parts[0], parts[1], np.zeros((1,) * len(x.shape), np.uint8))


@rule("aten.take", "aten.put", fails="whole numbers", sees_sign=False)
def take(call: Any) -> Shadow:
    """Flat reads and writes: joined with everything."""
    operands = call.operands()
    shape = tuple(call.value.shape)
    if call.name == "aten.put":
        return everywhere(operands[0].shadow, operands[1:])
    lo, hi = join_all([operands[0].shadow])
    i = operands[1].shadow
    return Shadow(shape, np.minimum(i.lo, RANK(lo)), np.maximum(i.hi, RANK(hi)), np.zeros((1,) * len(shape), np.uint8))


@rule("aten.masked_select", fails="whole numbers", sees_sign=False, shaped_by="mask")
def masked_select(call: Any) -> Shadow:
    """With a constant mask, the elements it names in order."""
    x, mask = call["self"], call["mask"]
    shape = np.broadcast_shapes(x.shape, mask.shape)
    names = np.broadcast_to(mask.value.cpu().numpy(), shape)
    return Shadow(
        tuple(call.value.shape),
        *(compress(np.broadcast_to(a, shape)[names]) for a in (x.shadow.lo, x.shadow.hi, x.shadow.kind)),
    )


@rule("aten.nonzero", fails="whole numbers", sees_sign=False)
@rule("aten.repeat_interleave.Tensor", fails="whole numbers", sees_sign=False, shaped_by="repeats")
def places(call: Any) -> Any:
    """Places of true elements of a constant mask (others are refused before: the shape would depend on values)."""
    return uniform(tuple(call.value.shape), FIXED)
