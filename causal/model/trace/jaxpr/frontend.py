"""From a recorded program to a trace: inputs are given their shadows, and the outputs' are kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..domain import FIXED, VARIES, ranked, uniform
from ..ledger import Ledger
from ..provenance import Axes, Flow, Graph
from ..records import FINITE, Chain, Output, Trace
from .interpreter import Interpreter
from .operands import REAL, WHOLE, JaxOperand, sort_of
from .places import Places

if TYPE_CHECKING:
    from ..policy import Policy

Role = Literal["input", "parameter", "constant", "other"]
MOST_NAMED = 4  # constants that a sentence shows


@dataclass(frozen=True)
class Given:
    """An argument of a recorded program: the chosen input, a parameter, what the model keeps besides, another input."""

    name: str
    role: Role
    value: Any


@dataclass(frozen=True)
class Recording:
    """A program as JAX recorded it: the closed jaxpr, its arguments, and the paths of its results.

    The positions of the chosen input lie along `axis`.
    """

    program: Any
    given: tuple[Given, ...]
    paths: tuple[str, ...]
    axis: int

    @property
    def kept(self) -> tuple[str, ...]:
        """The arrays that the program closes over, by their types: nobody says whether they are parameters."""
        return tuple(
            v.aval.str_short() for v in self.program.jaxpr.constvars if v.aval.shape and sort_of(v.aval.dtype) != WHOLE
        )


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
    run = Interpreter(policy, ledger, places, flow)
    arguments = [_argument(run, g, a, recording, order) for g, a in zip(recording.given, avals, strict=True)]
    results = run.closed(recording.program, arguments)
    if flow is not None:
        flow.outputs = [run.nodes.get(id(o), -1) for o in results]
    outputs = tuple(Output(path, None, o.shadow) for path, o in zip(recording.paths, results, strict=True))
    return Trace(
        outputs=outputs,
        unknown=tuple(ledger.unknown.values()),
        conditions=tuple(ledger.conditions.values()),
        parameter_zeros=tuple(sorted(ledger.parameter_zeros)),
        parameter_values=tuple(sorted(ledger.parameter_values)),
        assumptions=_assumptions(recording, policy, ledger),
        operations=dict(ledger.counts),
        seconds=time.perf_counter() - started,
        wanted=tuple(ledger.wanted),
    )


def _argument(run: Interpreter, given: Given, aval: Any, recording: Recording, order: np.ndarray) -> JaxOperand:
    """What an argument is to the run: the input itself, any numbers, or what it holds."""
    shape, dtype, policy = tuple(aval.shape), aval.dtype, run.policy
    if given.role == "input":
        return run.operand(ranked(shape, recording.axis, order), dtype)
    real = sort_of(dtype) != WHOLE
    free = (given.role == "parameter" and policy.parameters == "any") or (
        given.role == "other" and policy.others == "any" and real
    )
    if free or not isinstance(dtype, np.dtype):  # keys are never looked at
        return run.operand(uniform(shape, VARIES), dtype)
    sources = frozenset({given.name}) if given.role == "parameter" else frozenset()
    return run.operand(uniform(shape, FIXED), dtype, lambda: given.value, sources=sources)


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
        few = ", ".join(recording.kept[:MOST_NAMED]) + (", …" if len(recording.kept) > MOST_NAMED else "")
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


def recorded(function: Any, given: Sequence[Given], axis: int, arguments: Sequence[Any]) -> tuple[Recording, Any]:
    """`function` of the arrays `arguments`, recorded; and what it returns, as shapes."""
    import jax

    program, shapes = jax.make_jaxpr(function, return_shape=True)(*arguments)
    leaves, _ = jax.tree_util.tree_flatten_with_path(shapes)
    paths = tuple(jax.tree_util.keystr(path) for path, _ in leaves)
    return Recording(program, tuple(given), paths, axis), shapes
