"""Sparse tensors from before the run, whose numbers nothing has written since: each counts as the dense one that it
stands for, whose zeros remove what a product with it would depend on.

Sparse parameters, and sparse tensors that the program makes, are not taken so: what is made of them depends on all that
they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..age import is_new
from ..restore import numbers_of
from .domain import FIXED, uniform
from .pytree import tensors_of

if TYPE_CHECKING:
    from .shadows import Shadows

LARGEST = 1 << 24  # numbers of a dense one


def _dense(x: torch.Tensor, dtype: torch.dtype | None = None, *_: Any, **__: Any) -> torch.Tensor:
    return x.to(dtype, copy=True) if dtype is not None else x.clone()


ON_DENSE: Mapping[str, Callable[..., torch.Tensor]] = {
    "aten.mm": torch.mm,
    "aten.mv": torch.mv,
    "aten.bmm": torch.bmm,
    "aten.addmm": torch.addmm,
    "aten._sparse_addmm": torch.addmm,
    "aten._to_dense": _dense,
}
"""What gives a dense result of sparse operands, and the same on dense ones."""


def on_dense(shadows: Shadows, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Callable[[], Any] | None:
    """The operation on dense operands in the place of sparse constants; None where it is not to be taken so."""
    if name not in ON_DENSE:
        return None
    given = tensors_of([*args, *kwargs.values()])
    sparse = [t for t in given if t.layout is not torch.strided]
    if not sparse or (len(sparse) == len(given) and name != "aten._to_dense"):
        return None  # a product of sparse ones is sparse
    stands_for = {id(t): _stands_for(shadows, t) for t in sparse}
    if any(dense is None for dense in stands_for.values()):
        return None
    first = [stands_for.get(id(a), a) for a in args]
    rest = {k: stands_for.get(id(v), v) for k, v in kwargs.items()}
    return lambda: ON_DENSE[name](*first, **rest)


def _stands_for(shadows: Shadows, t: torch.Tensor) -> torch.Tensor | None:
    """The dense tensor in the place of a sparse one from before the run, no parameter's, that is as it was then."""
    if t.requires_grad or isinstance(t, torch.nn.Parameter) or t.is_meta or t.numel() > LARGEST or is_new(t):
        return None
    with _disable_current_modes():
        held = list(numbers_of(t.detach()))
    if not held or not all(shadows.is_untouched(part) for part in held):
        return None
    with _disable_current_modes():
        dense = t.detach().to_dense()
        if not _keeps_its_zeros(held[-1], dense):
            return None
    shadows.assign(dense, uniform(tuple(dense.shape), FIXED), numbers=True)
    return dense


def _keeps_its_zeros(stored: torch.Tensor, dense: torch.Tensor) -> bool:
    """Whether the dense one is zero only where nothing but zeros is stored: numbers stored for one place may cancel."""
    return bool(stored.count_nonzero() == dense.count_nonzero()) or (
        not stored.is_complex() and bool((stored >= 0).all())
    )
