"""The picture of a projection's verdict: who sees which slot, which slot reads what, and so what each query can reach.

The three panels lie like a matrix product: queries × slots, slots × positions, and below them queries × positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...libraries import library

if TYPE_CHECKING:
    from ..verdict import Verdict

WHITE, FORBIDDEN, READ, LEAK, KEYS, BOTH, SEEN = (
    "#ffffff",
    "#e9e9ec",
    "#3b6ea8",
    "#cf222e",
    "#d9a441",
    "#1f3d5c",
    "#6f7782",
)
INK = {"PROVED": "#1a7f37", "PROVED_IF": "#9a6700", "REFUTED": "#cf222e", "UNDECIDED": "#8250df"}


def panels(verdict: Verdict) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Boolean arrays (values, keys, sees, reaches): (r, n), (r, n), (queries, r) and (queries, n).

    `reaches[t, j]`: some slot that query t sees reads position j. Raises ValueError where the verdict keeps no pattern.
    """
    details = verdict.details
    if "seen_by" not in details:
        size = f"{details.get('slots')} slots × {details.get('positions')} positions"
        raise ValueError(f"the verdict on {size} keeps no pattern to draw, it is too large or lazy; print it instead")
    r, n, queries = details["slots"], details["positions"], verdict.queries or 0
    values, keys, seen = (
        _from_runs(details[name], r, width)
        for name, width in (("reads_values", n), ("reads_keys", n), ("seen_by", queries))
    )
    sees = seen.T
    reaches = sees.astype(np.float32) @ (values | keys).astype(np.float32) > 0
    return values, keys, sees, reaches


def cells(verdict: Verdict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """0 allowed, 1 forbidden, 2 allowed and reached, 3 forbidden and reached, with the queries and the positions.

    Raises ValueError for a verdict that keeps no pattern, or no boundary.
    """
    if verdict.boundary is None:
        raise ValueError("the verdict has no boundary, so that there is nothing to draw; print it instead")
    reaches = panels(verdict)[3]
    codes = ~verdict.boundary.to_array() + 2 * reaches
    return codes, np.arange(codes.shape[0]), np.arange(codes.shape[1])


def _from_runs(rows: Any, count: int, width: int) -> np.ndarray:
    table = np.zeros((count, width), bool)
    for s, runs in enumerate(rows):
        for first, past in runs:
            table[s, first:past] = True
    return table


def plot(verdict: Verdict, axes: Any = None) -> Any:
    """Draw a verdict on a projection and return the axes of queries × positions.

    With `axes` only that panel is drawn, into them; without, all three. Blue is read and allowed, red is read and
    forbidden, grey is forbidden and not read; a ring marks the witness. Raises ImportError without matplotlib,
    ValueError for a verdict that keeps no pattern.
    """
    plt = library("matplotlib.pyplot", "a picture")
    values, keys, sees, reaches = panels(verdict)
    if axes is not None:
        _reach_panel(axes, verdict, reaches)
        axes.set_title(verdict.headline(), color=INK[verdict.status.name], fontsize="medium", loc="left")
        return axes
    (queries, r), n = sees.shape, reaches.shape[1]
    left, right = _share(r, n), _share(n, r)
    top, bottom = _share(r, queries), _share(queries, r)
    figure, grid = plt.subplots(
        2, 2, figsize=(9, 6.5), width_ratios=(left, right), height_ratios=(top, bottom), layout="constrained"
    )
    _legend(grid[0, 0], verdict, same=bool((values == keys).all()))
    _reads_panel(grid[0, 1], values, keys)
    _sees_panel(grid[1, 0], sees)
    _reach_panel(grid[1, 1], verdict, reaches)
    grid[1, 1].set_title("what a query reaches", fontsize="small")
    figure.suptitle(verdict.headline(), color=INK[verdict.status.name], fontsize="medium", fontweight="bold")
    return grid[1, 1]


def _share(one: int, other: int) -> float:
    """Relative room for one side beside the other, so that neither gets too thin to see."""
    return min(max(one / max(one + other, 1), 0.25), 0.75)


def _cells(axes: Any, codes: np.ndarray, colours: list[str]) -> None:
    from matplotlib.colors import ListedColormap

    rows, columns = codes.shape
    if codes.size:
        palette = ListedColormap(colours)
        axes.imshow(codes, cmap=palette, vmin=0, vmax=len(colours) - 1, aspect="auto", interpolation="nearest")
    if max(rows, columns) <= 40:
        axes.set_xticks(np.arange(-0.5, columns), minor=True)
        axes.set_yticks(np.arange(-0.5, rows), minor=True)
        axes.grid(which="minor", color="#d0d7de", linewidth=0.6)
        axes.tick_params(which="minor", length=0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)


def _reads_panel(axes: Any, values: np.ndarray, keys: np.ndarray) -> None:
    _cells(axes, values + 2 * keys, [WHITE, READ, KEYS, BOTH])
    axes.set_title("what a slot reads", fontsize="small")
    axes.set_xlabel("position j")
    axes.set_ylabel("slot s")


def _sees_panel(axes: Any, sees: np.ndarray) -> None:
    _cells(axes, sees.astype(int), [WHITE, SEEN])
    axes.set_title("what a query sees", fontsize="small")
    axes.set_xlabel("slot s")
    axes.set_ylabel("query t")


def _reach_panel(axes: Any, verdict: Verdict, reaches: np.ndarray) -> None:
    assert verdict.boundary is not None
    forbidden = ~verdict.boundary.to_array()
    _cells(axes, np.where(reaches, 2, 0) + forbidden, [WHITE, FORBIDDEN, READ, LEAK])
    axes.set_xlabel("position j")
    axes.set_ylabel("query t")
    if verdict.witness is not None:
        t, j = verdict.witness.query, verdict.witness.position
        axes.plot(
            j,
            t,
            "o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor="black",
            markeredgewidth=1.8,
            clip_on=False,
        )
        queries, n = reaches.shape
        across, down = -1 if j > n / 2 else 1, -1 if t <= queries / 2 else 1  # towards the middle, where there is room
        axes.annotate(
            f"{t} ← {j}", (j, t), (16 * across, 18 * down), textcoords="offset points", fontsize="small",
            fontweight="bold", ha="right" if across < 0 else "left", va="top" if down < 0 else "bottom",
            arrowprops={"arrowstyle": "-", "color": "black"},
            bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
        )  # fmt: skip


def _legend(axes: Any, verdict: Verdict, same: bool) -> None:
    from matplotlib.patches import Patch

    axes.set_axis_off()
    split = [(READ, "slot reads its value only"), (KEYS, "slot reads its key only"), (BOTH, "slot reads both")]
    reads = [(BOTH, "slot reads it")] if same else split
    leak = (
        "forbidden, reached, but cancels or is hidden" if verdict.status.name == "PROVED_IF" else "forbidden, reached"
    )
    reach = [(READ, "allowed, reached"), (WHITE, "allowed, not reached"), (FORBIDDEN, "forbidden"), (LEAK, leak)]
    known = [*reads, (SEEN, "query sees it"), *(reach if verdict.status.name != "PROVED" else reach[:-1])]
    patches = [Patch(facecolor=c, edgecolor="#8c959f", label=label) for c, label in known]
    axes.legend(handles=patches, loc="upper left", fontsize="x-small", frameon=False, borderaxespad=0)
