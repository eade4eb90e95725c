"""Elementwise operations (see `transfer.elementwise`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..domain import BIG, VARIES, join_all, uniform
from ..registry import names, rule
from ..transfer import elementwise as transfer
from ..transfer.elementwise import known

if TYPE_CHECKING:
    from ..domain import Shadow

GENERIC = """
    bitwise_left_shift bitwise_not bitwise_right_shift bitwise_xor clamp_max cos cosh deg2rad eq erfc erfinv fmax fmin
    fmod frac gcd ge gt hardsigmoid hardtanh heaviside hypot i0 igamma isinf isnan isneginf isposinf lcm le
    logical_not logical_xor logit lt minimum mvlgamma nan_to_num ne _prelu_kernel rad2deg remainder sinc
    special_entr special_erfcx special_i0e special_i1 special_i1e special_log_ndtr special_ndtri special_xlog1py tan
    threshold xlogy complex _conj lerp frexp ldexp __lshift__ __rshift__ _add_relu
    igammac
    special_airy_ai special_bessel_j0 special_bessel_j1 special_modified_bessel_i0 special_modified_bessel_i1
    special_spherical_bessel_j0 special_chebyshev_polynomial_t special_chebyshev_polynomial_u
    special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_hermite_polynomial_h
    special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p
    special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
    special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
