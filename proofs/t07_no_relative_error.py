"""T7: no relative error bound holds for all values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy
from sympy import Expr, Matrix, MatrixSymbol, Rational

from ..numeric import scale as at_scale
from ..numeric.balls import confirm
from ..symbolic import attention, derivation, rank, softmax
from ..symbolic.derivation import Derivation
from ..symbolic.field import is_zero
from .claim import Claim, expect

if TYPE_CHECKING:
    import random

LARGEST_SYMBOLIC = 4


def signed_minors(f: Matrix) -> Matrix:
    """For F (r, r+1): its signed minors of order r, a vector that F sends to 0 (a determinant with two equal rows)."""
    r = f.rows
    columns = range(r + 1)
    return Matrix([(-1) ** j * rank.det(f.extract(list(range(r)), [c for c in columns if c != j])) for j in columns])


def blind_values() -> Matrix:
    """(1, −1, 0)ᵀ: values that the article's projection cannot see."""
    return Matrix([1, -1, 0])


def seen_and_blind() -> tuple[Matrix, Matrix]:
    """Y and Ȳ for V = (1, −1, 0), Q = K = (1, 2, 3) and the article's projection."""
    q = Matrix([1, 2, 3])
    v, e = blind_values(), attention.article_projection()
    return attention.full_attention(q, q, v), attention.compressed_attention(q, q, v, e)


def squared_norm(vector: Matrix) -> Expr:
    """Sum of the squares of the entries."""
    return sympy.Add(*(entry**2 for entry in vector))


def derive() -> Derivation:
    """A vector that F does not see, for every F; what full attention makes of it; what does hold."""
    n, r, k = sympy.symbols("n r k", integer=True, positive=True)
    b, f, v = MatrixSymbol("B", n, r), MatrixSymbol("F", r, n), MatrixSymbol("v", n, 1)
    a, values = MatrixSymbol("A", n, n), MatrixSymbol("V", n, k)
    steps: list[derivation.Step | derivation.Lemma] = []
    for slots in range(1, LARGEST_SYMBOLIC + 1):
        free = rank.symbolic("f", slots, slots + 1)
        steps.append(
            derivation.identity(
                f"r = {slots}, n = {slots + 1}, any F: its signed minors are a vector v with F v = 0",
                free * signed_minors(free),
                sympy.zeros(slots, 1),
                "each entry is a determinant with two equal rows; v ≠ 0 when F has rank r, else the kernel is larger",
                latex=r"F v = 0,\quad v_j = (-1)^j\det F_{\hat\jmath}" if slots == 1 else "",
            )
        )
    y, blind = seen_and_blind()
    q = Matrix([1, 2, 3])
    m, x = rank.symbolic("m", 2, 2), rank.symbolic("v", 2, 2)
    steps += [
        derivation.lemma(
            "For every r < n some v ≠ 0 has F v = 0.", "fewer equations than unknowns (rank–nullity)", "blind_direction"
        ),
        derivation.matrices(
            "(BF)v = B(Fv): where Fv = 0, Ȳ = 0 for every B", (b * f) * v, b * (f * v), "associativity", "(BF)v=B(Fv)"
        ),
        derivation.linear(
            "in the example the kernel of F is spanned by (1, −1, 0)ᵀ",
            attention.article_projection(),
            "exact elimination over ℚ",
            kernel_is=blind_values(),
        ),
        derivation.identity("there Ȳ = 0", blind, sympy.zeros(3, 1), "V = (1, −1, 0)ᵀ", shown=r"B(FV)"),
        derivation.linear(
            "A = softmax of Q = K = (1,2,3) is nonsingular: Vandermonde in e, e², e³ (T5)",
            attention.full_weights(q, q),
            "with row i of the logits shifted by −i, z = (e, e², e³)",
            det_is=softmax.determinant_law([sympy.E, sympy.E**2, sympy.E**3]),
            latex="",
        ),
        derivation.compare("so Y = A v is not 0", squared_norm(y), ">", 0, "decided in ℚ(e)", latex=r"\|Y\|^2>0"),
        derivation.identity(
            "hence ‖Y − Ȳ‖ = ‖Y‖: no factor c < 1 bounds the error by c‖Y‖",
            squared_norm(y - blind),
            squared_norm(y),
            "Ȳ = 0",
            latex=r"\|Y-\bar Y\|=\|Y\|",
        ),
        derivation.lemma(
            "For all r < n there are a nonsingular softmax matrix A (T5) and such a v: no c < 1 works.",
            "T5 and the kernel vector above",
            "softmax_outer_rank, blind_direction, no_relative_error",
        ),
        derivation.matrices(
            "what does hold: Y − Ȳ = (A − BF)V", a * values - (b * f) * values, (a - b * f) * values, "distributivity"
        ),
        derivation.identity(
            "‖MV‖_F² is the sum of ‖M v‖² over the columns v of V, each at most ‖M‖₂²‖v‖² by the definition of ‖M‖₂",
            squared_norm(m * x),
            squared_norm(m * x[:, 0]) + squared_norm(m * x[:, 1]),
            "column by column, here for 2 × 2",
            latex=r"\|Y-\bar Y\|_F\le\|A-BF\|_2\,\|V\|_F",
        ),
    ]
    return Derivation("T7: no relative error bound", tuple(steps))


def enclosure(digits: int) -> str:
    """‖Y‖ for the values that compression does not see."""
    y, blind = seen_and_blind()
    norm = confirm(sympy.sqrt(squared_norm(y)), digits)
    expect(norm.lower > 0 and is_zero(squared_norm(blind)), f"‖Y‖ = {norm}, Ȳ = {list(blind)}")
    return f"V = (1,−1,0): ‖Y‖ = {norm}, Ȳ = 0"


def property_check(rng: random.Random) -> str:
    """Random F: an exact kernel vector, and the compressed output is 0 for random weights."""
    count = 30
    for _ in range(count):
        n = rng.randint(2, 5)
        r = rng.randint(1, n - 1)
        f = Matrix(r, n, lambda i, j: Rational(rng.randint(-3, 3)))
        b = Matrix(n, r, lambda i, j: Rational(rng.randint(0, 5), 5))
        kernel = rank.null_space(f)
        expect(kernel.cols == n - rank.rank(f) >= n - r, f"the kernel of {f} has dimension {kernel.cols}")
        expect((b * f) * kernel == sympy.zeros(n, kernel.cols), f"BF does not send the kernel of {f} to 0")
    return f"{count} random F (r < n): the kernel has dimension n − rank F and every BF sends it to 0, exactly"


CLAIM = Claim(
    id="T7",
    title="No relative error bound",
    statement="For r < n some v ≠ 0 has Fv = 0: Ȳ = 0 for every B, while Y = Av ≠ 0; no c < 1 bounds the error.",
    latex=r"Fv=0\ \Rightarrow\ \bar Y=B(Fv)=0,\qquad Y=Av\neq 0",
    source="article, 'A compression you can calculate' (no error bound); ours",
    derive=derive,
    enclosure=enclosure,
    property=property_check,
    scale=at_scale.CHECKS["T7"],
    theorems=(
        "blind_direction",
        "full_attention_sees",
        "no_relative_error",
        "example_blind_span",
        "output_error_bound",
    ),
    reading=(
        "It rules out a bound for all values. For given values the error may be small: ‖Y − Ȳ‖_F ≤ ‖A − BF‖₂ ‖V‖_F "
        "holds, with a factor that has to be computed for the matrices at hand."
    ),
)
