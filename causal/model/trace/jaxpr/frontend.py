"""From a recorded program to a trace: inputs are given their shadows, and the outputs' are kept."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import jax
import numpy as np
from jax.extend import core

from ..domain import FIXED, VARIES, ranked, uniform
from ..ledger import Ledger
from ..provenance import Axes, Flow, Graph
from ..records import FINITE, Chain, Operation, Output, Read, Trace
from .interpreter import Interpreter
from .operands import REAL, WHOLE, JaxOperand, sort_of
from .places import Places

if TYPE_CHECKING:
    from ..policy import Policy

Role = Literal["input", "parameter", "constant", "other", "any"]
MOST_NAMED = 4  # constants that a sentence shows


@dataclass(frozen=True)
class Given:
    """An argument of a recorded program: the chosen input, a parameter, what the model keeps besides, another input.

    "any": it may hold any numbers, whatever `value` says.
    """

    name: str
    role: Role
    value: Any


@dataclass(frozen=True)
class Recording:
    """A program as JAX recorded it: the closed jaxpr, its arguments, and the paths of its results.

    The positions of the chosen input lie along `axis`. `held` names, by their addresses, the arrays that the program
    closes over and that are parameters.
    """

    program: Any
    given: tuple[Given, ...]
    paths: tuple[str, ...]
    axis: int
    held: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """The arrays that the program closes over, by their types: nobody says whether they are parameters."""
        found = {id(c): c for c in closed_over(self.program)}
        open_ = [c for c in found.values() if id(c) not in self.held and sort_of(c.dtype) != WHOLE]
        return tuple(f"{c.dtype}[{','.join(map(str, c.shape))}]" for c in open_)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The parameters that could be closed over, and that the program does not hold: unused, or read by Python."""
        there = {id(c) for c in closed_over(self.program)}
        return tuple(sorted(name for address, name in self.held.items() if address not in there))


def traced(recording: Recording, policy: Policy, ranks: Any = None, flow: Graph | None = None) -> Trace:
    """One run over a recorded program, with dependency intervals beside every array.

    Position j of the chosen input carries rank `ranks[j]` (j itself by default).
    """
    started = time.perf_counter()
    jaxpr = recording.program.jaxpr
    avals = [v.aval for v in jaxpr.invars]
    chosen = next(a for a, g in zip(avals, recording.given, strict=True) if g.role == "input")
    n = chosen.shape[recording.axis]
    order = np.arange(n) if ranks is None else np.asarray(ranks)
    places = Places()
    ledger = Ledger(places, int(order.max(initial=0)))
    run = Interpreter(policy, ledger, places, flow, recording.held)
    arguments = [_argument(run, g, a, recording, order) for g, a in zip(recording.given, avals, strict=True)]
    results = run.closed(recording.program, arguments)
    if flow is not None:
        flow.outputs = [run.nodes.get(id(o), -1) for o in results]
    outputs = tuple(Output(path, None, o.shadow) for path, o in zip(recording.paths, results, strict=True))
    return Trace(
        outputs=outputs,
        unknown=tuple(ledger.unknown.values()),
        reads=_reads(recording) if policy.parameters == "any" else (),
        conditions=tuple(ledger.conditions.values()),
        parameter_zeros=tuple(sorted(ledger.parameter_zeros)),
        parameter_values=tuple(sorted({*ledger.parameter_values, *recording.missing})),
        assumptions=_assumptions(recording, policy, ledger),
        operations=dict(ledger.counts),
        seconds=time.perf_counter() - started,
        wanted=tuple(ledger.wanted),
        valueless=tuple(
            g.name for g in recording.given if g.role == "constant" and isinstance(g.value, jax.ShapeDtypeStruct)
        ),
    )


