"""Reductions and products at every length: their latest positions are what templates can be proved to bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import integers
from .integers import FALSE, NONE, TRUE, either, every, index, inverse, put, solver, whole
from .shadow import LengthShadow, is_size, may_be_low, moved, settled
from .templates import closed_form, ranges

if TYPE_CHECKING:
    from .integers import Statements, Term, Truth
    from .shadow import Size


def without(shape: Sequence[Size], axes: Sequence[int]) -> tuple[tuple[Size, ...], list[Term]]:
    """The shape without the axes; and the places of the whole array, those along the axes left at 0."""
    kept = [a for a in range(len(shape)) if a not in axes]
    places = [solver.IntVal(0)] * len(shape)
    for new, old in enumerate(kept):
        places[old] = index(new)
    return tuple(shape[a] for a in kept), places


def uniform_along(term: Truth, axes: Sequence[int], otherwise: Truth) -> Truth:
    """The truth value, where it is the same along the axes; `otherwise` where it need not be."""
    return otherwise if integers.variables(term) & {index(a).get_id() for a in axes} else term


def reduced(
    statements: Statements, x: LengthShadow, axes: Sequence[int], last: Term, skip: Truth = FALSE
) -> LengthShadow:
    """Any function of all elements along the axes, those left out that `skip` names."""
    if not axes:
        return settled(LengthShadow(x.shape, x.hi, x.fixed, unseen=either(x.unseen, x.low), signed=x.signed))
    shape, places = without(x.shape, axes)
    hi = closed_form(statements, x.hi, skip, x.shape, axes, last)
    return settled(
        LengthShadow(
            shape,
            put(hi, places),
            fixed=put(uniform_along(x.fixed, axes, FALSE), places),
            unseen=put(uniform_along(either(x.unseen, x.low), axes, TRUE), places),
            signed=x.signed,
        )
    )


def summed(statements: Statements, x: LengthShadow, axes: Sequence[int], last: Term) -> LengthShadow:
    """The sum along axes: of zeros it is 0."""
    if not axes:
        return x
    result = reduced(statements, x, axes, last)
    _, places = without(x.shape, axes)
    zero = put(uniform_along(x.zero, axes, FALSE), places)
    positive = put(uniform_along(x.positive, axes, FALSE), places)
    return settled(replace(result, zero=zero, positive=positive, signed=x.signed))


def largest(statements: Statements, x: LengthShadow, axes: Sequence[int], last: Term) -> LengthShadow:
    """The largest element: −∞ never matters, a lowered score only where nothing is visible.

    Where no place is seen that is visible in every row, the largest number of such a row is `unseen`: it may be a
    lowered score itself.
    """
    if solver.is_false(x.low) or len(axes) != 1:
        result = reduced(statements, x, axes, last, x.neginf if axes else FALSE)
        return replace(result, unseen=either(result.unseen, FALSE if solver.is_false(x.low) else TRUE))
    seen = visible(x, axes[0])
    if statements.hold(seen, *ranges(x.shape, [a for a in range(len(x.shape)) if a != axes[0]])):
        seen = TRUE
    result = reduced(statements, replace(x, low=FALSE), axes, last, either(x.neginf, every(x.low, seen)))
    _, places = without(x.shape, axes)
    fixed = every(result.fixed, put(inverse(seen), places))
    return replace(result, fixed=fixed, unseen=either(result.unseen, put(inverse(seen), places)))


def visible(x: LengthShadow, axis: int) -> Truth:
    """Whether one of a few places of the row is neither lowered nor −∞: enough, not necessary."""
    _, divisors = integers.numerals(x.low, x.neginf)
    candidates: list[Any] = [solver.IntVal(0), whole(x.shape[axis]) - 1]
    for a in range(len(x.shape)):
        if a != axis and not is_size(x.shape[a], 1):
            candidates += [index(a), *(index(a) / b for b in divisors if b > 0)]
            candidates += [index(a) / b - 1 for b in divisors if b > 0]
    hidden = either(x.low, x.neginf)
    found = []
    for place in candidates:
        places = [place if a == axis else index(a) for a in range(len(x.shape))]
        found.append(every(place >= 0, place < whole(x.shape[axis]), inverse(put(hidden, places))))
    return either(*found)


def running(statements: Statements, x: LengthShadow, axis: int, reverse: bool, last: Term) -> LengthShadow:
    """Each element with all before it along the axis, or with all after it."""
    rank = len(x.shape)
    here = index(rank)  # the place of the result; index(axis) runs over what it reads
    order = index(axis) >= here if reverse else index(axis) <= here
    form = closed_form(statements, x.hi, inverse(order), (*x.shape, x.shape[axis]), [axis], last)
    hi = put(form, [*(index(a) for a in range(rank)), index(axis)])
    fixed = x.fixed if x.fixed.eq(TRUE) else FALSE
    zero = x.zero if x.zero.eq(TRUE) else FALSE
    unseen = TRUE if may_be_low(x) else FALSE
    return settled(LengthShadow(x.shape, hi, fixed=fixed, zero=zero, unseen=unseen, signed=x.signed))


def contracted(
    statements: Statements,
    a: LengthShadow,
    b: LengthShadow,
    contracting: tuple[Sequence[int], Sequence[int]],
    batch: tuple[Sequence[int], Sequence[int]],
    last: Term,
) -> LengthShadow:
    """Σ over the contracted axes of a · b: of a term that an exact zero kills nothing is read."""
    (ca, cb), (ba, bb) = contracting, batch
    fa = [d for d in range(len(a.shape)) if d not in (*ca, *ba)]
    fb = [d for d in range(len(b.shape)) if d not in (*cb, *bb)]
    shape = (*(a.shape[d] for d in (*ba, *fa)), *(b.shape[d] for d in fb))
    whole_shape = (*shape, *(a.shape[d] for d in ca))
    gone = list(range(len(shape), len(whole_shape)))

    def places(axes: Sequence[Sequence[int]], first: Sequence[int], rank: int) -> list[Term]:
        found: list[Term] = [NONE] * rank
        for group, start in zip(axes, first, strict=True):
            for k, d in enumerate(group):
                found[d] = index(start + k)
        return found

    x = moved(a, whole_shape, places((ba, fa, ca), (0, len(ba), len(shape)), len(a.shape)))
    y = moved(b, whole_shape, places((bb, fb, cb), (0, len(ba) + len(fa), len(shape)), len(b.shape)))
    zero = either(x.zero, y.zero)
    hi = integers.latest([closed_form(statements, s.hi, zero, whole_shape, gone, last) for s in (x, y)])
    nothing = uniform_along(zero, gone, FALSE)
    fixed = uniform_along(every(x.fixed, y.fixed), gone, FALSE)
    unseen = uniform_along(either(x.unseen, y.unseen, x.low, y.low), gone, TRUE)
    positive = uniform_along(every(x.positive, y.positive), gone, FALSE)
    signed = a.signed or b.signed or not solver.is_false(zero)
    return settled(LengthShadow(shape, hi, fixed, nothing, FALSE, FALSE, positive, unseen, signed=signed))
