"""Matrices of algebraic numbers (√2, i, roots of unity) over the number field that they generate, by SymPy.

SymPy finds a primitive element and computes with residues modulo its minimal polynomial, so that a number is zero iff
its residue is: a decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sympy import Expr, Matrix


def over_number_field(matrix: Matrix) -> Any | None:
    """The matrix over ℚ(its entries) as a `DomainMatrix`; None unless all its entries are algebraic numbers.

    >>> import sympy
    >>> root = sympy.sqrt(2)
    >>> over_number_field(sympy.Matrix([[root, 2], [1, root]])).rank()
    1
    """
    if not all(entry.is_algebraic for entry in matrix):
        return None
    held = matrix.to_DM(extension=True).to_field()
    domain = held.domain
    return held if domain.is_QQ or domain.is_QQ_I or (domain.is_AlgebraicField and domain.dom.is_QQ) else None


def determinant(held: Any) -> Expr:
    """The determinant of what `over_number_field` returned, as a SymPy number."""
    return held.domain.to_sympy(held.det())


def echelon(held: Any) -> tuple[Matrix, list[int]]:
    """The reduced echelon form of what `over_number_field` returned, and its pivot columns."""
    reduced, pivots = held.rref()
    return reduced.to_Matrix(), list(pivots)
