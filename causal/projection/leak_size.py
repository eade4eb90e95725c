"""How large a leak can be (THEORY, "Size of a leak"), rounded outwards.

Over the visible slots |∂y_t/∂v_j| ≤ max_s |F[s, j]|, and per component |∂y_t/∂κ_j| ≤ ¼ range_s E[s, j] · range_s
(FV)_s, where range_s (FV)_s ≤ |V| max_{s,u} Σ_i |F[s, i] − F[u, i]| with |V| the largest value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..verdict import LeakBound
from .columns import per_strip
from .support import BLOCK, NEVER, Scan

if TYPE_CHECKING:
    from .entries import Entries
    from .exact import Question

MOST = 1 << 24  # entries up to which every entry is looked at in any case; beyond, the scan's block extremes may do
MOST_PAIRS = 1 << 28  # k² n up to which rows are compared pairwise


def leak_bound(
    cases: Iterable[Question], E: Entries, F: Entries, scans: tuple[Scan, Scan], every_entry: bool = False
) -> LeakBound:
    """The bound over all given questions; `scans` are those of E and F, in this order.

    Beyond `MOST` entries it comes from the scan, larger than need be and free, unless `every_entry` asks for one more
    pass over both.
    """
    values, keys = 0.0, 0.0
    distances: dict[bytes, float] = {}  # of the rows of F, by the visible slots
    with np.errstate(over="ignore"):  # infinity is a bound
        for question in cases:
            forbidden = question.rank > question.horizons.min()
            if len(question.slots) * len(forbidden) > MOST and not every_entry:
                part = _from_extremes(question, forbidden, scans)
            else:
                seen = question.slots.tobytes()
                if seen not in distances:
                    distances[seen] = _distance(F, question.slots)
                part = _from_entries(question.slots, forbidden, E, F, distances[seen])
            values, keys = max(values, part[0]), max(keys, part[1])
    return LeakBound(values, keys)


def _from_entries(
    slots: np.ndarray, forbidden: np.ndarray, E: Entries, F: Entries, distance: float
) -> tuple[float, float]:
    columns, wide = np.flatnonzero(forbidden), per_strip(len(slots))
    largest = max((abs(x).max() for x in _strips(F, slots, columns, wide)), default=0)
    spread = max(((x.max(axis=0) - x.min(axis=0)).max() for x in _strips(E, slots, columns, wide)), default=0)
    return _up(largest, 0), _product(spread, distance, len(forbidden))


def _strips(entries: Entries, slots: np.ndarray, columns: np.ndarray, wide: int) -> Iterator[np.ndarray]:
    """These rows and columns, `wide` columns at a time, as float64 or Fractions."""
    for start in range(0, len(columns), wide):
        block = entries.block(slots, columns[start : start + wide])
        yield block if block.dtype == object else block.astype(np.float64)


def _distance(F: Entries, slots: np.ndarray) -> float:
    """An upper bound on the largest Σ_i |F[s, i] − F[u, i]|, up to the rounding that `_product` allows for.

    Exact while pairs of rows are few; beyond, it is at most the sum of the columns' ranges, and at most the sum of the
    two largest Σ_i |F[s, i]|.
    """
    k, n = len(slots), F.shape[1]
    if F.is_exact:
        rows = [row for row in F.block(slots) if len(row)]
        gaps = [sum(abs(x - y) for x, y in zip(a, b, strict=True)) for s, a in enumerate(rows) for b in rows[:s]]
        return _up(max(gaps, default=0), 0)
    pairwise = k * k * n <= MOST_PAIRS
    apart, ranges, sizes = np.zeros((k, k)), 0.0, np.zeros(k)
    for f in _strips(F, slots, np.arange(n), max(1, BLOCK // len(slots))):
        if pairwise:
            for s in range(k - 1):
                apart[s, s + 1 :] += np.abs(f[s + 1 :] - f[s]).sum(axis=1)
        else:
            ranges += float((f.max(axis=0) - f.min(axis=0)).sum())
            sizes += np.abs(f).sum(axis=1)
    return float(apart.max(initial=0)) if pairwise else min(ranges, float(np.sort(sizes)[-2:].sum()))


def _from_extremes(question: Question, forbidden: np.ndarray, scans: tuple[Scan, Scan]) -> tuple[float, float]:
    """Bounds from the extremes of whole blocks: larger than need be, and free."""
    keys, values = ((s.low[question.slots].astype(float), s.high[question.slots].astype(float), s.edges) for s in scans)
    low, high, edges = values
    hit = np.maximum.reduceat(forbidden, edges[:-1])
    reads = np.ones(len(low), bool)
    if question.rank.max(initial=0) < NEVER:  # one order of time for all: the scan knows who reads past the horizon
        reads = scans[1].highest[question.slots] > question.horizons.min()
    ends = np.abs(np.stack([low[reads][:, hit], high[reads][:, hit]]))
    largest = float(ends.max(initial=0))
    distance = float(((high.max(axis=0) - low.min(axis=0)) * np.diff(edges)).sum())
    low, high, other = keys
    if not np.array_equal(edges, other):
        hit = np.maximum.reduceat(forbidden, other[:-1])
    spread = float((high.max(axis=0) - low.min(axis=0))[hit].max(initial=0))
    return _up(largest, 0), _product(spread, distance, len(forbidden))


def _product(spread: object, distance: float, n: int) -> float:
    """¼ · spread · distance, rounded up, with room for the rounding of n differences and their sum."""
    if not spread or not distance:
        return 0.0
    return _up(0.25 * _up(spread, 2) * _up(distance, n + 2), 4)


def _up(x: object, roundings: int) -> float:
    """A float that is at least x, even if x went through so many roundings to nearest."""
    try:
        near = float(x)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf
    if roundings == 0:
        return near if near >= x else math.nextafter(near, math.inf)  # type: ignore[operator]
    return math.nextafter(near * (1 + (roundings + 1) * 2.0**-52), math.inf)
