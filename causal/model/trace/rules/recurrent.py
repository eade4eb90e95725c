"""Recurrent layers that run as one kernel (see `transfer.recurrent`)."""

from __future__ import annotations

from typing import Any

from ..domain import VARIES, uniform
from ..registry import rule
from ..transfer import recurrent as transfer


@rule("aten.mkldnn_rnn_layer", fails="never", sees_sign=False)
def layer(call: Any) -> Any:
    """One direction of one LSTM layer, time first; beside its output the last states and a workspace."""
    x = call["input"]
    others = [o.shadow for o in call.operands() if o is not x]
    out = transfer.layer(x.shadow, others, bool(call["reverse"]), tuple(call.value[0].shape))
    lo, hi = int(out.lo.min()), int(out.hi.max())
    return (out, *(uniform(tuple(v.shape), VARIES, lo, hi) for v in call.value[1:] if v is not None))
