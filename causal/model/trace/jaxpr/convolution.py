"""Convolutions (see `transfer.convolution`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..domain import RANK, compress, join_all, kinds_from
from ..transfer import convolution as transfer
from ..transfer.elementwise import assemble
from ..transfer.reductions import whole
from .movement import arranged
from .reductions import spread
from .registry import primitive

if TYPE_CHECKING:
    from ..domain import Shadow
    from .calls import JaxCall


@primitive("conv_general_dilated")
def convolved(call: JaxCall) -> Shadow:
    """Any number of spatial axes in any layout, groups, strides, dilations of both sides, padding or cutting.

    Every output depends on all weights; channels of a group are joined.
    """
    p, (x, w) = call.params, call.operands
    layout = p["dimension_numbers"]
    if p["batch_group_count"] != 1:
        return whole(call.shape, (x.shadow, w.shadow))
    s = arranged(x.shadow, layout.lhs_spec)
    shape = tuple(call.shape[d] for d in layout.out_spec)
    kernel = [w.shape[d] for d in layout.rhs_spec[2:]]
    arrays = []
    for a, (empty, reduce) in zip(transfer.triple(s), transfer.PARTS, strict=True):
        a = transfer.join_channels(np.asarray(a), s.shape[1], p["feature_group_count"], reduce)
        for i, size in enumerate(kernel):
            axis = 2 + i
            a, length = spread(a, axis, s.shape[axis], p["lhs_dilation"][i], empty)
            taps = [k * p["rhs_dilation"][i] for k in range(size)]
            before = p["padding"][i][0]
            a = transfer.window(a, axis, length, taps, p["window_strides"][i], -before, shape[axis], empty, reduce)
        arrays.append(transfer.spread_channels(compress(a), shape[1], p["feature_group_count"]))
    lo, hi = join_all([w.shadow])
    fixed = (arrays[2] == 0) & w.shadow.is_fixed
    found = assemble(shape, np.minimum(arrays[0], RANK(lo)), np.maximum(arrays[1], RANK(hi)), kinds_from(fixed))
    return arranged(found, np.argsort(layout.out_spec).tolist())
