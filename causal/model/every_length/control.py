"""Loops and branches at every length: what is carried is bounded by a guess that a round is proved to keep."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import integers, movement
from .formats import is_signed
from .integers import NONE, index, solver, whole
from .primitives import primitive
from .sampling import STEP
from .shadow import TRUTHS, LengthShadow, joined, may_be_low, moved
from .templates import ranges, within
from .wrapping import fits

if TYPE_CHECKING:
    from .equation import Equation
    from .integers import Term
    from .shadow import Size

MOST_STEPS = 64  # of a loop of known length, that are followed one by one
MOST_ROUNDS = 12  # towards a guess that a round keeps

State = list[LengthShadow]


@primitive("cond")
def branch(e: Equation) -> State:
    """All branches joined, with what chooses among them."""
    which, *given = e.operands
    branches = e.params["branches"]
    if which.whole is not None and solver.is_int_value(which.whole):
        place = min(max(which.whole.as_long(), 0), len(branches) - 1)
        return e.run.closed(branches[place], given)
    results = [e.run.closed(b, given) for b in branches]
    return [joined(s, [moved(which, s, []), *rs]) for s, rs in zip(e.shapes, zip(*results, strict=True), strict=True)]


@primitive("while")
def loop(e: Equation) -> State:
    """A loop until something holds: everything."""
    return [e.everything(shape) for shape in e.shapes]


@primitive("scan")
def scan(e: Equation) -> State:
    """Step by step where they are few; else what is carried before step k keeps to a guess in k."""
    from ..trace.jaxpr.calls import carried

    return stepped(e, *carried(e.params), e.size(e.params["length"]), bool(e.params["reverse"]))


def stepped(e: Equation, consts: int, carries: int, length: Size, reverse: bool) -> State:
    """The same, whichever library says it: operands that stay as they are come first, then those carried, then rows."""
    given = e.operands
    held, state, rows = given[:consts], given[consts : consts + carries], given[consts + carries :]
    if isinstance(length, int) and length <= MOST_STEPS:
        return _unrolled(e, held, state, rows, length, reverse)
    return _Loop(e, held, rows, whole(length), reverse).run(state)


def _unrolled(e: Equation, held: State, state: State, rows: State, length: int, reverse: bool) -> State:
    carries, outputs = len(state), []
    for t in range(length - 1, -1, -1) if reverse else range(length):
        results = e.run.closed(e.params["jaxpr"], [*held, *state, *(movement.along(x, 0, whole(t)) for x in rows)])
        state = results[:carries]
        outputs.append(results[carries:])
    if reverse:
        outputs.reverse()
    stacked = []
    for k, shape in enumerate(e.shapes[carries:]):
        if not outputs:
            stacked.append(LengthShadow(shape))
            continue
        one = (1, *shape[1:])
        rows_ = [moved(o[k], one, [index(a + 1) for a in range(len(shape) - 1)]) for o in outputs]
        stacked.append(movement.concatenated(rows_, 0, shape))
    return [*state, *stacked]


class _Loop:
    """A loop of unknown length: before step k what is carried depends on positions up to a guess in k at most."""

    def __init__(self, e: Equation, held: State, rows: State, length: Term, reverse: bool) -> None:
        self.e, self.held, self.rows, self.length, self.reverse = e, held, rows, length, reverse
        self.k = solver.Int(f"{STEP}{next(COUNTER)}")
        self.steps = solver.And(self.k >= 0, self.k < length)

    def run(self, first: State) -> State:
        """What is carried in the end, and the rows that were put out."""
        types = self.e.operand_types[len(self.held) :]
        guesses = [self._counter(x, dtype) for x, dtype in zip(first, types, strict=False)]
        places = [0] * len(first)
        forms = [self._forms(x) for x in first]
        for _ in range(MOST_ROUNDS * max(1, len(first))):
            guessed = zip(guesses, first, forms, places, strict=True)
            state = [self._guess(x, f[p]) if g is None else g for g, x, f, p in guessed]
            results = self._once(state)
            if any(may_be_low(x) for x in (*first, *results[: len(first)])):
                break  # a running maximum of scores, of which the largest may be a lowered one
            failing = self._failing(first, state, results[: len(first)])
            if failing is None:
                return self._done(state, results[len(first) :])
            if guesses[failing] is not None:
                guesses[failing] = None
            else:
                forms[failing] = self._with_blocks(forms[failing], results[failing].hi)
                places[failing] += 1
                if places[failing] >= len(forms[failing]):
                    break
        return [self.e.everything(shape) for shape in self.e.shapes]

    def _once(self, state: State) -> State:
        """One step on what is carried before it."""
        place = self.length - 1 - self.k if self.reverse else self.k
        rows = [movement.along(x, 0, place) for x in self.rows]
        with self.e.statements.given(self.steps):
            return self.e.run.closed(self.e.params["jaxpr"], [*self.held, *state, *rows])

    def _counter(self, x: LengthShadow, dtype: Any) -> LengthShadow | None:
        """A whole number that grows by one at every step, if it is one."""
        if x.whole is None or x.shape or solver.is_bool(x.whole):
            return None
        known = solver.simplify(x.whole + self.k)
        if not is_signed(dtype) or not fits(known, 8 * dtype.itemsize):
            return None
        return replace(x, whole=known, zero=solver.simplify(known == 0))

    def _forms(self, x: LengthShadow) -> list[Term]:
        """What the latest position may be before step k, the earliest first."""
        own = [index(a) for a, d in enumerate(x.shape) if not isinstance(d, int)]
        places = own if self.reverse else [self.k - 1, self.k, *own, *(i - 1 for i in own)]
        return [NONE, x.hi, *map(self.e.run.rank, places), self.e.last]

    def _with_blocks(self, forms: list[Term], hi: Term) -> list[Term]:
        """The forms, and before the last one the starts of the blocks that a step tells of."""
        _, divisors = integers.numerals(hi)
        starts = [self.e.run.rank((self.k - 1) / b * b) for b in sorted(divisors) if b > 1]
        return [*forms[:-1], *(s for s in starts if not any(s.eq(f) for f in forms)), forms[-1]]

    def _guess(self, x: LengthShadow, hi: Term) -> LengthShadow:
        return LengthShadow(x.shape, integers.later(hi, NONE), signed=True)

    def _failing(self, first: State, before: State, after: State) -> int | None:
        """Which guess does not hold at the start or is not kept by a step; None where all are."""
        step = (self.k, self.k + 1)
        for j, (x, b, a) in enumerate(zip(first, before, after, strict=True)):
            inside = ranges(x.shape)
            next_hi = solver.substitute(b.hi, step)
            start_hi = solver.substitute(b.hi, (self.k, whole(0)))
            if b.whole is not None:
                kept = a.whole is not None and self.e.statements.hold(
                    a.whole == solver.substitute(b.whole, step), self.steps
                )
                if not kept:
                    return j
                continue
            if not self.e.statements.hold(within(x.hi, start_hi), *inside):
                return j
            if not self.e.statements.hold(within(a.hi, next_hi), self.steps, *inside):
                return j
        return None

    def _done(self, state: State, rows: State) -> State:
        """What is carried after the last step; and rows by their steps."""
        found = []
        for x in state:
            hi = solver.simplify(solver.substitute(x.hi, (self.k, self.length)))
            known = None if x.whole is None else solver.simplify(solver.substitute(x.whole, (self.k, self.length)))
            zero = solver.simplify(known == 0) if known is not None else x.zero
            found.append(replace(x, hi=hi, whole=known, zero=zero))
        step = self.length - 1 - index(0) if self.reverse else index(0)
        for x, shape in zip(rows, self.e.shapes[len(state) :], strict=True):
            shifted = moved(x, shape, [index(a + 1) for a in range(len(shape) - 1)])
            found.append(_at_step(shifted, self.k, step))
        return found


def _at_step(x: LengthShadow, k: Term, step: Term) -> LengthShadow:
    """The shadow with the step put in."""
    parts: dict[str, Any] = {}
    for part in ("hi", *TRUTHS, "whole"):
        term = getattr(x, part)
        parts[part] = None if term is None else solver.simplify(solver.substitute(term, (k, step)))
    two = None if x.two is None else (solver.simplify(solver.substitute(x.two[0], (k, step))), *x.two[1:])
    return replace(x, two=two, **parts)


def _counting() -> Any:
    k = 0
    while True:
        yield (k := k + 1)


COUNTER = _counting()
