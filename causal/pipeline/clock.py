"""The clock of a table: the ranks of its rows in time, and what a boundary makes of them.

Ranks count the distinct times of the input (or its rows, where it has no times). A boundary gives every input row the
rank at which it becomes available and every output row the rank at which it is decided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError
from ..boundary import Boundary, Misfit
from .frames import shown_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...aliases import Array
    from .source import Source

ALWAYS = np.iinfo(np.int64).min // 2  # the rank of what was known from the start
NEVER = np.iinfo(np.int64).max // 2  # the rank at which a row of the start-up is decided


@dataclass(frozen=True, eq=False)
class Clock:
    """Ranks of a source under a boundary: `available` and `decision` (n,), `ranks` how many there are, `lag`.

    `instants` are the sorted distinct times, None where the input has none. `lag` is None for explicit times.
    """

    available: Array
    decision: Array
    own: Array
    ranks: int
    lag: int | None
    instants: Array | None
    boundary: Boundary
    zone: Any = None  # in which its times are shown
    startup: int = 0  # how many rows, of each group, or instants come first that are never compared

    @property
    def unit(self) -> str:
        """What ranks count."""
        return "row" if self.instants is None else "instant"

    @property
    def moves(self) -> bool:
        """Whether any row comes with time, and not all were known from the start."""
        return bool(self.own.max() > ALWAYS)

    def kept(self, cut: int) -> Array:
        """The rows available at a cut."""
        return self.available <= cut

    def describe(self, cut: int) -> str:
        """A cut in words."""
        if cut < 0:
            return "nothing"
        if self.instants is not None and cut < len(self.instants):
            return f"time {shown_time(self.instants[cut], self.zone)}"
        return f"row {cut}"


class Timeless(ArgumentError):
    """One of several tables, `table`, that cannot be cut, since nothing says when its rows became known."""

    def __init__(self, table: str, problem: str) -> None:
        remedy = f"pass time={{{table!r}: …}}, None if it was known from the start"
        super().__init__(f"table {table}", problem, remedy, mentions=("time",))
        self.table = table
        self.args = (table, problem)  # of which pickle makes it anew


def clock_of(source: Source, boundary: Boundary | str | None) -> Clock:
    """The ranks of a source under a boundary (None: prefix; or the command line's notation).

    Without times, rows are the clock, each group having its own. Raises ValueError for a boundary of another size or
    kind (only prefix, strict, lagged and by-time ones cut a series in two).
    """
    n = source.n
    try:
        boundary = Boundary.resolve(boundary, n, n)
    except Misfit as misfit:
        problem = f"speaks of {misfit.n} rows and {misfit.queries} queries, the data has {n} rows"
        raise ArgumentError("boundary", problem, "make them agree") from None
    if boundary.kind not in ("prefix", "strict", "lagged", "from_times"):
        raise ArgumentError(
            "boundary",
            f"is {boundary.kind}, which does not cut a series into past and future",
            "use prefix, strict, lagged or from_times, and group= for panels",
            mentions=("group",),
        )
    instants = None
    if source.times is not None:
        instants, own = np.unique(source.times, return_inverse=True)
        own = own.reshape(-1)
    elif source.groups is not None:
        own = count_within(source.groups)
    else:
        own = np.arange(n)
    if boundary.kind == "from_times":
        if any(remark.startswith("rows were sorted") for remark in source.remarks):
            problem = "gives times for rows that are not in order of time"
            raise ArgumentError("boundary", problem, "sort the data, and the boundary, by time first")
        assert boundary.available is not None
        assert boundary.horizon is not None
        ranks = int(max(boundary.available.max(), boundary.horizon.max())) + 1
        return Clock(boundary.available, boundary.horizon, own, ranks, None, instants, boundary, source.zone)
    lag = int(boundary.parameters["k"])
    return Clock(own, own - lag, own, int(own.max()) + 1, lag, instants, boundary, source.zone)


def after_startup(clock: Clock, source: Source, startup: int) -> Clock:
    """The same clock, on which the first `startup` rows, of each group where there are groups, are never decided."""
    if isinstance(startup, bool) or not isinstance(startup, (int, np.integer)) or startup < 0:
        raise ArgumentError("startup", "is no number of rows", "pass a whole number of at least 0", startup)
    if startup == 0:
        return clock
    count = np.arange(source.n) if source.groups is None else count_within(source.groups)
    if bool((count < startup).all()):
        raise ArgumentError("startup", f"leaves none of {source.n} rows", "pass a smaller one, or more data", startup)
    return replace(clock, decision=np.where(count < startup, NEVER, clock.decision), startup=int(startup))


def clocks_of(
    names: Sequence[str], sources: Sequence[Source], static: Sequence[bool], boundary: Boundary | str | None
) -> list[Clock]:
    """One axis for several tables: the distinct times of all together, or the rows where no table has times.

    `static` says which were known from the start. Raises TypeError or ValueError for tables that have no common axis.
    """
    first = sources[0]
    if static[0]:
        problem = f"says that table {names[0]} was known from the start"
        raise ArgumentError("time", problem, "put a table with times first")
    clock = clock_of(first, boundary)
    if len(sources) == 1:
        return [clock]
    if clock.lag is None:
        problem = "gives times for one table, but data has several"
        raise ArgumentError("boundary", problem, "pass the times at which rows arrive as time=", mentions=("time",))
    _check_zones(names, sources)
    for name, source, known in zip(names, sources, static, strict=True):
        if not known:
            _check_cuttable(name, source, names[0], first)
    moving = [source for source, known in zip(sources, static, strict=True) if not known]
    instants = _instants([source.times for source in moving if source.times is not None])
    ranks = clock.ranks if instants is None else len(instants)
    found = []
    for source, known in zip(sources, static, strict=True):
        own = clock.own
        if known:
            own = np.full(source.n, ALWAYS)
        elif instants is not None:
            times = first.times if source.times is None else source.times
            assert times is not None
            own = np.searchsorted(instants, times)
        found.append(Clock(own, own - clock.lag, own, ranks, clock.lag, instants, clock.boundary, clock.zone))
    return found


def _check_zones(names: Sequence[str], sources: Sequence[Source]) -> None:
    zoned = {s.zone is not None: name for name, s in zip(names, sources, strict=True) if s.times is not None}
    if len(zoned) == 2:
        raise ValueError(
            f"the times of table {zoned[True]} have a time zone and those of table {zoned[False]} have none; "
            "give both the same"
        )


def _check_cuttable(name: str, source: Source, first_name: str, first: Source) -> None:
    if source.times is not None and first.times is None:
        problem = f"has times and table {first_name} has none"
        raise ArgumentError(f"table {name}", problem, f"pass time= for {first_name}", mentions=("time",))
    if source.times is None and source.n != first.n:
        raise Timeless(name, f"has {source.n} rows and no times, so it cannot be cut like {first_name}")


def _instants(times: Sequence[Array]) -> Array | None:
    """The distinct times of all tables that have some."""
    try:
        return np.unique(np.concatenate(times)) if times else None
    except TypeError as error:
        raise TypeError(f"the tables' times cannot be compared ({error}); pass times of one kind") from None


def count_within(groups: Array) -> Array:
    """Each row's number within its group."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    first = np.r_[0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1]
    count = np.arange(len(groups)) - np.repeat(first, np.diff(np.r_[first, len(groups)]))
    found = np.empty(len(groups), np.int64)
    found[order] = count
    return found
