"""The clock of a table: the ranks of its rows in time, and what a boundary makes of them.

Ranks count the distinct times of the input (or its rows, where it has no times). A boundary gives every input row the
rank at which it becomes available and every output row the rank at which it is decided.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..boundary import Boundary, Misfit
from .frames import Array, shown_time
from .source import Source


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

    def kept(self, cut: int) -> Array:
        """The rows available at a cut."""
        return self.available <= cut

    def describe(self, cut: int) -> str:
        """A cut in words."""
        if cut < 0:
            return "nothing"
        if self.instants is not None and cut < len(self.instants):
            return f"time {shown_time(self.instants[cut])}"
        return f"row {cut}"


def clock_of(source: Source, boundary: Boundary | str | None) -> Clock:
    """The ranks of a source under a boundary (None: prefix; or the command line's notation).

    Without times, rows are the clock, each group having its own. Raises ValueError for a boundary of another size or
    kind (only prefix, strict, lagged and by-time ones cut a series in two).
    """
    n = source.n
    try:
        boundary = Boundary.resolve(boundary, n, n)
    except Misfit as misfit:
        raise ValueError(
            f"boundary speaks of {misfit.n} rows and {misfit.queries} queries, the data has {n} rows"
        ) from None
    if boundary.kind not in ("prefix", "strict", "lagged", "from_times"):
        raise ValueError(
            f"boundary is {boundary.kind}, which does not cut a series into past and future; use prefix, strict, "
            "lagged or from_times, and group= for panels"
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
        assert boundary.available is not None
        assert boundary.horizon is not None
        ranks = int(max(boundary.available.max(), boundary.horizon.max())) + 1
        return Clock(boundary.available, boundary.horizon, own, ranks, None, instants, boundary)
    lag = int(boundary.parameters["k"])
    return Clock(own, own - lag, own, int(own.max()) + 1, lag, instants, boundary)


def count_within(groups: Array) -> Array:
    """Each row's number within its group."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    first = np.r_[0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1]
    count = np.arange(len(groups)) - np.repeat(first, np.diff(np.r_[first, len(groups)]))
    found = np.empty(len(groups), np.int64)
    found[order] = count
    return found
