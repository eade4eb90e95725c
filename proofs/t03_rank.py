"""T3: rank(BF) ≤ r for every n and r, over any field."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from sympy import BlockMatrix, Matrix, MatrixSymbol, Symbol, ZeroMatrix, block_collapse

from ..numeric import scale as at_scale
from ..symbolic import derivation, rank
from ..symbolic.derivation import Derivation
from .claim import Claim, expect

if TYPE_CHECKING:
    import random

LARGEST_SYMBOLIC = 4


def mixing_minor(r: int) -> Matrix:
    """B_I F_J for symbolic B_I (r+1, r) and F_J (r, r+1): a minor of order r + 1 of BF is its determinant."""
    return rank.symbolic("b", r + 1, r) * rank.symbolic("f", r, r + 1)


def choices(n: int, k: int) -> list[tuple[int, ...]]:
    """All sets of k of n indices."""
    return list(combinations(range(n), k))


def _restricts(rows: tuple[int, ...], columns: tuple[int, ...]) -> bool:
    b, f = rank.symbolic("b", 4, 2), rank.symbolic("f", 2, 4)
    part = b.extract(list(rows), [0, 1]) * f.extract([0, 1], list(columns))
    return bool((b * f).extract(list(rows), list(columns)) == part)


def padded_product(r: Symbol) -> Any:
    """[B_I | 0] times F_J over a zero row, for a symbolic r, worked out block by block."""
    b, f = MatrixSymbol("B_I", r + 1, r), MatrixSymbol("F_J", r, r + 1)
    wide = BlockMatrix([[b, ZeroMatrix(r + 1, 1)]])
    return block_collapse(wide * BlockMatrix([[f], [ZeroMatrix(1, r + 1)]]))


def _minor_vanishes(r: int) -> bool:
    b, f = rank.symbolic("b", r + 1, r), rank.symbolic("f", r, r + 1)
    left, right = rank.padded(b, f)
    same = derivation.difference(left * right, b * f) == {}
    return bool(same and rank.det(left) == 0 and rank.det(mixing_minor(r)) == 0)


def derive() -> Derivation:
    """The padding argument for all sizes, the symbolic minors for r = 1 … 4, and that the bound is attained."""
    r = Symbol("r", integer=True, positive=True)
    rows, columns = MatrixSymbol("B_I", r + 1, r), MatrixSymbol("F_J", r, r + 1)
    steps: list[derivation.Step | derivation.Lemma] = [
        derivation.cases(
            "n = 4, r = 2: each minor of BF is the determinant of rows of B times columns of F",
            lambda: ((rows, columns) for k in (2, 3) for rows in choices(4, k) for columns in choices(4, k)),
            _restricts,
            "entry (i, j) of BF uses row i of B and column j of F alone",
            r"(BF)_{I,J} = B_I F_J",
        ),
        derivation.matrices(
            "for every r: B_I with a zero column and F_J with a zero row, both square, have the same product",
            padded_product(r),
            rows * columns,
            "block by block: B_I F_J + 0·0",
            r"\begin{bmatrix}B_I&0\end{bmatrix}\begin{bmatrix}F_J\\0\end{bmatrix}=B_IF_J",
        ),
        derivation.cases(
            f"r = 1 … {LARGEST_SYMBOLIC}, free entries: the padded squares have the product B_I F_J and determinant 0, "
            "and the minor is 0 as a polynomial in the entries",
            lambda: range(1, LARGEST_SYMBOLIC + 1),
            _minor_vanishes,
            "expanded and cancelled term by term",
            r"\det(B_IF_J)=0,\quad B_I\in K^{(r+1)\times r}",
        ),
    ]
    steps += [
        derivation.lemma(
            "The same for every r and n: the padded squares give the minor as det·det = 0·0.",
            "det(XY) = det X · det Y (Cauchy)",
            "mixing_minor_eq0",
            r"\det(B_I F_J) = \det [B_I\,|\,0]\cdot\det\begin{bmatrix}F_J\\0\end{bmatrix} = 0\cdot 0",
        ),
        derivation.lemma(
            "The other side: rank B + rank F − r ≤ rank(BF).",
            "Sylvester 1884",
            "mixing_rank_ge",
            r"\operatorname{rank}B+\operatorname{rank}F-r\le\operatorname{rank}(BF)",
        ),
        derivation.lemma(
            "Generic B and F have rank(BF) = min(n, r).",
            "a polynomial that is not zero vanishes on a thin set only",
            "mixing_rank_generic",
        ),
        derivation.cases(
            "instances with free entries, (n, r) = (2, 1), (3, 2), (2, 3): the rank is min(n, r)",
            lambda: ((2, 1), (3, 2), (2, 3)),
            lambda n, r: rank.rank(rank.symbolic("b", n, r) * rank.symbolic("f", r, n)) == min(n, r),
            "elimination over the field of rational functions in the entries",
            r"\operatorname{rank}(BF)=\min(n,r)",
        ),
        derivation.linear(
            "along a line through a product of rank 1 the rank over ℚ(t) is 2, the most that r = 2 allows",
            Matrix([[1, 0], [0, Symbol("t")], [1, 1]]) * Matrix([[1, 1, 0], [0, Symbol("t"), 1]]),
            "elimination over ℚ(t)",
            rank_is=2,
        ),
    ]
    return Derivation("T3: the effective mixing has rank at most r", tuple(steps))


def property_check(rng: random.Random) -> str:
    """Random integer matrices: both inequalities, exactly."""
    count = 40
    for _ in range(count):
        n, r = rng.randint(1, 9), rng.randint(1, 6)
        b, f = ([[rng.choice([-2, -1, 0, 0, 1, 3]) for _ in range(w)] for _ in range(h)] for h, w in ((n, r), (r, n)))
        product = Matrix(b) * Matrix(f)
        found, rb, rf = rank.rank(product), rank.rank(b), rank.rank(f)
        expect(rb + rf - r <= found <= min(rb, rf, r), f"rank(BF) = {found} with rank B = {rb}, rank F = {rf}, r = {r}")
    return f"{count} random integer pairs: rank B + rank F − r ≤ rank(BF) ≤ r, by exact elimination"


CLAIM = Claim(
    id="T3",
    title="The effective mixing has rank at most r",
    statement="rank(BF) ≤ r for every n and r, over any field; generically it is min(n, r).",
    latex=r"\operatorname{rank}(BF)\le r",
    source="article, 'Which matrix has low rank?'",
    derive=derive,
    property=property_check,
    scale=at_scale.CHECKS["T3"],
    theorems=(
        "mixing_rank_le",
        "mixing_minor_eq0",
        "mixing_rank_ge",
        "rank_le_factors",
        "mixing_rank_full",
        "mixing_rank_generic",
    ),
    reading=(
        "It speaks of the product BF that mixes positions, after the softmax, for an unmasked head. It says nothing of "
        "the full softmax matrix, which can have full rank whatever the rank of its logits (T5)."
    ),
)
