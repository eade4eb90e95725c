"""Arrays sent through the operation at hand: NumPy on our side, PyTorch inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from ..transfer.movement import without_repeats

if TYPE_CHECKING:
    from ..calls import TorchCall
    from ..domain import Array


def as_tensor(array: Array) -> torch.Tensor:
    """The array as a tensor: axes of stride 0 stay free, and memory is shared where it may be."""
    cut = without_repeats(array)
    return torch.from_numpy(cut if cut.flags.c_contiguous and cut.flags.writeable else cut.copy()).expand(array.shape)


def through(call: TorchCall) -> Callable[[Sequence[Array]], list[Array]]:
    """The operation with other arrays in place of its tensors; every output, in order."""

    def sent(arrays: Sequence[Array]) -> list[Array]:
        result = call.replay(*(as_tensor(a) for a in arrays))
        return [t.numpy() for t in (result if isinstance(result, (list, tuple)) else (result,))]

    return sent


def through_alone(call: TorchCall) -> Callable[[Array], Array]:
    """The same for an operation with one tensor and one output."""
    return lambda array: through(call)([array])[0]
