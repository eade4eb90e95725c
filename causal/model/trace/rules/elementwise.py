"""Elementwise operations: each output element is a function of the operands' elements at the same place.

So its interval is their join. Three things are sharper. An exact 0 kills a product, since 0 · x = 0 for finite x. −∞
absorbs a sum, and exp(−∞) = 0. A selection by a constant condition reads only what it selects. Value dependence is
what counts: comparisons, rounding and signs pass on what they read, although their derivative is 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..domain import (
    BIG,
    BIG_MASK,
    FIXED,
    MASKED,
    NEGINF,
    NONE_HI,
    NONE_LO,
    PLAIN,
    POSITIVE,
    RANK,
    VARIES,
    ZERO,
    Array,
    Shadow,
    align,
    all_fixed,
    join_intervals,
    kinds_from,
    uniform,
)
from ..registry import names, rule


def number(value: Any, finite_masks: bool = True) -> Shadow:
    """The shadow of a Python number."""
    if isinstance(value, complex):
        return uniform((), ZERO if value == 0 else PLAIN)
    if value == 0:
        return uniform((), ZERO)
    if value == -math.inf:
        return uniform((), NEGINF)
    if finite_masks and isinstance(value, float | int) and not isinstance(value, bool) and value <= BIG_MASK:
        return uniform((), BIG)
    return uniform((), PLAIN)


def known(call: Any, value: Any) -> Shadow:
    """The shadow of a tensor or number, its constants looked at."""
    return value.known() if hasattr(value, "known") else number(value, call.finite_masks)


def assemble(shape: tuple[int, ...], lo: Array, hi: Array, kind: Array) -> Shadow:
    """A shadow from arrays that broadcast to `shape`; elements that are constants lose their interval."""
    axes = len(shape)
    lo, hi, kind = align(lo, axes), align(hi, axes), align(kind, axes)
    fixed = kind >= FIXED
    if fixed.any():
        lo, hi = np.where(fixed, RANK(NONE_LO), lo), np.where(fixed, RANK(NONE_HI), hi)
    return Shadow(shape, lo, hi, kind)


def pointwise(call: Any, shape: tuple[int, ...] | None = None) -> Shadow:
    """The join of every operand."""
    shape = tuple(call.value.shape) if shape is None else shape
    shadows = [o.shadow for o in call.operands()]
    if not shadows:
        return uniform(shape, FIXED)
    axes = len(shape)
    lo, hi = join_intervals(shadows, axes)
    return assemble(shape, lo, hi, kinds_from(all_fixed(shadows, axes)))


GENERIC = """
    bitwise_left_shift bitwise_not bitwise_right_shift bitwise_xor clamp_max cos cosh deg2rad eq erfc erfinv fmax fmin
    fmod frac gcd ge glu_jvp gt hardsigmoid hardtanh heaviside hypot i0 igamma isinf isnan isneginf isposinf lcm le
    logical_not logical_xor logit lt maximum minimum mvlgamma nan_to_num ne _prelu_kernel rad2deg remainder sinc
    special_entr special_erfcx special_i0e special_i1 special_i1e special_log_ndtr special_ndtri special_xlog1py tan
    threshold xlogy complex _conj lerp frexp ldexp silu_backward gelu_backward
