"""The input table read and checked: its kind, names, times, groups, and that the rows are in order of time."""

from __future__ import annotations

from typing import Any

import numpy as np

from .frames import Array, comparable, is_zoned, library_of, shown_time
from .source import Source


def read_source(data: Any, time: Any = None, group: Any = None) -> Source:
    """The input table, checked. Raises TypeError or ValueError: kind, size, names, order in time."""
    library = _known_library(data)
    names = _column_names(data, library)
    times, time_name = _key(data, names, "time", time)
    given = times
    if times is not None:
        times = comparable(times, "time" if time_name is None else f"time = {time_name!r}")
    groups, group_name = _key(data, names, "group", group)
    labels = None
    if groups is not None:
        labels, groups = np.unique(_named(comparable(groups, "group")), return_inverse=True)
        groups = groups.reshape(-1)
    values = [name for name in names if name not in (time_name, group_name)]
    if not values:
        raise ValueError("data has no column beside time and group; pass at least one")
    zoned = given is not None and is_zoned(given)
    source = Source(data, library, values, len(data), time_name, group_name, times, zoned, groups, labels)
    _check_order(source)
    _ = source.notes  # refuses now what could not be told apart when it is replaced
    return source


def _known_library(data: Any) -> str:
    """The library of a table that has rows enough."""
    library = library_of(data)
    if not library:
        raise TypeError(f"data is {type(data).__name__}; pass a pandas or Polars frame or series, or a NumPy array")
    if library == "numpy" and data.ndim not in (1, 2):
        raise ValueError(f"data has shape {data.shape}; pass rows, or rows by columns")
    if len(data) < 2:
        raise ValueError(f"data has {len(data)} rows; a look-ahead check needs at least 2")
    return library


def _column_names(data: Any, library: str) -> list[str]:
    if library == "numpy":
        names = ["x"] if data.ndim == 1 else [f"x{i}" for i in range(data.shape[1])]
    elif hasattr(data, "columns"):
        names = list(data.columns)
    else:
        names = [data.name if data.name not in (None, "") else "x"]
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"data has two columns named {twice[0]}; rename one")
    if not names:
        raise ValueError("data has no columns; pass at least one")
    return names


def _key(data: Any, names: list[str], role: str, key: Any) -> tuple[Any, str | None]:
    """The times or groups per row, as the library holds them, and the name of the column they come from."""
    index = getattr(data, "index", None) if library_of(data) == "pandas" else None
    if key is None:
        clocklike = index is not None and type(index).__name__ in ("DatetimeIndex", "PeriodIndex")
        return (index if role == "time" and clocklike else None), None
    if isinstance(key, str):
        if key in names and library_of(data) != "numpy":
            return data[key], key
        if index is not None and key in index.names:
            return index.get_level_values(key), key
        raise ValueError(f"{role} = {key!r} is no column; the columns are {', '.join(map(str, names))}")
    if len(key) != len(data):
        raise ValueError(f"{role} has {len(key)} entries for {len(data)} rows; pass one per row")
    return key, None


def _named(groups: Array) -> Array:
    return groups.astype(str) if groups.dtype.kind == "O" else groups


def group_numbers(source: Source, values: Any) -> Array:
    """The source's numbers of the groups that a function's rows name; −1 for a group that the source lacks."""
    labels, found = source.group_labels, _named(comparable(values, "the function's groups"))
    assert labels is not None
    try:
        at = np.minimum(np.searchsorted(labels, found), len(labels) - 1)
    except TypeError as error:
        raise ValueError(
            f"the function's groups cannot be compared with the data's ({error}); return the same"
        ) from None
    return np.where(labels[at] == found, at, -1)


def _check_order(source: Source) -> None:
    if source.times is None:
        return
    groups = np.zeros(source.n, int) if source.groups is None else source.groups
    order = np.argsort(groups, kind="stable")
    times, same = source.times[order], groups[order][1:] == groups[order][:-1]
    try:
        back = np.flatnonzero((times[1:] < times[:-1]) & same)
    except TypeError as error:
        raise TypeError(f"time holds values that cannot be compared ({error}); pass times of one kind") from None
    if back.size:
        row = int(order[back[0] + 1])
        within = "" if source.groups is None else " within its group"
        raise ValueError(
            f"time goes back at row {row}{within} ({shown_time(source.times[row])}); sort the data by time first"
        )
