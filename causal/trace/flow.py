"""How the forbidden positions flow through a run: the operations that carry them, back from an output to the first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .domain import Shadow

# Operations that only move or copy elements: the future passes through them, it does not enter there.
CARRIERS = frozenset(
    f"aten.{n}"
    for n in "clone copy_ copy cat stack _to_copy contiguous constant_pad_nd pad slice_scatter select_scatter roll flip repeat "
    "view reshape _unsafe_view _reshape_copy _reshape_alias im2col fill_ masked_fill where index_select".split()
)


class Flow:
    """The graph of one run in which only forbidden positions are marked."""

    def __init__(self, forbidden: np.ndarray, position: int) -> None:
        self.forbidden, self.position, self.n = forbidden, position, len(forbidden)
        self.operations: list[Any] = []
        self.before: list[list[int]] = []
        self.carries: list[bool] = []
        self.outputs: list[int] = []

    def add(self, operation: Any, before: Iterable[int], shadows: Sequence[Shadow]) -> int:
        """A new operation, the nodes that it reads, and the shadows of what it wrote."""
        self.operations.append(operation)
        self.before.append(sorted(b for b in before if b >= 0))
        self.carries.append(any(self._carries(s) for s in shadows))
        return len(self.operations) - 1

    def _carries(self, shadow: Shadow) -> bool:
        """Whether a marked element lies where the output position may look: at allowed positions of every sequence axis."""
        if math.prod(shadow.shape) == 0 or not (shadow.hi >= 0).any():
            return False
        marked = (shadow.hi >= 0) & (shadow.lo <= shadow.hi)
        forbidden = self._own(shadow.shape)
        return bool((marked & ~forbidden).any())

    def _own(self, shape: tuple[int, ...]) -> np.ndarray:
        """Elements that belong to a forbidden position by one of their own coordinates."""
        own: np.ndarray = np.zeros((1,) * len(shape), bool)
        for axis, size in enumerate(shape):
            if size == self.n:
                sizes = [1] * len(shape)
                sizes[axis] = size
                own = own | self.forbidden.reshape(sizes)
            elif axis + 1 < len(shape) and size > 1 and shape[axis + 1] > 1 and size * shape[axis + 1] == self.n:
                sizes = [1] * len(shape)
                sizes[axis], sizes[axis + 1] = size, shape[axis + 1]
                own = own | self.forbidden.reshape(sizes)
        return own

    def chain(self, output: int) -> Any:
        """The chain from the operation where marked positions enter to the output."""
        from . import Chain

        start = self.outputs[output]
        if start < 0 or not self.carries[start]:
            return Chain(self.position, None, (), ())
        after: dict[int, int] = {start: -1}
        queue, entries = [start], []
        while queue:
            node = queue.pop()
            sources = [b for b in self.before[node] if self.carries[b]]
            if not sources:
                entries.append(node)
            for b in sources:
                if b not in after:
                    after[b] = node
                    queue.append(b)
        entries.sort()
        path = []
        node = entries[0]
        while node != -1:
            path.append(node)
            node = after[node]
        mixing = next((k for k in path if self.operations[k].name not in CARRIERS), path[0])
        return Chain(
            self.position,
            self.operations[mixing],
            tuple(self.operations[k] for k in path),
            tuple(self.operations[k] for k in entries),
        )
