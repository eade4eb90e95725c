"""What running the model itself shows: agreement with a proof, a leak, or what breaks a condition."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..verdict import Evidence
from .finding import Said
from .limits import Limits
from .search import CUTS, JITTER, OTHER_NUMBERS, QUICK, ROUNDS, Round, Search
from .setting import ModelError, Setting
from .trace.ledger import WEAK

if TYPE_CHECKING:
    from .interface import AnyProgram
    from .outputs import Outputs
    from .proof import Attempt
    from .question import Question
    from .witness import ModelWitness

BREAKING_SCALES = (1e1, 1e3, 1e5, 1e7)  # inputs this much larger are tried against a finite mask
BRIEF = 2  # sets of positions that are tried before anything else is
BREAKING_TRIES = 32  # forwards, which are worth a counterexample of a condition
MARKS = 4  # tokens that are tried in place of many
FRESH = Round(seed=7)


@dataclass(frozen=True)
class Replayed:
    """What some runs of the model said, the leak among them, and which outputs moved with the first position."""

    said: Said
    witness: ModelWitness | None = None
    probe: Mapping[str, Any] | None = None


class Replays:
    """Runs of the model that one question asks for; the answers are frozen."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._search: tuple[Attempt | None, Search] | None = None

    def search(self, suspects: np.ndarray | None = None, *, limit: int = CUTS, limits: Limits | None = None) -> Search:
        """A search under the question's boundary, and its limits unless others are named."""
        q = self.question
        return Search(
            q.program, q.boundary, q.outputs.checked, vocabulary=q.vocabulary, suspects=suspects,
            epsilon=q.seen.epsilon, limit=limit, limits=limits or q.limits,
        )  # fmt: skip

    @cached_property
    def _wide(self) -> str:
        """Whether the model runs in float64 throughout, and as the same function ("same", "other", "no")."""
        q = self.question
        return float64_runs(q.program, q.setting, q.outputs, q.seen.random)

    def finest(self, setting: Setting) -> Setting:
        """The setting in float64 where the model is the same function there."""
        return replace(setting, precision="float64") if self._wide == "same" else setting

    def confirmed(self, witness: ModelWitness, search: Search | None = None) -> bool:
        """Whether a witness found natively leaks in float64, too; true where float64 cannot tell."""
        wide = replace(witness.setting, precision="float64")
        return self._wide == "no" or (search or self.search()).confirms(witness, wide)

    # -- beside a proof ------------------------------------------------------------------------------------------

    def validate(self, jitter: bool) -> Replayed:
        """Runs of the model itself on fresh inputs; with the witness where they contradict the proof.

        Four forwards: a fresh input, the same with everything replaced after a cut in the middle and after the first,
        and the same with only the first position replaced, which shows the outputs that do use the past. Two more with
        `jitter`, for a proof that holds for any parameters: with other ones, before and after the cut in the middle.
        """
        started = time.perf_counter()
        search = self.search(limit=2, limits=Limits())
        setting, how = self.question.setting, (replace(FRESH, seed=8),)
        fresh = search.replaced(np.arange(self.question.boundary.n), FRESH)
        found = search.find(setting, how, base=fresh, middle=True)
        probe = self._probe(search, fresh)
        if found is None and jitter and self.question.program.has_parameters:
            search.limit = 1
            with suppress(ModelError):  # the model may ask for the parameters that it has
                found = search.find(replace(setting, jitter=JITTER), how, base=fresh, middle=True)
        tried = search.tried
        detail = f"{self.question.place}: {tried.forwards} runs of the model itself on fresh inputs"
        noise = tried.largest_rounding
        detail += " contradict it" if found is not None else " agree with it"
        if found is None and noise:
            detail += f" (differences up to {noise:.1g} are rounding)"
        evidence = Evidence("replay", found is None, detail, time.perf_counter() - started)
        return Replayed(Said(evidence=(evidence,), forwards=tried.forwards), found, probe)

    def compare(self) -> Replayed:
        """One run of the model itself beside the first one, with everything after a cut in the middle replaced."""
        started = time.perf_counter()
        q, search = self.question, self.search(limit=1, limits=Limits())
        search.knows(q.setting, q.program.input, q.program.variation.host(q.outputs.rows))
        found = search.find(q.setting, (replace(FRESH, seed=8),), middle=True)
        tried = search.tried
        one = tried.forwards == 1
        detail = f"{q.place}: {'a run' if one else f'{tried.forwards} runs'} of the model itself "
        detail += ("contradict" + "s" * one) if found is not None else ("agree" + "s" * one + " with it")
        if found is None and tried.largest_rounding:
            detail += f" (differences up to {tried.largest_rounding:.1g} are rounding)"
        evidence = Evidence("replay", found is None, detail, time.perf_counter() - started)
        return Replayed(Said(evidence=(evidence,), forwards=tried.forwards), found)

    def _probe(self, search: Search, fresh: Any) -> dict[str, Any]:
        """Which outputs do move when the first position does: that the past is used, seen and not only allowed."""
        setting = self.question.setting
        y = search.base(setting, fresh)
        after = search.run(search.replaced(np.array([0]), replace(FRESH, seed=9), fresh), setting)
        same = (y == after) | (np.isnan(y) & np.isnan(after))
        return {"position": 0, "moves": np.flatnonzero(~same.all(axis=1)).tolist()}

    def jittered(self) -> Replayed:
        """A leak that opens once the parameters move: the reason why their values matter."""
        search, found = self.search(), None
        with suppress(ModelError):
            found = search.find(self.finest(replace(self.question.setting, jitter=JITTER)), QUICK)
        if found is None and search.tried.stopped:
            note = f"no jitter of the parameters was found to open a leak ({search.tried.describe()})"
            return Replayed(Said(notes=(note,)))
        return Replayed(Said(), found)

    def breaking(self) -> Replayed:
        """An input so large that it breaks a finite mask, where scaling can (normalised models shrug it off).

        The visible scores must become very negative, hence several draws, also of the parameters (which may be any
        numbers).
        """
        search, found = self._overcome()
        if found is not None:
            return Replayed(Said(), found)
        early = self.question.limits.reached(search.tried.forwards)
        said = f"no input up to {max(BREAKING_SCALES):g} times as large was found to break the finite mask"
        return Replayed(Said(notes=(f"{said} (stopped by {early})" if early else said,)))

    def _overcome(self) -> tuple[Search, ModelWitness | None]:
        """A search with larger and larger inputs, and what it found."""
        search = self.search(limit=2, limits=self.question.limits.most(BREAKING_TRIES))
        with suppress(ModelError):
            return search, next((w for w in self._enlarged(search) if w is not None or search.tried.stopped), None)
        return search, None

    def _enlarged(self, search: Search) -> Iterator[ModelWitness | None]:
        """What larger and larger inputs show, with one draw of the parameters after the other."""
        q = self.question
        everything = np.arange(q.boundary.n)
        for seed, scale in product(range(0 if q.program.subject.is_discrete else 8), BREAKING_SCALES):
            jitter = float(seed % 2 and q.parameters == "any")
            setting = replace(self.finest(q.setting), seed=seed, jitter=jitter)
            how = Round(scale=scale, seed=seed)
            yield search.find(setting, (how,), base=search.replaced(everything, how))

    # -- in place of a proof -------------------------------------------------------------------------------------

    def refute(self, attempt: Attempt | None, briefly: bool = False) -> Replayed:
        """Search for a witness: float64 and stored parameters, native kernels, then jittered parameters.

        `briefly`: only where such a search begins, which is not looked at twice when it goes on.
        """
        started = time.perf_counter()
        search = self._begun(attempt)
        search.limit = BRIEF if briefly else CUTS
        witness, rejected, more = None, [], 0
        plan = self._plan(attempt)
        for setting, how in [(s, rounds[:1]) for s, rounds in plan[:1]] if briefly else plan:
            witness = search.find(setting, how)
            if witness is not None and setting.precision == "native" and not self.confirmed(witness, search):
                rejected.append(f"{witness.describe()}, but in float64 it does not: rounding, or a kernel of its own")
                witness = None
            if witness is not None or search.tried.stopped:
                break
        if briefly and witness is None:
            return Replayed(Said())
        if witness is None and not search.tried.stopped and attempt is not None:
            witness = self._marked(search, attempt.trace.compared)
        if witness is None and not search.tried.stopped and attempt is not None and _has_weak_mask(attempt):
            larger, found = self._overcome()
            witness = found if found is not None and self.confirmed(found, larger) else None
            more = larger.tried.forwards
        tried, place, took = search.tried, self.question.place, time.perf_counter() - started
        if witness is None:
            evidence = Evidence("replay", None, f"{place}: no leak in {tried.describe()}", took)
            rejected.append(f"replaying found no leak: {tried.describe()}")
        else:
            detail = f"{place}: the witness replays, found after {tried.forwards + more} forwards"
            evidence = Evidence("replay", True, detail, took)
        return Replayed(Said(evidence=(evidence,), reasons=tuple(rejected), forwards=tried.forwards + more), witness)

    def _marked(self, search: Search, tokens: Sequence[int]) -> ModelWitness | None:
        """A leak by how many tokens are one that the program compares them with, as padding: the first is, and all that
        come later are made so.
        """
        subject = self.question.program.subject
        for token in [t for t in tokens if subject.is_discrete and 0 <= t < (self.question.vocabulary or 0)][:MARKS]:
            base = search.replaced(np.array([0]), Round(token=token))
            found = search.find(self.finest(self.question.setting), (Round(token=token, cuts=2),), base=base)
            if found is not None or search.tried.stopped:
                return found
        return None

    def _begun(self, attempt: Attempt | None) -> Search:
        """The search for what an attempt suspects, as far as it got."""
        if self._search is None or self._search[0] is not attempt:
            suspects = attempt.reach.suspects if attempt is not None and attempt.trace.complete else None
            self._search = attempt, self.search(suspects)
        return self._search[1]

    def _plan(self, attempt: Attempt | None) -> list[tuple[Setting, Sequence[Round]]]:
        """The settings to search in, the most telling first."""
        rounds: Sequence[Round] = ROUNDS
        if attempt is not None and attempt.masks:  # what only breaks a finite mask by size refutes nothing
            rounds = tuple(r for r in ROUNDS if r.scale <= 1.0)
        given = self.question.setting
        fine = self.finest(given)
        plan: list[tuple[Setting, Sequence[Round]]] = [(fine, rounds)]
        if fine != given:
            plan.append((given, QUICK))
        if self.question.parameters == "any" and self.question.program.has_parameters:
            others = tuple(r for r in OTHER_NUMBERS if r.scale <= 1.0 or rounds is ROUNDS)
            plan.append((replace(fine, jitter=JITTER), others))
        if self.question.program.subject.tied:
            plan.append((replace(fine, alone=True), QUICK))
        return plan


def _has_weak_mask(attempt: Attempt) -> bool:
    """Whether a finite mask was seen that leaves weights, or may: larger inputs overcome it."""
    return WEAK in attempt.trace.wanted


def float64_runs(
    program: AnyProgram, setting: Setting, outputs: Outputs, random: bool
) -> Literal["same", "other", "no"]:
    """How the model takes to float64 throughout: the same function up to native rounding, another one, or not at all.

    Another one means that rounding decides the native values, or that the model asks for its own precision.
    """

    try:
        wide = program.numbers(program.input, replace(setting, precision="float64"))
    except ModelError:
        return "no"
    native = program.variation.host(outputs.rows)
    if wide.shape != native.shape:
        return "no"
    if random:
        return "same"  # other random numbers, hence other values
    telling = [c for c in outputs.checked if not c.whole] or outputs.checked  # rounding may move whole numbers far
    agree = (_agree(wide[:, c.columns], native[:, c.columns]) for c in telling)
    return "same" if all(agree) else "other"


def _agree(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two outputs are the same up to native rounding."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    both = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return False
    scale = float(np.abs(b[both]).max(initial=0.0))
    return bool((np.abs(a - b)[both] <= 0.05 * max(scale, 1e-30)).all())
