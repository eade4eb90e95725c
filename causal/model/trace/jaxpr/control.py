"""Loops and branches: followed where they are the same in every run, joined where they depend on data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..domain import (
    NEGINF,
    NONE_HI,
    NONE_LO,
    POSITIVE,
    RANK,
    VARIES,
    ZERO,
    Shadow,
    compress,
    equal,
    join_all,
    join_intervals,
    uniform,
)
from ..transfer.elementwise import assemble
from ..transfer.indexing import loose
from .calls import carried
from .movement import each
from .operands import NOBODY, JaxOperand
from .registry import primitive

if TYPE_CHECKING:
    from .calls import JaxCall

MOST_STEPS = 4096  # of a loop that are followed one by one
MOST_ROUNDS = 64  # towards a fixed point, before a loop counts as mixing everything

State = list[JaxOperand]


# -- joins --------------------------------------------------------------------------------------------------------


def either(call: JaxCall, choices: Sequence[JaxOperand], steering: Shadow) -> JaxOperand:
    """One of several values, which one being said by something with the shadow `steering`."""
    shadows = [c.known() for c in choices]
    shape = shadows[0].shape
    lo, hi = join_intervals(shadows, len(shape))
    first, last = join_all([steering])
    kind: Any = shadows[0].kind
    for s in shadows[1:]:
        kind = np.where(s.kind == kind, kind, np.uint8(VARIES))
    sure = (kind == ZERO) | (kind == NEGINF) | (kind == POSITIVE)
    kind = np.where(sure, kind, np.uint8(VARIES))
    made = assemble(shape, np.minimum(lo, RANK(first)), np.maximum(hi, RANK(last)), kind)
    return call.run.operand(
        made,
        choices[0].dtype,
        valued=NOBODY.union(*(c.sources | c.valued for c in choices)),
        signed=any(c.signed for c in choices),
    )


def alike(a: State, b: State) -> bool:
    """Whether two states say the same."""
    return all(
        equal(x.known(), y.known()) and x.signed == y.signed and x.valued == y.valued for x, y in zip(a, b, strict=True)
    )


def mixed(call: JaxCall, state: State) -> State:
    """The state as if everything were mixed."""
    made = (call.run.operand(uniform(o.shape, VARIES, 0, call.last), o.dtype, signed=True) for o in state)
    return list(made)


def repeated(call: JaxCall, state: State, once: Any) -> State:
    """The state after any number of rounds, 0 among them; `once` gives it after one more, and what steers the loop."""
    for _ in range(MOST_ROUNDS):
        after, steering = once(state)
        joined = [either(call, pair, steering) for pair in zip(state, after, strict=True)]
        if alike(state, joined):
            return joined
        state = joined
    return mixed(call, state)


# -- primitives ---------------------------------------------------------------------------------------------------


@primitive("cond", whole=True, draws=True)
def branch(call: JaxCall) -> State:
    """The branch that a constant names, or all of them joined."""
    which, *given = call.operands
    branches = call.params["branches"]
    if which.is_constant:
        place = min(max(int(which.array()), 0), len(branches) - 1)
        call.run.ledger.values_of(which)
        return call.run.closed(branches[place], given)
    results = [call.run.closed(b, given) for b in branches]
    call.inner = [o for r in results for o in r]
    return [either(call, choices, which.shadow) for choices in zip(*results, strict=True)]


@primitive("while", whole=True, draws=True)
def loop(call: JaxCall) -> State:
    """Round by round as long as the condition is a constant, then to a fixed point."""
    p, run = call.params, call.run
    first, second = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
    for_condition, for_body, state = call.operands[:first], call.operands[first:second], call.operands[second:]

    def going(state: State) -> JaxOperand:
        return run.closed(p["cond_jaxpr"], [*for_condition, *state])[0]

    def after(state: State) -> State:
        return run.closed(p["body_jaxpr"], [*for_body, *state])

    for _ in range(MOST_STEPS):
        condition = going(state)
        if not condition.is_constant or condition.shape:
            break
        run.ledger.values_of(condition)
        if not bool(condition.array()):
            return state
        state = after(state)
    state = repeated(call, state, lambda state: (after(state), going(state).shadow))
    call.inner = [*after(state), going(state)]
    return state


@primitive("scan", whole=True, draws=True)
def scan(call: JaxCall) -> State:
    """Step by step; a very long one to a fixed point, with its inputs joined."""
    p, run = call.params, call.run
    consts, carries = carried(p)
    given, after = call.operands, consts + carries
    held, state, rows = given[:consts], given[consts:after], given[after:]
    length, outputs = p["length"], []
    if length > MOST_STEPS:
        return _long(call, held, state, rows)
    for t in range(length - 1, -1, -1) if p["reverse"] else range(length):
        results = run.closed(p["jaxpr"], [*held, *state, *(_row(call, x, t) for x in rows)])
        state = results[:carries]
        outputs.append(results[carries:])
    if p["reverse"]:
        outputs.reverse()
    call.inner = [*state, *(o for row in outputs for o in row)]
    tails = zip(call.shapes[carries:], call.dtypes[carries:], strict=True)
    return [*state, *(_stacked(call, [o[k] for o in outputs], *tail) for k, tail in enumerate(tails))]


def _row(call: JaxCall, x: JaxOperand, t: int) -> JaxOperand:
    """The part of one step."""
    compute = (lambda: x.number()[t]) if x.is_constant else None
    row = each(x.shadow, x.shape[1:], lambda a: np.asarray(a[0] if a.shape[0] == 1 else a[t]))
    return call.run.derived(row, x, compute)


def _stacked(call: JaxCall, rows: State, shape: tuple[int, ...], dtype: Any) -> JaxOperand:
    """What every step put out, one after the other."""
    if not rows:
        return call.run.operand(uniform(shape, VARIES), dtype)
    shadows = [r.known() for r in rows]
    arrays = (
        compress(np.stack(np.broadcast_arrays(*(getattr(s, part) for s in shadows)))) for part in ("lo", "hi", "kind")
    )
    constant = all(r.is_constant for r in rows)
    compute = (lambda: np.stack([r.array() for r in rows])) if constant else None
    return call.run.operand(
        Shadow(shape, *arrays),
        dtype,
        compute,
        sources=NOBODY.union(*(r.sources for r in rows)),
        valued=NOBODY.union(*(r.valued for r in rows)),
        signed=any(r.signed for r in rows),
        scaled=min(r.scaled for r in rows),
    )


def _long(call: JaxCall, held: State, state: State, rows: State) -> State:
    """The fixed point over steps that each may see any row."""
    run, carries = call.run, len(state)
    any_row = []
    for x in rows:
        lo, hi = x.shadow.lo.min(0, initial=NONE_LO), x.shadow.hi.max(0, initial=NONE_HI)
        any_row.append(run.derived(loose(x.shape[1:], np.asarray(lo), np.asarray(hi)), x))

    def once(state: State) -> tuple[State, Shadow]:
        return run.closed(call.params["jaxpr"], [*held, *state, *any_row])[:carries], uniform((), VARIES)

    state = repeated(call, state, once)
    results = run.closed(call.params["jaxpr"], [*held, *state, *any_row])
    call.inner = results
    tails = zip(results[carries:], call.shapes[carries:], strict=True)
    outputs = (run.derived(each(o.known(), shape, lambda a: np.asarray(a)[None]), o) for o, shape in tails)
    return [*state, *outputs]
