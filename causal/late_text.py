"""A text that is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class LateText:
    """A field of a dataclass: a text, or the function that makes it, which is called once; "" where nothing is given.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Record(HasLateTexts):
    ...     digest: LateText = LateText()
    >>> Record().digest, Record("abc").digest, Record(lambda: "made").digest
    ('', 'abc', 'made')
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, holder: object | None, owner: type | None = None) -> str:
        if holder is None:
            return ""  # the default, which `dataclass` asks of the class
        found = vars(holder)[self.name]
        if callable(found):
            found = vars(holder)[self.name] = found()
        return str(found)

    def __set__(self, holder: object, given: str | Callable[[], str]) -> None:
        vars(holder)[self.name] = given


class HasLateTexts:
    """A base of classes with such fields: what is copied or pickled are the texts."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in vars(self)}
