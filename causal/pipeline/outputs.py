"""What a function returned, of whatever kind, as columns and rows that can be told and compared."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .frames import Array, as_array, library_of, objects

SET_OF_COLUMNS = "set of columns"


@dataclass
class Output:
    """What a function returned: columns, and per row a `key` that identifies it and the `rank` at which it is decided.

    `steps` is the rank of its own time, without a boundary's lag; `labels` are times where rows are known by these, and
    `between` says which of them no input row has. `own` are the columns as this run returned them, by name.
    """

    names: list[str]
    columns: list[Array]
    key: Array
    rank: Array
    steps: Array
    groups: Array | None = None
    labels: Any = None
    between: Array | None = None
    own: Mapping[str, Array] = field(default_factory=dict)


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
        values = as_array(column)
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
