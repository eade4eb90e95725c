"""Draws that take as many random numbers as their values ask for, each element from a stream of its own.

A Poisson, binomial or gamma draw, and the noise of a randomised leaky ReLU, use up random numbers as the data will.
With one stream and a fixed seed, a change of one element moves every draw after it, though none depends on it.
While a model is replayed, each element therefore starts a generator of its own, seeded by its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from .trace.mode import Mode

NAMES = ("poisson", "binomial", "_standard_gamma", "_sample_dirichlet", "rrelu_with_noise", "rrelu_with_noise_")


def is_steered(function: Any) -> bool:
    """Whether how many random numbers an operation takes depends on values."""
    schema = getattr(function, "_schema", None)
    return schema is not None and schema.name in {f"aten::{name}" for name in NAMES}


def apart() -> Mode:
    """The dispatch mode that gives each element of such a draw its own stream."""
    import torch

    from .trace.mode import Mode

    class Apart(Mode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if not is_steered(func):
                return func(*args, **(kwargs or {}))
            if func._schema.name.startswith("aten::rrelu_with_noise"):
                result = _leaky(*args, **(kwargs or {}))
                return args[0].copy_(result) if func._schema.name.endswith("_") else result
            return _element_by_element(func, [a for a in args if isinstance(a, torch.Tensor)])

    return Apart()


def _leaky(
    x: Tensor, noise: Tensor, lower: Any = 0.125, upper: Any = 1 / 3, training: bool = False, **_: Any
) -> Tensor:
    """Slopes for all elements, used where they are at most 0; the mean slope outside training."""
    import torch

    if not training:
        return torch.where(x <= 0, x * ((lower + upper) / 2), x)
    slopes = torch.empty_like(x).uniform_(float(lower), float(upper))
    noise.copy_(torch.where(x <= 0, slopes, 1.0))
    return x * noise


def _element_by_element(func: Any, parameters: list[Tensor]) -> Tensor:
    """The draw of each element (of each row, for a Dirichlet draw) from a generator that its place seeds."""
    import torch

    first = int(torch.randint(2**31, ()))
    whole = torch.broadcast_tensors(*parameters)
    width = whole[0].shape[-1] if func._schema.name == "aten::_sample_dirichlet" else 1
    rows = [p.reshape(-1, width).cpu() for p in whole]
    generator = torch.Generator()
    drawn = [func(*(r[i] for r in rows), generator=generator.manual_seed(first + i)) for i in range(rows[0].shape[0])]
    result = torch.stack(drawn) if drawn else rows[0]
    return result.reshape(whole[0].shape).to(whole[0].device)
