"""Through which input columns, and for panels through which groups, the future reaches an output column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .alignment import Unaligned
from .budget import CALLS, MOST_CARRIERS, calls_allowed
from .hits import Hits, earliest, most_telling
from .replay import TRUNCATION, Place, Replay
from .runner import Refused, Runner
from .words import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ...aliases import Array

SEVERAL = "several columns together"


def carriers(runner: Runner, leaks: Mapping[int, Hits]) -> dict[int, str]:
    """Per leaking column: the input columns, and for panels the groups, through which the future reaches it."""
    names = [runner.tables.shown(place) for place in runner.tables.columns()]
    replays = {n: {hit.replay for hit in _replacing(hits)} for n, hits in leaks.items()}
    replays = {n: some for n, some in replays.items() if some}
    carried = dict.fromkeys(replays, names[0]) if len(names) == 1 else _one_by_one(runner, replays, names)
    return {n: text + _across(runner, n, leaks[n]) for n, text in carried.items()}


def _replacing(hits: Hits) -> Hits:
    return [hit for hit in hits if hit.replay.kind != TRUNCATION]


def _one_by_one(runner: Runner, replays: dict[int, set[Replay]], names: list[str]) -> dict[int, str]:
    """Few replays, each made again with one input column at a time, as far as the calls reach."""
    carried: dict[int, str] = {}
    spent, allowed = 0, calls_allowed(runner.tables)
    most = MOST_CARRIERS if allowed == CALLS else allowed
    while replays:
        replay = most_telling(replays)
        covered = {n for n, some in replays.items() if replay in some}
        replays = {n: some for n, some in replays.items() if n not in covered}
        if spent + min(len(names), MOST_CARRIERS) > most:
            break
        if len(names) > max(MOST_CARRIERS, most - spent):
            carried |= _by_halves(runner, replay, min(covered))
            spent += len(names).bit_length() + 1
        else:
            carried |= _by_columns(runner, replay, covered, names)
            spent += len(names)
    return carried


def _by_halves(runner: Runner, replay: Replay, number: int) -> dict[int, str]:
    suspects = runner.tables.columns()
    while len(suspects) > 1:
        half = suspects[: len(suspects) // 2]
        suspects = half if number in _changed(runner, replay, half) else suspects[len(half) :]
    alone = number in _changed(runner, replay, suspects)
    return {number: runner.tables.shown(suspects[0]) if alone else SEVERAL}


def _by_columns(runner: Runner, replay: Replay, covered: set[int], names: list[str]) -> dict[int, str]:
    named: dict[int, list[str]] = {n: [] for n in covered}
    for place, shown in zip(runner.tables.columns(), names, strict=True):
        for n in _changed(runner, replay, {place}) & covered:
            named[n].append(shown)
    return {n: listed(found) if found else SEVERAL for n, found in named.items()}


def _changed(runner: Runner, replay: Replay, only: Collection[Place]) -> set[int]:
    """The output columns that change when some input columns are replaced; both runs are given up here."""
    try:
        difference = runner.difference(replay, only=set(only))
    except (Refused, Unaligned):
        return set()
    return {n for n in range(len(difference.changed)) if difference.count(n)}


def _of_group(runner: Runner, group: int) -> list[Array]:
    """Per table which of its rows are of a group of the first; none in a table without groups."""
    labels = runner.source.group_labels
    assert labels is not None
    found = []
    for source in runner.tables.sources:
        own = np.zeros(source.n, bool)
        if source.groups is not None and source.group_labels is not None:
            own = (source.group_labels == labels[group])[source.groups]
        found.append(own)
    return found


def _across(runner: Runner, number: int, hits: Hits) -> str:
    """For panels: whether the row's own group or other groups carry the leak."""
    groups = runner.source.groups
    values = _replacing(hits)
    if groups is None or not values or runner.aligner.mode == "times":
        return ""
    replay, rewrite = earliest(values)
    own = _of_group(runner, groups[rewrite.row])
    parts = []
    for text, where in (("its own group", own), ("other groups", [~of if of.any() else of for of in own])):
        try:
            difference = runner.difference(replay, where=where)
        except (Refused, Unaligned):
            continue
        entries = difference.changed[number]
        rows = difference.base.key[entries[entries >= 0]]
        if bool((rows == rewrite.row).any()):
            parts.append(text)
    return f", through {' and '.join(parts)}" if parts else ""
