"""From an abstract run to an answer: which positions each output can depend on, and which of them are forbidden.

A run gives every output an interval of ranks. For a boundary in rank form the positions carry their availability
ranks, and an output is safe when its latest rank does not pass its horizon. Packed documents and relations use the
positions themselves as ranks; a relation that intervals cannot settle is run once per distinct set of allowed
positions, with rank 1 for what is forbidden to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..boundary import Boundary
    from .trace.records import Trace

Spans = list[tuple[np.ndarray, np.ndarray]]  # of each output, the earliest and latest rank of every query
MOST_SETS = 16  # distinct sets of allowed positions for which a relation is run one by one


@dataclass(frozen=True)
class Reach:
    """What the outputs can depend on: `earliest` and `latest` (queries,) as positions (−1: nothing), and `suspects`.

    `suspects[t, j]` (queries, n) is true where it could not be excluded that output t depends on the forbidden j.
    """

    earliest: np.ndarray
    latest: np.ndarray
    suspects: np.ndarray | None

    @property
    def closed(self) -> bool:
        """Whether no forbidden dependency is left."""
        return self.suspects is None


def reach(
    run: Callable[[np.ndarray], Trace], chosen: Callable[[Trace], Spans], boundary: Boundary
) -> tuple[Trace, Reach]:
    """Run with the ranks that suit the boundary and compare; `chosen` gives the outputs' earliest and latest ranks."""
    b = boundary
    if b.kind == "from_times":
        assert b.available is not None
        assert b.horizon is not None
        trace = run(b.available)
        lo, hi = _hull(chosen(trace))
        order = np.argsort(b.available, kind="stable")
        some = lo <= hi
        bad = some & (hi > b.horizon)
        suspects = None
        if bad.any():
            within = (b.available[None, :] >= lo[:, None]) & (b.available[None, :] <= hi[:, None])
            suspects = within & (b.available[None, :] > b.horizon[:, None])
        ranked = b.available[order]
        first = np.where(some, order[np.minimum(np.searchsorted(ranked, lo), b.n - 1)], -1)
        last = np.where(some, order[np.maximum(np.searchsorted(ranked, hi, side="right") - 1, 0)], -1)
        return trace, Reach(first, last, suspects)
    trace = run(np.arange(b.n))
    spans = chosen(trace)
    lo, hi = _hull(spans)
    some = lo <= hi
    earliest, latest = np.where(some, lo, -1), np.where(some, hi, -1)
    if b.is_chain and b.kind != "bidirectional":
        assert b.horizon is not None
        if not (some & (hi > b.horizon)).any():
            return trace, Reach(earliest, latest, None)
    suspects = _suspects(b, spans)
    if b.matrix is not None and suspects.any():
        suspects = _set_by_set(run, chosen, b, suspects)
    return trace, Reach(earliest, latest, suspects if suspects.any() else None)


def _hull(spans: Spans) -> tuple[np.ndarray, np.ndarray]:
    """The earliest and latest rank over all outputs."""
    return np.minimum.reduce([lo for lo, _ in spans]), np.maximum.reduce([hi for _, hi in spans])


def _suspects(b: Boundary, spans: Spans) -> np.ndarray:
    j = np.arange(b.n)[None, :]
    within = np.logical_or.reduce([(j >= lo[:, None]) & (j <= hi[:, None]) for lo, hi in spans])
    suspects: np.ndarray = within & ~b.to_array()
    return suspects


def _set_by_set(
    run: Callable[[np.ndarray], Trace], chosen: Callable[[Trace], Spans], b: Boundary, suspects: np.ndarray
) -> np.ndarray:
    """Clear the suspects of every set of allowed positions that a run of its own finds safe."""
    assert b.matrix is not None
    rows = np.flatnonzero(suspects.any(axis=1))
    sets, of = np.unique(b.matrix[rows], axis=0, return_inverse=True)
    if len(sets) > MOST_SETS:
        return suspects
    left = suspects.copy()
    for k, allowed in enumerate(sets):
        _, hi = _hull(chosen(run(np.where(allowed, 0, 1))))
        queries = rows[of.reshape(-1) == k]
        left[queries[hi[queries] <= 0]] = False
    return left
