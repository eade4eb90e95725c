"""What is older than a run: the collector keeps it aside, and lists what was made later.

To list all objects costs as much as a small check. So they stay aside after a run, too, until everything is collected,
and the next run looks only at what was made since.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import contextmanager
from typing import Any, TypeVar

from .generators import among

# Later releases, and those without a global lock, collect old objects bit by bit, and nobody hears of it.
LASTS = sys.version_info < (3, 14) and getattr(sys, "_is_gil_enabled", lambda: True)()


class _Mark:
    """Made after all that is aside: where the collector does not list it, somebody else put more aside."""


class _Past:
    """All that is aside, with the generators of random numbers in it; `runs` are open, whose past must stay aside."""

    def __init__(self) -> None:
        self.runs = 0
        self.generators: list[Any] = []
        self._mark: _Mark | None = None  # somebody may have put aside what is older than this
        self._is_due = False
        self._stays = False

    def take_in(self) -> None:
        """Whatever is alive now is aside."""
        self.generators = [*_held(self.generators), *self.born()]
        if _collecting not in gc.callbacks:
            gc.callbacks.append(_collecting)
        gc.freeze()
        self._mark = _Mark()
        self.let_go(self._is_due or not LASTS)

    def born(self) -> list[Any]:
        """The generators that were made since, and are still held."""
        later = gc.get_objects()
        if not self._is_listed(later):
            gc.unfreeze()
            later = gc.get_objects()
        known = set(map(id, self.generators))
        return [g for g in among(later) if id(g) not in known]

    def is_new(self, value: Any) -> bool:
        """Whether a tracked object was made since; so is each, where the collector does not tell."""
        sought = {id(value), id(self._mark)}
        listed = sought.intersection(map(id, gc.get_objects()))
        return id(value) in listed or id(self._mark) not in listed

    def let_go(self, is_due: bool = True) -> None:
        """Give everything back to the collector, at once or when no run is open."""
        if is_due and not self.runs:
            gc.unfreeze()
        self._is_due = is_due and bool(self.runs)

    def end(self) -> None:
        """One run less is open."""
        self.runs -= 1
        self.let_go(self._is_due or not LASTS)

    def collect(self) -> None:
        """Circles among what was made since are gone; what is aside stays there."""
        self._stays = True
        try:
            gc.collect()
        finally:
            self._stays = False

    def collecting(self) -> None:
        """Everything is about to be collected: what is aside goes back for it."""
        if not self._stays:
            self.let_go()

    def _is_listed(self, objects: Sequence[Any]) -> bool:
        return id(self._mark) in map(id, objects)


_past = _Past()


def _collecting(phase: str, info: dict[str, int]) -> None:
    if phase == "start" and info["generation"] >= 2:
        _past.collecting()


def _held(objects: list[Any]) -> list[Any]:
    """Those that somebody else holds than this list."""
    (alone,) = map(sys.getrefcount, [_Mark()])
    return [o for o, count in zip(objects, list(map(sys.getrefcount, objects)), strict=True) if count > alone]


@contextmanager
def young() -> Iterator[None]:
    """While it is open, what existed before it is told from what was made since."""
    _past.runs += 1
    try:
        _past.take_in()
        yield
    finally:
        _past.end()


def is_new(value: Any) -> bool:
    """Whether a tensor was made since the last `young` was entered."""
    return _past.is_new(value)


def alive() -> list[Any]:
    """Every generator that the collector knows: of modules, of frames that wait, of objects nothing shows."""
    _past.take_in()
    return list(_past.generators)


def born() -> list[Any]:
    """The generators that were made since the last `alive` or `young`, and are still held."""
    return _past.born()


Found = TypeVar("Found", bound=Sized)


def surviving(held: Callable[[], Found]) -> Found:
    """What `held` finds, asked again after circles are gone while it finds something: first those among young objects,
    which costs little, then all.
    """
    found = held()
    for collect in (_past.collect, gc.collect):
        if not found:
            break
        collect()
        found = held()
    return found
