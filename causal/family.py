"""Designs given by rules in n, decided for every n at once (THEORY, T16).

Slot s reads position j when `reads(s, j, n)`, query t sees slot s when `sees(t, s, n)`. The design passes T10 for every
n ≥ 1 iff no integers satisfy `sees ∧ reads ∧ ¬allowed` within the ranges. Z3 searches, cvc5 confirms every unsat, and a
counterexample is made as small as it can be and replayed through `check_projection`.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .boundary import Boundary
from .presburger import Formula, Term, application, conjunction, formula, term, variable
from .smt import Answer, Problem, decide
from .verdict import Evidence, Status, Verdict, Witness, versions_of

Rule = Callable[..., Any]
DOCUMENTS = "documents"
LARGEST_REPLAY = 2_048

# Words that SMT-LIB or its theory of integers has taken, or that the text of a question defines.
RESERVED = {
    *("_", "abs", "and", "as", "distinct", "div", "exists", "false", "forall", "is_int", "ite", "let", "match", "mod"),
    *("not", "or", "par", "quotient", "times", "to_int", "to_real", "true", "xor"),
}


@dataclass(frozen=True)
class Matrices:
    """A design at one size: `support` (r, n) says which slot reads which position, `visible` (n, r) who sees what."""

    support: np.ndarray
    visible: np.ndarray

    @property
    def shown(self) -> np.ndarray:
        """(n, n): whether query t sees a slot that reads position j."""
        return (self.visible.astype(np.float32) @ self.support.astype(np.float32)) > 0


class FamilyWitness(Witness):
    """A member of the family, of concrete size, that looks ahead (or hides a position that `covers` claims to show).

    `support` (r, n) and `visible` (n, r) are the member's matrices; `projection` is the witness that `check_projection`
    found for them, None where completeness is what fails.
    """

    kind: ClassVar[str] = "family"

    def __init__(
        self,
        query: int,
        position: int,
        slot: int | None,
        n: int,
        parameters: Mapping[str, Any],
        support: np.ndarray,
        visible: np.ndarray,
        projection: Witness | None,
    ) -> None:
        self.query, self.position, self.slot, self.n = query, position, slot, n
        self.parameters = dict(parameters)
        self.support, self.visible, self.projection = np.array(support, bool), np.array(visible, bool), projection
        self.inputs = projection.inputs if projection is not None else (None, None)
        self.outputs = projection.outputs if projection is not None else (None, None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FamilyWitness) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def replay(self) -> bool:
        """A leak: the projection's witness replays. A gap: the slot named does not show the position to the query."""
        if self.projection is not None:
            return self.projection.replay()
        r = len(self.support)
        named = self.slot is not None and 0 <= self.slot < r
        return not (named and self.visible[self.query, self.slot] and self.support[self.slot, self.position])

    def describe(self) -> str:
        """A sentence with the size, the pair and the values."""
        with_these = "".join(f", {name} = {value}" for name, value in self.parameters.items())
        where = f"at n = {self.n}{with_these}"
        if self.projection is None:
            seen = bool((self.visible[self.query] & self.support[:, self.position]).any())
            other = "another slot does" if seen else "no slot does"
            return f"{where}, slot {self.slot} does not show position {self.position} to query {self.query} ({other})"
        pair = f"slot {self.slot} shows position {self.position} to query {self.query}"
        return f"{where}, {pair}: {self.projection.describe()}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "kind": self.kind,
            "query": self.query,
            "position": self.position,
            "slot": self.slot,
            "n": self.n,
            "parameters": self.parameters,
            "support": self.support.astype(int).tolist(),
            "visible": self.visible.astype(int).tolist(),
            "projection": None if self.projection is None else self.projection.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FamilyWitness:
        """The witness that `to_dict` wrote."""
        projection = data["projection"] and Witness.from_dict(data["projection"])
        slots = len(data["support"])
        support = np.array(data["support"], bool).reshape(slots, data["n"])
        visible = np.array(data["visible"], bool).reshape(data["n"], slots)
        query, position, slot, n = (data[k] for k in ("query", "position", "slot", "n"))
        return cls(query, position, slot, n, data["parameters"], support, visible, projection)


