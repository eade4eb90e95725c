"""`attnproof pipeline MODULE:FUNCTION DATA`: does a feature pipeline rewrite rows that it has already written?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from . import Format, FormatOption, accepted, app, fail, judge
from .modules import load
from .usage import first_line, in_options, shown, whole

OPTIONS = {name: f"--{name}" for name in ("time", "group", "labels", "boundary", "cuts", "workers", "seed")}


@app.command("pipeline")
def pipeline_command(
    function: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FUNCTION",
            help="A function of a table, or an object with fit_transform or transform; MODULE may be a file.",
        ),
    ],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A table: .csv or .parquet.")],
    time: Annotated[
        str | None, typer.Option(help="The column of times; it is parsed as dates where it can be.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="The column that names a row's group, for panels.")] = None,
    labels: Annotated[str | None, typer.Option(help="Output columns that may look ahead, with commas.")] = None,
    boundary: Annotated[str, typer.Option(help="prefix (a row may use itself), strict or lag:K.")] = "prefix",
    cuts: Annotated[str | None, typer.Option(help="How many cuts, or all; by default what is quick.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Find the very first leaking row of each column.")] = False,
    workers: Annotated[
        int | None, typer.Option(parser=whole(1), metavar="COUNT", help="Run cuts in this many processes.")
    ] = None,
    seed: Annotated[
        int, typer.Option(parser=whole(0), metavar="SEED", help="Seed of the values that replace others.")
    ] = 0,
    library: Annotated[str, typer.Option(help="pandas or polars: what FUNCTION takes.")] = "pandas",
    output: FormatOption = Format.text,
    accept: Annotated[
        str | None, typer.Option(help="undecided: exit with 0 when no leak was found on the cuts that were run.")
    ] = None,
) -> None:
    """Cut the table, take the future away or replace it, and see whether settled rows change."""
    from ..causal.pipeline import check_pipeline

    accepted(accept)
    called = load(function, "FUNCTION", _transforms)
    table = read_table(data, time, library)
    with in_options(OPTIONS), progress_bar(f"checking {function}") as tick:
        verdict = check_pipeline(
            called,
            table,
            time=time,
            group=group,
            labels=[] if labels is None else [label.strip() for label in labels.split(",") if label.strip()],
            boundary=boundary,
            cuts=_cuts(cuts),
            exact=exact,
            workers=workers,
            seed=seed,
            progress=tick,
        )
    judge(verdict, output, accept)


def _transforms(found: Any) -> bool:
    """A function of the table, or an object with a method that transforms one."""
    return callable(found) or hasattr(found, "fit_transform") or hasattr(found, "transform")


def read_table(path: Path, time: str | None, library: str) -> Any:
    """The table in a file, as the library's frame; the time column as dates where it can be read as such."""
    from ..numeric.libraries import library as find
    from .files import readable

    if library not in ("pandas", "polars"):
        fail(f"--library {shown(library)} is unknown; use pandas or polars")
    if path.suffix not in (".csv", ".parquet"):
        fail(f"DATA = {shown(path)} has an ending that is not read; pass a .csv or .parquet file")
    readable(path, "DATA =", "a .csv or .parquet file")
    module = find(library, f"reading {path.suffix}")
    if path.suffix == ".parquet" and library == "pandas":
        find("pyarrow", "reading .parquet")
    try:
        if library == "polars":
            return module.read_csv(path, try_parse_dates=True) if path.suffix == ".csv" else module.read_parquet(path)
        table = module.read_csv(path) if path.suffix == ".csv" else module.read_parquet(path)
    except Exception as error:
        why = first_line(error).removeprefix("Error tokenizing data. C error: ")
        fail(f"DATA = {shown(path)} cannot be read ({why}); pass a well-formed {path.suffix} file")
    if time in table.columns and not module.api.types.is_numeric_dtype(table[time]):
        try:
            table[time] = module.to_datetime(table[time], format="ISO8601")
        except (ValueError, TypeError) as error:
            fail(f"--time {time} holds what is no time ({first_line(error)}); write ISO dates or numbers")
    return table


def _cuts(text: str | None) -> int | str | None:
    if text is None or text == "all":
        return text
    if not text.isdecimal() or int(text) < 1:
        fail(f"--cuts {shown(text)} is no number of cuts; pass a number of at least 1, or all")
    return int(text)


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)
