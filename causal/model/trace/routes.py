"""Reads that change nothing: truth values of data that steer a warning, a check or a way to compute the same.

Every route that the truth values can take is followed, up to `MOST` runs. Where all of them return the same functions
of the inputs (see `numbering`), it does not matter which one is taken, and the reads count for nothing. A route that
raises at once, before any other operation, returns nothing: inputs that lead there are excluded. Anything else keeps
the dependency.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from .ledger import ValueNeeded
from .numbering import Numbering, Table

if TYPE_CHECKING:
    from .records import Operation, Trace

MOST = 8  # runs that are made to see whether reads change anything

Run = Callable[[Numbering], "Trace"]


def settled(trace: Trace, numbering: Numbering | None, run: Run) -> Trace:
    """The trace, without its reads of truth values where these change nothing that is returned.

    `numbering` is its own, if it has one; `run` makes the same run again, with another.
    """
    reads = [r for r in trace.reads if r.source == "input"]
    if not reads or not all(r.is_truth for r in reads):
        return trace
    with _quietly():
        excluded = _followed(run, None if numbering is None else (trace, numbering))
    if excluded is None:
        return trace
    kept = tuple(r for r in trace.reads if r.source != "input")
    return replace(trace, reads=kept, harmless=tuple(r.operation for r in reads), excluded=excluded)


def _followed(run: Run, first: tuple[Trace, Numbering] | None) -> tuple[Operation, ...] | None:
    """The reads after which a route raises, where all others return the same; None where they do not, or are many.

    `first` is the route that was taken, with its numbers, where it has them.
    """
    table, open_routes = Table() if first is None else first[1].table, [dict[int, bool]()]
    seen, excluded, runs = set(), [], 0
    while open_routes:
        given = open_routes.pop()
        runs += 1
        if runs > MOST:
            return None
        numbering = Numbering(table, given)
        try:
            if first is None:
                trace = run(numbering)
            else:
                (trace, numbering), first = first, None
        except ValueNeeded:
            return None
        except Exception:
            if not given or numbering.since or numbering.lost or list(numbering.asked) != list(given):
                return None
            if numbering.is_steered or numbering.last is None:
                return None
            excluded.append(numbering.last)
            continue
        if numbering.lost or numbering.is_steered or list(numbering.asked)[: len(given)] != list(given):
            return None
        seen.add(trace.numbers)
        asked = list(numbering.asked.items())
        for at in range(len(given), len(asked)):
            number, outcome = asked[at]
            open_routes.append({**dict(asked[:at]), number: not outcome})
    return tuple(dict.fromkeys(excluded)) if len(seen) == 1 else None


@contextmanager
def _quietly() -> Iterator[None]:
    """While it is open, the program's warnings are not shown: these are routes that nobody took."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
