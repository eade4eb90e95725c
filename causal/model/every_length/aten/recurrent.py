"""Recurrent layers of PyTorch as one operation each, so that a record does not unroll them; and what they read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import _VF as kernels

from ..primitives import primitive
from ..shadow import joined, total
from .lowering import Call, Tensor, aten
from .reductions import over

if TYPE_CHECKING:
    from ..equation import Equation
    from ..shadow import LengthShadow

LAYERS = ("gru", "lstm", "rnn_tanh", "rnn_relu")
REST = "Tensor[] weights, bool bias, int layers, float dropout, bool training, bool both, bool batch_first"
_KERNELS: dict[str, Callable[..., Any]] = {name: getattr(kernels, name) for name in LAYERS}
_LIBRARY = torch.library.Library("attnproof", "DEF")


def _run(name: str, x: Any, states: Any, *rest: Any) -> Any:
    return _KERNELS[name](x, states if name == "lstm" else states[0], *rest)


def _shapes(x: Any, states: Any, weights: Any, bias: bool, layers: int, *rest: Any) -> Any:
    width = states[0].shape[-1] * (2 if rest[2] else 1)
    return (x.new_empty((*x.shape[:-1], width)), *(torch.empty_like(s) for s in states))


def _define() -> None:
    for name in LAYERS:
        results = ", ".join(["Tensor"] * (3 if name == "lstm" else 2))
        _LIBRARY.define(f"{name}(Tensor x, Tensor[] states, {REST}) -> ({results})")
        _LIBRARY.impl(name, partial(_run, name), "CompositeExplicitAutograd")
        torch.library.register_fake(f"attnproof::{name}", _shapes, lib=_LIBRARY)


_define()


@contextmanager
def whole_layers() -> Iterator[None]:
    """While a recurrent layer is one operation; one over packed sequences is what it was."""

    def instead(name: str, x: Any, states: Any, weights: Any, bias: Any, *rest: Any) -> Any:
        if not isinstance(bias, bool):  # packed: sizes of batches stand before the states
            return _KERNELS[name](x, states, weights, bias, *rest)
        given = list(states) if name == "lstm" else [states]
        return getattr(torch.ops.attnproof, name)(x, given, list(weights), bias, *rest)

    before = {name: vars(kernels).get(name) for name in LAYERS}
    try:
        for name in LAYERS:
            setattr(kernels, name, partial(instead, name))
        yield
    finally:
        for name, value in before.items():
            if value is None:
                delattr(kernels, name)
            else:
                setattr(kernels, name, value)


@aten(" ".join(f"attnproof.{name}.default" for name in LAYERS))
def recurrent(op: Call) -> list[Tensor]:
    """The outputs read all steps before and their own, of all numbers; in both directions, all steps."""
    x, states = op["x"], list(op["states"])
    axis = 1 if op["batch_first"] else 0
    if op["training"] and op["dropout"]:
        op.run.drawn()
    row = over(op, "reduce_prod", x, (2,), True)
    if op["both"]:
        read = op.stretched(over(op, "reduce_prod", row, (axis,), True), row.shape)
    else:
        read = op.do("cumprod", row, shape=row.shape, axis=axis, reverse=False)
    found = op.do("aten.recurrent", op.stretched(read, op.shape), *states, *op["weights"])
    last = op.everything()
    return [found, *last[1:]]


@primitive("aten.recurrent")
def with_states(e: Equation) -> LengthShadow:
    """With the states at the start, and the weights, read as a whole."""
    x, *others = e.operands
    return joined(e.shape, [x, total(e.shape, others, e.last)])
