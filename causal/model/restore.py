"""State that outlives a call: taken down before every run and put back after it, in the very same objects.

A cache that a first run fills hides from the next what the first one looked at; a counter makes equal runs differ.
Whatever is reached is put back in place, so that what was shared stays shared.
"""

from __future__ import annotations

import functools
import operator
import random
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..ownership import is_own_file
from .dense import dense
from .reachable import is_closed, is_own_class, names_in

if TYPE_CHECKING:
    from torch import Tensor

SMALL = 2**20  # bytes of a tensor that is copied before every run; of the others only those that the first run wrote
ABSENT = object()
Undo = Callable[[], bool]  # puts it back, and says whether that was needed


class Held:
    """All that the objects which a program reaches may keep from one run to the next.

    `changed`: a run changed something, or moved an iterator, which nothing puts back.
    """

    def __init__(self, reached: Sequence[Any]) -> None:
        import torch

        self._takers: list[Callable[[], Undo]] = []
        self._small: list[Tensor] = []
        self._large: list[Tensor] = []
        self._is_first = True
        self.changed = any(hasattr(type(value), "__next__") and is_closed(type(value)) for value in reached)
        spaces: dict[int, tuple[dict[str, Any], dict[str, None]]] = {}
        ways: dict[type, Takers] = {}
        for value in reached:
            kind = type(value)
            if issubclass(kind, torch.Tensor):
                if _is_plain(value):
                    large = isinstance(value, torch.nn.Parameter) or value.nbytes > SMALL
                    (self._large if large else self._small).append(value)
            elif issubclass(kind, types.FunctionType) and is_own_file(value.__code__.co_filename):
                _, names = spaces.setdefault(id(value.__globals__), (value.__globals__, {}))
                names.update(dict.fromkeys(names_in(value.__code__)))
            if issubclass(kind, torch.Generator):
                self._takers.append(functools.partial(_take_random, value))
            if kind not in ways:
                ways[kind] = Takers.of(kind)
            self._takers += ways[kind].taking(value)
        self._takers += [functools.partial(_take_names, space, tuple(names)) for space, names in spaces.values()]

    @property
    def storages(self) -> set[int]:
        """The addresses of the storages of all tensors in it."""
        return {t.untyped_storage()._cdata for t in (*self._small, *self._large)}

    @contextmanager
    def restored(self, values: bool = True) -> Iterator[None]:
        """Whatever the objects keep is as before afterwards; what a decorator cached is forgotten.

        Parameters and other large tensors are copied before the first run, and later those that it wrote; none before a
        run without `values`, which itself puts back what it writes.
        """
        every = (*self._small, *self._large)
        tensors = [(t, t.detach(), t.detach().clone() if values else None) for t in every]
        undo = [take() for take in self._takers]
        try:
            yield
        finally:
            changed = {id(t) for t, own, kept in tensors if _put_back(t, own, kept)}
            needed = [put_back() for put_back in undo]
            self.changed |= bool(changed) or any(needed)
            if self._is_first and values:
                self._is_first, self._large = False, [t for t in self._large if id(t) in changed]


@contextmanager
def restored(objects: Sequence[Any], values: bool = True) -> Iterator[None]:
    """Whatever the objects keep is as before afterwards (see `Held.restored`)."""
    with Held(objects).restored(values):
        yield


