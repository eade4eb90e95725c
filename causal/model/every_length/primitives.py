"""JAX's primitives at every length: a function for each, found by its name."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import elementwise, exactly, movement, reductions
from .formats import REAL, WHOLE, exact, is_signed, is_truth, sort_of
from .integers import FALSE, every, index, inverse, solver, whole
from .registering import into
from .shadow import LengthShadow, constant, joined, settled
from .wrapping import fits

if TYPE_CHECKING:
    from .equation import Equation

Rule = Callable[["Equation"], Any]  # gives a shadow for each result (a single one as it is)
RULES: dict[str, Rule] = {}
primitive = into(RULES)  # by the names of primitives


# -- elementwise ------------------------------------------------------------------------------------------------------

COMPARED: dict[str, Callable[..., Any]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "and": solver.And, "or": solver.Or, "not": solver.Not, "xor": solver.Xor,
}  # fmt: skip
COMPUTED: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": elementwise.truncated, "neg": operator.neg,
    "rem": elementwise.remainder, "sign": elementwise.sign, "max": elementwise.greatest, "min": elementwise.least,
    "clamp": elementwise.clamped,
}  # fmt: skip


def known(e: Equation, operation: Callable[..., Any]) -> LengthShadow:
    """A whole number or truth value of others."""
    return elementwise.computed(e.shape, operation, e.aligned)


@primitive("eq ne lt le gt ge and or not xor")
def compared(e: Equation) -> LengthShadow:
    """Truth values of numbers, or of truth values; of bits nothing is computed."""
    sorts = {x.whole.sort() for x in e.operands if x.whole is not None}
    bits = e.name in ("and", "or", "not", "xor") and not is_truth(e.dtypes[0])
    if bits:
        return joined(e.shape, e.aligned)
    if len(sorts) != 1 or len({x.whole is None for x in e.operands}) > 1:
        truth = exactly.truth(e) if e.name in exactly.COMPARED else None
        return joined(e.shape, e.aligned) if truth is None else constant(e.shape, whole=truth, zero=inverse(truth))
    if sorts == {solver.BoolSort()} and e.name not in ("eq", "ne", "and", "or", "not", "xor"):
        return joined(e.shape, e.aligned)
    return known(e, COMPARED[e.name])


@primitive("add add_any sub mul div neg rem sign max min clamp")
def arithmetic(e: Equation) -> LengthShadow:
    """Whole numbers are computed; of floating numbers positions and kinds are followed."""
    name, xs = "add" if e.name == "add_any" else e.name, e.aligned
    if is_signed(e.dtypes[0]):
        found = _divided(e) if name in ("div", "rem") else known(e, COMPUTED[name])
        return found if found.whole is None or fits(found.whole, 8 * e.dtypes[0].itemsize) else joined(e.shape, xs)
    real = sort_of(e.dtypes[0]) == REAL
    computed = exactly.numbers(e, name) if real and name in exactly.COMPUTED else None
    if computed is not None:
        return computed
    if name in ("mul", "div") and any(not solver.is_false(x.low) for x in xs):
        e.run.ledger.scaled = True  # a mask is no longer what its number says
    found = _floating(e, name, real)
    if real and name in ("sub", "mul") and not all(solver.is_false(part) for part in (found.low, found.high)):
        for x, other in (xs, xs[::-1]):  # what lowers by being taken away, or as often as a counted number says
            if x.number is not None and x.number >= elementwise.BIG and (name == "sub" or other.span is not None):
                e.run.ledger.mask_seen(-x.number)
    if name in ("add", "sub", "mul", "neg") and real and all(x.span is not None for x in xs):
        return _counted(e, COMPUTED[name], found) or found
    return found


def _floating(e: Equation, name: str, real: bool) -> LengthShadow:
    """What follows from positions and kinds alone."""
    xs = e.aligned
    if name == "add":
        return elementwise.add(e.shape, xs[0], xs[1], real)
    if name == "sub":
        return elementwise.subtract(e.shape, xs[0], xs[1], real)
    if name == "mul":
        return elementwise.multiply(e.shape, *xs)
    if name == "div" and real:
        e.divides(xs[1], xs[0])
        return elementwise.divide(e.shape, *xs)
    if name == "max":
        return elementwise.larger(e.shape, *xs)
    if name in ("neg", "sign"):
        return elementwise.negative(xs[0]) if name == "neg" else elementwise.zero_from_zero(xs[0])
    return joined(e.shape, xs)


def _divided(e: Equation) -> LengthShadow:
    by = e.operands[1].whole
    if by is None or not solver.is_int_value(by) or by.as_long() <= 0:  # not linear
        return replace(joined(e.shape, e.operands), zero=FALSE)
    return known(e, COMPUTED[e.name])


def _counted(e: Equation, operation: Callable[..., Any], found: LengthShadow) -> LengthShadow | None:
    """Small whole numbers that floating ones stand for, if the result is one without rounding; as low as was found."""
    ends = [operation(*some) for some in itertools.product(*(x.span for x in e.operands if x.span is not None))]
    if max(map(abs, ends)) > exact(e.dtypes[0]):
        return None
    counted = replace(known(e, operation), span=(min(ends), max(ends)))
    unseen = every(counted.unseen, counted.whole <= -elementwise.BIG)  # the number says so
    return settled(replace(counted, low=found.low, high=found.high, unseen=unseen))


@primitive("exp exp2 logistic")
def exponential(e: Equation) -> LengthShadow:
    """Above 0, and 0 at −∞ and at what is low enough."""
    x = e.operands[0]
    if sort_of(e.dtypes[0]) != REAL:
        return joined(e.shape, [x])
    if not solver.is_false(x.low):
        e.finite_mask(alone=True)
    return elementwise.exponential(x)


@primitive("abs sin sinh tanh erf expm1 cbrt square asin asinh atan log1p sqrt ceil floor round real conj")
def through_zero(e: Equation) -> LengthShadow:
    """f(x) with f(0) = 0."""
    return elementwise.zero_from_zero(e.operands[0])


@primitive("integer_pow")
def integer_power(e: Equation) -> LengthShadow:
    """xʸ."""
    if e.params["y"] > 0:
        return elementwise.zero_from_zero(e.operands[0])
    e.divides(e.operands[0])
    return joined(e.shape, e.aligned)


@primitive("log")
def logarithm(e: Equation) -> LengthShadow:
    """−∞ of a mask's 0."""
    return exactly.numbers(e, "log") or joined(e.shape, e.aligned)


