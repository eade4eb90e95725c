"""Branches of Python on whether a size is some number: JAX says no where it cannot know, here it is an error."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Number
from pathlib import Path
from threading import RLock
from typing import Any

import jax
from jax import export

from .lookups import looks_up

OWN = (str(Path(jax.__file__).parent), str(Path(__file__).parents[2]))  # JAX compares sizes as it may; so do we
PATCHING = RLock()


class DependsOnLength(ValueError):
    """A question whose answer is not the same at all lengths."""


@contextmanager
def nothing_guessed() -> Iterator[None]:
    """While a program is recorded with symbols: `n == 16` and `if n % 4` raise where the answer depends on n.

    JAX answers the first with False and the second with True, so that the program would be that of other lengths.
    """
    kind: Any = type(export.symbolic_shape("n")[0])
    equal, unequal, hashes = kind.__eq__, kind.__ne__, kind.__hash__

    def eq(self: Any, other: Any) -> bool:
        found = bool(equal(self, other))
        if not found and _is_asked(sys._getframe(1).f_code.co_filename):
            _refuse_unless_apart(self, other)
        return found

    def ne(self: Any, other: Any) -> bool:
        found = bool(unequal(self, other))
        if found and _is_asked(sys._getframe(1).f_code.co_filename):
            _refuse_unless_apart(self, other)
        return found

    def truth(self: Any) -> bool:
        if _is_asked(sys._getframe(1).f_code.co_filename):
            _refuse_unless_apart(self, 0)
        return True

    def hashed(self: Any) -> int:
        if looks_up(sys._getframe(1)):
            raise DependsOnLength(f"Python looks {self} up in a dict or set, which depends on the length")
        return int(hashes(self))

    with PATCHING:
        kind.__eq__, kind.__ne__, kind.__bool__, kind.__hash__ = eq, ne, truth, hashed
        try:
            yield
        finally:
            kind.__eq__, kind.__ne__, kind.__hash__ = equal, unequal, hashes
            del kind.__bool__


def _is_asked(file: str) -> bool:
    """Whether the question stands in the model, or in a library that it uses."""
    return not file.startswith(OWN)


def _refuse_unless_apart(size: Any, other: Any) -> None:
    """DependsOnLength, where a size may be the other number at some length."""
    if not isinstance(other, Number) and not hasattr(other, "_get_vars"):
        return
    for apart in (operator.gt, operator.lt):
        try:
            if apart(size, other) is True:
                return
        except Exception:  # JAX cannot tell, or the number is none of a size
            continue
    raise DependsOnLength(f"Python asks whether {size} is {other}, which depends on the length")
