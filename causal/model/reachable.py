"""What a callable reaches: all that its code names and its objects hold, what belongs to libraries left out."""

from __future__ import annotations

import gc
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
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
    while queue and len(seen) < MOST:
        value = queue.popleft()
        if id(value) in seen or type(value) in ATOMS:
            continue
        seen[id(value)] = value
        queue.extend(part for part in parts(value) if type(part) not in ATOMS and id(part) not in seen)
    return list(seen.values())


def parts(value: Any) -> Iterator[Any]:
    """What one object holds or names."""
    kind = type(value)  # never `__class__`, which a proxy makes up
    if issubclass(kind, types.FunctionType):
        yield from _of_function(value)
    elif issubclass(kind, type):
        if is_own_class(value):
            yield from (*vars(value).values(), *value.__bases__)
    elif issubclass(kind, weakref.ref):
        yield value()
    elif issubclass(kind, ContextVar):
        yield value.get(None)
    elif issubclass(kind, np.ndarray):
        yield from value.flat if value.dtype.hasobject else ()
    elif not is_closed(kind):
        if issubclass(kind, threading.local):
            yield vars(value)
        held = gc.get_referents(value)
        yield from held[::-1] if issubclass(kind, (list, tuple)) else held  # which are gone through from their ends


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
