"""Tables of every kind, seen alike: which library they are of, times that sort, entries as objects.

pandas and Polars frames and series and NumPy arrays; neither library is imported unless its objects are passed in.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from ...aliases import Array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...aliases import Array


DAY_OR_MONTH_FIRST = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\b")


def library_of(value: Any) -> str:
    """ "pandas", "polars", "numpy" or "" for anything else."""
    for name in ("pandas", "polars"):
        module = sys.modules.get(name)
        if module is not None and isinstance(value, (module.DataFrame, module.Series)):
            return name
    return "numpy" if isinstance(value, np.ndarray) else ""


def comparable(values: Any, name: str = "time") -> Array:
    """Times as a 1-D array that sorts: time zones and periods become integers, counted from one common origin.

    Raises ValueError when a time is missing.
    """
    if library_of(values) == "polars":
        values = values.to_numpy()
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        if isinstance(values, pandas.Series):
            values = values.array if pandas.api.types.is_extension_array_dtype(values.dtype) else values.to_numpy()
        if isinstance(values, pandas.PeriodIndex):
            values = values.to_timestamp()
        if getattr(values, "tz", None) is not None:
            values = pandas.DatetimeIndex(values).tz_convert("UTC").tz_localize(None)
    found = _dates_in_text(np.asarray(values))
    if found.dtype.kind == "M":
        found = found.astype("datetime64[ns]")
    if found.ndim != 1:
        raise ValueError(f"{name} has shape {found.shape}; pass one time per row")
    missing = np.flatnonzero(found != found)
    if found.dtype.kind == "O":
        missing = np.flatnonzero([v is None or v != v for v in found])
    if missing.size:
        raise ValueError(f"{name} is missing at row {missing[0]}; drop or fill that row")
    return found


def holds_times(column: Any) -> bool:
    """Whether a column is one of dates or times."""
    return getattr(column.dtype, "kind", "") == "M" or str(column.dtype).startswith("Date")


def _dates_in_text(values: Array) -> Array:
    """Times with an offset that are written as text, as times in UTC: as text they do not sort where summer time ends.

    >>> _dates_in_text(np.array(["2024-10-27T02:30+02:00", "2024-10-27T02:10+01:00"], dtype=object)).tolist()
    [datetime.datetime(2024, 10, 27, 0, 30), datetime.datetime(2024, 10, 27, 1, 10)]
    """
    if values.dtype.kind not in "OU" or not len(values) or not all(isinstance(v, str) for v in values):
        return values
    try:
        read = [datetime.fromisoformat(str(value)) for value in values]
    except ValueError:
        return values
    if any(at.tzinfo is None for at in read):
        return values
    return np.array([at.astimezone(UTC).replace(tzinfo=None) for at in read], dtype="datetime64[us]")


def is_text(values: Array) -> bool:
    """Whether an array holds text and nothing else."""
    return values.dtype.kind == "U" or (values.dtype.kind == "O" and all(isinstance(v, str) for v in values))


def sorts_as_time(texts: Array) -> bool:
    """Whether texts begin with a year of four digits and are written alike, so that their order is that of time.

    >>> sorts_as_time(np.array(["2024-02-01", "2024-10-01"])), sorts_as_time(np.array(["2024-2-1", "2024-10-1"]))
    (True, False)
    """
    shapes = {re.sub(r"\d", "9", str(text)) for text in texts}
    return len(shapes) == 1 and next(iter(shapes)).startswith("9999")


def zone_of(times: Any) -> Any:
    """The time zone of times, as Python has it; None where they have none."""
    kind = getattr(times, "dtype", None)
    named = getattr(kind, "time_zone", None)
    if named is None:
        return getattr(kind, "tz", None)
    try:
        return ZoneInfo(named)
    except (ValueError, ZoneInfoNotFoundError):
        return UTC


def shown_time(value: Any, zone: Any = None) -> str:
    """A time for a person: no trailing zeros of nanoseconds, and in a time zone where there is one.

    >>> shown_time(np.datetime64("2024-07-01T12:30")), shown_time(np.datetime64("2024-07-01T12:30"), UTC)
    ('2024-07-01T12:30', '2024-07-01T12:30+00:00')
    """
    if isinstance(value, np.datetime64) and zone is not None:
        at = value.astype("datetime64[us]").item().replace(tzinfo=UTC).astimezone(zone)
        text: str = at.isoformat(timespec="auto" if at.second or at.microsecond else "minutes")
        return text
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[ns]"))
        for zeros in (".000000000", "000000", "000"):
            text = text.removesuffix(zeros)
        return text.removesuffix(":00").removesuffix("T00:00")
    return str(value)


def objects(entries: Sequence[Any]) -> Array:
    """A 1-D array of objects, also of lists of one length."""
    found = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):
        found[i] = entry
    return found


def as_array(column: Any) -> Array:
    """A pandas or Polars column as a 1-D array; lists, arrays and structures as objects."""
    if library_of(column) == "polars" and column.dtype.is_nested():
        return objects(column.to_list())
    values: Array = column.to_numpy()
    return values


def entry_text(value: Any) -> str:
    """An entry as text in which nothing is left out."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(entry_text, value))}]"
    return entry_text(value.tolist()) if isinstance(value, np.ndarray) else str(value)
