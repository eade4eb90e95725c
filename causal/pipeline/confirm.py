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
ROUNDS_IN_NOISE = 4  # the same at least, where runs on equal input differ


@dataclass(frozen=True)
class Confirmed:
    """What was found, by column; `leaking` are the columns in which it came again; `noise`: by how much each differs.

    Noise is the difference between runs on equal input. Hits in columns that are not leaking tell nothing.
    """

    hits: Mapping[int, Hits]
    noise: tuple[float, ...]
    leaking: frozenset[int]

    @property
    def leaks(self) -> dict[int, Hits]:
        """The hits in the columns that look ahead."""
        return {number: hits for number, hits in self.hits.items() if number in self.leaking}


def confirm(runner: Runner, searched: Searched) -> Confirmed:
    """The hits of columns whose earliest and farthest one come again whenever both inputs are run again.

    A column whose hit does not come again has noise; one that has noise leaks when what changed is far above it. Where
    the calls left are few, few replays that show a leak in every column are repeated, and hits at earlier rows that
    were not are left out.
    """
    found = hits_by_column(searched.trials)
    tellable = {n: hits for n, hits in found.items() if np.isfinite(runner.noise[n])}
    kept = {n: hits for n, hits in found.items() if n not in tellable}
    replays, rounds = _to_repeat(runner, tellable, searched.calls)
    seen = runner.confirmed(sorted(replays, key=lambda r: (r.cut, r.kind, r.table)), rounds)
    noise, leaking = list(runner.noise), set()
    for n, hits in tellable.items():
        again = [Hit(hit.replay, seen[hit.replay][n]) for hit in hits if n in seen.get(hit.replay, ())]
        if again:
            leaking.add(n)
        else:
            noise[n] = noise[n] or float("inf")
        first = earliest(again or hits).rewrite.rank
        others = [hit for hit in hits if hit.replay not in seen and hit.rewrite.rank >= first]
        kept[n] = again + others * (not noise[n] or not again)
    return Confirmed(kept, tuple(noise), frozenset(leaking))


def _to_repeat(runner: Runner, tellable: Mapping[int, Hits], most: int | None) -> tuple[set[Replay], int]:
    """Which replays to repeat, and how often."""
    wanted = {hit.replay for hits in tellable.values() for hit in (earliest(hits), farthest(hits))}
    least = ROUNDS_IN_NOISE if any(runner.noise[n] for n in tellable) else ROUNDS[0]
    room = most - runner.calls - calls_for_carriers(runner) if most else max(CALLS, runner.calls)
    if least * (1 + len(wanted)) > room:
        wanted = set(covering(tellable))
    return wanted, int(np.clip(room // (1 + len(wanted)), least, ROUNDS[1]))
