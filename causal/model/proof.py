"""Proofs: abstract runs under one policy after the other, and the conditions that the best of them rests on.

The order is the order of what a proof would be worth: for any parameters, or for the stored ones; without finite masks,
or with them; for any values of the other inputs, or for those given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..verdict import Condition
from .raised import phrase
from .reach import Reach, Spans, reach
from .trace.ledger import TWO_MASKS

if TYPE_CHECKING:
    from .question import Question
    from .trace.policy import Policy
    from .trace.records import MaskCondition, Trace

CANCELS = {"aten.cumsum", "aten.exp", "aten._fft_r2c", "aten._fft_c2c"}  # where none runs, nothing is known to cancel
ZERO_NAMES = 8  # names of parameters that a condition lists


@dataclass(frozen=True)
class Attempt:
    """One abstract run under one policy: the trace, and what it left of the outputs that are checked."""

    policy: Policy
    trace: Trace
    reach: Reach

    @property
    def closed(self) -> bool:
        """Whether it proves the boundary under its policy."""
        return self.reach.closed and self.trace.complete

    @property
    def is_open(self) -> bool:
        """Whether all of it is known, and something forbidden is left."""
        return self.trace.complete and not self.reach.closed

    @property
    def cancelled(self) -> tuple[MaskCondition, ...]:
        """The places where something must cancel."""
        return tuple(c for c in self.trace.conditions if c.kind == "real-arithmetic")

    @property
    def masks(self) -> tuple[MaskCondition, ...]:
        """The finite masks that it rests on (a denominator that is not 0 is an assumption, no condition)."""
        return tuple(c for c in self.trace.conditions if c.kind == "finite-mask")


@dataclass(frozen=True)
class Proof:
    """The attempt that counts: one that closes, else the first; or, in `untraceable`, why there is none.

    `given`: it rests on the values of the other inputs.
    """

    attempt: Attempt | None
    given: bool = False
    untraceable: str | None = None

    @property
    def closed(self) -> bool:
        """Whether it proves the boundary."""
        return self.attempt is not None and self.attempt.closed


def prove(question: Question, first: Attempt | str) -> Proof:
    """Try the policies in order, the question's own having been tried `first`; the proof that assumes least."""
    if isinstance(first, str):
        return Proof(None, untraceable=first)
    proof = _least(question, first)
    if proof.attempt is first or (proof.attempt is not None and _is_of(question, first, proof.attempt)):
        return proof
    return Proof(first, given=question.program.others_matter)  # the later runs found what the first one had left


def _least(question: Question, first: Attempt) -> Proof:
    """The proof that assumes least, from the first attempt on."""
    best = first
    if first.is_open:
        best = _closing(question, replace(first.policy, parameters="stored")) or _cancelling(question, first) or first
    if not best.closed:
        return Proof(best)
    if best.masks:
        strict = replace(best.policy, finite_masks=False)
        best = _closing(question, strict, better=bool(best.trace.with_values)) or best
    if not question.program.others_matter:
        return Proof(best)
    free = _closing(question, replace(best.policy, others="any"))
    return Proof(free or best, given=free is None)


def _cancelling(question: Question, first: Attempt) -> Attempt | None:
    """A proof in which something cancels, where there is something to cancel."""
    if not CANCELS & set(first.trace.operations):
        return None
    real = replace(first.policy, real=True)
    return _closing(question, real) or _closing(question, replace(real, parameters="stored"))


def _is_of(question: Question, first: Attempt, later: Attempt) -> bool:
    """Whether a later attempt is about the program that the first one ran: if not, a run left something that nothing
    put back. Then the first finds other things when it is made again, or the later one took another course than both.
    """
    again = attempt(question, first.policy, anew=True)
    if not isinstance(again, Attempt) or not _finds_the_same(again, first):
        return False
    runs = [first, later, again]
    if _has_values(later) not in (_has_values(first), _has_values(again)):
        policy, why = (first.policy, later.trace) if _has_values(later) else (later.policy, first.trace)
        other = attempt(question, policy, anew=True, why=why.with_values)
        if not isinstance(other, Attempt):
            return False
        runs.append(other)
    return all(len({a.trace.course for a in runs if _has_values(a) is values}) <= 1 for values in (True, False))


def _has_values(found: Attempt) -> bool:
    """Whether the run computed values, for which kernels are taken apart otherwise."""
    return bool(found.trace.with_values)


def _finds_the_same(again: Attempt, first: Attempt) -> bool:
    return (
        again.trace.complete == first.trace.complete
        and np.array_equal(again.reach.earliest, first.reach.earliest)
        and np.array_equal(again.reach.latest, first.reach.latest)
    )


def _closing(question: Question, policy: Policy, better: bool = True) -> Attempt | None:
    """The attempt under a policy, where it closes; `better`: with values, where only they might do."""
    found = attempt(question, policy, better=better)
    return found if isinstance(found, Attempt) and found.closed else None


def holds_later(question: Question, best: Attempt) -> bool:
    """Whether a call that finds what an earlier one left is proved as well, under the same conditions.

    Where truth values of the input were tried both ways, another input may leave what this one does not.
    """
    if not question.runs or best.trace.harmless or best.trace.excluded or question.program.rebuilt:
        return False  # what Python keeps beside arrays may steer another program
    later = attempt(question, best.policy, later=True)
    if isinstance(later, str):
        return True  # what does not run gives no output
    mask_texts = {mask.text for mask in best.masks}
    return later.closed and {m.text for m in later.masks} <= mask_texts and on_reads(later) == on_reads(best)


