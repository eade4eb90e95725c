"""ATen's elementwise operations, in operations that have rules."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from .. import elementwise, exactly, integers
from ..formats import REAL, is_signed, is_truth, sort_of
from ..integers import FALSE, TRUE, inverse, solver
from ..primitives import known, primitive
from ..shadow import constant, joined
from ..templates import ranges
from ..wrapping import fits
from .lowering import Call, Lowering, Tensor, aten, common

if TYPE_CHECKING:
    from ..equation import Equation
    from ..shadow import LengthShadow

AS_IN_JAX = {
    "exp": "exp", "exp2": "exp2", "sigmoid": "logistic", "tanh": "tanh", "sin": "sin", "sinh": "sinh", "erf": "erf",
    "expm1": "expm1", "sqrt": "sqrt", "ceil": "ceil", "floor": "floor", "round": "round", "abs": "abs", "asin": "asin",
    "asinh": "asinh", "atan": "atan", "log1p": "log1p", "neg": "neg", "sign": "sign", "rsqrt": "rsqrt", "log": "log",
    "log2": "log2", "cos": "cos", "cosh": "cosh", "tan": "tan", "erfc": "erfc", "acos": "acos", "trunc": "round",
}  # fmt: skip
THROUGH_ZERO = "gelu silu elu hardswish mish leaky_relu softsign frac"  # f(0) = 0, of their first operand alone
OTHERS = "log10 softplus hardsigmoid  isnan isinf isfinite signbit logit erfinv atanh acosh"


def _same(name: str) -> Lowering:
    return lambda op: op.do(name, *op.alike([op.x]))


for torch_name, jax_name in AS_IN_JAX.items():
    aten(f"{torch_name}.default")(_same(jax_name))
for torch_name in THROUGH_ZERO.split():
    aten(f"{torch_name}.default")(_same("abs"))
for torch_name in OTHERS.split():
    aten(f"{torch_name}.default")(lambda op: op.do("log", *op.alike([op.x], op.x.dtype)))


def _both(op: Call) -> list[Any]:
    return [op[k] for k in ("self", "other")]


@aten("add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Tensor rsub.Scalar")
def added(op: Call) -> Tensor:
    """a ± factor · b."""
    a, b = op.alike(_both(op))
    if op.name.startswith("rsub"):
        a, b = b, a
    factor = op.get("alpha", 1)
    if factor != 1:
        b = op.do("mul", b, op.tensor(factor, op.dtype), shape=b.shape)
    if is_truth(op.dtype):
        return op.do("or", a, b)
    return op.do("sub" if "sub" in op.name else "add", a, b)


@aten("mul.Tensor mul.Scalar")
def multiplied(op: Call) -> Tensor:
    """a · b."""
    return op.do("and" if is_truth(op.dtype) else "mul", *op.alike(_both(op)))


@aten("div.Tensor div.Scalar true_divide.Tensor")
def divided(op: Call) -> Tensor:
    """a / b, of whole numbers too."""
    return op.do("div", *op.alike(_both(op)))


@aten("div.Tensor_mode div.Scalar_mode floor_divide.default remainder.Tensor remainder.Scalar fmod.Tensor fmod.Scalar")
def rounded(op: Call) -> Tensor:
    """a / b rounded, and what is left then."""
    a, b = op.alike(_both(op))
    mode = op.get("rounding_mode", "floor" if op.name.startswith("floor") else None)
    if sort_of(op.dtype) == REAL:
        left = op.name.startswith(("remainder", "fmod"))
        return op.do("rem", a, b) if left else op.do("floor", op.do("div", a, b))
    if op.name.startswith("fmod") or mode == "trunc":
        return op.do("aten.truncated" if mode else "aten.fmod", a, b)
    return op.do("aten.floored" if mode else "aten.remainder", a, b)


@primitive("aten.floored aten.remainder aten.truncated aten.fmod")
def whole_quotient(e: Equation) -> LengthShadow:
    """Quotients of whole numbers and what is left: where the divisor is a number, or the quotient 0 or 1."""
    a, b = (x.whole for x in e.aligned)
    if a is None or b is None or not is_signed(e.dtypes[0]):
        return joined(e.shape, e.aligned)
    towards_zero = e.name in ("aten.truncated", "aten.fmod")
    quotient = e.name in ("aten.floored", "aten.truncated")
    if solver.is_int_value(b) and b.as_long() > 0:
        if towards_zero:
            return known(e, elementwise.truncated if quotient else elementwise.remainder)
        return known(e, (lambda p, q: p / q) if quotient else (lambda p, q: p % q))
    if e.statements.hold(solver.And(b > 0, a >= 0, a < 2 * b), *ranges(e.shape)):
        small = a < b
        return known(e, lambda p, q: solver.If(small, 0, 1) if quotient else solver.If(small, p, p - q))
    return joined(e.shape, e.aligned)


COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")


def _compared(name: str) -> Lowering:
    def lowering(op: Call) -> Tensor:
        a, b = _both(op)
        if isinstance(b, float) and b == float("-inf") and name in ("eq", "ne"):
            return op.do("aten.is_neginf" if name == "eq" else "aten.is_not_neginf", a)
        return op.do(name, *op.alike([a, b], _kind(a, b)))

    return lowering


def _kind(a: Any, b: Any) -> torch.dtype:
    """The format of a comparison; whole numbers stay what they are beside a float that is one."""
    if isinstance(b, float) and b.is_integer() and isinstance(a, Tensor) and is_signed(a.dtype):
        return a.dtype
    return common(a, b)


for jax_name in COMPARED:
    aten(f"{jax_name}.Tensor {jax_name}.Scalar")(_compared(jax_name))


@primitive("aten.is_neginf aten.is_not_neginf")
def infinite(e: Equation) -> LengthShadow:
    """Whether a number is −∞: known where it is; of others it depends on what they do."""
    x, wanted = e.operands[0], e.name == "aten.is_neginf"
    truth = exactly.where(x, e.operand_types[0], lambda number: (number == -math.inf) == wanted)
    if truth is not None:
        return constant(e.shape, whole=truth, zero=inverse(truth))
    if x.fixed.eq(TRUE) and x.neginf.eq(TRUE):
        return constant(e.shape, whole=TRUE if wanted else FALSE, zero=FALSE if wanted else TRUE)
    return joined(e.shape, [x])


@aten("logical_and.default logical_or.default logical_xor.default logical_not.default")
def logical(op: Call) -> Tensor:
    """Of truth values, or of numbers that are 0 or not."""
    xs = [op.cast(x, torch.bool) for x in (op.get("self"), op.get("other")) if x is not None]
    return op.do(op.name.partition(".")[0].removeprefix("logical_"), *op.alike(xs, torch.bool))


@aten("bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor bitwise_and.Scalar bitwise_or.Scalar bitwise_xor.Scalar")
def bitwise(op: Call) -> Tensor:
    """Of truth values as they are; of bits nothing is computed."""
    return op.do(op.name.partition(".")[0].removeprefix("bitwise_"), *op.alike(_both(op)))


@aten("bitwise_not.default")
def inverted(op: Call) -> Tensor:
    """Not."""
    return op.do("not", op.x)


@aten("where.self where.ScalarOther where.ScalarSelf where.Scalar")
def where(op: Call) -> Tensor:
    """`condition ? a : b`."""
    a, b = op.alike(_both(op))
    condition = op.cast(op["condition"], torch.bool)
    wide = [x if x.shape else Tensor(op.full_of(x), x.dtype) for x in (op.stretched(condition, op.shape), b, a)]
    return op.do("select_n", *wide)


@aten("relu.default")
def relu(op: Call) -> Tensor:
    """The larger of a number and 0."""
    return op.do("max", *op.alike([op.x, 0]))


@aten("maximum.default minimum.default")
def largest(op: Call) -> Tensor:
    """The larger or smaller of two."""
    return op.do("max" if op.name.startswith("max") else "min", *op.alike(_both(op)))


@aten("clamp.default clamp.Tensor clamp_min.default clamp_max.default hardtanh.default")
def clamped(op: Call) -> Tensor:
    """Moved between two others."""
    low, high = op.get("min", op.get("min_val")), op.get("max", op.get("max_val"))
    x = op.x
    for name, limit in (("max", low), ("min", high)):
        if limit is not None:
            x = op.do(name, *op.alike([x, limit]))
    return op.do("copy", *op.alike([x]))


@aten("pow.Tensor_Scalar")
def power(op: Call) -> Tensor:
    """xʸ."""
    exponent = op["exponent"]
    x = op.alike([op.x])
    if isinstance(exponent, (int, float)) and float(exponent) == 2.0 and is_signed(op.dtype):
        return op.do("mul", *x, *x)
    sign = 1 if isinstance(exponent, (int, float)) and exponent > 0 else -1
    return op.do("integer_pow", *x, y=sign)


@aten("pow.Tensor_Tensor pow.Scalar atan2.default reciprocal.default")
def powers(op: Call) -> Tensor:
    """Powers of two arrays, angles and inverses."""
    name = op.name.partition(".")[0]
    values = [v for k in ("self", "exponent", "other") if (v := op.get(k)) is not None]
    return op.do({"pow": "pow", "atan2": "atan2", "reciprocal": "rsqrt"}[name], *op.alike(values))


@aten("polar.default complex.default hypot.default")
def of_two(op: Call) -> Tensor:
    """A number of two, as a complex one of its parts."""
    names = ("abs", "angle", "real", "imag", "self", "other")
    return op.do("aten.joined", *op.alike([v for k in names if (v := op.get(k)) is not None], op.x.dtype))


@aten("addcmul.default addcdiv.default lerp.Tensor lerp.Scalar glu.default")
def several(op: Call) -> Tensor:
    """Some others: of all that they are given, element by element."""
    if op.name.startswith("glu"):
        return op.unknown("is not followed")
    names = ("self", "tensor1", "tensor2", "end", "weight")
    return op.do("aten.joined", *op.alike([v for k in names if (v := op.get(k)) is not None]))


@primitive("aten.joined")
def generic(e: Equation) -> LengthShadow:
    """Any function, element by element."""
    return joined(e.shape, e.aligned)


@aten("nan_to_num.default")
def numbered(op: Call) -> Tensor:
    """The same where it is a finite number; −∞ would become a lowered score."""
    return op.do("abs", op.x) if solver.is_false(op.x.shadow.neginf) else op.unknown("makes finite numbers of −∞")


@aten("_to_copy.default to.dtype type_as.default")
def converted(op: Call) -> Tensor:
    """Another number format."""
    return op.cast(op.x, op.dtype)


@aten("clone.default alias.default detach.default lift_fresh_copy.default contiguous.default _conj.default")
@aten("dropout.default feature_dropout.default")
def same(op: Call) -> Tensor:
    """The same elements."""
    if op.name.startswith(("dropout", "feature")) and op["train"]:
        return op.unknown("draws numbers")
    return op.do("copy", op.x)


@aten("copy.default")
def copied(op: Call) -> Tensor:
    """The elements of another array."""
    (x,) = op.alike([op["src"]])
    return x if x.shape else Tensor(op.full_of(x), x.dtype)


# -- arrays out of nothing --------------------------------------------------------------------------------------------


@aten("full.default full_like.default scalar_tensor.default")
def filled(op: Call) -> Tensor:
    """One number everywhere."""
    value = op.get("fill_value", op.get("s"))
    return op.full(value, op.shape, op.dtype)


@aten("zeros.default zeros_like.default ones.default ones_like.default new_zeros.default new_ones.default")
def zeros(op: Call) -> Tensor:
    """Zeros or ones."""
    return op.full(1 if "ones" in op.name else 0, op.shape, op.dtype)


@aten("empty.memory_format empty_like.default new_empty.default empty_strided.default empty_permuted.default")
def empty(op: Call) -> Tensor:
    """Any numbers: nobody knows which."""
    return Tensor(constant(op.shape), op.dtype)


@aten("arange.start_step arange.start arange.default")
def counted(op: Call) -> Tensor:
    """Numbers a step apart."""
    start, step = op.get("start", 0), op.get("step", 1)
    if not is_signed(op.dtype) or not all(isinstance(v, int) or solver.is_expr(v) for v in (start, step)):
        return Tensor(constant(op.shape), op.dtype)
    number = solver.simplify(integers.index(0) * step + start)
    if not fits(number, 8 * op.dtype.itemsize):
        return Tensor(constant(op.shape), op.dtype)
    return Tensor(constant(op.shape, whole=number, zero=solver.simplify(number == 0)), op.dtype)


@aten("rand.default randn.default rand_like.default randn_like.default bernoulli.p bernoulli.default randint.low")
@aten("uniform.default normal_functional.default randperm.default randint.default exponential.default")
def drawn(op: Call) -> Tensor:
    """Random numbers: the same in every run, of what steers them."""
    op.run.drawn()
    return op.do("aten.joined", op.cast(op.x, op.dtype)) if "bernoulli" in op.name else op.noise(0)


@aten("native_dropout.default")
def dropped(op: Call) -> list[Tensor]:
    """Some elements are 0, the others scaled."""
    op.run.drawn()
    return [op.do("abs", op.x), op.noise(1)]
