"""What the verdict says of each output column: whether it looks ahead, how far, and what carries it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..verdict import Column, Status
from .carriers import carriers
from .hits import Hit, Hits, earliest
from .outputs import SET_OF_COLUMNS
from .replay import TRUNCATION
from .signals import decisions, is_signal
from .words import counted, duration, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from .confirm import Confirmed
    from .runner import Runner
    from .search import Searched

WHOLE_SERIES = "whole series"


def columns_of(
    runner: Runner, searched: Searched, confirmed: Confirmed, labels: Collection[str], signals: Collection[str] = ()
) -> list[Column]:
    """Every output column, and the set of columns where that changes. Finds what carries the leaks by more calls."""
    through = carriers(runner, confirmed.leaks)
    every = searched.every(runner.clock)
    found = []
    for number, name in enumerate(runner.base.names):
        hits, noise = confirmed.hits.get(number, []), confirmed.noise[number]
        if name == SET_OF_COLUMNS and not hits:
            continue
        score = sum(hit.rewrite.count for hit in hits) / searched.compared if searched.compared else None
        if number not in confirmed.leaking:
            column = Column(name, Status.UNDECIDED, _no_leak(noise, name in labels), score=score)
        else:
            column = _leak(runner, name, hits, through.get(number), score, name in labels, every)
            if is_signal(runner, number, signals):
                column = replace(column, detail=f"{column.detail}; {decisions(runner, hits, every)}")
            if noise:
                column = replace(column, detail=f"{column.detail}; {_far_above(noise)}")
        found.append(column)
    return found


def _no_leak(noise: float, label: bool) -> str:
    if not noise:
        return "declared a label" if label else "no leak on these cuts"
    size = f" by up to {noise:.3g}" if np.isfinite(noise) else ""
    note = f"non-deterministic: runs on equal input differ{size}, so that no leak can be told"
    return ("declared a label; " if label else "") + note


def _far_above(noise: float) -> str:
    return f"non-deterministic, but runs on equal input differ by no more than {noise:.3g}"


def _leak(
    runner: Runner, name: str, hits: Hits, carrier: str | None, score: float | None, label: bool, every: bool
) -> Column:
    rewrite = earliest(hits).rewrite
    reach = _reach(runner, hits)
    through = "length" if all(hit.replay.kind == TRUNCATION for hit in hits) else "value"
    by = "the length of the series" if through == "length" else carrier and f"column {carrier}"
    before, after = map(shown, rewrite.values)
    detail = f"{_how(runner, reach, hits, every)}; first at {rewrite.label}: {before} becomes {after}"
    detail += f"; carried by {by}" if by else ""
    detail += f"; {share(score)} of settled values rewritten" if score else ""
    if label:
        return Column(name, Status.UNDECIDED, f"declared a label, which may look ahead: {detail}", score=score)
    return Column(name, Status.REFUTED, detail, rewrite.row, reach, rewrite.values, carrier, through, score)


def share(score: float) -> str:
    """A share that is not 0 never reads as 0."""
    return f"{score:.2%}" if score >= 0.00005 else "less than 0.01%"


def _reach(runner: Runner, hits: Hits) -> int | str:
    """How many ranks the column looks ahead at most, or that it looks over all of them."""
    steps = _steps(farthest_of(hits))
    ranks = runner.clock.ranks
    return WHOLE_SERIES if ranks > 5 and steps >= 0.85 * (ranks - 1) else steps


def _steps(hit: Hit) -> int:
    return hit.replay.cut + 1 - hit.rewrite.rank


def farthest_of(hits: Hits) -> Hit:
    """The hit that looks over most ranks."""
    return max(hits, key=_steps)


def _how(runner: Runner, reach: int | str, hits: Hits, every: bool) -> str:
    """How far it looks, in ranks and in time: at least so far where not every cut was made."""
    if not isinstance(reach, int):
        return f"looks ahead over the {reach}"
    if not reach:
        return "uses its own row, which the boundary forbids"
    hit, instants = farthest_of(hits), runner.clock.instants
    least, span = "" if every else "at least ", ""
    if instants is not None and instants.dtype.kind == "M" and hit.rewrite.rank >= 0:
        span = f" ({duration(instants[hit.replay.cut + 1] - instants[hit.rewrite.rank])})"
    return f"looks ahead {least}{counted(reach, runner.clock.unit)}{span}"