"""


@rule(*names(GENERIC), fails="whole numbers", sees_sign=False)
@rule(
    *names("acos acosh atanh log log2 log10 logaddexp logaddexp2"),
    fails="whole numbers", sees_sign=False, branch_cut=True,
)  # fmt: skip
@rule(*names("rsqrt"), fails="whole numbers", sees_sign=False, branch_cut=True, divides=True)
@rule(
    *names("digamma floor_divide lgamma polygamma reciprocal special_zeta"),
    fails="whole numbers", sees_sign=False, divides=True,
)  # fmt: skip
@rule(*names("angle atan2 copysign nextafter polar signbit"), fails="whole numbers", sees_sign=True)
def generic(call: Any) -> Any:
    """f(x, y, …) element by element: the join of what it reads."""
    if isinstance(call.value, (tuple, list)):
        return tuple(pointwise(call, tuple(v.shape)) for v in call.value)
    return pointwise(call)


@rule(
    *names("abs celu elu erf expm1 leaky_relu sgn sign sin sinh tanh"),
    fails="whole numbers", sees_sign=False, zero_from_zero=True,
)  # fmt: skip
@rule(
    *names("asin asinh atan log1p sqrt"), fails="whole numbers", sees_sign=False, zero_from_zero=True, branch_cut=True
)
@rule(
    *names("ceil floor gelu hardshrink hardswish mish round silu softshrink trunc"),
    fails="whole numbers", sees_sign=False,
)  # fmt: skip
def through_zero(call: Any) -> Any:
    """f(x) with f(0) = 0: an exact 0 stays one without being looked at again (but f may be 0 elsewhere, too)."""
    result, operand = pointwise(call), call.operands()[0]
    keep = operand.shadow.kind == ZERO
    if keep.any() and operand.shape == result.shape:
        return Shadow(result.shape, result.lo, result.hi, np.where(keep, np.uint8(ZERO), result.kind))
    return result


@rule("aten.relu", fails="whole numbers", sees_sign=False)
@rule("aten.neg", fails="whole numbers", sees_sign=False, zero_from_zero=True)
def keeps_zero(call: Any) -> Shadow:
    """relu(0) = −0 = 0, and relu(−∞) = 0; a score lowered by a large constant is 0 after relu, which is checked."""
    x = call["self"].known()
    kind = np.where(x.kind == ZERO, np.uint8(ZERO), kinds_from(x.kind >= FIXED))
    if call.name == "aten.relu":
        kind = np.where((x.kind == NEGINF) | (x.kind == BIG), np.uint8(ZERO), kind)
        if (x.kind == MASKED).any():
            kind = np.where(call.masked_zero(x.kind == MASKED, alone=True), np.uint8(ZERO), kind)
    return assemble(x.shape, x.lo, x.hi, kind)


@rule("aten.exp", "aten.exp2", "aten.sigmoid", "aten.softplus", fails="whole numbers", sees_sign=False)
def exponential(call: Any) -> Shadow:
    """exp(−∞) = 0 and exp(x) > 0. A score lowered by a large constant gives exactly 0 where the concrete run does."""
    x = call["self"].known()
    if call.name == "aten.softplus" and call["beta"] <= 0:
        return pointwise(call)
    kind = np.where(x.kind >= FIXED, np.uint8(FIXED), np.uint8(POSITIVE))
    kind = np.where(x.kind == NEGINF, np.uint8(ZERO), kind)
    if (x.kind == MASKED).any():
        kind = np.where(call.masked_zero(x.kind == MASKED, alone=True), np.uint8(ZERO), kind)
    return assemble(x.shape, x.lo, x.hi, kind)


@rule(
    "aten.pow.Tensor_Scalar", "aten.pow.Scalar", "aten.pow.Tensor_Tensor",
    fails="whole numbers", sees_sign=False, branch_cut=True, divides=True,
)  # fmt: skip
def power(call: Any) -> Shadow:
    """x ** y joins both; c ** x is above 0 for a number c > 0."""
    result = pointwise(call)
    base = call["self"]
    if isinstance(base, (int, float)) and base > 0:
        return Shadow(
            result.shape, result.lo, result.hi, np.where(result.kind == VARIES, np.uint8(POSITIVE), result.kind)
        )
    return result


@rule("aten.clamp", "aten.clamp_min", fails="whole numbers", sees_sign=False)
def clamp(call: Any) -> Shadow:
    """Joins x with its bounds; above 0 when the lower bound is a number above 0."""
    result = pointwise(call)
    least, most = call["min"], call["max"] if call.has("max") else None
    if (
        isinstance(least, (int, float))
        and least > 0
        and (most is None or (isinstance(most, (int, float)) and most > 0))
    ):
        return Shadow(
            result.shape, result.lo, result.hi, np.where(result.kind == VARIES, np.uint8(POSITIVE), result.kind)
        )
    return result


@rule("aten.add", "aten.sub", fails="whole numbers", sees_sign=False, carries=True)
@rule("aten.rsub", fails="whole numbers", sees_sign=False)
def add(call: Any) -> Shadow:
    """a + αb joins both; −∞ + x = −∞; a score plus a large negative constant is masked; 0 + x keeps x's kind."""
    shape = tuple(call.value.shape)
    a, b = call["self"], call["other"]
    alpha = call["alpha"] if call.has("alpha") else 1
    x, y = known(call, a), known(call, b)
    if call.name == "aten.rsub":
        a, b, x, y = b, a, y, x
    if alpha == 0 or isinstance(alpha, complex):
        return pointwise(call)
    if call.name == "aten.add" and alpha > 0:
        return total(x, y, shape, call.value.dtype.is_floating_point and alpha >= 1)
    return difference(call, b, x, y, shape, -alpha if call.name == "aten.add" else alpha)


