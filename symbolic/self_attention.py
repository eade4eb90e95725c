"""One head whose keys and values come from the same positions: what its weights say of the exact criterion (T20).

x_j W_K are the keys, x_j W_V the values, x_t W_Q the query of position t; position j scores x_j M x_tᵀ, M = W_K W_Qᵀ.
Everything is for small matrices with rational entries, as in `prefix`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import sympy
from sympy import Matrix

from .rank import as_matrix
from .several_heads import Layer, LayerHead

if TYPE_CHECKING:
    from ..aliases import MatrixLike
    from .prefix import Head


class Case(Enum):
    """What the weights leave of T11, from a position that scores itself to values that are all 0."""

    EXACT = "x M xᵀ is not 0 for every x: T11 exactly"
    ANTISYMMETRIC = "x M xᵀ = 0 for every x, M ≠ 0: T11 with column t of E set to 0"
    BLIND = "M = 0, so that all scores are 0: the sums of F over the visible slots, by forbidden position"
    NOTHING = "W_V = 0: nothing is carried, so nothing leaks"


def case_of(query: MatrixLike, key: MatrixLike, value: MatrixLike) -> Case:
    """The case of T20 for weights W_Q, W_K (m, d) and W_V (m, d_v) without biases, decided exactly.

    Raises ValueError when the shapes do not fit or an entry is not rational.

    >>> case_of([[0, 1], [-1, 0]], [[1, 0], [0, 1]], [[1], [0]]).name
    'ANTISYMMETRIC'
    """
    w_q, w_k, w_v = map(as_matrix, (query, key, value))
    if w_q.shape != w_k.shape or w_k.rows != w_v.rows:
        raise ValueError(
            f"W_Q has shape {w_q.shape}, W_K {w_k.shape} and W_V {w_v.shape}; pass (m, d), (m, d) and (m, d_v)"
        )
    if not all(entry.is_Rational for entry in (*w_q.flat(), *w_k.flat(), *w_v.flat())):
        raise ValueError("W_Q, W_K and W_V must have rational entries; substitute numbers for their symbols")
    if w_v.is_zero_matrix:
        return Case.NOTHING
    form = w_k * w_q.T
    if form.is_zero_matrix:
        return Case.BLIND
    return Case.ANTISYMMETRIC if (form + form.T).is_zero_matrix else Case.EXACT


@dataclass(frozen=True)
class SelfAttention:
    """A head of one query, asked at the position `at` by weights W_Q, W_K, W_V."""

    head: Head
    at: int
    query: Matrix
    key: Matrix
    value: Matrix

    @property
    def case(self) -> Case:
        """The case of T20."""
        return case_of(self.query, self.key, self.value)

    def safe(self) -> bool:
        """T20: whether the output at `at` depends on allowed positions alone, for all real inputs."""
        if self.case is Case.NOTHING or not self.head.seen:
            return True
        if self.case is Case.BLIND:
            return all(sympy.Add(*(self.head.f[s, j] for s in self.head.seen)) == 0 for j in self.head.forbidden)
        head = self.head if self.case is Case.EXACT else without(self.head, self.at)
        return head.safe_by_criterion()

    def differs(self, x: Matrix, other: Matrix) -> bool:
        """Whether two inputs (n, m) give different outputs, decided: distinct powers of e do not cancel."""
        part = LayerHead(self.head, self.key * self.query.T, self.value)
        return Layer((part,), self.at).differs(x, other)


def without(head: Head, position: int) -> Head:
    """The head whose keys do not read the position."""
    e = head.e.copy()
    e[:, position] = sympy.zeros(e.rows, 1)
    return replace(head, e=e)
