"""How wide the output is, and how tables and lines are broken to fit: words wrap, numbers are never cut."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table


def columns(piped: int = 160) -> int:
    """The width of the terminal; in a pipe what COLUMNS says, else `piped`."""
    if sys.stdout.isatty():
        return shutil.get_terminal_size((80, 24)).columns
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdecimal() and int(given) > 0 else piped


def console(piped: int = 160) -> Console:
    """Standard output for tables, as wide as `columns` says."""
    from rich.console import Console

    return Console(width=columns(piped))


def slim(*titles: str, left: tuple[str, ...] = ()) -> Table:
    """A table of numbers with little between its columns; those named in `left` hold words, which may wrap."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for title in titles:
        table.add_column(title, justify="left" if title in left else "right", no_wrap=title not in left)
    return table


def room(table: Table) -> tuple[int, int]:
    """The width below which a table would lose something, and the width at which nothing wraps."""
    from rich.console import Console

    most = Console(width=10_000).measure(table).maximum
    return most - sum(_longest(column, "\n") - _longest(column, None) for column in table.columns), most


def _longest(column: Column, separator: str | None) -> int:
    """The longest line of a column, or with no separator its longest word where it may wrap."""
    texts = [str(column.header), *map(str, column.cells)]
    return max(len(part) for text in texts for part in text.split("\n" if column.no_wrap else separator))


def show_table(table: Table, piped: int = 160) -> None:
    """Print a table. Where the terminal is too narrow for it, its lines run over rather than being cut."""
    from rich.console import Console

    for column in table.columns:
        column.min_width = _longest(column, None)
    width, (least, most) = columns(piped), room(table)
    Console(width=width if width >= min(least + 4, most) else most).print(table)  # Rich spreads what it takes away


def hanging(text: str, width: int | None = None) -> str:
    """The text wrapped to a width (None: as wide as `columns`), continuation lines indented like the line's words.

    >>> print(hanging("  1. two words and then some more of them, to fill a second line", 44))
      1. two words and then some more of them,
         to fill a second line
    """
    lines = []
    for line in text.splitlines():
        mark = re.match(r"\s*(\d+\. |[✓✗–] )?", line)
        indent = " " * len(mark[0] if mark else "")
        room = max(40, columns(120) if width is None else width)
        lines.append(textwrap.fill(line, room, subsequent_indent=indent, break_long_words=False))
    return "\n".join(lines)
