"""Compression designs as objects: rules proved for every n, concrete matrices, staleness, window, cost, a picture.

The ready ones are in `catalogue`. A design's rules carry its parameters as symbols, so that one proof covers every
block length, window and document; the object holds the values that its matrices use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from .check import check_family
from .family import Family, Matrices, averages

if TYPE_CHECKING:
    from ..boundary import Boundary
    from ..verdict import Verdict


@dataclass(frozen=True)
class Member(Matrices):
    """A design at one size: `F` (r, n) float64, zero wherever `support` (r, n) is false, and `visible` (n, r).

    `boundary` is what the design promises to respect at this size.
    """

    F: np.ndarray
    boundary: Boundary

    @property
    def staleness(self) -> np.ndarray:
        """(n,): how many of each query's last allowed positions, its own included, it sees nothing of."""
        return _unseen(self.shown, self.boundary.to_array(), newest=True)

    @property
    def window(self) -> int:
        """The shortest local window that shows every query whatever its slots leave out."""
        return int(_unseen(self.shown, self.boundary.to_array(), newest=False).max(initial=0))


def _unseen(shown: np.ndarray, allowed: np.ndarray, newest: bool) -> np.ndarray:
    """Per query: the distance back to the newest position shown, or to just before the oldest allowed one hidden."""
    n = len(shown)
    found = np.zeros(n, np.int64)
    for t in range(n):
        within = np.flatnonzero(allowed[t])
        positions = within[shown[t, within]] if newest else within[~shown[t, within]]
        if newest:
            found[t] = t - positions[-1] if positions.size else within.size
        else:
            found[t] = t - positions[0] + 1 if positions.size else 0
    return found


@dataclass(frozen=True)
class Design:
    """A family of projections and masks with the values of its parameters.

    `family` holds the rules; `values` the parameters of this design; `levels(n)` further parameters of its parts where
    it has several (dyadic levels). `staleness(n)`, `window(n)`, `reading(n)` (pairs slot–position that compression
    touches) and `seeing(n)` (pairs query–slot that are scored) are closed forms; `stale_text`, `window_text` and
    `cost_text` are their formulas in words. `safe` is what the design claims; `source` names where it comes from.

    >>> from attnproof.causal.design.catalogue import completed_blocks
    >>> design = completed_blocks(4)
    >>> design.matrices(9).F.shape, design.staleness(9), design.window(9)
    ((2, 9), 3, 3)
    """

    name: str
    about: str
    family: Family
    values: Mapping[str, Any]
    staleness: Callable[[int], int]
    window: Callable[[int], int]
    reading: Callable[[int], int]
    seeing: Callable[[int], int]
    stale_text: str
    window_text: str
    cost_text: str
    safe: bool = True
    source: str = "ours"
    levels: Callable[[int], tuple[Mapping[str, Any], ...]] = field(default=lambda n: ({},))
    weights: Callable[[np.ndarray], np.ndarray] = averages

    def check(self) -> Verdict:
        """The verdict for every n and every value of the parameters (T16); see `check_family`."""
        rules = {f.name: getattr(self.family, f.name) for f in fields(self.family)}
        return check_family(**rules, name=f"design {self.name}")

    def matrices(self, n: int) -> Member:
        """E = F (r, n), and who sees what (n, r), at size n. Raises ValueError when n does not fit the design."""
        parts = [self.family.matrices(n, **{**self.values, **level}) for level in self.levels(n)]
        support = np.concatenate([part.support for part in parts])
        visible = np.concatenate([part.visible for part in parts], axis=1)
        boundary = self.family.relation(n, **{**self.values, **self.levels(n)[0]})
        return Member(support, visible, self.weights(support), boundary)

    def cost(self, n: int, d: int, d_v: int | None = None) -> dict[str, int]:
        """Multiply-adds of one head at size n with widths d and d_v (None: d), step by step (T9's table)."""
        d_v = d if d_v is None else d_v
        reads, sees = self.reading(n), self.seeing(n)
        steps = {"compress": reads * (d + d_v), "scores": sees * d, "mix": sees * d_v}
        return {**steps, "total": sum(steps.values()), "full attention, masked": n * (n + 1) // 2 * (d + d_v)}
