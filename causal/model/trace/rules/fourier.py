"""Fourier transforms (see `transfer.fourier`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..registry import rule
from ..transfer import fourier as transfer

if TYPE_CHECKING:
    from ..domain import Shadow


@rule("aten._fft_r2c", "aten._fft_c2r", "aten._fft_c2c", fails="never", sees_sign=False, layout="own")
def transform(call: Any) -> Shadow:
    """Joins the transformed axes."""
    x, dims = call["self"].shadow, call["dim"]
    axes = tuple(d % len(x.shape) for d in ([dims] if isinstance(dims, int) else dims))
    return transfer.transform(x, axes, tuple(call.value.shape))
