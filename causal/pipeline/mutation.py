"""What a function changed in the tables that it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .frames import objects
from .rounding import differs

if TYPE_CHECKING:
    from .source import Source
    from .tables import Tables


def spoilt(tables: Tables, given: Any) -> str | None:
    """What a function changed in its input, in words; None when it changed nothing."""
    changes = []
    for name, source, table in zip(tables.names, tables.sources, tables.listed(given), strict=True):
        change = None if source.back is not None else _change(source, table)
        if change is not None:
            changes.append(change if tables.how == "one" else f"{change} of table {name}")
    return " and ".join(changes) or None


def _change(source: Source, given: Any) -> str | None:
    old = source.data
    if source.library == "numpy":
        if given.shape != old.shape or given.dtype != old.dtype:
            return "the shape of its array"
        return None if not differs(given.reshape(-1), old.reshape(-1)).any() else "its array"
    whole = not hasattr(old, "columns")
    if len(given) != len(old) or (not whole and list(given.columns) != list(old.columns)):
        return "its series" if whole else "its rows or columns"
    if source.library == "pandas" and not given.index.equals(old.index):
        return "its index"
    names = [None] if whole else list(old.columns)
    changed = [n for n in names if _differ(given if n is None else given[n], old if n is None else old[n])]
    return None if not changed else "its series" if whole else f"column {', '.join(map(str, changed))}"


def _differ(given: Any, old: Any) -> bool:
    if given.dtype != old.dtype:
        return True
    if str(old.dtype).lower() != "object":
        return not given.equals(old)
    return bool(differs(objects(list(given)), objects(list(old))).any())
