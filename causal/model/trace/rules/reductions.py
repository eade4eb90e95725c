"""Reductions (see `transfer.reductions`)."""

from __future__ import annotations

from typing import Any

from ..domain import Shadow
from ..registry import names, rule
from ..transfer import reductions as transfer
from .elementwise import pointwise


def arguments(call: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """The operand, the reduced axes and the output's shape."""
    x = call["self"]
    dim = call["dim"] if call.has("dim") else None
    value = call.value[0] if isinstance(call.value, (tuple, list)) else call.value
    return x, transfer.axes_of(len(x.shape), dim), tuple(value.shape)


def for_each(call: Any, result: Shadow) -> Any:
    """The same of every output: the numbers and where they were found, or the least and the largest."""
    if isinstance(call.value, (tuple, list)):
        return tuple(Shadow(tuple(v.shape), result.lo, result.hi, result.kind) for v in call.value)
    return result


REDUCTIONS = names(
    """
    mean prod var std amin min nansum all any count_nonzero argmax argmin linalg_vector_norm norm median mode
    nanmedian kthvalue aminmax linalg__powsum var_mean std_mean trace dist
    """
)


@rule("aten.hash_tensor", fails="never", sees_sign=True)
@rule(*REDUCTIONS, fails="never", sees_sign=False)
def reduction(call: Any) -> Any:
    """Depends on everything along the axes."""
    operands = call.operands()
    if len(operands) > 1 or call.name == "aten.trace":
        return transfer.whole(tuple(call.value.shape), (o.shadow for o in operands))
    x, axes, shape = arguments(call)
    return for_each(call, transfer.reduced(x.shadow, axes, shape))


@rule("aten.sum", fails="never", sees_sign=False)
def total(call: Any) -> Shadow:
    """A sum."""
    x, axes, shape = arguments(call)
    return transfer.total(x.shadow, axes, shape)


@rule("aten.amax", "aten.max", fails="never", sees_sign=False)
@rule("aten.logsumexp", fails="never", sees_sign=False, branch_cut=True)
def largest(call: Any) -> Any:
    """The largest element, or the log of a sum of exponentials; max(a, b) goes element by element."""
    if call.has("other"):
        return pointwise(call)
    x, axes, shape = arguments(call)
    if isinstance(call.value, (tuple, list)):  # where it was found depends on every element
        return transfer.largest(call, x, axes, shape), transfer.reduced(x.known(), axes, shape)
    return transfer.largest(call, x, axes, shape)
