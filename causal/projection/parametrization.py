"""Training inside a safe support: a PyTorch parametrization that keeps E and F zero where a slot may not read.

The optimiser moves the entries that the support allows and no others, so that a model that was safe by T10 before
training is safe by T10 after it, exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...libraries import library

if TYPE_CHECKING:
    import torch

    from ...aliases import ArrayLike
    from ..boundary import Boundary


def safe_support(visible: ArrayLike, n: int, boundary: Boundary | None = None) -> np.ndarray:
    """The largest support (r, n) that is safe when `visible` (queries, r) says who sees what: T13 the other way round.

    Slot s may read position j iff every query that sees s may use j. Raises what `check_projection` raises for a mask
    or boundary that does not fit.

    >>> safe_support([[True, False], [True, True]], 2).astype(int).tolist()
    [[1, 0], [1, 1]]
    """
    from .mask import nearest_safe_projection

    r = np.asarray(visible).shape[-1] if not hasattr(visible, "slots") else visible.slots
    kept = nearest_safe_projection(np.ones((r, n)), layout="slots-first", visible=visible, boundary=boundary)
    return np.asarray(np.asarray(kept) != 0)


def keep_safe(module: torch.nn.Module, name: str, support: Any) -> torch.nn.Module:
    """Register a parametrization that holds `module.name` at 0 outside `support`; returns the module.

    `support` is boolean, of the parameter's shape (transposed already where the module stores positions first), for
    instance `design.matrices(n).support` or `safe_support(visible, n)`. The parameter's values outside are cleared now
    and stay 0 whatever the optimiser does; it trains `module.parametrizations.<name>.original`. For E and F alike.

    Raises ImportError naming the extra `torch`; AttributeError or ValueError for a name or shape that does not fit.

    >>> import torch
    >>> layer = keep_safe(torch.nn.Linear(3, 2, bias=False), "weight", [[True, True, False], [True, True, True]])
    >>> layer.weight[0, 2].item()
    0.0
    """
    torch = library("torch", "keep_safe")
    parametrize = library("torch.nn.utils.parametrize", "keep_safe")
    parameter = getattr(module, name, None)
    if not isinstance(parameter, torch.Tensor):
        known = ", ".join(n for n, _ in module.named_parameters(recurse=False)) or "none"
        raise AttributeError(f"name = {name!r} is no parameter of {type(module).__name__}; it has {known}")
    mask = torch.as_tensor(np.asarray(support))
    if mask.dtype != torch.bool:
        raise ValueError(f"support has dtype {mask.dtype}; pass booleans, true where the slot may read")
    if mask.shape != parameter.shape:
        raise ValueError(
            f"support has shape {tuple(mask.shape)}, {name} has {tuple(parameter.shape)}; "
            "transpose it where the module stores positions first"
        )
    parametrize.register_parametrization(module, name, _keeper(mask.to(parameter.device)))
    return module


def _keeper(mask: torch.Tensor) -> torch.nn.Module:
    import torch

    class KeepSafe(torch.nn.Module):
        """x where the support allows, 0 elsewhere: exactly, whatever x holds there."""

        support: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("support", mask)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.where(self.support, x, torch.zeros((), dtype=x.dtype, device=x.device))

        def right_inverse(self, x: torch.Tensor) -> torch.Tensor:
            return self.forward(x)

    return KeepSafe()