@primitive("log2 cos cosh tan erfc erf_inv is_finite population_count clz acos acosh atanh imag complex")
@primitive("shift_left shift_right_logical shift_right_arithmetic reduce_precision igamma igammac")
def generic(e: Equation) -> LengthShadow:
    """f(x, …) element by element."""
    return joined(e.shape, e.aligned)


@primitive("rsqrt pow lgamma digamma polygamma zeta")
def divides(e: Equation) -> LengthShadow:
    """The same for what is infinite at a zero of its first operand."""
    e.divides(e.operands[0])
    return joined(e.shape, e.aligned)


@primitive("atan2 nextafter")
def sees_sign(e: Equation) -> LengthShadow:
    """The same for what tells −0 from +0."""
    e.sees_sign()
    return joined(e.shape, e.aligned)


@primitive("select_n")
def select(e: Equation) -> LengthShadow:
    """The case that a truth value names, false first."""
    condition, *cases = e.aligned
    if len(cases) != 2 or not is_truth(e.operand_types[0]):
        return joined(e.shape, e.aligned)
    return elementwise.select(e.shape, condition, cases[1], cases[0])


@primitive("convert_element_type")
def convert(e: Equation) -> LengthShadow:
    """Another number format; truth values become 1 and 0 exactly."""
    x, old, new = e.operands[0], e.operand_types[0], e.dtypes[0]
    result = replace(joined(e.shape, [x]), zero=x.zero, signed=x.signed)
    if sort_of(old) == REAL and sort_of(new) == REAL:
        kept_two = x.two is not None and all(math.isinf(v) or exactly.rounded(v, new) == v for v in x.two[1:])
        number = None if x.number is None else exactly.rounded(exactly.rounded(x.number, old), new)
        narrow = x.whole is not None and x.span is not None and max(map(abs, x.span)) <= exact(new)
        kept: dict[str, Any] = {"whole": x.whole, "span": x.span} if narrow else {}
        kept |= {"two": x.two} if kept_two else {}
        return settled(replace(result, neginf=x.neginf, low=x.low, high=x.high, positive=FALSE, number=number, **kept))
    if is_truth(new):
        truth = x.whole if x.whole is not None else exactly.where(x, old, bool)
        return replace(result, **{"zero": FALSE, **_truth(truth)})
    if x.whole is not None and solver.is_bool(x.whole) and sort_of(new) in (REAL, WHOLE):
        result = replace(result, whole=elementwise.counted(x.whole), zero=inverse(x.whole))
        return replace(result, span=(0, 1), two=(x.whole, 1.0, 0.0)) if sort_of(new) == REAL else result
    if x.whole is None or not (is_signed(new) or sort_of(new) == REAL):
        return result
    if is_signed(new):
        return replace(result, whole=x.whole) if fits(x.whole, 8 * new.itemsize) else result
    if solver.is_int_value(x.whole) and abs(x.whole.as_long()) <= exact(new):
        n = x.whole.as_long()
        return replace(result, whole=x.whole, span=(n, n), number=float(n))
    return result


