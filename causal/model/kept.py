"""What objects keep from run to run: taken down, compared by identity, and put back in place.

What was taken down serves for the next run as well while the objects still hold the very same things, so that a run
which changes nothing costs a comparison: one for all dictionaries together, of which a model of two layers has a
thousand.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any


class Kept:
    """What an object held when it was looked at."""

    __slots__ = ("_is_taken", "value")

    def __init__(self, value: Any) -> None:
        self.value, self._is_taken = value, False

    def look(self) -> None:
        """Take down what the object holds now."""
        if not (self._is_taken and self._is_same()):
            self._take()
            self._is_taken = True

    def put_back(self) -> bool:
        """The object holds again what it held; whether it did not."""
        if self._is_same():
            return False
        self._write()
        return True

    def _take(self) -> None:
        raise NotImplementedError

    def _is_same(self) -> bool:
        """Whether the object holds the very same things as when they were taken."""
        raise NotImplementedError

    def _write(self) -> None:
        raise NotImplementedError


def are_same(now: Collection[Any], kept: Sequence[Any]) -> bool:
    """Whether these are the very same objects in the same order."""
    return len(now) == len(kept) and all(map(operator.is_, now, kept))


class _Contents:
    """What dictionaries of one kind hold: all keys and all items, one dictionary after the other."""

    def __init__(self, kind: Any, values: Sequence[Any]) -> None:
        self.kind, self.values = kind, values  # a kind whose functions pass what subclasses make of reading and writing
        self.lengths = list(map(dict.__len__, values))
        self.used = [value for value, length in zip(values, self.lengths, strict=True) if length]
        self.keys, self.items = map(list, self._now())

    def _now(self) -> tuple[Iterable[Any], Iterable[Any]]:
        keys, items = map(self.kind.keys, self.used), map(self.kind.values, self.used)
        return chain.from_iterable(keys), chain.from_iterable(items)

    def is_same(self) -> bool:
        """Whether all hold the very same things in the same order."""
        if list(map(dict.__len__, self.values)) != self.lengths:
            return False
        keys, items = self._now()
        return all(map(operator.is_, keys, self.keys)) and all(map(operator.is_, items, self.items))

    def write(self) -> None:
        """Put them back where they are not."""
        kind, end = self.kind, 0
        for value, length in zip(self.values, self.lengths, strict=True):
            start, end = end, end + length
            keys, items = self.keys[start:end], self.items[start:end]
            if are_same(kind.keys(value), keys) and are_same(kind.values(value), items):
                continue
            kind.clear(value)
            for key, item in zip(keys, items, strict=True):
                kind.__setitem__(value, key, item)


class KeptDictionaries(Kept):
    """What dictionaries hold; `value` lists them."""

    __slots__ = ("_contents",)

    def _take(self) -> None:
        ordered = [value for value in self.value if isinstance(value, OrderedDict)]
        plain = [value for value in self.value if not isinstance(value, OrderedDict)]
        self._contents = [_Contents(dict, plain), _Contents(OrderedDict, ordered)]

    def _is_same(self) -> bool:
        return all(contents.is_same() for contents in self._contents)

    def _write(self) -> None:
        for contents in self._contents:
            contents.write()


def attributes(value: Any) -> Any:
    """The dictionary of an object's attributes, past what its class makes of asking; None where it has none."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


class KeptAttributes(Kept):
    """The classes of objects and what their attributes are; `value` lists the objects."""

    __slots__ = ("_inside", "_kinds", "_spaces")

    def _take(self) -> None:
        self._kinds, self._spaces = list(map(type, self.value)), list(map(attributes, self.value))
        self._inside = KeptDictionaries(self._spaces)
        self._inside.look()

    def _is_same(self) -> bool:
        kinds, spaces = list(map(type, self.value)), list(map(attributes, self.value))
        return are_same(kinds, self._kinds) and are_same(spaces, self._spaces) and self._inside._is_same()

    def _write(self) -> None:
        for value, space in zip(self.value, self._spaces, strict=True):
            if attributes(value) is not space:
                object.__setattr__(value, "__dict__", space)
        self._inside.put_back()
        for value, kind in zip(self.value, self._kinds, strict=True):
            if type(value) is not kind:  # lazy modules become others
                object.__setattr__(value, "__class__", kind)
