"""Full and compressed attention on any array library, without an n × n array."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import array_api_compat as compat
import numpy as np

from . import blocks
from .arrays import LEAST_ROWS, read, rows_per_block
from .arrays import blocks as slices
from .range import refuse_overflow

if TYPE_CHECKING:
    from ..aliases import ArrayLike

SHAPES = {"Q": "m d", "K": "n d", "V": "n v", "E": "r n", "F": "r n", "bias": "m r"}


def softmax(scores: ArrayLike) -> ArrayLike:
    """Softmax along the last axis; a row that is −∞ throughout gives 0, not NaN.

    Works under `jax.jit`. Entries are not checked.

    >>> import numpy as np
    >>> softmax(np.array([[0.0, 0.0], [-np.inf, -np.inf]])).tolist()
    [[0.5, 0.5], [0.0, 0.0]]
    """
    xp = compat.array_namespace(scores)
    top = xp.max(scores, axis=-1, keepdims=True)
    with np.errstate(over="ignore"):  # a score that lies a whole range of floats below the largest has weight 0
        weights = xp.exp(scores - xp.where(xp.isfinite(top), top, xp.zeros_like(top)))
    total = xp.sum(weights, axis=-1, keepdims=True)
    return weights / xp.where(total == 0, xp.ones_like(total), total)


def scores(Q: ArrayLike, K: ArrayLike) -> ArrayLike:
    """The scaled scores `Q Kᵀ / √d`, shapes (…, m, d) and (…, n, d) to (…, m, n). Entries are not checked, the scores
    are: ValueError where one overflows.

    >>> import numpy as np
    >>> scores(np.ones((1, 4)), np.ones((2, 4))).tolist()
    [[2.0, 2.0]]
    """
    xp = compat.array_namespace(Q, K)
    with np.errstate(over="ignore", invalid="ignore"):
        found = xp.matmul(Q * (1 / math.sqrt(Q.shape[-1])), xp.matrix_transpose(K))
    refuse_overflow([found], "a score q · k / √d", "scale the queries, the keys or the projection of the keys down")
    return found


def slot_weights(Q: ArrayLike, K: ArrayLike, E: ArrayLike, bias: ArrayLike = None) -> ArrayLike:
    """`B = softmax(Q (E K)ᵀ/√d + bias)`: how much each query weighs each slot, rows summing to 1.

    Shapes (…, m, d), (…, n, d), (…, r, n), bias (…, m, r) with −∞ where a slot is hidden; result (…, m, r). A query
    that sees no slot has the row 0. Peak memory: the inputs and three times the result. Dask arrays may be chunked
    along positions; under `jax.jit` the check for finite entries is off. Raises as `arrays.read` does.

    >>> import numpy as np
    >>> half = np.array([[0.5, 0.5, 0], [0, 0, 1]])
    >>> slot_weights(np.ones((1, 1)), np.array([[1.0], [2], [3]]), half).round(4).tolist()
    [[0.1824, 0.8176]]
    """
    _, (Q, K, E, bias) = read(SHAPES, Q=Q, K=K, E=E, bias=bias, open_below=("bias",))
    return weights_of_read(Q, K, E, bias)


def weights_of_read(Q: ArrayLike, K: ArrayLike, E: ArrayLike, bias: ArrayLike) -> ArrayLike:
    """`slot_weights` of arrays that `arrays.read` has already read and made to agree."""
    xp = compat.array_namespace(Q)
    with np.errstate(over="ignore", invalid="ignore"):
        keys = xp.matmul(E, K)
    s = scores(Q, keys)
    return softmax(s if bias is None else s + bias)


def compressed_attention(
    Q: ArrayLike, K: ArrayLike, V: ArrayLike, E: ArrayLike, F: ArrayLike, bias: ArrayLike = None
) -> ArrayLike:
    """Compressed attention `Ȳ = softmax(Q (E K)ᵀ/√d + bias) (F V)` (article, "Compress positions, not features").

    Shapes (…, m, d), (…, n, d), (…, n, d_v), (…, r, n) twice, bias (…, m, r); result (…, m, d_v). A query that sees
    no slot has output 0. Peak memory O((m + n) r) beside the inputs. Dask, jit and errors as in `slot_weights`.

    >>> import numpy as np
    >>> half = np.array([[0.5, 0.5, 0], [0, 0, 1]])
    >>> K = np.array([[1.0], [2], [3]])
    >>> float(compressed_attention(np.ones((1, 1)), K, 10 * K, half, half)[0, 0].round(4))
    27.2636
    """
    _, (Q, K, V, E, F, bias) = read(SHAPES, Q=Q, K=K, V=V, E=E, F=F, bias=bias, open_below=("bias",))
    return mixed(weights_of_read(Q, K, E, bias), F, V)


def mixed(weights: ArrayLike, F: ArrayLike, V: ArrayLike) -> ArrayLike:
    """B F V; ValueError where it overflows."""
    xp = compat.array_namespace(weights, F, V)
    with np.errstate(over="ignore", invalid="ignore"):
        found = xp.matmul(weights, xp.matmul(F, V))
    refuse_overflow([found], "an output of B F V", "scale the values or their projection down")
    return found


def full_attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike) -> ArrayLike:
    """Full attention `Y = softmax(Q Kᵀ/√d) V`, a block of queries at a time: the m × n weights are never stored.

    Shapes (…, m, d), (…, n, d), (…, n, d_v); result (…, m, d_v). Peak memory: inputs, result and about four blocks of
    16 MiB or 64 rows of weights, whichever is more. On Dask each chunk of queries is a task that holds K
    and V whole. Under `jax.jit` the check for finite entries is off and the loop over blocks is unrolled. Raises as
    `arrays.read` does.

    >>> import numpy as np
    >>> K = np.array([[1.0], [2], [3]])
    >>> float(full_attention(np.ones((1, 1)), K, 10 * K)[0, 0].round(4))
    25.7521
    """
    _, (Q, K, V) = read(SHAPES, Q=Q, K=K, V=V)
    return map_queries(_attend, Q, (K, V), V.shape[-1])


def _attend(Q: ArrayLike, K: ArrayLike, V: ArrayLike) -> ArrayLike:
    xp = compat.array_namespace(Q, K, V)
    parts = [xp.matmul(weights, V) for _, weights in weight_blocks(Q, K)]
    return parts[0] if len(parts) == 1 else xp.concat(parts, axis=-2)


def map_queries(function: Any, Q: ArrayLike, others: tuple[Any, ...], width: int) -> ArrayLike:
    """`function(Q, *others)` of shape (…, m, width), chunk of queries by chunk where Q is a Dask array."""
    lead = broadcast_lead(Q, *others)
    if not any(blocks.is_lazy(x) for x in (Q, *others)):
        return function(Q, *others)
    gathered = [blocks.whole(x) for x in others]
    parts = [blocks.call(function, q, *gathered) for q in blocks.split(Q, -2)]
    shapes = [(*lead, size, width) for size in blocks.lengths(Q, -2)]
    return blocks.join(parts, -2, shapes, Q.dtype, Q)


def weight_blocks(Q: ArrayLike, K: ArrayLike) -> Iterator[tuple[slice, ArrayLike]]:
    """Pairs (slice of queries, their rows of `softmax(Q Kᵀ/√d)`), a block at a time."""
    lead = broadcast_lead(Q, K)
    step = rows_per_block(Q, K.shape[-2] * max(1, math.prod(lead) // max(1, math.prod(Q.shape[:-2]))))
    for rows in slices(Q.shape[-2], max(step, LEAST_ROWS)):
        yield rows, softmax(scores(Q[..., rows, :], K))


def broadcast_lead(*arrays: ArrayLike) -> tuple[int, ...]:
    """The common leading axes (all but the last two) of arrays whose leading axes broadcast.

    >>> import numpy as np
    >>> broadcast_lead(np.ones((2, 1, 3, 4)), np.ones((5, 3, 4)))
    (2, 5)
    """
    leads = [x.shape[:-2] for x in arrays]
    depth = max(map(len, leads))
    padded = [(1,) * (depth - len(lead)) + tuple(lead) for lead in leads]
    return tuple(max(sizes) for sizes in zip(*padded, strict=True))
