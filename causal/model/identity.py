"""What a PyTorch model is called, and a hash of the numbers that it was checked with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .dense import dense
from .modules import modules_of, named_parameters

if TYPE_CHECKING:
    from torch import nn


def name_of(model: Callable[..., Any]) -> str:
    """The name of a function, else the class of the module that it reaches."""
    named = getattr(model, "__name__", None)
    if named in (None, "<lambda>") or not isinstance(named, str):
        modules = modules_of(model)
        return type(modules[0]).__name__ if modules else "the function" if named else type(model).__name__
    return named


def digest(inputs: Any, modules: Sequence[nn.Module]) -> str:
    """A hash of the inputs and of the parameters' values."""
    import torch

    from .trace.pytree import leaves

    found = hashlib.blake2b(digest_size=16)
    tensors = [t for _, t in leaves(inputs) if isinstance(t, torch.Tensor)]
    tensors += list(named_parameters(modules).values())
    for t in tensors:
        found.update(f"{t.dtype}{tuple(t.shape)}".encode())
        with suppress(RuntimeError, NotImplementedError):  # nested, or without values
            found.update(dense(t).cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()
