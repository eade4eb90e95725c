"""Times that say when a position is available or a query decides, compared exactly whatever their types and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..aliases import Array

ATTOSECONDS = {
    **{unit: 10 ** (18 - 3 * k) for k, unit in enumerate(("s", "ms", "us", "ns", "ps", "fs", "as"))},
    **{unit: seconds * 10**18 for unit, seconds in (("m", 60), ("h", 3600), ("D", 86400), ("W", 604800))},
}


def read_times(given: Any) -> Array:
    """An array of times that holds them exactly: whole numbers beside floats in a list would be rounded otherwise."""
    times = np.asarray(given)
    if times.dtype.kind == "c":
        raise TypeError("available and decision cannot be compared (complex numbers have no order); pass real times")
    mixed = isinstance(given, (list, tuple)) and times.dtype.kind == "f" and any(type(x) is not float for x in given)
    return np.array(given, object) if mixed else times


def comparable(a: Array, d: Array) -> tuple[Array, Array]:
    """Two arrays of times that can be compared without rounding or overflow: as Python's numbers where types differ."""
    if a.dtype == d.dtype or not (a.size and d.size):
        return a, d
    if a.dtype.kind == d.dtype.kind == "M" or a.dtype.kind == d.dtype.kind == "m":
        np.result_type(a, d)  # TypeError where months are to be compared with days
        return _attoseconds(a), _attoseconds(d)
    if a.dtype.kind in "biuf" and d.dtype.kind in "biuf":
        return a.astype(object), d.astype(object)
    if a.dtype.kind != d.dtype.kind and {a.dtype.kind, d.dtype.kind} & set("MmUS"):
        raise TypeError(f"their types are {a.dtype} and {d.dtype}")
    return a, d


def _attoseconds(times: Array) -> Array:
    """Datetimes or timedeltas as whole numbers of any size: NumPy overflows silently between units."""
    unit, step = np.datetime_data(times.dtype)
    if unit in ("Y", "M"):
        times, unit, step = times.astype(f"{times.dtype.kind}8[{'D' if times.dtype.kind == 'M' else 'M'}]"), "D", 1
    return np.asarray(times.astype(np.int64).astype(object) * (step * ATTOSECONDS[unit]))
