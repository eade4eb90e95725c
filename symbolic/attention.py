"""Full and compressed attention as exact expressions, and the article's example (THEORY, "Notation")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Matrix, Rational

from .field import normal
from .rank import as_matrix
from .softmax import row_softmax

if TYPE_CHECKING:
    from ..aliases import MatrixLike

Visible = Sequence[Sequence[bool]] | None


def _checked(name: str, matrix: MatrixLike, rows: int | None = None, columns: int | None = None) -> Matrix:
    m = as_matrix(matrix)
    if (rows is not None and m.rows != rows) or (columns is not None and m.cols != columns):
        want = f"({rows if rows is not None else '·'}, {columns if columns is not None else '·'})"
        raise ValueError(f"{name} has shape {m.shape}; it must have shape {want}")
    return m


def scores(queries: MatrixLike, keys: MatrixLike, scale: Any = None) -> Matrix:
    """Q Kᵀ / √d for queries (m, d) and keys (k, d). `scale` replaces √d, e.g. by a symbol for it.

    √d itself must be rational for the result to be decidable: d = 1, 4, 9, … or a `scale`.

    >>> scores([[1]], [[1], [2]])
    Matrix([[1, 2]])
    """
    q = _checked("Q", queries)
    k = _checked("K", keys, columns=q.cols)
    return q * k.T / (sympy.sqrt(q.cols) if scale is None else scale)


def full_weights(queries: MatrixLike, keys: MatrixLike, scale: Any = None) -> Matrix:
    """A = softmax(Q Kᵀ/√d), shape (n, n): who mixes whom in full attention."""
    return row_softmax(scores(queries, keys, scale))


def full_attention(queries: MatrixLike, keys: MatrixLike, values: MatrixLike, scale: Any = None) -> Matrix:
    """Y = A V, shape (n, d_v).

    >>> full_attention([[0]], [[1], [2]], [[10], [20]])
    Matrix([[15]])
    """
    k = _checked("K", keys)
    return (full_weights(queries, k, scale) * _checked("V", values, rows=k.rows)).applyfunc(sympy.together)


def slot_weights(
    queries: MatrixLike, keys: MatrixLike, e: MatrixLike, *, visible: Visible = None, scale: Any = None
) -> Matrix:
    """B = softmax(Q (E K)ᵀ/√d + bias), shape (n, r); `visible` (n, r) says which slots a query sees (None: all)."""
    k = _checked("K", keys)
    return row_softmax(scores(queries, _checked("E", e, columns=k.rows) * k, scale), visible)


def compressed_attention(
    queries: MatrixLike,
    keys: MatrixLike,
    values: MatrixLike,
    e: MatrixLike,
    f: MatrixLike = None,
    *,
    visible: Visible = None,
    scale: Any = None,
) -> Matrix:
    """Ȳ = B F V, shape (n, d_v), for projections E, F of shape (r, n); F = E when `f` is None.

    >>> compressed_attention([[0]], [[1], [2]], [[10], [20]], [[Rational(1, 2), Rational(1, 2)]])
    Matrix([[15]])
    """
    k = _checked("K", keys)
    f_matrix = _checked("F", e if f is None else f, columns=k.rows)
    b = slot_weights(queries, k, e, visible=visible, scale=scale)
    return (b * (f_matrix * _checked("V", values, rows=k.rows))).applyfunc(sympy.together)


def mixing(
    queries: MatrixLike,
    keys: MatrixLike,
    e: MatrixLike,
    f: MatrixLike = None,
    *,
    visible: Visible = None,
    scale: Any = None,
) -> Matrix:
    """BF, shape (n, n): the effective position mixing of compressed attention."""
    b = slot_weights(queries, keys, e, visible=visible, scale=scale)
    return b * _checked("F", e if f is None else f)


@dataclass(frozen=True)
class Example:
    """One query against keys and values that are compressed by E and F: what T1 calculates.

    >>> article_example().output_full
    10*(1 + 2*E + 3*exp(2))/(1 + E + exp(2))
    """

    query: Matrix
    keys: Matrix
    values: Matrix
    e: Matrix
    f: Matrix

    @property
    def compressed_keys(self) -> Matrix:
        """E K, shape (r, d)."""
        return self.e * self.keys

    @property
    def compressed_values(self) -> Matrix:
        """F V, shape (r, d_v)."""
        return self.f * self.values

    @property
    def weights_full(self) -> Matrix:
        """The query's full attention weights, shape (1, n)."""
        return full_weights(self.query, self.keys)

    @property
    def weights_compressed(self) -> Matrix:
        """The query's weights over the slots, shape (1, r)."""
        return slot_weights(self.query, self.keys, self.e)

    @property
    def output_full(self) -> Expr:
        """y, the first value coordinate."""
        return full_attention(self.query, self.keys, self.values)[0, 0]

    @property
    def output_compressed(self) -> Expr:
        """ȳ, the first value coordinate."""
        return compressed_attention(self.query, self.keys, self.values, self.e, self.f)[0, 0]

    @property
    def error(self) -> Expr:
        """ȳ − y as one reduced fraction."""
        return normal(self.output_compressed - self.output_full)


def article_projection() -> Matrix:
    """E = F of the article: slot 0 averages positions 0 and 1, slot 1 keeps position 2."""
    half = Rational(1, 2)
    return Matrix([[half, half, 0], [0, 0, 1]])


def article_example() -> Example:
    """The article's worked example: q = 1, d = 1, K = (1, 2, 3)ᵀ, V = (10, 20, 30)ᵀ."""
    e = article_projection()
    return Example(Matrix([[1]]), Matrix([1, 2, 3]), Matrix([10, 20, 30]), e, e)
