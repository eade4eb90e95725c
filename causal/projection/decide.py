"""What settles whether a head looks ahead: the support criterion, then the exact one, then floats and finite biases."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..verdict import Condition, Evidence, LeakBound, Status, Verdict, versions_of
from .entries import BITS, Entries
from .exact import Question, questions
from .leak_size import leak_bound

if TYPE_CHECKING:
    from ..spans import Runs
    from .finite_bias import Hidden
    from .leak import Decider
    from .support import Scan, Support
    from .visible import Visible
    from .witness import ProjectionWitness

SHOWN = 1 << 16  # entries up to which a verdict keeps the whole pattern, for its picture
LATER = 1 << 22  # entries up to which a bound on the leak keeps a copy of what it is computed from
HASHED = 1 << 24  # bytes up to which the entries themselves are hashed

FINITE = "all inputs are finite and nothing overflows on the way (0 · ∞ is NaN)"
MASKED = "a slot that a query does not see is excluded before its softmax, with −∞, not after it"
STARVED = "a query that sees no slot outputs 0 (a softmax over nothing would be NaN)"
ELSEWHERE = "the boundary forbids a query its own position, so queries are computed from something else"
REAL = "the arithmetic is real: nothing rounds"
LONE = "a softmax over a single slot is exactly 1: it subtracts the largest score, and exp(0) = 1"
EXPONENTIAL = "the softmax subtracts the largest score, and exp is rounded correctly"


@dataclass(frozen=True)
class Reading:
    """Everything that a check has read: projections, who may use what, who sees what, and where T10 fails."""

    values: Entries
    keys: Entries
    support: Support
    sees: Visible
    scans: tuple[Scan, Scan]  # of E and F
    failing: np.ndarray

    @cached_property
    def decider(self) -> Decider:
        """The exact criterion for these projections."""
        from .leak import Decider

        return Decider(self.keys, self.values)

    @property
    def dtype(self) -> str:
        """The float type in which a head with these projections computes."""
        kinds = {self.values.dtype, self.keys.dtype} - {"exact"}
        if len(kinds) == 2:
            return "float32" if kinds == {"float16", "bfloat16"} else max(kinds, key=BITS.__getitem__)
        return kinds.pop() if kinds else "float64"

    def questions(self) -> Iterator[Question]:
        """The failing queries, grouped for T11; one at a time, since each holds a rank for every position."""
        for slots, bias, queries in self.sees.groups(self.failing):
            yield from questions(self.support.boundary, slots, bias, queries)

    def widening(self) -> Iterator[Question]:
        """The questions, those that forbid least first where forbidden sets are nested: so sums over them grow."""
        asked = self.questions()
        if not self.support.boundary.is_chain:
            return asked
        return iter(sorted(asked, key=lambda question: -int(question.horizons.min())))

    def offending(self, question: Question) -> np.ndarray:
        """Which slots of a question read a position that one of its queries may not use, (k,)."""
        return np.asarray(~self.support.readable(question.queries, question.slots).all(axis=0))

    def within(self, question: Question, members: np.ndarray) -> Question:
        """The same question for some of its slots only; `members` are indices or booleans."""
        bias = None if question.bias is None else question.bias[members]
        return replace(question, slots=question.slots[members], bias=bias)

    def survives_rounding(self, question: Question) -> bool:
        """Whether a question that T11 calls safe is so in floats: a lone weight is 1 there too, a sum of zeros 0."""
        scan = self.scans[1]
        return len(question.slots) == 1 or not (scan.low[question.slots].any() or scan.high[question.slots].any())

    def bound(self, every_entry: bool) -> LeakBound:
        """How large a leak can be (T19); where that takes a while and was not asked for, it waits to be looked at."""

        def compute(of: Reading) -> LeakBound:
            return leak_bound(of.widening(), of.keys, of.values, of.scans, every_entry)

        if (
            every_entry
            or max(math.prod(self.values.shape), self.sees.size) > LATER
            or not self.values.where == self.keys.where == "host"
        ):
            return compute(self)
        kept = self._kept()
        return LeakBound.later(lambda: compute(kept))

    def _kept(self) -> Reading:
        """The same reading of copies, which stay what they are when the caller writes to the arrays."""
        values = replace(self.values, data=self.values.data.copy())
        keys = values if self.keys is self.values else replace(self.keys, data=self.keys.data.copy())
        sees = self.sees if self.sees.mask is None else replace(self.sees, mask=self.sees.mask.copy())
        return replace(self, values=values, keys=keys, sees=sees)

    def leak(self, question: Question) -> ProjectionWitness | None:
        """T11 for one question."""
        from .leak import find_leak

        return find_leak(question, self.decider, self.scans[1].highest)


@dataclass(frozen=True)
class Answers:
    """What the questions gave: a leak, or why each is safe all the same.

    `cancelled` are questions in which terms cancel, whole and without the slots that a bias hides; `hidden` are those
    that a finite bias answers, and how.
    """

    witness: ProjectionWitness | None
    cancelled: Sequence[tuple[Question, Question]]
    hidden: Sequence[tuple[Question, Hidden]]


def judge(reading: Reading, base: Verdict, tolerance: float) -> Verdict:
    """The verdict on a head that fails the support criterion: the exact one, query by query."""
    start = time.perf_counter()
    answers = _ask(reading)
    seconds = time.perf_counter() - start
    bound = reading.bound(every_entry=tolerance > 0)
    base = replace(base, leak_bound=bound)
    if answers.witness is not None:
        return _refuted(base, answers.witness, bound, tolerance, seconds)
    verdict = _conditional(reading, base, answers, seconds)
    return up_to(verdict, bound, tolerance) if _accepts(tolerance, bound) else verdict


def _accepts(tolerance: float, bound: LeakBound) -> bool:
    """Whether a tolerance was asked for and leaks of this size are within it."""
    return tolerance > 0 and max(bound.values, bound.keys) <= tolerance


def _ask(reading: Reading) -> Answers:
    """T11 for every question, until one leaks and no bias hides it."""
    cancelled: list[tuple[Question, Question]] = []
    hidden: list[tuple[Question, Hidden]] = []
    for question in reading.questions():
        witness = reading.leak(question)
        if witness is None:
            cancelled.append((question, question))
            continue
        found = _hide(reading, question)
        if found is None:
            return Answers(_loudest(reading, question, witness), cancelled, hidden)
        way, rest = found
        hidden.append((question, way))
        if reading.offending(rest).any():
            cancelled.append((question, rest))
    return Answers(None, cancelled, hidden)


def _hide(reading: Reading, question: Question) -> tuple[Hidden, Question] | None:
    """Slots whose finite bias hides the leak once their weight is 0, and the question without them; None: no such."""
    if question.bias is None:
        return None
    from .finite_bias import ways_to_hide

    for way in ways_to_hide(question, reading.offending(question)):
        rest = reading.within(question, np.setdiff1d(np.arange(len(question.slots)), way.members))
        if not reading.offending(rest).any() or reading.leak(rest) is None:
            return way, rest
    return None


def _loudest(reading: Reading, question: Question, witness: ProjectionWitness) -> ProjectionWitness:
    """A witness among the slots with the largest bias, which no other slot can drown, if they leak by themselves."""
    if question.bias is None:
        return witness
    from .counterexample import Head

    top = reading.leak(reading.within(question, question.bias == question.bias.max()))
    if top is None:
        return witness
    head = Head(reading.keys, reading.values, question.slots, question.bias)
    whole = head.witness(top.query, top.position, top.keys, top.values)
    return whole if whole.differs() else witness


def _refuted(base: Verdict, witness: ProjectionWitness, bound: LeakBound, tolerance: float, seconds: float) -> Verdict:
    start = time.perf_counter()
    if not witness.replay():
        raise AssertionError(
            f"the witness does not replay, which is a fault of attnproof: please report {witness.to_dict()}"
        )
    replayed = Evidence(
        "replay",
        True,
        "both outputs recomputed from the witness: different exactly, and as disjoint balls",
        time.perf_counter() - start,
    )
    decided = Evidence("exact", False, "exact criterion (T11) over the rationals: an identity fails", seconds)
    verdict = replace(
        base,
        status=Status.REFUTED,
        claims=("T11", "T12"),
        witness=witness,
        evidence=(*base.evidence, decided, replayed),
    )
    if _accepts(tolerance, bound):
        verdict = replace(verdict, status=Status.PROVED_IF, witness=None)
        return up_to(verdict, bound, tolerance, witness)
    return verdict


def up_to(verdict: Verdict, bound: LeakBound, tolerance: float, witness: ProjectionWitness | None = None) -> Verdict:
    """A verdict up to a tolerance: conditional at best."""
    text = (
        f"a leak of at most {bound.values:.9g} per unit of the forbidden values and {bound.keys:.9g} per unit of the "
        f"forbidden scores and of |V|, all of them moved at once, does not matter (tolerance {tolerance:g})"
    )
    exact = (
        () if bound.values or bound.keys else ("no leak at all was found: tolerance=0 gives the verdict without it",)
    )
    return replace(
        verdict,
        status=Status.PROVED_IF,
        claims=(*verdict.claims, "T19"),
        leak_bound=bound,
        conditions=(*verdict.conditions, Condition(text, witness)),
        reasons=(*verdict.reasons, *exact),
    )


def _conditional(reading: Reading, base: Verdict, answers: Answers, seconds: float) -> Verdict:
    """Safe by cancellation (T11), or safe while finite biases hide what leaks, or both.

    PROVED where rounding cannot undo what cancels and nothing needs hiding.
    """
    conditions: list[Condition] = []
    assumptions = list(base.assumptions)
    rounded = [pair for pair in answers.cancelled if not reading.survives_rounding(pair[1])]
    claims = (["T10"] if answers.hidden or base.details["safe_queries"] else []) + ["T11"] * bool(answers.cancelled)
    evidence = Evidence("exact", True, "exact criterion (T11) over the rationals: every identity holds", seconds)
    if answers.hidden:
        conditions += _hiding_conditions(reading, answers.hidden)
        assumptions.append(EXPONENTIAL)
        evidence = Evidence(
            "exact", True, "T10 and T11 over the rationals, without the slots that a bias hides", seconds
        )
    if any(len(kept.slots) == 1 for _, kept in answers.cancelled):
        assumptions.append(LONE)
    if rounded:
        conditions.append(_real_arithmetic(reading, rounded))
        assumptions.append(REAL)
    return replace(
        base,
        status=Status.PROVED_IF if conditions else Status.PROVED,
        claims=tuple(claims),
        conditions=tuple(conditions),
        assumptions=tuple(assumptions),
        evidence=(*base.evidence, evidence),
    )


def _real_arithmetic(reading: Reading, cancelled: Sequence[tuple[Question, Question]]) -> Condition:
    from .counterexample import Head
    from .rounding import breaking_input, candidates, representable

    witness = None
    for whole, kept in cancelled[:4]:
        head = Head(reading.keys, reading.values, kept.slots, kept.bias)
        keys, values = reading.decider.columns(kept.slots)
        witness = breaking_input(kept, head, reading.dtype, candidates(kept, keys, values))
        if witness is not None and whole is not kept:  # the head has the hidden slots, too: they must weigh nothing
            every = Head(reading.keys, reading.values, whole.slots, whole.bias)
            told = every.witness(witness.query, witness.position, witness.keys, witness.values, reading.dtype)
            witness = told if representable(told, reading.dtype) and told.outputs == witness.outputs else None
        if witness is not None:
            break
    count = sum(len(whole.queries) for whole, _ in cancelled)
    queries = "1 query is" if count == 1 else f"{count} queries are"
    return Condition(f"real arithmetic: {queries} safe because terms cancel, which rounding can undo", witness)


def _hiding_conditions(reading: Reading, hidden: Sequence[tuple[Question, Hidden]]) -> list[Condition]:
    """One condition for each kind of hiding, with the inputs that break it for the tightest of them."""
    from .counterexample import Head
    from .finite_bias import breaking_witness, condition

    conditions: list[Condition] = []
    kinds: dict[tuple[Any, ...], list[tuple[Question, Hidden]]] = {}
    for question, way in hidden:
        kinds.setdefault((tuple(question.slots[way.members].tolist()), way.gap), []).append((question, way))
    for pairs in kinds.values():
        question, way = pairs[0]
        several = replace(
            question,
            queries=np.concatenate([q.queries for q, _ in pairs]),
            horizons=np.concatenate([q.horizons for q, _ in pairs]),
        )
        head = Head(reading.keys, reading.values, question.slots, question.bias)
        values, keys = reading.values.block(question.slots), reading.keys.block(question.slots)
        broken = breaking_witness(question, head, way, values, keys) if len(conditions) < 8 else None
        conditions.append(Condition(condition(way, several, reading.dtype), broken))
    return conditions


# -- what every verdict says ------------------------------------------------------------------------------------------


def unjudged(reading: Reading, starved: Runs, seconds: float) -> Verdict:
    """What is known once T10 has been asked: a verdict of PROVED where nothing fails, and what every verdict shares."""
    values, boundary = reading.values, reading.support.boundary
    r, n = values.shape
    same = reading.keys is reading.values
    reasons = []
    if values.guessed:
        reasons.append(
            f"read as slots-first (r = {r}, n = {n}) because it is wider than tall; layout= says it outright"
        )
    assumptions = [FINITE, MASKED]
    if len(starved):
        assumptions.append(STARVED)
    if boundary.forbids_own_position:
        assumptions.append(ELSEWHERE)
    failed = len(reading.failing)
    detail = "support criterion (T10): " + (
        f"{failed} of {boundary.queries} queries see a slot that reads a forbidden position"
        if failed
        else "no query sees a slot that reads a forbidden position"
    )
    return Verdict(
        subject="projection",
        about=f"{r} slots over {n} positions, {'E = F' if same else 'E and F'}",
        status=Status.UNDECIDED,
        evidence=(Evidence("exact", not failed, detail, seconds),),
        assumptions=tuple(assumptions),
        reasons=tuple(reasons),
        starved=starved,
        queries=boundary.queries,
        boundary=boundary,
        details=_details(reading),
        versions=versions_of("numpy"),
        input_hash=_hash(reading),
    )


def _details(reading: Reading) -> dict[str, Any]:
    """Shapes, reading and, for small inputs, who reads and who sees what, as runs: what a picture needs."""
    from ..spans import spans_of

    r, n = reading.values.shape
    details: dict[str, Any] = {
        "slots": r,
        "positions": n,
        "layout": reading.values.layout,
        "dtype": reading.dtype,
        "safe_queries": reading.support.boundary.queries - len(reading.failing),
    }
    small = max(r * n, r * reading.sees.queries) <= SHOWN
    if small and reading.values.where == reading.keys.where == "host":

        def pattern(rows: np.ndarray) -> list[Any]:
            return [[list(run) for run in spans_of(np.flatnonzero(row))] for row in rows]

        details["reads_values"] = pattern(reading.values.block() != 0)
        details["reads_keys"] = pattern(reading.keys.block() != 0)
        details["seen_by"] = pattern(reading.sees.sees(np.arange(reading.sees.queries)).T)
    return details


def _hash(reading: Reading) -> str:
    """SHA-256 of the entries, or of the scan's block extremes and ends where the entries are many or elsewhere."""
    digest = hashlib.sha256()
    matrices = [reading.values] if reading.keys is reading.values else [reading.values, reading.keys]
    whole = all(m.where == "host" and getattr(m.data, "nbytes", 0) <= HASHED for m in matrices)
    for m, found in zip(matrices, reading.scans[::-1], strict=False):
        digest.update(f"{m.shape} {m.dtype};".encode())
        if whole and m.is_exact:
            digest.update(" ".join(map(str, m.data.ravel())).encode())
        elif whole:
            step = max(1, SHOWN // max(1, m.shape[1]))
            for s in range(0, m.shape[0], step):
                digest.update(np.ascontiguousarray(m.data[s : s + step]).data)
        else:
            for part in (found.lowest, found.highest, found.low, found.high):
                digest.update(np.ascontiguousarray(part).tobytes())
    return f"{'sha256' if whole else 'sha256-of-scan'}:{digest.hexdigest()}"
