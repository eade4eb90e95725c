"""What a model is made of and what steers it: modules, their modes, random numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor, nn


def modules_of(model: Any) -> list[nn.Module]:
    """The `nn.Module`s that a callable reaches: itself, bound methods, partials, closures and globals that it names."""
    import torch

    found: dict[int, torch.nn.Module] = {}
    seen: set[int] = set()

    def visit(value: Any, depth: int) -> None:
        if id(value) in seen or depth > 4:
            return
        seen.add(id(value))
        if isinstance(value, torch.nn.Module):
            found[id(value)] = value
        elif isinstance(value, MethodType):
            visit(value.__self__, depth + 1)
            visit(value.__func__, depth + 1)
        elif isinstance(value, partial):
            for part in (value.func, *value.args, *value.keywords.values()):
                visit(part, depth + 1)
        elif isinstance(value, FunctionType):
            for cell in value.__closure__ or ():
                try:
                    visit(cell.cell_contents, depth + 1)
                except ValueError:  # an empty cell
                    continue
            for part in (*(value.__defaults__ or ()), *vars(value).values()):
                visit(part, depth + 1)
            for name in value.__code__.co_names:
                if isinstance(value.__globals__.get(name), (torch.nn.Module, FunctionType)):
                    visit(value.__globals__[name], depth + 1)
        elif isinstance(value, (list, tuple)):
            for part in value:
                visit(part, depth + 1)
        elif isinstance(value, dict):
            for part in value.values():
                visit(part, depth + 1)
        elif callable(value) and hasattr(value, "__dict__") and not isinstance(value, type):
            for part in vars(value).values():
                visit(part, depth + 1)

    visit(model, 0)
    inner = {id(m) for top in found.values() for m in top.modules() if m is not top}
    return [m for key, m in found.items() if key not in inner]


def named_parameters(modules: Sequence[nn.Module]) -> dict[str, Tensor]:
    """Every parameter once, by name; names of several modules are prefixed by their number."""
    found: dict[str, Tensor] = {}
    for i, module in enumerate(modules):
        prefix = "" if len(modules) == 1 else f"{i}:"
        found.update({prefix + name: p for name, p in module.named_parameters()})
    return found


@contextmanager
def in_mode(modules: Sequence[nn.Module], mode: str) -> Iterator[None]:
    """Every module in the mode; each one's own flag comes back afterwards."""
    flags = [(m, m.training) for top in modules for m in top.modules()]
    try:
        for top in modules:
            if any(m.training != (mode == "train") for m in top.modules()):
                with suppress(NotImplementedError):  # exported programs have their mode built in
                    top.train(mode == "train")
        yield
    finally:
        for module, flag in flags:
            module.training = flag


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's, NumPy's and Python's random numbers from the seed; their states come back afterwards."""
    import torch

    numpy_state, python_state = np.random.get_state(), random.getstate()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        np.random.seed(seed % 2**32)
        random.seed(seed)
        try:
            yield
        finally:
            np.random.set_state(numpy_state)
            random.setstate(python_state)
