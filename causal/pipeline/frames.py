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


def is_zoned(times: Any) -> bool:
    """Whether times have a time zone."""
    kind = getattr(times, "dtype", None)
    return getattr(kind, "tz", None) is not None or getattr(kind, "time_zone", None) is not None


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
                values = column.filter(present) if self.library == "polars" else column[present]
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

    def sizes(self) -> list[float]:
        """The largest size of a number in each column that has one besides 0."""
        names = [name for name, values in self._numbers.items() if values.dtype.kind != "b"]
        found = [max(abs(low), abs(high)) for low, high in map(self._range, names)]
        return [size for size in found if size]

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
            values = np.asarray(column if self.library == "numpy" else as_array(column))[present]
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


def as_array(column: Any) -> Array:
    """A pandas or Polars column as a 1-D array; lists, arrays and structures as objects."""
    nested = library_of(column) == "polars" and column.dtype.is_nested()
    return objects(column.to_list()) if nested else column.to_numpy()


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
