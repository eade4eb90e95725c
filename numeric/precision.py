"""Any number of digits: attention and singular values in mpmath, each call in a context of its own.

mpmath's global `mp.dps` is never read or set, so two threads at different precisions do not disturb each other. These
are plain roundings at many digits, for looking; `balls` encloses, for proving.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .exact import exact_rows

if TYPE_CHECKING:
    from ..aliases import ArrayLike


def context(digits: int | None = None, *, bits: int | None = None) -> Any:
    """A fresh mpmath context with `digits` decimal digits, or `bits` bits.

    Raises ValueError unless one of them is given and positive.

    >>> context(30).mpf(2) ** 0.5
    mpf('1.41421356237309504880168872420977')
    """
    import mpmath

    wanted = digits if digits is not None else bits
    if wanted is None or isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
        raise ValueError(f"digits = {digits!r} is no precision; pass a whole number of at least 1")
    own = mpmath.MPContext()
    if digits is not None:
        own.dps = digits
    else:
        own.prec = bits
    return own


def matrix(mp: Any, M: ArrayLike, name: str = "M") -> Any:
    """The matrix in a context: each exact entry rounded once.

    >>> matrix(context(20), [[0.5]])[0, 0]
    mpf('0.5')
    """
    return mp.matrix([[mp.mpf(int(x.p)) / int(x.q) for x in row] for row in exact_rows(M, name)])


def softmax(mp: Any, scores: ArrayLike) -> Any:
    """Row-wise softmax of a context's matrix.

    >>> mp = context(20)
    >>> softmax(mp, mp.matrix([[0, 0]]))[0, 0]
    mpf('0.5')
    """
    weights = mp.matrix(scores.rows, scores.cols)
    for i in range(scores.rows):
        top = max(scores[i, j] for j in range(scores.cols))
        row = [mp.exp(scores[i, j] - top) for j in range(scores.cols)]
        total = mp.fsum(row)
        for j, w in enumerate(row):
            weights[i, j] = w / total
    return weights


def attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike, digits: int) -> Any:
    """Full attention `softmax(Q Kᵀ/√d) V` at `digits` digits; shapes (m, d), (n, d), (n, d_v) to (m, d_v).

    >>> y = attention([[1]], [[1], [2], [3]], [[10], [20], [30]], 30)[0, 0]
    >>> str(y)
    '25.7521038260444143153099617869'
    """
    mp = context(digits + 10)
    q, k, v = (matrix(mp, M, name) for M, name in zip((Q, K, V), "QKV", strict=True))
    return _at(digits, softmax(mp, q * k.T / mp.sqrt(q.cols)) * v)


def compressed(Q: ArrayLike, K: ArrayLike, V: ArrayLike, E: ArrayLike, F: ArrayLike, digits: int) -> Any:
    """Compressed attention `softmax(Q (E K)ᵀ/√d) (F V)` at `digits` digits; E and F of shape (r, n), slots first.

    >>> half = [[0.5, 0.5, 0], [0, 0, 1]]
    >>> str(compressed([[1]], [[1], [2], [3]], [[10], [20], [30]], half, half, 20)[0, 0])
    '27.263617142904654894'
    """
    mp = context(digits + 10)
    q, k, v, e, f = (matrix(mp, M, name) for M, name in zip((Q, K, V, E, F), "QKVEF", strict=True))
    return _at(digits, softmax(mp, q * (e * k).T / mp.sqrt(q.cols)) * (f * v))


def singular_values(M: ArrayLike, digits: int) -> list[Any]:
    """The singular values, largest first, at `digits` digits.

    >>> [str(s) for s in singular_values([[0, 2], [1, 0]], 20)]
    ['2.0', '1.0']
    """
    mp = context(digits + 10)
    return list(_at(digits, mp.svd_r(matrix(mp, M), compute_uv=False)))


def determinant(M: ArrayLike, digits: int) -> Any:
    """The determinant of a square matrix at `digits` digits of working precision.

    >>> str(determinant([[1, 2], [3, 4]], 20))
    '-2.0'
    """
    mp = context(digits + 10)
    return context(digits).mpf(mp.det(matrix(mp, M)))


def bits_for(digits: int) -> int:
    """Bits that hold `digits` decimal digits.

    >>> bits_for(10)
    34
    """
    return math.ceil(digits * math.log2(10))


def _at(digits: int, X: ArrayLike) -> Any:
    """The matrix rounded to `digits` digits, in a context that a caller can compute on with."""
    out = context(digits)
    return out.matrix([[+out.mpf(X[i, j]) for j in range(X.cols)] for i in range(X.rows)])
