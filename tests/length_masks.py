"""Rules over a query's and a key's place, the same in JAX and PyTorch."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Mask = Callable[[Any, Any], Any]


def masks(rng: random.Random, b: int, logical_not: Callable[[Any], Any]) -> tuple[int, list[Mask]]:
    """How far the mask's edge is moved, and rules of this edge, of a window and of blocks of b."""
    c, w = rng.choice([-1, 0, 0, 0, 1, 2]), rng.choice([2, 3, 5])
    return c, [
        lambda i, j: j <= i + c,
        lambda i, j: (j <= i + c) & (j > i - w),
        lambda i, j: j // b <= i // b,
        lambda i, j: (j // b < i // b) | (j == i),
        lambda i, j: j // b < i // b,
        lambda i, j: (j <= i) & ((i - j) % w == 0),
        lambda i, j: ((j <= i) & (j >= i - i % b)) | (j == 0),
        lambda i, j: (j + 1) * b <= i,
        lambda i, j: logical_not(j > i),
        lambda i, j: 2 * j <= i,
    ]
