"""Elementwise operations at every length, as `trace.transfer.elementwise` has them at one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import integers
from .integers import FALSE, NONE, choice, either, every, inverse, solver
from .shadow import LengthShadow, joined, picked, settled

if TYPE_CHECKING:
    from .integers import Truth
    from .shadow import Size

BIG = 100  # a constant of −BIG or below stands in for −∞ (`trace.domain.BIG_MASK`)

Shape = Sequence["Size"]


def zero_from_zero(x: LengthShadow) -> LengthShadow:
    """f(x) with f(0) = 0."""
    return settled(replace(joined(x.shape, [x]), zero=x.zero, signed=x.signed))


def exponential(x: LengthShadow) -> LengthShadow:
    """Above 0; 0 at −∞, and at what is lowered and no constant, under the condition that it is low enough."""
    lowered = every(x.low, inverse(x.fixed))
    zero = either(x.neginf, lowered)
    unseen = every(x.unseen, inverse(x.low))  # what is lowered is 0 now
    return settled(replace(joined(x.shape, [x]), zero=zero, positive=inverse(either(zero, x.fixed)), unseen=unseen))


def add(shape: Shape, a: LengthShadow, b: LengthShadow, real: bool) -> LengthShadow:
    """a + b: a lowered score stays one, unless a large constant raises it again."""
    result = joined(shape, [a, b])
    positive = either(every(a.positive, either(b.positive, b.zero)), every(b.positive, a.zero))
    if not real:
        return replace(result, positive=positive)
    loose = inverse(every(a.fixed, b.fixed))
    lowered = either(every(a.low, inverse(b.high)), every(b.low, inverse(a.high)))
    low = either(every(lowered, loose), every(a.low, either(b.zero, b.low)), every(b.low, a.zero))
    same = [(a, b.zero), (b, a.zero)]
    zero = every(a.zero, b.zero)
    high = either(*(every(x.high, nothing) for x, nothing in same))
    return settled(
        replace(
            result,
            positive=positive,
            low=low,
            high=high,
            zero=zero,
            neginf=either(a.neginf, b.neginf),
            unseen=either(result.unseen, *(every(x.unseen, nothing) for x, nothing in same)),
            signed=a.signed or b.signed,
        )
    )


def subtract(shape: Shape, a: LengthShadow, b: LengthShadow, real: bool) -> LengthShadow:
    """a − b: a lowered score stays one, unless what is taken away may be one, too."""
    result = joined(shape, [a, b])
    if not real:
        return result
    loose = inverse(every(a.fixed, b.fixed))
    low = every(either(a.low, b.high), loose, inverse(b.unseen), inverse(b.low))
    low = either(low, every(a.low, either(b.zero, b.high)), every(a.zero, b.high))
    return settled(
        replace(result, low=low, neginf=a.neginf, positive=every(a.positive, b.zero), signed=a.signed or b.signed)
    )


def multiply(shape: Shape, a: LengthShadow, b: LengthShadow) -> LengthShadow:
    """a · b: an exact 0 stays one, whatever the other (finite) number is; a counted one makes a large number a mask."""
    result = joined(shape, [a, b])
    zero, low, high = either(a.zero, b.zero), FALSE, FALSE
    for x, y in ((a, b), (b, a)):
        if y.number is not None and y.number > 0:
            low = either(low, x.low)
        if y.number is not None and abs(y.number) >= BIG and x.whole is not None and x.span is not None:
            above, below = x.whole >= 1, x.whole <= -1
            low = either(low, below if y.number > 0 else above)
            high = either(high, above if y.number > 0 else below)
    known = every(a.fixed, b.fixed)
    open_ = either(every(zero, inverse(known)))
    return settled(
        replace(
            result,
            zero=zero,
            unseen=every(result.unseen, inverse(zero)),
            low=every(low, inverse(zero)),
            high=every(high, inverse(zero)),
            positive=every(a.positive, b.positive),
            signed=a.signed or b.signed or not solver.is_false(open_),
        )
    )


def negative(x: LengthShadow) -> LengthShadow:
    """−x: of a constant that is as large as a mask's number is low, the mask."""
    return settled(replace(zero_from_zero(x), low=x.high, high=every(x.low, x.fixed)))


