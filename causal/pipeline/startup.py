"""How many rows a pipeline needs before a row's values no longer move with where the history begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError
from ...libraries import library
from .alignment import Aligner, Unaligned
from .functions import as_function, call_with
from .inputs import read_tables
from .outputs import SET_OF_COLUMNS, Returned
from .state import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...aliases import Array
    from .tables import Tables

ENDS = 3  # rows at which values are compared
GROWTH = 1.5  # of the lengths tried
MOST_REFINED = 16  # lengths tried to close in on the smallest ones


@dataclass(frozen=True)
class Startup:
    """How much the values of each column at a row move with the number of rows before it.

    `lengths` are those numbers, in order, and `moves` has per column the largest difference from the values on the
    whole history, in shares of their size (inf: missing on one side alone), one per length; None where the function
    refuses so few rows. `needed` is per column the smallest length tried from which on it stays within `tolerance`,
    None where there is none.

    >>> import numpy as np
    >>> found = measure_startup(lambda x: np.convolve(x, np.ones(4), "full")[: len(x)], np.arange(1.0, 61.0))
    >>> found.needed
    {'y': 3}
    """

    lengths: tuple[int, ...]
    moves: Mapping[str, tuple[float | None, ...]]
    needed: Mapping[str, int | None]
    tolerance: float
    rows: int

    def __str__(self) -> str:
        names = list(self.moves)
        width = max(6, *(len(name) for name in names))
        shown = [n for i, n in enumerate(self.lengths) if i % max(1, len(self.lengths) // 8) == 0]
        head = f"  {'':<{width}}  {'needed':>8}  " + "  ".join(f"{n:>8}" for n in shown)
        most = max((n for n in self.needed.values() if n is not None), default=0)
        lacking = [name for name in names if self.needed[name] is None]
        need = (
            f"no number of rows up to {self.lengths[-1]} is enough for {', '.join(lacking)}"
            if lacking
            else f"{most} rows"
        )
        lines = [f"start-up within {self.tolerance:g} over {self.rows} rows: {need}", head]
        for name in names:
            at = dict(zip(self.lengths, self.moves[name], strict=True))
            cells = "  ".join(f"{_share(at[n]):>8}" for n in shown)
            lines.append(
                f"  {name:<{width}}  {self.needed[name] if self.needed[name] is not None else '–':>8}  {cells}"
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; an infinite move is written as "inf"."""
        moves = {name: [str(m) if m == float("inf") else m for m in of] for name, of in self.moves.items()}
        return {
            "schema_version": 1,
            "lengths": list(self.lengths),
            "moves": moves,
            "needed": dict(self.needed),
            "tolerance": self.tolerance,
            "rows": self.rows,
        }

    def plot(self, axes: Any = None) -> Any:
        """Draw the moves over the lengths, both in powers of ten, and return matplotlib's axes."""
        if axes is None:
            axes = library("matplotlib.pyplot", "a picture").subplots(figsize=(7, 4), layout="constrained")[1]
        for name, of in self.moves.items():
            told = [(n, max(m, 1e-17)) for n, m in zip(self.lengths, of, strict=True) if m is not None and m < np.inf]
            axes.plot(*(zip(*told, strict=True) if told else ((), ())), marker="o", markersize=3, label=name)
        axes.axhline(self.tolerance, color="grey", linestyle="--", linewidth=1)
        axes.set(xscale="log", yscale="log", xlabel="rows before", ylabel="largest move, in shares of the value")
        axes.legend()
        return axes


def _share(move: float | None) -> str:
    return "refused" if move is None else "missing" if move == np.inf else f"{move:.2g}"


