"""Two runs compared on the rows that were settled at a cut, up to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .frames import Array, shown_time
from .outputs import SET_OF_COLUMNS, Output


@dataclass
class Difference:
    """Two runs compared on the rows that were settled at a cut, column by column.

    `compared` entries in all; per column the positions (in the first run) of changed entries, and `values(i)`.
    """

    compared: int
    changed: list[Array]  # per column: indices into `base`, or -1 − index into `other` for rows that only it has
    base: Output
    other: Output
    pairing: tuple[Array, Array]

    def count(self, column: int) -> int:
        """How many settled entries of a column changed."""
        return len(self.changed[column])

    def ranks(self, column: int) -> Array:
        """The ranks of a column's changed rows, without repeats."""
        return np.unique(self._ranks(column))

    def _ranks(self, column: int) -> Array:
        entries = self.changed[column]
        ranks = np.zeros(len(entries), np.int64)
        here = entries >= 0
        ranks[here] = self.base.steps[entries[here]]
        ranks[~here] = self.other.steps[-1 - entries[~here]]
        return ranks

    def earliest(self, column: int) -> tuple[int, int]:
        """Rank and entry of the earliest changed row."""
        ranks = self._ranks(column)
        first = int(np.argmin(ranks))
        return int(ranks[first]), int(self.changed[column][first])

    def values(self, column: int, entry: int) -> tuple[Any, Any]:
        """Both values of a changed entry; "no row" where a run lacks it."""
        if entry < 0:
            return "no row", scalar(self.other.columns[column][-1 - entry])
        left, right = self.pairing
        before = scalar(self.base.columns[column][entry])
        at = np.searchsorted(left, entry)
        return before, scalar(self.other.columns[column][right[at]]) if at < len(left) and left[
            at
        ] == entry else "no row"


