"""Which row of one run is which row of another: by time, by label, or by position where nothing else can be meant.

Rows are named by the index, by time, or by nothing but their order; see `Aligner`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .clock import NEVER, Clock, count_within
from .frames import comparable, zone_of
from .inputs import group_numbers
from .outputs import SET_OF_COLUMNS, Returned, read_columns

if TYPE_CHECKING:
    from ...aliases import Array
    from .source import Source


class _NoColumn:
    """The entries of a column that a result lacks: missing ones, so that a column without a value yet is no other."""

    def __ne__(self, other: object) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "no column"


NO_COLUMN = _NoColumn()


class Unaligned(ValueError):
    """Rows that nothing says which they are."""


class Aligner:
    """Reads results so that rows of different runs can be told to be the same; `mode` is settled by the first result.

    "rows": one row per input row, in order, or newest first where `backwards`. "labels": input rows named by the index.
    "times": rows named by time, group and their count within these. Where the first result's times are its rows' own,
    those of every other result tell its rows, whatever it did to their order, index or number.
    """

    def __init__(self, source: Source, clock: Clock) -> None:
        self.source, self.clock, self.mode = source, clock, ""
        self.names: list[str] | None = None
        self.timed = False  # whether places or labels and times say the same of the first result
        self.backwards = False

    def read(self, result: Any, rows: Array, given: Any = None) -> Returned:
        """What the function returned for the input rows `rows`, whose pandas index was `given` (None: no index).

        Raises TypeError or ValueError, one sentence each: no table, other columns than before, rows that cannot be
        aligned.
        """
        if result is None and self.mode:
            raise Unaligned("function returned nothing")
        names, columns, index, single = read_columns(result)
        if not names and not self.names:
            raise ValueError("function returned no columns; return at least one")
        m = len(columns[0]) if columns else len(result)
        own = dict(zip(names, columns, strict=True))
        if not single:
            columns = [*columns, _constant(", ".join(names) or "none", m)]
            names = [*names, SET_OF_COLUMNS]
        if self.names is None:
            self.names = names
        elif names != self.names:
            names, columns = self.names, self._named(names, columns)
        if not self.mode:
            self.mode = self._mode(result, index, m, rows, given)
            where = self._labelled(index, rows, given) if self.mode == "labels" else rows
            self.timed = self.mode != "times" and where is not None and self._agree(result, index, where)
        if self.mode == "times":
            return replace(self._by_time(result, names, columns, index), own=own)
        if self.mode == "labels":
            where = self._labelled(index, rows, given)
            if self.timed and (where is None or not self._agree(result, index, where)):
                where = self._looked_up(result, index, rows)
            if where is None:
                raise Unaligned("function returned row labels that its input lacks; keep the index or the time column")
            return replace(self._by_row(names, columns, where[::-1] if self.backwards else where), own=own)
        if self.timed and (m != len(rows) or not self._agree(result, index, rows)):
            rows_named = self._looked_up(result, index, rows)
            if rows_named is None:
                raise Unaligned(
                    "function returned times that do not tell its rows apart; keep the group column as well"
                )
            return replace(self._by_row(names, columns, rows_named), own=own)
        if m != len(rows):
            raise Unaligned(
                f"function returned {m} rows for {len(rows)}, and nothing says which rows these are; "
                "keep the index or the time column, or return one row per input row"
            )
        return replace(self._by_row(names, columns, rows[::-1] if self.backwards else rows), own=own)

    @property
    def pairing(self) -> str:
        """By what rows of two runs are told to be the same, in words."""
        if self.mode == "times" or self.timed:
            return "their time" if self.source.groups is None else "their time and group"
        if self.backwards:
            return "their place, newest first"
        return {"rows": "their place", "labels": "the index"}[self.mode]

    def is_anonymous(self, returned: Returned, index: Any) -> bool:
        """Whether the data has times and nothing but their places tells which rows a result's are."""
        fresh = index is None or _is_fresh(index, len(returned.key))
        timed = self.source.times is None or self.source.library == "numpy" or self.timed or self.mode == "times"
        return fresh and not timed and self.source.groups is None

    def _named(self, names: list[str], columns: list[Array]) -> list[Array]:
        """The columns of the first result, taken from a result that has others; ValueError where names mean nothing."""
        assert self.names is not None
        if len(names) == len(self.names) == 1:
            return columns
        if SET_OF_COLUMNS not in names or SET_OF_COLUMNS not in self.names:
            raise ValueError(
                f"function returned columns {', '.join(names)} for one input and {', '.join(self.names)} for another; "
                "return the same columns for every prefix"
            )
        absent = _constant(NO_COLUMN, len(columns[0]))
        return [columns[names.index(name)] if name in names else absent for name in self.names]

    def _mode(self, result: Any, index: Any, m: int, rows: Array, given: Any) -> str:
        times = self._times_of(result, index)
        if m == len(rows) and (times is None or np.array_equal(times, self._source_times(rows))):
            by_label = index is not None and not _is_fresh(index, m) and self._labelled(index, rows, given) is not None
            return "labels" if by_label or (index is not None and given is not None and index.equals(given)) else "rows"
        if index is not None and self._labelled(index, rows, given) is not None and not _is_fresh(index, m):
            return "labels"
        return "times" if times is not None else "rows"

    def _source_times(self, rows: Array) -> Any:
        return None if self.source.times is None else self.source.times[rows]

    def _times_of(self, result: Any, index: Any) -> Array | None:
        """The times that the result itself carries; None where they lost or gained a time zone, which moves them.

        Raises Unaligned where one is missing.
        """
        if self.source.times is None:
            return None
        name, times, what = self.source.time_name, None, "the function's index"
        if name is not None and hasattr(result, "columns") and name in list(result.columns):
            times, what = result[name], f"the function's column {name!r}"
        elif index is not None and name is not None and name in index.names:
            times = index.get_level_values(name)
        elif type(index).__name__ in ("DatetimeIndex", "PeriodIndex") and self.source.times.dtype.kind == "M":
            times = index
        elif self.source.times.dtype.kind == "M":
            dates = [level for level in _unnamed_levels(index) if type(level).__name__ == "DatetimeIndex"]
            times = dates[0] if len(dates) == 1 else None
        if times is None or (zone_of(times) is None) != (self.source.zone is None):
            return None
        try:
            return comparable(times, what)
        except ValueError as error:
            raise Unaligned(str(error)) from None

    def _labelled(self, index: Any, rows: Array, given: Any) -> Array | None:
        """The input rows that an index names, or None where it does not name rows of the input."""
        if index is None or not hasattr(given, "get_indexer"):
            return None
        if len(index) == len(rows) and index.equals(given):
            return rows
        if not given.is_unique or not index.is_unique or index.nlevels != given.nlevels:
            return None
        try:
            where = given.get_indexer(index)
        except (TypeError, ValueError):
            return None
        return rows[where] if bool((where >= 0).all()) else None

    def _agree(self, result: Any, index: Any, rows: Array) -> bool:
        """Whether the result's times, and groups where it has them, are those of these input rows."""
        times, groups = self._times_of(result, index), self._groups_of(result, index)
        if times is None or not np.array_equal(times, self._source_times(rows)):
            return False
        return groups is None or self.source.groups is None or np.array_equal(groups, self.source.groups[rows])

    def _looked_up(self, result: Any, index: Any, rows: Array) -> Array | None:
        """The input rows with the result's times and groups; None where these do not single them out.

        A function that resets the index gives the rows of a cut panel other labels than those of the whole one.
        """
        times, groups = self._times_of(result, index), self._groups_of(result, index)
        if times is None or (groups is None) != (self.source.groups is None):
            return None
        own = self.source.groups
        known = _count_and_pack(self._source_times(rows), None if own is None else own[rows])
        wanted = _count_and_pack(times.astype(known["time"].dtype), groups)
        if known["count"].any() or wanted["count"].any():
            return None
        order = np.argsort(known)
        at = np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)
        return rows[order[at]] if np.array_equal(known[order[at]], wanted) else None

    def _by_row(self, names: list[str], columns: list[Array], rows: Array) -> Returned:
        clock, groups = self.clock, self.source.groups
        group = None if groups is None else groups[rows]
        return Returned(names, columns, rows, clock.decision[rows], clock.own[rows], group)

    def _by_time(self, result: Any, names: list[str], columns: list[Array], index: Any) -> Returned:
        times = self._times_of(result, index)
        if times is None:
            raise Unaligned("function returned rows without their times in one run; keep the time column or index")
        clock = self.clock
        if clock.lag is None or clock.instants is None:
            raise ValueError(
                "boundary gives times per input row, but the function returned other rows; use prefix or strict"
            )
        try:
            own = np.searchsorted(clock.instants, times.astype(clock.instants.dtype), side="right") - 1
            between = clock.instants[np.maximum(own, 0)] != times.astype(clock.instants.dtype)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"the function's times cannot be compared with the data's ({error}); return the same kind"
            ) from None
        groups = self._groups_of(result, index)
        key = _count_and_pack(times, groups)
        decided = np.where(own < clock.startup, NEVER, own - clock.lag)
        return Returned(names, columns, key, decided, own, groups, times, between)

    def _groups_of(self, result: Any, index: Any) -> Array | None:
        name = self.source.group_name
        if name is None:
            return None
        if hasattr(result, "columns") and name in list(result.columns):
            return group_numbers(self.source, result[name])
        if index is not None and name in index.names:
            return group_numbers(self.source, index.get_level_values(name))
        for level in _unnamed_levels(index):
            try:
                found = group_numbers(self.source, level)
            except ValueError:
                continue
            if bool((found >= 0).all()):
                return found
        return None


def _constant(entry: Any, n: int) -> Array:
    """A column that says the same in every row, and takes no room."""
    return np.broadcast_to(np.array(entry, dtype=object), n)


def _unnamed_levels(index: Any) -> list[Any]:
    """The levels without a name of an index of several, such as tsfresh gives to its rolled features."""
    if getattr(index, "nlevels", 1) < 2:
        return []
    return [index.get_level_values(i) for i, name in enumerate(index.names) if name is None]


def _is_fresh(index: Any, m: int) -> bool:
    """Whether an index is 0, 1, …, m − 1: what resetting an index leaves, which names nothing."""
    return type(index).__name__ == "RangeIndex" and index.equals(type(index)(m))


def _count_and_pack(times: Array, groups: Array | None) -> Array:
    """Time, group and count within both, per row: a structured array that compares between runs."""
    key = np.zeros(len(times), dtype=[("time", times.dtype), ("group", "i8"), ("count", "i8")])
    key["time"] = times
    key["group"] = 0 if groups is None else groups
    if len(times) > 1 and not bool(np.all(times[1:] > times[:-1])):
        pairs = np.unique(key[["time", "group"]], return_inverse=True)[1].reshape(-1)
        key["count"] = count_within(pairs)
    return key
