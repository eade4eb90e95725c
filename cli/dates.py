"""Dates in the text of a .csv file: ISO ones, and others where they can be read in one way only."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from . import fail
from .usage import first_line, shown

ORDERS = {"month, day, year": "%m{0}%d{0}%Y", "day, month, year": "%d{0}%m{0}%Y"}
CLOCKS = ("", " %H:%M", " %H:%M:%S")


def polars_with_dates(table: Any, time: str, path: Path) -> Any:
    """A table that Polars read from a .csv file; it guesses where times begin with the day or the month."""
    from ..causal.pipeline.frames import DAY_OR_MONTH_FIRST

    polars = sys.modules["polars"]
    if not (table[time].dtype.is_temporal() or table[time].dtype == polars.String):
        return table
    texts = polars.read_csv(path, columns=[time], schema_overrides={time: polars.String})[time]
    if not any(text is not None and DAY_OR_MONTH_FIRST.match(text) for text in texts):
        return table
    read = _found(texts, lambda form: texts.str.to_datetime(form), time, shown(path), "text that is no ISO date")
    return table.with_columns(read.alias(time))


def with_dates(table: Any, time: str, where: str) -> Any:
    """A pandas table whose times, where they are text, become dates; `where` names the file in errors."""
    column = table[time]
    pandas = sys.modules["pandas"]
    if pandas.api.types.is_numeric_dtype(column):
        return table
    try:
        try:
            table[time] = pandas.to_datetime(column, format="ISO8601")
        except ValueError:  # offsets of winter and of summer time, one after the other
            table[time] = pandas.to_datetime(column, format="ISO8601", utc=True)
    except (ValueError, TypeError) as error:
        why = first_line(error).partition(". You might")[0]
        table[time] = _found(column, lambda form: pandas.to_datetime(column, format=form), time, where, why)
    return table


def _found(column: Any, read: Any, time: str, where: str, why: str) -> Any:
    """The column read in the one order of day and month that all of it allows, which is said."""
    first = next((text for text in column if isinstance(text, str)), "")
    found = {}
    for mark in [mark for mark in "/.-" if mark in first]:
        for name, order in ORDERS.items():
            for clock in CLOCKS:
                try:
                    found[name] = read(order.format(mark) + clock)
                except Exception:  # each library has its own
                    continue
    if len(found) == 1:
        name = next(iter(found))
        print(f"attnproof: --time {time} was read as {name}", file=sys.stderr)
        return found[name]
    several = f"--time {time} holds dates such as {shown(first)}, which may be {' or '.join(ORDERS)}; write ISO dates"
    fail(several if found else f"--time {time} holds what is no time in {where} ({why}); write ISO dates or numbers")
    return None
