"""One recorded program for every length: no output depends on a position that the boundary forbids (theory T26)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from . import integers
from .integers import NotLinear, Obligation, Statements, index, solver, whole
from .movement import same_size
from .sampling import numbers
from .templates import ranges

if TYPE_CHECKING:
    from ..trace.records import MaskCondition, Operation
    from .boundaries import Side
    from .integers import Term
    from .lengths import Lengths
    from .run import LengthRun
    from .shadow import LengthShadow

SMALL = (6, 12, 24, 48)  # lengths at which a candidate is looked for first


@dataclass(frozen=True)
class Bounds:
    """How far each output reaches on one side, after an abstract run in the ranks of that side."""

    side: Side
    outputs: tuple[LengthShadow, ...]
    axes: tuple[int, ...]

    def at(self, lengths: Lengths, n: int) -> Any:
        """The latest rank that an output at each t may depend on, at one length; −1 for none."""
        return np.max([_along(o, a, lengths, n) for o, a in zip(self.outputs, self.axes, strict=True)], axis=0)


@dataclass(frozen=True)
class LengthProof:
    """What the abstract runs for all lengths found; `closed`: they prove the boundary.

    `candidate` is a length at which a bound found exceeds it. `bounds`: for each side of the boundary, how far the
    outputs reach.
    """

    lengths: Lengths
    closed: bool
    obligations: tuple[Obligation, ...]
    conditions: tuple[MaskCondition, ...]
    assumptions: tuple[str, ...]
    unknown: tuple[Operation, ...]
    operations: int
    asked: int
    seconds: float
    solver_seconds: float
    bounds: tuple[Bounds, ...]
    candidate: int | None = None

    def latest(self, n: int) -> Any:
        """The latest position that an output at each t may depend on, at one length; −1 for none."""
        found = [b.at(self.lengths, n) for b in self.bounds if not b.side.backwards]
        return found[0] if found else np.full(n, n - 1)

    def earliest(self, n: int) -> Any:
        """The earliest one, 0 where nobody asked; n for none."""
        found = [n - 1 - b.at(self.lengths, n) for b in self.bounds if b.side.backwards]
        return found[0] if found else np.zeros(n, np.int64)


class Recorded(Protocol):
    """A program that was recorded for some lengths, whichever library it was written for."""

    @property
    def output_axis(self) -> int:
        """The axis of the queries."""
        ...

    def follow(
        self, statements: Statements, variable: Term, last: Term, side: Side, finite_masks: bool
    ) -> tuple[LengthRun, list[LengthShadow]]:
        """A run in the ranks of one side, and its outputs; NotLinear where it cannot be followed."""
        ...


def proved(recorded: Recorded, lengths: Lengths, sides: Sequence[Side], finite_masks: bool = True) -> LengthProof:
    """Runs over a program whose sizes are symbols; NotLinear where they are none that can be followed."""
    began = time.perf_counter()
    variable = solver.Int(lengths.variable)
    statements = Statements(lengths.premises(variable))
    n = lengths.of(variable)
    runs, bounds, candidates, closed = [], [], [], True
    for side in sides:
        run, outputs = recorded.follow(statements, variable, solver.simplify(n - 1), side, finite_masks)
        found = Bounds(side, tuple(outputs), tuple(recorded.output_axis % len(o.shape) for o in outputs))
        broken = [c for c in _claims(found, n) if not _held(statements, *c)]
        closed = closed and not broken
        candidates += [_candidate(statements, c, n) for c in broken[:1]]
        runs.append(run)
        bounds.append(found)
    conditions = {c.text: c for run in runs for c in run.ledger.conditions.values()}.values()
    return LengthProof(
        lengths=lengths,
        closed=closed,
        obligations=tuple(statements.obligations),
        conditions=tuple(c for c in conditions if c.kind == "finite-mask"),
        assumptions=(
            *dict.fromkeys(a for run in runs for a in run.ledger.assumptions),
            *(c.text for c in conditions if c.kind != "finite-mask"),
        ),
        unknown=tuple({str(u): u for run in runs for u in run.ledger.unknown.values()}.values()),
        operations=sum(sum(run.ledger.counts.values()) for run in runs),
        asked=statements.asked,
        seconds=time.perf_counter() - began,
        solver_seconds=statements.seconds,
        bounds=tuple(bounds),
        candidate=next((c for c in candidates if c is not None), None),
    )


Claim = tuple[Any, list[Any]]


def _claims(bounds: Bounds, n: Term) -> list[Claim]:
    """What is to be proved of every output, with the places that it speaks of."""
    found: list[Claim] = []
    for output, axis in zip(bounds.outputs, bounds.axes, strict=True):
        if not same_size(output.shape[axis], n):
            raise NotLinear("an output has another number of places than the input")
        most = bounds.side.rank(bounds.side.allowed(index(axis)), n - 1)
        found.append((solver.Or(output.hi <= most, output.hi < 0), ranges(output.shape)))
    return found


def _held(statements: Statements, claim: Any, inside: list[Any]) -> bool:
    statements.about = "the output"
    return statements.hold(claim, *inside)


def _candidate(statements: Statements, broken: Claim, n: Term) -> int | None:
    """A small length at which the bound exceeds what the boundary allows."""
    claim, inside = broken
    limits = [solver.And(n <= most, *inside) for most in SMALL]
    model = statements.broken(claim, [*limits, solver.And(*inside)])
    if model is None:
        return None
    values = {name: solver.IntVal(v) for name, v in model.items()}
    pairs = [(solver.Int(name), v) for name, v in values.items()]
    found = solver.simplify(solver.substitute(n, *pairs))
    return int(found.as_long()) if solver.is_int_value(found) else None


def _along(output: LengthShadow, axis: int, lengths: Lengths, n: int) -> Any:
    value = n if lengths.block == 1 else (n - lengths.residue) // lengths.block
    at: dict[str, Any] = {lengths.variable: np.int64(value)}
    used = integers.variables(output.hi)
    for a, size in enumerate(output.shape):
        if a == axis:
            places = np.arange(n)
        elif index(a).get_id() in used:
            places = np.arange(int(numbers(whole(size), at)))
        else:
            places = np.zeros(1, np.int64)
        at[f"i{a}"] = places.reshape([-1 if k == a else 1 for k in range(len(output.shape))])
    shown = np.broadcast_to(numbers(output.hi, at), [np.size(at[f"i{a}"]) for a in range(len(output.shape))])
    shown = np.maximum(shown, -1)
    return shown.max(axis=tuple(a for a in range(len(output.shape)) if a != axis))
