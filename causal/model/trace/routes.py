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


def settled(trace: Trace, run: Run) -> Trace:
    """The trace, without its reads of truth values where these change nothing that is returned.

    `run` makes the same run again, with numbers.
    """
    reads = [r for r in trace.reads if r.source == "input"]
    if not reads or not all(r.is_truth for r in reads):
        return trace
    with _quietly():
        excluded = _followed(run)
    if excluded is None:
        return trace
    kept = tuple(r for r in trace.reads if r.source != "input")
    return replace(trace, reads=kept, harmless=tuple(r.operation for r in reads), excluded=excluded)


def _followed(run: Run) -> tuple[Operation, ...] | None:
    """The reads after which a route raises, where all others return the same; None where they do not, or are many."""
    table, open_routes = Table(), [dict[int, bool]()]
    seen, excluded, runs = set(), [], 0
    while open_routes:
        given = open_routes.pop()
        runs += 1
        numbering = Numbering(table, given)
        if runs > MOST:
            return None
        try:
            trace = run(numbering)
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
