"""Reductions: a number made of all elements along some axes depends on each of them.

Sums do not feel exact zeros, and maxima and log-sum-exps do not feel −∞: those elements carry no interval, so the plain
join already leaves them out. A score lowered by a large constant leaves a maximum alone as long as another is visible.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..domain import BIG, FIXED, MASKED, NEGINF, NONE_HI, NONE_LO, POSITIVE, RANK, VARIES, ZERO, Array, Shadow, uniform
from ..registry import names, rule
from ..transfer.elementwise import assemble


def axes_of(rank: int, dim: Any) -> tuple[int, ...]:
    """The reduced axes, from an argument that is None, a number or a list; all axes for None or an empty list."""
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return tuple(range(rank))
    dims = [dim] if isinstance(dim, int) else list(dim)
    return tuple(sorted(d % rank for d in dims)) if rank else ()


def fit(shape: tuple[int, ...], rank: int, axes: tuple[int, ...], arrays: tuple[Array, ...]) -> list[Array]:
    """Arrays that kept the reduced axes with size 1, without those axes when the output has dropped them."""
    if len(shape) == rank:
        return list(arrays)
    return [np.squeeze(a, axes) for a in arrays]


def reduced(x: Shadow, axes: tuple[int, ...], shape: tuple[int, ...]) -> Shadow:
    """The join over `axes`."""
    rank = len(x.shape)
    if not x.shape:
        return Shadow(shape, x.lo, x.hi, np.where(x.kind >= FIXED, np.uint8(FIXED), np.uint8(VARIES)))
    lo = x.lo.min(axes, keepdims=True, initial=NONE_LO)
    hi = x.hi.max(axes, keepdims=True, initial=NONE_HI)
    fixed = (x.kind >= FIXED).all(axes, keepdims=True)
    lo, hi, kind = fit(shape, rank, axes, (lo, hi, np.where(fixed, np.uint8(FIXED), np.uint8(VARIES))))
    return assemble(shape, lo, hi, kind)


def arguments(call: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """The operand, the reduced axes and the output's shape."""
    x = call["self"]
    dim = call["dim"] if call.has("dim") else None
    value = call.value[0] if isinstance(call.value, (tuple, list)) else call.value
    return x, axes_of(len(x.shape), dim), tuple(value.shape)


REDUCTIONS = names(
    """
    mean prod var std amin min nansum all any count_nonzero argmax argmin linalg_vector_norm norm median mode
    nanmedian kthvalue aminmax var_mean std_mean trace dist
    """
)


@rule("aten.hash_tensor", fails="never", sees_sign=True)
@rule(*REDUCTIONS, fails="never", sees_sign=False)
def reduction(call: Any) -> Any:
    """Depends on everything along the axes; an index of the largest element depends on all of them as well."""
    operands = call.operands()
    if len(operands) > 1 or call.name == "aten.trace":
        from ..domain import join_all

        lo, hi = join_all(o.shadow for o in operands)
        fixed = all(o.shadow.is_fixed for o in operands)
        return uniform(tuple(call.value.shape), FIXED if fixed else VARIES, lo, hi)
    x, axes, shape = arguments(call)
    result = reduced(x.shadow, axes, shape)
    if isinstance(call.value, (tuple, list)):
        return tuple(Shadow(tuple(v.shape), result.lo, result.hi, result.kind) for v in call.value)
    return result


@rule("aten.sum", fails="never", sees_sign=False)
def total(call: Any) -> Shadow:
    """A sum of zeros is 0; a sum of numbers above 0 and zeros is above 0."""
    x, axes, shape = arguments(call)
    result = reduced(x.shadow, axes, shape)
    k = x.shadow.kind
    if x.shape and ((k == ZERO).any() or (k == POSITIVE).any()):
        zero = (k == ZERO).all(axes, keepdims=True)
        above = ((k == POSITIVE) | (k == ZERO)).all(axes, keepdims=True) & (k == POSITIVE).any(axes, keepdims=True)
        zero, above = fit(shape, len(x.shape), axes, (zero, above))
        kind = np.where(zero, np.uint8(ZERO), np.where(above, np.uint8(POSITIVE), result.kind))
        return assemble(shape, result.lo, result.hi, kind)
    return result


def visible(call: Any, x: Shadow, axes: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Per row (axes kept): lo, hi over the elements that can win a maximum, and whether masked ones were left out.

    A masked element is left out of rows in which an element is visible (neither masked nor −∞).
    """
    k = x.kind
    masked = (k == MASKED) | (k == BIG)
    open_ = ~masked & (k != NEGINF)
    some = np.broadcast_to(open_, np.broadcast_shapes(open_.shape, x.lo.shape)).any(axes, keepdims=True)
    drop = (k == MASKED) & some
    lo = np.where(drop, RANK(NONE_LO), x.lo).min(axes, keepdims=True, initial=NONE_LO)
    hi = np.where(drop, RANK(NONE_HI), x.hi).max(axes, keepdims=True, initial=NONE_HI)
    return lo, hi, drop.any(axes, keepdims=True)


@rule("aten.amax", "aten.max", fails="never", sees_sign=False)
@rule("aten.logsumexp", fails="never", sees_sign=False, branch_cut=True)
def largest(call: Any) -> Any:
    """The largest element, or the log of a sum of exponentials: −∞ never matters, a masked score only when nothing is
    visible.
    """
    operands = call.operands()
    if len(operands) > 1:  # max(a, b), element by element
        from .elementwise import pointwise

        return pointwise(call)
    x, axes, shape = arguments(call)
    s = x.known()
    result = reduced(s, axes, shape)
    if s.shape and (s.kind == MASKED).any() and call.finite_masks and call.name != "aten.max":
        lo, hi, dropped = visible(call, s, axes)
        if dropped.any() and holds(x, s, axes):
            value = call.value
            call.tracer.mask_condition(call.name, value.dtype, None)
            lo, hi, kind = fit(shape, len(s.shape), axes, (lo, hi, np.zeros_like(lo, np.uint8)))
            return assemble(shape, lo, hi, kind)
    if isinstance(call.value, (tuple, list)):
        return tuple(Shadow(tuple(v.shape), result.lo, result.hi, result.kind) for v in call.value)
    return result


def holds(x: Any, s: Shadow, axes: tuple[int, ...]) -> bool:
    """Whether, on the inputs given, every masked score lies 104 or more below its row's largest visible one."""
    import torch

    value = x.value.double()
    masked = torch.from_numpy(np.array(np.broadcast_to((s.kind == MASKED) | (s.kind == BIG), s.shape)))
    best = value.masked_fill(masked, -torch.inf).amax(axes, keepdim=True)
    return bool(((value <= best - 104) | ~masked | (best == -torch.inf)).all())
