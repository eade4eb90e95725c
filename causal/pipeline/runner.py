"""Running a function again on a cut series: with the future taken away, and with the future replaced (T17).

Each replay compares the rows that were settled at the cut with the same rows of the run on everything.
"""

from __future__ import annotations

import contextvars
import time
import traceback
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ownership import is_own_file
from .alignment import Aligner, Unaligned
from .comparison import Difference, compare_settled
from .frames import shown_time
from .fresh import Fresh
from .functions import as_function, call_with
from .mutation import spoilt
from .outputs import SET_OF_COLUMNS, Returned
from .replay import NUMBERS, TRUNCATION, Place, Replay, Rewrite, Trial
from .rounding import Tolerance, differs, largest_difference, tolerances
from .state import State
from .words import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ...aliases import Array
    from .tables import Tables, Where

MOST_RANKS_KEPT = 4096
FAR_ABOVE = 100.0  # times the largest difference between equal runs: what noise does not explain
NEAR = 10.0  # times it: what it does


class Refused(Exception):
    """The function raised; the message says what."""


class Runner:
    """A function, its input, the run on everything, and further runs compared with it."""

    def __init__(self, function: Any, tables: Tables, seed: int, state: State) -> None:
        self.function, self.tables, self.seed, self.state = as_function(function), tables, seed, state
        self.source, self.clock = tables.sources[0], tables.clocks[0]
        self.aligner = Aligner(self.source, self.clock)
        self.calls, self.repeats = 0, 1
        self.after_call: Callable[[], None] | None = None
        self.everything = np.arange(self.source.n)
        with Fresh(self.function, tables.how, tables.taken(self._middle)) as fresh:
            began = time.monotonic()
            self._run_on_everything()
            self.state.put_back()
            self.is_fresh = self._agrees(fresh.result(time.monotonic() - began))

    def _run_on_everything(self) -> None:
        given = self.tables.copies()
        try:
            result = self.call(given)
        except Refused as error:
            where = _place_of(error.__cause__)
            problem = f"function raises {error} on the whole data{where}; it must run on that"
            raise ValueError(f"{problem}: call it yourself to see more") from error.__cause__
        self.mutates = spoilt(self.tables, given)
        del given  # tables may be large: no more of them at a time than a call needs
        self.base = _kept(self._read_whole(result))
        if self.aligner.is_anonymous(self.base, getattr(result, "index", None)) and self._is_newest_first():
            self.aligner.backwards = True
            self.base = _kept(self._read_whole(result))
        del result
        self.rounding = tolerances(self.base.columns, self.tables.scale())
        self.remembers: list[str] = []  # columns that are others in a fresh process
        self.noise = [0.0] * len(self.base.names)  # by how much each column differs between runs on equal input
        self.repeat()

    def limits(self, times: float = FAR_ABOVE) -> list[Tolerance]:
        """Up to what difference the entries of a column are the same: rounding, or many `times` its noise."""
        several = zip(self.rounding, self.noise, self.base.columns, strict=True)
        return [limit.above(times * size, column) for limit, size, column in several]

    def call(self, given: Any) -> Any:
        """One call of the function, before which what it keeps is put back; Refused when it raises."""
        self.count_call()
        self.state.put_back()
        try:
            with warnings.catch_warnings(), self.state.files.watched():
                if self.calls > 1:  # what it says of replaced values is nobody's concern
                    warnings.simplefilter("ignore")
                return contextvars.copy_context().run(call_with, self.function, self.tables.how, given)
        except Exception as error:
            raise Refused(f"{type(error).__name__} ({error})") from error

    def count_call(self) -> None:
        """Count a call that is made here, or was made in another process."""
        self.calls += 1
        if self.after_call is not None:
            self.after_call()

    def __getstate__(self) -> dict[str, Any]:
        """Without the state, which is each process's own."""
        return {name: value for name, value in vars(self).items() if name not in ("state", "after_call")}

    def __setstate__(self, members: dict[str, Any]) -> None:
        vars(self).update(members)
        self.after_call = None
        self.state = State(self.function)

    def _read_whole(self, result: Any) -> Returned:
        return self.aligner.read(result, self.everything, self._index_of(self.source.data, whole=True))

    def _index_of(self, given: Any, whole: bool = False) -> Any:
        """The index of the first table that was given, where the function sees one."""
        if self.source.library != "pandas" or self.source.back is not None:
            return None
        return (given if whole else self.tables.listed(given)[0]).index

    @property
    def _middle(self) -> int:
        return (self.clock.ranks - 1) // 2

    def _agrees(self, fresh: list[Any]) -> bool:
        """Whether there is a result of a fresh process; by how much it differs from the same call here is noise."""
        if not fresh:
            return False
        cut = self._middle
        rows, index = (
            np.flatnonzero(self.clock.kept(cut)),
            self._index_of(self.tables.taken(cut)),
        )
        try:
            there = _kept(self.aligner.read(fresh[0], rows, index))
            here = self.aligner.read(self.call(self.tables.taken(cut)), rows, index)
        except (Refused, Unaligned, ValueError, TypeError):
            return False
        difference = compare_settled(here, there, self.clock.ranks, self.rounding)
        for i, (x, y) in enumerate(zip(here.columns, there.columns, strict=True)):
            if difference.count(i):
                self.remembers.append(self.base.names[i])
                size = largest_difference(x, y) if len(x) == len(y) else float("inf")
                self.noise[i] = max(self.noise[i], size or float("inf"))
        return True

    def _is_newest_first(self) -> bool:
        """Whether the rows of a prefix are what the whole ends with, and not what it begins with."""
        cut = self.clock.ranks // 2 - 1
        rows = np.flatnonzero(self.clock.kept(cut))
        m = len(rows)
        if not 2 <= m < self.source.n or not np.array_equal(rows, np.arange(m)):
            return False
        given = self.tables.taken(cut)
        try:
            short = self.aligner.read(self.call(given), rows, self._index_of(given))
        except (Refused, Unaligned):
            return False
        both = zip(self.base.columns, short.columns, strict=True)
        columns = [(x, y) for x, y in both if len(y) == m and y.strides != (0,)]
        first = sum(int((~differs(x[:m], y)).sum()) for x, y in columns)
        last = sum(int((~differs(x[-m:], y)).sum()) for x, y in columns)
        return last > len(columns) * m / 2 and last > 2 * first

    def repeat(self) -> None:
        """The function on everything once more; `noise` keeps by how much the columns differ from the first run."""
        self.repeats += 1
        try:
            other = self._read_whole(self.call(self.tables.copies()))
        except (Refused, Unaligned) as error:
            raise ValueError(
                f"function raises {error} when it is called again with the same data; it must run more than once"
            ) from error.__cause__
        if not np.array_equal(self.base.key, other.key):
            self.noise = [float("inf")] * len(self.base.names)
            return
        difference = compare_settled(self.base, other, int(self.base.rank.max(initial=0)), self.rounding)
        for i, (x, y) in enumerate(zip(self.base.columns, other.columns, strict=True)):
            if difference.count(i):
                self.noise[i] = max(self.noise[i], largest_difference(x, y))

    def modified(self, replay: Replay, only: Collection[Place] | None = None, where: Where = None) -> Any:
        """The input of a replay; `only` restricts a replacement to columns, `where` to rows of each table."""
        if replay.kind == TRUNCATION:
            return self.tables.taken(replay.cut)
        return self.tables.replaced(replay, self.seed, only, where)

    def difference(self, replay: Replay, only: Collection[Place] | None = None, where: Where = None) -> Difference:
        """A replay compared with the run on everything. Raises Refused when the function raises."""
        given = self.modified(replay, only, where)
        truncated = replay.kind == TRUNCATION
        kept = self.clock.kept(replay.cut)
        rows = np.flatnonzero(kept) if truncated else self.everything
        index = self._index_of(given)
        result = self.call(given)
        del given
        other = self.aligner.read(result, rows, index)
        return compare_settled(self.base, other, replay.cut, self.limits(), kept if truncated else None)

    def confirmed(self, replays: Collection[Replay], rounds: int = 2) -> dict[Replay, dict[int, Rewrite]]:
        """Per replay the columns that it rewrites in every round, each time to the same values, far above their noise.

        Between them the unchanged input is run again, so that noise shows; what differs in other ways than by numbers,
        such as in its rows, is confirmed by none.
        """
        found: dict[Replay, dict[int, Rewrite]] = {}
        first: dict[Replay, Returned] = {}
        for _ in range(rounds if replays else 0):
            self.repeat()
            for replay in replays:
                found[replay] = self._again(replay, found.get(replay), first)
        return {replay: self._outstanding(replay, of, first.get(replay)) for replay, of in found.items()}

    def _again(
        self, replay: Replay, found: dict[int, Rewrite] | None, first: dict[Replay, Returned]
    ) -> dict[int, Rewrite]:
        """What a replay rewrites, at first (None) or once more; its first output is kept where that tells."""
        try:
            difference = self.difference(replay)
        except (Refused, Unaligned):
            return {}
        if found is None:
            found = self.rewrites(difference)
            first[replay] = _kept(difference.other, found)
        elif found:
            apart = compare_settled(first[replay], difference.other, replay.cut, self.limits(NEAR), only=found)
            found = {n: r for n, r in found.items() if difference.count(n) and not apart.count(n)}
        return found

    def _outstanding(self, replay: Replay, found: dict[int, Rewrite], seen: Returned | None) -> dict[int, Rewrite]:
        """Those of the rewritten columns that differ by far more than the noise that was seen in the end."""
        if not found or seen is None or not any(self.noise[n] for n in found):
            return found
        kept = self.clock.kept(replay.cut) if replay.kind == TRUNCATION else None
        apart = compare_settled(self.base, seen, replay.cut, self.limits(), kept, only=found)
        return {n: r for n, r in found.items() if np.isfinite(self.noise[n]) and apart.count(n)}

    def run(self, replay: Replay) -> Trial:
        """A replay, run; a failing replacement is tried again with the data's own values, then with numbers."""
        rows = int(self.clock.kept(replay.cut).sum())
        if replay.kind == TRUNCATION and rows == 0:
            return Trial(replay)
        try:
            difference = self.difference(replay)
        except Refused as error:
            if replay.kind not in (TRUNCATION, NUMBERS):
                return self.run(Replay(replay.cut, NUMBERS if replay.kind == "draw" else "draw", replay.table))
            return Trial(replay, failed=f"function raises {error}", rows=rows)
        except Unaligned as error:
            return Trial(replay, failed=str(error).partition(",")[0].partition(";")[0], rows=rows)
        found, empty = tuple(self.rewrites(difference).items()), not len(difference.other.key)
        return Trial(replay, difference.compared, found, rows=rows, empty=empty)

    def rewrites(self, difference: Difference) -> dict[int, Rewrite]:
        """The columns in which two runs differ, by number, without the runs themselves."""
        found = {}
        for i, name in enumerate(self.base.names):
            if difference.count(i):
                rank, entry = difference.earliest(i)
                ranks = difference.ranks(i) if self.clock.ranks <= MOST_RANKS_KEPT else None
                values = difference.values(i, entry)
                if name == SET_OF_COLUMNS:
                    values = _names_apart(*values)
                found[i] = Rewrite(difference.count(i), rank, *self.row_of(difference, entry), values, ranks)
        return found

    def row_of(self, difference: Difference, entry: int) -> tuple[int, str]:
        """A changed entry as a row (of the input where it has one, otherwise of the output) and as words."""
        output, at = (difference.base, entry) if entry >= 0 else (difference.other, -1 - entry)
        if output.key.dtype.kind == "i":
            row = int(output.key[at])
            when = (
                "" if self.source.times is None else f" (time {shown_time(self.source.times[row], self.source.zone)})"
            )
            return row, f"row {row}{when}"
        return at, f"row of time {shown_time(output.labels[at], self.source.zone)}"


def _place_of(error: BaseException | None) -> str:
    """Where the user's own code raised: file and line."""
    steps = traceback.extract_tb(error.__traceback__) if error is not None else []
    own = [step for step in steps if is_own_file(step.filename)]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def _kept(output: Returned, only: Collection[int] | None = None) -> Returned:
    """An output that stays as it is when the function uses the room of its result again; `only` some of its columns."""
    columns = [_copy(c) if only is None or n in only else np.empty(0, c.dtype) for n, c in enumerate(output.columns)]
    several = only is None or any(output.names[n] == SET_OF_COLUMNS for n in only)
    named = dict(zip(output.names, columns, strict=True)) if only is None else {}
    own = {name: named[name] if name in named else _copy(c) for name, c in output.own.items()} if several else {}
    return replace(output, columns=columns, own=own)


def _copy(column: Array) -> Array:
    return column if column.strides == (0,) else column.copy()


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
