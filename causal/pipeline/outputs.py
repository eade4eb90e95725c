"""What a function returned, of whatever kind, as columns and rows that can be told and compared."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .frames import as_array, library_of, objects

if TYPE_CHECKING:
    from ...aliases import Array

SET_OF_COLUMNS = "set of columns"
FEW = 2**17  # entries of a frame that is made one array at once: quicker than column by column, but maybe a copy


@dataclass(frozen=True, eq=False)
class Returned:
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


class Columns(NamedTuple):
    """The columns of a result as NumPy arrays, the index of its rows (pandas only), and whether it is a single series.

    Another run may return a table with other columns, but no series in place of a table.
    """

    names: list[str]
    columns: list[Array]
    index: Any = None
    single: bool = False


def read_columns(result: Any) -> Columns:
    """What a function returned, as columns.

    Raises TypeError for something that is no table, ValueError for two columns of one name.
    """
    library = library_of(result)
    if library == "numpy":
        return _of_array(result)
    if library:
        return _of_frame(result) if hasattr(result, "columns") else _of_series(result)
    if isinstance(result, Mapping):
        return _of_mapping(result)
    if isinstance(result, tuple) and any(map(library_of, result)):
        raise TypeError(f"function returned a tuple of {len(result)} tables; return one, its columns side by side")
    if isinstance(result, Sequence) and not isinstance(result, str):
        return _of_sequence(result)
    if hasattr(result, "toarray"):  # SciPy's sparse matrices
        return _of_array(result.toarray())
    raise TypeError(
        f"function returned {type(result).__name__}; return a frame, a series or an array with one row per time"
    )


def _of_mapping(result: Mapping[Any, Any]) -> Columns:
    columns = [np.asarray(v) for v in result.values()]
    for name, column in zip(result, columns, strict=True):
        if column.ndim != 1:
            problem = f"function returned {name!r} of shape {column.shape}; return one value per row in each column"
            raise ValueError(problem)
    if len({len(c) for c in columns}) > 1:
        raise ValueError("function returned columns of different lengths; return one row per time")
    return Columns([str(name) for name in result], columns)


def _of_sequence(result: Sequence[Any]) -> Columns:
    try:
        rows = np.asarray(result)
    except ValueError:
        raise TypeError(f"function returned a {type(result).__name__} of unequal rows; return a table") from None
    return _of_array(rows)


def _of_array(result: Array) -> Columns:
    if result.ndim == 1:
        return Columns(["y"], [result], single=True)
    if result.ndim != 2:
        raise ValueError(f"function returned an array of shape {result.shape}; return rows, or rows by columns")
    return Columns([f"y{i}" for i in range(result.shape[1])], list(result.T))


def _is_of_one_kind(kinds: Sequence[Any]) -> bool:
    return len(set(kinds)) == 1 and isinstance(kinds[0], np.dtype) and kinds[0].kind in "biufc"


def _of_series(result: Any) -> Columns:
    name = str(result.name) if result.name not in (None, "") else "y"
    return Columns([name], [_plain(result)], getattr(result, "index", None), single=True)


def _of_frame(result: Any) -> Columns:
    names = list(map(str, getattr(result.columns, "tolist", lambda: result.columns)()))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"function returned two columns named {twice}; rename one")
    if library_of(result) == "pandas":
        if result.size <= FEW and _is_of_one_kind(result.dtypes.tolist()):
            return Columns(names, list(result.to_numpy().T), result.index)
        return Columns(names, [_plain(column) for _, column in result.items()], result.index)
    return Columns(names, [_plain(result[name]) for name in names])


def _plain(column: Any) -> Array:
    """A column as a NumPy array that compares: numbers with nan for missing, otherwise objects with None."""
    if library_of(column) == "polars":
        values = as_array(column)
        return values if values.dtype.kind in "biufmM" else objects(column.to_list())
    return _plain_of_pandas(column)


def _plain_of_pandas(column: Any) -> Array:
    types = sys.modules["pandas"].api.types
    values: Array
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufcmM":
        values = column.to_numpy()
    elif types.is_bool_dtype(column.dtype) or types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    elif getattr(column.dtype, "tz", None) is not None:
        values = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    else:
        values = column.to_numpy(dtype=object)
        gaps = column.isna().to_numpy()
        if gaps.any():
            values = values.copy()
            values[gaps] = None
    return values