"""


def pointwise(call: Any) -> Shadow:
    """The join of every operand."""
    return transfer.pointwise(tuple(call.value.shape), (o.shadow for o in call.operands()))


@rule(*names(GENERIC), fails="whole numbers", sees_sign=False, pointwise=True)
@rule(
    *names("acos acosh atanh log log2 log10 logaddexp logaddexp2"),
    fails="whole numbers", sees_sign=False, pointwise=True, branch_cut=True,
)  # fmt: skip
@rule(*names("rsqrt"), fails="whole numbers", sees_sign=False, pointwise=True, branch_cut=True, divides=True)
@rule(
    *names("digamma floor_divide lgamma polygamma polygamma_ reciprocal special_zeta"),
    *names("special_bessel_y0 special_bessel_y1"),
    *names("special_modified_bessel_k0 special_modified_bessel_k1"),
    *names("special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1"),
    fails="whole numbers", sees_sign=False, pointwise=True, divides=True,
)  # fmt: skip
@rule(*names("angle atan2 copysign nextafter polar signbit"), fails="whole numbers", sees_sign=True, pointwise=True)
def generic(call: Any) -> Any:
    """f(x, y, …) element by element: the join of what it reads."""
    if isinstance(call.value, (tuple, list)):
        return tuple(transfer.pointwise(tuple(v.shape), (o.shadow for o in call.operands())) for v in call.value)
    return pointwise(call)


@rule("aten.fake_quantize_per_tensor_affine_cachemask", fails="never", sees_sign=False)
@rule(
    *names("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams fake_quantize_per_channel_affine_cachemask"),
    *names("_fake_quantize_learnable_per_tensor_affine _fake_quantize_learnable_per_channel_affine"),
    fails="any", sees_sign=False, divides=True,
)  # fmt: skip
def fake_quantised(call: Any) -> Any:
    """Rounded to the steps that quantising would leave, by scales for all or for each place of an axis."""
    x = call["self"]
    lo, hi = join_all(o.shadow for o in call.operands() if o is not x)
    several = isinstance(call.value, (tuple, list))
    results = call.value if several else (call.value,)
    made = tuple(transfer.pointwise(tuple(v.shape), [x.shadow, uniform((), VARIES, lo, hi)]) for v in results)
    return made if several else made[0]


@rule("aten.log_sigmoid_forward", fails="whole numbers", sees_sign=False)
def log_sigmoid(call: Any) -> tuple[Shadow, Shadow]:
    """log σ(x), and what its derivative will need, of the same shape and order; some kernels leave it empty."""
    output, buffer = (tuple(v.shape) for v in call.value)
    x = call["self"].shadow
    result = transfer.pointwise(output, [x])
    return result, result if buffer == output else uniform(buffer, VARIES, *join_all([x]))


@rule(
    *names("abs celu elu erf expm1 leaky_relu sgn sign sin sinh tanh"),
    fails="whole numbers", sees_sign=False, pointwise=True, zero_from_zero=True,
)  # fmt: skip
@rule(
    *names("asin asinh atan log1p sqrt"),
    fails="whole numbers",
    sees_sign=False,
    pointwise=True,
    zero_from_zero=True,
    branch_cut=True,
)
@rule(
    *names("ceil floor gelu hardshrink hardswish mish round silu softshrink trunc"),
    fails="whole numbers", sees_sign=False, pointwise=True,
)  # fmt: skip
def through_zero(call: Any) -> Shadow:
    """f(x) with f(0) = 0 (but f may be 0 elsewhere, too)."""
    return transfer.zero_from_zero(pointwise(call), call.operands()[0].shadow)


@rule("aten.neg", fails="whole numbers", sees_sign=False, pointwise=True, zero_from_zero=True)
def negative(call: Any) -> Shadow:
    """−x."""
    return transfer.negative(call["self"].known())


@rule("aten.relu", fails="whole numbers", sees_sign=False, pointwise=True)
def relu(call: Any) -> Shadow:
    """max(x, 0)."""
    return transfer.relu(call, call["self"].known())


@rule("aten.exp", "aten.exp2", "aten.sigmoid", "aten.softplus", fails="whole numbers", sees_sign=False, pointwise=True)
def exponential(call: Any) -> Shadow:
    """Above 0, and 0 at −∞."""
    x = call["self"].known()
    if call.name == "aten.softplus" and call["beta"] <= 0:
        return pointwise(call)
    return transfer.exponential(call, x)


@rule("aten.maximum", fails="whole numbers", sees_sign=False, pointwise=True)
def larger(call: Any) -> Shadow:
    """The larger of two."""
    return transfer.larger(call["self"].known(), call["other"].known(), tuple(call.value.shape))


@rule(
    "aten.pow.Tensor_Scalar", "aten.pow.Scalar", "aten.pow.Tensor_Tensor",
    fails="whole numbers", sees_sign=False, pointwise=True, branch_cut=True, divides=True,
)  # fmt: skip
def power(call: Any) -> Shadow:
    """x ** y joins both; c ** x is above 0 for a number c > 0."""
    return transfer.above_zero(pointwise(call)) if _is_above_zero(call["self"]) else pointwise(call)


@rule("aten.clamp", "aten.clamp_min", fails="whole numbers", sees_sign=False, pointwise=True)
def clamp(call: Any) -> Shadow:
    """Joins x with its bounds; above 0 when the lower bound is a number above 0; from 0 on what relu gives, or less."""
    most = call["max"] if call.has("max") else None
    least = call["min"]
    if isinstance(least, int | float) and least == 0 and (most is None or _is_above_zero(most)):
        return transfer.relu(call, call["self"].known())
    above = _is_above_zero(call["min"]) and (most is None or _is_above_zero(most))
    return transfer.above_zero(pointwise(call)) if above else pointwise(call)


def _is_above_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and value > 0


@rule("aten.add", "aten.sub", fails="whole numbers", sees_sign=False, pointwise=True, carries=True)
@rule("aten.rsub", fails="whole numbers", sees_sign=False, pointwise=True)
def add(call: Any) -> Shadow:
    """a + αb, a − αb and b − αa."""
    shape, real = tuple(call.value.shape), call.value.dtype.is_floating_point
    a, b = (call["other"], call["self"]) if call.name == "aten.rsub" else (call["self"], call["other"])
    alpha = call["alpha"] if call.has("alpha") else 1
    if alpha == 0 or isinstance(alpha, complex):
        return transfer.pointwise(shape, (known(call, a), known(call, b)))
    if call.name == "aten.add" and alpha > 0:
        x, y = known(call, a), known(call, b)
        computed = not call.value.is_meta or (x.is_fixed and y.is_fixed)
        if not computed and (x.kind == BIG).any() and (y.kind == BIG).any():
            call.masked_twice()
        result = transfer.total(x, y, shape, real and alpha >= 1, computed)
        for term, factor in ((a, 1), (b, alpha)):
            result = transfer.still_lowered(call, result, term, factor)
        return result
    return transfer.difference(call, a, b, shape, -alpha if call.name == "aten.add" else alpha, real)


@rule("aten.mul", fails="whole numbers", sees_sign=False, pointwise=True, zero_from_zero=True, carries=True)
def multiply(call: Any) -> Shadow:
    """a · b."""
    a, b, shape = call["self"], call["other"], tuple(call.value.shape)
    return transfer.kept_above_zero(call, transfer.product(call, a, b, shape), a, b)


@rule(
    "aten.div", fails="whole numbers", sees_sign=False, pointwise=True, divides=True, zero_from_zero=True, carries=True
)
def divide(call: Any) -> Shadow:
    """a / b."""
    return transfer.quotient(call, call["self"], call["other"], tuple(call.value.shape))


@rule("aten.where.self", fails="whole numbers", sees_sign=False, pointwise=True, carries=True)
def where(call: Any) -> Shadow:
    """A selection."""
    return transfer.select(call, call["condition"], call["self"], call["other"], tuple(call.value.shape))


@rule("aten.masked_fill", fails="whole numbers", sees_sign=False, pointwise=True, carries=True)
def masked_fill(call: Any) -> Shadow:
    """A selection: the value where the mask is true."""
    return transfer.select(call, call["mask"], call["value"], call["self"], tuple(call.value.shape))


@rule("aten.logical_and", "aten.bitwise_and", fails="whole numbers", sees_sign=False, pointwise=True)
def conjunction(call: Any) -> Shadow:
    """a and b."""
    return transfer.conjunction(call, call["self"], call["other"], tuple(call.value.shape))


@rule("aten.logical_or", "aten.bitwise_or", fails="whole numbers", sees_sign=False, pointwise=True)
def disjunction(call: Any) -> Shadow:
    """a or b."""
    result = pointwise(call)
    if str(call.value.dtype) != "torch.bool":
        return result
    return transfer.disjunction(call, result, [o for o in call.operands() if str(o.value.dtype) == "torch.bool"])


@rule("aten.addcmul", fails="whole numbers", sees_sign=False, pointwise=True)
def add_product(call: Any) -> Shadow:
    """a + v · b · c."""
    return transfer.add_product(call, call["self"].shadow, call["tensor1"], call["tensor2"], tuple(call.value.shape))


@rule("aten.addcdiv", fails="whole numbers", sees_sign=False, pointwise=True, divides=True)
def add_quotient(call: Any) -> Shadow:
    """a + v · b / c."""
    return pointwise(call)


@rule("aten.glu", fails="whole numbers", sees_sign=False)
def gated(call: Any) -> Shadow:
    """First half times the sigmoid of the second half, along one axis."""
    shape = tuple(call.value.shape)
    return transfer.gated(call["self"].shadow, call["dim"] % len(shape), shape)
