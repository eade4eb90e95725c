"""Compression designs as objects: rules proved for every n, concrete matrices, staleness, window, cost, a picture.

The ready ones are in `catalogue`. A design's rules carry its parameters as symbols, so that one proof covers every
block length, window and document; the object holds the values that its matrices use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..numeric.libraries import library
from .boundary import Boundary
from .family import Family, Matrices, averages, check_family
from .verdict import Verdict


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

    >>> from attnproof.causal.catalogue import completed_blocks
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


def draw(design: Design, n: int, figure: Any = None) -> Any:
    """Who reads what, who sees what, and what each query is shown: a matplotlib figure with three panels.

    Raises ImportError naming the extra `plot` when matplotlib is missing.
    """
    library("matplotlib", "a picture")
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.patches import Patch

    member = design.matrices(n)
    r = len(member.support)
    allowed, shown = member.boundary.to_array(), member.shown
    # 0 forbidden, 1 allowed and not shown, 2 shown, 3 shown although forbidden
    state = np.where(shown, np.where(allowed, 2, 3), np.where(allowed, 1, 0))
    colours = ["#e9e9ec", "#f4c97a", "#3b76af", "#c0392b"]
    labels = ["forbidden", "allowed, not shown", "read, seen, shown", "shown although forbidden"]
    figure = figure or Figure(figsize=(13, 5.2), layout=ConstrainedLayoutEngine(w_pad=0.15))
    reads, sees, effect = figure.subplots(1, 3)
    two = ListedColormap(["white", colours[2]])
    reads.imshow(member.support, cmap=two, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    reads.set(title=f"{r} slots read {n} positions", xlabel="position j", ylabel="slot s")
    sees.imshow(member.visible, cmap=two, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    sees.set(title=f"{n} queries see {r} slots", xlabel="slot s", ylabel="query t")
    effect.imshow(state, cmap=ListedColormap(colours), vmin=0, vmax=3, aspect="auto", interpolation="nearest")
    effect.set(title="so query t is shown position j", xlabel="position j", ylabel="query t")
    drawn = [k for k in range(4) if k == 2 or (state == k).any()]
    patches = [Patch(facecolor=colours[k], edgecolor="0.6", label=labels[k]) for k in drawn]
    figure.legend(handles=patches, loc="outside lower center", ncols=4, frameon=False)
    for axes, (height, width) in ((reads, (r, n)), (sees, (n, r)), (effect, (n, n))):
        _whole_numbers(axes, height, width)
    figure.suptitle(f"{design.name}: {design.about}")
    return figure


def _whole_numbers(axes: Any, height: int, width: int) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    if height <= 40 and width <= 40:  # cell borders, while they can be told apart
        axes.set_xticks(np.arange(width + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(height + 1) - 0.5, minor=True)
        axes.grid(which="minor", color="#c8ccd2", linewidth=0.5)
        axes.tick_params(which="minor", length=0)
