"""Which replays to make: all of them where that is quick, otherwise those that tell most within the budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ArgumentError
from .budget import CALLS, FOR_THE_REST, SECONDS, calls_for_carriers
from .cuts import all_cuts, special_cuts, spread_cuts
from .replay import TRUNCATION, Replay

if TYPE_CHECKING:
    from ...aliases import Array
    from .runner import Runner

Cuts = int | str | Iterable[int] | None


@dataclass(frozen=True)
class Plan:
    """The replays to make, and how many calls are kept back; 0 where nothing limits the calls."""

    replays: tuple[Replay, ...]
    reserve: int = 0

    @property
    def cuts(self) -> set[int]:
        """Where the series is cut."""
        return {replay.cut for replay in self.replays}


def plan_for(runner: Runner, cuts: Cuts) -> Plan:
    """The replays at the cuts asked for, or, for None, at all of them or as many as CALLS calls allow.

    Raises ValueError for cuts that there are not.
    """
    if cuts is not None:
        return Plan(tuple(thorough(runner, _wanted(runner, cuts))))
    every = all_cuts(runner.clock)
    full = (1 + len(runner.tables.perturbations())) * len(every)
    if full <= CALLS - 2 or (full * runner.seconds <= SECONDS and len(every) <= 2000):
        return Plan(tuple(thorough(runner, every.tolist())))
    return _within_budget(runner)


def thorough(runner: Runner, cuts: Iterable[int]) -> list[Replay]:
    """Truncation and every way of replacing at each cut."""
    ways = [(TRUNCATION, ""), *runner.tables.perturbations()]
    return [Replay(cut, *way) for cut in cuts for way in ways]


def alternating(runner: Runner, cuts: Iterable[int]) -> list[Replay]:
    """Truncation and one replacement per cut, the ways of replacing in turn."""
    ways = runner.tables.perturbations()
    found = []
    for i, cut in enumerate(cuts):
        found += [Replay(cut, TRUNCATION), Replay(cut, *ways[i % len(ways)])]
    return found


def _within_budget(runner: Runner) -> Plan:
    """Three replays at the telling cuts, and two at others spread over the series."""
    reserve = calls_for_carriers(runner) + FOR_THE_REST
    calls = CALLS - runner.calls - reserve
    special = special_cuts(runner.tables.sources, runner.tables.clocks)[: int(0.4 * calls) // 3].tolist()
    spread = spread_cuts(runner.clock, (calls - 3 * len(special)) // 2, runner.seed).tolist()
    replays = [Replay(cut, kind) for cut in special for kind in (TRUNCATION, "high", "low")]
    return Plan((*replays, *alternating(runner, [cut for cut in spread if cut not in special])), reserve)


def _wanted(runner: Runner, cuts: int | str | Iterable[int]) -> list[int]:
    every: Array = all_cuts(runner.clock)
    if isinstance(cuts, str):
        if cuts != "all":
            raise ArgumentError("cuts", "is unknown", "pass 'all', a number of cuts, or the cuts", cuts)
        return list(map(int, every))
    if isinstance(cuts, (int, np.integer)):
        if isinstance(cuts, bool) or cuts < 1:
            raise ArgumentError("cuts", "is too few", "pass at least 1", cuts if isinstance(cuts, bool) else int(cuts))
        return list(map(int, spread_cuts(runner.clock, int(cuts), runner.seed)))
    wanted = sorted({int(cut) for cut in cuts})
    outside = [cut for cut in wanted if not every[0] <= cut <= every[-1]]
    if outside:
        raise ArgumentError("cuts", f"names {outside[0]}", f"pass ranks of time from {every[0]} to {every[-1]}")
    if not wanted:
        raise ArgumentError("cuts", "is empty", "pass at least one")
    return wanted
