"""How forbidden positions flow through a run: the operations that carry them, back from an output to the first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .records import Chain, Operation

if TYPE_CHECKING:
    import numpy as np

    from .domain import Shadow


class Flow:
    """The graph of one run in which forbidden positions are marked, and may mark what belongs to closed positions."""

    def __init__(self, closed: np.ndarray, position: int) -> None:
        self.closed, self.position, self.n = closed, position, len(closed)
        self.operations: list[Operation] = []
        self.before: list[list[int]] = []
        self.marked: list[bool] = []
        self.passed_over: list[bool] = []
        self.outputs: list[int] = []

    def add(self, operation: Operation, before: Iterable[int], shadows: Sequence[Shadow], carries: bool) -> int:
        """A new operation, the nodes that it reads, the shadows of what it wrote, and whether it only carries."""
        self.operations.append(operation)
        self.before.append(sorted(b for b in before if b >= 0))
        self.marked.append(any(self._is_marked(s) for s in shadows))
        self.passed_over.append(carries)
        return len(self.operations) - 1

    def _is_marked(self, shadow: Shadow) -> bool:
        """Whether a marked element lies where the output position may look.

        On an axis of the sequence's own length (or two that make it up) an element belongs to its coordinate. On others
        (padded, in blocks) the future is still apart as long as some axis has its share of unmarked slices.
        """
        if math.prod(shadow.shape) == 0 or not (shadow.hi >= 0).any():
            return False
        marked = (shadow.hi >= 0) & (shadow.lo <= shadow.hi)
        own = self._own(shadow.shape)
        if own is not None:
            return bool((marked & ~own).any())
        allowed = self.n - int(self.closed.sum())
        for axis, size in enumerate(shadow.shape):
            if size == 1 or marked.shape[axis] == 1:
                continue
            rest = tuple(a for a in range(marked.ndim) if a != axis)
            free = int((~marked.any(rest)).sum())
            if free >= max(1, min(allowed, allowed * size // self.n)):
                return False
        return True

    def _own(self, shape: tuple[int, ...]) -> np.ndarray | None:
        """Elements that belong to a closed position by one of their own coordinates; None without such an axis."""
        own: np.ndarray | None = None
        for axis, size in enumerate(shape):
            sizes = [1] * len(shape)
            if size == self.n:
                sizes[axis] = size
            elif axis + 1 < len(shape) and size > 1 and shape[axis + 1] > 1 and size * shape[axis + 1] == self.n:
                sizes[axis], sizes[axis + 1] = size, shape[axis + 1]
            else:
                continue
            mine = self.closed.reshape(sizes)
            own = mine if own is None else own | mine
        return own

    def chain(self, output: int) -> Chain:
        """The chain from the operation where marked positions enter to the output."""
        start = self.outputs[output]
        if start < 0 or not self.marked[start]:
            return Chain(self.position, None, (), ())
        after: dict[int, int] = {start: -1}
        queue, entries = [start], []
        while queue:
            node = queue.pop()
            sources = [b for b in self.before[node] if self.marked[b]]
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
        mixing = next((k for k in path if not self.passed_over[k]), path[0])
        return Chain(
            self.position,
            self.operations[mixing],
            tuple(self.operations[k] for k in path),
            tuple(self.operations[k] for k in entries),
        )
