"""Scans (see `transfer.scans`)."""

from __future__ import annotations

from typing import Any

from ..registry import rule
from ..transfer import scans as transfer


@rule("aten.logcumsumexp", fails="never", sees_sign=False, branch_cut=True)
@rule("aten.cumsum", "aten.cumprod", "aten.cummax", "aten.cummin", fails="never", sees_sign=False)
def scan(call: Any) -> Any:
    """Running sums, products, log-sum-exps, maxima and minima; the last two with where they were found."""
    x = call["self"]
    axis = call["dim"] % max(1, len(x.shape))
    if call.name == "aten.cumprod":
        return transfer.running_product(call, x, axis)
    if call.name == "aten.cumsum":
        return transfer.running_sum(x.shadow, axis)
    result = transfer.prefix(x.shadow, axis)
    return (result, result) if isinstance(call.value, (tuple, list)) else result
