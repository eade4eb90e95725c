"""Sorting, searching and counting (see `transfer.sorting`)."""

from __future__ import annotations

from typing import Any

from ..domain import FIXED, Shadow, uniform
from ..registry import rule
from ..transfer import sorting as transfer
from ..transfer.reductions import reduced, whole


@rule("aten.sort", "aten.topk", fails="never", sees_sign=False)
def sort(call: Any) -> Any:
    """Joins the axis; values and indices alike."""
    x = call["self"].shadow
    axes = ((call["dim"] if call.has("dim") else 0) % len(x.shape),) if x.shape else ()
    if axes:
        x = transfer.ordered(call, call["self"], *axes)
    if isinstance(call.value, (tuple, list)):
        return tuple(reduced(x, axes, tuple(v.shape)) for v in call.value)
    return reduced(x, axes, tuple(call.value.shape))


@rule("aten.searchsorted", "aten.bucketize", sees_sign=False)
def search(call: Any) -> Shadow:
    """The place of an element, which may be a number, in a sorted row."""
    element = call["self"]
    row = call["boundaries" if call.name == "aten.bucketize" else "sorted_sequence"]
    sorter = call["sorter"] if call.has("sorter") else None
    return transfer.place(
        element.shadow if hasattr(element, "shadow") else uniform((), FIXED),
        row.shadow,
        None if sorter is None else sorter.shadow,
        tuple(call.value.shape),
    )


@rule(
    "aten.histc",
    "aten.bincount",
    "aten.unique_consecutive",
    "aten._unique2",
    "aten.unique_dim",
    "aten.isin",
    "aten.histogram",
    "aten._histogramdd_bin_edges",
    "aten._histogramdd_from_bin_cts",
    "aten._histogramdd_from_bin_tensors",
    "aten.nonzero_static",
    "aten._unique",
    "aten.unique_dim_consecutive",
    "aten._is_all_true",
    "aten._is_any_true",
    sees_sign=False,
)
def count(call: Any) -> Any:
    """Counts and distinct values depend on everything."""
    shadows = [o.shadow for o in call.operands()]
    if isinstance(call.value, (tuple, list)):
        return tuple(whole(tuple(v.shape), shadows) for v in call.value)
    return whole(tuple(call.value.shape), shadows)