@dataclass(frozen=True)
class Family:
    """The rules of a design, and the values or symbols that its parameters take."""

    reads: Rule
    sees: Rule
    slots: Rule | None
    covers: Rule | None
    due: Rule | None
    boundary: Rule | None
    parameters: Mapping[str, Any]

    def call(self, name: str, *arguments: Any, using: Mapping[str, Any]) -> Any:
        """A rule by name, with those parameters that it takes."""
        rule = getattr(self, name)
        if rule is None:
            return {"boundary": lambda t, j, n: j <= t, "due": lambda t, j, n: self.allowed(t, j, n, using)}[name](
                *arguments
            )
        wanted = inspect.signature(rule).parameters
        every = any(p.kind is p.VAR_KEYWORD for p in wanted.values())
        return rule(*arguments, **{k: v for k, v in using.items() if every or k in wanted})

    def allowed(self, t: Any, j: Any, n: Any, using: Mapping[str, Any]) -> Any:
        """Whether query t may use position j."""
        return self.call("boundary", t, j, n, using=using)

    def truth(self, name: str, *arguments: Any, using: Mapping[str, Any]) -> Formula:
        """A rule's formula; TypeError when it does not answer yes or no."""
        value = self.call(name, *arguments, using=using)
        if not isinstance(value, (Formula, bool, np.bool_)):
            raise TypeError(f"{name} returned {value!r} ({type(value).__name__}); return a comparison")
        return formula(value)

    def symbols(self) -> tuple[dict[str, int | None], dict[str, Any], tuple[str, ...]]:
        """Variables with their least values, what the rules are called with, and the names of document starts."""
        variables: dict[str, int | None] = {"n": 1, "t": 0, "j": 0, "s": 0}
        using: dict[str, Any] = {}
        starts = []
        for name, least in self.parameters.items():
            if not (name.isidentifier() and name.isascii()) or name in variables or name.startswith("start_"):
                raise ValueError(f"parameters names {name!r}; use an ASCII identifier other than n, t, j, s, start_…")
            if name in RESERVED:
                raise ValueError(f"parameters names {name!r}, a word that SMT-LIB has taken; use another identifier")
            if least == DOCUMENTS:
                starts.append(name)
                using[name] = lambda x, name=name: application(name, x)
            elif isinstance(least, (int, np.integer)) and not isinstance(least, bool):
                variables[name] = int(least)
                using[name] = variable(name, int(least))
            else:
                raise TypeError(
                    f"parameters[{name!r}] = {least!r}; give its least value, a whole number, or 'documents'"
                )
        return variables, using, tuple(starts)

    def problems(self) -> dict[str, Problem]:
        """The questions whose unsat is the proof: `safety`, and `completeness` where `covers` is given."""
        variables, using, starts = self.symbols()
        t, j, s, n = (variable(name, variables[name]) for name in ("t", "j", "s", "n"))
        inside = (("positions and queries", (t < n) & (j < n)),)
        slots = self._slots(n, using)
        may = self.truth("boundary", t, j, n, using=using)
        reads, sees = self.truth("reads", s, j, n, using=using), self.truth("sees", t, s, n, using=using)
        exists = () if slots is None else (("slot", s < slots),)
        questions = {
            "safety": Problem(
                "a slot that a query sees reads a position forbidden to the query",
                variables,
                (
                    *inside,
                    *exists,
                    ("query t sees slot s", sees),
                    ("slot s reads position j", reads),
                    ("forbidden", ~may),
                ),
                starts,
            )
        }
        if self.covers is not None:
            named = term(self.call("covers", t, j, n, using=using), "covers")
            shows = [named >= 0] if slots is None else [named >= 0, named < slots]
            shows.append(self.truth("sees", t, named, n, using=using))
            shows.append(self.truth("reads", named, j, n, using=using))
            due = self.truth("due", t, j, n, using=using)
            without_s = {name: least for name, least in variables.items() if name != "s"}
            hidden = ("the slot named does not show it", ~conjunction(shows))
            questions["completeness"] = Problem(
                "an allowed position is not shown by the slot that covers names",
                without_s,
                (*inside, ("position j is due to query t", due & may), hidden),
                starts,
            )
        return questions

    def _slots(self, n: Any, using: Mapping[str, Any]) -> Any:
        return None if self.slots is None else self.call("slots", n, using=using)

    def matrices(self, n: int, slots: int | None = None, **values: Any) -> Matrices:
        """The member of size n: the rules called with NumPy's integers, of whose comparisons `~` is the negation.

        `values` give every parameter; a `documents` parameter takes the documents' lengths. `slots` is needed where the
        family has no `slots` rule. Raises ValueError when a size or value does not fit.
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"n = {n!r} is no size; pass a whole number of at least 1")
        for name, least in self.parameters.items():
            if name not in values:
                raise ValueError(f"parameter {name} has no value; pass {name}=…")
            if least != DOCUMENTS and values[name] < least:
                raise ValueError(f"{name} = {values[name]} is below its least value {least}; pass at least that")
        using = self.concrete(int(n), {name: values[name] for name in self.parameters})
        size = np.int64(n)
        r = slots if self.slots is None else int(self._slots(size, using))
        if r is None:
            raise ValueError("slots is unknown for this family; pass slots=… or give the family a rule for it")
        t, j, s = np.arange(n)[:, None], np.arange(n)[None, :], np.arange(max(r, 0))
        support = np.broadcast_to(_boolean("reads", self.call("reads", s[:, None], j, size, using=using)), (len(s), n))
        visible = np.broadcast_to(_boolean("sees", self.call("sees", t, s[None, :], size, using=using)), (n, len(s)))
        return Matrices(np.array(support), np.array(visible))

    def concrete(self, n: int, values: Mapping[str, Any]) -> dict[str, Any]:
        """What the rules are called with at size n: NumPy's integers, and functions for documents of given lengths."""
        return {
            k: first_positions(v, n) if self.parameters.get(k) == DOCUMENTS else np.int64(v) for k, v in values.items()
        }

    def relation(self, n: int, **values: Any) -> Boundary:
        """The boundary of the member of size n."""
        if self.boundary is None:
            return Boundary.prefix(n)
        t, j = np.arange(n)[:, None], np.arange(n)[None, :]
        using = self.concrete(n, values)
        allowed = np.array(np.broadcast_to(_boolean("boundary", self.allowed(t, j, np.int64(n), using)), (n, n)))
        return Boundary.prefix(n) if np.array_equal(allowed, np.tri(n, dtype=bool)) else Boundary.relation(allowed)


