"""When two values are the same: missing equals missing, and floats are equal up to rounding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...aliases import Array


class Tolerance(NamedTuple):
    """Up to what difference two floats are taken for equal: an amount, and shares of the value and of the largest."""

    absolute: float = 0.0
    relative: float = 0.0
    of_largest: float = 0.0

    def among(self, column: Array) -> Tolerance:
        """The same, with the largest value of a column counted into the amount."""
        return self._replace(absolute=max(self.absolute, self.of_largest * _largest(column)))

    def above(self, amount: float, column: Array) -> Tolerance:
        """The same, with an amount that grows with the largest value, which is that of `column` for now."""
        if not amount or not np.isfinite(amount):
            return self
        share = amount / (_largest(column) or 1.0)
        return self._replace(absolute=max(self.absolute, amount), of_largest=max(self.of_largest, share))


EXACT = Tolerance()


def where_differs(x: Array, y: Array, limit: Tolerance) -> Array:
    """The entries at which two columns differ; looks closely only where they are not identical."""
    if len(x) and x.strides == y.strides == (0,):
        return np.arange(len(x)) if differs(x[:1], y[:1]).any() else np.array([], np.int64)
    if x.dtype != y.dtype or x.dtype.kind not in "biufcO":
        return np.flatnonzero(differs(x, y, limit))
    try:
        unequal = np.flatnonzero(x != y)
    except (TypeError, ValueError):  # arrays within, and pandas.NA
        return np.flatnonzero(differs(x, y, limit))
    return unequal[differs(x[unequal], y[unequal], limit)] if unequal.size else unequal


def differs(x: Array, y: Array, limit: Tolerance = EXACT) -> Array:
    """Where two columns differ, missing being equal to missing, and floats within `limit` to each other."""
    kinds = {x.dtype.kind, y.dtype.kind}
    apart: Array
    if kinds <= set("biu"):
        apart = x != y
    elif kinds <= set("biufc"):
        x, y = (np.asarray(v, np.result_type(v.dtype, np.float64)) for v in (x, y))
        with np.errstate(invalid="ignore"):
            near = np.abs(x - y) <= limit.absolute + limit.relative * np.abs(x)
        apart = ~(near | (x == y) | (np.isnan(x) & np.isnan(y)))
    elif kinds in ({"M"}, {"m"}):
        apart = (x != y) & ~(np.isnat(x) & np.isnat(y))
    else:
        pairs = zip(_listed(x), _listed(y), strict=True)
        apart = np.array([not _same(a, b, limit) for a, b in pairs], bool).reshape(len(x))
    return apart


def _listed(column: Array) -> list[Any]:
    """The entries of a column; times as NumPy has them, for as plain numbers they would equal numbers."""
    return list(column) if column.dtype.kind in "mM" else column.tolist()


def _same(a: Any, b: Any, limit: Tolerance) -> bool:
    if a is b or (is_missing(a) and is_missing(b)):
        return True
    if isinstance(a, float) and isinstance(b, float):
        return bool(a == b or abs(a - b) <= limit.absolute + limit.relative * abs(a))
    if isinstance(a, (list, tuple, np.ndarray)) and isinstance(b, (list, tuple, np.ndarray)):
        return len(a) == len(b) and all(_same(c, d, limit) for c, d in zip(a, b, strict=True))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(value, b[key], limit) for key, value in a.items())
    try:
        return bool(a == b)
    except (TypeError, ValueError):
        return str(a) == str(b)


def is_missing(value: Any) -> bool:
    """Whether an entry is None, nan, or a library's own sign of a gap."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA, and arrays
        return type(value).__name__ == "NAType"


def tolerances(columns: Sequence[Array], scale: float = 0.0) -> list[Tolerance]:
    """Per column what counts as rounding: √ε/100 of the value and of the column's typical size, 256 ε of its largest.

    Functions that sum in another order on another length differ by this much without looking ahead, and a Fourier
    transform carries the rounding of the largest value to all. A column of doubles that were all computed as single
    ones counts as single; what is no float has none. What is left of numbers of the size `scale` that cancel, 64 ε of
    it, is rounding as well.
    """
    found = []
    for column in columns:
        if column.dtype.kind not in "fc":
            eps = float(np.finfo(float).eps)
            among_objects = Tolerance(relative=float(np.sqrt(eps)) / 100, of_largest=256 * eps)
            plain = column.dtype.kind != "O" or column.strides == (0,)
            found.append(EXACT if plain else among_objects.among(column))
            continue
        finite = np.abs(column[np.isfinite(column)])
        typical = float(np.median(finite)) if finite.size else 0.0
        eps = float(np.finfo(np.float32 if _single(finite) else column.dtype).eps)
        relative = np.sqrt(eps) / 100
        least = max(relative * (typical or _largest(column)), 64 * float(np.finfo(float).eps) * scale)
        found.append(Tolerance(least, relative, 256 * eps).among(column))
    return found


def _flat(entry: Any) -> Sequence[Any]:
    return entry if isinstance(entry, (list, tuple)) else [entry]


def _largest(column: Array) -> float:
    """The largest finite size of a column of numbers; 0 where it has none."""
    if column.dtype.kind == "O":
        column = np.array([v for entry in column for v in _flat(entry) if isinstance(v, float)], dtype=float)
    if column.dtype.kind not in "biufc":
        return 0.0
    finite = np.abs(column[np.isfinite(column)])
    return float(finite.max()) if finite.size else 0.0


def _single(values: Array) -> bool:
    """Whether doubles were computed in single precision: all of them fit in it, and not for being round numbers."""
    if values.dtype != np.float64 or not values.size or values.max() > np.finfo(np.float32).max:
        return False
    fit = values.astype(np.float32) == values
    return bool(fit.all()) and not bool((values * 256 == np.rint(values * 256)).all())


def largest_difference(x: Array, y: Array) -> float:
    """The largest difference of two columns of numbers; infinite where one alone is missing, or is no number.

    >>> largest_difference(np.array([1.0, np.nan]), np.array([1.5, np.nan]))
    0.5
    >>> largest_difference(np.array([1.0]), np.array([np.nan]))
    inf
    """
    if x.dtype.kind not in "biufc" or y.dtype.kind not in "biufc":
        return float("inf") if differs(x, y).any() else 0.0
    apart = differs(x, y)
    if {x.dtype.kind, y.dtype.kind} <= set("biu"):  # as Python's numbers, for as floats large ones would be the same
        return float(max((abs(a - b) for a, b in zip(x[apart].tolist(), y[apart].tolist(), strict=True)), default=0))
    x, y = (np.asarray(v[apart], np.result_type(v.dtype, np.float64)) for v in (x, y))
    with np.errstate(invalid="ignore"):
        gap = np.abs(x - y)
    return float(np.where(np.isnan(gap), np.inf, gap).max(initial=0.0))
