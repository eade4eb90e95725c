"""One model, one mode, one length: prove by abstract runs, refute by replay, or say what stays open.

The order of the attempts is the order of what they would be worth: a proof for any parameters; one that rests on
finite masks or on the values of other inputs; one that rests on zeros among the parameters; then a witness with the
stored parameters, and last one with jittered parameters.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..verdict import Condition, Evidence, Status
from . import proof as proofs
from .blame import Blame, blame_leak, corrected
from .finding import Finding, Said
from .proof import Attempt, Proof, output_index
from .remarks import remarks, remedies
from .replays import Replayed, Replays
from .setting import ModelError
from .unused import unused

if TYPE_CHECKING:
    from .question import Question
    from .witness import ModelWitness


LATER = "the first call does not leak, later ones do: by something that a call changes and nothing puts back"


def decide(question: Question) -> Finding:
    """Prove, else refute, else say what stays open; with what a person should know besides."""
    started = time.perf_counter()
    found = _settled(question)
    if question.unused and question.runs and found.attempt is not None and found.attempt.closed:
        found = _with_unused(found)
    said = Said(forwards=int(question.seen.ran)) + found.said + remarks(found)  # one forward showed what the model does
    return replace(found, said=said, seconds=time.perf_counter() - started)


def _with_unused(found: Finding) -> Finding:
    """The finding with the allowed positions that no run showed to be used."""
    assert found.attempt is not None
    try:
        gaps = unused(Replays(found.question), found.attempt.reach)
    except ModelError as error:
        return replace(found, said=found.said + Said(notes=(str(error),)))
    said = found.said + Said(notes=tuple(gaps.warnings()), forwards=gaps.forwards)
    return replace(found, said=said, unused=gaps.pairs())


def _settled(question: Question) -> Finding:
    if question.boundary.kind == "bidirectional":
        nothing = Evidence("abstract", True, f"{question.place}: a bidirectional boundary forbids nothing")
        return Finding(question, Status.PROVED, Said(evidence=(nothing,)))
    replays = Replays(question)
    first = proofs.attempt(question, question.policy)
    if question.runs and isinstance(first, Attempt) and first.is_open:  # a leak that is plain costs no further proofs
        replayed = replays.refute(first, briefly=True)
        if replayed.witness is not None:
            return _refuted(question, Proof(first), replayed.said, replayed.witness)
    proof = proofs.prove(question, first)
    if proof.attempt is not None and proof.closed:
        return _proved(question, proof.attempt, proof.given, replays)
    if not question.runs:
        why = f"{question.place}: no leak was looked for, since the model itself is not run"
        return _open(question, proof, Said(reasons=(why,)))
    replayed = replays.refute(proof.attempt)
    if replayed.witness is not None:
        return _refuted(question, proof, replayed.said, replayed.witness)
    return _open(question, proof, replayed.said)


# -- proved -------------------------------------------------------------------------------------------------------


def _proved(question: Question, best: Attempt, given: bool, replays: Replays) -> Finding:
    """The proof with its conditions, unless the model itself contradicts it."""
    operations = best.trace.operations
    evidence = Evidence(
        "abstract",
        True,
        f"{question.place}: one abstract run ({sum(operations.values())} operations of {len(operations)} kinds) "
        "finds every output to depend on allowed positions only",
        best.trace.seconds,
    )
    evidence = replace(evidence, detail=f"{evidence.detail}{proofs.how(best)}")
    said = Said(evidence=(evidence,), assumptions=proofs.assumptions(question, best))
    said += _conditions(question, best, given, replays)
    any_parameters = question.parameters == "any" == best.policy.parameters and not proofs.on_reads(best)
    if not question.runs:
        what = "was not compared with other runs" if question.seen.ran else "was not run on any values"
        replayed = Replayed(Said(evidence=(Evidence("replay", None, f"{question.place}: the model itself {what}"),)))
    elif not best.trace.with_values:
        replayed = replays.compare()
    else:
        replayed = replays.validate(jitter=any_parameters and not best.masks)
    if replayed.witness is not None:
        said = replace(said, conditions=()) + replayed.said
        return _contradicted(question, best, said, replayed, replays)
    status = Status.PROVED_IF if said.conditions else Status.PROVED
    return Finding(question, status, said + replayed.said, attempt=best, probe=replayed.probe)


def _conditions(question: Question, best: Attempt, given: bool, replays: Replays) -> Said:
    """What the proof rests on, with an input that breaks it where one was found."""
    conditions, beside = list(proofs.on_parameters(question, best)), Said()
    if conditions and question.runs:
        jittered = replays.jittered()
        conditions[-1] = replace(conditions[-1], counterexample=jittered.witness)
        beside += jittered.said
    conditions += proofs.on_reads(best)
    conditions += proofs.on_masks(best)
    if best.masks and question.runs:
        breaking = replays.breaking()
        conditions[-1] = replace(conditions[-1], counterexample=breaking.witness)
        beside += breaking.said
    which = f"which shares memory with input {question.program.subject.vary}"
    conditions += [
        Condition(f"{what}, {which}, keeps its values (pass a clone to mean that)")
        for what in question.program.shared()
    ]
    if question.program.changed and not proofs.holds_later(question, best):
        left = f" ({', '.join(question.seen.writes_state)})" if question.seen.writes_state else ""
        conditions.append(
            Condition(f"every call starts from the state as given: what a call leaves{left} steers the next")
        )
    if given:
        conditions.append(Condition("the other inputs keep the values given (with arbitrary values it is open)"))
    return beside + Said(conditions=tuple(conditions))


def _contradicted(question: Question, best: Attempt, said: Said, replayed: Replayed, replays: Replays) -> Finding:
    """A run of the model itself denies the proof: a leak that float64 confirms, or something to look into."""
    witness = replayed.witness
    assert witness is not None
    if replays.confirmed(witness):
        again = proofs.attempt(question, best.policy, anew=True)
        kept = isinstance(again, Attempt) and not again.closed
        said += Said(
            notes=(LATER if kept else "the abstract run claims otherwise: please report this, it is a bug in a rule",)
        )
        return replace(_refuted(question, Proof(best), said, witness), probe=replayed.probe)
    reason = (
        f"the abstract run finds no dependency, yet {witness.describe()}; in float64 it does not: rounding that "
        "depends on the whole batch, or a kernel of its own"
    )
    said += Said(reasons=(reason,))
    return Finding(question, Status.UNDECIDED, said, attempt=best, probe=replayed.probe)


# -- refuted ------------------------------------------------------------------------------------------------------


def _refuted(question: Question, proof: Proof, said: Said, witness: ModelWitness) -> Finding:
    """The witness, and the operation where the future enters."""
    blame = None if proof.attempt is None else _blame_witness(question, proof.attempt, witness)
    if blame is not None:
        said = Said(notes=(blame.sentence(),)) + said
    if proof.untraceable:
        said += Said(notes=(f"the abstract run stopped ({proof.untraceable}), so that no operation can be blamed",))
    return Finding(
        question, Status.REFUTED, said, attempt=proof.attempt, witness=witness, blame=blame, output=witness.output
    )


def _blame_witness(question: Question, attempt: Attempt, witness: ModelWitness) -> Blame | None:
    query, positions, path = witness.query, witness.positions, witness.output
    closed = ~question.boundary.allowed_row(query)
    blame = _blame(question, attempt, path, query, positions)
    if blame is None and closed.any():
        blame = _blame(question, attempt, path, query, np.flatnonzero(closed).tolist())
    if blame is not None:
        with contextlib.suppress(Exception):  # a guide must never stop a verdict
            blame = corrected(blame, question.program, question.boundary, witness) or blame
    return blame


def _blame(
    question: Question, attempt: Attempt, path: str | None, query: int, positions: Sequence[int]
) -> Blame | None:
    """The chain by which the positions reach a query of the output at the path."""
    program = question.program
    try:
        output = output_index(attempt.trace, path or "")
        return blame_leak(
            program,
            question.boundary,
            output,
            query,
            positions,
            attempt.policy,
            question.setting,
            attempt.trace,
        )
    except (ModelError, ValueError):
        return None


# -- open ---------------------------------------------------------------------------------------------------------


def _open(question: Question, proof: Proof, replayed: Said) -> Finding:
    """What could not be excluded, by operation, before what the replays found."""
    best = proof.attempt
    if best is None:
        why = f"the model could not be traced ({proof.untraceable})"
        evidence = Evidence("abstract", None, f"{question.place}: {why}")
        said = Said(evidence=(evidence,), reasons=(f"{why}; replays alone prove nothing",))
        return Finding(question, Status.UNDECIDED, said + replayed)
    trace = best.trace
    reads = [read.operation for read in trace.reads if read.source == "input"]
    reasons = [f"the program reads a value that depends on the input: {operation}" for operation in reads]
    reasons += [
        f"an exact 0 or −∞ meets a number that is not finite at {op}, which the proof excludes" for op in trace.breaches
    ]
    reasons += [f"no rule for {operation}" for operation in trace.unknown]
    blame = path = None
    if best.reach.suspects is not None:
        t, j = _first(best.reach.suspects)
        path = _furthest(question, best, t)
        blame = _blame(question, best, path, t, np.flatnonzero(best.reach.suspects[t]).tolist())
        where = "" if blame is None else f"; {blame.sentence()}"
        pairs = int(best.reach.suspects.sum())
        reasons.append(f"{pairs} forbidden pairs could not be excluded, the first of them {t} ← {j}{where}")
    evidence = Evidence("abstract", None, f"{question.place}: the abstract run does not close", trace.seconds)
    ways_out = tuple(remedies([*trace.operations, *(operation.name for operation in reads)]))
    said = Said(evidence=(evidence,), reasons=tuple(dict.fromkeys(reasons)), notes=ways_out)
    return Finding(question, Status.UNDECIDED, said + replayed, attempt=best, blame=blame, output=path)


def _first(suspects: np.ndarray) -> tuple[int, int]:
    t = int(np.flatnonzero(suspects.any(axis=1))[0])
    return t, int(np.flatnonzero(suspects[t])[0])


def _furthest(question: Question, best: Attempt, query: int) -> str:
    """The path of the output whose query can depend on the latest position of all."""
    trace, checked = best.trace, question.outputs.checked
    return max(checked, key=lambda c: trace.outputs[output_index(trace, c.path)].along(c.axis)[1][query]).path