def first_positions(lengths: Sequence[int], n: int) -> Callable[[Any], np.ndarray]:
    """For documents of these lengths: the function from a position to the first position of its document.

    >>> first_positions([2, 3], 5)(np.arange(5)).tolist()
    [0, 0, 2, 2, 2]
    """
    sizes = [int(length) for length in lengths]
    if sum(sizes) != n or min(sizes, default=1) < 1:
        raise ValueError(
            f"lengths {sizes} are no documents over n = {n} positions; pass positive lengths that sum to n"
        )
    starts = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    return lambda x: starts[np.clip(x, 0, n - 1)]


def _boolean(name: str, value: Any) -> np.ndarray:
    found = np.asarray(value)
    if found.dtype != np.bool_:
        raise TypeError(f"{name} returned {found.dtype} on integers; return a comparison")
    return found


def check_family(
    reads: Rule,
    sees: Rule,
    *,
    slots: Rule | None = None,
    covers: Rule | None = None,
    boundary: Rule | None = None,
    due: Rule | None = None,
    parameters: Mapping[str, Any] | None = None,
    name: str = "design",
) -> Verdict:
    """Whether a design given by rules is prefix-safe for every n, and complete where `covers` says so (T16).

    `reads(s, j, n)`: slot s reads position j. `sees(t, s, n)`: query t sees slot s. `slots(n)`: the number of slots
    (None: unbounded). `covers(t, j, n)`: a slot that shows position j to query t, for every pair that is `due(t, j, n)`
    (None: every allowed pair). `boundary(t, j, n)`: what query t may use (None: j <= t). Rules are ordinary functions
    written with `+ - *`, `//`, `%`, comparisons, `&`, `|`, `~` and `presburger.choose`. `parameters` maps further
    arguments of the rules to their least values, and the verdict then holds for all larger values too; the value
    "documents" makes the argument a function from a position to the first position of its document, for any documents
    (from outside 0 … n − 1, that of the nearest position).

    PROVED when Z3 and cvc5 both find that no counterexample exists; REFUTED with a `FamilyWitness` of the smallest n;
    UNDECIDED when the solvers give up, which happens only to rules that multiply or divide by parameters, or when the
    smallest counterexample has more than 2,048 positions.
    `details["smtlib"]` holds the texts that were decided.

    Raises TypeError naming an operation that rules may not use, ImportError when the extra `smt` is missing.

    >>> def reads(s, j, n): return j // 4 == s
    >>> def sees(t, s, n): return (s + 1) * 4 <= t + 1
    >>> check_family(reads, sees, slots=lambda n: n // 4).status.name
    'PROVED'
    >>> early = check_family(reads, lambda t, s, n: s * 4 <= t)
    >>> early.status.name, early.witness.n, early.witness.replay()
    ('REFUTED', 2, True)
    """
    family = Family(reads, sees, slots, covers, due, boundary, dict(parameters or {}))
    questions = family.problems()
    evidence = [_agreement(family, questions)]
    smtlib: dict[str, str] = {}
    status, witness, reasons = Status.PROVED, None, []
    for aspect, problem in questions.items():
        answer = decide(problem)
        evidence += answer.evidence
        smtlib[aspect] = answer.text + "(check-sat)\n"
        if answer.status == "unsat":
            continue
        found = _counterexample(family, aspect, problem, answer) if answer.status == "sat" else "the solvers gave up"
        if isinstance(found, str):
            reasons.append(f"{aspect} is open, neither proved nor refuted by a counterexample that replays: {found}")
            status = Status.UNDECIDED if status is Status.PROVED else status
            continue
        witness, more = found
        evidence += more
        status = Status.REFUTED
        if aspect == "completeness" and not reasons:
            reasons.append("every visible slot is safe, but covers names a slot that does not show the position")
        break
    ranges = [f"{k} ≥ {v}" for k, v in family.parameters.items() if v != DOCUMENTS]
    ranges += ["all documents" for v in family.parameters.values() if v == DOCUMENTS]
    complete = " and complete" if covers is not None else ""
    return Verdict(
        "family",
        f"{name} is safe{complete} for every n ≥ 1{''.join(f', {r}' for r in ranges)}",
        status,
        claims=("T10", "T16"),
        evidence=tuple(evidence),
        assumptions=(
            "E and F read only where `reads` holds, with any weights, finite inputs",
            "the output is a function of the query and of the visible slots alone (T10)",
        ),
        witness=witness,
        reasons=tuple(reasons),
        details={"smtlib": smtlib, "parameters": {k: str(v) for k, v in family.parameters.items()}},
        versions=versions_of("z3-solver", "cvc5"),
        input_hash=hashlib.sha256("".join(smtlib.values()).encode()).hexdigest(),
    )