def attempt(
    question: Question,
    policy: Policy,
    anew: bool = False,
    later: bool = False,
    better: bool = True,
    why: str = "",
) -> Attempt | str:
    """One abstract run (more for some relations), or a phrase that says why the model cannot be traced.

    The very first run of all serves for its policy, unless it is to be done `anew`, or `later`, after another call
    whose state is not put back. What does not close without values is tried with them, where it is to be `better`;
    `why` it needs them, where that is known beforehand.
    """
    program, first = question.program, question.seen.first
    if isinstance(first, str):
        return first
    same_policy = policy == question.policy and not (question.setting.apart or anew or later)

    def ranked(ranks: np.ndarray) -> Trace:
        if same_policy and not why and np.array_equal(ranks, np.arange(program.n)):
            return first
        return program.traced(policy, question.setting, ranks, why=why, later=later)

    def spans(trace: Trace) -> Spans:
        return [trace.outputs[output_index(trace, c.path)].along(c.axis) for c in question.outputs.checked]

    try:
        trace, found = reach(ranked, spans, question.boundary)
        best = Attempt(policy, trace, found)
        needs = _better_with(question, best) if better or best.closed else ""
        if needs:
            why = needs
            trace, found = reach(ranked, spans, question.boundary)
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        return phrase(error)
    return Attempt(policy, trace, found)


def _better_with(question: Question, found: Attempt) -> str:
    """Why a run with values is to be believed rather than this one without, where there is a reason, and values."""
    trace = found.trace
    if trace.with_values or not question.program.has_values:
        return ""
    if found.closed and found.masks and TWO_MASKS in trace.wanted:
        return TWO_MASKS
    if trace.wanted and not found.closed:
        return ", ".join(trace.wanted)
    return question.seen.unbounded if found.closed else ""


def output_index(trace: Trace, path: str) -> int:
    """Which of a run's outputs lies at the path; ValueError where none does."""
    paths = [output.path for output in trace.outputs]
    if path not in paths:
        raise ValueError(f"output{path} is not among what the abstract run returned")
    return paths.index(path)


# -- in words -----------------------------------------------------------------------------------------------------


def assumptions(question: Question, best: Attempt) -> tuple[str, ...]:
    """What the proof assumes, beside its conditions."""
    said = [*best.trace.assumptions, *(c.text for c in best.trace.conditions if c.kind == "nonzero-denominator")]
    if best.policy.parameters == "any":
        said.append("parameters may be any numbers; buffers and other constants are as they are")
    elif question.parameters == "stored":
        said.append("the parameters keep their stored values, as was asked for")
    if best.trace.valueless:
        said.append(f"what has no values may hold any: {_named(best.trace.valueless)}")
    return tuple(said)


def how(best: Attempt) -> str:
    """Whether the run computed values, and why, as a phrase."""
    why, harmless = best.trace.with_values, dict.fromkeys(o.line for o in best.trace.harmless)
    same = f"; truth values of the input that are read at {', '.join(harmless)} change nothing" if harmless else ""
    if best.policy.values:
        return same
    return f"{same}; it ran the program {f'with values, because of {why}' if why else 'without values'}"


def on_parameters(question: Question, best: Attempt) -> tuple[Condition, ...]:
    """Conditions on the stored parameters' values; none where any would do, or where the caller asked for them."""
    if best.policy.parameters == "any" or question.parameters == "stored":
        return ()
    trace = best.trace
    zeros = [name for name in trace.parameter_zeros if name not in trace.parameter_values]
    said = []
    if trace.parameter_values:
        said.append(f"parameters keep their stored values: {_named(trace.parameter_values)}")
    if zeros:
        said.append(f"the zeros among the parameters stay zero: {_named(zeros)}")
    return tuple(Condition(text) for text in said or ["the parameters keep their stored values"])


def on_masks(best: Attempt) -> tuple[Condition, ...]:
    """One condition for each kind of finite mask, with the first of its places and their number; and the same of what
    cancels.
    """
    kinds: dict[str, list[MaskCondition]] = {}
    for mask in (*best.cancelled, *best.masks):
        kinds.setdefault(mask.statement, []).append(mask)
    said = []
    for statement, masks in kinds.items():
        more = f" and {len(masks) - 1} other places" if len(masks) > 2 else " and another place" if masks[1:] else ""
        untried = "" if best.trace.with_values or masks[0].kind == "real-arithmetic" else " (not tried on a run)"
        said.append(Condition(f"{masks[0].operation.place}{more}, {statement}{untried}"))
    return tuple(said)


def on_others(question: Question, best: Attempt) -> bool:
    """Whether it rests on the values of the other inputs."""
    return best.policy.others == "given" and question.program.others_matter


def on_reads(best: Attempt) -> tuple[Condition, ...]:
    """Conditions on what the program read out of parameters and random draws, where stored parameters count as no read,
    and out of the input, where it may raise.
    """
    read = [r.operation for r in best.trace.reads if r.source != "input"]
    said = [f"inputs for which it raises at {line} are excluded" for line in {o.line: 0 for o in best.trace.excluded}]
    if read:
        places = "; ".join(dict.fromkeys(f"{o.name} at {o.line}" if o.line else o.name for o in read))
        said.append(f"parameters and random draws that the program reads as numbers stay as they are: {places}")
    return tuple(map(Condition, said))


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:ZERO_NAMES])
    return shown + (f", … ({len(names)} in all)" if len(names) > ZERO_NAMES else "")
