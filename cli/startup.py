"""`attnproof startup MODULE:FUNCTION DATA`: how many rows a pipeline needs before its values stand still."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from . import OPEN, PROVED, Format, FormatOption, app, fail
from .modules import load, prints_aside
from .pipeline import OPTIONS, read_table, transforms
from .usage import in_options, shown


@app.command("startup")
def startup_command(
    function: Annotated[str, typer.Argument(metavar="MODULE:FUNCTION", help="A function of a table, as in pipeline.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The table, .csv or .parquet.")],
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of times.")] = None,
    group: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names a row's group.")] = None,
    tolerance: Annotated[float, typer.Option(help="The share of a value by which it may still move.")] = 1e-6,
    library: Annotated[str, typer.Option(help="pandas or polars: what FUNCTION takes.")] = "pandas",
    save: Annotated[str | None, typer.Option(metavar="FILE", help="A picture: .png, .svg or .pdf.")] = None,
    output: FormatOption = Format.text,
) -> None:
    """Measure how much a pipeline's values move with the number of rows before them; 3 where no number is enough."""
    from ..causal.pipeline.startup import measure_startup

    if save is not None and Path(save).suffix not in (".png", ".svg", ".pdf"):
        fail(f"--save {shown(save)} has an ending that is not written; use .png, .svg or .pdf")
    with prints_aside():
        called = load(function, "FUNCTION", transforms)
        table = read_table(Path(data), "DATA =", time, library)
        with in_options({**OPTIONS, "tolerance": "--tolerance"}):
            found = measure_startup(called, table, time=time, group=group, tolerance=tolerance)
    if save is not None:
        found.plot().figure.savefig(save)
    print(json.dumps(found.to_dict(), indent=2) if output is Format.json else found)
    raise typer.Exit(OPEN if None in found.needed.values() else PROVED)