def scalar(value: Any) -> Any:
    """A value that JSON can hold: a NumPy scalar as plain Python, anything that is neither number nor text as text."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return shown_time(value)
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def compare(
    base: Output, other: Output, cut: int, limits: Sequence[Tolerance], present: Array | None = None
) -> Difference:
    """The settled rows of two runs: those decided at or before `cut`.

    `present` (n,) restricts them to the input rows that a truncated run had, and to times up to the last of these.
    A row at a time that no input row has, such as a day between two rows, may be missing in either: a function fills it
    when the next row comes.
    """
    left, right = _settled(base, cut, present), _settled(other, cut, present)
    if len(left) == len(right) and np.array_equal(base.key[left], other.key[right]):
        only_left = only_right = np.array([], np.int64)
    else:
        _, inverse = np.unique(np.concatenate([base.key[left], other.key[right]]), return_inverse=True)
        a, b = inverse.reshape(-1)[: len(left)], inverse.reshape(-1)[len(left) :]
        only_left, only_right = left[~np.isin(a, b)], right[~np.isin(b, a)]
        _, first, second = np.intersect1d(a, b, return_indices=True)
        order = np.argsort(left[first])
        left, right = left[first][order], right[second][order]
    alone = np.concatenate([_own_time(base, only_left), -1 - _own_time(other, only_right)])
    changed = []
    here, there = _slice(left), _slice(right)
    for name, x, y, limit in zip(base.names, base.columns, other.columns, limits, strict=True):
        if name == SET_OF_COLUMNS:
            changed.append(left if _have_other_columns(base, left, other, right) else left[:0])
            continue
        apart = where_differs(x[here], y[there], limit)
        if len(apart) and limit.of_largest:  # what a replay made large is rounded in proportion
            apart = apart[where_differs(x[here][apart], y[there][apart], limit.among(y))]
        changed.append(np.concatenate([left[apart], alone]))
    return Difference(len(left) + len(alone), changed, base, other, (left, right))


def _have_other_columns(base: Output, left: Array, other: Output, right: Array) -> bool:
    """Whether a run has a column with a value in these rows that the other lacks, or the columns in another order."""
    a, b = list(base.own), list(other.own)
    if a == b:
        return False
    lone = [base.own[n][left] for n in a if n not in other.own] + [other.own[n][right] for n in b if n not in base.own]
    moved = [n for n in a if n in other.own] != [n for n in b if n in base.own]
    return moved or not all(map(_all_missing, lone))


def _all_missing(column: Array) -> bool:
    if column.dtype.kind in "fc":
        return bool(np.isnan(column).all())
    if column.dtype.kind in "mM":
        return bool(np.isnat(column).all())
    return column.dtype.kind == "O" and all(map(_is_missing, column))


def _own_time(output: Output, rows: Array) -> Array:
    return rows if output.between is None else rows[~output.between[rows]]


def _settled(output: Output, cut: int, present: Array | None) -> Array:
    settled = output.rank <= cut
    if present is not None:
        settled &= present[output.key] if output.key.dtype.kind == "i" else output.steps <= cut
        if output.between is not None:
            settled &= ~(output.between & (output.steps == cut))
    return np.flatnonzero(settled)


def _slice(rows: Array) -> Any:
    """Ascending rows without holes as a slice, which costs nothing to take."""
    whole = len(rows) and rows[-1] - rows[0] == len(rows) - 1 and bool(np.all(np.diff(rows) == 1))
    return slice(int(rows[0]), int(rows[-1]) + 1) if whole else rows


class Tolerance(NamedTuple):
    """Up to what difference two floats are taken for equal: an amount, and shares of the value and of the largest."""

    absolute: float = 0.0
    relative: float = 0.0
    of_largest: float = 0.0

    def among(self, column: Array) -> Tolerance:
        """The same, with the largest value of a column counted into the amount."""
        return self._replace(absolute=max(self.absolute, self.of_largest * _largest(column)))


EXACT = Tolerance()


def where_differs(x: Array, y: Array, limit: Tolerance) -> Array:
    """The entries at which two columns differ; looks closely only where they are not identical."""
    if len(x) and x.strides == y.strides == (0,):
        return np.arange(len(x)) if differs(x[:1], y[:1]).any() else np.array([], np.int64)
    if x.dtype != y.dtype or x.dtype.kind not in "biufc":
        return np.flatnonzero(differs(x, y, limit))
    unequal = np.flatnonzero(x != y)
    return unequal[differs(x[unequal], y[unequal], limit)] if unequal.size else unequal


def differs(x: Array, y: Array, limit: Tolerance = EXACT) -> Array:
    """Where two columns differ, missing being equal to missing, and floats within `limit` to each other."""
    kinds = {x.dtype.kind, y.dtype.kind}
    if kinds <= set("biu"):
        return x != y
    if kinds <= set("biufc"):
        x, y = (np.asarray(v, np.result_type(v.dtype, np.float64)) for v in (x, y))
        with np.errstate(invalid="ignore"):
            near = np.abs(x - y) <= limit.absolute + limit.relative * np.abs(x)
        return ~(near | (x == y) | (np.isnan(x) & np.isnan(y)))
    if kinds == {"M"} or kinds == {"m"}:
        return (x != y) & ~(np.isnat(x) & np.isnat(y))
    return np.array([not _same(a, b, limit) for a, b in zip(_listed(x), _listed(y), strict=True)], bool).reshape(len(x))


def _listed(column: Array) -> list[Any]:
    """The entries of a column; times as NumPy has them, for as plain numbers they would equal numbers."""
    return list(column) if column.dtype.kind in "mM" else column.tolist()


def _same(a: Any, b: Any, limit: Tolerance) -> bool:
    if a is b or (_is_missing(a) and _is_missing(b)):
        return True
    if isinstance(a, float) and isinstance(b, float):
        return bool(a == b or abs(a - b) <= limit.absolute + limit.relative * abs(a))
    if isinstance(a, (list, tuple, np.ndarray)) and isinstance(b, (list, tuple, np.ndarray)):
        return len(a) == len(b) and all(_same(c, d, limit) for c, d in zip(a, b, strict=True))
    try:
        return bool(a == b)
    except (TypeError, ValueError):
        return str(a) == str(b)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA, and arrays
        return type(value).__name__ == "NAType"


def tolerances(output: Output, scale: float = 0.0) -> list[Tolerance]:
    """Per column what counts as rounding: √ε/100 of the value and of the column's typical size, 256 ε of its largest.

    Functions that sum in another order on another length differ by this much without looking ahead, and a Fourier
    transform carries the rounding of the largest value to all. A column of doubles that were all computed as single
    ones counts as single; what is no float has none. What is left of numbers of the size `scale` that cancel, 64 ε of
    it, is rounding as well.
    """
    found = []
    for column in output.columns:
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
    """The largest difference of two columns of numbers; infinite for what is no number and differs."""
    if x.dtype.kind not in "biufc" or y.dtype.kind not in "biufc":
        return float("inf") if differs(x, y).any() else 0.0
    with np.errstate(invalid="ignore"):
        gap = np.abs(x.astype(np.float64) - y.astype(np.float64))
    gap = gap[np.isfinite(gap)]
    return float(gap.max()) if gap.size else 0.0
