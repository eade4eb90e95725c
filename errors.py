"""An argument that does not fit: one sentence made of fields, so that every door can tell it in its own names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Self


class BadArgument(Exception):
    """`NAME = VALUE PROBLEM; REMEDY`, or `NAME PROBLEM; REMEDY` where the value is not shown.

    Attributes: `name` the argument, with the place in it where that matters ("visible[0, 3]"); `problem` what is wrong
    with it; `remedy` what to pass instead; `value`, or … (the default) where the sentence does not show it; `mentions`,
    the other arguments that problem and remedy name. Raised as `ArgumentError` or `ArgumentTypeError`.

    >>> error = ArgumentError("layout", "is unknown", "pass layout='slots-first'", value="up")
    >>> print(error)
    layout = 'up' is unknown; pass layout='slots-first'
    >>> error.told({"layout": "--layout"})
    "--layout 'up' is unknown; pass --layout 'slots-first'"
    """

    def __init__(self, name: str, problem: str, remedy: str, value: Any = ..., mentions: tuple[str, ...] = ()) -> None:
        super().__init__(name, problem, remedy, value, mentions)
        self.name, self.problem, self.remedy, self.value, self.mentions = name, problem, remedy, value, mentions
        self.where = ""

    def __str__(self) -> str:
        shown = "" if self.value is ... else f" = {self.value!r}"
        return f"{self.where}{self.name}{shown} {self.problem}; {self.remedy}"

    def within(self, where: str) -> Self:
        """The same error, told as that of one of several things: `WHERE: …`."""
        self.where = f"{where}: {self.where}"
        return self

    def told(self, options: Mapping[str, str]) -> str:
        """The sentence with options, such as `{"sequence_axis": "--axis"}`, in place of the arguments."""
        own = rf"{re.escape(self.argument)}(?==)"  # as a word of its own it may be prose: "axis = 3 is no axis"
        pattern = re.compile(rf"(?<![\w.-])({'|'.join([own, *map(re.escape, self.mentions)])})\b(=?)")

        def renamed(text: str) -> str:
            return pattern.sub(lambda m: options[m[1]] + " " * len(m[2]) if m[1] in options else m[0], text)

        if self.argument not in options:
            return renamed(str(self))
        place = self.name.removeprefix(self.argument)
        value = "" if self.value is ... else f" {self.value!r}"
        said = " is missing and" if self.value is None else value  # an option cannot be None
        return f"{self.where}{options[self.argument]}{place}{said} {renamed(self.problem)}; {renamed(self.remedy)}"

    @property
    def argument(self) -> str:
        """The argument's name without a place in it: "visible" for "visible[0, 3]"."""
        return self.name.partition("[")[0]


class ArgumentError(BadArgument, ValueError):
    """An argument whose value does not fit; a ValueError."""


class ArgumentTypeError(BadArgument, TypeError):
    """An argument of a type that does not fit; a TypeError."""
