"""Tables of further libraries: how one is read as a table that can be cut, and given back to the function as it was.

Lazy frames of Polars, tables of pyarrow and frames of Dask, none of which is imported here.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError, ArgumentTypeError
from .frames import library_of, objects

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...aliases import Array

HOW = {"DataArray": "data.to_pandas()", "Dataset": "data.to_dataframe()", "list": "np.asarray(data)"}
MOST_BYTES = 2**30  # of a frame of Dask; whatever the machine has, so that a verdict is the same on each
REMEDY = "pass a pandas or Polars frame or series, or a NumPy array"


@dataclass(frozen=True)
class Converted:
    """A table that can be cut, and what makes of such a table the kind that was given (None: it is that already)."""

    table: Any
    back: Callable[[Any], Any] | None = None
    note: str = ""


def is_table(data: Any) -> bool:
    """Whether this is a table of any kind that is read."""
    return bool(library_of(data)) or _kind(data) in ("LazyFrame", "Table", "Dask")


def converted(data: Any) -> Converted:
    """The table in `data`. Raises TypeError or ValueError, one sentence that says what to pass instead."""
    kind = _kind(data)
    if kind == "LazyFrame":
        return Converted(data.collect(), lambda table: table.lazy(), "the lazy frame was made once, and cut then")
    if kind == "Table":
        arrow = sys.modules["pyarrow"]
        note = "the pyarrow table was cut as a pandas frame; the function is given pyarrow tables"
        return Converted(data.to_pandas(), lambda t: arrow.Table.from_pandas(t, preserve_index=False), note)
    if kind == "Dask":
        return _of_dask(data)
    if isinstance(data, np.ma.MaskedArray):
        raise ArgumentError("data", "is a masked array", "pass data.filled(np.nan)")
    if not library_of(data):
        how = HOW.get(type(data).__name__)
        raise ArgumentTypeError("data", f"is {type(data).__name__}", f"{REMEDY}, such as {how}" if how else REMEDY)
    return Converted(data)


def _of_dask(data: Any) -> Converted:
    """The partitions that fit, from the first on, which are the earliest dates where the frame is sorted by them."""
    frames, parts = sys.modules["dask.dataframe"], data.npartitions
    sizes = np.cumsum(data.map_partitions(lambda part: part.memory_usage(deep=True).sum()).compute().to_numpy())
    taken = max(1, int((sizes <= MOST_BYTES).sum()))
    note = "the Dask frame was read into memory to be cut; the function is given Dask frames"
    if taken < parts:
        note = f"the Dask frame is too large for memory: the first {taken} of its {parts} partitions were checked"
    table = data.partitions[:taken].compute()
    return Converted(table, lambda table: frames.from_pandas(table, npartitions=taken), note)


def made(result: Any) -> Any:
    """What a function returned, as a table at hand: what is lazy is computed, what is masked is missing."""
    kind = _kind(result)
    if kind == "Dask":
        return result.compute()
    if kind == "Table":
        return result.to_pandas()
    if type(result).__name__ == "DataArray":
        return result.to_numpy()
    return _without_masked(result) if isinstance(result, np.ma.MaskedArray) else result


def _without_masked(result: Any) -> Array:
    if result.dtype.kind == "f":
        filled: Array = result.filled(np.nan)
        return filled
    flat = objects([None if hidden else value for value, hidden in _entries(result)])
    return flat.reshape(result.shape)


def _entries(result: Any) -> list[tuple[Any, bool]]:
    return list(zip(result.data.ravel().tolist(), np.ma.getmaskarray(result).ravel().tolist(), strict=True))


def _kind(data: Any) -> str:
    name, module = type(data).__name__, type(data).__module__
    if module.startswith("polars") and name == "LazyFrame":
        return name
    if module.startswith("pyarrow") and name in ("Table", "RecordBatch"):
        return "Table"
    return "Dask" if module.startswith("dask") and hasattr(data, "npartitions") else ""