def measure_startup(
    function: Any,
    data: Any,
    *,
    time: Any = None,
    group: Any = None,
    lengths: Sequence[int] | None = None,
    tolerance: float = 1e-6,
) -> Startup:
    """How the last row's values depend on how many rows come before it, at three rows of the second half.

    The arguments are as for `check_pipeline`, but that `data` is one table. `lengths`: how many rows (instants) to keep
    before the last one; None: 0, 1, 2, … in steps that grow, up to half of the data, and then closer to the smallest
    enough. What moves for want of rows is no look-ahead: give `check_pipeline` the largest `needed` as `startup=`.
    Raises TypeError or ValueError, one sentence each.
    """
    tables = read_tables(function, data, time, group, None)
    if tables.how != "one":
        raise ArgumentError("data", "holds several tables", "pass one")
    ranks = tables.clocks[0].ranks
    if ranks < 4:
        raise ArgumentError("data", f"has {ranks} instants", "measuring a start-up needs at least 4")
    tried = _growing(ranks // 2) if lengths is None else sorted({int(n) for n in lengths})
    if not tried or tried[0] < 0 or tried[-1] >= ranks // 2 + 1:
        remedy = f"pass numbers from 0 to {ranks // 2}"
        raise ArgumentError("lengths", "does not fit the data", remedy, list(lengths or ()))
    with State(function) as state:
        measure = _Measure(as_function(function), tables, state)
        moves = {n: measure.moves(n) for n in tried}
        if lengths is None:
            measure.refine(moves, tolerance)
    return _told(measure.names, dict(sorted(moves.items())), tolerance, tables.sources[0].n)


def _growing(most: int) -> list[int]:
    found = [0]
    while found[-1] < most:
        found.append(min(most, max(found[-1] + 1, int(found[-1] * GROWTH))))
    return found


class _Measure:
    """The values at a few rows on the whole history before them, and on shorter ones."""

    def __init__(self, function: Any, tables: Tables, state: State) -> None:
        self.function, self.tables, self.state = function, tables, state
        self.source, self.clock = tables.sources[0], tables.clocks[0]
        self.aligner = Aligner(self.source, self.clock)
        ranks = self.clock.ranks
        self.ends = sorted({int(end) for end in np.linspace(ranks // 2, ranks - 1, ENDS)})
        self.base = {end: self._at(end, -1) for end in self.ends}
        self.names = [n for n in self.aligner.names or () if n != SET_OF_COLUMNS]

    def _at(self, end: int, first: int) -> Returned:
        kept = (self.clock.own <= end) & (self.clock.own >= first)
        given = self.source.take(kept)
        self.state.put_back()
        with self.state.files.watched():
            result = call_with(self.function, "one", given)
        return self.aligner.read(result, np.flatnonzero(kept), getattr(given, "index", None))

    def moves(self, length: int) -> list[float] | None:
        """Per column the largest move at the rows compared; None where the function refuses so few rows."""
        found = np.zeros(len(self.names))
        for end in self.ends:
            try:
                short = self._at(end, end - length)
            except (Unaligned, ValueError, TypeError, IndexError, KeyError, ArithmeticError):
                return None
            found = np.maximum(found, self._moved(self.base[end], short, end))
        return found.tolist()

    def _moved(self, whole: Returned, short: Returned, end: int) -> Array:
        here, there = np.flatnonzero(whole.steps == end), np.flatnonzero(short.steps == end)
        _, left, right = np.intersect1d(whole.key[here], short.key[there], return_indices=True)
        if len(left) < len(here):
            return np.full(len(self.names), np.inf)
        pairs = list(zip(whole.names, whole.columns, short.columns, strict=True))
        return np.array([_move(x[here[left]], y[there[right]]) for name, x, y in pairs if name != SET_OF_COLUMNS])

    def refine(self, moves: dict[int, list[float] | None], tolerance: float) -> None:
        """Close in, by halves, on the smallest length that is enough, where it is known least for a column."""
        for _ in range(MOST_REFINED):
            enough = {_smallest(moves, tolerance, i) for i in range(len(self.names))}
            gaps = [(n - max(m for m in moves if m < n), n) for n in enough if n]
            gap, length = max(gaps, default=(0, 0))
            if gap < 2:
                return
            moves[length - gap // 2] = self.moves(length - gap // 2)


def _move(x: Array, y: Array) -> float:
    """By which share of their size the values of two runs differ; 1 for what is no number and differs."""
    if x.dtype.kind in "biufc" and y.dtype.kind in "biufc":
        x, y = x.astype(np.float64), y.astype(np.float64)
        lone = np.isnan(x) != np.isnan(y)
        with np.errstate(invalid="ignore"):
            gap = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y))
            share = np.where(gap == 0, 0.0, gap / np.maximum(np.abs(x), np.finfo(float).tiny))
        return float("inf") if lone.any() else float(share.max(initial=0.0))
    return float(any(a != b and not (a != a and b != b) for a, b in zip(x.tolist(), y.tolist(), strict=True)))


def _smallest(moves: Mapping[int, list[float] | None], tolerance: float, column: int) -> int | None:
    """The length from which on a column stays within the tolerance."""
    enough = None
    for length in sorted(moves, reverse=True):
        of = moves[length]
        if of is None or of[column] > tolerance:
            break
        enough = length
    return enough


def _told(names: Sequence[str], moves: Mapping[int, list[float] | None], tolerance: float, rows: int) -> Startup:
    by_column = {name: tuple(None if of is None else of[i] for of in moves.values()) for i, name in enumerate(names)}
    needed = {name: _smallest(moves, tolerance, i) for i, name in enumerate(names)}
    return Startup(tuple(moves), by_column, needed, tolerance, rows)
