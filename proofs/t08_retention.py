"""T8: how much of a position survives compression: leverages."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import sympy
from sympy import Expr, Matrix, Rational

from ..numeric import scale as at_scale
from ..numeric.balls import singular_values
from ..symbolic import attention, derivation, rank
from ..symbolic.derivation import Derivation
from .claim import Claim, expect

if TYPE_CHECKING:
    import random


def projector(f: Matrix) -> Matrix:
    """F⁺F."""
    return rank.row_space_projector(f)


def leverages(f: Matrix) -> list[Expr]:
    """ℓ_j = e_jᵀF⁺F e_j for every position."""
    return list(projector(f).diagonal())


def unexplained(f: Matrix, j: int, decoder: Matrix, variances: list[Expr]) -> Expr:
    """E(x_j − aᵀF x)² for uncorrelated x of mean 0 with the given variances; `decoder` is a (r, 1)."""
    weights = f.T * decoder
    return sympy.Add(*(s * (int(i == j) - weights[i]) ** 2 for i, s in enumerate(variances)))


@cache
def _generic(r: int, n: int) -> tuple[Matrix, Matrix]:
    f = rank.symbolic("f", r, n, real=True)
    return f, projector(f)


def derive() -> Derivation:
    """F⁺F as a projector, what a leverage measures, the budget Σℓ = rank F, spans of positions."""
    generic = [(r, n, *_generic(r, n)) for r, n in ((1, 2), (1, 3), (2, 3))]
    free = "free entries, (r, n) = (1, 2), (1, 3), (2, 3)"
    steps: list[derivation.Step | derivation.Lemma] = [
        derivation.sizes(
            f"P = F⁺F is symmetric and P² = P: {free}",
            [derivation.identity(f"{r}, {n}", p * p, p.T, "P = Fᵀ(FFᵀ)⁻¹F") for r, n, _, p in generic],
            latex=r"P^2=P=P^\top",
        ),
        derivation.sizes(
            "FP = F",
            [derivation.identity(f"{r}, {n}", f * p, f, "P fixes the row space") for r, n, f, p in generic],
            latex=r"FF^+F=F",
        ),
        derivation.sizes(
            "Σ ℓ_j = trace P = r",
            [derivation.identity(f"{r}, {n}", p.trace(), r, "trace of a projector") for r, n, _, p in generic],
            latex=r"\textstyle\sum_j\ell_j=\operatorname{rank}F",
        ),
        derivation.sizes(
            "ℓ_0 − ℓ_0² is a sum of squares, so 0 ≤ ℓ ≤ 1",
            [
                derivation.identity(
                    f"{r}, {n}",
                    p[0, 0] - p[0, 0] ** 2,
                    sympy.Add(*(p[i, 0] ** 2 for i in range(1, n))),
                    "entry (0, 0) of P² = P",
                )
                for r, n, _, p in generic
            ],
            latex=r"\ell_0-\ell_0^2=\textstyle\sum_{i\ne0}P_{i0}^2",
        ),
    ]
    f, p = _generic(1, 3)
    a = sympy.Symbol("a", real=True)
    gram = f * f.T
    best = (gram.inv() * f)[:, 0]
    variances = list(sympy.symbols("s0:3", positive=True))
    scaled = f * sympy.diag(*(sympy.sqrt(s) for s in variances))
    whole = (f * sympy.diag(*variances) * f.T)[0, 0]
    best_scaled = f[0, 0] * variances[0] / whole
    steps += [
        derivation.identity(
            "uncorrelated x, equal variances: the error of any decoder aᵀFx of x_0 is 1 − ℓ_0 plus a square",
            unexplained(f, 0, Matrix([a]), [sympy.S.One] * 3),
            1 - p[0, 0] + gram[0, 0] * (a - best[0]) ** 2,
            "complete the square in a; here r = 1, n = 3 with free entries",
            latex=r"\mathrm E(x_j-a^\top Fx)^2 = 1-\ell_j+(a-a^*)^\top FF^\top(a-a^*)",
        ),
        derivation.identity(
            "other variances: the leverage of FΣ^{1/2} in place of ℓ_0, as a share of the variance s_0",
            unexplained(f, 0, Matrix([a]), variances),
            variances[0] * (1 - leverages(scaled)[0]) + whole * (a - best_scaled) ** 2,
            "the same with F replaced by FΣ^{1/2}",
            latex="",
        ),
        derivation.lemma(
            "For every r and n: Σ ℓ_j = rank F ≤ r and 0 ≤ ℓ_j ≤ 1.",
            "P² = P = Pᵀ (Moore–Penrose)",
            "leverage_sum, leverage_bounds",
        ),
        derivation.lemma(
            "For every r and n: every decoder of position j errs by at least 1 − ℓ_j, and one errs by that.",
            "normal equations",
            "decoder_error",
        ),
        derivation.cases(
            "at most rank F positions have leverage 1 (every F of zeros and ones, r = 2, n = 3)",
            lambda: ((Matrix(2, 3, entries),) for entries in product((0, 1), repeat=6)),
            lambda f: leverages(f).count(1) <= rank.rank(f) == sum(leverages(f)) <= f.rows,
            "Σℓ = rank F and no leverage is negative",
        ),
    ]
    article = attention.article_projection()
    p3 = projector(article)
    part = p3[:, :2]
    steps += [
        derivation.identity(
            "the article's projection: leverages ½, ½, 1",
            Matrix([leverages(article)]),
            Matrix([[Rational(1, 2), Rational(1, 2), 1]]),
            "position 2 is recovered exactly, positions 0 and 1 by half",
            shown=r"\operatorname{diag}\left(F^\top(FF^\top)^{-1}F\right)",
        ),
        derivation.identity(
            "a span of positions: the squared singular values of its columns of P are the eigenvalues of P on the span",
            part.T * part,
            p3[:2, :2],
            "PᵀP = P; zeros included, they sum to the span's leverages",
            shown=f"{sympy.latex(part.T)}{sympy.latex(part)}",
        ),
        derivation.identity(
            "for positions 0 and 1 they are 1 and 0: their mean survives, their difference does not",
            (p3[:2, :2] - sympy.Symbol("x") * sympy.eye(2)).det(),
            sympy.Symbol("x") * (sympy.Symbol("x") - 1),
            "characteristic polynomial",
        ),
    ]
    return Derivation("T8: what survives compression", tuple(steps))


def enclosure(digits: int) -> str:
    """Singular values of the span {0, 1} of the article's projector, whose squares sum to its leverages."""
    p = projector(attention.article_projection())
    values = singular_values(p[:, :2], digits)
    total = sum((p[j, j] for j in range(2)), sympy.S.Zero)
    low, high = sum(max(v.lower, Fraction(0)) ** 2 for v in values), sum(v.upper**2 for v in values)
    expect(low <= total <= high, f"the squares sum to [{low}, {high}], not to {total}")
    shown = ", ".join(map(str, values))
    return f"span {{0, 1}}: singular values {shown}; their squares enclose the leverages' sum {total}"