def _argument(run: Interpreter, given: Given, aval: Any, recording: Recording, order: np.ndarray) -> JaxOperand:
    """What an argument is to the run: the input itself, any numbers, or what it holds."""
    shape, dtype, policy = tuple(aval.shape), aval.dtype, run.policy
    if given.role == "input":
        return run.operand(ranked(shape, recording.axis, order), dtype)
    if given.role == "parameter":
        return run.parameter(given.value, aval, given.name)
    real = sort_of(dtype) != WHOLE
    empty = isinstance(given.value, jax.ShapeDtypeStruct)
    free = empty or given.role == "any" or (given.role == "other" and policy.others == "any" and real)
    if free or not isinstance(dtype, np.dtype):  # keys are never looked at
        return run.operand(uniform(shape, VARIES), dtype)
    return run.operand(uniform(shape, FIXED), dtype, lambda: given.value)


def closed_over(closed: Any) -> Iterator[Any]:
    """The arrays that a program and those inside it close over; numbers from Python are none."""
    jaxpr = getattr(closed, "jaxpr", closed)
    literals = [v.val for e in jaxpr.eqns for v in e.invars if isinstance(v, core.Literal)]
    held = (*getattr(closed, "consts", ()), *literals)
    yield from (c for c in held if getattr(c, "shape", ()) or isinstance(c, jax.Array))
    for equation in jaxpr.eqns:
        for inner in bodies(equation.params):
            yield from closed_over(inner)


def bodies(params: Mapping[str, Any]) -> Iterator[Any]:
    """The programs among the parameters of an equation."""
    for value in params.values():
        for inner in value if isinstance(value, (tuple, list)) else (value,):
            if hasattr(inner, "eqns"):
                yield inner


def _reads(recording: Recording) -> tuple[Read, ...]:
    """That Python may have read parameters while the program was recorded, which then may rest on what they hold."""
    if not recording.missing:
        return ()
    return (
        Read(Operation(f"{_few(recording.missing)}, which the recorded program does not hold", "", ""), "parameters"),
    )


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")


def _assumptions(recording: Recording, policy: Policy, ledger: Ledger) -> tuple[str, ...]:
    """What a proof from this run rests on, in sentences."""
    shapes = [str(tuple(g.value.shape)) for g in recording.given if g.role in ("input", "other")]
    said = [
        FINITE,
        f"this trace of the program: shapes {', '.join(shapes)}, with positions along axis {recording.axis}, and "
        "everything in Python that is no array as it was given",
        *ledger.assumptions,
    ]
    if recording.kept:
        few = _few(recording.kept)
        said.append(f"arrays that the program closes over, which may be parameters, are taken as they are: {few}")
    others = [g for g in recording.given if g.role == "other"]
    if policy.others == "given" and others:
        said.append("the other inputs keep the values given")
    elif not all(sort_of(g.value.dtype) == REAL for g in others):
        said.append("the other inputs of whole numbers and truth values keep the values given")
    return tuple(said)


def blame(
    recording: Recording, policy: Policy, *, output: int, position: int, forbidden: Any, closed: Any = None
) -> Chain:
    """How the forbidden positions (boolean) reach a position of an output: the operation where they enter, and on."""
    marked = np.asarray(forbidden, bool)
    axes = Axes(len(marked))
    traced(recording, policy, flow=axes)
    flow = Flow(marked if closed is None else np.asarray(closed, bool), position, axes.found)
    traced(recording, policy, np.where(marked, 0, -1), flow)
    return flow.chain(output)


def recorded(
    function: Any, given: Sequence[Given], axis: int, held: Mapping[int, str] | None = None
) -> tuple[Recording, Any]:
    """`function` of the arrays that are given, recorded; and what it returns, as shapes."""
    program, shapes = jax.make_jaxpr(function, return_shape=True)(*(g.value for g in given))
    leaves, _ = jax.tree_util.tree_flatten_with_path(shapes)
    paths = tuple(jax.tree_util.keystr(path) for path, _ in leaves)
    return Recording(program, tuple(given), paths, axis, held or {}), shapes
