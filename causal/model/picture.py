"""The picture of a model's verdict: each output's interval of positions against what the boundary allows.

`receptive_field` gives the same as data, `save` writes PNG (or another format of matplotlib's) or a page of HTML.
"""

from __future__ import annotations

import base64
import io
import textwrap
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...libraries import library
from ..ownership import short_place

if TYPE_CHECKING:
    from ..verdict import Verdict

MOST = 512  # rows and columns that a picture shows; longer sequences are thinned out
FORBIDDEN, USED, LEAK, ALLOWED = "#f3d3d0", "#3b6ea8", "#cf222e", "#ffffff"
COLOUR = {"PROVED": "#1a7f37", "PROVED_IF": "#9a6700", "REFUTED": "#cf222e", "UNDECIDED": "#8250df"}


def receptive_field(verdict: Verdict) -> np.ndarray:
    """Earliest and latest position that each output can depend on: int64 (queries, 2), −1 for an output of nothing.

    Raises ValueError when the model could not be traced, so that no interval is known.
    """
    earliest, latest = verdict.details.get("earliest"), verdict.details.get("latest")
    if earliest is None or latest is None:
        raise ValueError("the verdict has no intervals, since the model could not be traced; see verdict.reasons")
    return np.stack([np.asarray(earliest, np.int64), np.asarray(latest, np.int64)], axis=1)


def cells(verdict: Verdict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the picture shows: 0 allowed, 1 forbidden, 2 allowed and in the interval, 3 forbidden and in the interval;
    with the query and position of its rows and columns. Raises ValueError for a verdict without a boundary.
    """
    b = verdict.boundary
    if b is None:
        raise ValueError("the verdict has no boundary, so that there is nothing to draw; print it instead")
    rows = np.unique(np.linspace(0, b.queries - 1, min(b.queries, MOST)).round().astype(int))
    columns = np.unique(np.linspace(0, b.n - 1, min(b.n, MOST)).round().astype(int))
    forbidden = ~b.allowed(rows[:, None], columns[None, :])
    used = np.zeros(forbidden.shape, bool)
    if verdict.details.get("latest") is not None:
        field = receptive_field(verdict)[rows]
        used = (columns[None, :] >= field[:, :1]) & (columns[None, :] <= field[:, 1:]) & (field[:, :1] >= 0)
    return forbidden + 2 * used, rows, columns


def caption(verdict: Verdict) -> str:
    """The line below the picture: the blamed operation, the witness, or what was proved."""
    blame = verdict.details.get("blame")
    if blame:
        entry = blame["entry"]
        where = f" in {entry['module']}" if entry["module"] else ""
        verb = "enters" if verdict.status.name == "REFUTED" else "could enter"
        return f"the future {verb} at {entry['operation']}{where} ({short_place(entry['line'])})"
    if verdict.status.name in ("PROVED", "PROVED_IF"):
        inside = "every interval lies inside what the boundary allows"
        condition = f", provided that {verdict.conditions[0].text}" if verdict.conditions else ""
        return textwrap.shorten(inside + condition, 260, placeholder=" …")
    return textwrap.shorten(verdict.reasons[0], 260, placeholder=" …") if verdict.reasons else ""


def plot(verdict: Verdict, axes: Any = None) -> Any:
    """Draw output position against input position on matplotlib `axes` (new ones when None); returns the axes.

    Blue is what an output can depend on, red shade what is forbidden, full red what is forbidden and not excluded; a
    cross marks the witness. Raises ImportError that names the extra when matplotlib is missing.
    """
    plt = library("matplotlib.pyplot", "plot")
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    picture, rows, columns = cells(verdict)
    if axes is None:
        _, axes = plt.subplots(figsize=(6.4, 7.4), layout="constrained")
    edges = (_edges(columns), _edges(rows))
    axes.pcolormesh(
        *edges, picture, cmap=ListedColormap([ALLOWED, FORBIDDEN, USED, LEAK]), vmin=0, vmax=3, rasterized=True
    )
    axes.set_xlim(edges[0][0], edges[0][-1])
    axes.set_ylim(edges[1][-1], edges[1][0])
    b = verdict.boundary
    axes.set_aspect("equal" if b is None or b.n == b.queries else "auto")
    axes.set_xlabel("input position")
    axes.set_ylabel("output position")
    traced = verdict.status.name != "UNDECIDED" and verdict.details.get("latest") is not None
    labels = {
        USED: "output can depend on it" if traced else "dependence that was traced",
        ALLOWED: "allowed, output cannot depend on it" if traced else "allowed, no dependence traced",
        FORBIDDEN: "forbidden",
        LEAK: "forbidden and not excluded",
    }
    shown = {USED: picture == 2, ALLOWED: picture == 0, FORBIDDEN: picture == 1, LEAK: picture == 3}
    known: list[Any] = [
        Patch(facecolor=colour, edgecolor="grey", label=label)
        for colour, label in labels.items()
        if shown[colour].any()
    ]
    if verdict.witness is not None:
        (mark,) = axes.plot(
            verdict.witness.position, verdict.witness.query, "x", color="black", markersize=9, markeredgewidth=2,
            linestyle="none", clip_on=False, label=f"witness: {verdict.witness.query} ← {verdict.witness.position}",
        )  # fmt: skip
        known.append(mark)
    rows_of_keys = -(-len(known) // 3)  # above the cells, of which it must hide none
    axes.legend(
        handles=known,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=min(3, len(known)),
        fontsize=8,
        frameon=False,
    )
    axes.set_title(
        _wrapped(verdict.headline(), 72), color=COLOUR[verdict.status.name], fontsize=10, pad=10 + 14 * rows_of_keys
    )
    axes.annotate(
        _wrapped(caption(verdict)), (0.5, 0), (0, -34), xycoords="axes fraction", textcoords="offset points",
        ha="center", va="top", fontsize=8,
    )  # fmt: skip
    return axes


def _edges(positions: np.ndarray) -> np.ndarray:
    """Cell borders around ascending positions."""
    middle = (positions[1:] + positions[:-1]) / 2
    return np.concatenate([[positions[0] - 0.5], middle, [positions[-1] + 0.5]])


def _wrapped(text: str, width: int = 92) -> str:
    return "\n".join(textwrap.wrap(text, width))


def save(verdict: Verdict, path: str | Path) -> None:
    """Write the picture: `.html` a page with the picture and the verdict's table, otherwise an image of that suffix.

    Raises ValueError for a suffix that matplotlib cannot write, OSError where the folder is missing. Nothing is left
    half-written.
    """
    import matplotlib

    path = Path(path)
    figure, axes = _figure()
    plot(verdict, axes)
    kinds = {*figure.canvas.get_supported_filetypes(), "html"}
    kind = path.suffix.removeprefix(".").lower()
    if kind not in kinds:
        raise ValueError(f"save = {str(path)!r} has no suffix that can be written; use .png, .svg, .pdf or .html")
    memory = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "attnproof"}):
        figure.savefig(memory, format="png" if kind == "html" else kind, dpi=150)
    data = memory.getvalue()
    if kind == "html":
        image = base64.b64encode(data).decode()
        data = (
            f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(verdict.headline())}</title>"
            "<body style='font-family:sans-serif;max-width:60em;margin:2em auto'>"
            f"<img alt='output position against the positions it can depend on' style='max-width:100%' "
            f"src='data:image/png;base64,{image}'>{verdict._repr_html_()}</body></html>"
        ).encode()
    path.write_bytes(data)


def _figure() -> tuple[Any, Any]:
    """A figure of its own, without a window and outside pyplot's list."""
    library("matplotlib", "save")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 7.4), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots()
