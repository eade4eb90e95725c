"""How long to look for a leak: a few forwards of every kind, or as many as the caller names, the same on every machine,
or until the caller's time is up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .setting import ModelError

TRIES = 1000  # forwards of one search: all cuts of every setting, where rounding need not be measured at each


@dataclass(frozen=True)
class Limits:
    """At most `tries` forwards in one search, and none once `budget` seconds are over (None: no clock is read).

    The abstract run and the few runs beside a proof are always made. `thorough`: the caller named the tries, so that
    every way to look is gone to its end. `progress` is told of every forward of a search.
    """

    tries: int = TRIES
    budget: float | None = None
    deadline: float = math.inf
    thorough: bool = False
    progress: Callable[[int, str], None] | None = None

    @classmethod
    def of(cls, tries: Any, budget: Any, progress: Callable[[int, str], None] | None = None) -> Limits:
        """The limits a caller asks for, the clock starting now; raises ModelError (a ValueError) for others."""
        if tries is not None and (not isinstance(tries, int) or isinstance(tries, bool) or tries < 1):
            raise ModelError("tries", "is no number of forwards", "pass a whole number of at least 1", tries)
        seconds = isinstance(budget, (int, float)) and not isinstance(budget, bool)
        if budget is not None and not (seconds and 0 < budget < math.inf):
            raise ModelError("budget", "is no number of seconds", "pass one above 0, or None for no limit", budget)
        until = math.inf if budget is None else time.monotonic() + budget
        return cls(TRIES if tries is None else tries, budget, until, tries is not None, progress)

    def most(self, tries: int) -> Limits:
        """The same with at most so many forwards."""
        return replace(self, tries=min(tries, self.tries))

    def reached(self, forwards: int) -> str:
        """Which limit stops a search after so many forwards, as `tries = 1000`; "" when none does."""
        if forwards >= self.tries:
            return f"tries = {self.tries}"
        over = self.budget is not None and time.monotonic() > self.deadline
        return f"budget = {self.budget:g} seconds" if over else ""
