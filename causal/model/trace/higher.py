"""Higher-order operators taken apart: what each does with the functions of the program that it is given.

PyTorch's own dense implementations refuse to run under a dispatch mode, or hide what they run from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from .mode import Mode
from .schema import Info

if TYPE_CHECKING:
    from .ledger import Ledger


def conditional(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """One of two branches; which of them is a read of the condition."""
    chosen = pred.item() if isinstance(pred, torch.Tensor) else pred
    return (true_fn if chosen else false_fn)(*operands)


def loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried: Sequence[Any], beside: Sequence[Any]
) -> tuple[Any, ...]:
    """A body as long as a condition holds, each time a read of it."""
    held = tuple(carried)
    while cond_fn(*held, *beside):
        made = body_fn(*held, *beside)
        held = tuple(made) if isinstance(made, (tuple, list)) else (made,)
    return held


def scan(
    combine_fn: Callable[..., Any], init: Sequence[Any], xs: Sequence[Any], beside: Sequence[Any] = ()
) -> list[Any]:
    """Carried along the first axis of `xs`: what is carried last, and what each step gave, stacked."""
    carried, steps = list(init), []
    for i in range(xs[0].shape[0]):
        made = combine_fn(*carried, *(x.select(0, i) for x in xs), *beside)
        carried, given = list(made[: len(init)]), made[len(init) :]
        steps.append(given)
    return [*carried, *(torch.stack(of_one) for of_one in zip(*steps, strict=True))]


def mapped(function: Callable[..., Any], xs: Sequence[Any], beside: Sequence[Any]) -> Any:
    """Each slice along the first axis of `xs` by itself, and the results stacked."""
    made = [tree_flatten(function(*(x.select(0, i) for x in xs), *beside)) for i in range(xs[0].shape[0])]
    return tree_unflatten([torch.stack(of_one) for of_one in zip(*(flat for flat, _ in made), strict=True)], made[0][1])


def flex_attention(*args: Any, **kwargs: Any) -> Any:
    """The scores of all pairs, changed and masked by the program's functions."""
    from torch._higher_order_ops.flex_attention import sdpa_dense

    return sdpa_dense(*args, **kwargs)


APART: dict[str, Callable[..., Any]] = {
    "cond": conditional,
    "while_loop": loop,
    "scan": scan,
    "map_impl": mapped,
    "flex_attention": flex_attention,
}


class Writes(Mode):
    """Inside a higher-order operator: a write may change what the program looks at afterwards."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self.ledger = ledger

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Report, then run."""
        schema = getattr(func, "_schema", None)
        if schema is not None and (schema.is_mutable or Info(func, ()).undeclared):
            self.ledger.unseen(f"{schema.name.replace('::', '.')} inside a higher-order operator")
        return func(*args, **(kwargs or {}))
