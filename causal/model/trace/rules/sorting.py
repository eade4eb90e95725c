"""Sorting and searching: an element of a sorted axis may come from any place of it, and depends on all."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..domain import FIXED, RANK, VARIES, Array, Shadow, align, join_all, kinds_from, uniform
from ..registry import rule
from ..transfer.elementwise import assemble


@rule("aten.sort", "aten.topk", sees_sign=False)
def sort(call: Any) -> Any:
    """Joins the axis; values and indices alike."""
    x = call["self"].shadow
    outputs = list(call.value) if isinstance(call.value, (tuple, list)) else [call.value]
    if not x.shape:
        results = tuple(Shadow((), x.lo, x.hi, kinds_from(x.kind >= FIXED)) for _ in outputs)
    else:
        axis = (call["dim"] if call.has("dim") else 0) % len(x.shape)
        lo, hi = x.lo.min(axis, keepdims=True), x.hi.max(axis, keepdims=True)
        kind = kinds_from((x.kind >= FIXED).all(axis, keepdims=True))
        results = tuple(assemble(tuple(v.shape), lo, hi, kind) for v in outputs)
    return results if isinstance(call.value, (tuple, list)) else results[0]


@rule("aten.searchsorted", "aten.bucketize", sees_sign=False)
def search(call: Any) -> Shadow:
    """The place of an element in a sorted row depends on the element and on the row."""
    shape = tuple(call.value.shape)
    axes = len(shape)
    if call.name == "aten.bucketize":
        element, row = call["self"], call["boundaries"]
    else:
        element, row = call["self"], call["sorted_sequence"]
    r = row.shadow
    last = max(0, len(r.shape) - 1)
    parts: list[Array] = []
    e = element.shadow if hasattr(element, "shadow") else uniform((), FIXED)
    for a, b, reduce in (
        (e.lo, r.lo, np.minimum),
        (e.hi, r.hi, np.maximum),
        (e.kind >= FIXED, r.kind >= FIXED, np.logical_and),
    ):
        joined = reduce.reduce(b, axis=last, keepdims=True)
        joined = joined.reshape((1,) * axes) if b.ndim <= 1 or axes < b.ndim else align(joined, axes)
        parts.append(reduce(align(a, axes), joined))
    sorter = call["sorter"] if call.has("sorter") else None
    if sorter is not None:
        lo, hi = join_all([sorter.shadow])
        parts[:2] = [np.minimum(parts[0], RANK(lo)), np.maximum(parts[1], RANK(hi))]
        parts[2] = parts[2] & sorter.shadow.is_fixed
    return assemble(shape, parts[0], parts[1], kinds_from(parts[2]))


@rule(
    "aten.histc",
    "aten.bincount",
    "aten.unique_consecutive",
    "aten._unique2",
    "aten.unique_dim",
    "aten.isin",
    "aten.histogram",
    sees_sign=False,
)
def count(call: Any) -> Any:
    """Counts and distinct values depend on everything."""
    lo, hi = join_all(o.shadow for o in call.operands())
    fixed = all(o.shadow.is_fixed for o in call.operands())
    outputs = list(call.value) if isinstance(call.value, (tuple, list)) else [call.value]
    results = tuple(uniform(tuple(v.shape), FIXED if fixed else VARIES, lo, hi) for v in outputs)
    return results if isinstance(call.value, (tuple, list)) else results[0]