def divide(shape: Shape, a: LengthShadow, b: LengthShadow) -> LengthShadow:
    """a / b: 0 / b = 0 for b ≠ 0, which is assumed where it is not seen."""
    result = joined(shape, [a, b])
    low = a.low if b.number is not None and b.number > 0 else FALSE
    positive = every(a.positive, b.positive)
    if b.number is not None and b.number > 0:
        positive = a.positive
    return settled(replace(result, zero=a.zero, low=low, positive=positive, signed=a.signed or b.signed))


def select(shape: Shape, condition: LengthShadow, a: LengthShadow, b: LengthShadow) -> LengthShadow:
    """`condition ? a : b`: where the condition is known, only what it selects; otherwise all three."""
    if condition.whole is not None:
        return picked(condition.whole, a, b, shape)
    result = joined(shape, [condition, a, b])
    zero, neginf = every(a.zero, b.zero), every(a.neginf, b.neginf)
    signed = a.signed or b.signed or not solver.is_false(zero)
    alike = {"zero": zero, "neginf": neginf, "low": every(a.low, b.low), "positive": every(a.positive, b.positive)}
    return settled(replace(result, **alike, signed=signed))


def larger(shape: Shape, a: LengthShadow, b: LengthShadow) -> LengthShadow:
    """The larger of two: what stands beside −∞ is it; lowered where both are."""
    for x, y in ((a, b), (b, a)):
        if x.number is not None and x.number == float("-inf"):
            return replace(y, shape=tuple(shape))
    result = joined(shape, [a, b])
    hidden = [either(x.low, x.neginf) for x in (a, b)]
    unseen = every(*(either(h, x.unseen) for h, x in zip(hidden, (a, b), strict=True)))  # no smaller than either
    return settled(replace(result, low=every(*hidden), unseen=unseen))


# -- whole numbers and truth values -----------------------------------------------------------------------------------


def computed(shape: Shape, operation: Callable[..., Any], xs: Sequence[LengthShadow]) -> LengthShadow:
    """A whole number or truth value of others: computed where they are known."""
    result = joined(shape, xs)
    if any(x.whole is None for x in xs):
        return result
    known = solver.simplify(operation(*(x.whole for x in xs)))
    zero = inverse(known) if solver.is_bool(known) else solver.simplify(known == 0)
    return replace(result, whole=known, zero=zero, fixed=integers.TRUE, hi=NONE)


def truncated(a: Any, b: Any) -> Any:
    """The quotient, rounded towards 0, as the hardware has it."""
    size = solver.If(b >= 0, b, -b)
    quotient = solver.If(a >= 0, a / size, -((-a) / size))
    return solver.If(b >= 0, quotient, -quotient)


def remainder(a: Any, b: Any) -> Any:
    """What is left then: it has the sign of a."""
    return a - b * truncated(a, b)


def sign(a: Any) -> Any:
    """−1, 0 or 1."""
    return solver.If(a > 0, solver.IntVal(1), solver.If(a < 0, solver.IntVal(-1), solver.IntVal(0)))


def least(a: Any, b: Any) -> Any:
    """The smaller number."""
    return solver.If(a <= b, a, b)


def greatest(a: Any, b: Any) -> Any:
    """The larger number."""
    return solver.If(a >= b, a, b)


def clamped(low: Any, x: Any, high: Any) -> Any:
    """The number, moved between two others."""
    return least(greatest(x, low), high)


def counted(truth: Truth) -> Any:
    """1 or 0."""
    return choice(truth, solver.IntVal(1), solver.IntVal(0))
