"""T6: compression is not the best low-rank approximation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import sympy
from sympy import Matrix, MatrixSymbol, Rational

from ..numeric import scale as at_scale
from ..numeric.balls import Enclosure, confirm, root_sum_squares, singular_values
from ..symbolic import attention, cost, derivation, rank, softmax
from ..symbolic.derivation import Derivation
from .claim import Claim, expect

if TYPE_CHECKING:
    import random


@dataclass(frozen=True)
class Comparison:
    """A full attention matrix A and a compressed mixing X of r slots, both exact."""

    name: str
    full: Matrix
    mixing: Matrix
    r: int


def comparisons() -> list[Comparison]:
    """The article's 2 × 2 softmax with one averaging slot, and Q = K = (1,2,3) with the article's two slots."""
    logits = softmax.rank_one_logits([0, 1])  # Q = K = (0, 1)
    half = Matrix([[Rational(1, 2), Rational(1, 2)]])
    small = Comparison("2 × 2, r = 1", softmax.row_softmax(logits), attention.mixing([[0], [1]], [[0], [1]], half), 1)
    q = Matrix([1, 2, 3])
    large = Comparison(
        "Q = K = (1,2,3), r = 2",
        attention.full_weights(q, q),
        attention.mixing(q, q, attention.article_projection()),
        2,
    )
    return [small, large]


@dataclass(frozen=True)
class Report:
    """Achieved errors of X against A and the least that rank r allows, in both norms, as enclosures."""

    frobenius: Enclosure
    spectral: Enclosure
    best_frobenius: Enclosure
    best_spectral: Enclosure
    best_softmax_head: Enclosure

    def ratio(self) -> str:
        """Achieved over least Frobenius error, or "exact" when the least is 0."""
        if self.best_frobenius.upper == 0:
            return "exact"
        return f"{float(self.frobenius) / float(self.best_frobenius):.4g}"


def centred(matrix: Matrix) -> Matrix:
    """(I − 11ᵀ/n) A: every column minus its mean."""
    n = matrix.rows
    return (sympy.eye(n) - sympy.ones(n, n) / n) * matrix


def frobenius_square(matrix: Matrix) -> sympy.Expr:
    """‖A‖_F²."""
    return sympy.Add(*(entry**2 for entry in matrix))


def report(comparison: Comparison, digits: int) -> Report:
    """Both errors, both optima, and the sharper optimum over mixings whose B has row sums 1."""
    gap, r = comparison.full - comparison.mixing, comparison.r
    values = singular_values(comparison.full, digits)
    tail = values[r:]
    return Report(
        frobenius=confirm(sympy.sqrt(frobenius_square(gap)), digits),
        spectral=singular_values(gap, digits)[0],
        best_frobenius=root_sum_squares(tail, digits),
        best_spectral=tail[0] if tail else Enclosure(Fraction(0), Fraction(0), digits),
        best_softmax_head=root_sum_squares(singular_values(centred(comparison.full), digits)[r - 1 :], digits),
    )


def _on_the_span(order: int, gaps: Sequence[sympy.Expr], least: sympy.Expr, c: Sequence[sympy.Expr]) -> derivation.Step:
    """‖Av‖² ≥ σ_{r+1}²‖v‖² where v has the coordinates c along the first r + 1 right singular vectors."""
    squares = [*(least + g for g in gaps[:order]), least]
    along = sympy.Add(*(s * x**2 for s, x in zip(squares, c, strict=False)))
    return derivation.positive(
        f"r = {order}",
        along - least * sympy.Add(*(x**2 for x in c[: order + 1])),
        "Σ(σ_i² − σ_{r+1}²)c_i² ≥ 0",
        relation=">=",
    )


def _kernel(order: int) -> derivation.Step:
    """A matrix of rank r has a kernel vector among r + 1 directions."""
    return derivation.linear(
        f"r = {order}",
        rank.symbolic("x", order, order + 1),
        "generic rank r; less rank only enlarges the kernel; there Xv = 0, so ‖(A−X)v‖ = ‖Av‖ ≥ σ_{r+1}‖v‖",
        rank_is=order,
    )


def derive() -> Derivation:
    """Eckart–Young–Mirsky for 2 × 2 and r = 1, the spectral bound, where equality holds, and the sharper bound."""
    t = sympy.Symbol("t", nonnegative=True)  # σ_{r+1}²
    gaps, c = sympy.symbols("g0:3", nonnegative=True), sympy.symbols("c0:4", real=True)
    u1, u2, v1, v2 = sympy.symbols("u1 u2 v1 v2", real=True)
    s1, s2 = sympy.symbols("sigma1 sigma2", nonnegative=True)
    p, q = sympy.symbols("p q", positive=True)
    norm = v1**2 + v2**2
    diagonal, outer = Matrix([[s1, 0], [0, s2]]), Matrix([[u1 * v1, u1 * v2], [u2 * v1, u2 * v2]])
    delta = (p - q) / (p + q)
    residual = Matrix([[3, 0], [0, 1]]) - Matrix([[3 + delta, 0], [0, 0]])
    n, r = sympy.symbols("n r", integer=True, positive=True)
    a, b, f = MatrixSymbol("A", n, n), MatrixSymbol("B", n, r), MatrixSymbol("F", r, n)
    projector, ones_r = MatrixSymbol("P", n, n), MatrixSymbol("1_r", r, 1)
    b_free = rank.symbolic("b", 3, 1).row_join(sympy.ones(3, 1) - rank.symbolic("b", 3, 1))
    m = rank.symbolic("m", 3, 2)
    small = comparisons()[0]
    steps: list[derivation.Step | derivation.Lemma] = [
        derivation.lemma(
            "Every square real matrix is UΣVᵀ with U, V orthogonal; Σ, from large to small, is unique.",
            "singular value decomposition (Golub & Van Loan, Matrix Computations, §2.4)",
            "svd_exists, svd_values",
        ),
        derivation.lemma(
            "The Frobenius norm is unchanged by orthogonal factors.",
            "‖UM‖_F² = tr(MᵀUᵀUM); transpose",
            "frob_orthogonal, frob_tr",
        ),
        derivation.lemma("So is the spectral norm: ‖UMv‖ = ‖Mv‖ for each v.", "the same", "norm2_orthogonal"),
    ]
    steps += [
        derivation.sizes(
            "on the span of the first r + 1 right singular vectors, with σ_i² = σ_{r+1}² + g_i: r = 1, 2, 3",
            [_on_the_span(order, gaps, t, c) for order in (1, 2, 3)],
            latex=r"\|Av\|^2-\sigma_{r+1}^2\|v\|^2=\sum_{i\le r}g_i\,c_i^2\ge0",
        ),
        derivation.sizes(
            "a matrix X of rank r has a kernel vector in that span, r equations in r + 1 unknowns: r = 1, 2, 3",
            [_kernel(order) for order in (1, 2, 3)],
            latex=r"\|A-X\|_2\ge\sigma_{r+1}",
        ),
        derivation.identity(
            "r = 1, A = diag(σ₁, σ₂), X = uvᵀ: ‖A − X‖_F² splits into a part free of u and a square",
            frobenius_square(diagonal - outer),
            s1**2
            + s2**2
            - (s1**2 * v1**2 + s2**2 * v2**2) / norm
            + norm * ((u1 - s1 * v1 / norm) ** 2 + (u2 - s2 * v2 / norm) ** 2),
            "complete the square in u",
            latex=r"\|A-uv^\top\|_F^2=\|A\|_F^2-\|Av\|^2/\|v\|^2+\|v\|^2\,\|u-Av/\|v\|^2\|^2",
        ),
        derivation.squares(
            "with σ₁² = σ₂² + g the free part is σ₂² + g v₂²/‖v‖²: at least σ₂², and equal only at a truncated SVD",
            (gaps[0] + 2 * t) * norm - ((gaps[0] + t) * v1**2 + t * v2**2),
            t * norm,
            [(gaps[0], v2)],
            "both sides times ‖v‖²; g ≥ 0, t stands for σ₂²",
            latex=r"\|A-X\|_F^2\ge\sigma_2^2",
        ),
        derivation.lemma(
            "For every r and n: ‖A − X‖₂ ≥ σ_{r+1}.", "Eckart & Young 1936, Mirsky 1960", "spectral_bound"
        ),
        derivation.lemma(
            "For every r and n: ‖A − X‖_F² ≥ Σ_{i>r} σ_i², and a truncated SVD attains it.",
            "Eckart & Young 1936, Mirsky 1960",
            "frobenius_bound, frobenius_attained",
            r"\|A-X\|_F^2\ge\sum_{i>r}\sigma_i^2",
        ),
        derivation.identity(
            "in the spectral norm others reach it: A = diag(3,1), X = diag(3+δ,0) leaves (A−X)ᵀ(A−X) = diag(δ², 1)",
            residual.T * residual,
            Matrix([[delta**2, 0], [0, 1]]),
            "δ = (p−q)/(p+q) runs through (−1, 1) for p, q > 0",
            shown=r"(A-X)^\top(A-X)",
        ),
        derivation.positive("and δ² ≤ 1, so ‖A − X‖₂ = 1 = σ₂", 1 - delta**2, "1 − δ² = 4pq/(p+q)²", relation=">="),
        derivation.matrices(
            "a softmax head: with B1 = 1 and P1 = 0, PB sends 1 to 0",
            projector * (b * ones_r),
            (projector * b) * ones_r,
            "P(B1) = P1 = 0 for P = I − 11ᵀ/n",
            r"P(B1_r)=(PB)1_r",
        ),
        derivation.identity("P1 = 0 (n = 3)", centred(sympy.ones(3, 1)), 0, "a constant has mean itself"),
        derivation.linear(
            "so rank(PB) ≤ r − 1 (n = 3, r = 2, free entries with row sums 1)",
            centred(b_free),
            "its columns sum to 0",
            rank_is=1,
            latex="",
        ),
        derivation.matrices(
            "P(A − BF) = PA − (PB)F is PA minus a matrix of rank at most r − 1",
            projector * (a - b * f),
            projector * a - (projector * b) * f,
            "distributivity; T3",
        ),
        derivation.identity(
            "and ‖M‖_F² = ‖PM‖_F² + ‖11ᵀM/n‖_F² ≥ ‖PM‖_F² (n = 3)",
            frobenius_square(m),
            frobenius_square(centred(m)) + frobenius_square(sympy.ones(3, 3) * m / 3),
            "Pythagoras, column by column",
            latex=r"\|A-BF\|_F\ge\Bigl(\sum_{i\ge r}\sigma_i(PA)^2\Bigr)^{1/2}",
        ),
        derivation.lemma(
            "For every n and r ≥ 1, B with row sums 1: ‖A − BF‖_F² ≥ Σ_{i≥r} σ_i(PA)².",
            "the steps above with the bound for rank r − 1",
            "softmax_head_bound",
        ),
        derivation.lemma(
            "In the Frobenius norm only truncated SVDs attain the optimum, for every r and n.",
            "Mirsky 1960; decided above for n = 2",
            "frobenius_only_truncations",
        ),
        derivation.compare(
            "the 2 × 2 example: with one averaging slot, (achieved)² exceeds 2(det A)²/‖A‖_F² ≥ σ₂²",
            frobenius_square(small.full - small.mixing),
            ">",
            2 * rank.det(small.full) ** 2 / frobenius_square(small.full),
            "σ₂² = (det A)²/σ₁² ≤ 2(det A)²/‖A‖_F², since σ₁² ≥ ‖A‖_F²/2",
            latex="",
        ),
    ]
    return Derivation("T6: not the best low-rank approximation", tuple(steps))


def enclosure(digits: int) -> str:
    """Achieved errors and both optima on both examples; the achieved ones are certainly larger."""
    lines = []
    for comparison in comparisons():
        found = report(comparison, digits)
        expect(found.frobenius.lower > found.best_frobenius.upper, f"{comparison.name}: Frobenius {found}")
        expect(found.spectral.lower > found.best_spectral.upper, f"{comparison.name}: spectral {found}")
        expect(found.best_softmax_head.lower >= found.best_frobenius.lower, f"{comparison.name}: sharper {found}")
        expect(found.frobenius.upper >= found.best_softmax_head.lower, f"{comparison.name}: sharper {found}")
        lines.append(
            f"{comparison.name}: ‖A−BF‖_F {found.frobenius} against {found.best_frobenius} (softmax heads "
            f"{found.best_softmax_head}), ‖·‖₂ {found.spectral} against {found.best_spectral}, ratio {found.ratio()}"
        )
    threshold = confirm(cost.paper_threshold(512, 64), digits)
    lines.append(f"the paper's own bound, read with Θ = 1, asks for more than n = 512 slots where ε < {threshold}")
    return "; ".join(lines)


def property_check(rng: random.Random) -> str:
    """Random rational matrices and random low-rank ones: the bounds hold on enclosures."""
    count = 10
    for _ in range(count):
        n, r = rng.choice([(2, 1), (3, 1), (3, 2)])
        a, b, f = (
            Matrix(rows, columns, lambda i, j: Rational(rng.randint(-3, 3)))
            for rows, columns in ((n, n), (n, r), (r, n))
        )
        values, gaps = singular_values(a, 20), singular_values(a - b * f, 20)
        expect(gaps[0].upper >= values[r].lower, f"‖A−BF‖₂ = {gaps[0]} < σ = {values[r]} for A = {a}, B = {b}, F = {f}")
        achieved, best = root_sum_squares(gaps, 20), root_sum_squares(values[r:], 20)
        expect(achieved.upper >= best.lower, f"‖A−BF‖_F = {achieved} < {best} for A = {a}, B = {b}, F = {f}")
    return f"{count} random pairs: both bounds hold on enclosures"


CLAIM = Claim(
    id="T6",
    title="Not the best low-rank approximation",
    statement="‖A − BF‖_F ≥ (Σ_{i>r} σ_i²)^{1/2} and ‖A − BF‖₂ ≥ σ_{r+1}; both examples miss both optima.",
    latex=r"\|A-BF\|_F\ge\Bigl(\sum_{i>r}\sigma_i^2\Bigr)^{1/2},\qquad\|A-BF\|_2\ge\sigma_{r+1}",
    source="article, 'Which matrix has low rank?'; Eckart & Young 1936, Mirsky 1960",
    derive=derive,
    enclosure=enclosure,
    property=property_check,
    scale=at_scale.CHECKS["T6"],
    theorems=(
        "symmetric_spectrum",
        "svd_exists",
        "svd_values",
        "frob_orthogonal",
        "frob_tr",
        "norm2_orthogonal",
        "frobenius_bound",
        "frobenius_attained",
        "spectral_bound",
        "spectral_attained",
        "frobenius_only_truncations",
        "softmax_head_bound",
        "rectangular_frobenius",
        "rectangular_frobenius_attained",
        "rectangular_spectral",
        "rectangular_spectral_attained",
    ),
    reading=(
        "The optimum is for one fixed matrix; a learned projection serves all inputs at once. In the Frobenius "
        "norm only a truncated SVD reaches it, in the spectral norm others do too."
    ),
)
