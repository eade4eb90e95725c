"""One way to run a function again, and what it showed: where the series is cut, and what stands in for the future."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...aliases import Array

TRUNCATION = "truncation"
NUMBERS = "numbers"  # where the function refuses all replacements: higher numbers, and nothing else replaced
Place = tuple[int, Any]  # the number of a table and the name of its column


@dataclass(frozen=True)
class Way:
    """What is done to the rows after a cut: in a word for a list of ways, and as the end of a sentence about rows."""

    word: str
    done: str


REPLACEMENTS = {
    "high": Way("higher", "are replaced by higher values"),
    "low": Way("lower", "are replaced by lower values"),
    "draw": Way("drawn", "are replaced by other values of the data"),
    "words": Way("new words", "are replaced by words that the data lack"),
    "gaps": Way("other gaps", "have their gaps elsewhere"),
}
WAYS = {
    TRUNCATION: Way(TRUNCATION, "are taken away"),
    **REPLACEMENTS,
    NUMBERS: Way(NUMBERS, "have higher numbers"),
}


@dataclass(frozen=True)
class Replay:
    """One call: the cut, the way (a name in WAYS) in which the future is changed, and of which table ("": of all)."""

    cut: int
    kind: str
    table: str = ""


@dataclass(frozen=True, eq=False)
class Rewrite:
    """What a replay changed in one column: how many settled entries, and the earliest of them."""

    count: int
    rank: int
    row: int
    label: str
    values: tuple[Any, Any]
    ranks: Array | None


@dataclass(frozen=True, eq=False)
class Trial:
    """A replay that was run: entries compared per column, rewrites by column number, or why the function failed."""

    replay: Replay
    compared: int = 0
    rewrites: tuple[tuple[int, Rewrite], ...] = ()
    failed: str | None = None
    empty: bool = False  # whether it returned no rows
    rows: int = 0

    @property
    def truncates(self) -> bool:
        """Whether the future was taken away and not replaced."""
        return self.replay.kind == TRUNCATION