def _truth(number: Any) -> dict[str, Any]:
    if number is None:
        return {}
    truth = number if solver.is_bool(number) else solver.simplify(number != 0)
    return {"whole": truth, "zero": inverse(truth), "span": None}


@primitive("stop_gradient copy copy_p optimization_barrier sharding_constraint name")
def same(e: Equation) -> list[LengthShadow]:
    """The operands as they are."""
    return list(e.operands)


# -- movement ---------------------------------------------------------------------------------------------------------


@primitive("iota")
def counted(e: Equation) -> LengthShadow:
    """The place along an axis."""
    if not is_signed(e.dtypes[0]):
        return constant(e.shape)
    place = index(e.params["dimension"])
    return constant(e.shape, whole=place, zero=solver.simplify(place == 0))


@primitive("dim_as_value")
def length(e: Equation) -> LengthShadow:
    """A size as a number."""
    size = whole(e.size(e.params["dim"]))
    return constant(e.shape, whole=size, zero=solver.simplify(size == 0))


@primitive("broadcast_in_dim")
def broadcast(e: Equation) -> LengthShadow:
    """Axes put in, or stretched; sizes that are no parameters come as further operands."""
    return movement.broadcast(e.operands[0], e.shape, e.params["broadcast_dimensions"])


@primitive("reshape squeeze expand_dims")
def reshaped(e: Equation) -> LengthShadow:
    """The elements in row-major order in another shape."""
    return movement.reshaped(e.operands[0], e.shape)


@primitive("transpose")
def transposed(e: Equation) -> LengthShadow:
    """Axes in another order."""
    return movement.transposed(e.operands[0], e.params["permutation"])


@primitive("slice")
def cut(e: Equation) -> LengthShadow:
    """Every so many places from a start."""
    starts = [e.size(s) for s in e.params["start_indices"]]
    steps = e.params["strides"] or (1,) * len(starts)
    return movement.cut(e.operands[0], e.shape, starts, [int(s) for s in steps])


@primitive("rev")
def reversed_(e: Equation) -> LengthShadow:
    """Axes from the end to the start."""
    return movement.reversed_(e.operands[0], e.params["dimensions"])


