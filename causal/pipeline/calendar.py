"""What times tell of where to cut: the edges of calendar periods, unusual steps, and the times of day and weekdays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .frames import comparable, holds_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...aliases import Array
    from .clock import Clock
    from .source import Source

DAYS_TO_MONDAY = 3  # 1 January 1970, day 0, was a Thursday
MOST_TIMES_OF_DAY = 400


class Recurring(NamedTuple):
    """What comes again in time, such as the weekday: its name, and which of it each rank has, numbered from 0."""

    name: str
    codes: Array


def edges(clock: Clock) -> list[Array]:
    """The ranks of the last rows of calendar periods, for each length of period that has some."""
    if clock.instants is None or clock.instants.dtype.kind != "M":
        return []
    periods = {length: clock.instants.astype(f"datetime64[{length}]") for length in ("M", "D", "h", "Y")}
    found = [changes(of) for of in (_weeks(clock.instants), *periods.values())]
    return [rows for rows in found if 0 < len(rows) < len(clock.instants) - 2]


def unusual_steps(clock: Clock) -> Array:
    """The ranks before steps of time that are not the usual one, where these are rare."""
    none = np.array([], np.int64)
    if clock.instants is None or clock.instants.dtype.kind not in "Mifu" or len(clock.instants) < 3:
        return none
    steps = np.diff(clock.instants)
    unusual = np.flatnonzero(steps != np.sort(steps)[len(steps) // 2])
    return unusual if len(unusual) < len(steps) / 2 else none


def recurring(sources: Sequence[Source], clocks: Sequence[Clock]) -> list[Recurring]:
    """What comes again in the times of the ranks: hours, weekdays, times of day, months, days of the month.

    Where rows are the clock, a column that holds times tells them.
    """
    times = _times(sources[0], clocks[0])
    if times is None:
        return []
    days = times.astype("datetime64[D]")
    months = times.astype("datetime64[M]")
    of_day = times - days
    parts = {
        "hour": of_day.astype("timedelta64[h]"),
        "weekday": (days.astype(np.int64) + DAYS_TO_MONDAY) % 7,
        "time of day": of_day,
        "month": months.astype(np.int64) % 12,
        "day of the month": (days - months).astype(np.int64),
    }
    found = [Recurring(name, np.unique(part, return_inverse=True)[1].reshape(-1)) for name, part in parts.items()]
    return [part for part in found if 2 <= part.codes.max() + 1 <= min(MOST_TIMES_OF_DAY, len(times) / 2)]


def _times(source: Source, clock: Clock) -> Array | None:
    times = clock.instants
    if times is None and source.groups is None and clock.ranks == source.n:
        named = [name for name in source.names if holds_times(source.column(name)) and not source.missing[name].any()]
        times = comparable(source.column(named[0])) if named else None
    return times if times is not None and times.dtype.kind == "M" else None


def changes(values: Array) -> Array:
    """The last row before each change."""
    return np.flatnonzero(values[1:] != values[:-1])


def _weeks(times: Array) -> Array:
    return (times.astype("datetime64[D]").astype(np.int64) + DAYS_TO_MONDAY) // 7
