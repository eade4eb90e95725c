"""`attnproof pipelines PATTERN… --data FILE`: many functions, one line each, and the worst exit code."""

from __future__ import annotations

import csv
import inspect
import json
import sys
from collections.abc import Iterator
from enum import StrEnum
from fnmatch import fnmatch
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import OPEN, PROVED, REFUTED, USAGE, accepted, app, fail
from .modules import load_module, prints_aside
from .pipeline import OPTIONS, cuts_of, read_table
from .usage import choice, comma_separated, in_options, shown, whole

if TYPE_CHECKING:
    from ..causal.pipeline.survey import Surveyed

WORST = (PROVED, OPEN, REFUTED, USAGE)  # the exit codes, the worst last
FIELDS = ("name", "status", "leaking", "first_row", "reach", "carrier", "decisions", "untold", "said")


class Lines(StrEnum):
    """How the lines are printed."""

    text = "text"
    json = "json"
    csv = "csv"


@app.command("pipelines")
def pipelines_command(
    patterns: Annotated[
        list[str],
        typer.Argument(
            metavar="PATTERN...",
            help="MODULE or FILE.py with * in it, and after a colon the functions' names, with * as well: "
            "features/*.py:add_*. Without a colon, all public functions that the module defines.",
        ),
    ],
    data: Annotated[str, typer.Option(metavar="FILE", help="The table that each takes, .csv or .parquet.")],
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of times.")] = None,
    group: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names a row's group.")] = None,
    labels: Annotated[str | None, typer.Option(help="Output columns that may look ahead, with commas.")] = None,
    signals: Annotated[
        str | None, typer.Option(help="Output columns whose decisions are counted, with commas.")
    ] = None,
    boundary: Annotated[str, typer.Option(help="prefix (a row may use itself), strict or lag:K.")] = "prefix",
    startup: Annotated[
        int, typer.Option(parser=whole(0), metavar="ROWS", help="Rows at the start that are not compared.")
    ] = 0,
    cuts: Annotated[str | None, typer.Option(help="How many cuts, or all; by default all of a short series.")] = None,
    seed: Annotated[
        int, typer.Option(parser=whole(0), metavar="SEED", help="Seed of the values that replace others.")
    ] = 0,
    library: Annotated[str, typer.Option(help="pandas or polars: what the functions take.")] = "pandas",
    output: Annotated[
        Lines, typer.Option("--format", parser=choice(Lines), metavar="text|json|csv", help="How lines are printed.")
    ] = Lines.text,
    accept: Annotated[
        str | None, typer.Option(help="undecided: count as 0 where no leak was found in deterministic columns.")
    ] = None,
) -> None:
    """Check many feature pipelines on one table: one line each, and the worst exit code."""
    from ..causal.pipeline.survey import check_pipelines

    statuses = accepted(accept)
    with prints_aside(), in_options(OPTIONS):
        functions = dict(pair for pattern in patterns for pair in _matching(pattern))
        table = read_table(Path(data), "--data", time, library)
        found = check_pipelines(
            functions,
            table,
            time=time,
            group=group,
            labels=comma_separated(labels),
            signals=comma_separated(signals),
            boundary=boundary,
            startup=startup,
            cuts=cuts_of(cuts),
            seed=seed,
        )
        lines = list(found)
    _print(lines, output)
    codes = [_code(line, statuses) for line in lines]
    raise typer.Exit(max(codes, key=WORST.index))


def _code(line: Surveyed, statuses: set[str]) -> int:
    row = line.to_row()
    if line.status in statuses and not row["untold"]:
        return PROVED
    return {"REFUTED": REFUTED, "ERROR": USAGE}.get(line.status, OPEN)


def _print(lines: list[Surveyed], output: Lines) -> None:
    rows = [line.to_row() for line in lines]
    if output is Lines.json:
        print(json.dumps({"schema_version": 1, "pipelines": rows}, indent=2))
    elif output is Lines.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows([_cell(row[field]) for field in FIELDS] for row in rows)
    else:
        print("\n".join(map(str, lines)))


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return " ".join(f"{name}={number}" for name, number in value.items())
    return " ".join(value) if isinstance(value, list) else value


def _matching(pattern: str) -> Iterator[tuple[str, Any]]:
    """The functions that a pattern names, each under MODULE:NAME."""
    place, _, names = pattern.partition(":")
    places = sorted(glob(place, recursive=True)) if place.endswith(".py") and "*" in place else [place]
    found = [pair for one in places for pair in _functions(one, names or "*")]
    if not found:
        fail(f"PATTERN {shown(pattern)} finds no function of a table; write it like features.py:add_*")
    yield from found


def _functions(place: str, names: str) -> Iterator[tuple[str, Any]]:
    module = load_module(place)
    for name, value in vars(module).items():
        chosen = fnmatch(name, names) and (not name.startswith("_") or names.startswith("_"))
        own = inspect.isfunction(value) and value.__module__ == module.__name__
        if name == names or (chosen and own and _takes_one(value)):
            yield f"{place}:{name}", value


def _takes_one(function: Any) -> bool:
    """Whether a function can be called with a table alone."""
    parameters = inspect.signature(function).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return len(needed) == 1 and needed[0].kind is not inspect.Parameter.KEYWORD_ONLY
