"""T4: the effective mixing BF need not be a probability matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy
from sympy import Matrix, MatrixSymbol, Rational, Symbol

from ..numeric import scale as at_scale
from ..symbolic import attention, derivation
from ..symbolic.derivation import Derivation
from ..symbolic.field import is_zero, sign
from .claim import Claim, expect

if TYPE_CHECKING:
    import random


def tilted_mean(weight: sympy.Expr, value: sympy.Expr, others: sympy.Expr, r: sympy.Expr) -> sympy.Expr:
    """Mean of r numbers under weights that are `weight` on one of them and 1 on the rest, whose sum is `others`."""
    return (weight * value + others) / (weight + r - 1)


def signed_projection() -> Matrix:
    """An F with a negative entry and row sums 1 and 2, for the article's three positions."""
    return Matrix([[Rational(3, 2), Rational(-1, 2), 0], [0, 0, 2]])


def example_mixing() -> Matrix:
    """BF for K = (1, 2, 3), three queries of 1, the article's E and `signed_projection` as F."""
    return attention.mixing([[1], [1], [1]], [[1], [2], [3]], attention.article_projection(), signed_projection())


def derive() -> Derivation:
    """Row sums and signs of BF over all row-stochastic B; exact witnesses; one head with fixed E."""
    n, r = sympy.symbols("n r", integer=True, positive=True)
    b, f = MatrixSymbol("B", n, r), MatrixSymbol("F", r, n)
    ones_n, ones_r = MatrixSymbol("1_n", n, 1), MatrixSymbol("1_r", r, 1)
    big = Symbol("M", positive=True)
    value, others, slots = Symbol("f", real=True), Symbol("R", real=True), Symbol("r", positive=True)
    p, q = sympy.symbols("p q", positive=True)
    s, w = sympy.symbols("S w", nonnegative=True)
    d1, d2, u1, u2 = sympy.symbols("delta1 delta2 u1 u2", positive=True)
    x = Symbol("x", real=True)
    mixed = example_mixing()
    uniform = attention.mixing([[1], [1]], [[1], [2]], [[0, 0], [0, 0]], [[2, -1], [-1, 2]])
    return Derivation(
        "T4: not a probability matrix",
        (
            derivation.matrices(
                "(BF)1 = B(F1), for all shapes", (b * f) * ones_n, b * (f * ones_n), "associativity", r"(BF)1_n=B(F1_n)"
            ),
            derivation.matrices(
                "so with B1 = 1, (BF)1 − 1 = B(F1 − 1): row sums are 1 if F1 = 1",
                b * (f * ones_n) - b * ones_r,
                b * (f * ones_n - ones_r),
                "distributivity",
            ),
            derivation.limit(
                "conversely let B weigh slot s with M and the others with 1: its mean of numbers tends to the one at s",
                tilted_mean(big, value, others, slots),
                big,
                value,
                "any r; R sums the others; apply it to the row sums of F: if all means are 1, so is each row sum",
            ),
            derivation.positive(
                "if F ≥ 0 and B ≥ 0, then BF ≥ 0: adding a term b·f ≥ 0 to a sum S ≥ 0",
                s + w * Symbol("phi", nonnegative=True),
                "slot by slot",
                relation=">=",
                latex="",
            ),
            derivation.identity(
                "if F[s,j] = −p < 0 and the others in its column sum to at most q, M = (q+1)/p gives a negative entry",
                tilted_mean((q + 1) / p, -p, q, slots) * ((q + 1) / p + slots - 1),
                -1,
                "M·(−p) + q = −1, over a positive total",
                shown=r"\frac{M(-p)+q}{M+r-1}\,(M+r-1)",
            ),
            derivation.compare("witness: BF has a negative entry", mixed[0, 1], "<", 0, "K = (1,2,3), F as above"),
            derivation.different(
                "witness: its row sum is not 1", sympy.Add(*mixed.row(0)), 1, "F has row sums 1 and 2", latex=""
            ),
            derivation.identity(
                "E = 0 reaches only the uniform B, whatever the keys",
                attention.slot_weights([[1]], [[x], [2 * x]], [[0, 0], [0, 0]]),
                Matrix([[Rational(1, 2), Rational(1, 2)]]),
                "all scores are 0",
                shown=r"\operatorname{softmax}\left(\begin{matrix}0\cdot x&0\cdot 2x\end{matrix}\right)",
            ),
            derivation.positive(
                "then F = [[2, −1], [−1, 2]] gives BF > 0: for one head F ≥ 0 is not necessary",
                uniform,
                "its means are ½",
            ),
            derivation.convex(
                "with E = F it is: first, e^x ≥ 1 + x > x", sympy.exp(x) - 1 - x, x, 0, "so g e^{−Mg} < 1/M for g > 0"
            ),
            derivation.positive(
                "at κ = −(2/p) e_j, with F[s,j] = −p the least of three in its column, the entry is negative",
                -(-p + (1 - d1) * p / 2 + (1 - d2) * p / 2 - p * (u1 + u2)),
                "numerator −p + Σ(g−p)u with u = e^{−Mg}, g u = (1−δ)/M, 0 < δ < 1; for r slots M = (r−1)/p",
                latex=r"-p+\sum_s (g_s-p)e^{-Mg_s} < -p+\frac{r-1}{M}\le 0",
            ),
            derivation.lemma(
                "For all shapes: BF has row sums 1 for every B iff F1 = 1, and BF ≥ 0 for every positive B iff F ≥ 0.",
                "the steps above, row by row",
                "mixing_row_sums_iff, mixing_nonneg_iff",
            ),
            derivation.lemma(
                "With E = F, BF ≥ 0 for all queries and keys iff F ≥ 0, for every r and n.",
                "the step above with M = (r−1)/p",
                "shared_head_nonneg_iff",
            ),
        ),
    )


