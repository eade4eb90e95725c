"""Contractions (see `transfer.contractions`) and linear algebra."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..domain import VARIES, ZERO, Shadow, join_all, reshape, uniform
from ..transfer import contractions as transfer
from ..transfer.elementwise import assemble
from ..transfer.reductions import whole
from .movement import arranged
from .registry import primitive

if TYPE_CHECKING:
    from .calls import JaxCall
    from .operands import JaxOperand


@primitive("dot_general")
def product(call: JaxCall) -> Shadow:
    """Sums over axes of both; batch axes stay apart and come first, then the others of the first, of the second."""
    (sum_a, sum_b), (batch_a, batch_b) = call.params["dimension_numbers"]
    a, b = call.operands
    free_a, free_b = _others(a, (*sum_a, *batch_a)), _others(b, (*sum_b, *batch_b))
    batch = tuple(a.shape[d] for d in batch_a)
    rows, columns, terms = _size(a, free_a), _size(b, free_b), _size(a, sum_a)
    if not terms:
        return uniform(call.shape, ZERO)
    x = reshape(arranged(a.known(), [*batch_a, *free_a, *sum_a]), (*batch, rows, terms))
    y = reshape(arranged(b.known(), [*batch_b, *sum_b, *free_b]), (*batch, terms, columns))
    found = transfer.contract(call, a, b, x, y)
    return reshape(assemble((*batch, rows, columns), *map(transfer.thin, found)), call.shape)


def _others(operand: JaxOperand, taken: Sequence[int]) -> list[int]:
    return [d for d in range(len(operand.shape)) if d not in taken]


def _size(operand: JaxOperand, axes: Sequence[int]) -> int:
    return math.prod(operand.shape[d] for d in axes)


@primitive("triangular_solve", divides=0)
def solve_triangular(call: JaxCall) -> Shadow:
    """Substitution from the left; from the right every number reads whole matrices."""
    p, (a, b) = call.params, (o.shadow for o in call.operands)
    if not p["left_side"] or len(a.shape) != len(b.shape):
        return whole(call.shape, (a, b))
    if p["transpose_a"]:
        axes = len(a.shape)
        a = arranged(a, [*range(axes - 2), axes - 1, axes - 2])
    return transfer.substitution(a, b, p["lower"] == p["transpose_a"], call.shape)


@primitive(
    "cholesky eig eigh hessenberg householder_product lu lu_pivots_to_permutation qr schur svd "
    "tridiagonal tridiagonal_solve",
    sees_sign=True,
)
def decomposed(call: JaxCall) -> list[Shadow]:
    """Each number reads whole matrices."""
    return [whole(shape, (o.shadow for o in call.operands)) for shape in call.shapes]


@primitive("ragged_dot ragged_dot_general")
def grouped(call: JaxCall) -> Shadow:
    """Rows times the matrices of their groups: row i reads itself, all weights and all group sizes."""
    rows, *others = (o.shadow for o in call.operands)
    if len(rows.shape) != 2 or len(others[0].shape) != 3 or len(call.shape) != 2:
        return whole(call.shape, (rows, *others))
    return transfer.grouped(rows, others, call.shape)


@primitive("approx_top_k")
def approximate(call: JaxCall) -> list[Shadow]:
    """Any elements of an axis, and their places."""
    return [uniform(shape, VARIES, *join_all([call.operands[0].shadow])) for shape in call.shapes]
