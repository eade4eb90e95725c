"""`check_model(…, lengths="all")`: one proof for every length, or a leak at one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...verdict import Condition, Evidence, Status, Verdict
from ..arguments import parted
from ..raised import phrase
from ..setting import ModelError
from .boundaries import sides_of
from .branching import nothing_guessed
from .integers import NotLinear
from .lengths import MOST_BLOCK, MOST_RESIDUES, Lengths, blocks, residues, sized, whole_ranges
from .prove import LengthProof, prove

if TYPE_CHECKING:
    from ..asked import Asked
    from ..finding import Finding
    from ..jax.program import JaxProgram
    from ..proof import Attempt
    from ..trace.subject import Subject
    from .boundaries import Side

SAMPLE = 24  # positions, where no input was given
FAILING = (2, 3, 5, 8, 13, 16, 24, 32)  # lengths that are tried where a proof did not close
OVERFLOW = "whole numbers that stand for places and sizes stay below 2³¹"


@dataclass(frozen=True)
class Everywhere:
    """What was found for one mode: proofs for ranges of lengths, or why there is none."""

    proofs: tuple[LengthProof, ...] = ()
    why: str = ""

    @property
    def closed(self) -> bool:
        """Whether all of them prove the boundary."""
        return bool(self.proofs) and all(p.closed for p in self.proofs)


def everywhere(asked: Asked, one: Callable[[Asked], tuple[list[Finding], Verdict]]) -> Verdict:
    """The verdict for every length; `one` checks a single one."""
    sides = sides_of(asked.boundary)
    asked = _with_input(asked)
    findings, verdict = one(asked)
    if verdict.status not in (Status.PROVED, Status.PROVED_IF):
        return verdict
    found = []
    for finding in findings:
        answer = _of_mode(asked, finding, sides)
        if not answer.closed:
            return _open(asked, verdict, answer, one)
        found.append(answer)
    return _proved(verdict, findings, found, asked.boundary or "prefix")


def _with_input(asked: Asked) -> Asked:
    """The same with inputs of one length."""
    if asked.inputs:
        return replace(asked, lengths=None)
    if asked.make_input is None:
        raise ModelError("no input", "was given", "pass the model's inputs, or make_input", mentions=("make_input",))
    made = asked.make_input(SAMPLE)
    return replace(asked, inputs=made if isinstance(made, tuple) else (made,), lengths=None)


# -- the proof --------------------------------------------------------------------------------------------------------


def _of_mode(asked: Asked, finding: Finding, sides: Sequence[Side]) -> Everywhere:
    """Proofs for as many lengths as one can have: all, or all with some remainders."""
    program: JaxProgram = finding.question.program  # type: ignore[assignment]
    given = (list(program.subject.inputs), dict(program.subject.keywords))
    _longer(asked.make_input, program.subject, given, program.n + 1)  # raises where nobody can tell what grows
    why = ""
    for lengths in whole_ranges(program):
        proof = _proof(asked, finding, lengths, sides)
        if isinstance(proof, LengthProof):
            if proof.closed or not proof.unknown:
                return Everywhere((proof,), _reason(proof))
            why = why or _reason(proof)
            break
        why = why or proof
    for block in blocks(program):
        own, *others = residues(block, program.n)
        first = _proof(asked, finding, own, sides)
        if isinstance(first, LengthProof) and first.closed:
            more = [p for r in others if isinstance(p := _proof(asked, finding, r, sides), LengthProof)]
            for proof in more:
                if not proof.closed and not proof.unknown:  # followed, and open: it may leak there
                    return Everywhere((proof,), _reason(proof))
            return Everywhere((first, *(p for p in more if p.closed)))
        if isinstance(first, LengthProof) and not first.unknown:
            return Everywhere((first,), _reason(first))
    return Everywhere((), why)


def _proof(asked: Asked, finding: Finding, lengths: Lengths, sides: Sequence[Side]) -> LengthProof | str:
    """The proof for a range of lengths, checked against the run at one of them; or why there is none."""
    program: JaxProgram = finding.question.program  # type: ignore[assignment]
    try:
        recorded = recorded_as(program, lengths, asked.make_input, finding.question.mode)
        masks = finding.attempt is None or finding.attempt.policy.finite_masks
        proof = prove(recorded.about(program.paths), lengths, sides, masks)
    except NotLinear as reason:
        return str(reason)
    except ModelError as error:
        return _short(str(error.__cause__ or error))
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:  # a fault of a rule leaves it open
        return phrase(error)
    if lengths.holds(program.n) and not _agrees(proof, finding.attempt, program.n):
        return "its bound lies below that of the run at one length: please report this, it is a bug in a rule"
    return proof


def recorded_as(
    program: JaxProgram, lengths: Lengths, make_input: Callable[[int], Any] | None, mode: str
) -> JaxProgram:
    """The program, recorded again with symbols for what grows with n."""
    from ..jax.program import JaxProgram

    subject, n = program.subject, program.n
    symbol, more = lengths.symbol(), n + lengths.block
    given = (list(subject.inputs), dict(subject.keywords))
    inputs, keywords = sized(given, _longer(make_input, subject, given, more), n, more, symbol)
    if make_input is not None:  # n // 4 or min(n, 64) grows at some lengths only
        far = n + lengths.block * max(2, MOST_BLOCK // lengths.block)
        there = sized(given, _longer(make_input, subject, given, far), n, far, symbol)
        sized((inputs, keywords), there, n, far, symbol)  # raises where it is no other
    with nothing_guessed():
        return JaxProgram.of(replace(subject, inputs=tuple(inputs), keywords=keywords), mode)


def _longer(make_input: Callable[[int], Any] | None, subject: Subject, given: Any, more: int) -> Any:
    """The inputs for more positions; ModelError where nobody can tell what grows with n."""
    import jax

    if make_input is not None:
        made = make_input(more)
        positional, keywords, _ = parted(made if isinstance(made, tuple) else (made,), subject.vary)
        return list(positional), keywords

    def one(x: Any) -> Any:
        shape = getattr(x, "shape", ())
        if x is subject.input:
            axis = subject.sequence_axis
            return jax.ShapeDtypeStruct((*shape[:axis], more, *shape[axis + 1 :]), x.dtype)
        if subject.n in shape:
            raise ModelError(
                "another input", f"has shape {tuple(shape)}, and nobody says whether {subject.n} in it is n",
                "pass make_input(n)", mentions=("make_input",),
            )  # fmt: skip
        return x

    return jax.tree.map(one, given)


def _agrees(proof: LengthProof, attempt: Attempt | None, n: int) -> bool:
    """Whether the bounds for all lengths hold what the run at one of them found."""
    if attempt is None:
        return True
    some = attempt.reach.latest >= 0
    ends = (proof.latest(n) >= attempt.reach.latest, proof.earliest(n) <= attempt.reach.earliest)
    return all(bool(end[some].all()) for end in ends)


def _reason(proof: LengthProof) -> str:
    if proof.unknown:
        return "; ".join(f"{op}" for op in proof.unknown[:3])
    at = f"; the bound that was found allows it at n = {proof.candidate}" if proof.candidate else ""
    return f"no closed form proves the boundary for {proof.lengths.describe()}{at}"


def _short(text: str) -> str:
    return text.strip().splitlines()[0][:200]


# -- the verdict ------------------------------------------------------------------------------------------------------


def _proved(verdict: Verdict, findings: Sequence[Finding], found: Sequence[Everywhere], boundary: Any) -> Verdict:
    proofs = [p for f in found for p in f.proofs]
    obligations = list({o.text: o for p in proofs for o in p.obligations}.values())
    ranges = {f.question.mode: _range(e) for f, e in zip(findings, found, strict=True)}
    modes = [f"{said} in {mode} mode" for mode, said in ranges.items()]
    spoken = _range(found[0]) if len(set(ranges.values())) == 1 else "; ".join(modes)
    evidence = []
    for f, e in zip(findings, found, strict=True):
        count, seconds = (sum(getattr(p, part) for p in e.proofs) for part in ("operations", "seconds"))
        runs = "an abstract run for each end" if len(e.proofs[0].bounds) > 1 else "one abstract run"
        run = f"{f.question.mode} mode: {runs} for {_range(e)}, of {count} operations"
        evidence.append(Evidence("abstract", True, run, seconds))
    evidence.append(
        Evidence(
            "solver", True, f"{len(obligations)} statements about all lengths: unsat by Z3 and by cvc5",
            sum(p.solver_seconds for p in proofs),
        )
    )  # fmt: skip
    conditions = list(verdict.conditions)
    for c in (c for p in proofs for c in p.conditions):
        if not any(c.statement in known.text for known in conditions):
            conditions.append(Condition(f"at every length, {c.text}"))
    said = [a for a in verdict.assumptions if not a.startswith("this trace of the program")]
    said += [
        f"one recorded program for {spoken}: Python saw n as a symbol, so that no branch on it was taken "
        "(and nothing was found under n itself in a dict)",
        OVERFLOW,
    ]
    said += [a for p in proofs for a in p.assumptions]
    name = verdict.details["model"]
    return replace(
        verdict,
        about=f"{name} for {spoken}",
        status=Status.PROVED_IF if conditions else Status.PROVED,
        evidence=(*verdict.evidence, *evidence),
        conditions=tuple(conditions),
        assumptions=tuple(dict.fromkeys(said)),
        details={**verdict.details, "every_length": {"boundary": boundary, **_details(found, obligations)}},
    )


def _range(found: Everywhere) -> str:
    """All lengths of the proofs, in words."""
    first = found.proofs[0].lengths
    rest = [p.lengths for p in found.proofs]
    if first.block > 1 and len(rest) == first.block <= MOST_RESIDUES:
        return f"every n ≥ {first.block}"
    return ", ".join(r.describe() for r in sorted(rest, key=lambda r: r.residue))


def _details(found: Sequence[Everywhere], obligations: Sequence[Any]) -> dict[str, Any]:
    return {
        "ranges": [p.lengths.describe() for f in found for p in f.proofs],
        "asked": sum(p.asked for f in found for p in f.proofs),
        "solver_seconds": sum(p.solver_seconds for f in found for p in f.proofs),
        "seconds": sum(p.seconds for f in found for p in f.proofs),
        "obligations": [{"about": o.about, "smtlib": o.text, "seconds": o.seconds} for o in obligations],
    }


def _open(
    asked: Asked, verdict: Verdict, answer: Everywhere, one: Callable[[Asked], tuple[list[Finding], Verdict]]
) -> Verdict:
    """A leak at some length, or what stays open."""
    for n in _suspects(answer):
        refuted = _at(asked, n, one)
        if refuted is not None and refuted.status is Status.REFUTED:
            reason = f"found at n = {n}, where the bound for all lengths exceeds the boundary"
            return replace(refuted, reasons=(*refuted.reasons, reason))
    reason = f"proved for the length given only; for every length it is open: {answer.why}"
    return replace(
        verdict, status=Status.UNDECIDED, conditions=(), reasons=(reason, *verdict.reasons),
        about=f"{verdict.details['model']} for every n",
    )  # fmt: skip


def _suspects(answer: Everywhere) -> Iterator[int]:
    candidates = [p.candidate for p in answer.proofs if p.candidate is not None]
    yield from dict.fromkeys([*candidates, *(FAILING if answer.proofs else ())])


def _at(asked: Asked, n: int, one: Callable[[Asked], tuple[list[Finding], Verdict]]) -> Verdict | None:
    """The verdict at one length; None where the model does not run there."""
    if n < 2:
        return None
    try:
        return one(replace(asked, lengths=(n,)))[1]
    except (ModelError, TypeError):
        return None
