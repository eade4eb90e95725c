"""A table that was read: its columns, what they hold, and copies of all of it or of some rows."""

from __future__ import annotations

import copy
import hashlib
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import numpy as np

from .frames import as_array, entry_text, holds_times, objects

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...aliases import Array

IMMUTABLE = (str, bytes, int, float, complex, type(None), np.generic, date, timedelta, Decimal, UUID)


class Distinct(NamedTuple):
    """The values of a column told apart: per row the number of its value (−1: missing), and a row for each value.

    Both are the rows' own numbers where each row has a value of its own, and take no room then.
    """

    codes: Array
    examples: Array


@dataclass(frozen=True, eq=False)
class Source:
    """The input table: `names` of its value columns, `times` and `groups` per row where there are any."""

    data: Any
    library: str
    names: list[str]
    n: int
    time_name: str | None = None
    group_name: str | None = None
    times: Array | None = None
    zone: Any = None
    groups: Array | None = None  # numbers into group_labels
    group_labels: Array | None = None
    back: Callable[[Any], Any] | None = None  # makes of a table the kind that the function takes
    remarks: tuple[str, ...] = ()  # on how the table was read

    def given(self, table: Any) -> Any:
        """A table like this one as the function takes it."""
        return table if self.back is None else self.back(table)

    # -- columns ------------------------------------------------------------------------------------------------------

    def column(self, name: str) -> Any:
        """A column in the library's own form, looked up once."""
        if name not in self._columns:
            self._columns[name] = self._looked_up(name)
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[str, Any]:
        return {}

    def _looked_up(self, name: str) -> Any:
        if self.library == "numpy":
            return self.data if self.data.ndim == 1 else self.data[:, self.names.index(name)]
        return self.data[name] if hasattr(self.data, "columns") else self.data

    @cached_property
    def missing(self) -> dict[str, Array]:
        """Per value column: which rows are missing."""
        return {name: self._missing_in(self.column(name)) for name in self.names}

    def _missing_in(self, column: Any) -> Array:
        if self.library == "pandas":
            found: Array = column.isna().to_numpy()
        elif self.library == "polars":
            gaps = column.is_null()
            found = ((gaps | column.is_nan()) if column.dtype.is_float() else gaps).to_numpy()
        else:
            found = np.isnan(column) if column.dtype.kind in "fc" else np.zeros(self.n, bool)
        return found

    @cached_property
    def numbers(self) -> dict[str, Array]:
        """The columns that hold numbers or truth values, as NumPy arrays (missing: nan, or 0 in integer columns)."""
        read = {"numpy": lambda column: column, "polars": _numbers_of_polars, "pandas": _numbers_of_pandas}[
            self.library
        ]
        found = {name: read(self.column(name)) for name in self.names}
        return {name: values for name, values in found.items() if values is not None and values.dtype.kind in "biuf"}

    @cached_property
    def texts(self) -> list[str]:
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
    def has_gaps(self) -> bool:
        """Whether some column has gaps, and not only these."""
        return any(0 < missing.sum() < self.n for missing in self.missing.values())

    def range(self, name: str) -> tuple[float, float]:
        """The smallest and largest finite number of a column; 0 and 1 where it has none."""
        if name not in self._ranges:
            present = self.numbers[name][~self.missing[name]]
            finite = present[np.isfinite(present)]
            self._ranges[name] = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        return self._ranges[name]

    @cached_property
    def _ranges(self) -> dict[str, tuple[float, float]]:
        return {}

    def sizes(self) -> list[float]:
        """The largest size of a number in each column that has one besides 0."""
        names = [name for name, values in self.numbers.items() if values.dtype.kind != "b"]
        found = [max(abs(low), abs(high)) for low, high in map(self.range, names)]
        return [size for size in found if size]

    def distinct(self, name: str) -> Distinct:
        """A column's values told apart. Raises TypeError for objects that cannot be."""
        if name not in self._distinct:
            self._distinct[name] = self._told_apart(name)
        return self._distinct[name]

    @cached_property
    def _distinct(self) -> dict[str, Distinct]:
        return {}

    @cached_property
    def _rows(self) -> Array:
        return np.arange(self.n, dtype=np.int32)

    def _told_apart(self, name: str) -> Distinct:
        present = np.flatnonzero(~self.missing[name])
        column = self.column(name)
        values = np.asarray(column if self.library == "numpy" else as_array(column))[present]
        try:
            labels = values if values.dtype.kind in "biufmM" else np.array([entry_text(v) for v in values.tolist()])
        except (TypeError, ValueError):
            raise TypeError(
                f"column {name} holds objects that cannot be told apart ({type(values.flat[0]).__name__}); "
                "leave it out or turn it into numbers or strings"
            ) from None
        if len(labels) == self.n and _all_differ(labels):
            return Distinct(self._rows, self._rows)
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        codes = np.full(self.n, -1, np.int32)
        codes[present] = inverse.reshape(-1)
        return Distinct(codes, present[first].astype(np.int32))

    # -- remarks ------------------------------------------------------------------------------------------------------

    @cached_property
    def notes(self) -> list[str]:
        """Remarks on times, and on columns that nothing can replace. Raises TypeError as `distinct` does."""
        found = list(self.remarks)
        if self.times is None:
            found += [
                f"column {name} holds times, but the rows are cut as they stand; pass time={name!r} to cut by it"
                for name in [name for name in self.names if holds_times(self.column(name))][:1]
            ]
        for name in self.names:
            empty = self.missing[name].all()
            if empty or (name not in self.numbers and len(self.distinct(name).examples) < 2):
                what = "has no value at all" if empty else "has one value only"
                found.append(f"column {name} {what}, so nothing can be learnt by replacing it")
        return found

    def fingerprint(self) -> str:
        """A hash of the values, for the verdict's record."""
        digest = hashlib.sha256()
        for name in self.names:
            digest.update(str(name).encode())
            values = self.numbers.get(name)
            if values is not None:
                digest.update(np.ascontiguousarray(values).tobytes())
            else:
                digest.update("\0".join(map(entry_text, self.column(name))).encode())
        return digest.hexdigest()

    # -- copies -------------------------------------------------------------------------------------------------------

    def copy(self) -> Any:
        """A copy that a function may spoil, down to the lists and arrays that its entries may be."""
        return self._deep(self.data.clone() if self.library == "polars" else self.data.copy())

    def take(self, kept: Array) -> Any:
        """The rows where `kept` (n,) holds, in order, as a copy."""
        m = int(kept.sum())
        prefix = bool(kept[:m].all())
        if self.library == "pandas":
            return self._deep((self.data.iloc[:m] if prefix else self.data.iloc[np.flatnonzero(kept)]).copy())
        if self.library == "polars":
            return self._deep(self.data.head(m).clone() if prefix else self.data.filter(kept))
        return self._deep(self.data[kept])

    def exchanged(self, new: Mapping[str, Any]) -> Any:
        """A copy in which some columns are others."""
        return self._deep(self._with(new, self.data))

    def _deep(self, data: Any) -> Any:
        """The same table with its changeable entries copied as well."""
        if not self.nested:
            return data
        if self.library == "numpy":
            return copy.deepcopy(data)
        new = {}
        for name in self.nested:
            column = data[name] if hasattr(data, "columns") else data
            entries = [copy.deepcopy(v) for v in column]
            if self.library == "pandas":
                new[name] = type(column)(objects(entries), index=column.index, name=column.name)
            else:
                new[name] = type(column)(column.name, entries, dtype=column.dtype)
        return self._with(new, data)

    def _with(self, new: Mapping[str, Any], old: Any) -> Any:
        if self.library == "numpy":
            data = old.copy()
            for name, values in new.items():
                if data.ndim == 1:
                    return values
                data[:, self.names.index(name)] = values
            return data
        if self.library == "polars":
            if not hasattr(old, "columns"):
                return next(iter(new.values()), old.clone())
            return old.with_columns(*(column.alias(name) for name, column in new.items()))
        return _with_of_pandas(new if isinstance(new, dict) else dict(new), old)