@primitive("split")
def split(e: Equation) -> list[LengthShadow]:
    """Pieces of an axis."""
    axis, start, found = e.params["axis"], whole(0), []
    for shape in e.shapes:
        starts = [start if a == axis else 0 for a in range(len(shape))]
        found.append(movement.cut(e.operands[0], shape, starts, [1] * len(shape)))
        start = start + whole(shape[axis])
    return found


@primitive("concatenate")
def concatenated(e: Equation) -> LengthShadow:
    """End to end."""
    return movement.concatenated(e.operands, e.params["dimension"], e.shape)


@primitive("stack")
def stacked(e: Equation) -> LengthShadow:
    """Side by side along a new axis."""
    axis, shape = e.params["axis"], e.shape
    others = [a for a in range(len(shape)) if a != axis]
    pieces = [movement.broadcast(x, (*shape[:axis], 1, *shape[axis + 1 :]), others) for x in e.operands]
    return movement.concatenated(pieces, axis, shape)


@primitive("unstack")
def unstacked(e: Equation) -> list[LengthShadow]:
    """One array for every place of an axis."""
    return [movement.along(e.operands[0], e.params["axis"], whole(k)) for k in range(len(e.shapes))]


@primitive("tile")
def tiled(e: Equation) -> LengthShadow:
    """Repeated along axes; NotLinear where one whose size is a symbol is."""
    return movement.tiled(e.operands[0], [e.size(r) for r in e.params["reps"]], e.shape)


@primitive("pad")
def padded(e: Equation) -> LengthShadow:
    """One number before and behind; between the elements is not followed."""
    x, fill = e.operands
    widths = e.params["padding_config"]
    if any(not isinstance(w[2], int) or w[2] for w in widths):
        return e.everything()
    return movement.padded(x, fill, [e.size(w[0]) for w in widths], e.shape)


# -- reductions -------------------------------------------------------------------------------------------------------


@primitive("reduce_sum")
def summed(e: Equation) -> LengthShadow:
    """A sum."""
    return reductions.summed(e.statements, e.operands[0], tuple(e.params["axes"]), e.last)


@primitive("reduce_max")
def largest(e: Equation) -> LengthShadow:
    """The largest element."""
    x = e.operands[0]
    if not solver.is_false(x.low):
        e.finite_mask(alone=False)
    return reductions.largest(e.statements, x, tuple(e.params["axes"]), e.last)


@primitive("reduce_min reduce_prod reduce_and reduce_or reduce_xor argmax argmin")
def reduced(e: Equation) -> LengthShadow:
    """Any function of all elements along the axes."""
    return reductions.reduced(e.statements, e.operands[0], tuple(e.params["axes"]), e.last)


@primitive("cumsum cumprod cummax cummin cumlogsumexp")
def running(e: Equation) -> LengthShadow:
    """Each element with all before it, or after it."""
    return reductions.running(e.statements, e.operands[0], e.params["axis"], e.params["reverse"], e.last)


@primitive("sort top_k")
def ordered(e: Equation) -> list[LengthShadow]:
    """An element of a sorted axis may come from any place of it, and depends on all."""
    x = joined(e.operand_shapes[0], e.operands)
    axis = e.params.get("dimension", e.params.get("axis", len(x.shape) - 1))
    whole_axis = reductions.reduced(e.statements, x, [axis], e.last)
    axes = [a for a in range(len(x.shape)) if a != axis]
    return [movement.broadcast(whole_axis, shape, axes) for shape in e.shapes]


@primitive("dot_general")
def product(e: Equation) -> LengthShadow:
    """Σ over contracted axes."""
    contracting, batch = e.params["dimension_numbers"]
    return reductions.contracted(e.statements, e.operands[0], e.operands[1], contracting, batch, e.last)


@primitive("random_bits random_seed random_wrap random_unwrap random_fold_in random_split threefry2x32")
def drawn(e: Equation) -> Any:
    """Random numbers: of everything that their keys depend on."""
    return [e.everything(shape) for shape in e.shapes]
