"""How many calls of the function a check may make, and how many it keeps back: by counts, never by a clock.

A plan that depends on how quick the machine is gives another verdict when it is busy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .runner import Runner
    from .tables import Tables

CALLS = 60  # on long data
MOST_CALLS = 1000  # on short data
FOR_REPETITION = 4  # of those for the rest
ROWS = 250_000  # rows that all calls together are given, where CALLS allows no more
MOST_CARRIERS = 20  # input columns that are tried one by one
FOR_THE_REST = 16  # calls: 8 for how far a leak reaches, 4 for the shortest prefix, 4 to repeat what was found


def calls_allowed(tables: Tables) -> int:
    """How many calls a check may make that is not told where to cut: the more, the fewer rows there are.

    >>> from types import SimpleNamespace as Made
    >>> [calls_allowed(Made(sources=[Made(n=n)])) for n in (20, 1000, 20_000)]
    [1000, 250, 60]
    """
    return int(min(MOST_CALLS, max(CALLS, ROWS // sum(source.n for source in tables.sources))))


def calls_for_carriers(runner: Runner) -> int:
    """How many calls are kept to find what carries a leak."""
    inputs = len(runner.tables.columns())
    return (min(inputs, MOST_CARRIERS) if inputs > 1 else 0) + (2 if runner.source.groups is not None else 0)