def total(x: Shadow, y: Shadow, shape: tuple[int, ...], real: bool) -> Shadow:
    """x + y; `real`: floating numbers, for which −∞ absorbs and a large negative constant masks."""
    axes = len(shape)
    lo, hi = join_intervals([x, y], axes)
    p, q = align(x.kind, axes), align(y.kind, axes)
    kind = kinds_from((p >= FIXED) & (q >= FIXED))
    positive = ((p == POSITIVE) & ((q == POSITIVE) | (q == ZERO))) | ((q == POSITIVE) & (p == ZERO))
    kind = np.where(positive, np.uint8(POSITIVE), kind)
    if real:
        low = (p == MASKED) | (p == BIG) | (q == MASKED) | (q == BIG)
        loose = (p < FIXED) | (q < FIXED)
        kind = np.where(low & loose, np.uint8(MASKED), kind)
        kind = np.where(((p == NEGINF) | (q == NEGINF)) & loose, np.uint8(NEGINF), kind)
    return assemble(shape, lo, hi, kind)


def difference(call: Any, b: Any, x: Shadow, y: Shadow, shape: tuple[int, ...], factor: float) -> Shadow:
    """x − factor · y for a factor of either sign: −∞ less a number stays −∞, a lowered score stays lowered."""
    axes = len(shape)
    lo, hi = join_intervals([x, y], axes)
    p, q = align(x.kind, axes), align(y.kind, axes)
    kind = kinds_from((p >= FIXED) & (q >= FIXED))
    kind = np.where((q == ZERO) & (p < FIXED), p, kind)
    if call.value.dtype.is_floating_point and factor > 0:
        low = (p == MASKED) | (p == BIG)
        large = _large(call, b, y, axes, -factor)
        low = low if large is None else low | large
        kind = np.where(low & ((p < FIXED) | (q < FIXED)), np.uint8(MASKED), kind)
        kind = np.where((p == NEGINF) & (q < FIXED), np.uint8(NEGINF), kind)
    return assemble(shape, lo, hi, kind)


def _large(call: Any, b: Any, y: Shadow, axes: int, factor: float) -> Array | None:
    """Where the subtrahend is a large positive constant."""
    if not call.finite_masks:
        return None
    if isinstance(b, (int, float)):
        return np.full((1,) * axes, b * factor <= BIG_MASK)
    fixed = align(y.kind, axes) >= FIXED
    if not fixed.any():
        return None
    large = (b.value * factor <= BIG_MASK).cpu().numpy()
    return align(large, axes) & fixed if large.any() else None


@rule("aten.mul", fails="whole numbers", sees_sign=False, zero_from_zero=True, carries=True)
def multiply(call: Any) -> Shadow:
    """a · b joins both, except where one is exactly 0: the product is 0, whatever the other (finite) number is."""
    return product(call, call["self"], call["other"], tuple(call.value.shape))


def product(call: Any, a: Any, b: Any, shape: tuple[int, ...]) -> Shadow:
    """The elementwise product of two operands (tensors or numbers)."""
    x, y = known(call, a), known(call, b)
    axes = len(shape)
    lo, hi = join_intervals([x, y], axes)
    p, q = align(x.kind, axes), align(y.kind, axes)
    kind = kinds_from((p >= FIXED) & (q >= FIXED))
    kind = np.where((p == POSITIVE) & (q == POSITIVE), np.uint8(POSITIVE), kind)
    for number_, k in ((b, p), (a, q)):
        if isinstance(number_, (int, float)) and number_ > 0:
            kind = np.where((k == POSITIVE) | (k == MASKED), k, kind)
    zero_p, zero_q = (p == ZERO) & (q < FIXED), (q == ZERO) & (p < FIXED)
    if zero_p.any() or zero_q.any():
        call.zeros_used(*(o for o, z in ((a, zero_p), (b, zero_q)) if z.any() and hasattr(o, "known")))
        kind = np.where(zero_p | zero_q, np.uint8(ZERO), kind)
    return assemble(shape, lo, hi, kind)


@rule("aten.div", fails="whole numbers", sees_sign=False, divides=True, zero_from_zero=True, carries=True)
def divide(call: Any) -> Shadow:
    """a / b joins both; 0 / b = 0 for b ≠ 0, which holds for b > 0 and is recorded as a condition otherwise."""
    shape = tuple(call.value.shape)
    a, b = call["self"], call["other"]
    x, y = known(call, a), known(call, b)
    axes = len(shape)
    lo, hi = join_intervals([x, y], axes)
    p, q = align(x.kind, axes), align(y.kind, axes)
    kind = kinds_from((p >= FIXED) & (q >= FIXED))
    kind = np.where((p == POSITIVE) & (q == POSITIVE), np.uint8(POSITIVE), kind)
    if isinstance(b, (int, float)) and b > 0:
        kind = np.where((p == POSITIVE) | (p == MASKED), p, kind)
    zero = (p == ZERO) & (q < FIXED)
    if zero.any():
        call.zeros_used(a)
        safe = zero & (q == POSITIVE)
        if (zero & ~safe).any() and call.finite_masks:
            depends = align(y.lo <= y.hi, axes)
            if (zero & ~safe & depends).any():
                call.nonzero_denominator()
            safe = zero
        kind = np.where(safe, np.uint8(ZERO), kind)
    return assemble(shape, lo, hi, kind)


