"""`attnproof pipeline MODULE:FUNCTION DATA`: does a feature pipeline rewrite rows that it has already written?"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from . import Format, FormatOption, ReportOption, accepted, app, fail, judge
from .dates import polars_with_dates, with_dates
from .modules import load, prints_aside
from .usage import comma_separated, first_line, in_options, page_file, shown, suggestion, whole

OPTIONS = {
    name: f"--{name}"
    for name in ("time", "group", "labels", "signals", "boundary", "startup", "cuts", "workers", "seed")
}


@app.command("pipeline")
def pipeline_command(
    function: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FUNCTION",
            help="A function of a table, or an object with fit_transform or transform; MODULE may be a file.",
        ),
    ],
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="The table whose rows FUNCTION returns, .csv or .parquet; or NAME=FILE, as in --table.",
        ),
    ],
    table: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="A further table, for FUNCTION's parameter NAME; DATA is then the first parameter not named so. "
            "Repeat it for each.",
        ),
    ] = None,
    time: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of times, parsed as dates where it can be. For one table of several NAME=COLUMN, or "
            "NAME= if it was known from the start; repeat it for each.",
        ),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="The column that names a row's group, for panels; NAME=COLUMN as in --time."
        ),
    ] = None,
    labels: Annotated[str | None, typer.Option(help="Output columns that may look ahead, with commas.")] = None,
    boundary: Annotated[str, typer.Option(help="prefix (a row may use itself), strict or lag:K.")] = "prefix",
    signals: Annotated[
        str | None, typer.Option(help="Output columns whose decisions are counted, with commas.")
    ] = None,
    startup: Annotated[
        int, typer.Option(parser=whole(0), metavar="ROWS", help="Rows at the start, of each group, not compared.")
    ] = 0,
    cuts: Annotated[str | None, typer.Option(help="How many cuts, or all; by default all of a short series.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Find the very first leaking row of each column.")] = False,
    workers: Annotated[
        int | None, typer.Option(parser=whole(1), metavar="COUNT", help="Run cuts in this many processes.")
    ] = None,
    seed: Annotated[
        int, typer.Option(parser=whole(0), metavar="SEED", help="Seed of the values that replace others.")
    ] = 0,
    library: Annotated[str, typer.Option(help="pandas or polars: what FUNCTION takes.")] = "pandas",
    save_witness: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write both inputs and a test that fails to a folder, if refuted.")
    ] = None,
    output: FormatOption = Format.text,
    page: ReportOption = None,
    accept: Annotated[
        str | None,
        typer.Option(
            help="undecided: exit with 0 when no leak was found on the cuts that were run, in columns that are "
            "deterministic."
        ),
    ] = None,
) -> None:
    """Cut the table, take the future away or replace it, and see whether settled rows change."""
    from ..causal.pipeline.check import check_pipeline
    from ..causal.pipeline.witness import PipelineWitness

    accepted(accept)
    page_file(page)
    with prints_aside():
        called = load(function, "FUNCTION", transforms)
        files = _files(function, called, data, table or ())
        times, groups = _columns("--time", time or (), files), _columns("--group", group or (), files)
        tables: dict[str, Any] = {}
        for name, path in files.items():
            said = f"--table {name} =" if tables else "DATA ="
            tables[name] = read_table(path, said, times.get(name, times.get("")), library)
        with in_options(OPTIONS), _by_name(), progress_bar(f"checking {function}") as tick:
            verdict = check_pipeline(
                called,
                tables.get("", tables),
                time=_by_table(times, tables),
                group=_by_table(groups, tables),
                labels=comma_separated(labels),
                signals=comma_separated(signals),
                boundary=boundary,
                startup=startup,
                cuts=cuts_of(cuts),
                exact=exact,
                workers=workers,
                seed=seed,
                progress=tick,
            )
    if save_witness is not None and isinstance(verdict.witness, PipelineWitness):
        for path in verdict.witness.save(save_witness, function):
            print(f"attnproof: wrote {path}", file=sys.stderr)
    judge(verdict, output, None if verdict.details["untold"] else accept, page)


def transforms(found: Any) -> bool:
    """A function of the table, or an object with a method that transforms one."""
    return callable(found) or hasattr(found, "fit_transform") or hasattr(found, "transform")


def _files(function: str, called: Any, data: str, others: Collection[str]) -> dict[str, Path]:
    """The file for each parameter of the function, DATA first; under "" where DATA alone is given without a name."""
    known, more = _parameters(called)
    name, equals, path = data.partition("=")
    if not equals or not name.isidentifier() or os.path.exists(data):  # a path may hold = as well
        if not others:
            return {"": Path(data)}
        taken = {text.partition("=")[0] for text in others}
        name, path = next((parameter for parameter in known if parameter not in taken), ""), data
        if not name:
            fail(f"DATA = {shown(data)} finds no parameter of {function} left; write NAME=FILE or leave a --table out")
    found = {}
    for option, text in [("DATA =", f"{name}={path}"), *(("--table", text) for text in others)]:
        name, equals, path = text.partition("=")
        if not name or not path:
            fail(f"{option} {shown(text)} is not of the form NAME=FILE; write it like --table news=news.csv")
        if name not in known and not more:
            near = suggestion(name, known).strip() or f"use {', '.join(known) or 'a function with named parameters'}"
            fail(f"{option} {shown(text)} names no parameter of {function}; {near}")
        if name in found:
            fail(f"{option} {shown(text)} names {name} again; give each name one file")
        found[name] = Path(path)
    return found


def _parameters(called: Any) -> tuple[list[str], bool]:
    """The parameters that a function takes by name, and whether it takes others as well (or does not tell)."""
    from ..causal.pipeline.functions import as_function

    try:
        parameters = inspect.signature(as_function(called)).parameters.values()
    except (TypeError, ValueError):
        return [], True
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return named, any(p.kind is p.VAR_KEYWORD for p in parameters)


def _columns(option: str, texts: Iterable[str], tables: Collection[str]) -> dict[str, str | None]:
    """The column for each table that has its own (None: none), and under "" the one for all others."""
    found: dict[str, str | None] = {}
    for text in texts:
        name, equals, column = text.partition("=")
        if not equals or "" in tables:
            name, column = "", text
        elif name not in tables:
            near = suggestion(name, tables).strip() or f"use {', '.join(tables)}"
            fail(f"{option} {shown(text)} names no table; {near}")
        if name in found:
            fail(f"{option} {shown(text)} is a second column for {f'table {name}' if name else 'all tables'}; give one")
        found[name] = column or None if name else column
    return found


@contextmanager
def _by_name() -> Iterator[None]:
    """A table without times is told how `--time` is written for one of several tables."""
    from ..causal.pipeline.clock import Timeless

    try:
        yield
    except Timeless as error:
        remedy = f"pass --time {error.table}=COLUMN, or --time {error.table}= if it was known from the start"
        raise ValueError(f"{error.name} {error.problem}; {remedy}") from error


def _by_table(columns: Mapping[str, str | None], tables: Mapping[str, Any]) -> Any:
    """What `check_pipeline` takes as time or group. The first table must have the column that is meant for all."""
    shared, own = columns.get(""), {name: column for name, column in columns.items() if name}
    if not own:
        return shared
    having = [name for i, (name, table) in enumerate(tables.items()) if not i or shared in table.columns]
    return (dict.fromkeys(having, shared) if "" in columns else {}) | own


def read_table(path: Path, said: str, time: str | None, library: str) -> Any:
    """The table in a file, as the library's frame; the time column as dates where it can be read as such.

    `said` is how errors name the argument that gave the path.
    """
    from ..libraries import library as find
    from .files import readable

    if library not in ("pandas", "polars"):
        fail(f"--library {shown(library)} is unknown; use pandas or polars")
    if path.suffix not in (".csv", ".parquet"):
        fail(f"{said} {shown(path)} has an ending that is not read; pass a .csv or .parquet file")
    readable(path, said, "a .csv or .parquet file")
    module = find(library, f"reading {path.suffix}")
    if path.suffix == ".parquet" and library == "pandas":
        find("pyarrow", "reading .parquet")
    try:
        if library == "polars":
            table = module.read_csv(path, try_parse_dates=True) if path.suffix == ".csv" else module.read_parquet(path)
        else:
            table = module.read_csv(path) if path.suffix == ".csv" else module.read_parquet(path)
    except Exception as error:
        why = first_line(error).removeprefix("Error tokenizing data. C error: ")
        fail(f"{said} {shown(path)} cannot be read ({why}); pass a well-formed {path.suffix} file")
    if time is None or time not in table.columns:
        return table
    if library == "pandas":
        return with_dates(table, time, shown(path))
    return polars_with_dates(table, time, path) if path.suffix == ".csv" else table


def cuts_of(text: str | None) -> int | str | None:
    """A number of cuts, or "all"; None for None."""
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
