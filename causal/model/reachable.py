"""What a callable reaches: all that its code names and its objects hold, what belongs to libraries left out."""

from __future__ import annotations

import gc
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..ownership import is_own_file

MOST = 200_000  # objects that are looked into, the nearest first
ATOMS = frozenset({str, bytes, int, float, complex, bool, type(None), range, slice, type(...), types.CodeType})
CLOSED = (types.ModuleType, types.CodeType, types.FrameType, types.TracebackType)
ELSEWHERE = frozenset({"logging", "_pytest", "pluggy", "asyncio", "concurrent", "multiprocessing", "unittest"})


def reachable(root: Any, *others: Any) -> list[Any]:
    """The objects that a callable reaches, and `others` with it, the nearest before those further off; at most MOST.

    Functions lead to their closures, their defaults and the globals that they name; objects to what they hold, weakly
    or not; classes and modules of Python to their contents where they are no library's.
    """
    queue: deque[Any] = deque([root, *others])
    for name in ("model", "__self__"):  # what only asking shows: a property, the owner of a method that is not Python's
        queue.append(getattr(root, name, None))
    seen: dict[int, Any] = {}
    ways: dict[type, Callable[[Any], Iterable[Any]]] = {}
    while queue and len(seen) < MOST:
        value = queue.popleft()
        kind = type(value)
        if id(value) in seen or kind in ATOMS:
            continue
        seen[id(value)] = value
        way = ways.get(kind)
        if way is None:
            way = ways[kind] = _way(kind)
        queue.extend([part for part in way(value) if type(part) not in ATOMS and id(part) not in seen])
    return list(seen.values())


def parts(value: Any) -> Iterable[Any]:
    """What one object holds or names."""
    return _way(type(value))(value)  # never `__class__`, which a proxy makes up


def _way(kind: type) -> Callable[[Any], Iterable[Any]]:
    """How to find what objects of a class hold or name."""
    ways: list[tuple[Any, Callable[[Any], Iterable[Any]]]] = [
        (types.FunctionType, _of_function),
        (type, lambda value: (*vars(value).values(), *value.__bases__) if is_own_class(value) else ()),
        (weakref.ref, lambda value: (value(),)),
        (ContextVar, lambda value: (value.get(None),)),
        (np.ndarray, lambda value: value.flat if value.dtype.hasobject else ()),
    ]
    for base, way in ways:
        if issubclass(kind, base):
            return way
    if is_closed(kind):
        return lambda value: ()
    if issubclass(kind, threading.local):
        return lambda value: (vars(value), *gc.get_referents(value))
    if issubclass(kind, (list, tuple)):
        return lambda value: gc.get_referents(value)[::-1]  # which are gone through from their ends
    return gc.get_referents


def is_closed(kind: type) -> bool:
    """Whether objects of this class are not looked into: they are Python's own, or lead out of the program."""
    module = kind.__module__ if isinstance(kind.__module__, str) else ""
    if module.startswith(("torch._dynamo", "torch._subclasses")):  # what compiling and exporting remember
        return all(base.__module__ != "torch.nn.modules.module" for base in kind.__mro__)
    if module in ("builtins", "itertools") and hasattr(kind, "__next__"):
        return True  # an iterator is half of Python and half of C, which belong together
    return issubclass(kind, CLOSED) or module.partition(".")[0] in ELSEWHERE


def _of_function(function: types.FunctionType) -> Iterator[Any]:
    yield from function.__closure__ or ()
    yield from (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), vars(function))
    if is_own_file(function.__code__.co_filename):
        yield from named(function.__globals__, tuple(names_in(function.__code__)))


def named(space: dict[str, Any], names: Sequence[str]) -> Iterator[Any]:
    """The values of a module's names, those of the modules among them that are no library's included."""
    spaces, seen = [space], {id(space)}
    while spaces:
        space = spaces.pop()
        for name in dict.fromkeys(n for n in names if n in space):
            value = space[name]
            if not isinstance(value, types.ModuleType):
                yield value
            elif is_own_file(getattr(value, "__file__", None)) and id(vars(value)) not in seen:
                seen.add(id(vars(value)))
                spaces.append(vars(value))


def names_in(code: types.CodeType) -> Iterator[str]:
    """Every name that a piece of code and those inside it look up."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from names_in(inner)


def is_own_class(kind: type) -> bool:
    """Whether a class is no library's."""
    module = sys.modules.get(kind.__module__)
    return kind.__module__ == "__main__" or is_own_file(getattr(module, "__file__", None))
