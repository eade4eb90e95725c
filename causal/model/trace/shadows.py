"""What every tensor of a run depends on: the shadow of each storage, found by any tensor that lies in it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ..age import is_new
from .course import Course
from .deferred import late
from .domain import BIG, BIG_MASK, FIXED, NEGINF, PLAIN, VARIES, ZERO, Shadow, coarsen, compress, uniform
from .memory import UNSEEN, Geometry, Memory

if TYPE_CHECKING:
    from .ledger import Ledger
    from .policy import Policy

PLAIN_TYPES = {torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.nn.Parameter)}


class Shadows:
    """The shadows of one run in which ranks go up to `last`.

    `stored`, `finite_masks`: what the policy says of parameters and of masks. `parameters`, `buffers`: the names of the
    model's own, by the address of their storage.
    """

    has_values = True  # of everything; see `twins` for a run without

    def __init__(self, ledger: Ledger, last: int, policy: Policy) -> None:
        self.ledger, self.last, self.course = ledger, last, Course()
        self.stored, self.finite_masks = policy.parameters == "stored", policy.finite_masks
        self.parameters: dict[int, str] = {}
        self.buffers: dict[int, str] = {}
        self._memories: dict[int, tuple[StorageWeakRef, Memory]] = {}
        self._purge_at = 256

    def memory_of(self, tensor: torch.Tensor, made: bool = False, literal: bool = False) -> Memory | None:
        """The shadow of the tensor's storage; None for tensors without one (sparse, meta, wrappers of others).

        Where the storage is new: `made`, an operation that was seen made it, and its shadow is written next;
        `literal`, it holds numbers from Python.
        """
        if tensor.is_nested or (type(tensor) is not torch.Tensor and is_traceable_wrapper_subclass(tensor)):
            return None
        try:
            storage = tensor.untyped_storage()
        except (NotImplementedError, RuntimeError):
            return None
        found = self._memories.get(storage._cdata)
        if found is None:
            if made:
                memory = Memory(storage.nbytes())
            else:
                memory = self._first_seen(tensor, storage._cdata, storage.nbytes(), literal)
            # bytes that PyTorch may not move belong to NumPy, a file or another library, who may read or change them
            memory.exposed = not storage.resizable()
            self._keep(storage, memory)
            return memory
        memory = found[1]
        if memory.nbytes != storage.nbytes():  # resized behind our back
            memory.nbytes, memory.base, memory.flat, memory.views = storage.nbytes(), None, None, {}
            memory.notes, memory.forms, memory.picks, memory.number = {}, {}, {}, UNSEEN
            memory.twin, memory.stale = None, True
            memory.everywhere = uniform((), 0, 0, self.last)
        return memory

    def _first_seen(self, tensor: torch.Tensor, address: int, nbytes: int, literal: bool) -> Memory:
        """A parameter, a constant from before the run, or something that an operation out of sight made."""
        name = self.parameters.get(address)
        if name is None and (isinstance(tensor, torch.nn.Parameter) or tensor.requires_grad):
            name = "a parameter outside the modules" if tensor.is_leaf else "a tensor made of parameters before the run"
        memory = Memory(nbytes, dtype=str(tensor.dtype), older=not literal)
        valued = self.has_values or not tensor.is_meta
        if name is not None:
            memory.everywhere = uniform((), FIXED if self.stored and valued else 0)
            memory.sources = frozenset([name]) if self.stored else frozenset()
        elif not valued and (address in self.buffers or not is_new(tensor)):
            memory.everywhere = uniform(())
            self.ledger.valueless(self.buffers.get(address, "a constant outside the modules"))
        elif literal or address in self.buffers or not is_new(tensor):
            memory.everywhere = uniform((), FIXED)
        else:
            memory.everywhere = uniform((), 0, 0, self.last)
            self.ledger.without_rule("a tensor of unknown origin")
            return memory
        self.course.met(tensor)
        return memory

    def is_untouched(self, tensor: torch.Tensor) -> bool:
        """Whether the tensor, from before the run, holds constants that are no parameter's and that nothing wrote."""
        address = tensor.untyped_storage()._cdata
        found = self._memories.get(address)
        if found is None:
            return address not in self.parameters
        memory = found[1]
        return not (memory.written or memory.exposed or memory.sources) and self.of(tensor).is_fixed

    def share(self, storage: torch.UntypedStorage, memory: Memory) -> None:
        """Another storage shows the same memory."""
        self._memories[storage._cdata] = (StorageWeakRef(storage), memory)

    def _keep(self, storage: torch.UntypedStorage, memory: Memory) -> None:
        self.share(storage, memory)
        if len(self._memories) > self._purge_at:
            held = {
                id(m) for k, (ref, m) in self._memories.items() if not ref.expired() and (m.older or not m.is_twin(k))
            }
            self._memories = {k: v for k, v in self._memories.items() if not v[0].expired() and id(v[1]) in held}
            self._purge_at = len(self._memories) + 64

    def forget(self) -> None:
        """The run is over, and nobody asks for a shadow again: what is large goes at once, and not with a circle."""
        self._memories.clear()

    def opened(self, tensor: torch.Tensor, memory: Memory) -> None:
        """The program is given the memory itself, of numbers that it finds in a run without values."""

    def holding_data(self, inputs: Iterable[torch.Tensor]) -> tuple[StorageWeakRef, ...]:
        """Every storage in use that the run gave something which depends on the input; those of the inputs as well."""
        given = [self.memory_of(t) for t in inputs]
        return tuple(
            ref
            for ref, memory in self._memories.values()
            if not ref.expired() and memory.depends and (memory.written or any(memory is m for m in given))
        )

    def of(self, tensor: torch.Tensor) -> Shadow:
        """What the tensor's elements depend on now."""
        memory = self.memory_of(tensor)
        if memory is None:
            return uniform(shape_of(tensor), 0, 0, self.last)
        shadow = memory.read(geometry_of(tensor))
        return coarsen(shadow) if tensor.is_neg() else shadow  # a lazily negated view shows other constants

    def assign(
        self,
        tensor: torch.Tensor,
        shadow: Shadow,
        sources: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset()),
        node: int = -1,
        signed: bool = False,
        numbers: bool = False,
        scaled: float = 0.0,
    ) -> None:
        """The tensor's elements now have this shadow.

        `sources`: the parameters whose zeros make its zeros, and those whose values make its constants. `signed`: the
        signs of its zeros may depend on the input. `node`: the operation that wrote it, where a graph is kept.
        `numbers`: in a run without values, those of constants were written as well. `scaled`: what its numbers that a
        mask lowered were multiplied by since, at the least; 0 where nobody knows.
        """
        assert shadow.shape == shape_of(tensor), (shadow.shape, shape_of(tensor))
        memory = self.memory_of(tensor, made=True)
        if memory is None:
            return
        if memory.exposed and not shadow.is_fixed:
            self.ledger.unseen("a write into memory that NumPy, a file or another library may hold as well")
        if not numbers:
            shadow = self.without_numbers(tensor, memory, shadow)
        memory.write(geometry_of(tensor), shadow, scaled)
        if bool((shadow.kind != VARIES).any()):  # else nothing that was found rests on what the parameters hold
            memory.sources, memory.valued = memory.sources | sources[0], memory.valued | sources[1]
        memory.signed |= signed and (tensor.is_floating_point() or tensor.is_complex())
        memory.written = True
        memory.node = node

    # -- numbers ----------------------------------------------------------------------------------------------------

    def numbers(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The tensor's numbers, right at least where its shadow says constant; None where there are none."""
        return tensor

    def value(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The numbers that the tensor has in a run with values; None where they were not computed."""
        return tensor

    def array(self, tensor: torch.Tensor, shadow: Shadow) -> torch.Tensor:
        """Numbers for the shadow: those of constants; elsewhere they say nothing."""
        return tensor

    def without_numbers(self, tensor: torch.Tensor, memory: Memory, shadow: Shadow) -> Shadow:
        """What is known of a tensor that is written without its numbers."""
        return shadow

    def expose(self, tensors: Iterable[torch.Tensor]) -> None:
        """Somebody out of sight may go on reading and writing the memory of these tensors."""
        for memory in map(self.memory_of, tensors):
            if memory is not None:
                memory.exposed = True

    def knows_view(self, tensor: torch.Tensor) -> bool:
        """Whether the shadow of this very view need not be found by a rule."""
        memory = self.memory_of(tensor)
        return memory is None or geometry_of(tensor) in memory.views

    def note_view(self, tensor: torch.Tensor, shadow: Shadow) -> None:
        """A view of memory that is known, with the shadow that a rule found for it, where none was noted before."""
        memory = self.memory_of(tensor)
        if memory is not None and memory.everywhere is None:
            assert shadow.shape == shape_of(tensor), (shadow.shape, shape_of(tensor))
            memory.views.setdefault(geometry_of(tensor), shadow)


def shape_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """The tensor's shape; () for a nested one, which has none."""
    return () if tensor.is_nested else tuple(tensor.shape)


def geometry_of(tensor: torch.Tensor) -> Geometry:
    """Where a tensor lies in its storage."""
    return Geometry(
        int(tensor.storage_offset()), tuple(tensor.shape), tensor.stride(), tensor.element_size(), str(tensor.dtype)
    )


def unknown(shadow: Shadow) -> Shadow:
    """The shadow with constants that were not looked at as numbers of unknown value, which depend on nothing."""
    kind = np.where(shadow.kind == FIXED, np.uint8(VARIES), shadow.kind)
    return Shadow(shadow.shape, shadow.lo, shadow.hi, kind)


def look(shadow: Shadow, value: torch.Tensor, finite_masks: bool) -> Shadow:
    """The shadow with its constants looked at: PLAIN, ZERO, NEGINF or BIG instead of FIXED."""
    value = value.detach().resolve_conj().resolve_neg()
    repeated = [a for a in range(value.dim()) if value.stride(a) == 0 and value.shape[a] > 1]
    for a in repeated:
        value = value.narrow(a, 0, 1)
    found = torch.full(value.shape, PLAIN, dtype=torch.uint8, device=value.device)
    found.masked_fill_(~value if value.dtype == torch.bool else value == 0, ZERO)  # no copy as whole numbers
    if value.is_floating_point():
        if finite_masks:
            found.masked_fill_(value <= BIG_MASK, BIG)
        found.masked_fill_(value == -math.inf, NEGINF)
    kinds = compress(found.cpu().numpy())  # one byte for each element, and one more while it is made
    if not (shadow.kind == FIXED).all():
        kinds = compress(late(np.where, shadow.kind == FIXED, kinds, shadow.kind))
    return Shadow(shadow.shape, shadow.lo, shadow.hi, kinds)


def cast(shadow: Shadow, old: torch.dtype, new: torch.dtype) -> Shadow:
    """The shadow after a change of type: constants are looked at again unless they are 0."""
    kind = shadow.kind
    if new.is_floating_point and old.is_floating_point:
        return shadow
    keep = (kind <= 0) | (kind == ZERO) | (kind == FIXED)
    return Shadow(
        shadow.shape, shadow.lo, shadow.hi, np.where(keep, kind, np.where(kind >= FIXED, np.uint8(FIXED), np.uint8(0)))
    )
