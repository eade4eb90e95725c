"""Deciding a family for every n: the questions put to the solvers, and the smallest member that fails."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..verdict import Evidence, Status, Verdict, Witness, versions_of
from .family import DOCUMENTS, Family, Matrices, averages, first_positions
from .presburger import variable
from .smt import Answer, Problem, decide
from .witness import FamilyWitness

if TYPE_CHECKING:
    from ..boundary import Boundary
    from .formulas import Formula

LARGEST_REPLAY = 2_048
ASSUMED = (
    "E and F read only where `reads` holds, with any weights, finite inputs",
    "the output is a function of the query and of the visible slots alone (T10)",
)


def verdict_on(family: Family, name: str) -> Verdict:
    """The verdict for every n: each question to the solvers, and a counterexample to the first that they refute."""
    questions = family.problems()
    evidence = [agreement(family, questions)]
    smtlib: dict[str, str] = {}
    reasons: list[str] = []
    status, witness = Status.PROVED, None
    for aspect, problem in questions.items():
        answer = decide(problem)
        evidence += answer.evidence
        smtlib[aspect] = answer.text + "(check-sat)\n"
        if answer.status == "unsat":
            continue
        found = (
            smallest_counterexample(family, aspect, problem, answer)
            if answer.status == "sat"
            else "the solvers gave up"
        )
        if isinstance(found, str):
            reasons.append(f"{aspect} is open, neither proved nor refuted by a counterexample that replays: {found}")
            status = Status.UNDECIDED
            continue
        witness, more = found
        evidence += more
        status = Status.REFUTED
        if aspect == "completeness" and not reasons:
            reasons.append("every visible slot is safe, but covers names a slot that does not show the position")
        break
    return Verdict(
        "family",
        _about(family, name),
        status,
        claims=("T10", "T16"),
        evidence=tuple(evidence),
        assumptions=ASSUMED,
        witness=witness,
        reasons=tuple(reasons),
        details={"smtlib": smtlib, "parameters": {k: str(v) for k, v in family.parameters.items()}},
        versions=versions_of("z3-solver", "cvc5"),
        input_hash=hashlib.sha256("".join(smtlib.values()).encode()).hexdigest(),
    )


def _about(family: Family, name: str) -> str:
    ranges = [f"{k} ≥ {v}" for k, v in family.parameters.items() if v != DOCUMENTS]
    ranges += ["all documents" for v in family.parameters.values() if v == DOCUMENTS]
    complete = " and complete" if family.covers is not None else ""
    return f"{name} is safe{complete} for every n ≥ 1{''.join(f', {r}' for r in ranges)}"


def agreement(family: Family, questions: Mapping[str, Problem], largest: int = 6) -> Evidence:
    """The formula against the rules called with integers, on every small member."""
    compared = 0
    conditions = dict(questions["safety"].assertions)
    for n in range(1, largest + 1):
        for shift in (0, 1, 2):
            values: dict[str, Any] = {}
            for k, least in family.parameters.items():
                values[k] = _some_documents(n, shift) if least == DOCUMENTS else least + shift
            member = family.matrices(n, slots=n, **values)
            allowed = family.relation(n, **values).to_array()
            env: dict[str, Any] = dict(values)
            for k, least in family.parameters.items():
                if least == DOCUMENTS:
                    env[k] = first_positions(values[k], n)
            for name, one, other, table in (
                ("query t sees slot s", "t", "s", member.visible),
                ("slot s reads position j", "s", "j", member.support),
                ("forbidden", "t", "j", ~allowed),
            ):
                for place, concrete in np.ndenumerate(table):
                    here = {**env, "n": n, one: place[0], other: place[1]}
                    symbolic = conditions[name].evaluate(here)
                    if symbolic != bool(concrete):
                        raise ValueError(
                            f"the rules say {bool(concrete)} on integers and {symbolic} as formulas ({name}, n = {n}, "
                            f"{one} = {place[0]}, {other} = {place[1]}); they must not depend on the type of their "
                            "arguments"
                        )
            compared += len(member.support) * n * n
            if not family.parameters:
                break
    return Evidence("property", True, f"formulas and integers agree at {compared} triples, n ≤ {largest}")


def _some_documents(n: int, shift: int) -> list[int]:
    lengths: list[int] = []
    left = n
    while left:
        lengths.append(min(left, len(lengths) % 3 + 1 + shift))
        left -= lengths[-1]
    return lengths


def smallest_counterexample(
    family: Family, aspect: str, problem: Problem, answer: Answer
) -> tuple[FamilyWitness, list[Evidence]] | str:
    """The smallest member that fails as a witness, with evidence that none is smaller; or why there is none."""
    model, smallest = _smallest(problem, dict(answer.model or {}))
    n = model["n"]
    if n > LARGEST_REPLAY:
        return f"the smallest found has n = {n:,}, too large to replay"
    values: dict[str, Any] = {}
    for name, least in family.parameters.items():
        if least == DOCUMENTS:
            starts = sorted(x for x in problem.document_starts(model) if x < n)
            values[name] = [b - a for a, b in zip(starts, [*starts[1:], n], strict=True)]
        else:
            values[name] = model[name]
    t, j = model["t"], model["j"]
    evidence = [Evidence("solver", smallest, f"no smaller n than {n}")]
    if aspect == "completeness":
        using = family.concrete(n, values)
        named = int(family.call("covers", np.int64(t), np.int64(j), np.int64(n), using=using))
        member = family.matrices(n, slots=max(named, 0) + 1, **values)
        gap = FamilyWitness(t, j, named, n, values, member.support, member.visible, None)
        if not gap.replay():
            return f"the one found does not, {gap.describe()}"
        return gap, [*evidence, Evidence("replay", True, gap.describe())]
    member = family.matrices(n, slots=model["s"] + 1, **values)
    leak = _leak(member, family.relation(n, **values))
    if leak is None:
        return f"the one found, at n = {n}, does not"
    query, position, slot, found = leak
    witness = FamilyWitness(query, position, slot, n, values, member.support, member.visible, found)
    return witness, [*evidence, Evidence("replay", witness.replay(), "the member replays through check_projection")]


def _leak(member: Matrices, boundary: Boundary) -> tuple[int, int, int | None, Witness] | None:
    """What `check_projection` says of slots that average what they read; positive weights cannot cancel (T11)."""
    from ..projection.check import check_projection

    weights = averages(member.support)
    verdict = check_projection(weights, layout="slots-first", visible=member.visible, boundary=boundary)
    found = verdict.witness
    if verdict.status is not Status.REFUTED or found is None or not found.replay():
        return None
    through = np.flatnonzero(member.visible[found.query] & member.support[:, found.position])
    slot = found.slot if found.slot is not None else int(through[0]) if through.size else None
    return found.query, found.position, slot, found


def _smallest(problem: Problem, model: dict[str, int]) -> tuple[dict[str, int], bool | None]:
    """The model with the smallest n, then the smallest parameters, t, j and s; and whether cvc5 agrees about n."""
    fixed: tuple[tuple[str, Formula], ...] = ()
    confirmed: bool | None = True
    names = ["n", *(v for v in problem.variables if v not in ("n", "t", "j", "s")), "t", "j", "s"]
    for name in (v for v in names if v in problem.variables):
        least = problem.variables[name]
        low, x = (0 if least is None else least), variable(name)
        high = model.get(name, low)
        while low < high:
            middle = (low + high) // 2
            answer = decide(problem, (*fixed, ("at most", x <= middle)), confirm=False)
            if answer.status == "sat" and answer.model is not None:
                model = dict(answer.model)
                high = model.get(name, low)
            elif answer.status == "unsat":
                low = middle + 1
            else:
                confirmed = None if name == "n" else confirmed
                break
        if name == "n" and confirmed and high > 1:
            confirmed = decide(problem, (("fewer positions", x <= high - 1),)).status == "unsat" or None
        fixed = (*fixed, (f"smallest {name}", x <= high))
    return {**{k: v or 0 for k, v in problem.variables.items()}, **model}, confirmed
