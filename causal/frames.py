"""Tables of every kind, seen alike: take a prefix of the rows, replace the future, read what a function returned.

pandas and Polars frames and series and NumPy arrays; neither library is imported unless its objects are passed in.
"""

from __future__ import annotations

import copy
import hashlib
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal
from uuid import UUID

import numpy as np

Kind = Literal["high", "low", "draw", "words", "gaps", "numbers"]
FAR = 1000.0  # ranges beyond the range: thresholds need not be near what was seen
IMMUTABLE = (str, bytes, int, float, complex, type(None), np.generic, date, timedelta, Decimal, UUID)
Array = np.ndarray


def library_of(value: Any) -> str:
    """ "pandas", "polars", "numpy" or "" for anything else."""
    for name, types in (("pandas", ("DataFrame", "Series")), ("polars", ("DataFrame", "Series"))):
        module = sys.modules.get(name)
        if module is not None and isinstance(value, tuple(getattr(module, t) for t in types)):
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
    found = np.asarray(values)
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


def shown_time(value: Any) -> str:
    """A time for a person: no trailing zeros of nanoseconds."""
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[ns]"))
        for zeros in (".000000000", "000000", "000"):
            text = text.removesuffix(zeros)
        return text.removesuffix(":00").removesuffix("T00:00")
    return str(value)


