"""`check_model(…, lengths="all")`: one proof for every length, or a leak at one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from ...verdict import Condition, Evidence, Status, Verdict
from ..raised import phrase
from ..setting import ModelError
from .boundaries import sides_of
from .integers import NotLinear
from .lengths import MOST_RESIDUES, Lengths, residues
from .outside import outside
from .prove import LengthProof

if TYPE_CHECKING:
    from ..asked import Asked
    from ..finding import Finding
    from ..proof import Attempt
    from .boundaries import Side

SAMPLE = 24  # positions, where no input was given
FAILING = (2, 3, 5, 8, 13, 16, 24, 32)  # lengths that are tried where a proof did not close
OVERFLOW = "beyond 2²⁰ positions, whole numbers that stand for places and sizes stay below 2³¹"


@dataclass(frozen=True)
class Everywhere:
    """What was found for one mode: proofs for ranges of lengths, or why there is none; and what Python saw of n."""

    proofs: tuple[LengthProof, ...] = ()
    why: str = ""
    seen: str = ""

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
        answer = _of_mode(_front(asked, finding), finding, sides)
        if not answer.closed:
            return _open(asked, verdict, answer, one)
        found.append(answer)
    proof = _proved(verdict, findings, found, asked.boundary or "prefix")
    proved = [[p.lengths for p in e.proofs] for e in found]
    left_out = outside(proved, proof.about.partition(" for ")[2], lambda n: _at(asked, n, one))
    if left_out.refuted is not None:
        reason = f"found at a length that the recorded program is not for; {proof.headline()}"
        return replace(left_out.refuted, reasons=(*left_out.refuted.reasons, reason))
    return proof if not left_out.conditions else with_conditions(proof, left_out.conditions)


def with_conditions(verdict: Verdict, more: Sequence[Condition]) -> Verdict:
    """The same verdict under more conditions."""
    return replace(verdict, status=Status.PROVED_IF, conditions=(*verdict.conditions, *more))


def _with_input(asked: Asked) -> Asked:
    """The same with inputs of one length."""
    if asked.inputs:
        return replace(asked, lengths=None)
    if asked.make_input is None:
        raise ModelError("no input", "was given", "pass the model's inputs, or make_input", mentions=("make_input",))
    made = asked.make_input(SAMPLE)
    return replace(asked, inputs=made if isinstance(made, tuple) else (made,), lengths=None)


# -- the proof --------------------------------------------------------------------------------------------------------


class Front(Protocol):
    """A program in one mode, as it can be recorded for many lengths; `seen` says what Python saw then."""

    @property
    def seen(self) -> str:
        """What Python saw."""
        ...

    def ranges(self) -> Iterator[Lengths]:
        """All lengths from some one on, the fewest assumptions first."""
        ...

    def blocks(self) -> list[int]:
        """The sizes of blocks that the program may cut its positions into."""
        ...

    def prove(self, lengths: Lengths, sides: Sequence[Side], finite_masks: bool) -> LengthProof:
        """The proof for some lengths; NotLinear or ModelError where the program cannot be recorded for them."""
        ...


def _front(asked: Asked, finding: Finding) -> Front:
    """What records the program of a finding."""
    program: Any = finding.question.program
    if "jax" in program.libraries:
        from .jax_front import JaxFront

        return JaxFront(program, asked.make_input, finding.question.mode)
    from .aten.front import AtenFront

    return AtenFront(program, asked.make_input, finding.question.mode)


def _of_mode(front: Front, finding: Finding, sides: Sequence[Side]) -> Everywhere:
    """Proofs for as many lengths as one can have: all, or all with some remainders."""
    n, why = finding.question.program.n, ""
    for lengths in front.ranges():
        proof = _proof(front, finding, lengths, sides)
        if isinstance(proof, LengthProof):
            if proof.closed or not proof.unknown:
                return Everywhere((proof,), _reason(proof), front.seen)
            why = why or _reason(proof)
            break
        why = why or proof
    for block in front.blocks():
        own, *others = residues(block, n)
        first = _proof(front, finding, own, sides)
        if isinstance(first, LengthProof) and first.closed:
            more = [p for r in others if isinstance(p := _proof(front, finding, r, sides), LengthProof)]
            for proof in more:
                if not proof.closed and not proof.unknown:  # followed, and open: it may leak there
                    return Everywhere((proof,), _reason(proof), front.seen)
            return Everywhere((first, *(p for p in more if p.closed)), seen=front.seen)
        if isinstance(first, LengthProof) and not first.unknown:
            return Everywhere((first,), _reason(first), front.seen)
        why = _reason(first) if isinstance(first, LengthProof) else why  # it was recorded, so that this says more
    return Everywhere((), why)


def _proof(front: Front, finding: Finding, lengths: Lengths, sides: Sequence[Side]) -> LengthProof | str:
    """The proof for a range of lengths, checked against the run at one of them; or why there is none."""
    n = finding.question.program.n
    try:
        strict = finding.attempt is not None and not finding.attempt.policy.finite_masks
        proof = front.prove(lengths, sides, not strict)
        if strict and not proof.closed:  # under a condition that one length did not need
            proof = front.prove(lengths, sides, True)
    except NotLinear as reason:
        return str(reason)
    except ModelError as error:
        return _short(str(error.__cause__ or error))
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:  # a fault of a rule leaves it open
        return phrase(error)
    if lengths.holds(n) and not _agrees(proof, finding.attempt, n):
        return "its bound lies below that of the run at one length: please report this, it is a bug in a rule"
    return proof


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
    ranges = {f.question.mode: said_range(e) for f, e in zip(findings, found, strict=True)}
    modes = [f"{said} in {mode} mode" for mode, said in ranges.items()]
    spoken = said_range(found[0]) if len(set(ranges.values())) == 1 else "; ".join(modes)
    evidence = []
    for f, e in zip(findings, found, strict=True):
        count, seconds = (sum(getattr(p, part) for p in e.proofs) for part in ("operations", "seconds"))
        runs = "an abstract run for each end" if len(e.proofs[0].bounds) > 1 else "one abstract run"
        run = f"{f.question.mode} mode: {runs} for {said_range(e)}, of {count} operations"
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
        *(f"one recorded program for {spoken}: {seen}" for seen in dict.fromkeys(e.seen for e in found)),
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


def said_range(found: Everywhere) -> str:
    """All lengths of the proofs, in words."""
    first = found.proofs[0].lengths
    rest = [p.lengths for p in found.proofs]
    if first.block > 1 and len(rest) == first.block <= MOST_RESIDUES:
        most = min((r.most for r in rest if r.most is not None), default=None)
        start = max(r.smallest for r in rest) - first.block + 1
        return f"every n ≥ {start}" + ("" if most is None else f" and n ≤ {most}")
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
