"""Values, names and numbers as a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def shown(value: Any) -> str:
    """A value.

    >>> shown(1 / 3), shown("no row")
    ('0.333333', 'no row')
    """
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names with commas, at most `most` of them and then how many more.

    >>> listed(["open", "high", "low"], most=2)
    'open, high and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def counted(number: int, what: str) -> str:
    """How many of something.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {what}{'s' * (number != 1)}"
