"""Fourier transforms: every coefficient reads the whole axis, so a filter that is causal only by cancellation is not
proved.
"""

from __future__ import annotations

from typing import Any

from ..domain import FIXED, Shadow, kinds_from
from ..registry import rule
from ..transfer.elementwise import assemble


@rule("aten._fft_r2c", "aten._fft_c2r", "aten._fft_c2c", fails="never", sees_sign=False)
def transform(call: Any) -> Shadow:
    """Joins the transformed axes."""
    x = call["self"].shadow
    dims = call["dim"]
    axes = tuple(d % len(x.shape) for d in ([dims] if isinstance(dims, int) else dims))
    if not axes:
        return x
    lo, hi = x.lo.min(axes, keepdims=True), x.hi.max(axes, keepdims=True)
    fixed = (x.kind >= FIXED).all(axes, keepdims=True)
    return assemble(tuple(call.value.shape), lo, hi, kinds_from(fixed))