@dataclass
class Source:
    """The input table: `names` of its value columns, `times` and `groups` per row where there are any."""

    data: Any
    library: str
    names: list[str]
    n: int
    time_name: str | None = None
    group_name: str | None = None
    times: Array | None = None
    zoned: bool = False
    groups: Array | None = None  # numbers into group_labels
    group_labels: Array | None = None
    notes: list[str] = field(default_factory=list)

    # -- columns ------------------------------------------------------------------------------------------------------

    def column(self, name: str) -> Any:
        """A column in the library's own form."""
        if self.library == "numpy":
            return self.data if self.data.ndim == 1 else self.data[:, self.names.index(name)]
        if self.data.ndim == 1 if self.library == "pandas" else not hasattr(self.data, "columns"):
            return self.data
        return self.data[name]

    @cached_property
    def missing(self) -> dict[str, Array]:
        """Per value column: which rows are missing."""
        found = {}
        for name in self.names:
            column = self.column(name)
            if self.library == "pandas":
                found[name] = column.isna().to_numpy()
            elif self.library == "polars":
                gaps = column.is_null()
                found[name] = ((gaps | column.is_nan()) if column.dtype.is_float() else gaps).to_numpy()
            else:
                found[name] = np.isnan(column) if column.dtype.kind in "fc" else np.zeros(self.n, bool)
        return found

    # -- what replays pass in -----------------------------------------------------------------------------------------

    def copy(self) -> Any:
        """A copy that a function may spoil, down to the lists and arrays that its entries may be."""
        return self._deep(self.data.clone() if self.library == "polars" else self.data.copy())

    def _deep(self, data: Any) -> Any:
        """The same table with its changeable entries copied as well."""
        if not self.nested:
            return data
        if self.library == "numpy":
            return copy.deepcopy(data)
        whole = not hasattr(data, "columns")
        new = {}
        for name in self.nested:
            column = data if whole else data[name]
            entries = [copy.deepcopy(v) for v in column]
            if self.library == "pandas":
                new[name] = type(column)(objects(entries), index=column.index, name=column.name)
            else:
                new[name] = type(column)(column.name, entries, dtype=column.dtype)
        return self._with(new, data)

    def take(self, kept: Array) -> Any:
        """The rows where `kept` (n,) holds, in order, as a copy."""
        m = int(kept.sum())
        prefix = bool(kept[:m].all())
        if self.library == "pandas":
            return self._deep((self.data.iloc[:m] if prefix else self.data.iloc[np.flatnonzero(kept)]).copy())
        if self.library == "polars":
            return self._deep(self.data.head(m).clone() if prefix else self.data.filter(kept))
        return self._deep(self.data[kept])

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The ways in which rows of this table can be replaced."""
        gaps = any(0 < missing.sum() < self.n for missing in self.missing.values())
        return ("high", "low", "draw", *(("words",) if self._texts else ()), *(("gaps",) if gaps else ()))

    def replaced(self, future: Array, kind: Kind, seed: int, only: Collection[str] | None = None) -> Any:
        """A copy in which the rows where `future` (n,) holds have other values, and gaps where they had them.

        "high" and "low" go beyond the column's own range (a positive column stays positive); "draw" takes other values
        of the same column, as columns that are not numbers always do; "words" gives text that the data lack; "gaps"
        moves the gaps of a column that has some to other rows; "numbers" is "high" in columns of numbers, the others
        staying as they are. `only` restricts it to some columns.
        """
        new = {}
        if kind == "numbers":
            kind, only = "high", [name for name in self._numbers if only is None or name in only]
        for index, name in enumerate(self.names):
            if only is None or name in only:
                random = np.random.default_rng([seed, index])
                where = future if kind == "gaps" else future & ~self.missing[name]
                new[name] = self._replaced_column(name, where, kind, random)
        return self._deep(self._with(new))

    def _replaced_column(self, name: str, where: Array, kind: Kind, random: np.random.Generator) -> Any:
        numbers = self._numbers.get(name)
        column = self.column(name)
        if kind == "words" and name in self._texts:
            return self._with_longer_words(column, where)
        beyond = kind in ("high", "low") or (kind != "gaps" and numbers is not None and numbers.dtype.kind == "b")
        if numbers is None or not beyond:
            rows = np.arange(self.n)
            rows[where] = self._other_rows(name, np.flatnonzero(where), random)
            if kind == "gaps":
                rows[where] = self._other_gaps(name, rows[where], random)
            if self.library == "pandas":
                return column.take(rows).set_axis(column.index)
            return column.gather(rows) if self.library == "polars" else column[rows]
        values = numbers.copy()
        values[where] = _beyond(values.dtype, self._range(name), numbers[where], kind, random)
        if self.library == "numpy":
            return values
        if self.library == "polars":
            series = type(column)(column.name, values).cast(column.dtype)
            return series.to_frame().select(_where_polars(column, self.missing[name], series))[column.name]
        if isinstance(column.dtype, np.dtype):
            return type(column)(values.astype(column.dtype), index=column.index, name=column.name)
        import pandas

        kept = pandas.Series(values, index=column.index, name=column.name).astype(object)
        kept[self.missing[name]] = pandas.NA
        return kept.astype(column.dtype)

    @cached_property
    def nested(self) -> list[str]:
        """The columns with entries that can be changed in place, such as lists and arrays."""
        found = []
        for name in self.names:
            column = self.column(name)
            held = getattr(column, "dtype", None)
            if str(held).lower() == "object" and not all(issubclass(t, IMMUTABLE) for t in {type(v) for v in column}):
                found.append(name)
        return found if self.library != "numpy" or self.data.ndim == 1 else found[:1]

    @cached_property
    def _texts(self) -> list[str]:
        """The columns of text to which any word can be written."""
        found = []
        for name in self.names:
            column, present = self.column(name), ~self.missing[name]
            kind = str(column.dtype).lower()
            if kind.startswith(("object", "str", "large_string")) and present.any():
                values = (
                    column[present]
                    if self.library == "numpy"
                    else column.filter(present)
                    if (self.library == "polars")
                    else column[present]
                )
                if {type(v) for v in values} <= {str, np.str_}:
                    found.append(name)
        return found

    def _with_longer_words(self, column: Any, where: Array) -> Any:
        words = objects([v + (v or "new") if new else v for v, new in zip(column, where.tolist(), strict=True)])
        if self.library == "pandas":
            return type(column)(words, index=column.index, name=column.name).astype(column.dtype)
        return type(column)(column.name, words.tolist(), dtype=column.dtype) if self.library == "polars" else words

    def _other_gaps(self, name: str, rows: Array, random: np.random.Generator) -> Array:
        """Rows to take values from so that other ones than before are missing; the share stays about the same."""
        missing = np.flatnonzero(self.missing[name])
        present = np.flatnonzero(~self.missing[name])
        if not len(missing) or not len(present):
            return rows
        gap = random.random(len(rows)) < np.clip(len(missing) / self.n, 0.3, 0.7)
        filled = np.where(self.missing[name][rows], present[random.integers(0, len(present), len(rows))], rows)
        return np.where(gap, missing[0], filled)

    @cached_property
    def _numbers(self) -> dict[str, Array]:
        """The columns that hold numbers or truth values, as NumPy arrays (missing: nan, or 0 in integer columns)."""
        found = {}
        for name in self.names:
            column = self.column(name)
            if self.library == "numpy":
                if column.dtype.kind in "biuf":
                    found[name] = column
                continue
            if self.library == "polars":
                if column.dtype.is_numeric() or str(column.dtype) == "Boolean":
                    filler: Any = False if str(column.dtype) == "Boolean" else 0
                    found[name] = column.fill_null(filler).to_numpy()
                continue
            import pandas.api.types as types

            if types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype):
                if isinstance(column.dtype, np.dtype):
                    found[name] = column.to_numpy()
                elif types.is_bool_dtype(column.dtype):
                    found[name] = column.to_numpy(dtype=bool, na_value=False)
                else:
                    integer = types.is_integer_dtype(column.dtype)
                    whole, real = np.dtype(np.int64), np.dtype(np.float64)
                    found[name] = column.to_numpy(dtype=whole if integer else real, na_value=0 if integer else np.nan)
        return {name: values for name, values in found.items() if values.dtype.kind in "biuf"}

    def _range(self, name: str) -> tuple[float, float]:
        """The smallest and largest finite number of a column; 0 and 1 where it has none."""
        if name not in self._ranges:
            present = self._numbers[name][~self.missing[name]]
            finite = present[np.isfinite(present)]
            self._ranges[name] = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        return self._ranges[name]

    @cached_property
    def _ranges(self) -> dict[str, tuple[float, float]]:
        return {}

    @cached_property
    def _codes(self) -> dict[str, tuple[Array, Array]]:
        return {}

    def _other_rows(self, name: str, rows: Array, random: np.random.Generator) -> Array:
        """For each row another row, whose value differs where the column has more than one value."""
        if name not in self._codes:
            present = np.flatnonzero(~self.missing[name])
            column = self.column(name)
            values = np.asarray(column[present] if self.library == "numpy" else column.to_numpy()[present])
            try:
                labels = values if values.dtype.kind in "biufmM" else np.array([_text(v) for v in values.tolist()])
            except (TypeError, ValueError):
                raise TypeError(
                    f"column {name} holds objects that cannot be told apart ({type(values.flat[0]).__name__}); "
                    "leave it out or turn it into numbers or strings"
                ) from None
            _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
            codes = np.full(self.n, -1)
            codes[present] = inverse.reshape(-1)
            self._codes[name] = codes, present[first]
        codes, example = self._codes[name]
        k = len(example)
        if k < 2:
            return rows
        return example[(codes[rows] + 1 + random.integers(0, k - 1, len(rows))) % k]

    def _with(self, new: Mapping[str, Any], old: Any = None) -> Any:
        """A copy of `old` (None: of the data) with some columns exchanged."""
        old = self.data if old is None else old
        if self.library == "numpy":
            data = old.copy()
            for name, values in new.items():
                if data.ndim == 1:
                    return values
                data[:, self.names.index(name)] = values
            return data
        if not hasattr(old, "columns"):
            return next(iter(new.values()), old.clone() if self.library == "polars" else old.copy())
        if self.library == "polars":
            return old.with_columns(*(column.alias(name) for name, column in new.items()))
        data = old.copy()
        for name, column in new.items():
            data[name] = column
        return data

    @property
    def constant_columns(self) -> list[str]:
        """Columns that cannot be replaced by anything: without a value, or not numbers and with one value only."""
        found = []
        for name in self.names:
            if self.missing[name].all():
                found.append(name)
            elif name not in self._numbers:
                self._other_rows(name, np.array([], int), np.random.default_rng(0))
                if len(self._codes[name][1]) < 2:
                    found.append(name)
        return found

    def fingerprint(self) -> str:
        """A hash of the values, for the verdict's record."""
        digest = hashlib.sha256()
        for name in self.names:
            digest.update(str(name).encode())
            values = self._numbers.get(name)
            if values is not None:
                digest.update(np.ascontiguousarray(values).tobytes())
            else:
                digest.update("\0".join(map(_text, self.column(name))).encode())
        return digest.hexdigest()


