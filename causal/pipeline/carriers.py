"""Through which input columns, and for panels through which groups, the future reaches an output column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .alignment import Unaligned
from .replay import TRUNCATION, Place, Replay
from .runner import Finding, Refused, Runner, listed

CALLS = 60
MOST_CARRIERS = 20
SECONDS = 3.0

Hit = tuple[Replay, Finding]
Hits = list[Hit]


def earliest(hits: Hits) -> Hit:
    """The finding at the earliest row; a replacement rather than a truncation, and of one table rather than of all."""
    return min(hits, key=lambda hit: (hit[1].rank, hit[0].kind == TRUNCATION, not hit[0].table, hit[0].cut))


def farthest(hits: Hits) -> Hit:
    """The finding that looks farthest ahead."""
    return max(hits, key=lambda hit: (hit[0].cut - hit[1].rank, hit[0].kind != TRUNCATION, hit[0].table, -hit[0].cut))


def covering(found: Mapping[int, Hits]) -> list[Replay]:
    """Few replays, of which each column has one: again and again the one with most of the columns that are left."""
    left = {n: {replay for replay, _ in hits} for n, hits in found.items()}
    chosen = []
    while left:
        replay = most_telling(left)
        chosen.append(replay)
        left = {n: replays for n, replays in left.items() if replay not in replays}
    return chosen


def most_telling(columns: Mapping[int, set[Replay]]) -> Replay:
    """The replay that shows a leak in most columns."""
    every = {replay for replays in columns.values() for replay in replays}
    return max(every, key=lambda r: (sum(r in replays for replays in columns.values()), -r.cut, r.kind, r.table))


def calls_for_carriers(runner: Runner) -> int:
    """How many calls are kept to find what carries a leak."""
    inputs = len(runner.tables.columns())
    return (min(inputs, MOST_CARRIERS) if inputs > 1 else 0) + (2 if runner.source.groups is not None else 0)


def carriers(runner: Runner, found: Mapping[int, Hits]) -> dict[int, str]:
    """Per leaking column: the input columns, and for panels the groups, through which the future reaches it."""
    names = [runner.tables.shown(place) for place in runner.tables.columns()]
    open_columns = {n: {r for r, _ in hits if r.kind != TRUNCATION} for n, hits in found.items()}
    open_columns = {n: replays for n, replays in open_columns.items() if replays}
    if len(names) == 1:
        carried = dict.fromkeys(open_columns, names[0])
    else:
        carried = {}
        spent = 0
        while open_columns:
            replay = most_telling(open_columns)
            covered = {n for n, replays in open_columns.items() if replay in replays}
            open_columns = {n: replays for n, replays in open_columns.items() if n not in covered}
            if runner.seconds * len(names) > SECONDS / 10 and spent + min(len(names), MOST_CARRIERS) > MOST_CARRIERS:
                break
            carried.update(_through(runner, replay, covered, names))
            spent += len(names)
    return {n: text + _across(runner, n, found[n]) for n, text in carried.items()}


def _through(runner: Runner, replay: Replay, covered: set[int], names: list[str]) -> dict[int, str]:
    """Replace the future of one input column at a time (of halves of them, where there are many)."""
    columns = runner.tables.columns()
    named: dict[int, list[str]] = {n: [] for n in covered}
    if len(columns) > MOST_CARRIERS and runner.seconds * len(columns) > SECONDS / 10:
        number = min(covered)
        suspects = list(columns)
        while len(suspects) > 1:
            half = suspects[: len(suspects) // 2]
            suspects = half if _changes(runner, replay, half, number) else suspects[len(half) :]
        return (
            {number: runner.tables.shown(suspects[0])}
            if _changes(runner, replay, suspects, number)
            else {number: "several columns together"}
        )
    for name, shown in zip(columns, names, strict=True):
        try:
            difference = runner.difference(replay, only={name})
        except (Refused, Unaligned):
            continue
        for n in covered:
            if difference.count(n):
                named[n].append(shown)
    return {n: listed(found) if found else "several columns together" for n, found in named.items()}


def _changes(runner: Runner, replay: Replay, only: Sequence[Place], number: int) -> bool:
    try:
        return runner.difference(replay, only=set(only)).count(number) > 0
    except (Refused, Unaligned):
        return False


def _across(runner: Runner, number: int, hits: Hits) -> str:
    """For panels: whether the row's own group or other groups carry the leak."""
    groups = runner.source.groups
    values = [(r, f) for r, f in hits if r.kind != TRUNCATION]
    if groups is None or not values or runner.aligner.mode == "times" or len(runner.tables.sources) > 1:
        return ""
    replay, finding = earliest(values)
    own = groups == groups[finding.row]
    parts = []
    for text, where in (("its own group", own), ("other groups", ~own)):
        try:
            difference = runner.difference(replay, where=where)
        except (Refused, Unaligned):
            continue
        entries = difference.changed[number]
        rows = difference.base.key[entries[entries >= 0]]
        if bool((rows == finding.row).any()):
            parts.append(text)
    return f", through {' and '.join(parts)}" if parts else ""
