"""T18: feature projections and sequence projections commute, up to a bias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy
from sympy import Matrix, MatrixSymbol, Rational, latex

from ..numeric import scale as at_scale
from ..symbolic import attention, derivation
from ..symbolic.derivation import Derivation
from .claim import Claim, expect

if TYPE_CHECKING:
    import random


def features_then_sequence(e: Any, x: Any, w: Any, ones: Any, bias: Any) -> Any:
    """E (X W + 1 bᵀ): feature projection first, as the paper writes it."""
    return e * (x * w + ones * bias)


def sequence_then_features(e: Any, x: Any, w: Any, ones: Any, bias: Any) -> Any:
    """(E X) W + 1 bᵀ: compression first."""
    return (e * x) * w + ones * bias


def derive() -> Derivation:
    """Both orders for symbolic shapes, with and without a bias, and an example in which they differ."""
    n, r, d, k = sympy.symbols("n r d k", integer=True, positive=True)
    e, x, w = MatrixSymbol("E", r, n), MatrixSymbol("X", n, d), MatrixSymbol("W", d, k)
    ones_n, ones_r, bias = MatrixSymbol("1_n", n, 1), MatrixSymbol("1_r", r, 1), MatrixSymbol("b^T", 1, k)
    first = features_then_sequence(e, x, w, ones_n, bias)
    second = sequence_then_features(e, x, w, ones_r, bias)
    f = MatrixSymbol("F", r, n)
    article, half = attention.article_projection(), Matrix([[Rational(1, 2), 0, 0], [0, 0, 1]])
    x3, w1, b1 = Matrix([1, 2, 3]), Matrix([[2]]), Matrix([[5]])
    ones = Matrix([1, 1, 1]), Matrix([1, 1])
    return Derivation(
        "T18: two axes",
        (
            derivation.matrices(
                "E(XW) = (EX)W for all shapes", e * (x * w), (e * x) * w, "associativity", "E(XW)=(EX)W"
            ),
            derivation.matrices(
                "with a bias, features first gives (EX)W + (E1)bᵀ",
                first,
                (e * x) * w + (e * ones_n) * bias,
                "distributivity",
            ),
            derivation.matrices(
                "the two orders differ by (E1 − 1)bᵀ", first - second, (e * ones_n - ones_r) * bias, "subtract"
            ),
            derivation.identity(
                "the article's E has row sums 1, so the order does not matter there",
                features_then_sequence(article, x3, w1, ones[0], b1),
                sequence_then_features(article, x3, w1, ones[1], b1),
                "X = (1,2,3), W = 2, b = 5",
                shown=f"{latex(article)}\\left({latex(x3)}{latex(w1)}+{latex(ones[0])}{latex(b1)}\\right)",
            ),
            derivation.different(
                "with row sums ½ and 1 it does",
                features_then_sequence(half, x3, w1, ones[0], b1),
                sequence_then_features(half, x3, w1, ones[1], b1),
                "they differ by −5/2 in the first slot",
            ),
            derivation.matrices(
                "the values' side compresses alike: F(XW) = (FX)W",
                f * (x * w),
                (f * x) * w,
                "associativity",
                "F(XW)=(FX)W",
            ),
        ),
    )


def property_check(rng: random.Random) -> str:
    """Random integer matrices: the difference of the two orders is (E1 − 1)bᵀ."""
    count = 30
    for _ in range(count):
        r, n, d, k = (rng.randint(1, 4) for _ in range(4))
        e, x, w, b = (
            Matrix(rows, columns, lambda i, j: rng.randint(-3, 3)) for rows, columns in ((r, n), (n, d), (d, k), (1, k))
        )
        ones_n, ones_r = sympy.ones(n, 1), sympy.ones(r, 1)
        gap = features_then_sequence(e, x, w, ones_n, b) - sequence_then_features(e, x, w, ones_r, b)
        expect(gap == (e * ones_n - ones_r) * b, f"the orders differ by {gap} for E = {e}, b = {b}")
        expect(
            (gap == sympy.zeros(r, k)) == (e * ones_n == ones_r or not any(b)), f"the gap {gap} for E = {e}, b = {b}"
        )
    return f"{count} random integer cases: the orders differ by (E1 − 1)bᵀ, 0 iff E1 = 1 or b = 0"


CLAIM = Claim(
    id="T18",
    title="Two axes",
    statement="E(XW) = (EX)W; with a bias b the two orders differ by (E1 − 1)bᵀ: order matters iff E1 ≠ 1 and b ≠ 0.",
    latex=r"E(XW+\mathbf 1b^\top)-\left((EX)W+\mathbf 1b^\top\right)=(E\mathbf 1-\mathbf 1)b^\top",
    source="article, 'Compress positions, not features'",
    derive=derive,
    property=property_check,
    scale=at_scale.CHECKS["T18"],
    theorems=(
        "two_axes_commute",
        "bias_first",
        "order_difference",
        "order_irrelevant_iff",
    ),
    reading="Implementations differ in the order; with a bias and a row of E not of sum 1 so do their models.",
)
