"""Values, names and numbers as a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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


def duration(span: np.timedelta64) -> str:
    """A stretch of time in its two largest units.

    >>> duration(np.timedelta64(1, "D")), duration(np.timedelta64(90, "m")), duration(np.timedelta64(90061, "s"))
    ('1 day', '1 h 30 min', '1 day 1 h')
    """
    left, parts = int(span.astype("timedelta64[ns]").astype(np.int64)), []
    for word, size in (("day", 86_400 * 10**9), ("h", 3600 * 10**9), ("min", 60 * 10**9), ("s", 10**9)):
        number, left = divmod(left, size)
        if number:
            parts.append(counted(number, word) if word == "day" else f"{number} {word}")
    if not parts:
        return f"{left / 1e6:g} ms"
    return " ".join(parts[:2])
