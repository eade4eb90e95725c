"""Functions of PyTorch that ask for a size as a number while they are recorded, said in functions that do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from torch import Tensor


def _max_pool1d(
    x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    def flat(value: Any, own: int) -> Any:
        return (own, *(value if isinstance(value, (list, tuple)) else (value,)))

    steps = kernel_size if stride is None or stride == [] else stride
    wide = F.max_pool2d_with_indices(
        x.unsqueeze(-2), flat(kernel_size, 1), flat(steps, 1), flat(padding, 0), flat(dilation, 1), ceil_mode
    )
    found = tuple(part.squeeze(-2) for part in wide)
    return found if return_indices else found[0]


def _take_along(x: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    if dim is None:
        return x.reshape(-1).gather(0, indices.reshape(-1))
    axis = dim % x.dim()
    shape = torch.broadcast_shapes(*(tuple(1 if a == axis else d for a, d in enumerate(t.shape)) for t in (x, indices)))
    wide, at = (t.expand(*(t.shape[a] if a == axis else d for a, d in enumerate(shape))) for t in (x, indices))
    return wide.gather(axis, at)


INSTEAD: Mapping[Any, Callable[..., Any]] = {
    torch.max_pool1d: _max_pool1d,
    F.max_pool1d: _max_pool1d,
    F.max_pool1d_with_indices: lambda *given, **named: _max_pool1d(*given, **{**named, "return_indices": True}),
    torch.take_along_dim: _take_along,
    torch.Tensor.take_along_dim: _take_along,
}


class SpelledOut(TorchFunctionMode):
    """While it is active, such a function is what others make of it."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return INSTEAD.get(function, function)(*args, **(kwargs or {}))
