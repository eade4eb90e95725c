"""PyTorch's reductions over segments (see `transfer.segments`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..registry import rule
from ..transfer import segments

if TYPE_CHECKING:
    from ..calls import TorchCall
    from ..domain import Shadow


@rule("aten.segment_reduce", fails="any", sees_sign=False)
def reduced(call: TorchCall) -> Shadow:
    """Along the axis after those of the lengths, or offsets; a segment without elements gives a number of its own."""
    lengths, offsets = call["lengths"], call["offsets"]
    cuts = offsets if lengths is None else lengths
    shape = tuple(call.value.shape)
    return segments.joined(call["data"].shadow, cuts, len(cuts.shape) - 1, shape, cuts is lengths)