def property_check(rng: random.Random) -> str:
    """Random F, dependent rows included: projector, budget, bounds and the decoder, in exact arithmetic."""
    count = 25
    for _ in range(count):
        r, n = rng.randint(1, 3), rng.randint(1, 4)
        f = Matrix(r, n, lambda i, j: Rational(rng.choice([-1, 0, 0, 1, 2])))
        p = projector(f)
        expect(p * p == p == p.T and f * p == f, f"F⁺F = {p} is not the projector on the rows of {f}")
        ell = leverages(f)
        expect(all(0 <= x <= 1 for x in ell) and sum(ell) == rank.rank(f), f"leverages {ell} of {f}")
        decoder = Matrix([Rational(rng.randint(-3, 3), 2) for _ in range(r)])
        for j in range(n):
            expect(
                unexplained(f, j, decoder, [sympy.S.One] * n) >= 1 - ell[j], f"a decoder beats ℓ_{j} = {ell[j]} of {f}"
            )
    return f"{count} random F: a projector, Σℓ = rank F, 0 ≤ ℓ ≤ 1, and no random decoder does better, exactly"


CLAIM = Claim(
    id="T8",
    title="What survives compression",
    statement="ℓ_j = (F⁺F)_jj ∈ [0,1] is the share of position j that a decoder can recover; Σ ℓ_j = rank F ≤ r.",
    latex=r"\ell_j=e_j^\top F^+F e_j,\qquad \sum_j\ell_j=\operatorname{rank}F\le r",
    source="article, opening (a short but decisive disclosure); ours",
    derive=derive,
    enclosure=enclosure,
    property=property_check,
    scale=at_scale.CHECKS["T8"],
    theorems=(
        "pseudo_inverse_exists",
        "leverage_unique",
        "leverage_bounds",
        "leverage_sum",
        "leverage_one_count",
        "decoder_error",
        "leverage_one_iff",
        "leverage_zero_iff",
    ),
    reading=(
        "The share is for uncorrelated positions and affine decoders: the exact linear limit. Whether a decisive "
        "disclosure survives in a trained model stays an empirical question."
    ),
)
