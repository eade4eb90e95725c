"""How large a leak can be (T19), rounded outwards: all forbidden values and scores move at once.

Over the visible slots S and the forbidden positions J, with |Δv_j| ≤ η and |Δκ_j| ≤ θ, a component of the output moves
by at most η max_s Σ_J |F[s, j]| + range_s (FV)_s tanh(θ max_{s,u} Σ_J |E[s, j] − E[u, j]| / 4). The second term is at
most ¼ θ |V| times two distances between rows, as range_s (FV)_s ≤ |V| max_{s,u} Σ_i |F[s, i] − F[u, i]| with |V| the
largest value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..verdict import LeakBound
from .columns import per_strip
from .support import BLOCK, NEVER, Scan

if TYPE_CHECKING:
    from .entries import Entries
    from .exact import Question

MOST = 1 << 24  # entries up to which every entry is looked at in any case; beyond, the scan's block extremes may do
MOST_PAIRS = 1 << 28  # differences of two entries up to which rows are compared pairwise


def leak_bound(
    cases: Iterable[Question], E: Entries, F: Entries, scans: tuple[Scan, Scan], every_entry: bool = False
) -> LeakBound:
    """The bound over all given questions; `scans` are those of E and F, in this order.

    Beyond `MOST` entries it comes from the scan, larger than need be and free, unless `every_entry` asks for one more
    pass over both. Questions whose forbidden positions grow from one to the next share their sums.
    """
    values, keys = 0.0, 0.0
    stepped, carried = Distances(E), Distances(F)
    everywhere = np.ones(F.shape[1], bool)
    with np.errstate(over="ignore"):  # infinity is a bound
        for question in cases:
            forbidden = question.rank > question.horizons.min()
            if len(question.slots) * len(forbidden) > MOST and not every_entry:
                moved, tilt, spread = _from_extremes(question, forbidden, scans)
            else:
                moved = _largest_size(F, question.slots, forbidden)
                tilt = stepped.largest(question.slots, forbidden)
                spread = carried.largest(question.slots, everywhere) if tilt else 0
            values, keys = max(values, moved), max(keys, _product(tilt, spread, len(forbidden)))
    return LeakBound(values, keys)


def _strips(entries: Entries, slots: np.ndarray, columns: np.ndarray, wide: int = 0) -> Iterator[np.ndarray]:
    """These rows and columns, some columns at a time, as float64 or Fractions."""
    wide = wide or per_strip(len(slots))
    for start in range(0, len(columns), wide):
        block = entries.block(slots, columns[start : start + wide])
        yield block if block.dtype == object else block.astype(np.float64)


def _largest_size(F: Entries, slots: np.ndarray, forbidden: np.ndarray) -> float:
    """At least max_s Σ_J |F[s, j]|, and no more where each slot reads one forbidden position at most."""
    sizes, terms = _zeros(F, len(slots)), np.zeros(len(slots), np.int64)
    for block in _strips(F, slots, np.flatnonzero(forbidden)):
        sizes = sizes + np.abs(block).sum(axis=1)
        terms += np.asarray(block != 0, bool).sum(axis=1)
    return _up(sizes.max(initial=0), 0 if F.is_exact else max(0, int(terms.max(initial=0)) - 1))


class Distances:
    """Σ_{j ∈ J} |X[s, j] − X[u, j]| for pairs of slots: a table that grows with the slots and the positions asked for.

    Once pairs have cost `MOST_PAIRS` differences, distances are bounded by those from a single row.
    """

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._slots = np.zeros(0, np.int64)
        self._done = np.zeros(entries.shape[1], bool)
        self._apart = _zeros(entries, (0, 0))
        self._cost = 0

    def largest(self, slots: np.ndarray, positions: np.ndarray) -> Any:
        """The largest distance of two of the slots over the positions, a boolean (n,); at most twice that if costly."""
        kept = np.isin(slots, self._slots).all() and not (self._done & ~positions).any()
        known = self._slots if kept else np.union1d(self._slots, slots)
        new = np.flatnonzero(positions & ~self._done if kept else positions)
        self._cost += len(known) ** 2 * len(new)
        if self._cost > MOST_PAIRS:
            return self._from_one_row(slots, np.flatnonzero(positions))
        if not kept:
            self._apart = _zeros(self._entries, (len(known), len(known)))
        self._slots, self._done = known, positions
        for block in _strips(self._entries, known, new, max(1, BLOCK // len(known))):  # each is read for every row
            room = np.empty_like(block)
            for s in range(len(known) - 1):
                apart = np.subtract(block[s + 1 :], block[s], out=room[s + 1 :])
                self._apart[s, s + 1 :] += np.abs(apart, out=apart).sum(axis=1)
        among = np.searchsorted(known, slots)
        return self._apart[np.ix_(among, among)].max(initial=0)

    def _from_one_row(self, slots: np.ndarray, columns: np.ndarray) -> Any:
        """The triangle inequality through the first row, and through 0: the two largest distances together."""
        first, size = _zeros(self._entries, len(slots)), _zeros(self._entries, len(slots))
        for block in _strips(self._entries, slots, columns):
            first = first + np.abs(block - block[:1]).sum(axis=1)
            size = size + np.abs(block).sum(axis=1)
        return min(_two_largest(first), _two_largest(size))


def _zeros(entries: Entries, shape: int | tuple[int, int]) -> np.ndarray:
    return np.zeros(shape, object if entries.is_exact else np.float64)


def _two_largest(sizes: np.ndarray) -> Any:
    return np.sort(sizes)[-2:].sum()


def _from_extremes(question: Question, forbidden: np.ndarray, scans: tuple[Scan, Scan]) -> tuple[float, Any, Any]:
    """At least max_s Σ_J |F[s, j]| and the two distances, from the extremes of whole blocks."""
    size, tilt = _of_blocks(scans[1], question, forbidden)
    if scans[0] is not scans[1]:
        tilt = _of_blocks(scans[0], question, forbidden)[1]
    spread = _of_blocks(scans[1], question, np.ones(len(forbidden), bool))[1]
    return _up(size, len(forbidden) + 1), tilt, spread


def _of_blocks(scan: Scan, question: Question, positions: np.ndarray) -> tuple[float, float]:
    """Bounds on the largest Σ |x[s, j]| and on the largest distance of two slots, over some positions."""
    counts = np.add.reduceat(positions.astype(np.int64), scan.edges[:-1])
    hit = counts > 0
    slots = question.slots
    low, high = (ends[np.ix_(slots, hit)].astype(np.float64) for ends in (scan.low, scan.high))
    if not positions.all() and question.rank.max(initial=0) < NEVER:
        # One order of time for all: the scan knows who reads nothing past the horizon.
        idle = scan.highest[slots] <= question.horizons.min()
        low[idle], high[idle] = 0, 0
    ranges = float(((high.max(axis=0) - low.min(axis=0)) * counts[hit]).sum())
    sizes = np.maximum(np.negative(low, out=low), high, out=high) @ counts[hit].astype(np.float64)
    return float(sizes.max(initial=0)), float(min(ranges, np.sort(sizes)[-2:].sum()))


def _product(tilt: Any, spread: Any, n: int) -> float:
    """¼ · tilt · spread, rounded up, with room for the rounding of n differences and their sum in each."""
    if not tilt or not spread:
        return 0.0
    sides = _up(tilt, n + 2), _up(spread, n + 2)
    if math.inf in sides:
        return math.inf
    return _up(Fraction(sides[0]) * Fraction(sides[1]) / 4, 0)  # in floats a quarter of a tiny number may be 0


def _up(x: Any, roundings: int) -> float:
    """A float that is at least x, even if x went through so many roundings to nearest."""
    try:
        near = float(x)
    except OverflowError:
        return math.inf
    if roundings == 0:
        return near if near >= x else math.nextafter(near, math.inf)
    return math.nextafter(near * (1 + (roundings + 1) * 2.0**-52), math.inf)
