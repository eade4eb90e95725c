"""Which replays to make: all of them where they are few, otherwise those that tell most within the budget."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ArgumentError, ArgumentTypeError
from .budget import FOR_THE_REST, calls_allowed, calls_for_carriers
from .calendar import recurring
from .cuts import all_cuts, special_cuts, spread_cuts
from .replay import TRUNCATION, Replay

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...aliases import Array
    from .runner import Runner

Cuts = int | str | Iterable[int] | None
THREE_WAYS = 3  # cuts at which both higher and lower values are tried
SPECIAL = 0.6  # share of the calls that is spent where the data is special, as far as it is


@dataclass(frozen=True)
class Plan:
    """The replays to make, how many calls are kept back, and how many may be made in all (None: any number)."""

    replays: tuple[Replay, ...]
    reserve: int = 0
    calls: int | None = None

    @property
    def cuts(self) -> set[int]:
        """Where the series is cut."""
        return {replay.cut for replay in self.replays}


def plan_for(runner: Runner, cuts: Cuts) -> Plan:
    """The replays at the cuts asked for, or, for None, at all of them or at as many as the budget allows.

    Raises ValueError for cuts that there are not.
    """
    if cuts is not None:
        return Plan(tuple(thorough(runner, _wanted(runner, cuts))))
    every, calls = all_cuts(runner.clock), calls_allowed(runner.tables)
    full = (1 + len(runner.tables.perturbations())) * len(every)
    return Plan(tuple(thorough(runner, every.tolist()))) if full <= calls - 2 else _within_budget(runner, calls)


def thorough(runner: Runner, cuts: Iterable[int]) -> list[Replay]:
    """Truncation and every way of replacing at each cut."""
    ways = [(TRUNCATION, ""), *runner.tables.perturbations()]
    return [Replay(cut, *way) for cut in cuts for way in ways]


def alternating(runner: Runner, cuts: Iterable[int]) -> list[Replay]:
    """Truncation and one replacement per cut, the ways of replacing in turn."""
    ways = runner.tables.perturbations()
    found = []
    for i, cut in enumerate(cuts):
        found += [Replay(cut, TRUNCATION), *([Replay(cut, *ways[i % len(ways)])] if ways else [])]
    return found


def spread(runner: Runner, calls: int, seed: int, done: Collection[int]) -> list[Replay]:
    """Replays at cuts that are not `done`, spread over the series, as many as there are calls.

    Where times recur there is one replay per cut, for so more of the hours, weekdays and times of day have one.
    """
    kinds = recurring(runner.tables.sources, runner.tables.clocks)
    count = calls if kinds else len(done) + calls // 2
    cuts = [cut for cut in spread_cuts(runner.clock, count, seed, kinds, list(done)).tolist() if cut not in done]
    if not kinds:
        return alternating(runner, cuts[: calls // 2])
    ways = [(TRUNCATION, ""), *runner.tables.perturbations()]
    return [Replay(cut, *ways[i % len(ways)]) for i, cut in enumerate(cuts[:calls])]


def _within_budget(runner: Runner, most: int) -> Plan:
    """Three replays at the most telling cuts, two at other telling ones, and some spread over the series."""
    reserve = calls_for_carriers(runner) + FOR_THE_REST
    calls = most - runner.calls - reserve
    special = special_cuts(runner.tables.sources, runner.tables.clocks)[: int(SPECIAL * calls) // 2].tolist()
    first = [Replay(cut, kind) for cut in special[:THREE_WAYS] for kind in (TRUNCATION, "high", "low")]
    first = first if runner.tables.perturbations() else [replay for replay in first if replay.kind == TRUNCATION]
    first += alternating(runner, special[THREE_WAYS:])
    return Plan((*first, *spread(runner, calls - len(first), runner.seed, special)), reserve, most)


def _wanted(runner: Runner, cuts: int | str | Iterable[int]) -> list[int]:
    every: Array = all_cuts(runner.clock)
    if isinstance(cuts, str):
        if cuts != "all":
            raise ArgumentError("cuts", "is unknown", "pass 'all', a number of cuts, or the cuts", cuts)
        return list(map(int, every))
    if isinstance(cuts, (int, np.integer)):
        if isinstance(cuts, bool) or cuts < 1:
            raise ArgumentError("cuts", "is too few", "pass at least 1", cuts if isinstance(cuts, bool) else int(cuts))
        kinds = recurring(runner.tables.sources, runner.tables.clocks)
        return list(map(int, spread_cuts(runner.clock, int(cuts), runner.seed, kinds)))
    try:
        wanted = sorted({operator.index(cut) for cut in cuts})
    except TypeError:
        problem, remedy = "is no number of cuts", "pass 'all', a whole number, or a sequence of ranks of time"
        raise ArgumentTypeError("cuts", problem, remedy, cuts) from None
    outside = [cut for cut in wanted if not every[0] <= cut <= every[-1]]
    if outside:
        raise ArgumentError("cuts", f"names {outside[0]}", f"pass ranks of time from {every[0]} to {every[-1]}")
    if not wanted:
        raise ArgumentError("cuts", "is empty", "pass at least one")
    return wanted
