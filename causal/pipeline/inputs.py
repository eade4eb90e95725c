"""The input read and checked: one table or several, their kinds, names, times and groups, and the order of rows."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError, ArgumentTypeError, BadArgument
from .clock import after_startup, clock_of, clocks_of
from .conversion import converted, is_table
from .frames import DAY_OR_MONTH_FIRST, comparable, is_text, library_of, sorts_as_time, zone_of
from .source import Source
from .tables import Tables

if TYPE_CHECKING:
    from ...aliases import Array
    from ..boundary import Boundary


def read_tables(
    function: Any, data: Any, time: Any, group: Any, boundary: Boundary | str | None, startup: int = 0
) -> Tables:
    """The tables in `data`: a tuple or list of them, a mapping of names to them, or one.

    `time` and `group` may be mappings by table; a name of a column is meant for every table that has it. The first
    `startup` rows are never compared. Raises TypeError or ValueError, one sentence each.
    """
    keys = {"time": _names_only(time), "group": _names_only(group)}
    if not _are_several(data):
        source = read_source(data, time, group)
        clock = after_startup(clock_of(source, boundary), source, startup)
        return Tables([""], [source], [clock], [("", 0)], "one", **keys)
    how = "keywords" if isinstance(data, Mapping) else "positions"
    given = dict(data) if isinstance(data, Mapping) else dict(zip(_parameters(function, len(data)), data, strict=True))
    if not given:
        raise ArgumentError("data", "is empty", "pass at least one table")
    for role, key in (("time", time), ("group", group)):
        unknown = [name for name in key if name not in given] if isinstance(key, Mapping) else []
        if unknown:
            problem = f"names table {unknown[0]!r}, which is not in data"
            raise ArgumentError(role, problem, f"they are {', '.join(given)}")
    names, tables, places = _without_repeats(given)
    sources = [_read_one(name, tables[i], i, time, group) for i, name in enumerate(names)]
    static = [isinstance(time, Mapping) and name in time and time[name] is None for name in names]
    first, *others = clocks_of(names, sources, static, boundary)
    return Tables(names, sources, [after_startup(first, sources[0], startup), *others], places, how, **keys)


def _are_several(data: Any) -> bool:
    if isinstance(data, Mapping):
        return True
    return isinstance(data, (tuple, list)) and len(data) > 0 and all(is_table(d) for d in data)


def _without_repeats(given: Mapping[str, Any]) -> tuple[list[str], list[Any], list[tuple[str, int]]]:
    """The different tables and their names, and per name of the call which of them stands there."""
    names: list[str] = []
    tables: list[Any] = []
    places: list[tuple[str, int]] = []
    for name, table in given.items():
        same = next((i for i, other in enumerate(tables) if other is table), None)
        if same is None:
            names.append(str(name))
            tables.append(table)
        places.append((name, len(tables) - 1 if same is None else same))
    return names, tables, places


def _read_one(name: str, table: Any, number: int, time: Any, group: Any) -> Source:
    """One of several tables; errors say which."""
    try:
        return read_source(table, _key(time, name, table, number), _key(group, name, table, number))
    except BadArgument as error:
        raise error.within(f"table {name}") from None
    except (TypeError, ValueError) as error:
        raise type(error)(f"table {name}: {error}") from None


def _names_only(key: Any) -> Any:
    """A time or group by name, for the record; None for one value per row."""
    if isinstance(key, Mapping):
        return {name: _names_only(one) for name, one in key.items()}
    return key if isinstance(key, str) else None


def _parameters(function: Any, count: int) -> list[str]:
    """The names of a function's first parameters, or "table 1", "table 2", … where it does not tell them."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:count]
    return names if len(names) == count else [f"table {i + 1}" for i in range(count)]


def _key(key: Any, name: str, table: Any, number: int) -> Any:
    """The time or group of one table: by table, or a column that it has (the first table must have it)."""
    if isinstance(key, Mapping):
        return key.get(name)
    if isinstance(key, str) and number:
        index = getattr(getattr(table, "index", None), "names", ())
        return key if key in list(getattr(table, "columns", ())) or key in list(index) else None
    return key if isinstance(key, str) or not number else None


