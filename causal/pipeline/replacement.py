"""Other rows in place of the future: beyond the range seen, drawn from the column, new words, gaps elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .frames import objects

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...aliases import Array
    from .source import Source

FAR = 1000.0  # ranges beyond the range: thresholds need not be near what was seen


def kinds_of(source: Source) -> tuple[str, ...]:
    """The ways in which rows of a table can be replaced."""
    if not source.names:
        return ()
    return ("high", "low", "draw", *(("words",) if source.texts else ()), *(("gaps",) if source.has_gaps else ()))


def replaced(source: Source, future: Array, kind: str, seed: int, only: Collection[str] | None = None) -> Any:
    """A copy of a table in which the rows where `future` (n,) holds have other values, and gaps where they had them.

    "high" and "low" go beyond the column's own range (a positive column stays positive); "draw" takes other values of
    the same column, as columns that are not numbers always do; "words" gives text that the data lack; "gaps" moves the
    gaps of a column that has some to other rows; "numbers" is "high" in columns of numbers, the others staying as they
    are. `only` restricts it to some columns.
    """
    new = {}
    if kind == "numbers":
        kind, only = "high", [name for name in source.numbers if only is None or name in only]
    for index, name in enumerate(source.names):
        if only is None or name in only:
            random = np.random.default_rng([seed, index])
            where = future if kind == "gaps" else future & ~source.missing[name]
            new[name] = _column(source, name, where, kind, random)
    return source.exchanged(new)


def _column(source: Source, name: str, where: Array, kind: str, random: np.random.Generator) -> Any:
    if kind == "words" and name in source.texts:
        return _longer_words(source, name, where)
    numbers = source.numbers.get(name)
    if numbers is None or not (kind in ("high", "low") or (kind != "gaps" and numbers.dtype.kind == "b")):
        return _from_other_rows(source, name, where, kind, random)
    values = numbers.copy()
    values[where] = _beyond(values.dtype, source.range(name), numbers[where], kind, random)
    return _as_column(source, name, values)


def _from_other_rows(source: Source, name: str, where: Array, kind: str, random: np.random.Generator) -> Any:
    column = source.column(name)
    rows = np.arange(source.n)
    rows[where] = _other_values(source, name, np.flatnonzero(where), random)
    if kind == "gaps":
        rows[where] = _other_gaps(source.missing[name], rows[where], random)
    if source.library == "pandas":
        return column.to_numpy()[rows] if isinstance(column.dtype, np.dtype) else column.array.take(rows)
    return column.gather(rows) if source.library == "polars" else column[rows]


def _other_values(source: Source, name: str, rows: Array, random: np.random.Generator) -> Array:
    """For each row another row, whose value differs where the column has more than one value."""
    codes, examples = source.distinct(name)
    k = len(examples)
    if k < 2:
        return rows
    other: Array = examples[(codes[rows] + 1 + random.integers(0, k - 1, len(rows))) % k]
    return other


def _other_gaps(gaps: Array, rows: Array, random: np.random.Generator) -> Array:
    """Rows to take values from so that other ones than before are missing; the share stays about the same."""
    missing, present = np.flatnonzero(gaps), np.flatnonzero(~gaps)
    if not len(missing) or not len(present):
        return rows
    gap = random.random(len(rows)) < np.clip(len(missing) / len(gaps), 0.3, 0.7)
    filled = np.where(gaps[rows], present[random.integers(0, len(present), len(rows))], rows)
    return np.where(gap, missing[0], filled)


def _longer_words(source: Source, name: str, where: Array) -> Any:
    column = source.column(name)
    words = objects([v + (v or "new") if new else v for v, new in zip(column, where.tolist(), strict=True)])
    if source.library == "pandas":
        return type(column)(words).astype(column.dtype).array
    return type(column)(column.name, words.tolist(), dtype=column.dtype) if source.library == "polars" else words


def _beyond(
    dtype: np.dtype[Any], limits: tuple[float, float], old: Array, kind: str, random: np.random.Generator
) -> Array:
    """New numbers beyond a column's range, some of them far, in the column's own type; truth values are negated."""
    if dtype.kind == "b":
        return ~old
    low, high = limits
    span = min(high - low, float(np.finfo(float).max)) or abs(high) or 1.0
    u = random.random(len(old))
    steps = 0.5 + u
    steps[u < 0.25] *= FAR
    new = high + span * steps if kind == "high" else low * (1 - u) / 2 if low > 0 else low - span * steps
    if dtype.kind in "iu":
        whole = np.iinfo(dtype)
        new = np.minimum(np.maximum(np.rint(new), max(whole.min, -(2.0**62))), min(whole.max, 2.0**62))
    elif dtype.kind == "f":
        most = float(np.finfo(dtype).max)  # squares stay finite: infinity times a weight of zero would be no number
        most = min(most, max(2 * abs(low), 2 * abs(high), most**0.5 / 2))
        new = np.minimum(np.maximum(new, -most), most)
    return new.astype(dtype)


def _as_column(source: Source, name: str, values: Array) -> Any:
    """Numbers as a column of the table's own kind, with the gaps that it had."""
    if source.library == "numpy":
        return values
    column, missing = source.column(name), source.missing[name]
    if source.library == "polars":
        return _with_gaps_of_polars(column, missing, values)
    if isinstance(column.dtype, np.dtype):
        return values.astype(column.dtype, copy=False)
    import pandas

    kept = pandas.Series(values, index=column.index, name=column.name).astype(object)
    kept[missing] = pandas.NA
    return kept.astype(column.dtype).array


def _with_gaps_of_polars(column: Any, missing: Array, values: Array) -> Any:
    """New numbers with the old column's gaps (null stays null, nan stays nan)."""
    polars = sys.modules["polars"]
    series = type(column)(column.name, values).cast(column.dtype)
    kept = polars.when(polars.Series(missing)).then(column).otherwise(series)
    return polars.select(kept.alias(column.name))[column.name]
