"""`attnproof retention`: what of each position survives compression, by leverages (T8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from . import Format, FormatOption, app, fail
from .layout import console
from .usage import in_options, magnitudes, picture, shown


@app.command()
def retention(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file with the value projection F.")],
    span: Annotated[str, typer.Option(help="Positions A:B, B excluded.")],
    key: Annotated[str | None, typer.Option(help="Key of F in the file.")] = None,
    layout: Annotated[str | None, typer.Option(help="slots-first or positions-first.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the picture to this .png, .svg or .pdf file.")] = None,
    output: FormatOption = Format.text,
) -> None:
    """How much of each position a linear decoder can recover from F V, and what of a span survives."""
    import numpy as np

    from ..numeric.retention import leverage, span_retention

    picture(save)
    F = projection(file, key, layout)
    start, stop = bounds(span, F.shape[1])
    magnitudes({"F": F}, ("F", "F"))
    levels, kept = leverage(F), span_retention(F, start, stop)
    values = np.asarray(levels.values)
    found = {
        "r": F.shape[0],
        "n": F.shape[1],
        "rank": int(levels.rank),
        "sum_of_leverages": float(values.sum()),
        "span": [start, stop],
        "span_leverage": float(values[start:stop].sum()),
        "span_singular_values": np.asarray(kept.values).tolist(),
        "invisible": np.flatnonzero(values < 1e-9).tolist(),
        "leverages": values.tolist(),
        "error": float(levels.error),
    }
    if save is not None:
        draw(found, save)
    if output is Format.json:
        print(json.dumps({"schema_version": 1, **found}, indent=2))
    else:
        show(found)


def projection(file: Path, key: str | None, layout: str | None) -> Any:
    """F from the file, slots first, as float64."""
    import numpy as np

    from ..causal.projection.entries import read_pair
    from .files import open_file

    with in_options({"layout": "--layout"}):
        return np.asarray(read_pair(open_file(file).array(key, "--key"), None, layout)[0].block(), float)


def bounds(text: str, n: int) -> tuple[int, int]:
    """A and B from "A:B", inside the sequence."""
    try:
        start, stop = (int(part) for part in text.split(":"))
    except ValueError:
        fail(f"--span {shown(text)} is no span; write A:B, for instance 120:140")
    if 0 <= stop <= start:
        fail(f"--span {shown(text)} holds no position, since B is excluded; write A:B with A < B")
    if not 0 <= start < stop <= n:
        fail(f"--span {shown(text)} lies outside the {n} positions; choose 0 ≤ A < B ≤ {n}")
    return start, stop


def show(found: dict[str, Any]) -> None:
    """The span, the budget, and the positions that nobody can see."""
    from rich.table import Table

    start, stop = found["span"]
    singular = found["span_singular_values"]
    table = Table(show_header=False)
    table.add_row("projection", f"{found['r']} slots over {found['n']} positions, rank {found['rank']}")
    table.add_row("budget", f"Σ leverages = {found['sum_of_leverages']:.6g} = rank F ≤ r = {found['r']} (T8)")
    table.add_row("average", f"{found['sum_of_leverages'] / found['n']:.4g} per position")
    table.add_row(
        f"span {start}:{stop}",
        f"leverage {found['span_leverage']:.4g} of {stop - start}: "
        f"{found['span_leverage'] / (stop - start):.1%} of its variance can be recovered linearly",
    )
    table.add_row(
        "its directions",
        f"{sum(s > 1 - 1e-9 for s in singular)} kept exactly, "
        f"{sum(s < 1e-6 for s in singular)} lost, of {len(singular)}",
    )
    table.add_row("singular values", " ".join(f"{s:.3f}" for s in singular[:12]) + (" …" if len(singular) > 12 else ""))
    hidden = found["invisible"]
    table.add_row("invisible positions", f"{len(hidden)}" + (f": {hidden[:12]}" if hidden else ""))
    console(110).print(table)


def draw(found: dict[str, Any], path: Path) -> None:
    """Leverage per position, the span shaded, the average r/n dotted."""
    from ..libraries import library

    library("matplotlib", "a picture")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    start, stop = found["span"]
    axes.axvspan(start - 0.5, stop - 0.5, color="#f3d9d4", label=f"span {start}:{stop}")
    axes.step(range(found["n"]), found["leverages"], where="mid", color="#3b6ea8", label="leverage")
    axes.axhline(found["rank"] / found["n"], color="#57606a", ls=":", label="average, rank/n")
    axes.set(xlabel="position", ylabel="share recoverable", ylim=(-0.02, 1.02), xlim=(-0.5, found["n"] - 0.5))
    axes.set_title(f"{found['r']} slots: what a linear decoder can recover of each position")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper right")
    figure.savefig(path, dpi=150)
