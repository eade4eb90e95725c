"""Leaks confirmed by repetition: what does not come again on equal input is no leak that can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .budget import CALLS, calls_for_carriers
from .hits import Hit, Hits, covering, earliest, farthest, hits_by_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .replay import Replay
    from .runner import Runner
    from .search import Searched

ROUNDS = (2, 8)  # how often a leak must come again: at least, and where calls are to be had


@dataclass(frozen=True)
class Confirmed:
    """What was found, by column, and `noise`: by how much each column differs between runs on equal input.

    Columns with noise keep what was found in them, which tells nothing.
    """

    hits: Mapping[int, Hits]
    noise: tuple[float, ...]

    @property
    def leaks(self) -> dict[int, Hits]:
        """The hits in columns without noise."""
        return {number: hits for number, hits in self.hits.items() if not self.noise[number]}


def confirm(runner: Runner, searched: Searched) -> Confirmed:
    """The hits of columns whose earliest and farthest one come again whenever both inputs are run again.

    A column whose hit does not come again has noise. Where the calls left are few, few replays that show a leak in
    every column are repeated, and hits at earlier rows that were not are left out.
    """
    found = hits_by_column(searched.trials)
    steady = {n: hits for n, hits in found.items() if not runner.noise[n]}
    kept = {n: hits for n, hits in found.items() if runner.noise[n]}
    replays, rounds = _to_repeat(runner, steady, searched.calls)
    seen = runner.confirmed(sorted(replays, key=lambda r: (r.cut, r.kind, r.table)), rounds)
    noise = list(runner.noise)
    for n, hits in steady.items():
        again = [Hit(hit.replay, seen[hit.replay][n]) for hit in hits if n in seen.get(hit.replay, ())]
        if not again:
            noise[n] = noise[n] or float("inf")
        first = earliest(again or hits).rewrite.rank
        kept[n] = again + [hit for hit in hits if hit.replay not in seen and hit.rewrite.rank >= first]
    return Confirmed(kept, tuple(noise))


def _to_repeat(runner: Runner, steady: Mapping[int, Hits], most: int | None) -> tuple[set[Replay], int]:
    """Which replays to repeat, and how often."""
    wanted = {hit.replay for hits in steady.values() for hit in (earliest(hits), farthest(hits))}
    room = most - runner.calls - calls_for_carriers(runner) if most else max(CALLS, runner.calls)
    if ROUNDS[0] * (1 + len(wanted)) > room:
        wanted = set(covering(steady))
    return wanted, int(np.clip(room // (1 + len(wanted)), *ROUNDS))
