"""Decisions that change: what look-ahead does to columns that say when to enter, leave or do nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .outputs import SET_OF_COLUMNS
from .replay import TRUNCATION

if TYPE_CHECKING:
    from collections.abc import Collection

    from .hits import Hits
    from .runner import Runner

MOST_SHOWN = 3


@dataclass(frozen=True)
class Decisions:
    """How many of a column's decisions change, of how many, and when; at least so many where not every cut was made.

    `live`: so many were others when later rows were not there yet; otherwise only later values that are others do it.
    """

    changed: int
    of: int
    when: tuple[str, ...]
    at_least: bool
    live: bool

    def __str__(self) -> str:
        shown = ", ".join(self.when[:MOST_SHOWN])
        more = f" and {len(self.when) - MOST_SHOWN} more" if len(self.when) > MOST_SHOWN else ""
        how = "are others when made live" if self.live else "change with later values"
        return f"{'at least ' * self.at_least}{self.changed} of {self.of} decisions {how}, at {shown}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**asdict(self), "when": list(self.when)}


def is_signal(runner: Runner, number: int, signals: Collection[str]) -> bool:
    """Whether a column was named as a signal, or holds truth values or words."""
    name, column = runner.base.names[number], runner.base.columns[number]
    if name == SET_OF_COLUMNS:
        return False
    values = (value for value in column[:1000].tolist() if value is not None) if column.dtype.kind == "O" else iter(())
    first = next(values, None)
    return name in signals or column.dtype.kind == "b" or isinstance(first, (str, bool))


def decisions(runner: Runner, hits: Hits, every: bool) -> Decisions:
    """The instants (or rows) at which some later input changes what a column decided."""
    live = [hit for hit in hits if hit.replay.kind == TRUNCATION]
    hits = live or hits
    found = [np.array([hit.rewrite.rank]) if hit.rewrite.ranks is None else hit.rewrite.ranks for hit in hits]
    ranks = np.unique(np.concatenate(found))
    clock = runner.clock
    counted = all(hit.rewrite.ranks is not None for hit in hits)
    when = tuple(clock.describe(int(rank)).removeprefix("time ") for rank in ranks)
    return Decisions(
        len(ranks), max(clock.ranks - clock.startup, len(ranks)), when, not (every and counted), bool(live)
    )