def objects(entries: Sequence[Any]) -> Array:
    """A 1-D array of objects, also of lists of one length."""
    found = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):
        found[i] = entry
    return found


def _text(value: Any) -> str:
    """An entry as text in which nothing is left out."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_text, value))}]"
    return _text(value.tolist()) if isinstance(value, np.ndarray) else str(value)


def _where_polars(column: Any, missing: Array, series: Any) -> Any:
    """The new series with the old column's gaps (null stays null, nan stays nan)."""
    polars = sys.modules["polars"]
    mask = polars.Series(missing)
    return polars.select(polars.when(mask).then(column).otherwise(series).alias(column.name))[column.name]


def _beyond(dtype: np.dtype, limits: tuple[float, float], old: Array, kind: Kind, random: np.random.Generator) -> Array:
    """New numbers beyond a column's range, some of them far, in the column's own type; truth values are negated."""
    if dtype.kind == "b":
        return ~old
    low, high = limits
    span = (high - low) or abs(high) or 1.0
    u = random.random(len(old))
    steps = 0.5 + u
    steps[u < 0.25] *= FAR
    new = high + span * steps if kind == "high" else low * (1 - u) / 2 if low > 0 else low - span * steps
    if dtype.kind in "iu":
        whole = np.iinfo(dtype)
        new = np.clip(np.rint(new), max(whole.min, -(2.0**62)), min(whole.max, 2.0**62))
    return new.astype(dtype)


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
        kind = getattr(times, "dtype", None)
        source.zoned = getattr(kind, "tz", None) is not None or getattr(kind, "time_zone", None) is not None
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


