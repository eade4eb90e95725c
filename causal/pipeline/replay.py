"""One way to run a function again: where the series is cut, and what stands in for the future."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TRUNCATION = "truncation"
REPLACEMENTS = ("high", "low", "draw", "words", "gaps")
NUMBERS = "numbers"  # where the function refuses all of these: higher numbers, and nothing else replaced
Place = tuple[int, Any]  # the number of a table and the name of its column


@dataclass(frozen=True)
class Replay:
    """One call: the cut, "truncation" or the way in which the future is replaced, and of which table ("": of all)."""

    cut: int
    kind: str
    table: str = ""