def _with_of_pandas(new: dict[str, Any], old: Any) -> Any:
    """A copy of a pandas table in which some columns have other values; made in one go, for most calls make one."""
    pandas = sys.modules["pandas"]
    if not hasattr(old, "columns"):
        return type(old)(next(iter(new.values())), index=old.index, name=old.name) if new else old.copy()
    if type(old) is not pandas.DataFrame or len(new) < len(old.columns) / 2:
        data = old.copy()
        for name, values in new.items():
            data[name] = type(old[name])(values, index=old.index)
        return data
    columns = [new.pop(name) if name in new else old[name].array.copy() for name in old.columns.tolist()]
    kinds = {column.dtype for column in columns}
    if len(kinds) == 1 and type(columns[0]) is np.ndarray:
        block = np.empty((len(columns), len(old)), columns[0].dtype)
        for i in range(len(columns)):
            block[i], columns[i] = columns[i], None  # each is given up once it is copied
        data = pandas.DataFrame(block.T, index=old.index, columns=old.columns, copy=False)
    else:
        data = pandas.DataFrame(dict(enumerate(columns)), index=old.index, copy=False)
        data.columns = old.columns
    data.attrs.update(old.attrs)
    return data


def _all_differ(labels: Array) -> bool:
    """Whether no label comes twice: a sort tells, which takes a tenth of the time of finding which rows are equal."""
    ordered = np.sort(labels)
    return bool((ordered[1:] != ordered[:-1]).all())


def _numbers_of_polars(column: Any) -> Array | None:
    truth = str(column.dtype) == "Boolean"
    if not (truth or column.dtype.is_numeric()):
        return None
    found: Array = column.fill_null(False if truth else 0).to_numpy()
    return found


def _numbers_of_pandas(column: Any) -> Array | None:
    import pandas.api.types as types

    truth = types.is_bool_dtype(column.dtype)
    if not (truth or types.is_numeric_dtype(column.dtype)):
        return None
    if isinstance(column.dtype, np.dtype):
        found: Array = column.to_numpy()
    elif truth:
        found = column.to_numpy(dtype=bool, na_value=False)
    elif types.is_integer_dtype(column.dtype):
        found = column.to_numpy(dtype=np.int64, na_value=0)
    else:
        found = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return found
