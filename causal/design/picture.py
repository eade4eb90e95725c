"""The picture of a design: which slot reads what and who sees it, at one size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...libraries import library

if TYPE_CHECKING:
    from .design import Design


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
