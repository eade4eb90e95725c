"""How many calls of the function a check may make, and how many it keeps back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .runner import Runner

CALLS = 60  # of a function that is not quick
SECONDS = 3.0  # what counts as quick
MOST_CARRIERS = 20  # input columns that are tried one by one
FOR_THE_REST = 8  # calls: 4 to repeat what was found, 4 for the shortest prefix


def calls_for_carriers(runner: Runner) -> int:
    """How many calls are kept to find what carries a leak."""
    inputs = len(runner.tables.columns())
    return (min(inputs, MOST_CARRIERS) if inputs > 1 else 0) + (2 if runner.source.groups is not None else 0)
