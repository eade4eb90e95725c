"""What lies under a window, at every length: convolutions and pooling, one tap after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import integers, reductions
from .integers import FALSE, TRUE, index, solver, whole
from .primitives import primitive
from .shadow import LengthShadow, may_be_low, settled
from .templates import ranges

if TYPE_CHECKING:
    from .equation import Equation

MOST_TAPS = 256  # of a window, that are followed one by one


@primitive("reduce_window_sum reduce_window_max reduce_window_min reduce_window reduce_window_xor")
def windowed(e: Equation) -> LengthShadow:
    """Any function of the elements under a window; of scores that a mask lowered nothing is said."""
    x, p = e.operands[0], e.params
    sizes, steps, holes = p["window_dimensions"], p["window_strides"], p["window_dilation"]
    if len(e.shapes) > 1 or any(d != 1 for d in p["base_dilation"]):
        return e.everything()
    if not all(isinstance(s, int) for s in sizes) or np.prod(sizes) > MOST_TAPS:
        return e.everything()
    hi = integers.NONE
    for tap in np.ndindex(*sizes):
        lanes = zip(tap, steps, holes, p["padding"], strict=True)
        at = [index(a) * int(s) + int(t) * int(h) - whole(e.size(w[0])) for a, (t, s, h, w) in enumerate(lanes)]
        hi = integers.later(hi, _inside(x, at))
    unseen = TRUE if may_be_low(x) else FALSE
    return settled(LengthShadow(e.shape, hi, fixed=FALSE, unseen=unseen, signed=True))


def _inside(x: LengthShadow, places: list[Any]) -> Any:
    """The latest position at some places, none where they lie outside."""
    inside = [solver.And(p >= 0, p < whole(d)) for p, d in zip(places, x.shape, strict=True)]
    return integers.choice(integers.every(*inside), integers.put(x.hi, places), integers.NONE)


def _is_zero(e: Equation, w: LengthShadow, tap: dict[int, int]) -> bool:
    """Whether all weights at a tap are exactly 0, as those are that a mask hides."""
    if solver.is_false(w.zero):
        return False
    at = [whole(tap[a]) if a in tap else index(a) for a in range(len(w.shape))]
    return e.statements.hold(
        integers.put(w.zero, at), *ranges(w.shape, [a for a in range(len(w.shape)) if a not in tap])
    )


@primitive("conv_general_dilated")
def convolved(e: Equation) -> LengthShadow:
    """Each place reads what lies under the taps of the kernel; of all channels."""
    x, w = e.operands
    p, numbers = e.params, e.params["dimension_numbers"]
    if any(d != 1 for d in p["lhs_dilation"]) or p["batch_group_count"] != 1 or w.depends:
        return e.everything()
    lhs, rhs, out = numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec
    wide = reductions.reduced(e.statements, x, [lhs[1]], e.last)  # without its channels
    left = [a for a in range(len(x.shape)) if a != lhs[1]]
    hi, seen, hidden = integers.NONE, [FALSE], False
    sizes = [e.operand_shapes[1][d] for d in rhs[2:]]
    if not all(isinstance(s, int) for s in sizes) or np.prod(sizes) > MOST_TAPS:
        return e.everything()
    for tap in np.ndindex(*sizes):
        if _is_zero(e, w, {rhs[2 + k]: t for k, t in enumerate(tap)}):
            hidden = True
            continue
        places: dict[int, Any] = {lhs[0]: index(out[0])}
        inside = [TRUE]
        for k, t in enumerate(tap):
            before = whole(e.size(p["padding"][k][0]))
            place = index(out[2 + k]) * int(p["window_strides"][k]) + int(t) * int(p["rhs_dilation"][k]) - before
            places[lhs[2 + k]] = place
            inside.append(solver.And(place >= 0, place < whole(x.shape[lhs[2 + k]])))
        at = integers.put(wide.hi, [places[a] for a in left])
        hi = integers.later(hi, integers.choice(integers.every(*inside), at, integers.NONE))
        seen.append(integers.every(*inside))
    zero = integers.inverse(integers.either(*seen)) if hidden else FALSE
    fixed = TRUE if x.fixed.eq(TRUE) and w.fixed.eq(TRUE) else FALSE
    unseen = TRUE if may_be_low(x) else FALSE
    signed = x.signed or w.signed or hidden  # 0 · x may be −0
    return settled(LengthShadow(e.shape, hi, fixed=fixed, zero=zero, unseen=unseen, signed=signed))