def read_source(data: Any, time: Any = None, group: Any = None) -> Source:
    """The input table, checked. Raises TypeError or ValueError: kind, size, names, order in time."""
    data, back, note = _converted(data)
    library = _known_library(data)
    names = _column_names(data, library)
    times, time_name = _keyed(data, names, "time", time)
    given = times
    if times is not None:
        times = comparable(times, "time" if time_name is None else f"time = {time_name!r}")
        _check_text(times)
    groups, group_name = _keyed(data, names, "group", group)
    labels = None
    if groups is not None:
        labels, groups = np.unique(_named(comparable(groups, "group")), return_inverse=True)
        groups = groups.reshape(-1)
    values = [name for name in names if name not in (time_name, group_name)]
    if not values and times is None:
        raise ArgumentError("data", "has no column beside time and group", "pass at least one")
    zone = None if given is None else zone_of(given)
    remarks = [note] if note else []
    if not values:
        remarks.append("data holds times and nothing else, so that rows were taken away and nothing was replaced")
    order = _order_of(times, groups)
    if order is not None:
        data = data[order] if library != "pandas" else data.iloc[order]
        times, groups = (None if of is None else of[order] for of in (times, groups))
        remarks.append("rows were sorted by time first, for the function as well; they are numbered in that order")
    keys = (time_name, group_name, times, zone, groups, labels)
    source = Source(data, library, values, len(data), *keys, back, tuple(remarks))
    _ = source.notes  # refuses now what could not be told apart when it is replaced
    return source


def _known_library(data: Any) -> str:
    """The library of a table that has rows enough."""
    library = library_of(data)
    if library == "numpy" and data.ndim not in (1, 2):
        raise ArgumentError("data", f"has shape {data.shape}", "pass rows, or rows by columns")
    if len(data) < 2:
        raise ArgumentError("data", f"has {len(data)} rows", "a look-ahead check needs at least 2")
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
        raise ArgumentError("data", f"has two columns named {twice[0]}", "rename one")
    if not names and type(getattr(data, "index", None)).__name__ not in ("DatetimeIndex", "PeriodIndex"):
        raise ArgumentError("data", "has no columns", "pass at least one")
    return names


def _converted(data: Any) -> tuple[Any, Any, str]:
    found = converted(data)
    return found.table, found.back, found.note


def _keyed(data: Any, names: list[str], role: str, key: Any) -> tuple[Any, str | None]:
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
        raise ArgumentError(role, "is no column", f"the columns are {', '.join(map(str, names))}", key)
    if len(key) != len(data):
        raise ArgumentError(role, f"has {len(key)} entries for {len(data)} rows", "pass one per row")
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


def _check_text(times: Array) -> None:
    """Refuse dates that begin with the day or the month: as text they are not in the order of time."""
    if is_text(times) and not sorts_as_time(times):
        unread = next((text for text in times if DAY_OR_MONTH_FIRST.match(text)), None)
        if unread is not None:
            problem = f"holds dates as text that does not sort, such as {unread!r}"
            remedy = "pass dates, such as those of pandas.to_datetime(…, format='%m/%d/%Y'), or write them as ISO"
            raise ArgumentError("time", problem, remedy)


def _order_of(times: Array | None, groups: Array | None) -> Array | None:
    """The order of rows by time; None where they are in it, within each group at least."""
    if times is None:
        return None
    numbers = np.zeros(len(times), int) if groups is None else groups
    within = np.argsort(numbers, kind="stable")
    ordered, same = times[within], numbers[within][1:] == numbers[within][:-1]
    try:
        back = np.flatnonzero((ordered[1:] < ordered[:-1]) & same)
        if len(back) and is_text(times) and not sorts_as_time(times):
            at = back[0]
            problem = f"holds text that is not in its own order, such as {ordered[at + 1]!r} after {ordered[at]!r}"
            raise ArgumentError("time", problem, "pass times, numbers or ISO dates")
        return np.argsort(times, kind="stable") if len(back) else None
    except TypeError as error:
        problem = f"holds values that cannot be compared ({error})"
        raise ArgumentTypeError("time", problem, "pass times of one kind") from None
