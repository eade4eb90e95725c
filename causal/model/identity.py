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


class Digest:
    """A hash of the inputs and of the parameters' values, computed by calling it; "" where they have changed since."""

    def __init__(self, inputs: Any, modules: Sequence[nn.Module]) -> None:
        import torch

        from .trace.pytree import leaves

        self.tensors = [t for _, t in leaves(inputs) if isinstance(t, torch.Tensor)]
        self.tensors += list(named_parameters(modules).values())
        self.written = self._written()

    def _written(self) -> list[int]:
        return [0 if t.is_inference() else t._version for t in self.tensors]

    def __call__(self) -> str:
        """The hash in hexadecimal digits."""
        import torch

        if self._written() != self.written:
            return ""
        found = hashlib.blake2b(digest_size=16)
        for t in self.tensors:
            found.update(f"{t.dtype}{tuple(t.shape)}".encode())
            with suppress(RuntimeError, NotImplementedError):  # nested, or without values
                found.update(dense(t).cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        return found.hexdigest()
