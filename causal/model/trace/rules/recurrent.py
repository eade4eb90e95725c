"""Recurrent layers that run as one kernel: step t reads the inputs 0…t and the initial state."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..domain import VARIES, Shadow, uniform
from ..registry import rule
from .scans import prefix


@rule("aten.mkldnn_rnn_layer", fails="never", sees_sign=False)
def layer(call: Any) -> Any:
    """One direction of one LSTM layer, time first; `reverse` runs from the end."""
    x = call["input"].shadow
    outputs = list(call.value)
    shape = tuple(outputs[0].shape)
    others = [o for o in call.operands() if o is not call["input"]]
    lo = x.lo.min(-1, keepdims=True)
    hi = x.hi.max(-1, keepdims=True)
    steps = np.broadcast_to(lo, (x.shape[0], *lo.shape[1:])), np.broadcast_to(hi, (x.shape[0], *hi.shape[1:]))
    if call["reverse"]:
        steps = steps[0][::-1], steps[1][::-1]
    loose = np.zeros((1,) * len(x.shape), np.uint8)
    run = prefix(Shadow(x.shape, *steps, loose), 0)
    a, b = run.lo, run.hi
    if call["reverse"]:
        a, b = a[::-1], b[::-1]
    for o in others:  # weights and initial states
        a, b = np.minimum(a, o.shadow.lo.min()), np.maximum(b, o.shadow.hi.max())
    state = (int(a.min()), int(b.max()))
    rest = [uniform(tuple(v.shape), VARIES, *state) for v in outputs[1:] if v is not None]
    return (Shadow(shape, a.astype(x.lo.dtype), b.astype(x.hi.dtype), loose), *rest)
