"""What a model is made of and what steers it: modules, their parameters, random numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .reachable import reachable

if TYPE_CHECKING:
    from torch import Tensor, nn


def modules_of(model: Any) -> list[nn.Module]:
    """The `nn.Module`s that a callable reaches, those inside others left out."""
    return modules_among(reachable(model))


def modules_among(objects: Sequence[Any]) -> list[nn.Module]:
    """The `nn.Module`s among some objects, those inside others left out."""
    import torch

    tops: list[torch.nn.Module] = []
    covered: set[int] = set()
    for module in objects:
        if issubclass(type(module), torch.nn.Module) and id(module) not in covered:
            tops.append(module)
            covered.update(id(m) for m in module.modules())
    inner = {id(m) for top in tops for m in top.modules() if m is not top}
    return [m for m in tops if id(m) not in inner]


def named_parameters(modules: Sequence[nn.Module]) -> dict[str, Tensor]:
    """Every parameter once, by name; names of several modules are prefixed by their number."""
    found: dict[str, Tensor] = {}
    for i, module in enumerate(modules):
        prefix = "" if len(modules) == 1 else f"{i}:"
        found.update({prefix + name: p for name, p in module.named_parameters()})
    return found


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's, NumPy's and Python's random numbers from the seed; their states come back afterwards."""
    import torch

    numpy_state, python_state = np.random.get_state(), random.getstate()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices):
        _seed(seed)
        np.random.seed(seed % 2**32)
        random.seed(seed)
        try:
            yield
        finally:
            np.random.set_state(numpy_state)
            random.setstate(python_state)


def _seed(seed: int) -> None:
    """Seed torch's generators, but for devices that wait for their first use: what PyTorch would remember until then
    would take the place of the seed that the caller gave.
    """
    import torch

    devices = getattr(torch, "accelerator", None)  # torch 2.6
    waits = any(device.is_available() and not device.is_initialized() for device in (torch.cuda, torch.xpu))
    if waits or (devices is not None and not devices.is_available()):
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
