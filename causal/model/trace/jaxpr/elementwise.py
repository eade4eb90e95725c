"""Elementwise primitives (see `transfer.elementwise`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..domain import FIXED, MASKED, NEGINF, Shadow
from ..transfer import elementwise as transfer
from ..transfer.indexing import loose
from ..transfer.movement import converted
from .operands import REAL, WHOLE, JaxOperand, sort_of
from .registry import primitive

if TYPE_CHECKING:
    from .calls import JaxCall


def pointwise(call: JaxCall) -> Shadow:
    """The join of every operand."""
    return transfer.pointwise(call.shape, (o.shadow for o in call.operands))


def scalar(operand: JaxOperand) -> JaxOperand | float:
    """A real number that stands in the program as that; any other operand as it is."""
    if operand.is_constant and not operand.shape and sort_of(operand.dtype) == REAL and not operand.valued:
        return operand if operand.sources else float(operand.array())
    return operand


@primitive(
    "eq ne lt le gt ge max min not xor shift_left shift_right_logical shift_right_arithmetic clamp "
    "population_count clz real conj is_finite tan cos cosh erfc erf_inv regularized_incomplete_beta igamma igammac "
    "igamma_grad_a bessel_i0e reduce_precision"
)
@primitive("complex imag")
@primitive("acos acosh atanh", sees_sign="complex")
@primitive("log", sees_sign="complex")
@primitive("rsqrt", sees_sign="complex", divides=0)
@primitive("pow", sees_sign="complex", divides=0)
@primitive("digamma lgamma polygamma zeta", divides=0)
@primitive("rem", divides=1)
@primitive("atan2 nextafter bitcast_convert_type", sees_sign=True)
def generic(call: JaxCall) -> Any:
    """f(x, y, …) element by element."""
    if call.name == "bitcast_convert_type" and call.operands[0].shape != call.shape:
        return _cut(call)
    return pointwise(call)


def _cut(call: JaxCall) -> Shadow:
    """Bits of one number read as several along a last axis, or of several as one."""
    x = call.operands[0].shadow
    if len(x.shape) < len(call.shape):
        parts = (a.reshape((*a.shape, 1)) for a in (x.lo, x.hi))
    else:
        parts = (r.reduce(a, axis=-1) for r, a in ((np.minimum, x.lo), (np.maximum, x.hi)))
    return loose(call.shape, *parts)


@primitive("abs sign sin sinh tanh erf expm1 cbrt square bessel_i1e")
@primitive("asin asinh atan log1p sqrt", sees_sign="complex")
@primitive("ceil floor round")
def through_zero(call: JaxCall) -> Shadow:
    """f(x) with f(0) = 0."""
    return transfer.zero_from_zero(pointwise(call), call.operands[0].shadow)


@primitive("integer_pow", divides=lambda call: 0 if call.params["y"] < 0 else None)
def integer_power(call: JaxCall) -> Shadow:
    """xʸ for a whole number y, negative ones among them."""
    return through_zero(call) if call.params["y"] > 0 else pointwise(call)


@primitive("neg")
def negative(call: JaxCall) -> Shadow:
    """−x."""
    return transfer.negative(call.operands[0].known())


@primitive("exp exp2 logistic")
def exponential(call: JaxCall) -> Shadow:
    """Above 0, and 0 at −∞; of complex numbers neither."""
    if sort_of(call.operands[0].dtype) != REAL:
        return pointwise(call)
    return transfer.exponential(call, call.operands[0].known())


@primitive("add add_any", carries=True)
def add(call: JaxCall) -> Shadow:
    """a + b."""
    a, b = call.operands
    result = transfer.total(a.known(), b.known(), call.shape, sort_of(call.dtypes[0]) == REAL)
    for term in (a, b):
        result = transfer.still_lowered(call, result, scalar(term), 1, at_hand=term.is_constant)
    return result


@primitive("sub", carries=True)
def subtract(call: JaxCall) -> Shadow:
    """a − b."""
    a, b = call.operands
    among_data = not b.is_constant and bool((b.known().kind >= FIXED).any())  # whose numbers are not at hand
    return transfer.difference(call, a, scalar(b), call.shape, 1, sort_of(call.dtypes[0]) == REAL and not among_data)


@primitive("mul", carries=True)
def multiply(call: JaxCall) -> Shadow:
    """a · b."""
    a, b = call.operands
    return transfer.product(call, scalar(a), scalar(b), call.shape)


@primitive("div", divides=1, carries=True)
def divide(call: JaxCall) -> Shadow:
    """a / b; of whole numbers 0 / 0 is −1, so that no 0 stays one."""
    if sort_of(call.dtypes[0]) == WHOLE:
        return pointwise(call)
    a, b = call.operands
    return transfer.quotient(call, a, scalar(b), call.shape)


@primitive("and")
def conjunction(call: JaxCall) -> Shadow:
    """a and b."""
    a, b = call.operands
    return transfer.conjunction(call, a, b, call.shape)


@primitive("or")
def disjunction(call: JaxCall) -> Shadow:
    """a or b; of whole numbers bit by bit."""
    truths = call.operands if call.dtypes[0] == np.bool_ else []
    return transfer.disjunction(call, pointwise(call), truths)


@primitive("select_n", moves=True)
def select(call: JaxCall) -> Shadow:
    """The case that a truth value names, false first; or a number, of several."""
    condition, *cases = call.operands
    if len(cases) != 2 or condition.dtype != np.bool_:
        return pointwise(call)
    return transfer.select(call, condition, cases[1], cases[0], call.shape)


@primitive("convert_element_type", carries=True)
def convert(call: JaxCall) -> Shadow:
    """Another number format: what is lowered stays so among real numbers."""
    x, old, new = call.operands[0].shadow, sort_of(call.operands[0].dtype), sort_of(call.dtypes[0])
    if old == "complex" and new == REAL:
        return pointwise(call)
    result = converted(x, positive=old == new == REAL or call.dtypes[0] == np.bool_)
    if old == new == REAL:
        keeps = (x.kind == MASKED) | (x.kind == NEGINF)
        result = Shadow(x.shape, x.lo, x.hi, np.where(keeps, x.kind, result.kind))
    return result


@primitive("stop_gradient copy copy_p optimization_barrier sharding_constraint name", moves=True)
def same(call: JaxCall) -> list[Shadow]:
    """The operands as they are."""
    return [o.shadow for o in call.operands]