def same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors hold the same numbers in the same type; NaN is the same as NaN."""
    import torch

    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    a, b = dense(a), dense(b)  # equality is not there for every type
    return bool(torch.equal(a, b)) or bool(((a == b) | ((a != a) & (b != b))).all())


def _put_back(t: Tensor, own: Tensor, kept: Tensor | None) -> bool:
    """Give a tensor the memory again that was its own, with the numbers that were kept; whether it had others."""
    import torch

    with torch.no_grad():
        moved = (
            t.untyped_storage()._cdata != own.untyped_storage()._cdata or t.shape != own.shape or t.dtype != own.dtype
        )
        if moved:
            t.data = own
        written = kept is not None and not same(t, kept)
        if kept is not None and written:
            if 0 in t.stride():  # several places of one number
                t.data = kept
            else:
                t.detach().copy_(kept)
    return moved or written


def _is_plain(t: Tensor) -> bool:
    """Whether its numbers can be copied and written back."""
    import torch

    if isinstance(t, (torch.nn.UninitializedParameter, torch.nn.UninitializedBuffer)):
        return False
    if t.layout is not torch.strided or t.is_meta or t.is_nested or t.is_quantized:
        return False
    return type(t).__torch_dispatch__ is torch.Tensor.__torch_dispatch__ and not torch.is_inference(t)


# -- one object -----------------------------------------------------------------------------------------------------


class Takers(NamedTuple):
    """How the state of objects of one class is taken down; each gives the function that puts it back."""

    by_kind: tuple[Callable[[Any], Undo], ...]
    is_class: bool
    is_open: bool
    has_slots: bool

    @classmethod
    def of(cls, kind: type) -> Takers:
        """Those of a class."""
        by_kind = tuple(take for base, take in TAKERS.items() if issubclass(kind, base))
        is_class = issubclass(kind, type)
        is_open = not (is_class or is_closed(kind) or issubclass(kind, types.FunctionType))
        return cls(by_kind, is_class, is_open, any("__slots__" in vars(base) for base in kind.__mro__))

    def taking(self, value: Any) -> Iterator[Callable[[], Undo]]:
        """Those of one of its objects."""
        for take in self.by_kind:
            yield functools.partial(take, value)
        if self.is_class and is_own_class(value):
            yield functools.partial(_take_class, value)
        if self.is_open and isinstance(attributes(value), dict):
            yield functools.partial(_take_attributes, value)
        if self.is_open and self.has_slots:
            yield functools.partial(_take_slots, value)


def attributes(value: Any) -> Any:
    """The dictionary of an object's attributes, past what its class makes of asking; None where it has none."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def _take_attributes(value: Any) -> Undo:
    kind, put_back = type(value), _take_dict(attributes(value))

    def undo() -> bool:
        changed = put_back()
        if type(value) is not kind:  # lazy modules become others
            object.__setattr__(value, "__class__", kind)
        return changed

    return undo


def _take_dict(value: dict[Any, Any]) -> Undo:
    base: Any = OrderedDict if isinstance(value, OrderedDict) else dict  # past what subclasses make of writing
    keys, items = list(base.keys(value)), list(base.values(value))

    def undo() -> bool:
        if _are_same(base.keys(value), keys) and _are_same(base.values(value), items):
            return False
        base.clear(value)
        for key, item in zip(keys, items, strict=True):
            base.__setitem__(value, key, item)
        return True

    return undo


def _are_same(now: Collection[Any], kept: list[Any]) -> bool:
    """Whether these are the very same objects in the same order."""
    return len(now) == len(kept) and all(map(operator.is_, now, kept))


def _take_sequence(value: Any) -> Undo:
    base: Any = list if isinstance(value, list) else deque
    kept = list(base.__iter__(value))

    def undo() -> bool:
        if _are_same(list(base.__iter__(value)), kept):
            return False
        base.clear(value)
        base.extend(value, kept)
        return True

    return undo


def _take_set(value: set[Any]) -> Undo:
    kept = set(value)

    def undo() -> bool:
        if {id(v) for v in value} == {id(v) for v in kept}:
            return False
        value.clear()
        value.update(kept)
        return True

    return undo


def _take_bytes(value: bytearray) -> Undo:
    kept = bytes(value)

    def undo() -> bool:
        changed = value != kept
        value[:] = kept
        return changed

    return undo


