"""What a run computed from its input and some object still holds after the state was put back."""

from __future__ import annotations

import gc
from collections.abc import Collection, Sequence
from typing import Any

from .age import surviving


def outliving(storages: Sequence[Any], put_back: set[int]) -> str:
    """The shape of a tensor in one of the storages (weak references) that is still alive and was not put back, or "".

    Whatever a program may keep data in, a dictionary of a library, a generator or memory of C, keeps the storage alive.
    """
    alive = surviving(lambda: {s.cdata for s in storages if not s.expired() and s.cdata not in put_back})
    return _shown(alive) if alive else ""


def lies_in(result: Any, storages: Collection[int]) -> bool:
    """Whether some tensor in a structure lies in one of the storages, which are given by their addresses."""
    import torch

    from .trace.pytree import leaves

    found = [t for _, t in leaves(result) if issubclass(type(t), torch.Tensor)]
    return any(t.untyped_storage()._cdata in storages for t in found if t.layout is torch.strided and not t.is_nested)


def _shown(alive: set[int]) -> str:
    import torch

    for value in gc.get_objects():
        if not issubclass(type(value), torch.Tensor) or value.layout is not torch.strided or value.is_nested:
            continue
        if value.untyped_storage()._cdata in alive:
            return f"a tensor of shape {tuple(value.shape)}"
    return "a tensor"
