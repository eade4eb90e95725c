"""What one object may keep from run to run, by its class: taken down, compared by identity, and put back in place."""

from __future__ import annotations

import functools
import operator
import random
import types
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from .kept import Kept, attributes
from .reachable import is_closed, is_own_class

ABSENT = object()


class _Sequence(Kept):
    __slots__ = ("_items", "_kind")

    def _take(self) -> None:
        self._kind = list if isinstance(self.value, list) else deque
        self._items = list(self._kind.__iter__(self.value))

    def _is_same(self) -> bool:
        kind: Any = self._kind
        if kind.__len__(self.value) != len(self._items):
            return False
        return all(map(operator.is_, kind.__iter__(self.value), self._items))

    def _write(self) -> None:
        kind: Any = self._kind
        kind.clear(self.value)
        kind.extend(self.value, self._items)


class _Set(Kept):
    __slots__ = ("_ids", "_items")

    def _take(self) -> None:
        self._items = set(self.value)
        self._ids = frozenset(map(id, self._items))

    def _is_same(self) -> bool:
        return len(self.value) == len(self._ids) and self._ids.issuperset(map(id, self.value))

    def _write(self) -> None:
        self.value.clear()
        self.value.update(self._items)


class _Bytes(Kept):
    __slots__ = ("_bytes",)

    def _take(self) -> None:
        self._bytes = bytes(self.value)

    def _is_same(self) -> bool:
        return bool(self.value == self._bytes)

    def _write(self) -> None:
        self.value[:] = self._bytes


class _Array(Kept):
    __slots__ = ("_numbers",)

    def _take(self) -> None:
        self._numbers = self.value.copy()

    def _is_same(self) -> bool:
        return not self.value.flags.writeable or bool(self.value.tobytes() == self._numbers.tobytes())

    def _write(self) -> None:
        self.value[...] = self._numbers


class _Cell(Kept):
    __slots__ = ("_content",)

    def _take(self) -> None:
        self._content = _content(self.value)

    def _is_same(self) -> bool:
        return _content(self.value) is self._content

    def _write(self) -> None:
        if self._content is ABSENT:
            del self.value.cell_contents
        else:
            self.value.cell_contents = self._content


def _content(value: types.CellType) -> Any:
    try:
        return value.cell_contents
    except ValueError:  # empty
        return ABSENT


class _Slots(Kept):
    __slots__ = ("_items", "_slots")

    def __init__(self, slots: Sequence[types.MemberDescriptorType], value: Any) -> None:
        super().__init__(value)
        self._slots = slots

    def _take(self) -> None:
        self._items = [_slot(d, self.value) for d in self._slots]

    def _changed(self) -> list[tuple[Any, Any]]:
        pairs = zip(self._slots, self._items, strict=True)
        return [(d, old) for d, old in pairs if _slot(d, self.value) is not old]

    def _is_same(self) -> bool:
        return not self._changed()

    def _write(self) -> None:
        for d, old in self._changed():
            if old is ABSENT:
                d.__delete__(self.value)
            else:
                d.__set__(self.value, old)


def slots_of(kind: type) -> list[types.MemberDescriptorType]:
    """The slots of a class, and of those that it is made of."""
    held = [d for base in kind.__mro__ if "__slots__" in vars(base) for d in vars(base).values()]
    return [d for d in held if isinstance(d, types.MemberDescriptorType)]


def _slot(descriptor: Any, value: Any) -> Any:
    try:
        return descriptor.__get__(value)
    except AttributeError:
        return ABSENT


class _Class(Kept):
    __slots__ = ("_items",)

    def _take(self) -> None:
        self._items = dict(vars(self.value))

    def _changed(self) -> list[tuple[str, Any]]:
        now = vars(self.value)
        return [(name, old) for name, old in self._items.items() if now.get(name, ABSENT) is not old]

    def _is_same(self) -> bool:
        return vars(self.value).keys() == self._items.keys() and not self._changed()

    def _write(self) -> None:
        for name in [n for n in vars(self.value) if n not in self._items]:
            delattr(self.value, name)
        for name, old in self._changed():
            setattr(self.value, name, old)


