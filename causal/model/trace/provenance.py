"""How forbidden positions flow through a run: the operations that carry them, back from an output to the first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .records import Chain, Operation

if TYPE_CHECKING:
    from .domain import Shadow

Along = tuple[int, ...]  # an axis of the sequence's length, or two neighbours that make it up


class Axes:
    """The axes of every result of a run along which positions lie, where more than one has the sequence's length.

    Positions carry ranks of their own in this run: along such an axis the intervals take many values, along one of
    features few.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.found: list[list[list[Along]]] = []
        self.outputs: list[int] = []

    def add(self, operation: Operation, before: Iterable[int], shadows: Sequence[Shadow], carries: bool) -> int:
        """See `Flow.add`."""
        self.found.append([[p for p in _candidates(s.shape, self.n) if self._varies(s, p)] for s in shadows])
        return len(self.found) - 1

    def _varies(self, shadow: Shadow, along: Along) -> bool:
        if math.prod(shadow.shape) == 0:
            return False
        rest = tuple(a for a in range(len(shadow.shape)) if a not in along)
        profiles = (f(e, axis=rest) for e in (shadow.lo, shadow.hi) for f in (np.min, np.max))
        return any(2 * np.unique(p).size > self.n for p in profiles)


class Flow:
    """The graph of one run in which forbidden positions are marked, and may mark what belongs to closed positions."""

    def __init__(self, closed: np.ndarray, position: int, axes: Sequence[Sequence[Sequence[Along]]] = ()) -> None:
        self.closed, self.position, self.n, self.axes = closed, position, len(closed), axes
        self.operations: list[Operation] = []
        self.before: list[list[int]] = []
        self.marked: list[bool] = []
        self.free: list[float] = []
        self.carries: list[bool] = []
        self.outputs: list[int] = []

    def add(self, operation: Operation, before: Iterable[int], shadows: Sequence[Shadow], carries: bool) -> int:
        """A new operation, the nodes that it reads, the shadows of what it wrote, and whether it only carries."""
        self.operations.append(operation)
        self.before.append(sorted(b for b in before if b >= 0))
        known = next(iter(self.axes[len(self.marked) :]), [()] * len(shadows))
        self.marked.append(any(self._is_marked(s, axes) for s, axes in zip(shadows, known, strict=False)))
        self.free.append(min((_free(s) for s in shadows), default=1.0))
        self.carries.append(carries)
        return len(self.operations) - 1

    def _is_marked(self, shadow: Shadow, axes: Sequence[Along]) -> bool:
        """Whether a marked element lies where the output position may look; positions lie along `axes` where known.

        On an axis of the sequence's own length (or two that make it up) an element belongs to its coordinate. On others
        (padded, in blocks) the future is still apart as long as some axis has its share of unmarked slices.
        """
        if math.prod(shadow.shape) == 0 or not (shadow.hi >= 0).any():
            return False
        marked = (shadow.hi >= 0) & (shadow.lo <= shadow.hi)
        own = self._own(shadow.shape, axes)
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

    def _own(self, shape: tuple[int, ...], known: Sequence[Along]) -> np.ndarray | None:
        """Elements that belong to a closed position by one of their own coordinates; None without such an axis."""
        candidates = _candidates(shape, self.n)
        own: np.ndarray | None = None
        for along in [p for p in candidates if p in known] or candidates:
            mine = self.closed.reshape([size if axis in along else 1 for axis, size in enumerate(shape)])
            own = mine if own is None else own | mine
        return own

    def chain(self, output: int) -> Chain:
        """The chain from the operation where marked positions enter, forward to the output."""
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
        paths = [self._from_entry(node, after) for node in sorted(entries)]
        return Chain(
            self.position,
            self.operations[paths[0][0]],
            tuple(self.operations[k] for k in paths[0]),
            tuple(dict.fromkeys(self.operations[path[0]] for path in paths)),
        )

    def _from_entry(self, node: int, after: Mapping[int, int]) -> list[int]:
        """The path to the output from the operation that mixes marked positions in.

        The first one with marks where the output may look is mostly it. One that only moves elements (a flip, a roll)
        may be followed by one that mixes them (a sum): it is the first after which fewer positions are free of marks.
        If that one adds what stands at the same place, the elements were moved there to be added: the move counts.
        """
        path = [node]
        while after[path[-1]] != -1:
            path.append(after[path[-1]])
        if self.carries[node]:
            steps = zip(path[1:], path, strict=False)
            mixing = next((k for k, last in steps if self.free[k] < self.free[last]), node)
            path = path[path.index(node if self.carries[mixing] else mixing) :]
        return path


Graph = Axes | Flow  # what a run fills, operation by operation


def _candidates(shape: tuple[int, ...], n: int) -> list[Along]:
    """Axes of length n, and neighbours that make it up."""
    pairs = [(a, a + 1) for a in range(len(shape) - 1) if 1 < shape[a] < n and shape[a] * shape[a + 1] == n]
    return [*((a,) for a, size in enumerate(shape) if size == n), *pairs]


def _free(shadow: Shadow) -> float:
    """The share of slices without a mark, along the axis that has the most of them."""
    marked = (shadow.hi >= 0) & (shadow.lo <= shadow.hi)
    axes = [a for a, size in enumerate(shadow.shape) if size > 1 and marked.shape[a] > 1]
    shares = (float((~marked.any(tuple(b for b in range(marked.ndim) if b != a))).mean()) for a in axes)
    return max(shares, default=0.0 if marked.any() else 1.0)
