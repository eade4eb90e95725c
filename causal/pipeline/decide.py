"""From a function and its input to the verdict: search, confirmation, columns, and what to say of all that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..spans import spans_of
from ..verdict import Column, Status, Verdict, versions_of
from .columns import columns_of
from .confirm import Confirmed, confirm
from .cuts import all_cuts
from .evidence import assumptions_of, evidence_of
from .hits import Hits, earliest
from .reasons import outside, reasons_of
from .search import Search, Searched, run_search
from .signals import decisions, is_signal
from .witness import witness_of
from .words import counted

if TYPE_CHECKING:
    from collections.abc import Collection

    from .runner import Runner


def decide(runner: Runner, search: Search, labels: Collection[str], signals: Collection[str] = ()) -> Verdict:
    """The verdict on what the replays find in columns that are no `labels`; of `signals` it counts the decisions."""
    searched = run_search(runner, search, labels)
    confirmed = confirm(runner, searched)
    columns = columns_of(runner, searched, confirmed, labels, signals)
    refuted = [column for column in columns if column.status is Status.REFUTED]
    leaking = [column.name for column in refuted]
    said = "no leak on these cuts"
    if leaking:
        said = f"{len(leaking)} look{'s' * (len(leaking) == 1)} ahead: {_first(refuted[0])}"
    about = f"{counted(len(columns), 'column')} over {runner.tables.describe()}"
    return Verdict(
        "pipeline",
        f"{about}, {_share(runner, searched)}, {runner.calls} calls: {said}",
        Status.REFUTED if leaking else Status.UNDECIDED,
        claims=("T17",),
        evidence=evidence_of(runner, searched, confirmed, labels),
        assumptions=assumptions_of(runner),
        witness=witness_of(runner, leaking[0], earliest(_hits_in(runner, confirmed, leaking[0]))) if leaking else None,
        reasons=reasons_of(runner, searched, confirmed, bool(leaking)),
        boundary=runner.clock.boundary,
        columns=tuple(columns),
        details=_details(runner, searched, confirmed, labels)
        | {"signals": _signals(runner, searched, confirmed, signals)},
        versions=versions_of("numpy", *([] if runner.source.library == "numpy" else [runner.source.library])),
        input_hash=runner.tables.fingerprint(),
    )


def _first(column: Column) -> str:
    """The first leaking column, its row, reach and carrier, in a few words."""
    how, first, *_ = column.detail.split("; ")
    far = how.removeprefix("looks ahead ")
    by = f", by {column.carrier}" if column.carrier else ", by the length" if column.through == "length" else ""
    return f"{column.name} ({first.partition(': ')[0].removeprefix('first ')}, {far}{by})"


def _share(runner: Runner, searched: Searched) -> str:
    every = searched.every(runner.clock)
    return "every cut" if every else f"{len(searched.cuts)} of {len(all_cuts(runner.clock))} cuts"


def _hits_in(runner: Runner, confirmed: Confirmed, name: str) -> Hits:
    return confirmed.hits[runner.base.names.index(name)]


def _details(runner: Runner, searched: Searched, confirmed: Confirmed, labels: Collection[str]) -> dict[str, Any]:
    names = runner.base.names
    return {
        "cuts": searched.cuts,
        "calls": runner.calls,
        "aligned_by": runner.aligner.mode,
        "every_cut": searched.every(runner.clock),
        "leaking_ranks": {names[n]: _ranks(confirmed.hits[n]) for n in sorted(confirmed.hits) if confirmed.hits[n]},
        "noise": {name: size for name, size in zip(names, confirmed.noise, strict=True) if size},
        "untold": [
            name
            for number, (name, size) in enumerate(zip(names, confirmed.noise, strict=True))
            if size and number not in confirmed.leaking and name not in labels
        ],
        "outside": list(outside(runner)),
        "seed": runner.seed,
    }


def _signals(
    runner: Runner, searched: Searched, confirmed: Confirmed, signals: Collection[str]
) -> dict[str, dict[str, Any]]:
    """By column of signals how many decisions change, and when."""
    every = searched.every(runner.clock)
    found = {runner.base.names[n]: hits for n, hits in confirmed.leaks.items() if is_signal(runner, n, signals)}
    return {name: decisions(runner, hits, every).to_dict() for name, hits in found.items()}


def _ranks(hits: Hits) -> list[list[int]] | None:
    """The ranks of the changed rows in runs; None where they were too many to keep."""
    kept = [hit.rewrite.ranks for hit in hits if hit.rewrite.ranks is not None]
    return [list(run) for run in spans_of(np.unique(np.concatenate(kept)))] if kept else None
