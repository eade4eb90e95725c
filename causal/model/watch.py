"""What one native run shows beside its output: the coarsest float, random draws, the table that takes the tokens."""

from __future__ import annotations

from typing import Any

import torch

from . import draws
from .trace.mode import Mode
from .trace.pytree import leaves


class Watcher(Mode):
    """The dispatch mode that looks on while a model runs on `x`.

    `epsilon` is the spacing of the coarsest float in use, `random` whether anything was drawn, `steered` whether a draw
    took as many random numbers as its values asked for, `vocabulary` the rows of the embedding that takes `x` as it is.
    """

    def __init__(self, x: torch.Tensor) -> None:
        super().__init__()
        self.x = x
        self.epsilon = torch.finfo(x.dtype).eps if x.is_floating_point() else 0.0
        self.random = self.steered = False
        self.vocabulary: int | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.steered |= draws.is_steered(func)
        self.random |= torch.Tag.nondeterministic_seeded in getattr(func, "tags", ())
        for _, t in leaves(result):
            if isinstance(t, torch.Tensor) and (t.is_floating_point() or t.is_complex()):
                self.epsilon = max(self.epsilon, torch.finfo(t.dtype).eps)
        if func is torch.ops.aten.embedding.default and not self.x.is_floating_point():
            table, index = args[0], args[1]
            if index.numel() == self.x.numel() and bool(torch.equal(index.reshape(-1), self.x.reshape(-1))):
                self.vocabulary = min(self.vocabulary or table.shape[0], table.shape[0])
        return result
