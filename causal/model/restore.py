"""State that outlives a call: taken down before every run and put back after it, in the very same objects.

A cache that a first run fills hides from the next what the first one looked at; a counter makes equal runs differ.
Whatever is reached is put back in place, so that what was shared stays shared.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ..ownership import is_own_file
from .dense import dense
from .kept import Kept, KeptAttributes, KeptDictionaries
from .reachable import is_closed, names_in
from .ways import KeptNames, KeptRandom, Ways

if TYPE_CHECKING:
    from torch import Tensor

SMALL = 2**20  # bytes of a tensor that is copied before every run; of the others only those that the first run wrote


class Held:
    """All that the objects which a program reaches may keep from one run to the next.

    `changed`: a run changed something, or moved an iterator, which nothing puts back.
    """

    def __init__(self, reached: Sequence[Any]) -> None:
        import torch

        self._keep: list[Callable[[], Kept]] = []
        self._idle: list[Kept] | None = None  # what the last run took down
        self._small: list[Tensor] = []
        self._large: list[Tensor] = []
        self._watched: dict[int, list[Numbers]] = {}  # large ones that a write is still to show, by their memory
        self._is_first = True
        self.changed = any(hasattr(type(value), "__next__") and is_closed(type(value)) for value in reached)
        spaces: dict[int, tuple[dict[str, Any], dict[str, None]]] = {}
        dictionaries, objects = list[Any](), list[Any]()
        ways: dict[type, Ways] = {}
        for value in reached:
            kind = type(value)
            if issubclass(kind, torch.Tensor):
                for tensor in numbers_of(value):
                    large = isinstance(tensor, torch.nn.Parameter) or tensor.nbytes > SMALL
                    (self._large if large else self._small).append(tensor)
            elif issubclass(kind, types.FunctionType) and is_own_file(value.__code__.co_filename):
                _, names = spaces.setdefault(id(value.__globals__), (value.__globals__, {}))
                names.update(dict.fromkeys(names_in(value.__code__)))
            if issubclass(kind, torch.Generator):
                self._keep.append(partial(KeptRandom, value))
            if kind not in ways:
                ways[kind] = Ways.of(kind)
            if ways[kind].is_dictionary:
                dictionaries.append(value)
            if ways[kind].has_attributes(value):
                objects.append(value)
            self._keep += ways[kind].of_object(value)
        self._keep += [partial(KeptDictionaries, dictionaries), partial(KeptAttributes, objects)]
        self._keep += [partial(KeptNames, space, tuple(names)) for space, names in spaces.values()]
        self.tensors = (*self._small, *self._large)

    @property
    def storages(self) -> set[int]:
        """The addresses of the storages of all tensors in it."""
        return {t.untyped_storage()._cdata for t in (*self._small, *self._large)}

    def keep(self, written: Tensor) -> None:
        """Copy the large tensors in the memory of one that is about to be written, in a run that is restored lazily."""
        import torch

        plain = written.layout is torch.strided and not written.is_nested
        for storage in [written.untyped_storage()._cdata] if plain else list(self._watched):
            for numbers in self._watched.pop(storage, ()):
                numbers.copy()

    @contextmanager
    def restored(self, values: bool = True, lazily: bool = False) -> Iterator[None]:
        """Whatever the objects keep is as before afterwards; what a decorator cached is forgotten.

        Parameters and other large tensors are copied before the first run, or `lazily`, when `keep` is told of a write,
        and later those that it wrote; none before a run without `values`, which itself puts back what it writes.
        """
        small, large = ([Numbers(t) for t in tensors] for tensors in (self._small, self._large))
        if lazily:
            for numbers in large:
                self._watched.setdefault(numbers.own.untyped_storage()._cdata, []).append(numbers)
        for numbers in (*small, *(() if lazily else large)) if values else ():
            numbers.copy()
        objects, self._idle = self._idle, None  # a run within this one keeps its own
        if objects is None:
            objects = [keep() for keep in self._keep]
        for kept in objects:
            kept.look()
        try:
            yield
        finally:
            self._watched.clear()
            changed = {id(numbers.tensor) for numbers in (*small, *large) if numbers.put_back()}
            needed = [kept.put_back() for kept in objects]
            self._idle = objects
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


def _same_bits(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors of one shape and type hold the same numbers to the bit, the signs of zeros among them."""
    import torch

    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    a, b = (t.detach().resolve_conj().resolve_neg() for t in (a, b))
    if a.itemsize not in kinds:
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    return bool(torch.equal(a.view(kinds[a.itemsize]), b.view(kinds[b.itemsize])))


class Numbers:
    """A tensor with the memory that is its own, and a copy of its numbers once one was made."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self.own = tensor, tensor.detach()
        self._copy: Tensor | None = None
        self._gradient, self._needs_gradient = tensor._grad, tensor.requires_grad

    def copy(self) -> None:
        """Keep them as they are now."""
        self._copy = self.own.clone()

    def put_back(self) -> bool:
        """Give the tensor the memory again that was its own, with the numbers that were kept; whether it had others."""
        import torch

        t, own, copy = self.tensor, self.own, self._copy
        with torch.no_grad():
            moved = (
                t.untyped_storage()._cdata != own.untyped_storage()._cdata
                or t.shape != own.shape
                or t.dtype != own.dtype
                or t.stride() != own.stride()
                or t.storage_offset() != own.storage_offset()
            )
            if moved:
                t.data = own
            if t.is_leaf and t.requires_grad is not self._needs_gradient:
                t.requires_grad_(self._needs_gradient)
                moved = True
            if t._grad is not self._gradient:
                t.grad = self._gradient
                moved = True
            written = copy is not None and not _same_bits(t, copy)
            if copy is not None and written:
                if 0 in t.stride():  # several places of one number
                    t.data = copy
                else:
                    t.detach().copy_(copy)
        return moved or written


def numbers_of(t: Tensor) -> Iterator[Tensor]:
    """The tensors that hold a tensor's numbers: itself, with its gradient, or what a sparse one is made of."""
    import torch

    if _is_plain(t):
        yield t
        if t._grad is not None:
            yield from numbers_of(t._grad)
    elif t.layout is torch.sparse_coo and not t.is_meta:
        yield from (t._indices(), t._values())
    elif t.layout in (torch.sparse_csr, torch.sparse_bsr) and not t.is_meta:
        yield from (t.crow_indices(), t.col_indices(), t.values())
    elif t.layout in (torch.sparse_csc, torch.sparse_bsc) and not t.is_meta:
        yield from (t.ccol_indices(), t.row_indices(), t.values())


def _is_plain(t: Tensor) -> bool:
    """Whether its numbers can be copied and written back."""
    import torch

    if isinstance(t, (torch.nn.UninitializedParameter, torch.nn.UninitializedBuffer)):
        return False
    if t.layout is not torch.strided or t.is_meta or t.is_nested or t.is_quantized:
        return False
    return type(t).__torch_dispatch__ is torch.Tensor.__torch_dispatch__ and not torch.is_inference(t)
