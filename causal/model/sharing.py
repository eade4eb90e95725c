"""What shares memory with the varied input: every run replaces the input by a copy, and the rest keeps its values."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .kept import attributes
from .reachable import names_in, parts, reachable

if TYPE_CHECKING:
    from torch import Tensor

    from .trace.subject import Subject


def shared(subject: Subject) -> list[str]:
    """The other inputs, and the model's own tensors and arrays, that lie in the memory of the varied input, in words.

    The very same tensor given as another input is none of them: it is replaced as well.
    """
    import torch

    from .trace.pytree import leaves

    x = subject.input
    others = [(f"input {key}{path}", t) for key, value in subject.others.items() for path, t in leaves(value)]
    found = [name for name, t in others if t is not x and _overlap(x, t)]
    reached = reachable(subject.model, *subject.strangers)
    held = [value for value in reached if issubclass(type(value), (torch.Tensor, np.ndarray)) and _overlap(x, value)]
    found += [_name(value, reached) for value in held if _is_used(value, reached)]
    return list(dict.fromkeys(found))


def _overlap(x: Tensor, other: Any) -> bool:
    """Whether they share a byte; of an array and a tensor, whether the bytes between their ends do."""
    import torch

    from .trace.memory import overlap
    from .trace.shadows import geometry_of

    mine, its = _bounds(x), _bounds(other)
    if mine is None or its is None or mine[1] <= its[0] or its[1] <= mine[0]:
        return False
    if not isinstance(other, torch.Tensor) or x.untyped_storage()._cdata != other.untyped_storage()._cdata:
        return True
    return geometry_of(x) == geometry_of(other) or overlap(geometry_of(x), geometry_of(other))


def _bounds(value: Any) -> tuple[int, int] | None:
    """The addresses of the first byte and after the last one; None where it has no memory."""
    import torch

    if issubclass(type(value), np.ndarray):
        start = value.__array_interface__["data"][0]
        steps = [stride * (size - 1) for stride, size in zip(value.strides, value.shape, strict=True)]
        return start + sum(min(s, 0) for s in steps), start + sum(max(s, 0) for s in steps) + value.itemsize
    if not issubclass(type(value), torch.Tensor) or value.layout is not torch.strided or value.is_meta:
        return None
    if value.is_nested or not value.numel() or type(value).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return None
    start = value.data_ptr()
    last = sum(stride * (size - 1) for stride, size in zip(value.stride(), value.shape, strict=True))
    return start, start + (last + 1) * value.itemsize


def _is_used(value: Any, reached: Sequence[Any]) -> bool:
    """Whether it is more than a global whose name is that of an attribute in the program."""
    return any(part is value for holder in reached for part in _held(holder))


def _held(holder: Any) -> Iterator[Any]:
    if not isinstance(holder, types.FunctionType):
        yield from parts(holder)
        return
    loaded, space = set(_loaded(holder.__code__)), holder.__globals__
    only_attributes = {id(space[n]) for n in names_in(holder.__code__) if n in space and n not in loaded}
    yield from (part for part in parts(holder) if id(part) not in only_attributes)
    yield from (space[name] for name in loaded if name in space)


def _loaded(code: types.CodeType) -> Iterator[str]:
    """The globals that a piece of code and those inside it look up."""
    yield from (i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _loaded(inner)


def _name(value: Any, reached: Sequence[Any]) -> str:
    import torch

    for module in (m for m in reached if issubclass(type(m), torch.nn.Module)):
        for name, held in [*module.named_buffers(), *module.named_parameters(), *(attributes(module) or {}).items()]:
            if held is value:
                return f"{type(module).__name__}.{name}"
    kind = "tensor" if issubclass(type(value), torch.Tensor) else "array"
    return f"the model's own {kind} of shape {tuple(value.shape)}"
