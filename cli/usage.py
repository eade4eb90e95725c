"""What was typed: numbers and choices read from it, and one sentence for whatever does not fit.

Typer and Click word their errors differently from release to release; here each kind of error gets our words.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from ..errors import BadArgument

PICTURES = (".png", ".svg", ".pdf")


def shown(text: Any, most: int = 200) -> str:
    """The text in quotes, its middle left out when it is long, on one line.

    >>> shown("x" * 5000, 12)
    "'xxxxxx…xxxxxx'"
    """
    word = str(text)
    return repr(word if len(word) <= most else f"{word[: most // 2]}…{word[-(most // 2) :]}")


def first_line(error: object) -> str:
    """What an error says in its first line, or its kind where it says nothing."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


@contextmanager
def in_options(options: Mapping[str, str]) -> Iterator[None]:
    """Errors of the functions below, told with options (`{"p": "--block"}`) in place of the functions' parameters.

    >>> from attnproof.errors import ArgumentError
    >>> with in_options({"p": "--block"}):
    ...     raise ArgumentError("p", "does not fit", "pass p=1 or more", 0)
    Traceback (most recent call last):
    ...
    ValueError: --block 0 does not fit; pass --block 1 or more
    """
    try:
        yield
    except BadArgument as error:
        raise ValueError(error.told(options)) from error


def suggestion(word: str, known: Iterable[str]) -> str:
    """ "did you mean …? " for the nearest of the known words, or nothing where none is near.

    >>> suggestion("chek", ["check", "cost"]), suggestion("zzz", ["check", "cost"])
    ('did you mean check? ', '')
    """
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]}? " if near else ""


# -- numbers and choices ----------------------------------------------------------------------------------------------


def whole(least: int | None = None, most: int | None = None) -> Callable[[Any], int]:
    """A reader of whole numbers, for `typer.Option(parser=…)`."""

    def read(text: Any) -> int:
        try:
            number = int(str(text))
        except ValueError:
            bound = "" if least is None else f" of at least {least}"
            raise typer.BadParameter(f"{shown(text)} is no whole number; pass one{bound}") from None
        if least is not None and number < least:
            raise typer.BadParameter(f"{number} is too small; pass a whole number of at least {least}")
        if most is not None and number > most:
            raise typer.BadParameter(f"{number} is too large; pass a whole number of at most {most}")
        return number

    return read


def comma_separated(text: str | None) -> list[str]:
    """What stands between the commas of an option, without blanks.

    >>> comma_separated("a, b,,")
    ['a', 'b']
    """
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def whole_list(text: str) -> list[int] | None:
    """Whole numbers with commas between them; None where something else stands there, or nothing.

    >>> whole_list("64, 128"), whole_list("64,"), whole_list("1_0")
    ([64, 128], None, None)
    """
    parts = [part.strip() for part in text.split(",")]
    return [int(part) for part in parts] if all(part.removeprefix("-").isdecimal() for part in parts) else None


def number(text: Any) -> float:
    """A number that is at least 0, for `typer.Option(parser=…)`."""
    try:
        found = float(str(text))
    except ValueError:
        raise typer.BadParameter(f"{shown(text)} is no number; pass one of at least 0") from None
    if not 0 <= found < float("inf"):
        raise typer.BadParameter(f"{shown(text)} is no bound; pass a number of at least 0")
    return found


def choice(kind: type[StrEnum]) -> Callable[[Any], Any]:
    """A reader of the words of an enumeration, for `typer.Option(parser=…)`."""

    def read(text: Any) -> Any:
        words = [str(word) for word in kind]
        if str(text).lower() not in words:
            raise typer.BadParameter(f"{shown(text)} is unknown; use {' or '.join(words)}")
        return kind(str(text).lower())

    return read


# -- numbers in files -------------------------------------------------------------------------------------------------

LARGEST = 1e300  # below float64's 1.8e308, with room for sums