def _take_array(value: np.ndarray) -> Undo:
    if not value.flags.writeable:
        return lambda: False
    kept = value.copy()

    def undo() -> bool:
        changed = value.tobytes() != kept.tobytes()
        value[...] = kept
        return changed

    return undo


def _take_cell(value: types.CellType) -> Undo:
    kept = _content(value)

    def undo() -> bool:
        changed = _content(value) is not kept
        if kept is not ABSENT:
            value.cell_contents = kept
        elif changed:
            del value.cell_contents
        return changed

    return undo


def _content(value: types.CellType) -> Any:
    try:
        return value.cell_contents
    except ValueError:  # empty
        return ABSENT


def _take_slots(value: Any) -> Undo:
    slots = slots_of(type(value))
    kept = [_slot(d, value) for d in slots]

    def undo() -> bool:
        changed = [(d, old) for d, old in zip(slots, kept, strict=True) if _slot(d, value) is not old]
        for d, old in changed:
            if old is ABSENT:
                d.__delete__(value)
            else:
                d.__set__(value, old)
        return bool(changed)

    return undo


def slots_of(kind: type) -> list[types.MemberDescriptorType]:
    """The slots of a class, and of those that it is made of."""
    held = [d for base in kind.__mro__ if "__slots__" in vars(base) for d in vars(base).values()]
    return [d for d in held if isinstance(d, types.MemberDescriptorType)]


def _slot(descriptor: Any, value: Any) -> Any:
    try:
        return descriptor.__get__(value)
    except AttributeError:
        return ABSENT


def _take_class(value: type) -> Undo:
    kept = dict(vars(value))

    def undo() -> bool:
        new = [n for n in vars(value) if n not in kept]
        for name in new:
            delattr(value, name)
        other = [(name, old) for name, old in kept.items() if vars(value).get(name, ABSENT) is not old]
        for name, old in other:
            setattr(value, name, old)
        return bool(new or other)

    return undo


def _take_names(space: dict[str, Any], names: Sequence[str]) -> Undo:
    """The globals that functions name, which they may bind anew."""
    kept = [(name, space.get(name, ABSENT)) for name in names]

    def undo() -> bool:
        changed = [(name, old) for name, old in kept if space.get(name, ABSENT) is not old]
        for name, old in changed:
            if old is ABSENT:
                space.pop(name, None)
            else:
                space[name] = old
        return bool(changed)

    return undo


def _take_context(value: ContextVar[Any]) -> Undo:
    kept = value.get(ABSENT)

    def undo() -> bool:
        changed = kept is not ABSENT and value.get(ABSENT) is not kept
        if changed:
            value.set(kept)
        return changed

    return undo


def _take_cache(value: Any) -> Undo:
    value.cache_clear()  # what an earlier call saw is no part of the function

    def undo() -> bool:
        filled = bool(value.cache_info().currsize)
        value.cache_clear()
        return filled

    return undo


def _take_random(value: Any) -> Undo:
    """A generator of random numbers, whose draws are told elsewhere; the system's has no state."""
    if isinstance(value, random.SystemRandom):
        return lambda: False
    if hasattr(value, "getstate"):
        kept, put = value.getstate(), value.setstate
    elif hasattr(value, "get_state"):
        kept, put = value.get_state(), value.set_state
    else:
        inner = getattr(value, "bit_generator", value)
        kept, put = inner.state, functools.partial(setattr, inner, "state")

    def undo() -> bool:
        put(kept)
        return False

    return undo


TAKERS: dict[type, Callable[[Any], Undo]] = {
    dict: _take_dict,
    list: _take_sequence,
    deque: _take_sequence,
    set: _take_set,
    bytearray: _take_bytes,
    np.ndarray: _take_array,
    types.CellType: _take_cell,
    ContextVar: _take_context,
    functools._lru_cache_wrapper: _take_cache,
    random.Random: _take_random,
    np.random.Generator: _take_random,
    np.random.RandomState: _take_random,
    np.random.BitGenerator: _take_random,
}
