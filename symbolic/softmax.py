"""Softmax exactly: rows of exponentials, the Vandermonde law (T5), Jensen's gap (T2), how steep a weight is (T12)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Matrix

from .rank import as_matrix

if TYPE_CHECKING:
    from ..aliases import MatrixLike


def row_softmax(logits: MatrixLike, visible: Sequence[Sequence[bool]] | None = None) -> Matrix:
    """Row-wise softmax of an (m, k) matrix of logits; entries that are not visible weigh 0 and do not count in the sum.

    Raises ValueError for a row that sees nothing: its softmax would be over nothing.

    >>> row_softmax([[0, 0]])
    Matrix([[1/2, 1/2]])
    """
    m = as_matrix(logits)
    rows = []
    for i in range(m.rows):
        powers = [sympy.exp(m[i, j]) if visible is None or visible[i][j] else sympy.S.Zero for j in range(m.cols)]
        total = sympy.Add(*powers)
        if total == 0:
            raise ValueError(
                f"row {i} sees no slot, so its softmax is over nothing; leave the query out or show it a slot"
            )
        rows.append([p / total for p in powers])
    return Matrix(m.rows, m.cols, [entry for row in rows for entry in row])


def rank_one_logits(x: Sequence[Any], y: Sequence[Any] | None = None) -> Matrix:
    """x yᵀ, of rank at most one; `y` defaults to 0, 1, …, n − 1.

    >>> rank_one_logits([0, 1])
    Matrix([
    [0, 0],
    [0, 1]])
    """
    columns = list(range(len(x))) if y is None else list(y)
    return Matrix(len(x), len(columns), lambda i, j: x[i] * columns[j])


def power_softmax(z: Sequence[Any]) -> Matrix:
    """softmax(x yᵀ) with y = (0, …, n−1), written in z_i = e^{x_i}: entry (i, j) is z_i^j / Σ_k z_i^k."""
    n = len(z)
    return Matrix(n, n, lambda i, j: z[i] ** j / sympy.Add(*(z[i] ** k for k in range(n))))


def vandermonde(z: Sequence[Any]) -> Expr:
    """∏_{i<k} (z_k − z_i).

    >>> vandermonde([2, 3, 5])
    6
    """
    return sympy.Mul(*(z[k] - z[i] for i, k in combinations(range(len(z)), 2)))


def determinant_law(z: Sequence[Any]) -> Expr:
    """det softmax(x yᵀ) for y = (0, …, n−1) and z_i = e^{x_i}: ∏_{i<k}(z_k − z_i) / ∏_i Σ_j z_i^j (T5).

    >>> determinant_law([1, sympy.E])
    (-1 + E)/(2 + 2*E)
    """
    sums = [sympy.Add(*(sympy.S(entry) ** j for j in range(len(z)))) for entry in z]
    return vandermonde(z) / sympy.Mul(*sums)


def uniform_slot_share(x: Sequence[Any]) -> Expr:
    """Mass of a slot that averages the scores x uniformly, over the mass that they carry in full attention (T2).

    exp(mean x) / Σ exp(x_j), at most 1/m.

    >>> uniform_slot_share([0, 0])
    1/2
    """
    return sympy.exp(sympy.Add(*x) / len(x)) / sympy.Add(*(sympy.exp(v) for v in x))


def two_slot_step(x: Any, h: Any) -> Expr:
    """How far the weight 1/(1 + e^{−u}) of one of two slots moves when its score moves from x − h/2 to x + h/2."""

    def weight(u: Any) -> Expr:
        return 1 / (1 + sympy.exp(-u))

    return weight(x + h / 2) - weight(x - h / 2)