def property_check(rng: random.Random) -> str:
    """Random heads: row sums of BF are B(F1); signs of BF against signs of F when E = F, at the witness's scores."""
    count = 12
    for _ in range(count):
        r, n = rng.randint(1, 3), rng.randint(2, 3)
        f = Matrix(r, n, lambda i, j: Rational(rng.randint(-2, 3), 2))
        e = Matrix(r, n, lambda i, j: Rational(rng.randint(-2, 2), 2))
        keys = Matrix([Rational(rng.randint(-2, 2)) for _ in range(n)])
        mixed, weights = attention.mixing([[1]], keys, e, f), attention.slot_weights([[1]], keys, e)
        row_sums = f * Matrix([1] * n)
        expect(
            is_zero(sympy.Add(*mixed) - (weights * row_sums)[0, 0]), f"(BF)1 ≠ B(F1) for E = {e}, F = {f}, K = {keys}"
        )
        lowest, j = min((f[s, j], j) for s in range(r) for j in range(n))
        scale = max(1, r - 1) / abs(lowest) if lowest < 0 else Rational(1)
        kappa = Matrix([-scale * (i == j) for i in range(n)])
        found = [sign(entry) for entry in attention.mixing([[1]], kappa, f)]
        expect((min(found) < 0) == (lowest < 0), f"BF has signs {found} at κ = {list(kappa)} for E = F = {f}")
    return f"{count} random heads: (BF)1 = B(F1), and with E = F a negative entry of F shows in BF, exactly"


CLAIM = Claim(
    id="T4",
    title="Not a probability matrix",
    statement="(BF)1 = B(F1); BF has row sums 1 for every B iff F has, and BF ≥ 0 for every positive B iff F ≥ 0.",
    latex=r"(BF)\mathbf 1=B(F\mathbf 1)",
    source="article, 'Which matrix has low rank?'",
    derive=derive,
    property=property_check,
    scale=at_scale.CHECKS["T4"],
    theorems=(
        "mixing_row_sum",
        "mixing_row_sums_iff",
        "mixing_nonneg_iff",
        "mixing_not_probability",
        "uniform_head_nonneg",
        "shared_head_nonneg_iff",
        "blind_head_uniform",
    ),
    reading=(
        "The iff speaks of all row-stochastic B. One head with a fixed E reaches only some of them, so for it F ≥ 0 is "
        "sufficient; with E = F it is necessary as well."
    ),
)
