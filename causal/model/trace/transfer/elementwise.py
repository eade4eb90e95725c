"""Elementwise operations: each output element is a function of the operands' elements at the same place.

So its interval is their join. Three things are sharper. An exact 0 kills a product, since 0 · x = 0 for finite x. −∞
absorbs a sum, and exp(−∞) = 0. A selection by a constant condition reads only what it selects. Value dependence is
what counts: comparisons, rounding and signs pass on what they read, although their derivative is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..deferred import LARGE, held, late
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
    compress,
    join_intervals,
    kinds_from,
    uniform,
)
from .context import Context, Number, Operand


def number(value: Number, finite_masks: bool = True) -> Shadow:
    """The shadow of a plain number."""
    if isinstance(value, complex):
        return uniform((), ZERO if value == 0 else PLAIN)
    if value == 0:
        return uniform((), ZERO)
    if value == -math.inf:
        return uniform((), NEGINF)
    if finite_masks and not isinstance(value, bool) and value <= BIG_MASK:
        return uniform((), BIG)
    return uniform((), PLAIN)


def known(run: Context, value: Operand | Number) -> Shadow:
    """The shadow of a tensor or number, its constants looked at."""
    if not isinstance(value, Number):
        return value.known()
    found = number(value, run.finite_masks)
    if not isinstance(value, complex) and (found.kind == BIG).all():
        run.mask_seen(float(value))
    return found


def assemble(shape: tuple[int, ...], lo: Array, hi: Array, kind: Array) -> Shadow:
    """A shadow from arrays that broadcast to `shape`; elements that are constants lose their interval."""
    axes = len(shape)
    lo, hi, kind = align(lo, axes), align(hi, axes), held(align(kind, axes))
    if lo.size < kind.size < LARGE:  # as of a product with constants, of which only some were 0
        kind = compress(kind)
    fixed = kind >= FIXED
    if fixed.size > 1 and fixed.all():
        ones = (1,) * axes
        return Shadow(shape, np.full(ones, NONE_LO, RANK), np.full(ones, NONE_HI, RANK), kind)
    if fixed.any():
        lo, hi = late(np.where, fixed, RANK(NONE_LO), lo), late(np.where, fixed, RANK(NONE_HI), hi)
    return Shadow(shape, lo, hi, kind)


def pointwise(shape: tuple[int, ...], shadows: Iterable[Shadow]) -> Shadow:
    """f(x, y, …) element by element, for any f: the join of every operand; a constant where all are constants.

    >>> from ..domain import ranked
    >>> pointwise((3,), [ranked((3,), 0, np.arange(3)), uniform((), FIXED)]).hi
    array([0, 1, 2], dtype=int32)
    """
    shadows = list(shadows)
    if not shadows:
        return uniform(shape, FIXED)
    axes = len(shape)
    lo, hi = join_intervals(shadows, axes)
    return assemble(shape, lo, hi, kinds_from(all_fixed(shadows, axes)))


def zero_from_zero(result: Shadow, x: Shadow) -> Shadow:
    """f(x) for an f with f(0) = 0, given what holds for any f: an exact 0 stays one without being looked at again."""
    keep = x.kind == ZERO
    if not keep.any() or x.shape != result.shape:
        return result
    return Shadow(result.shape, result.lo, result.hi, np.where(keep, np.uint8(ZERO), result.kind))


def above_zero(result: Shadow) -> Shadow:
    """The same numbers, known to be above 0 where they vary."""
    kind = np.where(result.kind == VARIES, np.uint8(POSITIVE), result.kind)
    return Shadow(result.shape, result.lo, result.hi, kind)


def negative(x: Shadow) -> Shadow:
    """−x: −0 = 0."""
    return assemble(x.shape, x.lo, x.hi, np.where(x.kind == ZERO, np.uint8(ZERO), kinds_from(x.kind >= FIXED)))


def relu(run: Context, x: Shadow) -> Shadow:
    """max(x, 0): relu(0) = 0 and relu(−∞) = 0; a score lowered by a large constant gives 0, which is checked."""
    kind = np.where(x.kind == ZERO, np.uint8(ZERO), kinds_from(x.kind >= FIXED))
    kind = np.where((x.kind == NEGINF) | (x.kind == BIG), np.uint8(ZERO), kind)
    if (x.kind == MASKED).any():
        kind = np.where(run.masked_zero(x.kind == MASKED, alone=True), np.uint8(ZERO), kind)
    return assemble(x.shape, x.lo, x.hi, kind)


def exponential(run: Context, x: Shadow) -> Shadow:
    """exp and what behaves like it (2ˣ, sigmoid, softplus): exp(−∞) = 0 and exp(x) > 0. A score lowered by a large
    constant gives exactly 0 where the concrete run does.
    """
    kind = np.where(x.kind >= FIXED, np.uint8(FIXED), np.uint8(POSITIVE))
    kind = np.where(x.kind == NEGINF, np.uint8(ZERO), kind)
    if (x.kind == MASKED).any():
        kind = np.where(run.masked_zero(x.kind == MASKED, alone=True), np.uint8(ZERO), kind)
    return assemble(x.shape, x.lo, x.hi, kind)


def total(x: Shadow, y: Shadow, shape: tuple[int, ...], real: bool, computed: bool = True) -> Shadow:
    """x + y: −∞ + x = −∞, a score plus a large negative constant is masked, and a sum of numbers above 0 is above 0.

    `real`: floating numbers, for which −∞ absorbs and a large negative constant masks. Where sums of constants are not
    `computed`, that of two such is as low as a masked score.
    """
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
        if not computed:
            kind = np.where((p == BIG) & (q == BIG), np.uint8(MASKED), kind)
    return assemble(shape, lo, hi, kind)


def difference(
    run: Context, a: Operand | Number, b: Operand | Number, shape: tuple[int, ...], factor: float, real: bool
) -> Shadow:
    """a − factor · b for a factor of either sign: −∞ less a number stays −∞, a lowered score stays lowered, and one
    less a large positive constant is lowered; x − 0 keeps x's kind.
    """
    axes = len(shape)
    x, y = known(run, a), known(run, b)
    lo, hi = join_intervals([x, y], axes)
    p, q = align(x.kind, axes), align(y.kind, axes)
    kind = kinds_from((p >= FIXED) & (q >= FIXED))
    kind = np.where((q == ZERO) & (p < FIXED), p, kind)
    if real and factor > 0:
        low = ((p == MASKED) | (p == BIG)) & (q != MASKED)  # which may be as low
        large = _large(run, b, y, axes, factor)
        if large is not None and large.any():
            run.mask_seen(_weakest(b, factor))
            low = low | large
        kind = np.where(low & ((p < FIXED) | (q < FIXED)), np.uint8(MASKED), kind)
        kind = np.where((p == NEGINF) & (q < FIXED), np.uint8(NEGINF), kind)
    return still_lowered(run, assemble(shape, lo, hi, kind), b, -factor)


def still_lowered(run: Context, result: Shadow, b: Operand | Number, factor: float, at_hand: bool = True) -> Shadow:
    """The sum with factor · b: lowered no more where b is a constant so large that it raises again what a mask lowered,
    as positions that all may see; or may be, where its numbers are not `at_hand`.
    """
    lowered = result.kind == MASKED
    if not lowered.any():
        return result
    y, axes = known(run, b), len(result.shape)
    kind = align(y.kind, axes)
    unlike = (kind == PLAIN) | (kind == FIXED) | ((kind == BIG) & (factor < 0))  # the others are known not to be large
    if not unlike.any():
        return result
    large = _large(run, b, y, axes, factor) if at_hand else unlike
    if large is None or not large.any():
        return result
    return assemble(result.shape, result.lo, result.hi, np.where(large & lowered, np.uint8(VARIES), result.kind))


def _large(run: Context, b: Operand | Number, y: Shadow, axes: int, factor: float) -> Array | None:
    """Where the subtrahend, factor · b, is a large positive constant."""
    if not run.finite_masks:
        return None
    if isinstance(b, Number):
        return np.full((1,) * axes, not isinstance(b, complex) and -b * factor <= BIG_MASK)
    fixed = align(y.kind, axes) >= FIXED
    if not fixed.any():
        return None
    large = np.asarray(b.array(), np.float64) * -factor <= BIG_MASK
    return align(large, axes) & fixed if large.any() else None


def _weakest(b: Operand | Number, factor: float) -> float:
    """Of the large numbers −factor · b, the one nearest to 0."""
    numbers = np.asarray(b if isinstance(b, Number) else b.array(), np.float64) * -factor
    return float(np.max(numbers, where=numbers <= BIG_MASK, initial=-math.inf))


def product(run: Context, a: Operand | Number, b: Operand | Number, shape: tuple[int, ...]) -> Shadow:
    """a · b joins both, except where one is exactly 0: the product is 0, whatever the other (finite) number is.

    −∞ times a number above 0 is not −∞ for certain: in floats the other may round to 0, and the product is no number.
    """
    x, y = known(run, a), known(run, b)
    axes = len(shape)
    lo, hi = join_intervals([x, y], axes)
    p, q = align(x.kind, axes), align(y.kind, axes)
    kind = kinds_from((p >= FIXED) & (q >= FIXED))
    kind = np.where((p == POSITIVE) & (q == POSITIVE), np.uint8(POSITIVE), kind)
    for factor, k in ((b, p), (a, q)):
        if isinstance(factor, int | float) and factor > 0:
            kind = _scaled(run, k, kind, factor)
        if isinstance(factor, int | float) and math.isfinite(factor):
            kind = np.where(k == ZERO, k, kind)
    zero_p, zero_q = (p == ZERO) & (q < FIXED), (q == ZERO) & (p < FIXED)
    if zero_p.any() or zero_q.any():
        run.zeros_used(*(o for o, zero in ((a, zero_p), (b, zero_q)) if zero.any() and not isinstance(o, Number)))
        kind = np.where(zero_p | zero_q, np.uint8(ZERO), kind)
    return assemble(shape, lo, hi, kind)


def _scaled(run: Context, k: Array, kind: Array, factor: float) -> Array:
    """The kinds of a product, where numbers of kinds k are multiplied by one number above 0."""
    kept = k == POSITIVE
    lowered = k == MASKED
    if lowered.any() and run.still_masks(factor):
        kept = kept | lowered
    return np.where(kept, k, kind)


def kept_above_zero(run: Context, result: Shadow, a: Operand | Number, b: Operand | Number) -> Shadow:
    """A product, above 0 where numbers above 0 meet constants that are, as weights meet a mask of zeros and ones."""
    axes, kind = len(result.shape), result.kind
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Number) or isinstance(y, Number):
            return result
        varies, fixed = align(x.known().kind, axes) == POSITIVE, align(y.known().kind, axes) == PLAIN
        if not (varies.any() and fixed.any()):
            continue
        above = align(np.asarray(y.array()) > 0, axes) & fixed & varies
        if above.any():
            run.values_used(y)
            kind = np.where(above & (kind == VARIES), np.uint8(POSITIVE), kind)
    return Shadow(result.shape, result.lo, result.hi, kind)


def add_product(run: Context, a: Shadow, b: Operand, c: Operand, shape: tuple[int, ...]) -> Shadow:
    """a + v · b · c: a sum with a product, whose zeros remove what it would depend on."""
    axes = len(shape)
    p = product(run, b, c, shape)
    lo, hi = join_intervals([a, p], axes)
    return assemble(shape, lo, hi, kinds_from((align(a.kind, axes) >= FIXED) & (p.kind >= FIXED)))


def quotient(run: Context, a: Operand | Number, b: Operand | Number, shape: tuple[int, ...]) -> Shadow:
    """a / b joins both; 0 / b = 0 for b ≠ 0, which holds for b > 0 and is recorded as a condition otherwise; −∞ / b is
    −∞ for b > 0.
    """
    x, y = known(run, a), known(run, b)
    axes = len(shape)
    lo, hi = join_intervals([x, y], axes)
    p, q = align(x.kind, axes), align(y.kind, axes)
    kind = kinds_from((p >= FIXED) & (q >= FIXED))
    kind = np.where((p == POSITIVE) & (q == POSITIVE), np.uint8(POSITIVE), kind)
    if isinstance(b, int | float) and b > 0:
        kind = _scaled(run, p, kind, 1 / b)
    if isinstance(b, int | float) and b != 0 and math.isfinite(b):
        kind = np.where(p == ZERO, p, kind)
    kind = np.where((p == NEGINF) & (q == POSITIVE), np.uint8(NEGINF), kind)
    zero = (p == ZERO) & (q < FIXED)
    if zero.any():
        run.zeros_used(*(o for o in (a,) if not isinstance(o, Number)))
        safe = zero & (q == POSITIVE)
        if (zero & ~safe).any() and run.finite_masks:
            depends = align(y.lo <= y.hi, axes)
            if (zero & ~safe & depends).any():
                run.nonzero_denominator()
            safe = zero
        kind = np.where(safe, np.uint8(ZERO), kind)
    return assemble(shape, lo, hi, kind)


def select(
    run: Context, condition: Operand, a: Operand | Number, b: Operand | Number, shape: tuple[int, ...]
) -> Shadow:
    """`condition ? a : b`: where the condition is a constant, only what it selects; otherwise all three."""
    return chosen(run, condition, condition.known(), known(run, a), known(run, b), shape)


def chosen(run: Context, condition: Operand, c: Shadow, x: Shadow, y: Shadow, shape: tuple[int, ...]) -> Shadow:
    """`select` of shadows; `c` is what the condition holds, in a form that broadcasts to `shape`."""
    axes = len(shape)
    k = align(c.kind, axes)
    fixed, false = k >= FIXED, k == ZERO
    true = fixed & ~false
    lo, hi = join_intervals([c, x, y], axes)
    kind: Array = np.full((1,) * axes, VARIES, np.uint8)
    both = (align(x.kind, axes) == POSITIVE) & (align(y.kind, axes) == POSITIVE)
    kind = np.where(both, np.uint8(POSITIVE), kind)
    low = [(s == MASKED) | (s == BIG) for s in (align(x.kind, axes), align(y.kind, axes))]
    kind = np.where(low[0] & low[1], np.uint8(MASKED), kind)  # lowered on both sides, and finite
    for certain in (ZERO, NEGINF):  # the same on both sides, whatever the condition says
        same = (align(x.kind, axes) == certain) & (align(y.kind, axes) == certain)
        kind = np.where(same, np.uint8(certain), kind)
        if certain == ZERO and same.any():
            run.zeros_used()  # +0 on one side and −0 on the other
    for side, where in ((x, true), (y, false)):
        if where.any():
            lo = late(np.where, where, align(side.lo, axes), lo)
            hi = late(np.where, where, align(side.hi, axes), hi)
            kind = late(np.where, where, align(side.kind, axes), kind)
    if fixed.any():
        run.values_used(condition)
    return assemble(shape, lo, hi, kind)


def larger(x: Shadow, y: Shadow, shape: tuple[int, ...]) -> Shadow:
    """The larger of two: lowered where both are, as a masked score above the lowest number of its format."""
    result, axes = pointwise(shape, (x, y)), len(shape)
    low = [(s == MASKED) | (s == BIG) | (s == NEGINF) for s in (align(x.kind, axes), align(y.kind, axes))]
    kind = np.where(low[0] & low[1] & (result.kind == VARIES), np.uint8(MASKED), result.kind)
    return Shadow(shape, result.lo, result.hi, kind)


def conjunction(run: Context, a: Operand | Number, b: Operand | Number, shape: tuple[int, ...]) -> Shadow:
    """a and b, of truth values or bit by bit: like a product, False (0) decides alone; but 1 & 2 is 0."""
    p = product(run, a, b, shape)
    return Shadow(p.shape, p.lo, p.hi, np.where(p.kind == POSITIVE, np.uint8(VARIES), p.kind))


def disjunction(run: Context, result: Shadow, truths: Iterable[Operand]) -> Shadow:
    """a or b of truth values, given their join: a constant True of one that is a truth value decides alone."""
    axes = len(result.shape)
    true: Array = np.zeros((1,) * axes, bool)
    for operand in truths:
        k = align(operand.known().kind, axes)
        one = (k >= FIXED) & (k != ZERO)
        if one.any():
            run.values_used(operand)
        true = true | one
    return assemble(result.shape, result.lo, result.hi, np.where(true, np.uint8(PLAIN), result.kind))


def gated(x: Shadow, axis: int, shape: tuple[int, ...]) -> Shadow:
    """First half times a function of the second half, along one axis, of length `shape[axis]` each."""
    half = shape[axis]
    parts = []
    for a, reduce in ((x.lo, np.minimum), (x.hi, np.maximum), ((x.kind < FIXED).astype(np.uint8), np.maximum)):
        if a.shape[axis] > 1:
            a = reduce(a.take(range(half), axis), a.take(range(half, 2 * half), axis))
        parts.append(a)
    return assemble(shape, parts[0], parts[1], kinds_from(parts[2] == 0))
