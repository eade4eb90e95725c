"""One pass over attention, a chunk of queries at a time: products with `M = A − L R`, which is never held whole.

`L` (m, l) and `R` (l, n) are thin: R None stands for nothing subtracted, L None for a column of ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import array_api_compat as compat
import numpy as np

from .attention import weight_blocks

if TYPE_CHECKING:
    from ..aliases import ArrayLike


def deflated(Q: ArrayLike, L: ArrayLike, K: ArrayLike, R: ArrayLike) -> Iterator[tuple[slice, ArrayLike]]:
    """Pairs (slice of queries, their rows of M)."""
    xp = compat.array_namespace(Q, K)
    for rows, weights in weight_blocks(Q, K):
        if R is None:
            yield rows, weights
        elif L is None:
            yield rows, weights - R
        else:
            yield rows, weights - xp.matmul(L[..., rows, :], R)


def gram(Q: ArrayLike, L: ArrayLike, K: ArrayLike, R: ArrayLike, X: ArrayLike, sized: bool = False) -> tuple[Any, ...]:
    """`MᵀM X` over the chunk, and ‖M‖_F² where asked for."""
    xp = compat.array_namespace(Q, K)
    total: tuple[Any, ...] = ()
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused where the parts are together
        for _, block in deflated(Q, L, K, R):
            image = xp.matmul(xp.matrix_transpose(block), xp.matmul(block, X))
            part = (image, xp.sum(block * block, axis=(-2, -1))) if sized else (image,)
            total = add((total, part)) if total else part
    return total


def column_sums(Q: ArrayLike, K: ArrayLike) -> tuple[Any, ...]:
    """`1ᵀ A` over the chunk, as a sum of one part."""
    xp = compat.array_namespace(Q, K)
    return (sum(xp.sum(block, axis=-2, keepdims=True) for _, block in weight_blocks(Q, K)),)


def apply(Q: ArrayLike, L: ArrayLike, K: ArrayLike, R: ArrayLike, X: ArrayLike) -> ArrayLike:
    """`M X` over the chunk."""
    xp = compat.array_namespace(Q, K)
    return beside(xp, [xp.matmul(block, X) for _, block in deflated(Q, L, K, R)], -2)


def adjoint(Q: ArrayLike, L: ArrayLike, K: ArrayLike, R: ArrayLike, Y: ArrayLike) -> tuple[Any, ...]:
    """`Mᵀ Y` over the chunk, and ‖M‖_F²."""
    xp = compat.array_namespace(Q, K)
    total: tuple[Any, ...] = ()
    for rows, block in deflated(Q, L, K, R):
        image = xp.matmul(xp.matrix_transpose(block), Y[..., rows, :])
        part = (image, xp.sum(block * block, axis=(-2, -1)))
        total = add((total, part)) if total else part
    return total


def add(parts: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The parts of several chunks, added place by place."""
    total = parts[0]
    for part in parts[1:]:
        total = tuple(a + b for a, b in zip(total, part, strict=True))
    return total


def beside(xp: Any, parts: Sequence[Any], axis: int) -> ArrayLike:
    """Arrays joined along an axis."""
    return parts[0] if len(parts) == 1 else xp.concat(list(parts), axis=axis)
