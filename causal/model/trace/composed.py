"""Functions of PyTorch that look at values on their way, or refuse to run under a mode, brought about otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import _disable_current_modes


def one_hot(tensor: torch.Tensor, num_classes: int) -> torch.Tensor:
    """`torch.nn.functional.one_hot`, which looks for classes out of range by itself; here the write does."""
    zeros = torch.zeros(*tensor.shape, num_classes, dtype=torch.int64, device=tensor.device)
    return zeros.scatter(-1, tensor.unsqueeze(-1), 1)


def normed_embedding(
    tensor: torch.Tensor,
    weight: torch.Tensor,
    padding_idx: int | None = None,
    max_norm: float = 1.0,
    norm_type: float = 2.0,
    *_: Any,
    **__: Any,
) -> torch.Tensor:
    """`torch.nn.functional.embedding` with `max_norm`: a row that is looked up is scaled, whatever else is.

    The table keeps what was scaled, so that it depends on all that was looked up.
    """
    rows = torch.embedding(weight, tensor)
    norms = rows.norm(norm_type, -1, keepdim=True)
    rows = torch.where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows)
    torch.embedding_renorm_(weight.detach(), tensor.contiguous(), max_norm, norm_type)
    return rows


def strided_copy(
    x: torch.Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> torch.Tensor:
    """`torch.as_strided_copy`, which reads whatever lies in the memory of x."""
    return torch.as_strided(x, size, stride, storage_offset).clone(memory_format=torch.contiguous_format)


def strided_scatter(
    x: torch.Tensor, src: torch.Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> torch.Tensor:
    """`torch.as_strided_scatter`, which copies all of the memory of x and writes into the copy."""
    held = x.untyped_storage().nbytes() // x.itemsize
    copy = torch.as_strided(x, (held,), (1,), 0).clone()
    torch.as_strided(copy, size, stride, storage_offset).copy_(src)
    return torch.as_strided(copy, x.shape, x.stride(), x.storage_offset())


OF_OTHERS: dict[str, Callable[..., Any]] = {
    "aten.as_strided_copy": strided_copy,
    "aten.as_strided_scatter": strided_scatter,
}


@contextmanager
def biases_made_under_modes() -> Iterator[None]:
    """While it is open, the causal biases of `torch.nn.attention.bias` can be made where a dispatch mode is on."""
    kind = getattr(sys.modules.get("torch.nn.attention.bias"), "CausalBias", None)
    if kind is None:
        yield
        return

    def new(cls: Any, *_: Any, **__: Any) -> Any:
        with _disable_current_modes():
            return torch.Tensor.__new__(cls)

    with patch.object(kind, "__new__", new):
        yield
