"""Numbers that a program keeps outside of modules: in closures, globals, containers and objects of its own, by name."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..ownership import is_own_file
from .changes import NUMBERS
from .kept import attributes
from .reachable import is_own_class, names_in

if TYPE_CHECKING:
    from torch import nn


def numbers(reached: Sequence[Any], modules: Sequence[nn.Module]) -> dict[str, Any]:
    """The numbers, texts and truth values that the objects hold, by a name a person knows; those of modules left out.

    >>> def counted():
    ...     calls, most = [3], 5
    ...     return lambda x: calls[0] < most
    >>> from attnproof.causal.model.reachable import reachable
    >>> numbers(reachable(counted()), [])
    {'most': 5, 'calls[0]': 3}
    """
    known = {id(part) for top in modules for m in top.modules() for part in (m, vars(m))}
    named: dict[int, str] = {}
    found: dict[str, Any] = {}
    for value in reached:
        if id(value) in known:
            continue
        for name, held in _names(value):
            if type(held) in NUMBERS:
                found[name] = held
            else:
                named.setdefault(id(held), name)
    for value in reached:
        if id(value) in named:
            label = named[id(value)]
            found |= {f"{label}[{key!r}]": held for key, held in _items(value) if type(held) in NUMBERS}
    return found


def _names(value: Any) -> Iterator[tuple[str, Any]]:
    """What one function, class or object holds, with names."""
    kind = type(value)
    if issubclass(kind, types.FunctionType):
        if is_own_file(value.__code__.co_filename):
            space = value.__globals__
            yield from ((name, space[name]) for name in names_in(value.__code__) if name in space)
            yield from _cells(value)
    elif issubclass(kind, type):
        if is_own_class(value):
            yield from ((f"{value.__name__}.{name}", held) for name, held in vars(value).items())
    elif is_own_class(kind):
        yield from ((f"{kind.__name__}.{name}", held) for name, held in (attributes(value) or {}).items())


def _cells(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # empty
            continue


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, (list, deque)):
        yield from enumerate(value)
