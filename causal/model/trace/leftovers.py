"""What a run without values leaves where nobody puts it back: tensors without data in the cache of a library, say.

Constants among them are given the numbers that a run with values would have left. What was made from the input is
named, since any later run would take it for a constant; it, and what has no numbers, is left as NaN.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch

from ..age import surviving
from ..kept import attributes
from ..reachable import reachable
from .pytree import node_of
from .twins import blank, laid

if TYPE_CHECKING:
    from .memory import Memory


class Hidden:
    """Stands for an object in which a model returned tensors where nobody looks."""

    def __init__(self) -> None:
        self.tensor = torch.empty(0, device="meta")


def apart(result: Any) -> Any:
    """The same structure with tensors that look the same and share no memory with what the run made; None for tensors
    that have no likeness.
    """
    try:
        return _apart(result, 0)
    except (TypeError, RuntimeError, NotImplementedError, AttributeError):
        return None


def _apart(value: Any, depth: int) -> Any:
    node = node_of(value, depth)
    if node is not None:
        new = node.rebuilt([_apart(child, depth + 1) for child in node.children])
    elif issubclass(type(value), torch.Tensor):
        new = torch.empty_like(value, device="meta")
    else:
        return Hidden() if _hides(value) else value
    hung = {name: v for name, v in (attributes(value) or {}).items() if _hides(v)}
    if new is value:
        return Hidden() if hung else value
    kept = attributes(new)
    for name, v in hung.items():  # what is built anew may have taken them along as they are
        if name not in kept or kept[name] is v:
            kept[name] = _apart(v, depth + 1)
    return new


def _hides(value: Any) -> bool:
    """Whether an object leads to tensors."""
    return hasattr(type(value), "__next__") or any(issubclass(type(v), torch.Tensor) for v in reachable(value))


def numbered(left: Iterable[tuple[Any, Memory]]) -> str:
    """Give what is left of a run its numbers; and the shape of a tensor made from the input among it, or ""."""
    left = list(left)
    alive = surviving(lambda: {ref.cdata: memory for ref, memory in left if not ref.expired()})
    if not alive:
        return ""
    kept = ""
    for value in gc.get_objects():
        if not issubclass(type(value), torch.Tensor) or value.layout is not torch.strided or value.is_nested:
            continue
        memory = alive.get(value.untyped_storage()._cdata) if value.is_meta else None
        if memory is not None:
            put = _given_numbers(value, memory)
            if memory.depends or memory.chosen is not None or not put:
                kept = kept or f"a tensor of shape {tuple(value.shape)}"
    return kept or ("a tensor" if any(m.depends for m in alive.values()) else "")


def _given_numbers(tensor: torch.Tensor, memory: Memory) -> bool:
    """Put a real tensor in the place of one without data; whether that could be done."""
    storage = memory.twin
    real = laid(tensor, blank(memory.nbytes) if storage is None else storage)
    if storage is None or memory.stale:
        if not (real.is_floating_point() or real.is_complex()):
            return False
        real = torch.full_like(real, math.nan)
    try:
        torch.utils.swap_tensors(tensor, real)
    except RuntimeError:  # somebody holds a weak reference to it
        return False
    return True
