"""Where to cut a series: everywhere when that is affordable, otherwise spread, and where the data is special.

A leak need not show at a later cut because it shows at an earlier one, so no bisection can decide absence: the cuts
that were run are part of the verdict.
"""

from __future__ import annotations

from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from .calendar import changes, edges, unusual_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...aliases import Array
    from .calendar import Recurring
    from .clock import Clock
    from .source import Source

FEW_VALUES = 10  # of a flag
RARE = 0.01  # share of the rows that have a value
MOST_OF_A_KIND = 64
MOST_COMPARED = 4096  # cuts of a stretch whose times are compared


def all_cuts(clock: Clock) -> Array:
    """Every cut: after each rank but the last, and before the first where rows may not use themselves."""
    first = -1 if clock.lag is None or clock.lag > 0 else 0
    return np.arange(first, clock.ranks - 1)


def special_cuts(sources: Sequence[Source], clocks: Sequence[Clock]) -> Array:
    """Cuts where the data is special, without repeats; one of every kind before the second of any.

    The telling cut falls before what is new: after the last row of a gap (what fills it comes from the other side), of
    a week, of a regular stretch of time, before a rare value. Groups, calendar and ties are those of the first table.
    """
    source, clock = sources[0], clocks[0]
    groups = [] if source.groups is None else [clock.available[changes(source.groups)]]
    calendar, values = [*edges(clock), unusual_steps(clock)], _values(sources, clocks)
    before = [_gaps(sources, clocks, last=True), *calendar, *values, *groups, _ties(clock)]
    kinds = [*before, *(v + 1 for v in values), _gaps(sources, clocks, last=False), *(found + 1 for found in calendar)]
    wanted = _in_turn([_from_the_middle(np.unique(kind)) for kind in kinds])
    every = all_cuts(clock)
    return wanted[(wanted >= every[0]) & (wanted <= every[-1])] if len(every) else wanted[:0]


def _gaps(sources: Sequence[Source], clocks: Sequence[Clock], last: bool) -> Array:
    """The ranks of the last row of every gap, or of the row before every gap."""
    found = []
    for source, clock in zip(sources, clocks, strict=True):
        for gaps in source.missing.values():
            if 0 < gaps.sum() < source.n:
                here, there = (gaps[:-1], ~gaps[1:]) if last else (~gaps[:-1], gaps[1:])
                found.append(clock.available[:-1][here & there])
    return _joined(found)


def _values(sources: Sequence[Source], clocks: Sequence[Clock]) -> list[Array]:
    """The ranks before a change of a column that has few values (a flag), and before values that are rare in it."""
    flags, rare = [], []
    for source, clock in zip(sources, clocks, strict=True):
        for name in source.names:
            codes, examples = source.distinct(name)
            if not 2 <= len(examples) <= source.n / 4:
                continue
            counts = np.bincount(codes[codes >= 0], minlength=len(examples))
            if len(examples) <= FEW_VALUES:
                flags.append(clock.available[changes(codes)])
            seldom = (codes >= 0) & (counts[codes] <= max(1, source.n * RARE))
            rare.append(clock.available[np.flatnonzero(seldom)] - 1)
    return [_joined(flags), _joined(rare)]


def _ties(clock: Clock) -> Array:
    """The ranks of several rows, where not all have as many."""
    if clock.instants is None:
        return _joined([])
    counts = np.bincount(clock.own, minlength=clock.ranks)
    return np.flatnonzero(counts > 1) if counts.max() > counts.min() else _joined([])


def _from_the_middle(values: Array) -> Array:
    """At most MOST_OF_A_KIND of the values, evenly picked, the middle one first: windows are empty at the start."""
    picked = values[np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_OF_A_KIND)).astype(int))]
    order = np.argsort(np.abs(np.arange(len(picked)) - (len(picked) - 1) / 2), kind="stable")
    ordered: Array = picked[order]
    return ordered


def _in_turn(kinds: Sequence[Array]) -> Array:
    """The first of every kind, then the second of every kind, and so on; without repeats."""
    turns = [value for turn in zip_longest(*(kind.tolist() for kind in kinds)) for value in turn if value is not None]
    return np.array(list(dict.fromkeys(turns)), np.int64)


def spread_cuts(
    clock: Clock, count: int, seed: int, kinds: Sequence[Recurring] = (), done: Sequence[int] = ()
) -> Array:
    """At most `count` cuts over the series: the first, the last, and one in each of equal stretches.

    It is a random one there of those whose hour, weekday and other `kinds` of time the others and those `done` lack.
    """
    every = all_cuts(clock)
    if count >= len(every):
        return every
    if count <= 2:
        return every[[-1, 0][:count]]
    stretches = np.linspace(1, len(every) - 1, count - 1).astype(int)
    random = np.random.default_rng([seed, 1])
    ranks = np.array([0, len(every) - 1, *done], np.int64).clip(0)
    met = [np.bincount(kind.codes[ranks], minlength=len(every) + 2) for kind in kinds]  # how often each hour, … was met
    inside = []
    for a, b in pairwise(stretches):
        stop = max(b, a + 1)
        at = int(random.integers(a, stop))
        if kinds:
            start = max(a, min(at, stop - MOST_COMPARED))
            among = np.roll(np.arange(start, min(stop, start + MOST_COMPARED)), start - at)
            ranks = every[among].clip(0)
            often = [of[kind.codes[ranks]] for of, kind in zip(met, kinds, strict=True)]
            at = int(among[np.lexsort(often[::-1])[0]])
            for of, kind in zip(met, kinds, strict=True):
                of[kind.codes[max(0, every[at])]] += 1
        inside.append(at)
    spread: Array = every[_in_order(np.array([0, len(every) - 1, *inside]))]
    return spread


def _joined(parts: list[Array]) -> Array:
    return np.unique(np.concatenate([np.array([], np.int64), *parts]))


def _in_order(values: Array) -> Array:
    """Without repeats, in the order of first appearance."""
    _, first = np.unique(values, return_index=True)
    ordered: Array = values[np.sort(first)]
    return ordered
