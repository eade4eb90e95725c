"""Tensors without data, and the numbers that constants keep: the memory of a run that computes no values.

The program is shown tensors on PyTorch's meta device. A storage of those that holds constants has a *twin*, a real
storage of as many bytes, which is read and written through the same geometry. What existed before the run stays the
real tensor that it is; where a kernel wants to see one device, a meta storage *stands in* for it, with the same shadow.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .domain import BIG, BIG_MASK, FIXED, MASKED, NEGINF, PLAIN, VARIES, ZERO, Shadow
from .shadows import Shadows, geometry_of

if TYPE_CHECKING:
    from torch.multiprocessing.reductions import StorageWeakRef

    from .ledger import Ledger
    from .memory import Memory
    from .policy import Policy

META = torch.device("meta")


def same_place(device: torch.device | str | int, home: torch.device) -> bool:
    """Whether tensors on a device, of which no number may be named, lie where those of `home` do.

    >>> same_place("cpu", torch.device("cpu")), same_place("cuda:0", torch.device("cuda", 1))
    (True, False)
    """
    place = torch.device(device)
    if place.type != home.type:
        return False
    index = torch.cuda.current_device() if place.type == "cuda" and place.index is None else place.index
    return (index or 0) == (home.index or 0)


def blank(nbytes: int) -> torch.UntypedStorage:
    """Real bytes of 0, which cost memory only where they are written."""
    return torch.from_numpy(np.zeros(max(nbytes, 1), np.uint8)).untyped_storage()


def laid(tensor: torch.Tensor, storage: torch.UntypedStorage) -> torch.Tensor:
    """A tensor that lies in the storage as the given one lies in its own."""
    device = META if storage.device.type == "meta" else torch.device("cpu")
    found = torch.empty(0, dtype=tensor.dtype, device=device)
    found.set_(storage, tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
    found = found.conj() if tensor.is_conj() else found
    return torch._neg_view(found) if tensor.is_neg() else found


def without_data(nbytes: int) -> torch.UntypedStorage:
    """A storage on the meta device."""
    return torch.empty(nbytes, dtype=torch.uint8, device=META).untyped_storage()


class Twins(Shadows):
    """The shadows of a run without values, with the twins of its constants and the stand-ins of what is real."""

    has_values = False
    has_opened = False  # the program was given memory that is older than the run

    def __init__(self, ledger: Ledger, last: int, policy: Policy) -> None:
        super().__init__(ledger, last, policy)
        self._known_by_kind = functools.lru_cache(maxsize=16)(known_by_kind)  # equal layers write the same shadows
        self._stand_ins: dict[int, torch.UntypedStorage] = {}
        self._kept: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}
        self._given: set[int] = set()  # storages that were there before the run

    def _first_seen(self, tensor: torch.Tensor, address: int, nbytes: int, literal: bool) -> Memory:
        """As in any run; what a model on the meta device has is its own."""
        memory = super()._first_seen(tensor, address, nbytes, literal)
        if memory.older:
            self._given.add(address)
        return memory

    # -- what is shown for what is real ----------------------------------------------------------------------------

    def stand_in(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same tensor on the meta device; one that lies there is its own."""
        if tensor.is_meta:
            return tensor
        storage = tensor.untyped_storage()
        found = self._stand_ins.get(storage._cdata)
        if found is None or found.nbytes() != storage.nbytes():
            memory = self.memory_of(tensor)
            found = self._stand_ins[storage._cdata] = without_data(storage.nbytes())
            if memory is not None:
                memory.twin = storage
                self.share(found, memory)
        return laid(tensor, found)

    def shown(self, value: torch.Tensor, given: list[torch.Tensor]) -> torch.Tensor:
        """What the program sees of a constant that was computed: a meta tensor with the value as its twin.

        Where the value lies in one of the tensors `given` to the operation, what is shown does, too.
        """
        storage = value.untyped_storage()
        for tensor in given:
            numbers = self.numbers(tensor)
            if numbers is not None and numbers.untyped_storage()._cdata == storage._cdata:
                return laid(value, self.stand_in(tensor).untyped_storage())
        found = laid(value, without_data(storage.nbytes()))
        memory = self.memory_of(found, made=True)
        if memory is not None:
            memory.twin = storage
            self.share(storage, memory)
        return found

    def lifted(self, tensor: torch.Tensor) -> torch.Tensor:
        """What the program sees of a real tensor that was made of numbers from Python."""
        memory = self.memory_of(tensor, literal=True)
        found = laid(tensor, without_data(tensor.untyped_storage().nbytes()))
        if memory is not None:
            memory.twin = tensor.untyped_storage()
            self.share(found.untyped_storage(), memory)
        return found

    # -- numbers ----------------------------------------------------------------------------------------------------

    def numbers(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """A real tensor in the place of this one, or None: where its shadow says constant, the numbers are right."""
        if not tensor.is_meta:
            return tensor
        memory = self.memory_of(tensor)
        if memory is None:
            return None
        if memory.twin is None:
            if memory.is_blank or not bool((self.of(tensor).kind == ZERO).all()):
                return None
            return torch.zeros((), dtype=tensor.dtype).expand(tensor.shape)
        return laid(tensor, memory.twin)

    def value(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The numbers that a run with values would hold here, or None: they were not computed, or written since."""
        found, memory = self.numbers(tensor), self.memory_of(tensor)
        if found is None or memory is None or self.of(tensor).is_fixed:
            return found
        return None if memory.stale else found

    def array(self, tensor: torch.Tensor, shadow: Shadow) -> torch.Tensor:
        """Numbers for a shadow: those of constants; 0 elsewhere, which says nothing."""
        found = self.numbers(tensor)
        if found is not None:
            return found
        array = torch.zeros(tuple(tensor.shape), dtype=tensor.dtype)
        for kind, number in ((NEGINF, -math.inf), (BIG, BIG_MASK)):
            where = shadow.kind == kind
            if where.any():
                array[torch.from_numpy(np.array(np.broadcast_to(where, shadow.shape)))] = number
        return array

    # -- writing ----------------------------------------------------------------------------------------------------

    def target(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Where constants can be written for a tensor; None where numbers there would be wrong beside them."""
        memory = self.memory_of(tensor)
        if memory is None:
            return None
        if tensor.is_meta and memory.twin is None:
            if bool((memory.kinds >= NEGINF).any()):
                return None
            memory.twin, memory.stale = blank(memory.nbytes), True
            self.share(memory.twin, memory)
        storage = memory.twin if tensor.is_meta else tensor.untyped_storage()
        if memory.older:
            self._set_aside(storage)
        return laid(tensor, storage) if tensor.is_meta else tensor

    def _set_aside(self, storage: torch.UntypedStorage) -> None:
        """Keep what a real storage holds, before its first write."""
        if storage._cdata not in self._kept:
            self._kept[storage._cdata] = (storage, storage.clone())

    def opened(self, tensor: torch.Tensor, memory: Memory) -> None:
        """Whatever is written there, no operation shows: what was there before the run is kept at once."""
        if memory.older:
            self.has_opened = True
            self._set_aside(tensor.untyped_storage())

    def put_back(self) -> None:
        """Every real storage holds again what it held before the run."""
        for storage, kept in self._kept.values():
            if storage.nbytes() == kept.nbytes():
                storage.copy_(kept)

    def forget(self) -> None:
        """The numbers of constants go, too."""
        super().forget()
        self._stand_ins.clear()
        self._kept.clear()
        self._known_by_kind.cache_clear()

    def left(self) -> list[tuple[StorageWeakRef, Memory]]:
        """The storages without data that the run made and somebody still holds, with their memories."""
        self._stand_ins.clear()
        found = []
        for address, (ref, memory) in self._memories.items():
            storage = (
                None if address in self._given or ref.expired() else torch.UntypedStorage._new_with_weak_ptr(ref.cdata)
            )
            if storage is not None and storage.device.type == "meta":
                found.append((ref, memory))
        return found

    def without_numbers(self, tensor: torch.Tensor, memory: Memory, shadow: Shadow) -> Shadow:
        """The shadow of what is written without its numbers: constants among it are known only as far as their kind
        says what they are. Where there is a twin, it holds those.
        """
        twin = memory.twin is not None or not tensor.is_meta
        memory.stale = memory.stale or twin
        if not bool((shadow.kind >= FIXED).any()):
            return shadow
        known, lost = self._known_by_kind(shadow, geometry_of(tensor).overlaps_itself(), twin)
        if lost:
            self.ledger.want("a constant among data")
        numbers = self.target(tensor) if twin and bool((known.kind >= FIXED).any()) else None
        if numbers is None:
            return known
        for kind, number in ((ZERO, 0.0), (NEGINF, -math.inf)):
            where = np.asarray(known.kind == kind)
            if where.any():
                numbers[torch.from_numpy(np.array(np.broadcast_to(where, shadow.shape)))] = number
        return known


def known_by_kind(shadow: Shadow, overlaps: bool, twin: bool) -> tuple[Shadow, bool]:
    """The shadow without the constants that their kind does not tell, and whether there were some.

    `overlaps`: elements share bytes, so that none is known; `twin`: numbers lie beside what is written.
    """
    kind = shadow.kind
    lost = (kind == FIXED) | (kind == PLAIN)
    kind = np.where(lost, np.uint8(VARIES), kind)
    if overlaps:
        kind = np.where(kind >= FIXED, np.uint8(VARIES), kind)
    if twin:
        kind = np.where(kind == BIG, np.uint8(MASKED), kind)
    return Shadow(shadow.shape, shadow.lo, shadow.hi, kind), bool(lost.any())


def flat(value: Any) -> Iterator[Any]:
    """What lists, tuples and dictionaries hold, as operations take and give them."""
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from flat(v)
    elif isinstance(value, dict):
        yield from flat(list(value.values()))
    else:
        yield value


def mapped(function: Any, value: Any) -> Any:
    """Lists and tuples, as operations take and give them, with every tensor replaced by its image."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if type(value) in (list, tuple):
        return type(value)(mapped(function, v) for v in value)
    if isinstance(value, dict):
        return {k: mapped(function, v) for k, v in value.items()}
    return value
