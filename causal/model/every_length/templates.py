"""Closed forms for a latest position: guessed, and kept only where they are proved.

A reduction needs the latest of many positions as a term in the places that are left. Guesses are the positions at one
of the places that are removed (the first, the last, one that stands in the same row or block), and simple forms; those
that are too early at a small length are dropped, and the first of the others, the earliest first, that both solvers
prove to bound the positions is taken. A wrong guess costs sharpness, never soundness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from . import integers
from .integers import NONE, index, put, solver, whole
from .sampling import Sample
from .shadow import is_size

if TYPE_CHECKING:
    from .integers import Statements, Term, Truth
    from .shadow import Size

MOST_SHIFTS = 12  # numbers that a shift is tried with
MOST_BLOCK = 4096
SHORT = 6  # terms of so many parts are left as they are
MOST_TRIED = 8  # guesses that no small length denies, and that the solvers are asked about


def ranges(shape: Sequence[Size], axes: Sequence[int] | None = None) -> list[Truth]:
    """The places that an array has."""
    kept = range(len(shape)) if axes is None else axes
    return [solver.And(index(a) >= 0, index(a) < whole(shape[a])) for a in kept]


def within(hi: Term, form: Term) -> Truth:
    """No later position than the form's; what is below 0 is no position at all."""
    return solver.Or(hi <= form, hi < 0)


def closed_form(
    statements: Statements, hi: Term, skip: Truth, shape: Sequence[Size], gone: Sequence[int], last: Term
) -> Term:
    """A term in the axes that are not `gone` that no `hi` exceeds along those, except where `skip` is true."""
    if hi.eq(NONE) or solver.is_true(skip):
        return NONE
    along = {index(a).get_id() for a in gone}
    if not integers.variables(hi) & along:
        return hi if integers.variables(skip) & along else integers.choice(skip, NONE, hi)
    kept = [a for a in range(len(shape)) if a not in gone]
    forms = {f.get_id(): f for f in map(solver.simplify, _forms(hi, skip, shape, kept, gone)) if _is_free(f, along)}
    free = integers.names(hi, skip, last, *map(whole, shape), *forms.values())
    sample = Sample([hi, skip, *forms.values()], shape, gone, free)
    needed = sample.needed(hi, skip)
    found = [
        (excess, integers.size(f), f) for f in forms.values() if (excess := sample.excess(f, needed, last)) is not None
    ]
    inside = ranges(shape)
    for _, _, form in sorted(found, key=lambda three: three[:2])[:MOST_TRIED]:
        if statements.hold(solver.Or(skip, within(hi, form)), *inside):
            return form
    return last


def tidied(statements: Statements, hi: Term, shape: Sequence[Size], rank: Callable[[Term], Term]) -> Term:
    """A shorter term that is the same at small lengths and that no `hi` exceeds; else itself."""
    if integers.size(hi) <= SHORT:
        return hi
    forms = {f.get_id(): f for f in map(solver.simplify, _simple(hi, shape, rank))}
    shorter = sorted((n, key) for key, f in forms.items() if (n := integers.size(f)) < integers.size(hi))
    sample = Sample([hi, *forms.values()], shape, [], integers.names(hi, *map(whole, shape), *forms.values()))
    needed = sample.needed(hi, integers.FALSE)
    for _, key in shorter:
        form = forms[key]
        if sample.excess(form, needed) == 0 and statements.hold(within(hi, form), *ranges(shape)):
            return form
    return hi


def settled_truth(statements: Statements, truth: Truth, shape: Sequence[Size]) -> Truth:
    """True or false, where a truth value is that at every place; else itself."""
    if solver.is_true(truth) or solver.is_false(truth):
        return truth
    shown = Sample([truth], shape, [], integers.names(truth, *map(whole, shape))).shown(truth)
    if all(s.all() for s in shown) and statements.hold(truth, *ranges(shape)):
        return integers.TRUE
    if not any(s.any() for s in shown) and statements.hold(solver.Not(truth), *ranges(shape)):
        return integers.FALSE
    return truth


def _simple(hi: Term, shape: Sequence[Size], rank: Callable[[Term], Term]) -> Iterator[Term]:
    numbers, divisors = integers.numerals(hi)
    blocks = sorted({d for d in divisors if 1 < d <= MOST_BLOCK})
    shifts = sorted({*numbers, *(-c for c in numbers), -1, 0, 1}, key=abs)[:MOST_SHIFTS]
    yield NONE
    for a in range(len(shape)):
        if not is_size(shape[a], 1):
            yield from (rank(index(a) + c) for c in shifts)
            yield from (rank(index(a) / b * b + c) for b in blocks for c in (-1, 0, b - 1))
    yield from _parts(hi)


def _is_free(form: Term, along: set[int]) -> bool:
    return not integers.variables(form) & along


def _forms(hi: Term, skip: Truth, shape: Sequence[Size], kept: Sequence[int], gone: Sequence[int]) -> Iterator[Term]:
    numbers, divisors = integers.numerals(hi, skip)
    blocks = sorted({d for d in divisors if 1 < d <= MOST_BLOCK})
    sizes = sorted({s for s in shape if isinstance(s, int) and 1 < s <= MOST_BLOCK})
    near = {c + e for c in numbers for e in (-1, 0, 1)}
    shifts = sorted({s * c for c in near for s in (-1, 1)} | {-1, 0, 1}, key=abs)[:MOST_SHIFTS]
    yield NONE
    places = list(_places(shape, kept, blocks, sizes, shifts))
    for chosen in product(*([whole(0), whole(shape[g]) - 1] for g in gone)):
        at = [index(a) for a in range(len(shape))]
        for g, place in zip(gone, chosen, strict=True):
            at[g] = place
        yield put(hi, at)
        for g in gone:
            yield from (put(hi, [*at[:g], place, *at[g + 1 :]]) for place in places)
    yield from places
    for place in places:
        for b in {*blocks, *sizes}:
            yield from (place * b + c for c in (-1, 0, b - 1))
    yield from _parts(hi)


def _places(
    shape: Sequence[Size], kept: Sequence[int], blocks: Sequence[int], sizes: Sequence[int], shifts: Sequence[int]
) -> Iterator[Term]:
    """Places that stand in the same row, or in the same block or the one before, as those that are left."""
    for a in kept:
        if is_size(shape[a], 1):
            continue
        yield from (index(a) + c for c in shifts)
        for b in blocks:
            yield from (index(a) / b + c for c in (-1, 0, 1))
            yield from ((index(a) + c) / b for c in shifts)
            yield from (index(a) / b * b + c for c in (-1, 0, b - 1))
        for b in sizes:
            yield from (index(a) * b + index(k) for k in kept if is_size(shape[k], b))


def _parts(hi: Term) -> Iterator[Term]:
    """The whole numbers among the terms that it is made of."""
    seen, stack = set(), [hi]
    while stack:
        term = stack.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        yield term
        stack += [c for c in integers.parts(term).children if solver.is_int(c)]
