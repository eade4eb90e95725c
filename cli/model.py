"""`attnproof model MODULE:FACTORY`: prove or refute that a model of PyTorch or JAX is causal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from . import Format, FormatOption, ReportOption, accepted, app, judge
from .modules import called, load, prints_aside
from .usage import PICTURES, choice, comma_separated, in_options, number, page_file, picture, shown, whole, whole_list

OPTIONS = {
    "lengths": "--n",
    "modes": "--mode",
    "boundary": "--boundary",
    "sequence_axis": "--sequence-axis",
    "output_axis": "--output-axis",
    "outputs": "--output",
    "vary": "--vary",
    "vocabulary": "--vocabulary",
    "tries": "--tries",
    "budget": "--budget",
    "replay": "--replay",
    "configuration": "--config",
    "model_class": "CLASS",
}
"""What the parameters of `check_model` are called here."""


class Replay(StrEnum):
    """Whether a proof is compared with a run of the model."""

    auto = "auto"
    never = "never"


@app.command("model")
def model_command(
    factory: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FACTORY",
            help="FACTORY() returns (callable, inputs) or (callable, make_input); MODULE may be a file. "
            "With --config, a class of transformers instead.",
        ),
    ],
    config: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|TYPE",
            help="Check what a configuration describes, without weights: a JSON file, or a type such as llama.",
        ),
    ] = None,
    n: Annotated[
        str | None, typer.Option("--n", help="Lengths to check, such as 64 or 64,128; or all, to prove every length.")
    ] = None,
    mode: Annotated[str, typer.Option(help="eval, train or eval,train.")] = "eval",
    boundary: Annotated[
        str, typer.Option(help="prefix, strict, lag:K, documents:a,b,…, documents-of:B, blocks:B or bidirectional.")
    ] = "prefix",
    sequence_axis: Annotated[
        int | None,
        typer.Option(parser=whole(), metavar="AXIS", help="Axis of the varied input that holds positions, mostly 1."),
    ] = None,
    output_axis: Annotated[
        int | None, typer.Option(parser=whole(), metavar="AXIS", help="Axis of the output that holds queries.")
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output", metavar="KEY", help="An output to check, by index or key; all are unless you name some."
        ),
    ] = None,
    vary: Annotated[str, typer.Option(help="The varied input: its index, or its name among keywords.")] = "0",
    vocabulary: Annotated[
        int | None,
        typer.Option(parser=whole(1), metavar="COUNT", help="Number of tokens, for whole-number inputs."),
    ] = None,
    stored: Annotated[
        bool, typer.Option("--stored", help="Take the parameters as they are, not as any numbers.")
    ] = False,
    tries: Annotated[
        int | None,
        typer.Option(
            parser=whole(1), metavar="COUNT", help="Look for a leak to the end, up to so many forwards: 1000, say."
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(parser=number, metavar="SECONDS", help="Search no longer than this; the verdict says so."),
    ] = None,
    replay: Annotated[
        Replay,
        typer.Option(
            parser=choice(Replay), metavar="auto|never", help="never: prove, and run the model on no numbers at all."
        ),
    ] = Replay.auto,
    unused: Annotated[
        bool, typer.Option("--unused", help="Warn of positions that outputs may use and are not seen to: 2n + 1 runs.")
    ] = False,
    obligations: Annotated[
        Path | None,
        typer.Option("--save-obligations", metavar="DIR", help="With --n all, write what the solvers proved here."),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the picture here: .png, .svg, .pdf or .html.")] = None,
    output: FormatOption = Format.text,
    page: ReportOption = None,
    accept: Annotated[str | None, typer.Option(help="conditional, undecided or both: also exit with 0.")] = None,
) -> None:
    """Prove by one abstract pass that no output looks ahead, or refute it with a witness that replays."""
    from ..causal.model.check import check_model

    accepted(accept)
    picture(save, (*PICTURES, ".html"))
    page_file(page)
    with prints_aside():
        lengths: list[int] | Literal["all"] | None = None if n is None else "all" if n == "all" else whole_numbers(n)
        if config is None:
            function, inputs, make_input = built(load(factory, "FACTORY", callable), factory)
        else:
            function, inputs, make_input, told = described(factory, config, stored)
            vocabulary = vocabulary or told
        if make_input is not None and lengths is None:
            gives = f"{factory} gives make_input(n)" if config is None else "--config tells no length"
            raise ValueError(f"{gives}, so that --n must name one, such as --n 64")
        with in_options(OPTIONS), quiet_progress(f"checking {factory}") as progress:
            verdict = check_model(
                function,
                *inputs,
                sequence_axis=sequence_axis,
                output_axis=output_axis,
                outputs=None if not outputs else [index_or_key(text) for text in outputs],
                boundary=None if boundary == "prefix" else boundary,
                modes=comma_separated(mode),
                lengths=lengths,
                make_input=make_input,
                vary=index_or_key(vary),
                vocabulary=vocabulary,
                parameters="stored" if stored else None,
                tries=tries,
                budget=budget,
                progress=None if progress is None else searching(progress, factory),
                unused=unused,
                replay="never" if replay is Replay.never else "auto",
            )
    if obligations is not None:
        from ..causal.model.every_length.certificate import save_obligations

        if verdict.status.name.startswith("PROVED"):
            with in_options(OPTIONS):
                save_obligations(verdict, obligations)
        else:
            print("nothing was saved, as there is no proof for every length", file=sys.stderr)
    if save is not None:
        from ..causal.model.picture import save as write

        write(verdict, save)
    judge(verdict, output, accept, page)


def described(text: str, configuration: str, stored: bool) -> tuple[Any, tuple[Any, ...], Callable[[int], Any], int]:
    """(model, no inputs, make_input, vocabulary) of a class of transformers and its configuration."""
    from ..causal.model.configuration import from_configuration, offline

    if stored:
        given = f"--config {shown(configuration)}"
        raise ValueError(f"--stored asks for parameters as they are, and {given} gives none; leave --stored out")
    with offline(), in_options(OPTIONS):
        found = from_configuration(load(text, "CLASS", lambda c: isinstance(c, type)), configuration)
    return found.model, (), found.make_input, found.vocabulary


def built(build: Any, text: str) -> tuple[Any, tuple[Any, ...], Any]:
    """(callable, inputs, make_input) of what the factory returns; one of the last two is empty."""
    from ..causal.model.on_meta import has_valueless_buffers, parameters_on_meta

    result = called(build, text)
    if isinstance(result, tuple) and result and has_valueless_buffers(result[0]):
        with parameters_on_meta():
            result = called(build, text)  # again, since a proof needs what the buffers hold
    if not isinstance(result, tuple) or len(result) != 2 or not callable(result[0]):
        raise ValueError(
            f"{text} returned {type(result).__name__}; it must return (callable, inputs) or (callable, make_input)"
        )
    function, given = result
    if callable(given) and not hasattr(given, "shape"):
        return function, (), given
    return function, given if isinstance(given, tuple) else (given,), None


def index_or_key(text: str) -> int | str:
    """'0' as a number, 'logits' as it is."""
    return int(text) if text.lstrip("-").isdigit() else text


def whole_numbers(text: str) -> list[int]:
    """'64,128' as numbers."""
    found = whole_list(text)
    if found is None or min(found) < 1:
        raise ValueError(
            f"--n {shown(text)} is not a list of lengths of at least 1; write it like 64 or 64,128, or all"
        )
    return found


@contextmanager
def quiet_progress(what: str) -> Iterator[Callable[[str], None] | None]:
    """A spinner on a terminal, and what changes its text; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield status.update


def searching(show: Callable[[str], None], factory: str) -> Callable[[int, str], None]:
    """Shows how far the search for a leak is."""
    return lambda forwards, setting: show(f"checking {factory}: looking for a leak, forward {forwards} ({setting})")
