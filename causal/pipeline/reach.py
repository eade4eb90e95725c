"""How far ahead a leak reaches: more cuts after the farthest one at which a row changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .cuts import all_cuts
from .hits import Hit, farthest, hits_by_column
from .replay import Replay, Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .runner import Runner

MOST_TRIES = 12  # for one column


def farther(runner: Runner, trials: Sequence[Trial], most: int) -> list[Trial]:
    """At most `most` trials that follow the farthest leak of each column to the last later row that it reads."""
    known = {trial.replay: trial for trial in trials}
    found: list[Trial] = []
    for number in sorted(hits_by_column(trials)):
        hit = farthest(hits_by_column([*trials, *found])[number])
        found += _followed(runner, number, hit, known, min(MOST_TRIES, most - len(found)))
    return found


def _followed(runner: Runner, number: int, hit: Hit, known: dict[Replay, Trial], tries: int) -> list[Trial]:
    """Later and later cuts, then halves, between the last at which the hit's row changes and one at which it does not.

    A row that changes when the rows after a cut are others reads past that cut, so the cuts are in order.
    """
    last = int(all_cuts(runner.clock)[-1])
    reads, settled, step = hit.replay.cut, last + 1, 1
    found: list[Trial] = []
    while settled - reads > 1 and len(found) < tries:
        cut = min(reads + step, (reads + settled) // 2) if settled <= last else min(reads + step, last)
        replay = Replay(cut, hit.replay.kind, hit.replay.table)
        if replay not in known:
            known[replay] = runner.run(replay)
            found.append(known[replay])
        changed = dict(known[replay].rewrites)
        if number in changed and changed[number].rank <= hit.rewrite.rank:
            reads, step = cut, 2 * step
        else:
            settled = cut
    return found
