"""Identities between matrix expressions of symbolic shapes: both sides as sums of words in matrix symbols.

Over all shapes and all entries, a matrix expression built from symbols by sum, product and scalar multiples is zero iff
its sum of words is: matrices of large enough size satisfy no further identity (Amitsur–Levitzki gives the least size).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import sympy
from sympy import Expr, Identity, MatAdd, MatMul, MatPow, MatrixSymbol, ZeroMatrix

from .field import remainder as scalar_remainder

Words = dict[tuple[MatrixSymbol, ...], Expr]


def expand(expression: Any) -> Words:
    """The expression as a sum of words: each word a tuple of matrix symbols, with its scalar coefficient.

    Raises TypeError for a node other than sums, products, scalar multiples, identities and zeros of matrix symbols.

    >>> r, n = sympy.symbols("r n", integer=True, positive=True)
    >>> A, B = MatrixSymbol("A", r, n), MatrixSymbol("B", n, r)
    >>> expand(2 * A * B)
    {(A, B): 2}
    """
    if isinstance(expression, MatrixSymbol):
        return {(expression,): sympy.S.One}
    if isinstance(expression, Identity):
        return {(): sympy.S.One}
    if isinstance(expression, ZeroMatrix):
        return {}
    total: Words = defaultdict(lambda: sympy.S.Zero)
    if isinstance(expression, MatAdd):
        for part in expression.args:
            for word, c in expand(part).items():
                total[word] += c
        return dict(total)
    if isinstance(expression, MatMul):
        coefficient, factors = expression.as_coeff_matrices()
        return _product([{(): coefficient}, *map(expand, factors)])
    if isinstance(expression, MatPow) and expression.exp.is_Integer and expression.exp > 0:
        return _product([expand(expression.base)] * int(expression.exp))
    raise TypeError(f"{expression} is not a sum of products of matrix symbols; write it with +, * and scalars")


def _product(factors: list[Words]) -> Words:
    product: Words = {(): sympy.S.One}
    for factor in factors:
        step: Words = defaultdict(lambda: sympy.S.Zero)
        for left, a in product.items():
            for right, b in factor.items():
                step[left + right] += a * b
        product = dict(step)
    return product


def remainder(left: Any, right: Any) -> dict[str, Expr]:
    """The words in which the two sides differ, with their coefficients; empty iff they are equal for every shape.

    Raises ValueError when the shapes of the two sides differ.
    """
    if tuple(left.shape) != tuple(right.shape):
        raise ValueError(f"the sides have shapes {left.shape} and {right.shape}; an identity needs equal shapes")
    total: Words = defaultdict(lambda: sympy.S.Zero)
    for word, c in expand(left).items():
        total[word] += c
    for word, c in expand(right).items():
        total[word] -= c
    return {"·".join(map(str, word)) or "1": c for word, c in total.items() if scalar_remainder(c) != 0}