class KeptNames(Kept):
    """The globals that functions name, which they may bind anew; `value` is the module's dictionary."""

    __slots__ = ("_items", "_names")

    def __init__(self, space: dict[str, Any], names: Sequence[str]) -> None:
        super().__init__(space)
        self._names = names

    def _take(self) -> None:
        self._items = [self.value.get(name, ABSENT) for name in self._names]

    def _is_same(self) -> bool:
        return all(self.value.get(name, ABSENT) is old for name, old in zip(self._names, self._items, strict=True))

    def _write(self) -> None:
        for name, old in zip(self._names, self._items, strict=True):
            if old is ABSENT:
                self.value.pop(name, None)
            else:
                self.value[name] = old


class _Context(Kept):
    """A context variable; one that had no value has one for good."""

    __slots__ = ("_content",)

    def _take(self) -> None:
        self._content = self.value.get(ABSENT)

    def _is_same(self) -> bool:
        return self.value.get(ABSENT) is self._content

    def _write(self) -> None:
        if self._content is not ABSENT:
            self.value.set(self._content)


class _Cache(Kept):
    """What a decorator cached, which is forgotten: what an earlier call saw is no part of the function."""

    __slots__ = ()

    def _take(self) -> None:
        self.value.cache_clear()

    def _is_same(self) -> bool:
        return not self.value.cache_info().currsize

    def _write(self) -> None:
        self.value.cache_clear()


class KeptRandom(Kept):
    """A generator of random numbers, whose draws are told elsewhere and are no change; the system's has no state."""

    __slots__ = ("_put", "_state")

    def put_back(self) -> bool:
        """The generator draws again what it drew; always False."""
        super().put_back()
        return False

    def _take(self) -> None:
        value = self.value
        if isinstance(value, random.SystemRandom):
            self._state, self._put = None, None
        elif hasattr(value, "getstate"):
            self._state, self._put = value.getstate(), value.setstate
        elif hasattr(value, "get_state"):
            self._state, self._put = value.get_state(), value.set_state
        else:
            inner = getattr(value, "bit_generator", value)
            self._state, self._put = inner.state, functools.partial(setattr, inner, "state")

    def _is_same(self) -> bool:
        return False

    def _write(self) -> None:
        if self._put is not None:
            self._put(self._state)


KINDS: dict[type, type[Kept]] = {
    list: _Sequence,
    deque: _Sequence,
    set: _Set,
    bytearray: _Bytes,
    np.ndarray: _Array,
    types.CellType: _Cell,
    ContextVar: _Context,
    functools._lru_cache_wrapper: _Cache,
    random.Random: KeptRandom,
    np.random.Generator: KeptRandom,
    np.random.RandomState: KeptRandom,
    np.random.BitGenerator: KeptRandom,
}


class Ways(NamedTuple):
    """What is kept of the objects of one class, beside what `Held` keeps of all of them together.

    `is_open`: they may have attributes.
    """

    by_kind: tuple[type[Kept], ...]
    is_dictionary: bool
    is_class: bool
    is_open: bool
    slots: Sequence[types.MemberDescriptorType]

    @classmethod
    def of(cls, kind: type) -> Ways:
        """Those of a class."""
        by_kind = tuple(way for base, way in KINDS.items() if issubclass(kind, base))
        is_class = issubclass(kind, type)
        is_open = not (is_class or is_closed(kind) or issubclass(kind, types.FunctionType))
        return cls(by_kind, issubclass(kind, dict), is_class, is_open, slots_of(kind) if is_open else ())

    def has_attributes(self, value: Any) -> bool:
        """Whether one of its objects has attributes to keep."""
        return self.is_open and isinstance(attributes(value), dict)

    def of_object(self, value: Any) -> Iterator[Callable[[], Kept]]:
        """How to keep one of its objects by itself."""
        for way in self.by_kind:
            yield functools.partial(way, value)
        if self.is_class and is_own_class(value):
            yield functools.partial(_Class, value)
        if self.slots:
            yield functools.partial(_Slots, self.slots, value)
