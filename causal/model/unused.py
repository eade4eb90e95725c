"""Which positions that an output may use does none of the runs show it to use: masks that hide too much.

The abstract run gives an interval for each output, in which positions may be left out: every second one, or the first
after a cached prefix. Here each position is replaced alone, twice, and what moves is noted. That is a sample, so that
it warns and proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..spans import shown
from .limits import Limits
from .search import Round

if TYPE_CHECKING:
    from .reach import Reach
    from .replays import Replays

SEEDS = (21, 22)


@dataclass(frozen=True)
class Unused:
    """`holes[t, j]` (queries, n): output t may use j, and no run showed that it does; after so many forwards."""

    holes: np.ndarray
    forwards: int

    def warnings(self) -> list[str]:
        """What to tell: positions that no output uses, and outputs with holes of their own."""
        empty = self.holes.any(axis=1)
        if not empty.any():
            return []
        first = int(np.flatnonzero(empty)[-1])  # the last one, which may use most
        more = int(empty.sum()) - 1
        others = (
            f", and {more} other output{'s' * (more > 1)} {'have' if more > 1 else 'has'} such gaps" if more else ""
        )
        gaps = np.flatnonzero(self.holes[first])
        which = f"position{'s' * (gaps.size > 1)} {shown(gaps)}"
        return [
            f"warning: output {first} was not seen to use {which}, which it may{others} "
            f"({self.forwards} runs, each position replaced alone)"
        ]

    def pairs(self) -> list[list[int]]:
        """[output, position] for each of them."""
        found: list[list[int]] = np.argwhere(self.holes).tolist()
        return found


def unused(replays: Replays, reach: Reach) -> Unused:
    """Replace each position alone and see which outputs move, in double precision where the model runs in it.

    Raises ModelError where the model does not run on other values.
    """
    question, search = replays.question, replays.search(limits=Limits())
    about, setting = question.boundary, replays.finest(question.setting)
    x = question.program.input
    before = search.base(setting, x)
    j = np.arange(about.n)[None, :]
    open_ = np.array([about.allowed_row(t) for t in range(about.queries)])
    open_ &= (j >= reach.earliest[:, None]) & (j <= reach.latest[:, None])
    for position in range(about.n):
        for seed in SEEDS:
            after = search.run(search.replaced(np.array([position]), Round(seed=seed), x), setting)
            same = (before == after) | (np.isnan(before) & np.isnan(after))
            open_[~same.all(axis=1), position] = False
    return Unused(open_, search.tried.forwards)
