"""Refutation by replay: run the model itself with forbidden positions replaced and compare the outputs.

A difference is a leak only when it is far beyond rounding. The yardstick is a *tremor*: the same run with input and
parameters changed by a few units in the last place, in the precision of the comparison. Whatever a model does with
rounding errors (cancellation, Fourier transforms, ill-conditioned normalisations), it does to the tremor as well, so a
difference a thousand times larger is no rounding. Runs are made in float64 throughout wherever the model runs in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from .limits import TRIES, Limits
from .setting import ModelError, Setting
from .witness import BEYOND_ROUNDING, ModelWitness

if TYPE_CHECKING:
    from ..boundary import Boundary
    from .interface import AnyProgram
    from .outputs import Checked

JITTER = 0.1  # scale of the noise that opens gates which start at zero
CUTS = 48  # sets of positions per round: every cut of a short sequence, a bisecting choice of a long one


# -- the search ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tried:
    """What a search did: forwards, sets of positions, settings, and the largest change that rounding explains.

    `stopped` names the limit that ended it, "" when it came to its end.
    """

    forwards: int = 0
    cuts: int = 0
    of_cuts: int = 0
    settings: tuple[str, ...] = ()
    largest_rounding: float = 0.0
    stopped: str = ""
    fewer: bool = False  # whether more cuts would have been tried, had the caller asked for them

    def describe(self) -> str:
        """A phrase: how many forwards at how many cuts, in which settings."""
        further = f"; tries={TRIES} looks further" if self.fewer else ""
        early = f", stopped by {self.stopped}" if self.stopped else further
        noise = f"; differences up to {self.largest_rounding:.1g} are rounding" if self.largest_rounding else ""
        settings = ", ".join(dict.fromkeys(self.settings)) or "as given"
        return f"{self.forwards} forwards at {self.cuts} of {self.of_cuts} cuts ({settings}){early}{noise}"


@dataclass(frozen=True)
class Round:
    """One way to replace forbidden positions: jointly or one by one, at which scale, from which seed, or by which
    token; at so many cuts unless the caller asks for more.
    """

    scale: float = 1.0
    seed: int = 0
    joint: bool = True
    cuts: int = 3
    token: int | None = None


ROUNDS = (
    Round(cuts=16), Round(seed=1), Round(scale=8.0, seed=2), Round(joint=False, seed=3), Round(scale=0.125, seed=4),
)  # fmt: skip
QUICK = (Round(), Round(seed=1, cuts=2))
OTHER_NUMBERS = (Round(cuts=8), *ROUNDS[1:3])  # what is tried with other parameters


class Search:
    """Looks for a leak of `program` under `boundary`; `find` returns a witness or None, `tried` what was done so far.

    `suspects` is a boolean (queries, n) map of possible leaks, or None when everything forbidden is suspect. At most
    `limit` sets of positions are tried in a round, as few as the round says unless the `limits` are thorough, and none
    once one of them is reached. A leak nearly always shows at the first sets of the first round, so that more of them
    are seldom worth their forwards.
    """

    def __init__(
        self,
        program: AnyProgram,
        boundary: Boundary,
        outputs: Sequence[Checked],
        *,
        vocabulary: int | None = None,
        suspects: np.ndarray | None = None,
        epsilon: float = 2.0**-52,
        limit: int = CUTS,
        limits: Limits | None = None,
    ) -> None:
        self.program, self.boundary, self.outputs, self.vocabulary = program, boundary, outputs, vocabulary
        self.suspects, self.epsilon, self.limit = suspects, epsilon, limit
        self.limits = limits or Limits()
        self.tried = Tried()
        self._kept: tuple[Setting, Any, np.ndarray] | None = None
        self._in_vain: set[tuple[Setting, Round, bytes]] = set()  # what was tried on the input as given
        self._trembled: list[tuple[Setting, Any, dict[str, np.ndarray]]] = []

    # -- which positions to replace ------------------------------------------------------------------------------

    def cuts(self, middle: bool = False) -> list[tuple[np.ndarray, np.ndarray]]:
        """Sets of positions and the queries that may see none of them, the most telling first.

        One set per distinct horizon that suspects something: all positions forbidden to it. Bisecting order, so that
        a short search already covers the sequence; `middle` begins with the middle and the first.
        """
        b = self.boundary
        rows = np.arange(b.queries)
        if self.suspects is not None:
            rows = rows[self.suspects.any(axis=1)]
        seen: set[bytes] = set()
        found = []
        order = _bisecting(rows.tolist())
        if middle and len(order) > 2:
            order = [order[2], order[0], *order[3:], order[1]]
        for t in order:
            forbidden = np.flatnonzero(~b.allowed_row(t))
            key = forbidden.tobytes()
            if forbidden.size == 0 or key in seen:
                continue
            seen.add(key)
            found.append((forbidden, t))
            if len(found) >= 4 * self.limit:
                break
        self._note(of_cuts=max(self.tried.of_cuts, len(found)))
        return [(positions, self._blind(positions)) for positions, _ in found[: self.limit]]

    def _blind(self, positions: np.ndarray) -> np.ndarray:
        """The queries that may use none of the positions."""
        b = self.boundary
        if b.is_chain:
            assert b.available is not None
            assert b.horizon is not None
            return np.flatnonzero(b.horizon < b.available[positions].min())
        return np.flatnonzero(~b.allowed(np.arange(b.queries)[:, None], positions[None, :]).any(axis=1))

    def _sets(self, rounds: Round, middle: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The sets of positions of a round, as many as are to be tried."""
        sets = self._all_sets(rounds, middle)
        if self.limits.thorough:
            yield from sets
            return
        yield from islice(sets, rounds.cuts)
        if not self.tried.fewer and next(sets, None) is not None:
            self._note(fewer=True)

    def _all_sets(self, rounds: Round, middle: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        if rounds.joint:
            yield from self.cuts(middle)
            return
        columns = np.arange(self.boundary.n)
        if self.suspects is not None:
            columns = columns[self.suspects.any(axis=0)]
        for j in _bisecting(columns.tolist())[: self.limit]:
            positions = np.array([j])
            blind = self._blind(positions)
            if blind.size:
                yield positions, blind

    # -- running -------------------------------------------------------------------------------------------------

    def run(self, x: Any, setting: Setting) -> np.ndarray:
        """One counted run; ModelError when the output's length is not the boundary's, or its width not what it was."""
        self._note(forwards=self.tried.forwards + 1)
        if self.limits.progress is not None:
            self.limits.progress(self.tried.forwards, setting.describe() or "as given")
        y = self.program.numbers(x, setting)
        if y.shape[0] != self.boundary.queries:
            raise ModelError(
                "the model's output",
                f"has {y.shape[0]} positions on one input and {self.boundary.queries} on another",
                "it must keep its shape when only values change",
            )
        width = max(of.columns.stop for of in self.outputs)
        if y.shape[1] != width:
            raise ModelError(
                "the model's output",
                f"has {y.shape[1]} numbers at a position on one input and {width} on another",
                "it must keep its shape when only values change",
            )
        return y

    def _note(self, **changes: Any) -> None:
        self.tried = replace(self.tried, **changes)

    def knows(self, setting: Setting, x: Any, y: np.ndarray) -> None:
        """The output on an input that was run before."""
        self._kept = (setting, x, y)

    def base(self, setting: Setting, x: Any) -> np.ndarray:
        """The output on the unchanged input, which is kept for the next question about it."""
        if self._kept is None or self._kept[0] != setting or self._kept[1] is not x:
            self._kept = (setting, x, self.run(x, setting))
        return self._kept[2]

    def replaced(self, positions: np.ndarray, how: Round, base: Any = None) -> Any:
        """The varied input with the positions replaced: other tokens, or noise of the input's spread times `scale`."""
        x, variation = self.program.input if base is None else base, self.program.variation
        if how.token is not None:
            return variation.mixed(x, x * 0 + how.token, positions)
        return variation.replaced(x, positions, how.scale, how.seed, self.vocabulary)

    def rounding(self, x: Any, setting: Setting, y: np.ndarray, rows: np.ndarray, of: Checked) -> float:
        """How far a tremor of a few last places in input and parameters moves the given rows of an output."""
        eps = 2.0**-52 if setting.precision == "float64" else self.epsilon
        worst = float(self._trembling(x, setting, y)[of.path][rows].max(initial=0.0))
        return worst if of.whole else max(worst, 4 * eps * _largest(y[rows][:, of.columns]), eps * 1e-3)

    def _trembling(self, x: Any, setting: Setting, y: np.ndarray) -> dict[str, np.ndarray]:
        """How far a tremor moves each row of each output: of the last two inputs, the unchanged one among them."""
        for known in self._trembled:
            if known[0] == setting and known[1] is x:
                self._trembled.sort(key=lambda other: other is not known)  # so that the other one is dropped first
                return known[2]
        wide = setting.precision == "float64"
        eps = 2.0**-52 if wide else self.epsilon
        worst = {of.path: np.zeros(len(y)) for of in self.outputs}
        for seed in range(11, 13 if wide else 19):  # coarse rounding comes in rare jumps
            shaken = replace(setting, tremor=2 * eps, tremor_seed=seed)
            after = self.run(self.program.variation.shaken(x, 2 * eps, seed, wide), shaken)
            for of in self.outputs:
                moved = _distance(after[:, of.columns], y[:, of.columns]).max(axis=1, initial=0.0)
                worst[of.path] = np.maximum(worst[of.path], moved)
        self._trembled = [(setting, x, worst), *self._trembled[:1]]
        return worst

    def find(
        self, setting: Setting, rounds: Sequence[Round] = ROUNDS, base: Any = None, middle: bool = False
    ) -> ModelWitness | None:
        """The first witness in this setting, or None; raises ModelError when the model does not run in it.

        `base` replaces the given input; `middle` begins with the cut in the middle, then the first.
        """
        self._note(settings=(*self.tried.settings, setting.describe() or "as given"))
        x = self.program.input if base is None else base
        y = self.base(setting, x)
        for how in rounds:
            if how.scale != 1.0 and self.program.subject.is_discrete:
                continue
            for count, (positions, blind) in enumerate(self._sets(how, middle)):
                if stopped := self.limits.reached(self.tried.forwards):
                    self._note(stopped=stopped)
                    return None
                what = (setting, how, positions.tobytes())
                if base is None and what in self._in_vain:
                    continue
                changed = self.replaced(positions, how, base)
                after = self.run(changed, setting)
                if how.joint:
                    self._note(cuts=max(self.tried.cuts, count + 1))
                for output in self.outputs:
                    noise = self._noise(x, changed, setting, (y, after), blind, output)
                    if noise is not None:
                        return self._witness(x, changed, setting, y, positions, noise, output)
                if base is None:
                    self._in_vain.add(what)
        return None

    def _moved(self, y: np.ndarray, after: np.ndarray, rows: np.ndarray) -> float | None:
        """The largest change over the rows, ignoring entries that are not finite in either run; None for no change."""
        those = _span(rows)
        a, b = y[those], after[those]
        if np.array_equal(a, b):
            return None
        return float(_distance(a, b).max()) or None

    def _noise(
        self, x: Any, changed: Any, setting: Setting, runs: tuple[np.ndarray, np.ndarray], rows: np.ndarray, of: Checked
    ) -> float | None:
        """How far rounding moves the rows of an output that moved beyond it; None where it explains what was seen.

        Rounding moves whole numbers not at all, or nothing is known of them: a tie may break either way.
        """
        y = runs[0][:, of.columns]
        moved = self._moved(y, runs[1][:, of.columns], rows)
        if moved is None:
            return None
        eps = 2.0**-52 if setting.precision == "float64" else self.epsilon
        if of.whole or moved > BEYOND_ROUNDING * 4 * eps * _largest(y[rows]):  # the least that `rounding` allows
            again = self.run(changed, setting)
            noise = max(self.rounding(x, setting, runs[0], rows, of), self.rounding(changed, setting, again, rows, of))
            noise = max(noise, self._moved(y, self.run(x, setting)[:, of.columns], rows) or 0.0)
            if not noise if of.whole else moved > BEYOND_ROUNDING * noise:
                return noise
        self._note(largest_rounding=max(self.tried.largest_rounding, moved))
        return None

    def confirms(self, witness: ModelWitness, setting: Setting) -> bool:
        """Whether the witness's two inputs differ beyond rounding in another setting, too."""
        x, changed = (witness.tensor(t) for t in witness.inputs)
        y, after = self.run(x, setting), self.run(changed, setting)
        rows = np.array([witness.query])
        of = next(c for c in self.outputs if witness.output in (None, c.path))
        if not np.isfinite(y[rows, of.columns]).any():
            return False
        return self._noise(x, changed, setting, (y, after), rows, of) is not None

    # -- the witness ---------------------------------------------------------------------------------------------

    def _witness(
        self,
        x: Any,
        changed: Any,
        setting: Setting,
        y: np.ndarray,
        positions: np.ndarray,
        noise: float,
        of: Checked,
    ) -> ModelWitness:
        """Narrow the changed positions down to as few as still show the leak, then the query that moves most."""
        y = y[:, of.columns]
        threshold, variation = BEYOND_ROUNDING * noise, self.program.variation

        def keep(some: np.ndarray) -> Any:
            return variation.mixed(x, changed, some)

        def leaks(some: np.ndarray) -> bool:
            moved = self._moved(y, self.run(keep(some), setting)[:, of.columns], self._blind(some))
            return moved is not None and moved > threshold

        some = positions
        while some.size > 1:
            half = some.size // 2
            kept = next((part for part in (some[:half], some[half:]) if leaks(part)), None)
            if kept is None:
                break
            some = kept
        final = keep(some)
        after = self.run(final, setting)[:, of.columns]
        blind = self._blind(some)
        d = _distance(y[blind], after[blind])
        row, feature = divmod(int(d.argmax()), d.shape[1])
        query = int(blind[row])
        subject = self.program.subject
        wide = setting.precision == "float64"
        return ModelWitness(
            query=query,
            position=int(some[0]),
            positions=tuple(int(j) for j in some),
            inputs=(variation.host(x, wide).copy(), variation.host(final, wide).copy()),
            outputs=(y[query].astype(np.float64), after[query].astype(np.float64)),
            feature=feature,
            rounding=noise,
            setting=setting,
            others=tuple(None if o is subject.input else o for o in subject.inputs),
            keywords={k: v for k, v in subject.keywords.items() if v is not subject.input},
            vary=subject.vary,
            tied=subject.tied,
            sequence_axis=subject.sequence_axis,
            output_axis=of.axis,
            output=of.path,
            dtype=variation.type_of(subject.input),
            program=self.program.about([of.path]),
            library=self.program.libraries[0],
        )


def _span(rows: np.ndarray) -> slice | np.ndarray:
    """Rows that follow each other as a slice, which copies nothing."""
    if rows.size and (np.diff(rows) == 1).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


def _largest(y: np.ndarray) -> float:
    """The largest magnitude among the numbers that are finite, 0 where there is none."""
    magnitude = np.abs(y).astype(np.float64)
    return float(np.where(np.isfinite(magnitude), magnitude, 0.0).max(initial=0.0))


def _distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How far apart two outputs are, number by number; 0 where one of them is not finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        d = np.abs(a.astype(np.float64) - b.astype(np.float64))
    return np.where(np.isfinite(d), d, 0.0)


def _bisecting(items: list[int]) -> list[int]:
    """The items in an order that covers the range ever more finely: first, last, middle, quarters…"""
    if len(items) <= 2:
        return items
    order, spans = [items[0], items[-1]], [(0, len(items) - 1)]
    while spans:
        following = []
        for a, b in spans:
            if b - a > 1:
                middle = (a + b) // 2
                order.append(items[middle])
                following += [(a, middle), (middle, b)]
        spans = following
    return order
