"""Running a function again on a cut series: with the future taken away, and with the future replaced (T17).

Each replay compares the rows that were settled at the cut with the same rows of the run on everything.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .alignment import (
    Aligner,
    Clock,
    Difference,
    Unaligned,
    compare,
    largest_difference,
    rounding_limits,
)
from .frames import Array, Kind, Output, Source, library_of, shown_time

TRUNCATION = "truncation"
REPLACEMENTS = ("high", "low", "draw")
MOST_RANKS_KEPT = 4096


@dataclass(frozen=True)
class Replay:
    """One call: the cut, and "truncation" or the way in which the future is replaced."""

    cut: int
    kind: str


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


def as_function(function: Any) -> Callable[[Any], Any]:
    """A callable from a callable or a transformer, which is cloned for each call.

    Raises TypeError for anything else.
    """
    if hasattr(function, "fit_transform"):
        return _FitTransform(function)
    if hasattr(function, "transform") and not callable(function):
        return _Transform(function)
    if callable(function):
        return function
    raise TypeError(
        f"function is {type(function).__name__}; pass a callable, or an object with fit_transform or transform"
    )


@dataclass(frozen=True)
class _FitTransform:
    estimator: Any

    def __call__(self, data: Any) -> Any:
        fresh = copy.deepcopy(self.estimator)
        table = data.reshape(-1, 1) if library_of(data) == "numpy" and data.ndim == 1 else data
        return fresh.fit_transform(table)


@dataclass(frozen=True)
class _Transform:
    estimator: Any

    def __call__(self, data: Any) -> Any:
        return copy.deepcopy(self.estimator).transform(data)


class Runner:
    """A function, its input, the run on everything, and further runs compared with it."""

    def __init__(self, function: Any, source: Source, clock: Clock, seed: int) -> None:
        self.function, self.source, self.clock, self.seed = as_function(function), source, clock, seed
        self.aligner = Aligner(source, clock)
        self.calls = 0
        self.mutates: str | None = None
        self.everything = np.arange(source.n)
        began = time.perf_counter()
        given = source.copy()
        try:
            result = self.call(given)
        except Refused as error:
            raise ValueError(f"function raises {error} on the whole data; it must run on that") from error.__cause__
        self.seconds = time.perf_counter() - began
        self.mutates = _spoilt(source, given)
        self.base = self.aligner.read(result, self.everything, getattr(source.data, "index", None))
        self.limits = rounding_limits(self.base)
        self.noise = self._noise()

    def call(self, given: Any) -> Any:
        """One call of the function; Refused when it raises."""
        self.calls += 1
        try:
            return self.function(given)
        except Exception as error:
            raise Refused(f"{type(error).__name__} ({error})") from error

    def again(self) -> Output:
        """The function on everything once more."""
        return self.aligner.read(
            self.call(self.source.copy()), self.everything, getattr(self.source.data, "index", None)
        )

    def _noise(self) -> list[float]:
        """Per column how far two runs on equal input are apart; columns that agree have 0."""
        began = time.perf_counter()
        other = self.again()
        self.seconds = min(self.seconds, time.perf_counter() - began)
        if not np.array_equal(self.base.key, other.key):
            return [float("inf")] * len(self.base.names)
        found = []
        difference = compare(self.base, other, int(self.base.rank.max(initial=0)), self.limits)
        for i, (x, y) in enumerate(zip(self.base.columns, other.columns, strict=True)):
            found.append(largest_difference(x, y) if difference.count(i) else 0.0)
        self.limits = [max(limit, 10 * noise) for limit, noise in zip(self.limits, found, strict=True)]
        return found

    def modified(self, replay: Replay, only: Collection[str] | None = None, where: Array | None = None) -> Any:
        """The input of a replay; `only` restricts a replacement to columns, `where` (n,) to rows."""
        kept = self.clock.kept(replay.cut)
        if replay.kind == TRUNCATION:
            return self.source.take(kept)
        future = ~kept if where is None else ~kept & where
        seed = [self.seed, replay.cut + 1, REPLACEMENTS.index(replay.kind)]
        return self.source.replaced(
            future, cast(Kind, replay.kind), int(np.random.SeedSequence(seed).generate_state(1)[0]), only
        )

    def difference(
        self,
        replay: Replay,
        only: Collection[str] | None = None,
        where: Array | None = None,
        base: Output | None = None,
    ) -> Difference:
        """A replay compared with the run on everything. Raises Refused when the function raises."""
        given = self.modified(replay, only, where)
        truncated = replay.kind == TRUNCATION
        kept = self.clock.kept(replay.cut)
        rows = np.flatnonzero(kept) if truncated else self.everything
        index = getattr(given, "index", None)
        other = self.aligner.read(self.call(given), rows, index)
        return compare(base or self.base, other, replay.cut, self.limits, kept if truncated else None)

    def run(self, replay: Replay) -> Summary:
        """A replay, summarised; a failing replacement beyond the range is tried again within it."""
        rows = int(self.clock.kept(replay.cut).sum())
        if replay.kind == TRUNCATION and rows == 0:
            return Summary(replay)
        try:
            return self.summary(replay, self.difference(replay))
        except Refused as error:
            if replay.kind in ("high", "low"):
                return self.run(Replay(replay.cut, "draw"))
            return Summary(replay, failed=f"function raises {error}", rows=rows)
        except Unaligned as error:
            return Summary(replay, failed=str(error).partition(",")[0].partition(";")[0], rows=rows)

    def summary(self, replay: Replay, difference: Difference) -> Summary:
        """A difference without its arrays."""
        findings = []
        for i in range(len(self.base.names)):
            if difference.count(i):
                rank, entry = difference.earliest(i)
                ranks = difference.ranks(i) if self.clock.ranks <= MOST_RANKS_KEPT else None
                row, label = self.row_of(difference, rank, entry)
                findings.append((i, Finding(difference.count(i), rank, row, label, difference.values(i, entry), ranks)))
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


def _spoilt(source: Source, given: Any) -> str | None:
    """What a function changed in its input, in words; None when it changed nothing."""
    if source.library == "polars":
        return None  # immutable but for columns added in place, which copies catch
    if source.library == "numpy":
        same = given.shape == source.data.shape and bool(
            np.array_equal(given, source.data, equal_nan=given.dtype.kind in "fc")
        )
        return None if same else "its array"
    if given.equals(source.data):
        return None
    if given.ndim == 1 or list(given.columns) != list(source.data.columns) or len(given) != len(source.data):
        return "its series" if given.ndim == 1 else "its rows or columns"
    changed = [str(name) for name in given.columns if not given[name].equals(source.data[name])]
    return f"column {', '.join(changed)}" if changed else "its index"


__all__ = ["REPLACEMENTS", "TRUNCATION", "Finding", "Refused", "Replay", "Runner", "Summary", "as_function"]
