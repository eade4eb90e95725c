"""`attnproof pipeline MODULE:FUNCTION DATA`: does a feature pipeline rewrite rows that it has already written?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from . import Format, app, fail, judge


@app.command("pipeline")
def pipeline_command(
    function: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FUNCTION",
            help="A function of a table, or an object with fit_transform or transform; MODULE may be a file.",
        ),
    ],
    data: Annotated[Path, typer.Argument(help="A table: .csv or .parquet.")],
    time: Annotated[
        str | None, typer.Option(help="The column of times; it is parsed as dates where it can be.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="The column that names a row's group, for panels.")] = None,
    labels: Annotated[str | None, typer.Option(help="Output columns that may look ahead, with commas.")] = None,
    boundary: Annotated[str, typer.Option(help="prefix (a row may use itself), strict or lag:K.")] = "prefix",
    cuts: Annotated[str | None, typer.Option(help="How many cuts, or all; by default what is quick.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Find the very first leaking row of each column.")] = False,
    workers: Annotated[int | None, typer.Option(help="Run cuts in this many processes.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the values that replace others.")] = 0,
    library: Annotated[str, typer.Option(help="pandas or polars: what FUNCTION takes.")] = "pandas",
    format: Annotated[Format, typer.Option(help="How the verdict is printed.")] = Format.text,
    accept: Annotated[
        str | None, typer.Option(help="undecided: exit with 0 when no leak was found on the cuts that were run.")
    ] = None,
) -> None:
    """Cut the table, take the future away or replace it, and see whether settled rows change."""
    from ..causal.pipeline import check_pipeline

    called = load_function(function)
    table = read_table(data, time, library)
    with progress_bar(f"checking {function}") as tick:
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
    judge(verdict, format, accept)


def load_function(text: str) -> Any:
    """What `MODULE:FUNCTION` names: a function, or an object that transforms. ValueError where it names neither."""
    module_name, colon, name = text.rpartition(":")
    if not colon or not module_name or not name:
        raise ValueError(f"MODULE:FUNCTION = {text!r} lacks one half; write it like my_features:build")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    if module_name.endswith(".py"):
        if not Path(module_name).is_file():
            raise ValueError(f"MODULE = {module_name!r} is no file here; give the path of a Python file")
        sys.path.insert(0, str(Path(module_name).resolve().parent))
        module_name = Path(module_name).stem
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        raise ValueError(f"MODULE = {module_name!r} cannot be imported ({error}); run where it is importable") from None
    found = getattr(module, name, None)
    if not callable(found) and not hasattr(found, "fit_transform") and not hasattr(found, "transform"):
        raise ValueError(f"FUNCTION = {name!r} is no function of {module_name}; name one that takes the table")
    return found


def read_table(path: Path, time: str | None, library: str) -> Any:
    """The table in a file, as the library's frame; the time column as dates where it can be read as such."""
    if library not in ("pandas", "polars"):
        fail(f"--library {library} is unknown; use pandas or polars")
    if path.suffix not in (".csv", ".parquet"):
        fail(f"DATA = {path} has an ending that is not read; pass a .csv or .parquet file")
    if not path.is_file():
        fail(f"DATA = {path} does not exist; pass a .csv or .parquet file")
    try:
        module = __import__(library)
    except ImportError:
        fail(f"reading {path.suffix} needs {library}; pip install 'attnproof[pipelines]'")
    try:
        if library == "polars":
            return module.read_csv(path, try_parse_dates=True) if path.suffix == ".csv" else module.read_parquet(path)
        table = module.read_csv(path) if path.suffix == ".csv" else module.read_parquet(path)
    except Exception as error:
        fail(f"DATA = {path} cannot be read ({str(error).splitlines()[0]}); pass a well-formed {path.suffix} file")
    if time in table.columns and not module.api.types.is_numeric_dtype(table[time]):
        try:
            table[time] = module.to_datetime(table[time], format="ISO8601")
        except (ValueError, TypeError) as error:
            fail(f"--time {time} holds what is no time ({str(error).splitlines()[0]}); write ISO dates or numbers")
    return table


def _cuts(text: str | None) -> int | str | None:
    if text is None or text == "all":
        return text
    if not text.isdigit():
        fail(f"--cuts {text} is no number of cuts; pass a number or all")
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
