"""ATen's reductions, products of matrices and what is made of them, in operations that have rules."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import integers, reductions
from ..formats import is_signed
from ..integers import FALSE, TRUE, index, solver
from ..primitives import primitive
from ..shadow import LengthShadow, constant, may_be_low
from ..wrapping import fits
from .lowering import Call, Lowering, Tensor, aten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..equation import Equation

SUMS = "sum.dim_IntList sum.default mean.dim mean.default"
EXTREMES = "amax.default max.default"
OTHERS = (
    "amin.default min.default prod.default prod.dim_int any.default any.dim any.dims all.default all.dim all.dims "
    "var.correction var.dim std.correction logsumexp.default linalg_vector_norm.default norm.ScalarOpt_dim "
    "argmax.default argmin.default"
)


def over(op: Call, name: str, x: Tensor, axes: Sequence[int], keep: bool) -> Tensor:
    """A reduction, with axes of size 1 for those that are gone where they are kept."""
    shape = tuple(d for a, d in enumerate(x.shape) if a not in axes)
    found = op.do(name, x, shape=shape, dtype=op.dtype, axes=tuple(axes))
    return op.kept(found, axes, x.shape) if keep else found


def _reducing(name: str) -> Lowering:
    def lowering(op: Call) -> Tensor:
        x = op.x if name == "reduce_prod" else op.cast(op.x, op.dtype)
        return over(op, name, x, op.axes(x), bool(op.get("keepdim", False)))

    return lowering


aten(SUMS)(_reducing("reduce_sum"))
aten(EXTREMES)(_reducing("reduce_max"))
aten(OTHERS)(_reducing("reduce_prod"))


@aten("max.dim min.dim mode.default median.dim kthvalue.default")
def with_place(op: Call) -> list[Tensor]:
    """The largest and where it stands."""
    x, axes, keep = op.x, (op.axis(op.x),), bool(op.get("keepdim", False))
    name = "reduce_max" if op.name == "max.dim" else "reduce_prod"
    place = over(op, "reduce_prod", x, axes, keep)
    return [over(op, name, x, axes, keep), Tensor(place.shadow, op.dtypes[1])]


@aten("var_mean.correction std_mean.correction")
def with_mean(op: Call) -> list[Tensor]:
    """Two reductions at once."""
    found = over(op, "reduce_prod", op.x, op.axes(op.x), bool(op.get("keepdim", False)))
    return [found, found]


# -- running ----------------------------------------------------------------------------------------------------------


@aten("cumsum.default cumprod.default logcumsumexp.default")
def running(op: Call) -> Tensor:
    """Each element with all before it."""
    names = {"cumsum": "aten.counting", "cumprod": "cumprod", "logcumsumexp": "cumlogsumexp"}
    x = op.cast(op.x, op.dtype)
    return op.do(names[op.name.partition(".")[0]], x, axis=op.axis(x), reverse=False)


@primitive("aten.counting")
def counting(e: Equation) -> LengthShadow:
    """A running sum; of one whole number again and again it is known."""
    x, axis = e.operands[0], e.params["axis"]
    number = solver.IntVal(0) if x.zero.eq(TRUE) else x.whole
    if number is not None and solver.is_int_value(number) and is_signed(e.dtypes[0]):
        known = solver.simplify(number * (index(axis) + 1))
        if not fits(known, 8 * e.dtypes[0].itemsize):
            return constant(e.shape)
        return constant(e.shape, whole=known, zero=solver.simplify(known == 0))
    return reductions.running(e.statements, x, axis, False, e.last)


@aten("cummax.default cummin.default")
def running_extreme(op: Call) -> list[Tensor]:
    """The same with the places."""
    x = op.x
    found = op.do(op.name.partition(".")[0], x, axis=op.axis(x), reverse=False)
    place = op.do("cumprod", x, axis=op.axis(x), reverse=False)
    return [found, Tensor(place.shadow, op.dtypes[1])]


@aten("sort.default sort.stable topk.default")
def ordered(op: Call) -> list[Tensor]:
    """Elements of a sorted axis, and where they stood."""
    axis = int(op.get("dim", -1)) % max(1, len(op.shape))
    return op.several("sort", [op.x], op.shapes, op.dtypes, dimension=axis)


@aten("argsort.default argsort.stable")
def order(op: Call) -> Tensor:
    """Where the elements of a sorted axis stood."""
    return op.do("sort", op.x, dimension=int(op.get("dim", -1)) % max(1, len(op.shape)))


# -- products ---------------------------------------------------------------------------------------------------------


def product(op: Call, a: Tensor, b: Tensor, shape: Any = None) -> Tensor:
    """Of matrices, or of stacks of them."""
    stacked = tuple(range(len(a.shape) - 2))
    numbers = (((len(a.shape) - 1,), (max(0, len(b.shape) - 2),)), (stacked, stacked))
    return op.do("dot_general", a, b, shape=shape, dimension_numbers=numbers)


@aten("mm.default bmm.default mv.default dot.default")
def multiplied(op: Call) -> Tensor:
    """Σ of products."""
    return product(op, op.x, op[{"mm": "mat2", "bmm": "mat2", "mv": "vec", "dot": "tensor"}[op.name.partition(".")[0]]])


@aten("addmm.default baddbmm.default")
def multiplied_and_added(op: Call) -> Tensor:
    """The same and another array."""
    a, b = (op["mat1"], op["mat2"]) if op.name == "addmm.default" else (op["batch1"], op["batch2"])
    found = product(op, a, b)
    if op.get("alpha", 1) != 1:
        found = op.do("mul", found, op.tensor(op["alpha"], op.dtype))
    other = op["self"]
    if op.get("beta", 1) != 1:
        other = op.do("mul", other, op.tensor(op["beta"], op.dtype), shape=other.shape)
    return op.do("add", found, op.stretched(other, op.shape))


@aten("convolution.default")
def convolved(op: Call) -> Tensor:
    """Each place reads what lies under the taps of the kernel."""
    x, w = op["input"], op["weight"]
    if op["transposed"]:
        return transposed(op)
    axes = tuple(range(len(x.shape)))
    spaces = len(axes) - 2

    def each(values: Any) -> tuple[int, ...]:
        return tuple(int(v) for v in values) * (spaces if len(values) == 1 else 1)

    found = op.do(
        "conv_general_dilated", x, w,
        dimension_numbers=SimpleNamespace(lhs_spec=axes, rhs_spec=axes, out_spec=axes),
        padding=tuple((p, p) for p in each(op["padding"])), window_strides=each(op["stride"]),
        rhs_dilation=each(op["dilation"]), lhs_dilation=(1,) * spaces, batch_group_count=1,
    )  # fmt: skip
    return with_bias(op, found)


def with_bias(op: Call, found: Tensor) -> Tensor:
    """The same and a number for each channel."""
    bias = op.get("bias")
    if bias is None:
        return found
    wide = op.do("broadcast_in_dim", bias, broadcast_dimensions=(1,))
    return op.do("add", found, wide)


@aten("avg_pool1d.default avg_pool2d.default avg_pool3d.default")
@aten("max_pool2d_with_indices.default max_pool3d_with_indices.default")
def pooled(op: Call) -> list[Tensor]:
    """A mean, or the largest, of what lies under a window; and where that stands."""
    x = op.x

    def each(name: str, missing: Any) -> list[int]:
        values = [int(v) for v in op.get(name) or missing]
        return values if len(values) == spaces else values * spaces

    spaces = int(op.name.partition("d")[0][-1])
    sizes, lead = each("kernel_size", ()), (len(x.shape) - spaces) * (1,)
    steps, holes, pads = each("stride", sizes), each("dilation", (1,)), each("padding", (0,))
    found = op.do(
        "reduce_window", x, shape=op.shape, window_dimensions=(*lead, *sizes), window_strides=(*lead, *steps),
        window_dilation=(*lead, *holes), base_dilation=(1,) * len(x.shape),
        padding=(*((0, 0) for _ in lead), *((p, p) for p in pads)),
    )  # fmt: skip
    return [found, *(Tensor(found.shadow, d) for d in op.dtypes[1:])]


def transposed(op: Call) -> Tensor:
    """Each place is written to what lies under the taps of the kernel; of all channels."""
    x, w = op["input"], op["weight"]
    spaces = len(x.shape) - 2
    if w.shadow.depends or not all(isinstance(d, int) for d in w.shape[2:]):
        op.unknown("is transposed, with a kernel that is computed")
    steps, pads, holes = (
        [int(v) for v in op[k]] * (spaces if len(op[k]) == 1 else 1) for k in ("stride", "padding", "dilation")
    )
    wide = over(op, "reduce_prod", x, (1,), True)
    found = op.do(
        "aten.spread", wide, sizes=tuple(w.shape[2:]), steps=tuple(steps), pads=tuple(pads), holes=tuple(holes)
    )
    return with_bias(op, found)


@primitive("aten.spread")
def spread(e: Equation) -> LengthShadow:
    """Tap t of place i is written to i · step + t · hole − pad; channels are those of every place."""
    x, hi = e.operands[0], integers.NONE
    steps, pads, holes = (e.params[k] for k in ("steps", "pads", "holes"))
    for tap in np.ndindex(*e.params["sizes"]):
        places: list[Any] = [index(0), solver.IntVal(0)]
        inside = []
        for k, t in enumerate(tap):
            at = index(2 + k) + pads[k] - int(t) * holes[k]
            inside += [at % steps[k] == 0, at >= 0, at / steps[k] < integers.whole(x.shape[2 + k])]
            places.append(at / steps[k])
        here = integers.put(x.hi, [solver.simplify(p) for p in places])
        hi = integers.later(hi, integers.choice(integers.every(*inside), here, integers.NONE))
    return LengthShadow(e.shape, hi, unseen=TRUE if may_be_low(x) else FALSE, signed=True)


# -- softmax and norms ------------------------------------------------------------------------------------------------


@aten("_softmax.default softmax.int _safe_softmax.default _log_softmax.default log_softmax.int")
def softmax(op: Call) -> Tensor:
    """exp(x − max) / Σ, or its logarithm."""
    x = op.cast(op.x, op.dtype)
    axes = (op.axis(x),)
    largest = op.stretched(over(op, "reduce_max", x, axes, True), op.shape)
    below = op.do("sub", x, largest)
    raised = op.do("exp", below)
    total = op.stretched(over(op, "reduce_sum", raised, axes, True), op.shape)
    return op.do("sub", below, op.do("log", total)) if "log" in op.name else op.do("div", raised, total)


@aten("native_layer_norm.default")
def layer_norm(op: Call) -> list[Tensor]:
    """Every element with all of its row."""
    x = op["input"]
    axes = tuple(range(len(x.shape) - len(op["normalized_shape"]), len(x.shape)))
    row = over(op, "reduce_prod", x, axes, True)
    parts = [x, op.stretched(row, x.shape)]
    parts += [op.stretched(p, x.shape) for k in ("weight", "bias") if (p := op.get(k)) is not None]
    return [op.do("aten.joined", *parts), *(op.noise(k) if not row.shadow.depends else row for k in (1, 2))]


@aten("native_group_norm.default")
def group_norm(op: Call) -> list[Tensor]:
    """Every element with all of its sequence."""
    x = op["input"]
    found = over(op, "reduce_prod", x, tuple(range(1, len(x.shape))), True)
    return [op.do("aten.joined", x, op.stretched(found, x.shape)), *op.everything()[1:]]


@aten("_fused_rms_norm.default")
def rms_norm(op: Call) -> list[Tensor]:
    """The same without a mean."""
    x = op["input"]
    axes = tuple(range(len(x.shape) - len(op["normalized_shape"]), len(x.shape)))
    row = over(op, "reduce_prod", x, axes, True)
    return [op.do("aten.joined", x, op.stretched(row, x.shape)), row]


@aten("_native_batch_norm_legit_no_training.default")
def batch_norm(op: Call) -> list[Tensor]:
    """Every element with numbers that are kept."""
    return [op.do("aten.joined", op["input"]), op.noise(1), op.noise(2)]


@aten("_native_batch_norm_legit_functional.default")
def batch_norm_of_batch(op: Call) -> list[Tensor]:
    """Every element with all of its channel."""
    x = op["input"]
    axes = tuple(a for a in range(len(x.shape)) if a != 1)
    found = over(op, "reduce_prod", x, axes, False)
    wide = op.do("broadcast_in_dim", found, broadcast_dimensions=(1,))
    return [op.do("aten.joined", x, wide), *([found] * (len(op.shapes) - 1))]
