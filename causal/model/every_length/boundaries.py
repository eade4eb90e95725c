"""What a boundary says at every length: how late, and how early, a query may read, as terms in its place.

An abstract run follows the latest rank that an element depends on. Ranks are the positions themselves, or the same
counted from the end: what is the latest then is the earliest position. So a boundary with a lower end, as packed
documents have one, is two runs over one program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..setting import ModelError
from .integers import whole

if TYPE_CHECKING:
    from .integers import Term

FORMS = "prefix, strict, lag:K, documents-of:B or blocks:B"


@dataclass(frozen=True)
class Side:
    """One end of what a query may read: `allowed` (of the query's place) is the last position on that side."""

    allowed: Callable[[Term], Term]
    backwards: bool = False  # whether it is the earliest position, rather than the latest

    def rank(self, position: Term, last: Term) -> Term:
        """The rank of a position, where the last one is `last`."""
        return last - position if self.backwards else position


def lagging(k: int) -> Side:
    """Nothing after t − k."""
    return Side(lambda t: t - k)


def sides_of(boundary: Any) -> tuple[Side, ...]:
    """The ends of a boundary; ModelError for one that speaks of a single length, or of what nobody can tell for all."""
    name, _, argument = boundary.partition(":") if isinstance(boundary, str) else ("", "", "")
    if boundary is None or boundary == "prefix":
        return (lagging(0),)
    if boundary == "strict":
        return (lagging(1),)
    if argument.isdecimal() and name == "lag":
        return (lagging(int(argument)),)
    if argument.isdecimal() and int(argument) > 0 and name in ("documents-of", "blocks"):
        size = whole(int(argument))
        if name == "blocks":
            return (Side(lambda t: t / size * size + size - 1),)
        return (lagging(0), Side(lambda t: t / size * size, backwards=True))
    problem = "does not say what holds at every length"
    if boundary == "bidirectional":
        problem = "forbids nothing at any length"
    elif name == "documents":
        problem = "speaks of one length, the sum of its documents"
    elif callable(boundary):
        problem = "is a function, of which nobody knows what it gives at every length"
    remedy = f"use {FORMS} with lengths='all'"
    raise ModelError("boundary", problem, remedy, boundary if isinstance(boundary, str) else ...)
