"""Scans: output i of a running sum, product, maximum or log-sum-exp joins the inputs 0…i along the axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..domain import FIXED, POSITIVE, VARIES, ZERO, Array, Shadow, kinds_from
from ..registry import rule
from ..transfer.elementwise import assemble


def prefix(s: Shadow, axis: int) -> Shadow:
    """The join of each element with all before it along `axis`."""
    if not s.shape:
        return Shadow(s.shape, s.lo, s.hi, kinds_from(s.kind >= FIXED))
    lo: Array = np.minimum.accumulate(s.lo, axis)
    hi: Array = np.maximum.accumulate(s.hi, axis)
    fixed: Array = np.logical_and.accumulate(s.kind >= FIXED, axis)
    return assemble(s.shape, lo, hi, kinds_from(fixed))


@rule("aten.logcumsumexp", fails="never", sees_sign=False, branch_cut=True)
@rule("aten.cumsum", "aten.cumprod", "aten.cummax", "aten.cummin", fails="never", sees_sign=False)
def scan(call: Any) -> Any:
    """A prefix join; a running product stays 0 after an exact 0, a running sum of numbers above 0 stays above 0."""
    x = call["self"]
    axis = call["dim"] % max(1, len(x.shape))
    result = prefix(x.shadow, axis)
    if call.name == "aten.cumprod" and x.shape:
        zero = np.logical_or.accumulate(x.known().kind == ZERO, axis)
        if zero.any():
            call.zeros_used(x)
            result = assemble(x.shape, result.lo, result.hi, np.where(zero, np.uint8(ZERO), result.kind))
    if call.name == "aten.cumsum" and x.shape and (x.shadow.kind == POSITIVE).all():
        result = Shadow(x.shape, result.lo, result.hi, np.where(result.kind == VARIES, np.uint8(POSITIVE), result.kind))
    return (result, result) if isinstance(call.value, (tuple, list)) else result