def magnitudes(arrays: Mapping[str, Any], *products: tuple[str, ...]) -> None:
    """ValueError that names the largest array where a product that the work forms could pass 1e300.

    `products` are the names that are multiplied, a name twice where it is squared; a sum counts as the longest axis.

    >>> import numpy as np
    >>> magnitudes({"F": np.full((1, 2), 1e200)}, ("F", "F"))
    Traceback (most recent call last):
    ...
    ValueError: F holds numbers up to 1e+200, and F × F overflows float64; scale F down
    """
    import math

    import numpy as np

    largest = {name: float(np.max(np.abs(x), initial=0.0)) for name, x in arrays.items()}
    for names in products:
        if not all(math.isfinite(largest[name]) and largest[name] for name in names):
            continue  # zeros multiply to zero; what is not finite is refused by name where the numbers are read
        terms = math.log10(max(max(arrays[name].shape) for name in names)) * len(names)
        over = sum(math.log10(largest[name]) for name in names) + terms - math.log10(LARGEST)
        if over > 0:
            name = max(names, key=largest.__getitem__)
            raise ValueError(
                f"{name} holds numbers up to {largest[name]:.3g}, and {' × '.join(names)} overflows float64; "
                f"scale {name} down"
            )


# -- places for pictures ----------------------------------------------------------------------------------------------


def page_file(path: Path | None) -> None:
    """Refuse, before any work, a `--report` that could not be written: ValueError in one sentence."""
    if path is not None and path.suffix.lower() != ".html":
        raise ValueError(f"--report {shown(path)} has no page's ending; use .html")
    _writable(path, "--report")


def picture(path: Path | None, endings: tuple[str, ...] = PICTURES) -> None:
    """Refuse, before any work, a `--save` that could not be written: ValueError in one sentence."""
    if path is not None and path.suffix.lower() not in endings:
        raise ValueError(
            f"--save {shown(path)} has no picture's ending; use {', '.join(endings[:-1])} or {endings[-1]}"
        )
    _writable(path, "--save")


def _writable(path: Path | None, option: str) -> None:
    if path is not None and os.path.isdir(path):
        raise ValueError(f"{option} {shown(path)} is a folder; name a file in it")
    if path is not None and not os.path.isdir(path.parent):
        raise ValueError(f"{option} {shown(path)} lies in a folder that does not exist; create {path.parent} first")


# -- errors of the command line ---------------------------------------------------------------------------------------


def sentence(error: Any) -> str:
    """One sentence for a usage error of Typer's or Click's: the argument, its value where there is one, the remedy."""
    kind, said = type(error).__name__, " ".join(str(error.format_message()).split()).rstrip(".")
    context = getattr(error, "ctx", None)
    here = context.command_path if context is not None else "attnproof"
    if kind == "MissingParameter" and error.param is not None and context is not None:
        return f"{_name(error.param)} is missing; write {here} {_needed(context.command)}"
    if kind == "BadParameter" and error.param is not None:
        return f"{_name(error.param)} {error.message}"
    if kind == "NoSuchOption":
        known = [] if context is None else [o for p in context.command.params for o in p.opts if o.startswith("--")]
        return f"{shown(error.option_name)} is no option of {here}; {_or_help(error.option_name, known, here)}"
    if kind == "BadOptionUsage":
        if "not take" in said:
            return f"{error.option_name} takes no value; write {error.option_name} alone"
        return f"{error.option_name} lacks its value; write {error.option_name} and the value after it"
    command = re.match(r"No such command '(.*?)'", said)
    if command is not None and context is not None:
        known = context.command.list_commands(context)
        return f"command {shown(command[1])} is unknown; {_or_help(command[1], known, here)}"
    extra = re.search(r"unexpected extra arguments?(?:\(s\))? \((.*)\)", said)
    if extra is not None and context is not None:
        needed = _needed(context.command)
        return f"{shown(extra[1])} is too many; {here} takes {f'{needed} and options' if needed else 'options only'}"
    return f"{said}; see {here} --help"


def _name(parameter: Any) -> str:
    """--option, or ARGUMENT in capitals."""
    option = next((o for o in parameter.opts if o.startswith("--")), None)
    return option or parameter.metavar or str(parameter.name).upper()


def _needed(command: Any) -> str:
    """What a command cannot do without, as it is written: `FILE --span SPAN`."""
    words = []
    for parameter in command.params:
        if parameter.required:
            name = _name(parameter)
            words.append(f"{name} {str(parameter.name).upper()}" if name.startswith("--") else name)
    return " ".join(words)


def _or_help(word: str, known: Iterable[str], here: str) -> str:
    return suggestion(word, known).strip() or f"{here} --help lists them"
