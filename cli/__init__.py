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
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from .layout import console
from .usage import choice, comma_separated, sentence, shown

if TYPE_CHECKING:
    from ..causal.verdict import Verdict

PROVED, REFUTED, USAGE, OPEN, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 3, 130, 141
COMMANDS = (
    *("verify", "check", "model", "pipeline", "pipelines", "startup"),
    *("design", "cost", "error", "retention", "explain", "doctor", "schema"),
)
RUNS_CODE = {"model", "pipeline", "pipelines", "startup"}  # the commands that run what the user wrote

app = typer.Typer(
    name="attnproof",
    help="Prove or refute what is claimed of attention that compresses the sequence axis.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"max_content_width": 120},
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


FormatOption = Annotated[
    Format, typer.Option("--format", parser=choice(Format), metavar="text|json", help="How the result is printed.")
]

ReportOption = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write a page for a reviewer here, .html, which stands by itself."),
]


def fail(text: str, code: int = USAGE) -> NoReturn:
    """One sentence on standard error, then exit."""
    print(f"attnproof: {text}", file=sys.stderr)
    raise typer.Exit(code)


def accepted(text: str | None) -> set[str]:
    """The statuses that `--accept conditional,undecided` names, beside PROVED."""
    known = {"conditional": "PROVED_IF", "undecided": "UNDECIDED"}
    found = {"PROVED"}
    for word in comma_separated(text):
        if word not in known:
            fail(f"--accept {shown(word)} is unknown; use conditional, undecided or both with a comma")
        found.add(known[word])
    return found


def judge(verdict: Verdict, output: Format, accept: str | None, page: Path | None = None) -> NoReturn:
    """Print the verdict, write its page where one is asked for, and leave with its exit code."""
    statuses = accepted(accept)
    if page is not None:
        verdict.report(page)
    if output is Format.json:
        print(verdict.to_json(indent=2))
    elif sys.stdout.isatty():
        console().print(verdict)
    else:
        print(verdict)
    name = verdict.status.name
    raise typer.Exit(PROVED if name in statuses else REFUTED if name == "REFUTED" else OPEN)


def main() -> None:
    """Entry point of the `attnproof` command."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the shell has closed it; the exit code still tells
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a narrow encoding must not turn a verdict into an error
    try:
        asked = [name for name in COMMANDS if [name] == sys.argv[1:2]]
        for name in asked or COMMANDS:  # building the others takes longer than checking a small file
            import_module(f"{__name__}.{name}")
        _summaries(app)
        code = app(prog_name="attnproof", standalone_mode=False)
        sys.stdout.flush()
    except typer.Exit as stop:
        code = stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except SystemExit as stop:  # Click's answer to a closed pipe, which must not read as REFUTED
        if isinstance(stop.__context__, BrokenPipeError):
            code = _closed_pipe()
        elif "_ATTNPROOF_COMPLETE" in os.environ:  # a shell asked for completions, and Click has answered
            code = stop.code
        else:
            print(
                f"attnproof: {_blamed(sys.argv[1:2])} called sys.exit({stop.code!r}); it must return", file=sys.stderr
            )
            code = USAGE
    except BrokenPipeError:
        code = _closed_pipe()
    except Exception as error:
        if "ATTNPROOF_DEBUG" in os.environ:
            raise
        print(_told(error), file=sys.stderr)
        code = USAGE
    if code == INTERRUPTED:
        print("attnproof: interrupted; nothing was decided", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else PROVED)


def _blamed(asked: list[str]) -> str:
    """Who may have left: the code under check, where the command runs any."""
    return "the code under check" if set(asked) & RUNS_CODE else "a library"


def _summaries(group: typer.Typer) -> None:
    """In lists of commands, the first line of each command's text, whole: Click cuts what it shortens itself."""
    for command in group.registered_commands:
        command.short_help = (command.callback.__doc__ or "").partition("\n")[0]
    for each in group.registered_groups:
        if each.typer_instance is not None:
            each.short_help = each.typer_instance.info.help
            _summaries(each.typer_instance)


def _closed_pipe() -> int:
    """The reader went away; nothing is wrong with the verdict."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED_PIPE


def _told(error: Exception) -> str:
    """An error as one line; what nobody foresaw asks for a report."""
    from ..libraries import remedy

    said = " ".join(str(error).split())
    if isinstance(error, UsageProblem):
        asked_nothing = type(error).__name__ == "NoArgsIsHelpError"
        return error.format_message() if asked_nothing else f"attnproof: {sentence(error)}"
    if isinstance(error, ModuleNotFoundError):
        return f"attnproof: {said}" if "install" in said else f"attnproof: {said}; {remedy(error.name or '')}"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"attnproof: {shown(error.filename)} cannot be used ({error.strerror}); name another path"
    if isinstance(error, OSError) and error.strerror:
        return f"attnproof: reading or writing failed ({error.strerror}); make room or choose another place"
    if isinstance(error, KeyError) and error.args:
        return f"attnproof: {error.args[0]}"
    if isinstance(error, MemoryError):
        return f"attnproof: there is not enough memory ({said or 'no more to be had'}); pass something smaller"
    if isinstance(error, (ValueError, TypeError, ImportError, OSError)):
        return f"attnproof: {said or type(error).__name__}"
    return (
        f"attnproof: {type(error).__name__} that nobody foresaw ({said}); please report it with what "
        "ATTNPROOF_DEBUG=1 prints"
    )
