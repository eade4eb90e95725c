"""How many positions, queries or places there are: whole numbers, from arguments or from the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from ..aliases import Array

Align = Literal["start", "end"]


def count(name: str, value: Any, least: int = 0) -> int:
    """A whole number that is at least `least`, or a one-sentence error."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ArgumentTypeError(name, f"must be a whole number, not {value!r}", "pass an int")
    if value < least:
        raise ArgumentError(name, "is too small", f"pass at least {least}", int(value))
    return int(value)


def read_count(text: str, what: str, least: int) -> int:
    """A whole number from the command line's notation."""
    if re.fullmatch(r"\s*[+-]?\d+\s*", text) is None:
        raise ValueError(f"{what} is {text!r}, which is no whole number")
    if int(text) < least:
        raise ValueError(f"{what} is {int(text)}, which is below {least}")
    return int(text)


def standing(n: int, queries: int | None, align: str) -> Array:
    """Positions at which the queries stand, shape (queries,)."""
    if align not in ("start", "end"):
        raise ArgumentError("align", "is unknown", "pass 'start' or 'end'", align)
    m = n if queries is None else count("queries", queries)
    if m > n:
        problem = f"exceeds the n = {n} positions they stand at"
        raise ArgumentError("queries", problem, "pass queries ≤ n or a relation", m)
    positions = np.arange(n)
    positions.setflags(write=False)
    return positions[n - m :] if align == "end" else positions[:m]
