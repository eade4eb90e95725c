"""What the replays found, by column, and which of it tells most."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .replay import TRUNCATION, Replay, Rewrite, Trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Hit(NamedTuple):
    """A replay that rewrites settled entries of a column, and what it rewrites."""

    replay: Replay
    rewrite: Rewrite


Hits = list[Hit]


def hits_by_column(trials: Iterable[Trial]) -> dict[int, Hits]:
    """The hits of all trials, by the number of the column."""
    found: dict[int, Hits] = {}
    for trial in trials:
        for number, rewrite in trial.rewrites:
            found.setdefault(number, []).append(Hit(trial.replay, rewrite))
    return found


def earliest(hits: Hits) -> Hit:
    """The hit at the earliest row; a replacement rather than a truncation, and of one table rather than of all."""
    return min(hits, key=lambda h: (h.rewrite.rank, h.replay.kind == TRUNCATION, not h.replay.table, h.replay.cut))


def farthest(hits: Hits) -> Hit:
    """The hit that looks farthest ahead."""
    return max(
        hits,
        key=lambda h: (h.replay.cut - h.rewrite.rank, h.replay.kind != TRUNCATION, h.replay.table, -h.replay.cut),
    )


def covering(found: Mapping[int, Hits]) -> list[Replay]:
    """Few replays, of which each column has one: again and again the one with most of the columns that are left."""
    left = {number: {hit.replay for hit in hits} for number, hits in found.items()}
    chosen = []
    while left:
        replay = most_telling(left)
        chosen.append(replay)
        left = {number: replays for number, replays in left.items() if replay not in replays}
    return chosen


def most_telling(columns: Mapping[int, set[Replay]]) -> Replay:
    """The replay that shows a leak in most columns."""
    every = {replay for replays in columns.values() for replay in replays}
    return max(every, key=lambda r: (sum(r in replays for replays in columns.values()), -r.cut, r.kind, r.table))