@dataclass
class Output:
    """What a function returned: columns, and per row a `key` that identifies it and the `rank` at which it is decided.

    `steps` is the rank of its own time, without a boundary's lag; `labels` are times where rows are known by these, and
    `between` says which of them no input row has.
    """

    names: list[str]
    columns: list[Array]
    key: Array
    rank: Array
    steps: Array
    groups: Array | None = None
    labels: Any = None
    between: Array | None = None


def read_columns(result: Any) -> tuple[list[str], list[Array], Any]:
    """Names, NumPy columns and (pandas only) the index of what a function returned.

    Raises TypeError for something that is no table, ValueError for two columns of one name.
    """
    library = library_of(result)
    if not library and isinstance(result, Mapping):
        names, columns = [str(k) for k in result], [np.asarray(v) for v in result.values()]
        if len({len(c) for c in columns}) > 1:
            raise ValueError("function returned columns of different lengths; return one row per time")
        return names, columns, None
    if not library and isinstance(result, tuple) and any(map(library_of, result)):
        raise TypeError(f"function returned a tuple of {len(result)} tables; return one, its columns side by side")
    if not library and isinstance(result, Sequence) and not isinstance(result, str):
        try:
            result, library = np.asarray(result), "numpy"
        except ValueError:
            raise TypeError(f"function returned a {type(result).__name__} of unequal rows; return a table") from None
    if not library and hasattr(result, "toarray"):
        result, library = result.toarray(), "numpy"
    if not library:
        raise TypeError(
            f"function returned {type(result).__name__}; return a frame, a series or an array with one row per time"
        )
    if library == "numpy":
        if result.ndim not in (1, 2):
            raise ValueError(f"function returned an array of shape {result.shape}; return rows, or rows by columns")
        columns = [result] if result.ndim == 1 else list(result.T)
        return (["y"] if result.ndim == 1 else [f"y{i}" for i in range(len(columns))]), columns, None
    index = result.index if library == "pandas" else None
    if not hasattr(result, "columns"):
        return [str(result.name) if result.name not in (None, "") else "y"], [_plain(result)], index
    names = [str(name) for name in result.columns]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"function returned two columns named {name}; rename one")
    if library == "pandas":
        return names, [_plain(result.iloc[:, i]) for i in range(len(names))], index
    return names, [_plain(result[name]) for name in names], None


def _plain(column: Any) -> Array:
    """A column as a NumPy array that compares: numbers with nan for missing, otherwise objects with None."""
    if library_of(column) == "polars":
        values = column.to_numpy()
        return values if values.dtype.kind in "biufmM" else objects(column.to_list())
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufcmM":
        return column.to_numpy()
    types = sys.modules["pandas"].api.types
    if types.is_bool_dtype(column.dtype) or types.is_numeric_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if getattr(column.dtype, "tz", None) is not None:
        return column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    values = column.to_numpy(dtype=object)
    gaps = column.isna().to_numpy()
    if gaps.any():
        values = values.copy()
        values[gaps] = None
    return values
