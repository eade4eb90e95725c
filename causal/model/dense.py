"""Any tensor of numbers as one that compares and goes to NumPy: dense, with its conjugate and sign carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def dense(t: Tensor) -> Tensor:
    """The same numbers, detached: sparse ones filled in, quantised ones as floats, 8-bit floats as float32, 16-bit
    complex numbers as complex64, and no lazy conjugate or sign. Raises what PyTorch raises where there are no numbers.

    >>> import torch
    >>> dense(torch.complex(torch.ones(1), torch.ones(1)).conj().imag).is_neg()
    False
    """
    import torch

    t = t.detach()
    if t.is_quantized:
        t = t.dequantize()
    if t.layout is not torch.strided:
        t = t.to_dense()
    if t.is_floating_point() and t.itemsize == 1:
        return t.float()
    if t.dtype is torch.complex32:
        t = t.to(torch.complex64)
    return t.resolve_conj().resolve_neg()


def is_alone(t: Tensor) -> bool:
    """Whether nothing else holds the memory of a tensor, but one that it is a view of; false where nobody can tell.

    >>> import torch
    >>> t = torch.zeros(2)
    >>> is_alone(t), is_alone(t.detach())
    (True, False)
    """
    import torch

    count = getattr(torch._C, "_storage_Use_Count", None)
    lone, storage = torch.empty(1), t.untyped_storage()
    if count is None or not storage.resizable():  # NumPy's memory, say
        return False
    alone = lone.untyped_storage()  # both are kept: an address alone keeps nothing alive
    others: int = count(storage._cdata) - count(alone._cdata)
    return others <= (t._base is not None)


def lacking(t: Tensor) -> str | None:
    """Why a tensor cannot be varied position by position, as a phrase; None where it can."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    if isinstance(t, FakeTensor) or t.is_meta:
        return "has a shape and no values"
    if t.is_nested:
        return "is a nested tensor, which has no axis of positions"
    if t.is_quantized:
        return "is quantised"
    if t.dtype in (torch.uint16, torch.uint32, torch.uint64):
        return f"is of type {str(t.dtype).removeprefix('torch.')}, which PyTorch cannot write into by position"
    return None if t.layout is torch.strided else f"is a sparse tensor ({str(t.layout).removeprefix('torch.')})"
