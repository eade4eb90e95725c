"""What a value holds, whatever its kind: how much, whether it is the same as a copy, and how it gets that back."""

from __future__ import annotations

import collections
import types
import weakref
from typing import Any

import numpy as np

from .frames import library_of

MOST_BYTES = 2**26
PASSIVE = (
    *(types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc),
    *(type, classmethod, staticmethod, property, types.MemberDescriptorType, types.GetSetDescriptorType),
)
PLAIN = (int, float, complex, str, bytes, type(None))


class Slots:
    """The attributes of an object that has `__slots__`, set and taken away as those of a dictionary."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def get(self, name: str, default: Any) -> Any:
        """An attribute."""
        return getattr(self.owner, name, default)

    def __setitem__(self, name: str, value: Any) -> None:
        object.__setattr__(self.owner, name, value)  # a frozen data class as well

    def pop(self, name: str, default: Any) -> None:
        """Take an attribute away."""
        if hasattr(self.owner, name):
            object.__delattr__(self.owner, name)


def slots(kind: type) -> tuple[str, ...]:
    """The names of the attributes that objects of a type have in `__slots__`."""
    if kind not in _SLOTS:
        written = [vars(base) for base in kind.__mro__ if "__slots__" in vars(base)]  # in C some cannot be set
        members = [(name, of) for base in written for name, of in base.items()]
        _SLOTS[kind] = tuple(name for name, of in members if isinstance(of, types.MemberDescriptorType))
    return _SLOTS[kind]


_SLOTS: weakref.WeakKeyDictionary[type, tuple[str, ...]] = weakref.WeakKeyDictionary()


def members(value: Any) -> dict[str, Any]:
    """An object's attributes, wherever it has them."""
    fixed = {name: getattr(value, name) for name in slots(type(value)) if hasattr(value, name)}
    return {**getattr(value, "__dict__", {}), **fixed}


def size(value: Any) -> int:
    """About how many bytes a value holds, itself and through what it refers to; stops counting above MOST_BYTES."""
    total, seen, queue = 0, set(), [value]
    while queue and total <= MOST_BYTES:
        v = queue.pop()
        if id(v) in seen:
            continue
        seen.add(id(v))
        if library_of(v):
            total += int(v.estimated_size() if hasattr(v, "estimated_size") else np.sum(_bytes(v)))
        elif hasattr(v, "nbytes"):
            total += int(v.nbytes)
        else:
            total += 100
            queue += inside(v)
    return total


def _bytes(table: Any) -> Any:
    return table.memory_usage() if hasattr(table, "memory_usage") else table.nbytes


def inside(value: Any) -> list[Any]:
    """What a container or an object refers to."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        return list(value)
    return list(members(value).values()) if not isinstance(value, (*PASSIVE, *PLAIN)) else []


def equal(a: Any, b: Any, seen: set[tuple[int, int]]) -> bool:
    """Whether a copy and a value hold the same; what cannot be looked into counts as the same."""
    if a is b or (id(a), id(b)) in seen:
        return True
    if type(a) is not type(b):
        return False
    seen.add((id(a), id(b)))
    if library_of(a) in ("pandas", "polars"):
        return bool(a.equals(b))
    if isinstance(a, np.ndarray):
        if a.dtype.hasobject:
            return a.shape == b.shape and equal(a.tolist(), b.tolist(), seen)
        return bool(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes())
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(x, y, seen) for x, y in zip(a.values(), b.values(), strict=True))
    if isinstance(a, (list, tuple, collections.deque)):
        return len(a) == len(b) and all(equal(x, y, seen) for x, y in zip(a, b, strict=True))
    if isinstance(a, (set, frozenset, str, bytes, bytearray, int, float, complex)):
        return bool(a == b or (a != a and b != b))
    if isinstance(a, PASSIVE):
        return True
    here, there = members(a), members(b)
    return list(here) == list(there) and all(equal(value, there[name], seen) for name, value in here.items())


def fill(value: Any, content: Any) -> None:
    """Give a value its old content in place, so that everyone who holds it sees it."""
    if isinstance(value, (dict, set)):
        value.clear()
        value.update(content)
    elif isinstance(value, (list, bytearray)):
        value[:] = content
    elif isinstance(value, collections.deque):
        value.clear()
        value.extend(content)
    elif isinstance(value, np.ndarray):
        value[...] = content
    elif not isinstance(value, PASSIVE) and not library_of(value):
        if hasattr(value, "__dict__"):
            vars(value).clear()
            vars(value).update(vars(content))
        for name in slots(type(value)):
            Slots(value).pop(name, None)
            if hasattr(content, name):
                Slots(value)[name] = getattr(content, name)
