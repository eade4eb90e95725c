"""Recurrent layers that run as one kernel: step t reads the inputs 0…t and the initial state."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..domain import Shadow
from .scans import prefix


def layer(x: Shadow, others: Iterable[Shadow], reverse: bool, shape: tuple[int, ...]) -> Shadow:
    """One direction of one layer, time first, features last; `reverse` runs from the end; `others`: weights and initial
    states.
    """
    rows = x.lo.min(-1, keepdims=True), x.hi.max(-1, keepdims=True)
    lo, hi = (np.broadcast_to(a, (x.shape[0], *a.shape[1:])) for a in rows)
    if reverse:
        lo, hi = lo[::-1], hi[::-1]
    loose = np.zeros((1,) * len(x.shape), np.uint8)
    run = prefix(Shadow(x.shape, lo, hi, loose), 0)
    lo, hi = (run.lo[::-1], run.hi[::-1]) if reverse else (run.lo, run.hi)
    for other in others:
        lo, hi = np.minimum(lo, other.lo.min()), np.maximum(hi, other.hi.max())
    return Shadow(shape, lo.astype(x.lo.dtype), hi.astype(x.hi.dtype), loose)
