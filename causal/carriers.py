"""Through which input columns, and for panels through which groups, the future reaches an output column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .replays import TRUNCATION, Finding, Refused, Replay, Runner

MOST_CARRIERS = 20
SECONDS = 3.0

Hit = tuple[Replay, Finding]
Hits = list[Hit]


def earliest(hits: Hits) -> Hit:
    """The finding at the earliest row; a replacement rather than a truncation, where both found it."""
    return min(hits, key=lambda hit: (hit[1].rank, hit[0].kind == TRUNCATION, hit[0].cut))


def carriers(runner: Runner, found: Mapping[int, Hits]) -> dict[int, str]:
    """Per leaking column: the input columns, and for panels the groups, through which the future reaches it."""
    names = [str(name) for name in runner.source.names]
    open_columns = {n: {r for r, _ in hits if r.kind != TRUNCATION} for n, hits in found.items()}
    open_columns = {n: replays for n, replays in open_columns.items() if replays}
    if len(names) == 1:
        carried = dict.fromkeys(open_columns, names[0])
    else:
        carried = {}
        spent = 0
        while open_columns:
            replay = max(
                {r for replays in open_columns.values() for r in replays},
                key=lambda r: (sum(r in replays for replays in open_columns.values()), -r.cut, r.kind),
            )
            covered = {n for n, replays in open_columns.items() if replay in replays}
            open_columns = {n: replays for n, replays in open_columns.items() if n not in covered}
            if runner.seconds * len(names) > SECONDS / 10 and spent + min(len(names), MOST_CARRIERS) > MOST_CARRIERS:
                break
            carried.update(_through(runner, replay, covered, names))
            spent += len(names)
    return {n: text + _across(runner, n, found[n]) for n, text in carried.items()}


def _through(runner: Runner, replay: Replay, covered: set[int], names: list[str]) -> dict[int, str]:
    """Replace the future of one input column at a time (of halves of them, where there are many)."""
    columns = runner.source.names
    named: dict[int, list[str]] = {n: [] for n in covered}
    if len(columns) > MOST_CARRIERS and runner.seconds * len(columns) > SECONDS / 10:
        number = min(covered)
        suspects = list(columns)
        while len(suspects) > 1:
            half = suspects[: len(suspects) // 2]
            suspects = half if _changes(runner, replay, half, number) else suspects[len(half) :]
        return (
            {number: str(suspects[0])}
            if _changes(runner, replay, suspects, number)
            else {number: "several columns together"}
        )
    for name, shown in zip(columns, names, strict=True):
        try:
            difference = runner.difference(replay, only={name})
        except Refused:
            continue
        for n in covered:
            if difference.count(n):
                named[n].append(shown)
    return {n: listed(found) if found else "several columns together" for n, found in named.items()}


def _changes(runner: Runner, replay: Replay, only: Sequence[str], number: int) -> bool:
    try:
        return runner.difference(replay, only=set(only)).count(number) > 0
    except Refused:
        return False


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names with commas, at most `most` of them and then how many more."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _across(runner: Runner, number: int, hits: Hits) -> str:
    """For panels: whether the row's own group or other groups carry the leak."""
    groups = runner.source.groups
    values = [(r, f) for r, f in hits if r.kind != TRUNCATION]
    if groups is None or not values or runner.aligner.mode == "times":
        return ""
    replay, finding = earliest(values)
    own = groups == groups[finding.row]
    parts = []
    for text, where in (("its own group", own), ("other groups", ~own)):
        try:
            difference = runner.difference(replay, where=where)
        except Refused:
            continue
        entries = difference.changed[number]
        rows = difference.base.key[entries[entries >= 0]]
        if bool((rows == finding.row).any()):
            parts.append(text)
    return f", through {' and '.join(parts)}" if parts else ""