def _agreement(family: Family, questions: Mapping[str, Problem], largest: int = 6) -> Evidence:
    """The formula against the rules called with integers, on every small member."""
    compared = 0
    conditions = dict(questions["safety"].assertions)
    rules = [conditions["query t sees slot s"], conditions["slot s reads position j"], conditions["forbidden"]]
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
            for s in range(len(member.support)):
                for t in range(n):
                    for j in range(n):
                        here = {**env, "n": n, "s": s, "t": t, "j": j}
                        symbolic = tuple(rule.evaluate(here) for rule in rules)
                        concrete = (bool(member.visible[t, s]), bool(member.support[s, j]), not allowed[t, j])
                        if symbolic != concrete:
                            raise ValueError(
                                f"the rules say {concrete} on integers and {symbolic} as formulas at n = {n}, t = {t}, "
                                f"s = {s}, j = {j}; they must not depend on the type of their arguments"
                            )
                        compared += 1
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


def _counterexample(
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
    from .projection import check_projection

    weights = averages(member.support)
    verdict = check_projection(weights, layout="slots-first", visible=member.visible, boundary=boundary)
    found = verdict.witness
    if verdict.status is not Status.REFUTED or found is None or not found.replay():
        return None
    through = np.flatnonzero(member.visible[found.query] & member.support[:, found.position])
    slot = found.slot if found.slot is not None else int(through[0]) if through.size else None
    return found.query, found.position, slot, found


def averages(support: np.ndarray) -> np.ndarray:
    """The projection whose slots average the positions that they read; rows of slots that read nothing are 0."""
    return support / np.maximum(support.sum(axis=1, keepdims=True), 1)


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


def smtlib(
    reads: Rule,
    sees: Rule,
    *,
    slots: Rule | None = None,
    covers: Rule | None = None,
    boundary: Rule | None = None,
    due: Rule | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """The questions that `check_family` asks, as SMT-LIB 2.6 texts: `safety`, and `completeness` with `covers`.

    Each text is unsatisfiable iff the design has the property for every n. Needs no solver.

    >>> text = smtlib(lambda s, j, n: j == s, lambda t, s, n: s <= t)["safety"]
    >>> text.splitlines()[-1]
    '(check-sat)'
    """
    family = Family(reads, sees, slots, covers, due, boundary, dict(parameters or {}))
    return {aspect: problem.smtlib(linear=False) + "(check-sat)\n" for aspect, problem in family.problems().items()}


__all__ = ["DOCUMENTS", "Family", "FamilyWitness", "Matrices", "Term", "check_family", "smtlib"]
