"""Running a function again on a cut series: with the future taken away, and with the future replaced (T17).

Each replay compares the rows that were settled at the cut with the same rows of the run on everything.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .alignment import Aligner, Unaligned
from .comparison import Difference, compare_settled
from .frames import Array, shown_time
from .functions import as_function
from .mutation import spoilt
from .outputs import SET_OF_COLUMNS, Returned
from .replay import NUMBERS, TRUNCATION, Place, Replay
from .rounding import largest_difference, tolerances
from .state import State
from .tables import Tables

__all__ = ["Finding", "Refused", "Runner", "Summary", "listed"]

MOST_RANKS_KEPT = 4096


@dataclass(frozen=True)
class Finding:
    """What changed in one column: how many settled entries, and the earliest of them."""

    count: int
    rank: int
    row: int
    label: str
    values: tuple[Any, Any]
    ranks: Array | None


@dataclass(frozen=True)
class Summary:
    """One replay's result: entries compared per column, findings by column number, or why the function failed."""

    replay: Replay
    compared: int = 0
    findings: tuple[tuple[int, Finding], ...] = ()
    failed: str | None = None
    rows: int = 0


class Refused(Exception):
    """The function raised; the message says what."""


class Runner:
    """A function, its input, the run on everything, and further runs compared with it."""

    def __init__(self, function: Any, tables: Tables, seed: int, state: State) -> None:
        self.function, self.tables, self.seed, self.state = as_function(function), tables, seed, state
        self.source, self.clock = tables.sources[0], tables.clocks[0]
        self.aligner = Aligner(self.source, self.clock)
        self.calls, self.repeats = 0, 1
        self.everything = np.arange(self.source.n)
        began = time.perf_counter()
        given = tables.copies()
        try:
            result = self.call(given)
        except Refused as error:
            raise ValueError(f"function raises {error} on the whole data; it must run on that") from error.__cause__
        self.seconds = time.perf_counter() - began
        self.mutates = spoilt(tables, given)
        self.base = _kept(self.aligner.read(result, self.everything, getattr(self.source.data, "index", None)))
        self.limits = tolerances(self.base.columns, tables.scale())
        self.noise = [0.0] * len(self.base.names)
        began = time.perf_counter()
        self.unsteady(self.again())
        self.seconds = min(self.seconds, time.perf_counter() - began)

    def call(self, given: Any) -> Any:
        """One call of the function, before which what it keeps is put back; Refused when it raises."""
        self.calls += 1
        self.state.put_back()
        try:
            with warnings.catch_warnings():
                if self.calls > 1:  # what it says of replaced values is nobody's concern
                    warnings.simplefilter("ignore")
                result = self.tables.call(self.function, given)
                return result.collect() if type(result).__name__ == "LazyFrame" else result
        except Exception as error:
            raise Refused(f"{type(error).__name__} ({error})") from error

    def __getstate__(self) -> dict[str, Any]:
        """Without the state, which is each process's own."""
        return {name: value for name, value in vars(self).items() if name != "state"}

    def __setstate__(self, members: dict[str, Any]) -> None:
        vars(self).update(members)
        self.state = State(self.function)

    def again(self) -> Returned:
        """The function on everything once more."""
        self.repeats += 1
        return self.aligner.read(
            self.call(self.tables.copies()), self.everything, getattr(self.source.data, "index", None)
        )

    def unsteady(self, other: Returned) -> set[int]:
        """The columns in which another run on equal input differs from the first one; `noise` keeps by how much."""
        if not np.array_equal(self.base.key, other.key):
            self.noise = [float("inf")] * len(self.base.names)
        else:
            difference = compare_settled(self.base, other, int(self.base.rank.max(initial=0)), self.limits)
            for i, (x, y) in enumerate(zip(self.base.columns, other.columns, strict=True)):
                if difference.count(i):
                    self.noise[i] = max(self.noise[i], largest_difference(x, y))
        return {i for i, noise in enumerate(self.noise) if noise}

    def modified(self, replay: Replay, only: Collection[Place] | None = None, where: Array | None = None) -> Any:
        """The input of a replay; `only` restricts a replacement to columns, `where` (n,) to rows of the first table."""
        if replay.kind == TRUNCATION:
            return self.tables.taken(replay.cut)
        return self.tables.replaced(replay, self.seed, only, where)

    def difference(
        self, replay: Replay, only: Collection[Place] | None = None, where: Array | None = None
    ) -> Difference:
        """A replay compared with the run on everything. Raises Refused when the function raises."""
        given = self.modified(replay, only, where)
        truncated = replay.kind == TRUNCATION
        kept = self.clock.kept(replay.cut)
        rows = np.flatnonzero(kept) if truncated else self.everything
        index = getattr(self.tables.listed(given)[0], "index", None)
        other = self.aligner.read(self.call(given), rows, index)
        return compare_settled(self.base, other, replay.cut, self.limits, kept if truncated else None)

    def confirmed(self, replays: Collection[Replay], rounds: int = 2) -> dict[Replay, dict[int, Finding]]:
        """Per replay the columns that it rewrites in every round, each time to the same values.

        Between them the unchanged input is run again; columns in which these runs differ are confirmed by none.
        """
        found: dict[Replay, dict[int, Finding]] = {}
        first: dict[Replay, Returned] = {}
        for number in range(rounds if replays else 0):
            self.unsteady(self.again())
            for replay in replays:
                try:
                    difference = self.difference(replay)
                except (Refused, Unaligned):
                    found[replay] = {}
                    continue
                if number == 0:
                    found[replay] = dict(self.summary(replay, difference).findings)
                    first[replay] = _kept(difference.other)
                elif found[replay]:
                    apart = compare_settled(first[replay], difference.other, replay.cut, self.limits)
                    same = [n for n in found[replay] if difference.count(n) and not apart.count(n)]
                    found[replay] = {n: found[replay][n] for n in same}
        return {replay: {n: f for n, f in of.items() if not self.noise[n]} for replay, of in found.items()}

    def run(self, replay: Replay) -> Summary:
        """A replay, summarised; a failing replacement is tried again with the data's own values, then with numbers."""
        rows = int(self.clock.kept(replay.cut).sum())
        if replay.kind == TRUNCATION and rows == 0:
            return Summary(replay)
        try:
            return self.summary(replay, self.difference(replay))
        except Refused as error:
            if replay.kind not in (TRUNCATION, NUMBERS):
                return self.run(Replay(replay.cut, NUMBERS if replay.kind == "draw" else "draw", replay.table))
            return Summary(replay, failed=f"function raises {error}", rows=rows)
        except Unaligned as error:
            return Summary(replay, failed=str(error).partition(",")[0].partition(";")[0], rows=rows)

    def summary(self, replay: Replay, difference: Difference) -> Summary:
        """A difference without its arrays."""
        findings = []
        for i, name in enumerate(self.base.names):
            if difference.count(i):
                rank, entry = difference.earliest(i)
                ranks = difference.ranks(i) if self.clock.ranks <= MOST_RANKS_KEPT else None
                row, label = self.row_of(difference, rank, entry)
                values = difference.values(i, entry)
                if name == SET_OF_COLUMNS:
                    values = _names_apart(*values)
                findings.append((i, Finding(difference.count(i), rank, row, label, values, ranks)))
        return Summary(replay, difference.compared, tuple(findings), None, int(self.clock.kept(replay.cut).sum()))

    def row_of(self, difference: Difference, rank: int, entry: int) -> tuple[int, str]:
        """A changed entry as a row (of the input where it has one, otherwise of the output) and as words."""
        output, at = (difference.base, entry) if entry >= 0 else (difference.other, -1 - entry)
        if output.key.dtype.kind == "i":
            row = int(output.key[at])
            when = "" if self.source.times is None else f" (time {shown_time(self.source.times[row])})"
            return row, f"row {row}{when}"
        return at, f"row of time {shown_time(output.labels[at])}"

    def run_all(
        self, replays: Iterable[Replay], workers: int | None, progress: Callable[[int, int], None] | None
    ) -> Iterator[Summary]:
        """Every replay's summary, in order; in `workers` processes when that is more than one."""
        wanted = list(replays)
        if not workers or workers == 1 or len(wanted) < 2:
            for done, replay in enumerate(wanted, 1):
                yield self.run(replay)
                if progress is not None:
                    progress(done, len(wanted))
            return
        import pickle
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import get_context

        try:
            state = pickle.dumps(self)
        except Exception as error:
            raise ValueError(
                f"function cannot be sent to other processes ({error}); define it in a module, or leave out workers"
            ) from None
        try:
            with ProcessPoolExecutor(workers, get_context("spawn"), _receive, (state,)) as pool:
                for done, summary in enumerate(pool.map(_run, wanted), 1):
                    self.calls += 1
                    yield summary
                    if progress is not None:
                        progress(done, len(wanted))
        except BrokenProcessPool:
            raise ValueError(
                f"workers = {workers} processes could not load the function or ended early; define it in a module that "
                "they can import, or leave out workers"
            ) from None


_RUNNER: list[Runner] = []


def _receive(state: bytes) -> None:
    import pickle

    _RUNNER[:] = [pickle.loads(state)]


def _run(replay: Replay) -> Summary:
    return _RUNNER[0].run(replay)


def _kept(output: Returned) -> Returned:
    """An output that stays as it is when the function uses the room of its result again."""
    return replace(output, columns=[c if c.strides == (0,) else c.copy() for c in output.columns])


def _names_apart(before: str, after: str, most: int = 6) -> tuple[str, str]:
    """Two lists of column names as text: whole where short, otherwise what the other lacks."""
    left, right = before.split(", "), after.split(", ")
    if "no row" in (before, after) or max(len(left), len(right)) <= most:
        return before, after
    here, there = [n for n in left if n not in right], [n for n in right if n not in left]
    if not here and not there:
        return "an order of columns", "another order"
    return (
        f"{len(left)} columns, {listed(here) or 'none'} only here",
        f"{len(right)}, {listed(there) or 'none'} only here",
    )


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names with commas, at most `most` of them and then how many more."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
