"""The input table read and checked: its kind, names, times, groups, and that the rows are in order of time."""

from __future__ import annotations

from typing import Any

import numpy as np

from .frames import Array, Source, comparable, is_zoned, library_of, shown_time


def read_source(data: Any, time: Any = None, group: Any = None) -> Source:
    """The input table, checked. Raises TypeError or ValueError: kind, size, names, order in time."""
    library = library_of(data)
    if not library:
        raise TypeError(f"data is {type(data).__name__}; pass a pandas or Polars frame or series, or a NumPy array")
    if library == "numpy" and data.ndim not in (1, 2):
        raise ValueError(f"data has shape {data.shape}; pass rows, or rows by columns")
    n = len(data)
    if n < 2:
        raise ValueError(f"data has {n} rows; a look-ahead check needs at least 2")
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
    source = Source(data, library, names, n)
    times, source.time_name = _key(source, "time", time)
    if times is not None:
        source.times = comparable(times, "time" if source.time_name is None else f"time = {source.time_name!r}")
        source.zoned = is_zoned(times)
        if source.zoned:
            source.notes.append("times are shown in UTC")
    groups, source.group_name = _key(source, "group", group)
    if groups is not None:
        source.group_labels, source.groups = np.unique(_named(comparable(groups, "group")), return_inverse=True)
        source.groups = source.groups.reshape(-1)
    source.names = [name for name in names if name not in (source.time_name, source.group_name)]
    if not source.names:
        raise ValueError("data has no column beside time and group; pass at least one")
    _check_order(source)
    source.notes += _overlooked_times(source)
    for name in source.constant_columns:
        empty = source.missing[name].all()
        what = "has no value at all" if empty else "has one value only"
        source.notes.append(f"column {name} {what}, so nothing can be learnt by replacing it")
    return source


def _overlooked_times(source: Source) -> list[str]:
    """A remark when rows are the clock although a column holds times."""
    if source.times is None:
        for name in source.names:
            dtype = source.column(name).dtype
            if getattr(dtype, "kind", "") == "M" or str(dtype).startswith("Date"):
                return [
                    f"column {name} holds times, but the rows are cut as they stand; pass time={name!r} to cut by it"
                ]
    return []


def _key(source: Source, role: str, key: Any) -> tuple[Any, str | None]:
    """The times or groups per row, as the library holds them, and the name of the column they come from."""
    data = source.data
    index = getattr(data, "index", None) if source.library == "pandas" else None
    if key is None:
        clocklike = index is not None and type(index).__name__ in ("DatetimeIndex", "PeriodIndex")
        return (index if role == "time" and clocklike else None), None
    if isinstance(key, str):
        if key in source.names and source.library != "numpy":
            return data[key], key
        if index is not None and key in index.names:
            return index.get_level_values(key), key
        raise ValueError(f"{role} = {key!r} is no column; the columns are {', '.join(map(str, source.names))}")
    if len(key) != source.n:
        raise ValueError(f"{role} has {len(key)} entries for {source.n} rows; pass one per row")
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
