"""Completed blocks with a local window, one token at a time: what makes the design useful at decision time.

The state is the summaries of the completed blocks, one unfinished block, and the last w tokens: O(r + w) rows however
many tokens have come. The batch form sums in the same order, so that both agree bit for bit in float64.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ArgumentError
from .blocks import at_least

if TYPE_CHECKING:
    from ...aliases import Array, ArrayLike


class IncrementalCompressor:
    """A compressed head whose slots are completed blocks of p positions, with the last w positions uncompressed.

    Query t sees block s once it is complete and no longer inside the window (s·p + p ≤ t + 1 and s·p ≤ t − w), and each
    position i with t − w < i ≤ t: `catalogue.blocks_with_window`, safe and complete for every n. `w` is at least p − 1
    (the default) and at least 1. `weights` (p,) say how a block is summed (None: its mean), for keys and values alike.
    `scale` multiplies scores (None: 1/√d).

    Raises ValueError for parameters that do not fit.

    >>> import numpy as np
    >>> Q, K, V = np.random.default_rng(0).normal(size=(3, 10, 4))
    >>> head = IncrementalCompressor(3)
    >>> streamed = np.stack([head.step(q, k, v) for q, k, v in zip(Q, K, V)])
    >>> bool((streamed == IncrementalCompressor(3).batch(Q, K, V)).all()), head.rows_held
    (True, 6)
    """

    def __init__(
        self, p: int, w: int | None = None, *, weights: ArrayLike | None = None, scale: float | None = None
    ) -> None:
        self.p = at_least("p", p, 1)
        least = max(self.p - 1, 1)
        self.w, self.scale = at_least("w", least if w is None else w, least), scale
        self.weights = np.full(self.p, 1 / self.p) if weights is None else np.asarray(weights, np.float64)
        if self.weights.shape != (self.p,):
            problem = f"has shape {self.weights.shape}"
            raise ArgumentError("weights", problem, f"pass one weight for each of the p = {p} positions")
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next token is position 0."""
        self.t = 0
        self._blocks: list[tuple[Array, Array]] = []
        self._partial: tuple[Array, Array] | None = None
        self._window: deque[tuple[Array, Array]] = deque(maxlen=self.w)

    @property
    def rows_held(self) -> int:
        """How many rows the state holds: ⌊t/p⌋ block summaries, one unfinished block, at most w tokens."""
        return len(self._blocks) + (self._partial is not None) + len(self._window)

    def step(self, q: ArrayLike, k: ArrayLike, v: ArrayLike) -> Array:
        """The output (d_v,) at the next position, from its query (d,), key (d,) and value (d_v,).

        Raises ValueError when a width differs from the tokens before.
        """
        q, k, v = (np.asarray(row, np.float64) for row in (q, k, v))
        if q.ndim != 1 or q.shape != k.shape or v.ndim != 1:
            problem = f"have shapes {q.shape}, {k.shape}, {v.shape}"
            raise ArgumentError("q, k, v", problem, "pass (d,), (d,) and (d_v,)")
        if self._window and (self._window[-1][0].shape, self._window[-1][1].shape) != (k.shape, v.shape):
            before = (self._window[-1][0].shape[0], self._window[-1][1].shape[0])
            problem = f"have widths {k.shape[0]}, {v.shape[0]}, earlier tokens {before[0]}, {before[1]}"
            raise ArgumentError("k and v", problem, "pass rows of the same widths, or reset()")
        weight = self.weights[self.t % self.p]
        part = (weight * k, weight * v)
        self._partial = part if self._partial is None else (self._partial[0] + part[0], self._partial[1] + part[1])
        self._window.append((k, v))
        self.t += 1
        if self.t % self.p == 0:
            self._blocks.append(self._partial)
            self._partial = None
        blocks = self._blocks[: blocks_seen(self.t - 1, self.p, self.w)]
        keys, values = zip(*blocks, *self._window, strict=True)
        return _attend(q, np.stack(keys), np.stack(values), self.scale)

    def batch(self, Q: ArrayLike, K: ArrayLike, V: ArrayLike) -> Array:
        """All outputs (n, d_v) at once from Q, K (n, d) and V (n, d_v); the state is not touched.

        Equal bit for bit to `step` on one row after the other. Raises ValueError for shapes that do not fit.
        """
        Q, K, V = (np.asarray(rows, np.float64) for rows in (Q, K, V))
        if Q.ndim != 2 or Q.shape != K.shape or V.ndim != 2 or len(V) != len(K):
            problem = f"have shapes {Q.shape}, {K.shape}, {V.shape}"
            raise ArgumentError("Q, K, V", problem, "pass (n, d), (n, d) and (n, d_v)")
        n, r = len(K), len(K) // self.p
        block_keys, block_values = self._summaries(K, r), self._summaries(V, r)
        out = np.empty((n, V.shape[1]))
        for t in range(n):
            b, first = blocks_seen(t, self.p, self.w), max(0, t + 1 - self.w)
            keys = np.concatenate([block_keys[:b], K[first : t + 1]])
            values = np.concatenate([block_values[:b], V[first : t + 1]])
            out[t] = _attend(Q[t], keys, values, self.scale)
        return out

    def _summaries(self, rows: Array, r: int) -> Array:
        """The r block summaries, summed position after position, as a stream would."""
        parts = rows[: r * self.p].reshape(r, self.p, rows.shape[1])
        total: Array = self.weights[0] * parts[:, 0]
        for i in range(1, self.p):
            total = total + self.weights[i] * parts[:, i]
        return total


def blocks_seen(t: int, p: int, w: int) -> int:
    """How many blocks query t sees: those whose first position is older than the window and whose last has come.

    >>> [blocks_seen(t, 2, 2) for t in range(6)]
    [0, 0, 1, 1, 2, 2]
    """
    return min((t + 1) // p, (t - w) // p + 1) if t >= w else 0


def _attend(q: Array, keys: Array, values: Array, scale: float | None) -> Array:
    """One softmax head over the rows given; the order of every sum depends on their number alone."""
    factor = 1 / np.sqrt(len(q)) if scale is None else scale
    scores = np.sum(np.ascontiguousarray(keys) * q, axis=1) * factor
    weights = np.exp(scores - scores.max())
    return np.asarray(np.sum(weights[:, None] * np.ascontiguousarray(values), axis=0) / np.sum(weights))


__all__ = ["IncrementalCompressor", "blocks_seen"]
