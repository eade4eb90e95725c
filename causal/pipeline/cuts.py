"""Where to cut a series: everywhere when that is affordable, otherwise spread, and where the data is special.

A leak need not show at a later cut because it shows at an earlier one, so no bisection can decide absence: the cuts
that were run are part of the verdict.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...aliases import Array
    from .clock import Clock
    from .source import Source

CALENDAR = ("h", "D", "W", "M", "Y")


def all_cuts(clock: Clock) -> Array:
    """Every cut: after each rank but the last, and before the first where rows may not use themselves."""
    first = -1 if clock.lag is None or clock.lag > 0 else 0
    return np.arange(first, clock.ranks - 1)


def special_cuts(sources: Sequence[Source], clocks: Sequence[Clock]) -> Array:
    """Cuts at gaps, at changes of group, at edges of calendar periods and at ties, most telling ones first, no repeats.

    A gap's telling cut is the one after its last row: what fills it comes from the other side. Groups, calendar and
    ties are those of the first table.
    """
    last_of_gap, first_of_gap = [], []
    for source, clock in zip(sources, clocks, strict=True):
        for gaps in source.missing.values():
            if 0 < gaps.sum() < source.n:
                ends = np.flatnonzero(gaps[:-1] & ~gaps[1:])
                starts = np.flatnonzero(~gaps[:-1] & gaps[1:])
                last_of_gap.append(clock.available[ends])
                first_of_gap.append(clock.available[starts])
    source, clock = sources[0], clocks[0]
    found = [_spread(_joined(last_of_gap), 64), _spread(_joined(first_of_gap), 16)]
    if source.groups is not None:
        changes = np.flatnonzero(source.groups[1:] != source.groups[:-1])
        found.append(_spread(np.unique(clock.available[changes]), 16))
    if clock.instants is not None:
        if clock.instants.dtype.kind == "M":
            for period in CALENDAR:
                periods = clock.instants.astype(f"datetime64[{period}]")
                edges = np.flatnonzero(periods[1:] != periods[:-1]) + 1
                if 1 < len(edges) < len(clock.instants) - 1:
                    found.append(_spread(edges, 4))
        counts = np.bincount(clock.own, minlength=clock.ranks)
        ties = np.flatnonzero(counts > 1)
        if len(ties) and counts.max() > counts.min():
            found.append(_spread(ties, 4))
    every = all_cuts(clock)
    wanted = _in_order(np.concatenate(found))
    return wanted[(wanted >= every[0]) & (wanted <= every[-1])] if len(every) else wanted[:0]


def spread_cuts(clock: Clock, count: int, seed: int) -> Array:
    """At most `count` cuts over the series: the first, the last, and a random one in each of equal stretches."""
    every = all_cuts(clock)
    if count >= len(every):
        return every
    if count <= 2:
        return every[[-1, 0][:count]]
    edges = np.linspace(1, len(every) - 1, count - 1).astype(int)
    random = np.random.default_rng([seed, 1])
    inside = [int(random.integers(a, max(b, a + 1))) for a, b in pairwise(edges)]
    spread: Array = every[_in_order(np.array([0, len(every) - 1, *inside]))]
    return spread


def _joined(parts: list[Array]) -> Array:
    return np.unique(np.concatenate(parts)) if parts else np.array([], np.int64)


def _spread(values: Array, count: int) -> Array:
    """At most `count` of the values, evenly picked, ends included; outer ones first."""
    if len(values) <= count:
        return values
    picked: Array = values[np.unique(np.linspace(0, len(values) - 1, count).astype(int))]
    return picked


def _in_order(values: Array) -> Array:
    """Without repeats, in the order of first appearance."""
    _, first = np.unique(values, return_index=True)
    ordered: Array = values[np.sort(first)]
    return ordered
