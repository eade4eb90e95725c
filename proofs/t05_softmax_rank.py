"""T5: softmax destroys low rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy
from sympy import Matrix, Rational, Symbol

from ..numeric import scale as at_scale
from ..numeric.balls import confirm
from ..symbolic import derivation, rank, softmax
from ..symbolic.derivation import Derivation
from ..symbolic.field import remainder, sign
from .claim import Claim, expect

if TYPE_CHECKING:
    import random

LARGEST_SYMBOLIC = 5


def article_logits() -> Matrix:
    """L = [[0, 0], [0, 1]], of rank one."""
    return softmax.rank_one_logits([0, 1])


def article_determinant() -> sympy.Expr:
    """(e − 1)/(2(1 + e))."""
    return (sympy.E - 1) / (2 * (1 + sympy.E))


def derive() -> Derivation:
    """The 2 × 2 case exactly, the Vandermonde law for n ≤ 5 and in general, and the limits of the claim."""
    logits, weights = article_logits(), softmax.row_softmax(article_logits())
    x = sympy.symbols("x0:3", real=True)
    y = sympy.symbols("y0:2", real=True)
    steps: list[derivation.Step | derivation.Lemma] = [
        derivation.linear("L has rank 1", logits, "the second row alone is not 0", rank_is=1),
        derivation.linear(
            "det softmax(L) = (e − 1)/(2(1 + e))",
            weights,
            "rows (½, ½) and (1, e)/(1 + e)",
            det_is=article_determinant(),
        ),
        derivation.compare("it is positive, so softmax(L) has rank 2", article_determinant(), ">", 0, "e > 1"),
        derivation.linear("the rank over ℚ(e), by elimination", weights, "elimination in ℚ(e)", rank_is=2, latex=""),
        derivation.identity(
            "with y = (0, 1, 2), softmax(x yᵀ) has the entries z_i^j / Σ_k z_i^k, z_i = e^{x_i}",
            softmax.row_softmax(softmax.rank_one_logits(x)),
            softmax.power_softmax([sympy.exp(v) for v in x]),
            "e^{x j} = (e^x)^j",
            latex=r"\operatorname{softmax}(xy^\top)_{ij} = z_i^{\,j}/\textstyle\sum_k z_i^{\,k}",
        ),
    ]
    u, v = sympy.symbols("u v", real=True)
    j = Symbol("j", integer=True, positive=True)
    steps += [
        derivation.identity(
            "every n, z_i = e^{x_i}: taking z_0 times column j − 1 from column j leaves "
            "(z_i − z_0) z_i^{j−1} in row i; so row 0 becomes (1, 0, …, 0) and row i (z_i − z_0) times the powers "
            "for n − 1",
            sympy.exp(u * j) - sympy.exp(v) * sympy.exp(u * (j - 1)),
            (sympy.exp(u) - sympy.exp(v)) * sympy.exp(u * (j - 1)),
            "decided for a symbolic j, with z_i = e^u and z_0 = e^v",
            r"z_i^{\,j}-z_0\,z_i^{\,j-1}=(z_i-z_0)\,z_i^{\,j-1}",
        ),
        derivation.cases(
            f"n = 2 … {LARGEST_SYMBOLIC}: det softmax(x yᵀ) = ∏(z_k − z_i) / ∏ Σ z_i^j, as rational functions of z",
            lambda: (tuple(sympy.symbols(f"z0:{n}", positive=True)) for n in range(2, LARGEST_SYMBOLIC + 1)),
            lambda *z: rank.det_differs(softmax.power_softmax(z), softmax.determinant_law(z)) == 0,
            "Vandermonde",
            r"\det = \frac{\prod_{i<k}(z_k-z_i)}{\prod_i\sum_{j} z_i^{\,j}}",
        ),
    ]
    z = Symbol("z", real=True)
    gap = Symbol("g", positive=True)
    steps += [
        derivation.lemma(
            "The same for every n.",
            "Vandermonde's determinant, divided by the row sums",
            "softmax_det_vandermonde",
            r"\det\operatorname{softmax}(xy^\top)=\frac{\prod_{i<k}(z_k-z_i)}{\prod_i\sum_j z_i^{\,j}}",
        ),
        derivation.convex(
            "e^g ≥ 1 + g, with equality only at 0",
            sympy.exp(z) - 1 - z,
            z,
            0,
            "value and slope vanish, it bends upwards",
        ),
        derivation.identity(
            "so for distinct x no factor is 0: e^{x+g} − e^x ≥ g e^x > 0 for g > 0",
            sympy.exp(z + gap) - sympy.exp(z) - gap * sympy.exp(z),
            sympy.exp(z) * (sympy.exp(gap) - 1 - gap),
            "the difference is e^x times e^g − 1 − g ≥ 0",
        ),
        derivation.identity(
            "the article's case is n = 2, z = (1, e)",
            softmax.determinant_law([1, sympy.E]),
            article_determinant(),
            "substitute",
            shown=r"\frac{e-1}{(1+1)(1+e)}",
        ),
        derivation.linear(
            "two distinct x and two distinct y, with gaps g, h > 0: det exp(x_i y_j) = e^{…}(e^{gh} − 1), not 0",
            Matrix(2, 2, lambda i, j: sympy.exp((x[0] + i * gap) * (y[0] + j * Symbol("h", positive=True)))),
            "factor out e^{x₀y₀ + (x₀+g)y₀ + x₀h}",
            det_is=sympy.exp(x[0] * y[0] + (x[0] + gap) * y[0] + x[0] * Symbol("h", positive=True))
            * (sympy.exp(gap * Symbol("h", positive=True)) - 1),
            latex="",
        ),
        derivation.lemma(
            "exp(x_i y_j) is nonsingular for any distinct x and distinct y, for every n.",
            "strict total positivity of e^{xy} (Karlin 1968); a sum of n distinct exponentials has at most n − 1 zeros",
            "exp_outer_unit",
            r"\det\,(e^{x_i y_j})\neq 0",
        ),
        derivation.linear(
            "not every rank-one matrix does this: softmax of [[0,0],[1,1]] keeps rank 1",
            softmax.row_softmax([[0, 0], [1, 1]]),
            "each row is constant",
            rank_is=1,
        ),
    ]
    return Derivation("T5: softmax destroys low rank", tuple(steps))


def enclosure(digits: int) -> str:
    """The article's determinant, evaluated from the matrix and from the formula."""
    ball = confirm(rank.det(softmax.row_softmax(article_logits())), digits)
    formula = confirm(article_determinant(), digits)
    expect(ball.overlaps(formula) and ball.lower > 0, f"det = {ball} against {formula}")
    return f"det softmax(L) = {ball} > 0"