def select(call: Any, condition: Any, a: Any, b: Any, shape: tuple[int, ...]) -> Shadow:
    """`condition ? a : b`: where the condition is a constant, only what it selects; otherwise all three."""
    axes = len(shape)
    c, x, y = condition.known(), known(call, a), known(call, b)
    k = align(c.kind, axes)
    fixed, false = k >= FIXED, k == ZERO
    true = fixed & ~false
    lo, hi = join_intervals([c, x, y], axes)
    kind: Array = np.full((1,) * axes, VARIES, np.uint8)
    both = (align(x.kind, axes) == POSITIVE) & (align(y.kind, axes) == POSITIVE)
    kind = np.where(both, np.uint8(POSITIVE), kind)
    for certain in (ZERO, NEGINF):  # the same on both sides, whatever the condition says
        same = (align(x.kind, axes) == certain) & (align(y.kind, axes) == certain)
        kind = np.where(same, np.uint8(certain), kind)
        if certain == ZERO and same.any():
            call.zeros_used()  # +0 on one side and −0 on the other
    for chosen, where in ((x, true), (y, false)):
        if where.any():
            lo = np.where(where, align(chosen.lo, axes), lo)
            hi = np.where(where, align(chosen.hi, axes), hi)
            kind = np.where(where, align(chosen.kind, axes), kind)
    if fixed.any():
        call.values_used(condition)
    return assemble(shape, lo, hi, kind)


@rule("aten.where.self", fails="whole numbers", sees_sign=False, carries=True)
def where(call: Any) -> Shadow:
    """A selection."""
    return select(call, call["condition"], call["self"], call["other"], tuple(call.value.shape))


@rule("aten.masked_fill", fails="whole numbers", sees_sign=False, carries=True)
def masked_fill(call: Any) -> Shadow:
    """A selection: the value where the mask is true."""
    return select(call, call["mask"], call["value"], call["self"], tuple(call.value.shape))


@rule("aten.logical_and", "aten.bitwise_and", fails="whole numbers", sees_sign=False)
def conjunction(call: Any) -> Shadow:
    """Like a product: False (0) decides alone."""
    p = product(call, call["self"], call["other"], tuple(call.value.shape))
    return Shadow(p.shape, p.lo, p.hi, np.where(p.kind == POSITIVE, np.uint8(VARIES), p.kind))  # 1 & 2 is 0


@rule("aten.logical_or", "aten.bitwise_or", fails="whole numbers", sees_sign=False)
def disjunction(call: Any) -> Shadow:
    """A constant True decides alone (for booleans)."""
    result = pointwise(call)
    if str(call.value.dtype) != "torch.bool":
        return result
    axes = len(result.shape)
    true: Array = np.zeros((1,) * axes, bool)
    for value in (call["self"], call["other"]):
        if str(getattr(getattr(value, "value", None), "dtype", "")) != "torch.bool":
            continue
        k = align(value.known().kind, axes)
        one = (k >= FIXED) & (k != ZERO)
        if one.any():
            call.values_used(value)
        true = true | one
    return assemble(result.shape, result.lo, result.hi, np.where(true, np.uint8(PLAIN), result.kind))


@rule("aten.addcmul", fails="whole numbers", sees_sign=False)
@rule("aten.addcdiv", fails="whole numbers", sees_sign=False, divides=True)
def add_product(call: Any) -> Shadow:
    """a + v · b · c and a + v · b / c: a sum with a product."""
    shape = tuple(call.value.shape)
    axes = len(shape)
    a = call["self"].shadow
    b, c = call["tensor1"], call["tensor2"]
    if call.name == "aten.addcmul":
        p = product(call, b, c, shape)
        lo, hi = join_intervals([a, p], axes)
        return assemble(shape, lo, hi, kinds_from((align(a.kind, axes) >= FIXED) & (p.kind >= FIXED)))
    return pointwise(call)


@rule("aten.glu", fails="whole numbers", sees_sign=False)
def gated(call: Any) -> Shadow:
    """First half times the sigmoid of the second half, along one axis."""
    x = call["self"].shadow
    shape = tuple(call.value.shape)
    axis = call["dim"] % len(shape)
    half = shape[axis]
    parts = []
    for a, reduce in ((x.lo, np.minimum), (x.hi, np.maximum), ((x.kind < FIXED).astype(np.uint8), np.maximum)):
        if a.shape[axis] > 1:
            a = reduce(a.take(range(half), axis), a.take(range(half, 2 * half), axis))
        parts.append(a)
    return assemble(shape, parts[0], parts[1], kinds_from(parts[2] == 0))
