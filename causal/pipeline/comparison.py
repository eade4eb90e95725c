"""Two runs compared on the rows that were settled at a cut, up to rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .frames import shown_time
from .outputs import SET_OF_COLUMNS, Returned
from .rounding import Tolerance, is_missing, where_differs

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ...aliases import Array


@dataclass(frozen=True, eq=False)
class Difference:
    """Two runs compared on the rows that were settled at a cut, column by column.

    `compared` entries in all; per column the positions (in the first run) of changed entries, and `values(i)`.
    """

    compared: int
    changed: list[Array]  # per column: indices into `base`, or -1 − index into `other` for rows that only it has
    base: Returned
    other: Returned
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


def compare_settled(
    base: Returned,
    other: Returned,
    cut: int,
    limits: Sequence[Tolerance],
    present: Array | None = None,
    only: Collection[int] | None = None,
) -> Difference:
    """The settled rows of two runs: those decided at or before `cut`; beside `only` these, columns count as equal.

    `present` (n,) restricts them to the input rows that a truncated run had, and to times up to the last of these.
    A row at a time that no input row has, such as a day between two rows, may be missing in either: a function fills it
    when the next row comes.
    """
    left, right = _settled(base, cut, present), _settled(other, cut, present)
    if len(left) == len(right) and np.array_equal(base.key[left], other.key[right]):
        here, there = _run(left), _run(right)
        alone = np.array([], np.int64)
    else:
        _, inverse = np.unique(np.concatenate([base.key[left], other.key[right]]), return_inverse=True)
        a, b = inverse.reshape(-1)[: len(left)], inverse.reshape(-1)[len(left) :]
        only_left, only_right = left[~np.isin(a, b)], right[~np.isin(b, a)]
        _, first, second = np.intersect1d(a, b, return_indices=True)
        order = np.argsort(left[first])
        left, right = left[first][order], right[second][order]
        here, there = left, right
        alone = np.concatenate([_own_time(base, only_left), -1 - _own_time(other, only_right)])
    changed = []
    for number, (name, x, y, limit) in enumerate(zip(base.names, base.columns, other.columns, limits, strict=True)):
        if only is not None and number not in only:
            changed.append(left[:0])
            continue
        if name == SET_OF_COLUMNS:
            changed.append(left if _have_other_columns(base, left, other, right) else left[:0])
            continue
        apart = where_differs(x[here], y[there], limit)
        if len(apart) and limit.of_largest:  # what a replay made large is rounded in proportion
            apart = apart[where_differs(x[here][apart], y[there][apart], limit.among(y))]
        changed.append(np.concatenate([left[apart], alone]) if len(apart) else alone)
    return Difference(len(left) + len(alone), changed, base, other, (left, right))


def _have_other_columns(base: Returned, left: Array, other: Returned, right: Array) -> bool:
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
    return column.dtype.kind == "O" and all(map(is_missing, column))


def _own_time(output: Returned, rows: Array) -> Array:
    return rows if output.between is None else rows[~output.between[rows]]


def _settled(output: Returned, cut: int, present: Array | None) -> Array:
    settled = output.rank <= cut
    if present is not None:
        settled &= present[output.key] if output.key.dtype.kind == "i" else output.steps <= cut
        if output.between is not None:
            settled &= ~(output.between & (output.steps == cut))
    return np.flatnonzero(settled)


def _run(rows: Array) -> Any:
    """Ascending rows without holes as a slice, which costs nothing to take."""
    return slice(int(rows[0]), int(rows[-1]) + 1) if len(rows) and rows[-1] - rows[0] == len(rows) - 1 else rows
