"""The best rank-r approximation of full attention against what a projection achieves (T6), without the m × n matrix.

Attention A = softmax(Q Kᵀ/√d) is formed a block of queries at a time, used, and dropped; each pass over it costs
O(m n (d + k)). What a pass works on is `A − L R` with a thin L (m, l) and R (l, n): nothing subtracted, the mean row
(which centres A), or `B F`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import array_api_compat as compat
import numpy as np

from . import blocks
from .arrays import like, read
from .attention import SHAPES, broadcast_lead, weights_of_read
from .passes import add, adjoint, apply, beside, column_sums, gram
from .range import refuse_overflow
from .spectrum import norm

if TYPE_CHECKING:
    from ..aliases import ArrayLike

PROBES = 10
SPREAD = 10 * math.sqrt(2 / math.pi)  # Halko, Martinsson, Tropp 2011, Lemma 4.1: fails with probability 10^−PROBES


class Truncation(NamedTuple):
    """Brackets of the least error of a rank-r approximation, each of shape (…), up to rounding.

    `frobenius_lower ≤ (Σ_{i>r} σ_i²)^{1/2} ≤ frobenius`, the latter the error of the approximation found;
    `spectral_lower ≤ σ_{r+1} ≤ spectral`; `values` (…, k) are lower bounds on the first k singular values. Only
    `spectral` depends on chance: it fails with probability at most 1e-10 over the draw.
    """

    frobenius: ArrayLike
    frobenius_lower: ArrayLike
    spectral: ArrayLike
    spectral_lower: ArrayLike
    values: ArrayLike


def truncation_error(
    Q: ArrayLike,
    K: ArrayLike,
    r: int,
    *,
    oversample: int = 16,
    passes: int = 1,
    iterations: int = 3,
    centred: bool = False,
    seed: int = 0,
) -> Truncation:
    """The least possible error of a rank-r approximation of `A = softmax(Q Kᵀ/√d)` (Eckart–Young–Mirsky, T6).

    A randomised range finder with k = r + `oversample` columns and `passes` power iterations finds an approximation
    A_r. A-posteriori: its error is measured, in the Frobenius norm directly and in the spectral norm as in
    `projection_error`, and bounds the optimum from above; the singular values of A on the range found bound those of
    A, so the optimum, from below. With `centred` all this is of `(I − 11ᵀ/m) A`, whose optimum at rank r − 1 bounds
    every softmax head with r slots (T6, sharper).

    Shapes (…, m, d), (…, n, d), 0 ≤ r ≤ min(m, n). `passes` + `iterations` + 2 passes over A, O((m + n)(d + k))
    memory and about six blocks of 16 MiB. On Dask each chunk of queries is a task that holds K
    whole. Under `jax.jit` the check for finite entries is off. Raises as `arrays.read` does, and ValueError or
    TypeError for r out of range.

    >>> import numpy as np
    >>> Q = np.array([[1.0], [2], [3]])
    >>> t = truncation_error(Q, Q, 2)
    >>> bool(0 < t.frobenius_lower <= t.frobenius + 1e-12 < 0.02)
    True
    """
    xp, (Q, K) = read(SHAPES, Q=Q, K=K)
    m, n = Q.shape[-2], K.shape[-2]
    _whole("r", r, 0, min(m, n), "min(m, n)")
    _steps(oversample, passes, iterations)
    return _truncation(xp, Q, K, r, min(r + oversample, m, n), passes, iterations, centred, seed)


def _truncation(
    xp: Any, Q: ArrayLike, K: ArrayLike, r: int, k: int, passes: int, iterations: int, centred: bool, seed: int
) -> Truncation:
    m, n = Q.shape[-2], K.shape[-2]
    lead = broadcast_lead(Q, K)
    chunks = blocks.split(Q, -2)
    cuts = [0, *accumulate(blocks.lengths(Q, -2))]
    keys = _gathered(K, blocks.is_lazy(Q) or blocks.is_lazy(K))
    row: ArrayLike = None
    if centred:
        row = blocks.call(partial(_mean, m), blocks.merge(add, [blocks.call(column_sums, q, keys) for q in chunks]))
    X: ArrayLike = blocks.call(_values_like, np.random.default_rng(seed).standard_normal((n, k)), keys)
    for _ in range(passes):
        X = blocks.call(_orthonormal, blocks.merge(add, [blocks.call(gram, q, None, keys, row, X) for q in chunks]))
    basis = blocks.call(_range, [blocks.call(apply, q, None, keys, row, X) for q in chunks])
    pieces = [blocks.call(_rows, basis, a, b) for a, b in pairwise(cuts)]
    image = blocks.merge(
        add, [blocks.call(adjoint, q, None, keys, row, y) for q, y in zip(chunks, pieces, strict=True)]
    )
    found = blocks.call(partial(_best, r), basis, image, row)
    pieces = [blocks.call(_left_rows, found, a, b) for a, b in pairwise(cuts)]
    state = _power(chunks, pieces, keys, blocks.call(_right, found), iterations, seed + 1)
    task = blocks.call(partial(_bracket, r, iterations), found, state)
    shapes = (lead, lead, lead, lead, (*lead, k))
    return Truncation(*(blocks.array(task[i], shape, Q.dtype, Q) for i, shape in enumerate(shapes)))


class ProjectionError(NamedTuple):
    """`‖A − B F‖` of shape (…): `frobenius`, and `spectral ≤ ‖·‖₂ ≤ spectral_upper`.

    `spectral` is a Rayleigh quotient, a lower bound whatever the random draw; `spectral_upper` fails with probability
    at most 1e-10 over the draw.
    """

    frobenius: ArrayLike
    spectral: ArrayLike
    spectral_upper: ArrayLike


def projection_error(
    Q: ArrayLike,
    K: ArrayLike,
    E: ArrayLike,
    F: ArrayLike,
    bias: ArrayLike = None,
    *,
    iterations: int = 6,
    seed: int = 0,
) -> ProjectionError:
    """What the compressed head achieves as an approximation of full attention, `‖A − B F‖` (T6).

    The Frobenius norm block by block; the spectral norm by `iterations` steps of a block power iteration with 10
    Gaussian columns. From `‖H^q‖ ≤ 10 √(2/π) max_i ‖H^q ω_i‖` (Halko, Martinsson, Tropp 2011, Lemma 4.1) with H the
    Gram operator and q steps, the upper bound exceeds the largest column growth by the factor (10 √(2/π))^{1/(2q)} at
    most.

    Shapes (…, m, d), (…, n, d), (…, r, n) twice, bias (…, m, r). `iterations` passes over A; memory O((m + n)(d + r))
    and about six blocks of 16 MiB. Dask, jit and errors as in `truncation_error`.

    >>> import numpy as np
    >>> Q, half = np.array([[1.0], [2], [3]]), np.array([[0.5, 0.5, 0], [0, 0, 1]])
    >>> float(projection_error(Q, Q, half, half).frobenius.round(4))
    0.2573
    """
    _, (Q, K, E, F, bias) = read(SHAPES, Q=Q, K=K, E=E, F=F, bias=bias, open_below=("bias",))
    _whole("iterations", iterations, 1, None)
    return _projection(Q, K, weights_of_read(Q, K, E, bias), F, iterations, seed)


def _projection(Q: ArrayLike, K: ArrayLike, B: ArrayLike, F: ArrayLike, iterations: int, seed: int) -> ProjectionError:
    lead = broadcast_lead(Q, K, B, F)
    lazy = any(blocks.is_lazy(x) for x in (Q, K, B, F))
    if lazy:
        B = B.rechunk({B.ndim - 2: Q.chunks[-2]})
    keys, mix = _gathered(K, lazy), _gathered(F, lazy)
    state = _power(blocks.split(Q, -2), blocks.split(B, -2), keys, mix, iterations, seed)
    task = blocks.call(partial(_spectral, iterations), state)
    return ProjectionError(*(blocks.array(task[i], lead, Q.dtype, Q) for i in range(3)))


def _power(chunks: list[Any], lefts: list[Any], keys: ArrayLike, right: ArrayLike, iterations: int, seed: int) -> Any:
    """State of the block power iteration on `A − L R` after `iterations` passes."""
    state = blocks.call(partial(_begin, seed), keys, right)
    for step in range(iterations):
        X = blocks.call(_basis, state)
        parts = [blocks.call(gram, q, b, keys, right, X, step == 0) for q, b in zip(chunks, lefts, strict=True)]
        state = blocks.call(_advance, state, blocks.merge(add, parts))
    return state


def _gathered(x: ArrayLike, lazy: bool) -> ArrayLike:
    return blocks.whole(x) if lazy else x


class Gap(NamedTuple):
    """T6 for one head, each of shape (…): what is achieved, the optima, and by what factor it misses them.

    `frobenius`, `spectral`: achieved, the latter a lower bound. `best_frobenius`, `best_spectral`: upper bounds on
    the optimum over all matrices of rank r (see `Truncation`); `best_head`: likewise over all heads whose weights sum
    to 1, at least as large. The ratios are achieved over optimum, so lower bounds on the true ratios; where an
    optimum is 0 the ratio is infinite, or 1 when the error is 0 too (the approximation is exact).
    """

    frobenius: ArrayLike
    spectral: ArrayLike
    best_frobenius: ArrayLike
    best_spectral: ArrayLike
    best_head: ArrayLike
    ratio_frobenius: ArrayLike
    ratio_spectral: ArrayLike
    ratio_head: ArrayLike


def compression_gap(
    Q: ArrayLike,
    K: ArrayLike,
    E: ArrayLike,
    F: ArrayLike,
    bias: ArrayLike = None,
    *,
    oversample: int = 16,
    passes: int = 1,
    iterations: int = 6,
    seed: int = 0,
) -> Gap:
    """Achieved error, optima and ratios of a compressed head against full attention (T6).

    With a starved query the weights do not sum to 1 and `best_head` is `best_frobenius`. Shapes, memory, Dask, jit and
    errors as in `projection_error` and `truncation_error`.

    >>> import numpy as np
    >>> Q, half = np.array([[1.0], [2], [3]]), np.array([[0.5, 0.5, 0], [0, 0, 1]])
    >>> gap = compression_gap(Q, Q, half, half)
    >>> bool(gap.ratio_frobenius >= gap.ratio_head > 1)
    True
    """
    xp, (Q, K, E, F, bias) = read(SHAPES, Q=Q, K=K, E=E, F=F, bias=bias, open_below=("bias",))
    _steps(oversample, passes, iterations)
    m, n, r = Q.shape[-2], K.shape[-2], E.shape[-2]
    B = weights_of_read(Q, K, E, bias)
    achieved = _projection(Q, K, B, F, iterations, seed)
    rank = min(r, m)
    k = min(rank + oversample, m, n)
    best = _truncation(xp, Q, K, rank, k, passes, iterations, False, seed)
    head = _truncation(xp, Q, K, rank - 1, k, passes, iterations, True, seed).frobenius
    if bias is not None:
        starved = xp.any(xp.sum(B, axis=-1) < 0.5, axis=-1)
        head = xp.where(starved, best.frobenius, head)
    pairs = (
        (achieved.frobenius, best.frobenius),
        (achieved.spectral, best.spectral),
        (achieved.frobenius, head),
    )
    ratios = (_ratio(xp, a, b) for a, b in pairs)
    return Gap(achieved.frobenius, achieved.spectral, best.frobenius, best.spectral, head, *ratios)


def _ratio(xp: Any, achieved: ArrayLike, optimum: ArrayLike) -> ArrayLike:
    one = xp.ones_like(achieved)
    some = optimum > 0
    return xp.where(some, achieved / xp.where(some, optimum, one), xp.where(achieved > 0, one * math.inf, one))


def _steps(oversample: int, passes: int, iterations: int) -> None:
    _whole("oversample", oversample, 1, None)
    _whole("passes", passes, 0, None)
    _whole("iterations", iterations, 1, None)


def _whole(name: str, value: Any, least: int, most: int | None, what: str = "") -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} = {value!r} is no whole number; pass an int")
    if value < least or (most is not None and value > most):
        to = "" if most is None else f" and at most {what} = {most}"
        raise ValueError(f"{name} = {value} is out of range; pass at least {least}{to}")


# -- between the passes -----------------------------------------------------------------------------------------------


def _values_like(values: ArrayLike, x: ArrayLike) -> ArrayLike:
    return like(compat.array_namespace(x), values, x)


def _mean(m: int, sums: tuple[Any, ...]) -> ArrayLike:
    return sums[0] / m


def _orthonormal(image: tuple[Any, ...]) -> ArrayLike:
    return compat.array_namespace(image[0]).linalg.qr(image[0])[0]


def _range(rows: Sequence[Any]) -> ArrayLike:
    xp = compat.array_namespace(rows[0])
    return xp.linalg.qr(beside(xp, rows, -2))[0]


def _rows(X: ArrayLike, start: int, stop: int) -> ArrayLike:
    return X[..., start:stop, :]


def _best(r: int, basis: ArrayLike, image: tuple[Any, ...], row: ArrayLike) -> tuple[Any, Any, Any]:
    """Singular values on the range, and L, R of the rank-r approximation, the mean row included where A is centred."""
    W = image[0]
    xp = compat.array_namespace(W)
    U, values, Vh = xp.linalg.svd(xp.matrix_transpose(W), full_matrices=False)
    kept = _values_like(np.arange(values.shape[-1]) < r, W)
    L, R = xp.matmul(basis, U) * kept, values[..., :, None] * Vh
    if row is not None:
        L = xp.concat([xp.ones_like(L[..., :1]), L], axis=-1)
        R = xp.concat([row, R], axis=-2)
    return values, L, R


def _left_rows(found: tuple[Any, Any, Any], start: int, stop: int) -> ArrayLike:
    return found[1][..., start:stop, :]


def _right(found: tuple[Any, Any, Any]) -> ArrayLike:
    return found[2]


def _bracket(r: int, iterations: int, found: tuple[Any, Any, Any], state: tuple[Any, ...]) -> Truncation:
    values = found[0]
    xp = compat.array_namespace(values)
    error = _spectral(iterations, state)
    following = values[..., r] if r < values.shape[-1] else xp.zeros_like(error.frobenius)
    below = xp.sqrt(xp.sum(values[..., r:] ** 2, axis=-1))
    upper = xp.maximum(error.spectral_upper, following)
    return Truncation(xp.maximum(error.frobenius, below), below, upper, following, values)


def _begin(seed: int, K: ArrayLike, R: ArrayLike) -> tuple[Any, ...]:
    """The state of the power iteration: X, T and scale with `H^j Ω = X T e^scale`, the Ritz value, ‖M‖_F²."""
    n = K.shape[-2]
    xp = compat.array_namespace(K)
    start = _values_like(np.random.default_rng(seed).standard_normal((n, min(n, PROBES))), K)
    X, T = xp.linalg.qr(start)
    zero = xp.zeros_like(K[..., 0, 0]) + xp.zeros_like(R[..., 0, 0])
    return X, T, zero, zero, zero


def _basis(state: tuple[Any, ...]) -> ArrayLike:
    return state[0]


def _advance(state: tuple[Any, ...], image: tuple[Any, ...]) -> tuple[Any, ...]:
    X, T, scale, _, square = state
    refuse_overflow(image, "the square of an entry of A − B F", "scale F down")
    Z = image[0]
    xp = compat.array_namespace(Z)
    small = xp.matmul(xp.matrix_transpose(X), Z)
    ritz = xp.max(xp.linalg.eigvalsh((small + xp.matrix_transpose(small)) / 2), axis=-1)
    Y, R = xp.linalg.qr(Z)
    T = xp.matmul(R, T)
    size = norm(xp, T)
    size = xp.where(size > 0, size, xp.ones_like(size))
    return Y, T / size[..., None, None], scale + xp.log(size), ritz, image[1] if len(image) > 1 else square


def _spectral(steps: int, state: tuple[Any, ...]) -> ProjectionError:
    X, T, scale, ritz, square = state
    xp = compat.array_namespace(T)
    zero = xp.zeros_like(ritz)
    low = xp.sqrt(xp.maximum(ritz, zero))
    frobenius = xp.sqrt(square)
    if X.shape[-1] == X.shape[-2]:  # the block is the whole space, so the Ritz value is the eigenvalue
        return ProjectionError(frobenius, low, low)
    growth = xp.max(xp.sqrt(xp.sum(T * T, axis=-2)), axis=-1)
    safe = xp.where(growth > 0, growth, xp.ones_like(growth))
    high = xp.where(growth > 0, xp.exp((xp.log(safe * SPREAD) + scale) / (2 * steps)), zero)
    return ProjectionError(frobenius, low, xp.maximum(low, xp.minimum(high, frobenius)))
