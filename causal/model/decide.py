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
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..boundary import Boundary
from ..verdict import Condition, Evidence, Status
from . import decoding
from .blame import Blame, blame_leak, corrected
from .finding import Attempt, Finding, operations_named
from .program import Program, Seen
from .reach import reach
from .remarks import remedies, vacuous
from .search import JITTER, QUICK, ROUNDS, Round, Search, float64_runs
from .setting import ModelError, Setting
from .witness import BEYOND_ROUNDING, ModelWitness

if TYPE_CHECKING:
    from .trace.records import Trace

ZERO_NAMES = 8  # names of parameters that a condition lists
BREAKING_SCALES = (1e1, 1e3, 1e5, 1e7)  # inputs this much larger are tried against a finite mask
FRESH = Round(seed=7)


class Case:
    """A program under a boundary in one mode; `decide` returns the finding."""

    def __init__(
        self,
        program: Program,
        boundary: Boundary,
        seen: Seen,
        mode: str,
        vocabulary: int | None,
        parameters: str,
        rules: Sequence[Any],
    ) -> None:
        self.program, self.boundary, self.mode, self.seen = program, boundary, mode, seen
        self.vocabulary, self.parameters, self.rules = vocabulary, parameters, rules
        self.setting = Setting(mode=mode, apart=seen.apart)
        self.finding = Finding(program, boundary, mode, seen)
        self.untraceable: str | None = None

    # -- proofs --------------------------------------------------------------------------------------------------

    def attempt(self, parameters: str, finite_masks: bool = True, others: str = "given") -> Attempt | None:
        """One abstract run (more for some relations); None when the model cannot be traced, `untraceable` says why."""
        from . import trace as abstract

        p = self.program
        policy = {"parameters": parameters, "finite_masks": finite_masks, "others": others, "rules": self.rules}

        def run(ranks: np.ndarray) -> Trace:
            return abstract.run(
                p.model,
                p.positional,
                keywords=p.keywords,
                input_index=p.vary,
                sequence_axis=p.sequence_axis,
                ranks=ranks,
                **policy,  # type: ignore[arg-type]
            )

        def index(trace: Trace) -> int:
            return next(i for i, o in enumerate(trace.outputs) if o.path == self.seen.path)

        try:
            with p.prepared(self.setting):
                trace, found = reach(run, lambda t: t.outputs[index(t)].shadow, p.output_axis, self.boundary)
        except (KeyboardInterrupt, MemoryError):
            raise
        except Exception as error:
            said = " ".join(str(error).split())[:200]
            self.untraceable = f"{type(error).__name__}: {said}"
            return None
        return Attempt(policy, trace, index(trace), found)

    def others_matter(self) -> bool:
        """Whether some other input holds floating numbers, which a proof might rest on."""
        import torch

        from .trace.pytree import leaves

        p = self.program
        rest = [v for i, v in enumerate(p.positional) if i != p.vary] + [
            v for k, v in p.keywords.items() if k != p.vary
        ]
        tensors = [t for _, t in leaves(rest) if isinstance(t, torch.Tensor)]
        return any(t.is_floating_point() or t.is_complex() for t in tensors)

    def prove(self) -> bool:
        """Try the policies in order; true when one of them closes, with the finding filled in."""
        f = self.finding
        first = self.attempt("any")
        f.attempt = first
        if first is None:
            return False
        best = first
        if not first.closed and first.trace.complete:
            stored = self.attempt("stored")
            if stored is not None and stored.closed:
                best = stored
        if not best.closed:
            return False
        if best.masks:
            strict = self.attempt(best.policy["parameters"], finite_masks=False)
            if strict is not None and strict.closed:
                best = strict
        given = False
        if self.others_matter():
            free = self.attempt(best.policy["parameters"], best.policy["finite_masks"], others="any")
            if free is not None and free.closed:
                best = free
            else:
                given = True
        f.attempt = best
        self._proved(best, given)
        return True

    def _proved(self, best: Attempt, given: bool) -> None:
        f = self.finding
        kinds = len(best.trace.operations)
        f.evidence.append(
            Evidence(
                "abstract",
                True,
                f"{self.place()}: one abstract run ({sum(best.trace.operations.values())} operations of {kinds} kinds) "
                "finds every output to depend on allowed positions only",
                best.trace.seconds,
            )
        )
        f.assumptions += list(best.trace.assumptions)
        f.assumptions += [c.text for c in best.trace.conditions if c.kind != "finite-mask"]
        if best.policy["parameters"] == "any":
            f.assumptions.append("parameters may be any numbers; buffers and other constants are as they are")
        elif self.parameters == "stored":
            f.assumptions.append("the parameters keep their stored values, as was asked for")
        else:
            trace = best.trace
            zeros = [name for name in trace.parameter_zeros if name not in trace.parameter_values]
            if trace.parameter_values:
                f.conditions.append(Condition(f"parameters keep their stored values: {_named(trace.parameter_values)}"))
            if zeros:
                f.conditions.append(Condition(f"the zeros among the parameters stay zero: {_named(zeros)}"))
            if not f.conditions:
                f.conditions.append(Condition("the parameters keep their stored values"))
            f.conditions[-1] = replace(f.conditions[-1], counterexample=self._jittered())
        if best.policy["parameters"] == "any":
            read = [r.operation for r in best.trace.reads if r.source == "parameters"]
            if read:
                places = "; ".join(dict.fromkeys(f"{o.name} at {o.line}" for o in read))
                f.conditions.append(
                    Condition(
                        f"parameters and random draws that the program reads as numbers stay as they are: {places}"
                    )
                )
        for c in best.masks:
            f.conditions.append(Condition(c.text))
        if best.masks:
            breaking = self._breaking()
            f.conditions[-1] = replace(f.conditions[-1], counterexample=breaking)
            if breaking is None:
                f.notes.append(
                    f"no input up to {max(BREAKING_SCALES):g} times as large was found to break the finite mask"
                )
        if given:
            f.conditions.append(Condition("the other inputs keep the values given (with arbitrary values it is open)"))
        f.status = Status.PROVED_IF if f.conditions else Status.PROVED

    def _jittered(self) -> ModelWitness | None:
        """A leak that opens once the parameters move: the reason why their values matter."""
        search = self.search(None)
        try:
            return search.find(self._finest(replace(self.setting, jitter=JITTER)), QUICK)
        except ModelError:
            return None

    def _breaking(self) -> ModelWitness | None:
        """An input so large that it breaks a finite mask, where scaling can (normalised models shrug it off).

        The visible scores must become very negative, hence several draws, also of the parameters (which may be any
        numbers); a slow model gets fewer.
        """
        if self.program.is_discrete():
            return None
        search = self.search(None)
        search.limit, search.deadline = 2, time.monotonic() + 2.0 + 2 * self.seen.seconds
        everything = np.arange(self.boundary.n)
        for seed in range(8):
            setting = replace(
                self._finest(self.setting), seed=seed, jitter=float(seed % 2 and self.parameters == "any")
            )
            for scale in BREAKING_SCALES:
                how = Round(scale=scale, seed=seed)
                try:
                    found = search.find(setting, (how,), base=search.replaced(everything, how))
                except ModelError:
                    return None
                if found is not None or search.tried.stopped_early:
                    return found
        return None

    # -- replays -------------------------------------------------------------------------------------------------

    def search(self, suspects: np.ndarray | None) -> Search:
        """A search under this case's boundary."""
        return Search(
            self.program, self.boundary, vocabulary=self.vocabulary, suspects=suspects, epsilon=self.seen.epsilon
        )

    @cached_property
    def _wide(self) -> str:
        """Whether the model runs in float64 throughout, and as the same function ("same", "other", "no")."""
        return float64_runs(self.program, self.setting, self.seen.output, self.seen.random)

    def _finest(self, setting: Setting) -> Setting:
        """The setting in float64 where the model is the same function there."""
        return replace(setting, precision="float64") if self._wide == "same" else setting

    def _confirmed(self, search: Search, witness: ModelWitness) -> bool:
        """Whether a witness found natively leaks in float64, too; true where float64 cannot tell."""
        return self._wide == "no" or search.confirms(witness, replace(witness.setting, precision="float64"))

    def validate(self) -> bool:
        """Runs of the model itself on fresh inputs; false when they contradict the proof (then the witness is kept).

        Three forwards: a fresh input, the same with everything replaced after a cut in the middle, and the same with
        only the first position replaced, which shows the outputs that do use the past.
        """
        f = self.finding
        started = time.perf_counter()
        search = self.search(None)
        search.limit = 1
        fresh = search.replaced(np.arange(self.boundary.n), FRESH)
        found = search.find(self.setting, (replace(FRESH, seed=8),), base=fresh, middle=True)
        f.probe = self._probe(search, fresh)
        f.forwards += search.tried.forwards
        detail = f"{self.place()}: {search.tried.forwards} runs of the model itself on fresh inputs"
        if found is None:
            noise = search.tried.largest_rounding
            more = f" (differences up to {noise:.1g} are rounding)" if noise else ""
            f.evidence.append(Evidence("replay", True, f"{detail} agree with it{more}", time.perf_counter() - started))
            return True
        f.witness = found
        f.evidence.append(Evidence("replay", False, f"{detail} contradict it", time.perf_counter() - started))
        return False

    def _probe(self, search: Search, fresh: Any) -> dict[str, Any]:
        """Which outputs do move when the first position does: that the past is used, seen and not only allowed."""
        import torch

        y = search.base(self.setting, fresh)
        after = search.run(search.replaced(np.array([0]), replace(FRESH, seed=9), fresh), self.setting)
        same = (y == after) | (torch.isnan(y) & torch.isnan(after))
        return {"position": 0, "moves": torch.nonzero(~same.all(dim=1)).reshape(-1).tolist()}

    def refute(self) -> bool:
        """Search for a witness: float64 and stored parameters, native kernels, then jittered parameters."""
        f, attempt = self.finding, self.finding.attempt
        suspects = attempt.reach.suspects if attempt is not None and attempt.trace.complete else None
        rounds: Sequence[Round] = ROUNDS
        if attempt is not None and attempt.masks:  # what only breaks a finite mask by size refutes nothing
            rounds = tuple(r for r in ROUNDS if r.scale <= 1.0)
        search = self.search(suspects)
        started = time.perf_counter()
        fine = self._finest(self.setting)
        plan: list[tuple[Setting, Sequence[Round]]] = [(fine, rounds)]
        if fine != self.setting:
            plan.append((self.setting, QUICK))
        if self.parameters == "any":
            plan.append((replace(fine, jitter=JITTER), rounds[:3]))
        if self.program.tied:
            plan.append((replace(fine, alone=True), QUICK))
        for setting, how in plan:
            f.witness = search.find(setting, how)
            if f.witness is not None and setting.precision == "native" and not self._confirmed(search, f.witness):
                f.reasons.append(
                    f"{f.witness.describe()}, but in float64 it does not: rounding, or a kernel of its own"
                )
                f.witness = None
            if f.witness is not None or search.tried.stopped_early:
                break
        f.forwards += search.tried.forwards
        took = time.perf_counter() - started
        if f.witness is None:
            f.evidence.append(Evidence("replay", None, f"{self.place()}: no leak in {search.tried.describe()}", took))
            f.reasons.append(f"replaying found no leak: {search.tried.describe()}")
            return False
        f.evidence.append(
            Evidence(
                "replay",
                True,
                f"{self.place()}: the witness replays, found after {search.tried.forwards} forwards",
                took,
            )
        )
        return True

    # -- the decision --------------------------------------------------------------------------------------------

    def decide(self) -> Finding:
        """Prove, else refute, else say what stays open."""
        f = self.finding
        started = time.perf_counter()
        f.forwards = 1
        if self.boundary.kind == "bidirectional":
            f.status = Status.PROVED
            f.evidence.append(Evidence("abstract", True, f"{self.place()}: a bidirectional boundary forbids nothing"))
        elif self.prove():
            if not self.validate():
                self._contradicted()
        elif self.refute():
            f.status = Status.REFUTED
            self._blame_witness()
        else:
            f.status = Status.UNDECIDED
            self._open()
        self._remarks()
        f.seconds = time.perf_counter() - started
        return f

    def _contradicted(self) -> None:
        """A run of the model itself denies the proof: a leak that float64 confirms, or something to look into."""
        f = self.finding
        assert f.witness is not None
        f.conditions = []
        if self._confirmed(self.search(None), f.witness):
            f.status = Status.REFUTED
            f.notes.append("the abstract run claims otherwise: please report this, it is a bug in a rule")
            self._blame_witness()
            return
        f.status = Status.UNDECIDED
        f.reasons.append(
            f"the abstract run finds no dependency, yet {f.witness.describe()}; in float64 it does not: rounding that "
            "depends on the whole batch, or a kernel of its own"
        )
        f.witness = None

    def place(self) -> str:
        """'eval mode, n = 32'."""
        return f"{self.mode} mode, n = {self.program.n}"

    def _blame(self, query: int, positions: Sequence[int], closed: np.ndarray | None = None) -> Blame | None:
        f = self.finding
        if f.attempt is None:
            return None
        policy = {k: v for k, v in f.attempt.policy.items() if k != "rules"} | {"rules": self.rules}
        try:
            with self.program.prepared(self.setting):
                return blame_leak(self.program, self.boundary, f.attempt.output, query, positions, closed, **policy)
        except ModelError:
            return None

    def _blame_witness(self) -> None:
        f = self.finding
        assert f.witness is not None
        query, positions, closed = f.witness.query, f.witness.positions, ~self.boundary.allowed_row(f.witness.query)
        f.blame = self._blame(query, positions)
        if f.blame is None and closed.any():
            f.blame = self._blame(query, np.flatnonzero(closed).tolist())
        if f.blame is not None:
            with contextlib.suppress(Exception):  # a guide must never stop a verdict
                found = corrected(f.blame, self.program, self.boundary, f.witness)
                f.blame = found or self._blame(query, positions, closed) or f.blame
            f.notes.insert(0, f.blame.sentence())
        if f.attempt is None and self.untraceable:
            f.notes.append(f"the abstract run stopped ({self.untraceable}), so that no operation can be blamed")

    def _open(self) -> None:
        """The reasons of an open finding: what could not be excluded, by operation."""
        f, attempt = self.finding, self.finding.attempt
        first: list[str] = []
        if attempt is None:
            f.evidence.insert(
                0, Evidence("abstract", None, f"{self.place()}: the model could not be traced ({self.untraceable})")
            )
            first.append(f"the model could not be traced ({self.untraceable}); replays alone prove nothing")
        else:
            f.evidence.insert(
                0,
                Evidence("abstract", None, f"{self.place()}: the abstract run does not close", attempt.trace.seconds),
            )
            for read in (r for r in attempt.trace.reads if r.source == "input"):
                first.append(f"the program reads a value that depends on the input: {read.operation}")
            first += [
                f"an exact 0 or −∞ meets a number that is not finite at {op}, which the proof excludes"
                for op in attempt.trace.breaches
            ]
            first += [f"no rule for {operation}" for operation in attempt.trace.unknown]
            if attempt.reach.suspects is not None:
                t, j = self._first_suspect(attempt.reach.suspects)
                pairs = int(attempt.reach.suspects.sum())
                f.blame = self._blame(t, np.flatnonzero(attempt.reach.suspects[t]).tolist())
                where = "" if f.blame is None else f"; {f.blame.sentence()}"
                first.append(f"{pairs} forbidden pairs could not be excluded, the first of them {t} ← {j}{where}")
            f.notes += remedies(attempt.trace.operations)
        f.reasons[:0] = list(dict.fromkeys(first))

    @staticmethod
    def _first_suspect(suspects: np.ndarray) -> tuple[int, int]:
        t = int(np.flatnonzero(suspects.any(axis=1))[0])
        return t, int(np.flatnonzero(suspects[t])[0])

    def _remarks(self) -> None:
        """What a person should know besides the status."""
        f, seen = self.finding, self.seen
        if seen.writes_input:
            which = ", ".join(map(str, seen.writes_input))
            f.notes.append(f"the model writes into its input {which}; every run got a copy")
        if seen.writes_state:
            names = ", ".join(seen.writes_state[:4]) + (", …" if len(seen.writes_state) > 4 else "")
            f.notes.append(f"a call changes the model's own {names}; every run started from the state as given")
        if seen.unchecked:
            names = ", ".join(f"output{p}" for p in seen.unchecked[:4]) + (", …" if len(seen.unchecked) > 4 else "")
            f.notes.append(f"checked is output{seen.path}; not checked: {names}")
        if f.attempt is not None and f.status in (Status.PROVED, Status.PROVED_IF):
            f.notes += [f"no rule for {op}: counted as using all that it reads" for op in operations_named(f)]
            f.notes += vacuous(f.attempt.reach, self.boundary)
        if self.mode == "eval" and f.status is not Status.REFUTED:
            self._decoding()

    def _decoding(self) -> None:
        f = self.finding
        scale = float(self.seen.output.abs().double().nan_to_num(0.0, 0.0).max()) if self.seen.output.numel() else 0.0
        tolerance = BEYOND_ROUNDING * 4 * self.seen.epsilon * max(scale, 1e-30)
        try:
            found = decoding.compare(self.program, self.seen.output, self.setting, tolerance)
        except ModelError as error:
            f.notes.append(str(error))
            return
        if found is not None:
            f.evidence.append(Evidence("replay", found.first is None, found.describe()))
            if found.first is not None:
                f.notes.append(found.describe())


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:ZERO_NAMES])
    return shown + (f", … ({len(names)} in all)" if len(names) > ZERO_NAMES else "")
