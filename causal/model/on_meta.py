"""Parameters without values, buffers with theirs: what a proof needs of a model, in no more memory than its buffers.

A proof holds for any parameters, so that their shapes are enough. Masks, rotary frequencies and whatever else a model
computes when it is made are constants, whose values a proof does need; `torch.device("meta")` takes both away.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

from .setting import need_torch

LARGE = 2**29
"""Bytes from which a tensor that is made all at once counts as a parameter in the making, and gets no memory."""


@contextmanager
def parameters_on_meta() -> Iterator[None]:
    """Every parameter that is made inside lies on the meta device, and every other tensor holds its numbers.

    `torch.device("meta")` inside counts for parameters alone, too. It holds for all threads. A buffer computed from
    parameters has no values; a proof counts it as any numbers.

    >>> import torch
    >>> with parameters_on_meta(), torch.device("meta"):
    ...     norm = torch.nn.BatchNorm1d(3)
    >>> norm.weight.is_meta, norm.running_var.tolist()
    (True, [1.0, 1.0, 1.0])
    """
    torch = need_torch()
    from torch.overrides import TorchFunctionMode

    whole = {torch.empty, torch.zeros, torch.ones, torch.full, torch.rand, torch.randn}

    class ForReal(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            given = dict(kwargs or {})
            if func in whole and _bytes(args, given) >= LARGE:
                given["device"] = "meta"
            elif str(given.get("device")) == "meta" and not any(isinstance(a, torch.Tensor) for a in args):
                given["device"] = "cpu"
            return func(*args, **given)

    made = vars(torch.nn.Parameter)["__new__"]

    def made_on_meta(cls: type, data: Any = None, requires_grad: bool = True) -> Any:
        plain = type(data) in (torch.Tensor, torch.nn.Parameter)
        return made.__func__(cls, data.detach().to("meta") if plain else data, requires_grad)

    torch.nn.Parameter.__new__ = made_on_meta
    try:
        with ForReal():
            yield
    finally:
        torch.nn.Parameter.__new__ = made


def has_valueless_buffers(model: Any) -> bool:
    """Whether a module that the model reaches holds a buffer on the meta device."""
    from .modules import modules_of

    return any(buffer.is_meta for top in modules_of(model) for buffer in top.buffers())


def _bytes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """What a tensor takes that `torch.empty`, `torch.full` and the like make from these arguments."""
    import torch

    size = kwargs.get("size", args[0] if args and isinstance(args[0], (tuple, list)) else args)
    dtype = kwargs.get("dtype") or torch.get_default_dtype()
    return int(prod(size)) * int(getattr(dtype, "itemsize", 8))  # Python's bool and float will do for a dtype
