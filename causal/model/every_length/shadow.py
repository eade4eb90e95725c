"""What is known of an array at every length: for each place the latest position that its number may depend on.

As `trace.domain` does for one length, for all of them: each part is a term in the places `index(a)` and in the length.
An element that is `fixed` is the same number in every run, so that it depends on no position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from . import integers
from .integers import FALSE, NONE, TRUE, put

if TYPE_CHECKING:
    from .integers import Term, Truth

Size: TypeAlias = Any  # a number, or a term in the length


@dataclass(frozen=True, eq=False)
class LengthShadow:
    """An array of `shape` (numbers, or terms in the length) at every length.

    `hi`: the latest position, below 0 for none. `fixed`: the same in every run; `zero`: exactly 0, and `neginf`:
    exactly −∞, or no number at all, in every run. `low`: a score lowered by a large constant, or a constant as low;
    `high`: a constant as large, which lowers what it is taken away from; `positive`: above 0. `unseen`: it may be a
    lowered score without saying so, as the largest of a row is in which nothing is visible.

    `whole`: the number or truth value itself, where it is fixed and known; with `span`, its least and greatest where it
    stands in for a floating number. `number`: the floating number that all elements are; `two`: a rule over the places,
    the number where it holds, and the one where it does not. `signed`: a zero may be −0.
    """

    shape: tuple[Size, ...]
    hi: Term = NONE
    fixed: Truth = FALSE
    zero: Truth = FALSE
    neginf: Truth = FALSE
    low: Truth = FALSE
    high: Truth = FALSE
    positive: Truth = FALSE
    unseen: Truth = FALSE
    whole: Any = None
    span: tuple[int, int] | None = None
    number: float | None = None
    two: tuple[Truth, float, float] | None = None
    signed: bool = False

    @property
    def depends(self) -> bool:
        """Whether it may depend on some position, as far as the term's form says."""
        return not self.hi.eq(NONE)

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from others, while they are alive."""
        terms = (*(integers.whole(d) for d in self.shape), self.hi, *(getattr(self, p) for p in TRUTHS))
        known = () if self.whole is None else (self.whole.get_id(),)
        two = None if self.two is None else (self.two[0].get_id(), *self.two[1:])
        return (*(t.get_id() for t in terms), *known, self.span, self.number, two, self.signed)


def is_size(size: Size, number: int) -> bool:
    """Whether it is this number at every length."""
    return isinstance(size, int) and size == number


TRUTHS = ("fixed", "zero", "neginf", "low", "high", "positive", "unseen")


def constant(shape: Sequence[Size], **known: Any) -> LengthShadow:
    """The same in every run."""
    return LengthShadow(tuple(shape), fixed=TRUE, **known)


def settled(shadow: LengthShadow) -> LengthShadow:
    """The shadow with what is fixed depending on nothing, and what is said to be lowered not `unseen`."""
    fixed = integers.either(shadow.fixed, shadow.zero, shadow.neginf)
    unseen = integers.every(shadow.unseen, integers.inverse(shadow.low))
    return replace(shadow, fixed=fixed, hi=integers.choice(fixed, NONE, shadow.hi), unseen=unseen)


def moved(x: LengthShadow, shape: Sequence[Size], places: Sequence[Term]) -> LengthShadow:
    """The array whose element at the places `index(a)` is x's at `places`."""
    parts: dict[str, Any] = {p: put(getattr(x, p), places) for p in ("hi", *TRUTHS)}
    known = None if x.whole is None else put(x.whole, places)
    two = None if x.two is None else (put(x.two[0], places), *x.two[1:])
    return replace(x, shape=tuple(shape), whole=known, two=two, **parts)


def picked(condition: Truth, a: LengthShadow, b: LengthShadow, shape: Sequence[Size]) -> LengthShadow:
    """`condition ? a : b` of two arrays in the same places, for a condition that is known."""
    parts: dict[str, Any] = {p: integers.choice(condition, getattr(a, p), getattr(b, p)) for p in ("hi", *TRUTHS)}
    both = a.whole is not None and b.whole is not None and a.whole.sort() == b.whole.sort()
    span = (min(a.span[0], b.span[0]), max(a.span[1], b.span[1])) if a.span and b.span else None
    both = both and (a.span is None) == (b.span is None)
    return LengthShadow(
        tuple(shape),
        **parts,
        whole=integers.choice(condition, a.whole, b.whole) if both else None,
        span=span if both else None,
        number=a.number if a.number == b.number else None,
        two=_two(condition, a, b),
        signed=a.signed or b.signed,
    )


def _two(condition: Truth, a: LengthShadow, b: LengthShadow) -> tuple[Truth, float, float] | None:
    """The two numbers that are picked from, if it is two."""
    if a.number is not None and b.number is not None and a.number != b.number:
        return condition, a.number, b.number
    for x, y, holds in ((a, b, condition), (b, a, integers.inverse(condition))):
        if x.two is not None and y.number is not None and y.number in x.two[1:]:
            rule, p, q = x.two
            if y.number == p:
                return integers.either(integers.every(holds, rule), integers.inverse(holds)), p, q
            return integers.every(holds, rule), p, q
    return None


def joined(shape: Sequence[Size], shadows: Sequence[LengthShadow]) -> LengthShadow:
    """Any function of arrays, element by element: the latest position of all; fixed where all are."""
    return settled(
        LengthShadow(
            tuple(shape),
            integers.latest([x.hi for x in shadows]),
            fixed=integers.every(*(x.fixed for x in shadows)),
            unseen=integers.either(*(part for x in shadows for part in (x.unseen, x.low))),
            signed=any(x.signed for x in shadows),
        )
    )


def total(shape: Sequence[Size], shadows: Sequence[LengthShadow], last: Term) -> LengthShadow:
    """Any function of arrays at all: of everything, as soon as one of them, or the sign of its zeros, may depend."""
    signed = any(x.signed for x in shadows)
    depends = signed or any(x.depends for x in shadows)
    fixed = not signed and all(x.fixed.eq(TRUE) for x in shadows)
    unseen = TRUE if any(map(may_be_low, shadows)) else FALSE
    hi = last if depends else NONE
    return LengthShadow(tuple(shape), hi, fixed=TRUE if fixed else FALSE, unseen=unseen, signed=signed)


def may_be_low(x: LengthShadow) -> bool:
    """Whether some element may be a lowered score, whether it says so or not."""
    return not (integers.solver.is_false(x.low) and integers.solver.is_false(x.unseen))