def property_check(rng: random.Random) -> str:
    """Random distinct rationals: the law gives the determinant exactly and it is not 0."""
    count = 8
    for _ in range(count):
        n = rng.randint(2, 4)
        x = [Rational(v, 2) for v in rng.sample(range(-4, 5), n)]
        found = rank.det(softmax.row_softmax(softmax.rank_one_logits(x)))
        law = softmax.determinant_law([sympy.exp(v) for v in x])
        expect(remainder(found, law) == 0 and sign(found) != 0, f"det softmax(x yᵀ) = {found} for x = {x}")
    return f"{count} random rank-one logits, n ≤ 4: the determinant is the law's and not 0, in ℚ(e^{{1/2}})"


CLAIM = Claim(
    id="T5",
    title="Softmax destroys low rank",
    statement="L = [[0,0],[0,1]] has rank 1, det softmax(L) = (e−1)/(2(1+e)) > 0; x yᵀ can give rank n for every n.",
    latex=r"\det\operatorname{softmax}\begin{bmatrix}0&0\\0&1\end{bmatrix}=\frac{e-1}{2(1+e)}>0",
    source="article, 'Which matrix has low rank?'; general law ours",
    derive=derive,
    enclosure=enclosure,
    property=property_check,
    scale=at_scale.CHECKS["T5"],
    largest_n=at_scale.LARGEST["T5"],
    theorems=(
        "softmax_positive",
        "example_logits_rank",
        "example_softmax_det",
        "example_softmax_rank",
        "outer_rank",
        "det_vandermonde",
        "softmax_det_vandermonde",
        "softmax_rank_vandermonde",
        "exp_sum_zeros",
        "exp_outer_unit",
        "softmax_outer_rank",
        "constant_rows_softmax_rank",
    ),
    reading="Low-rank logits need not give a low-rank softmax. Some do keep it: equal rows stay equal.",
)
