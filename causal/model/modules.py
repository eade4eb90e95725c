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


DEEPEST = 4  # steps from the callable to a module


def modules_of(model: Any) -> list[nn.Module]:
    """The `nn.Module`s that a callable reaches, those inside others left out: itself, or what `parts` leads to."""
    import torch

    found: dict[int, torch.nn.Module] = {}
    seen: set[int] = set()

    def visit(value: Any, depth: int) -> None:
        if id(value) in seen or depth > DEEPEST:
            return
        seen.add(id(value))
        if isinstance(value, torch.nn.Module):
            found[id(value)] = value
            return
        for part in parts(value):
            visit(part, depth + 1)

    visit(model, 0)
    for name in ("model", "__self__"):  # what only asking shows: a property, the owner of a method that is not Python's
        visit(getattr(model, name, None), 1)
    inner = {id(m) for top in found.values() for m in top.modules() if m is not top}
    return [m for key, m in found.items() if key not in inner]


def parts(value: Any) -> Iterator[Any]:
    """What a callable, or a plain container in it, holds: owners, partials, closures, defaults, globals, attributes."""
    if isinstance(value, MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, FunctionType):
        yield from _parts_of_function(value)
    elif isinstance(value, (list, tuple)):
        yield from value
    elif isinstance(value, dict):
        yield from list(value.values())
    elif callable(value) and hasattr(value, "__dict__") and not isinstance(value, type):
        yield from list(vars(value).values())


def _parts_of_function(function: FunctionType) -> Iterator[Any]:
    from torch import nn

    for cell in function.__closure__ or ():
        with suppress(ValueError):  # an empty cell
            yield cell.cell_contents
    yield from (*(function.__defaults__ or ()), *vars(function).values())
    named = (function.__globals__.get(name) for name in function.__code__.co_names)
    for part in named:
        if isinstance(part, (nn.Module, FunctionType)):
            yield part
        elif isinstance(part, (list, tuple)):  # of modules; what else lies in the globals is not the function's own
            yield from (item for item in part if isinstance(item, nn.Module))


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
