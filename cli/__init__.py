"""The command line. Each command is a file of its own here; this one holds the app, the exit codes and the errors.

Exit codes: 0 proved or accepted, 1 refuted or failed, 2 usage or unreadable input, 3 undecided, conditional or
something required not run. An error is one sentence on standard error, never a traceback.
"""

from __future__ import annotations

import io
import os
import sys
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from ..causal.verdict import Verdict

PROVED, REFUTED, USAGE, OPEN, CLOSED_PIPE = 0, 1, 2, 3, 141
EXTRAS = {
    "torch": "torch",
    "jax": "jax",
    "dask": "dask",
    "z3": "smt",
    "cvc5": "smt",
    "pandas": "pipelines",
    "polars": "pipelines",
    "matplotlib": "plot",
    "transformers": "models",
}
COMMANDS = ("verify", "check", "model", "pipeline", "design", "cost", "error", "retention", "explain", "doctor")

app = typer.Typer(
    name="attnproof",
    help="Prove or refute what is claimed of attention that compresses the sequence axis.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

# Typer carries its own copy of Click in newer releases and depends on Click in older ones; its public BadParameter
# leads to the base class of usage errors in both.
UsageProblem: Any = next(b for b in typer.BadParameter.__mro__ if b.__name__ == "ClickException")


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"attnproof {__version__}")
        raise typer.Exit(PROVED)


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Prove or refute what is claimed of attention that compresses the sequence axis."""


class Format(StrEnum):
    """How results are printed."""

    text = "text"
    json = "json"


def fail(sentence: str, code: int = USAGE) -> NoReturn:
    """One sentence on standard error, then exit."""
    print(f"attnproof: {sentence}", file=sys.stderr)
    raise typer.Exit(code)


def accepted(text: str | None) -> set[str]:
    """The statuses that `--accept conditional,undecided` names, beside PROVED."""
    words = {"conditional": "PROVED_IF", "undecided": "UNDECIDED"}
    found = {"PROVED"}
    for word in filter(None, (w.strip() for w in (text or "").split(","))):
        if word not in words:
            fail(f"--accept {word!r} is unknown; use conditional, undecided or both with a comma")
        found.add(words[word])
    return found


def judge(verdict: Verdict, output: Format, accept: str | None) -> NoReturn:
    """Print the verdict and leave with its exit code."""
    statuses = accepted(accept)
    if output is Format.json:
        print(verdict.to_json(indent=2))
    elif sys.stdout.isatty():
        from rich.console import Console

        Console().print(verdict)
    else:
        print(verdict)
    name = verdict.status.name
    raise typer.Exit(PROVED if name in statuses else REFUTED if name == "REFUTED" else OPEN)


def main() -> None:
    """Entry point of the `attnproof` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a narrow encoding must not turn a verdict into an error
    for name in COMMANDS:
        import_module(f"{__name__}.{name}")
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except typer.Exit as stop:
        code = stop.exit_code
    except typer.Abort:
        print("attnproof: interrupted", file=sys.stderr)
        code = 130
    except UsageProblem as error:
        helpful = type(error).__name__ == "NoArgsIsHelpError"
        print(error.format_message() if helpful else f"attnproof: {error.format_message()}", file=sys.stderr)
        code = USAGE
    except BrokenPipeError:  # the reader went away; nothing is wrong with the verdict
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = CLOSED_PIPE
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        remedy = f"; install it with pip install 'attnproof[{extra}]'" if extra else "; install it and run again"
        print(f"attnproof: {error}{'' if 'pip install' in str(error) else remedy}", file=sys.stderr)
        code = USAGE
    except (ValueError, TypeError, KeyError, ImportError, MemoryError, OSError) as error:
        sentence = error.args[0] if isinstance(error, KeyError) and error.args else error
        print(f"attnproof: {sentence}", file=sys.stderr)
        code = USAGE
    sys.exit(code if isinstance(code, int) else PROVED)
