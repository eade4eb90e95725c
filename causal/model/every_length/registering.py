"""Tables of rules by the names of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Kept = TypeVar("Kept", bound=Callable[..., Any])


def into(table: dict[str, Kept]) -> Callable[[str], Callable[[Kept], Kept]]:
    """A decorator that enters a function in a table under names that are separated by blanks, each of them once.

    >>> table: dict[str, Callable[[], int]] = {}
    >>> @into(table)("one uno")
    ... def one() -> int:
    ...     return 1
    >>> sorted(table)
    ['one', 'uno']
    """

    def under(names: str) -> Callable[[Kept], Kept]:
        def register(function: Kept) -> Kept:
            for name in names.split():
                assert name not in table, f"{name} has two rules"
                table[name] = function
            return function

        return register

    return under
