"""T2: why compressed attention is approximate: Jensen's gap, before normalisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Matrix, MatrixSymbol, Rational, Symbol

from ..numeric import scale as at_scale
from ..numeric.balls import confirm
from ..symbolic import attention, derivation, softmax
from ..symbolic.attention import Example
from ..symbolic.derivation import Derivation
from ..symbolic.field import is_zero, sign
from .claim import Claim, expect

if TYPE_CHECKING:
    import random

LARGEST_SYMBOLIC = 4


def jensen_gap(weights: list[Expr], x: list[Expr]) -> Expr:
    """Σ w_j e^{x_j} − exp(Σ w_j x_j) for weights of sum 1."""
    mean = sympy.Add(*(w * v for w, v in zip(weights, x, strict=True)))
    return sympy.Add(*(w * sympy.exp(v) for w, v in zip(weights, x, strict=True))) - sympy.exp(mean)


def corrected_output(example: Example, sizes: list[int]) -> Expr:
    """ȳ when log m is added to the score of a slot that averages m positions."""
    scores = attention.scores(example.query, example.compressed_keys)
    lifted = scores + Matrix([[sympy.log(m) for m in sizes]])
    return (softmax.row_softmax(lifted) * example.compressed_values)[0, 0]


def harmed_example() -> tuple[Example, list[int]]:
    """An example whose output error grows when log m is added."""
    base = attention.article_example()
    return Example(base.query, Matrix([0, 4, 2]), Matrix([1, 0, 0]), base.e, base.f), [2, 1]


def summed_gaps() -> tuple[Any, Any]:
    """Σ w (e^x − e^μ(1 + x − μ)) for a symbolic number of positions, and what it opens up to; w is a row."""
    m = Symbol("m", integer=True, positive=True)
    mu, tangent = sympy.symbols("mu tangent", real=True)  # `tangent` stands for e^μ
    w = MatrixSymbol("w", 1, m)
    powers, x, ones = (MatrixSymbol(name, m, 1) for name in ("e^x", "x", "1_m"))
    gaps = w * (powers - tangent * (ones + x - mu * ones))
    return gaps, w * powers - tangent * (w * ones) - tangent * (w * x) + tangent * mu * (w * ones)


def _gap_is_tangents(m: int) -> bool:
    xs = list(sympy.symbols(f"x0:{m}", real=True))
    ws = list(sympy.symbols(f"w0:{m - 1}", nonnegative=True))
    ws.append(1 - sympy.Add(*ws))
    at = sympy.Add(*(p * q for p, q in zip(ws, xs, strict=True)))
    tangents = [p * sympy.exp(at) * (sympy.exp(q - at) - 1 - (q - at)) for p, q in zip(ws, xs, strict=True)]
    return is_zero(jensen_gap(ws, xs) - sympy.Add(*tangents))


def derive() -> Derivation:
    """Jensen by squares for two positions, by the tangent for any number; what it says of slots and what not."""
    a, b, u, mean = sympy.symbols("a b u mu", real=True)
    w, x, h = sympy.symbols("w x h", real=True)
    half = Rational(1, 2)
    steps: list[derivation.Step | derivation.Lemma] = [
        derivation.squares(
            "two positions, equal weights: (e^a + e^b)/2 ≥ e^{(a+b)/2}",
            (sympy.exp(a) + sympy.exp(b)) / 2,
            sympy.exp((a + b) / 2),
            [(half, sympy.exp(a / 2) - sympy.exp(b / 2))],
            "the difference is half the square of e^{a/2} − e^{b/2}, 0 iff a = b",
        ),
        derivation.convex("e^u ≥ 1 + u, with equality only at 0", sympy.exp(u) - 1 - u, u, 0, "it bends upwards"),
        derivation.identity(
            "at each position the gap to the tangent at the mean μ is e^μ times e^{x−μ} − 1 − (x−μ) ≥ 0",
            w * (sympy.exp(x) - sympy.exp(mean) * (1 + x - mean)),
            w * sympy.exp(mean) * (sympy.exp(x - mean) - 1 - (x - mean)),
            "e^x = e^μ e^{x−μ}",
        ),
    ]
    steps += [
        derivation.matrices(
            "any number m of positions: the sum of these gaps, with the weights as a row w, is "
            "Σ w e^x − e^μ (Σ w + Σ w x − μ Σ w)",
            *summed_gaps(),
            "sums are linear; m stays a symbol",
            r"\sum_j w_j\left(e^{x_j}-e^\mu(1+x_j-\mu)\right)=\sum_j w_je^{x_j}"
            r"-e^\mu\left(\sum_j w_j+\sum_j w_jx_j-\mu\sum_j w_j\right)",
        ),
        derivation.identity(
            "with Σ w = 1 and Σ w x = μ the bracket is 1: what is left is the gap of Jensen",
            sympy.exp(mean) * (1 + mean - mean * 1),
            sympy.exp(mean),
            "the linear parts cancel",
            r"e^\mu(1+\mu-\mu\cdot 1)=e^\mu",
        ),
        derivation.cases(
            f"the same written out for m = 2 … {LARGEST_SYMBOLIC}, any weights of sum 1",
            lambda: range(2, LARGEST_SYMBOLIC + 1),
            _gap_is_tangents,
            "decided entry by entry",
            r"\sum_j w_j e^{x_j}-e^{\mu}=\sum_j w_j e^{\mu}\left(e^{x_j-\mu}-1-(x_j-\mu)\right)",
        ),
    ]
    top, total, rest = sympy.symbols("w_max T S", positive=True)
    slack, mass = Symbol("d", nonnegative=True), Symbol("p", positive=True)
    article = attention.article_example()
    full, compressed = article.weights_full, article.weights_compressed
    share = softmax.uniform_slot_share([1, 2])
    m = sympy.Symbol("m", positive=True)
    steps += [
        derivation.lemma(
            "The same for any number of positions, with equality iff all x_j with w_j > 0 agree.",
            "Jensen 1906; finite sums are linear",
            "jensen_exp, jensen_exp_eq",
            r"\exp\left(\sum_j w_jx_j\right)\le\sum_j w_j e^{x_j}",
        ),
        derivation.positive(
            "so a slot carries at most max w of the mass that its positions carry in full attention",
            top * mass - (top - slack) * mass,
            "position by position: (max w − w_j) e^{x_j} ≥ 0, with w_j = max w − d and p = e^{x_j}",
            relation=">=",
            latex=r"\sum_j w_je^{x_j}\le\max_j w_j\,\sum_j e^{x_j}",
        ),
        derivation.identity(
            "the example's slot 0: its share of the total is 1/(2 cosh ½)",
            share,
            1 / (2 * sympy.cosh(half)),
            "e^{3/2}/(e + e²), divide by e^{3/2}",
        ),
        derivation.squares(
            "cosh h ≥ 1", sympy.cosh(h), 1, [(half, sympy.exp(h / 2) - sympy.exp(-h / 2))], "half a square"
        ),
        derivation.compare("so it is less than 1/2", share, "<", half, "cosh ½ > 1"),
        derivation.compare(
            "normalised weights obey no such bound: slot 0 has more than half of the full weight of its positions",
            compressed[0],
            ">",
            (full[0] + full[1]) / 2,
            "every other slot shrinks too",
        ),
        derivation.identity(
            "adding log m to the score removes the factor m: m · exp(mean) over the total, at most 1",
            sympy.exp(a + sympy.log(m)),
            m * sympy.exp(a),
            "e^{a + log m} = m e^a",
            shown=r"e^{a+\log m}",
        ),
        derivation.identity(
            "when all slots average equally many positions it has no effect",
            m * total / (m * total + m * rest),
            total / (total + rest),
            "m cancels",
        ),
        derivation.identity(
            "in the example it gives 30(1 + e^{3/2})/(2 + e^{3/2})",
            corrected_output(article, [2, 1]),
            30 * (1 + sympy.exp(Rational(3, 2))) / (2 + sympy.exp(Rational(3, 2))),
            "weights (2e^{3/2}, e³), values (15, 30)",
        ),
        derivation.compare(
            "that lowers the example's error",
            (corrected_output(article, [2, 1]) - article.output_full) ** 2,
            "<",
            article.error**2,
            "decided in ℚ(e^{1/2})",
            latex="",
        ),
        derivation.compare(
            "it can increase the error: K = (0, 4, 2), V = (1, 0, 0)",
            _squared_error(*harmed_example()),
            ">",
            harmed_example()[0].error ** 2,
            "so it is a correction to measure, not a fix",
            latex="",
        ),
    ]
    return Derivation("T2: why compressed attention is approximate", tuple(steps))


def _squared_error(example: Example, sizes: list[int]) -> Expr:
    return (corrected_output(example, sizes) - example.output_full) ** 2


def enclosure(digits: int) -> str:
    """The example's share of mass, and its error before and after log m."""
    x = attention.article_example()
    share = confirm(softmax.uniform_slot_share([1, 2]), digits)
    cosh = confirm(1 / (2 * sympy.cosh(Rational(1, 2))), digits)
    error, corrected = confirm(x.error, digits), confirm(corrected_output(x, [2, 1]) - x.output_full, digits)
    expect(share.overlaps(cosh), f"the share {share} is not 1/(2 cosh ½) = {cosh}")
    expect(abs(float(corrected)) < abs(float(error)), f"log m moves the error from {error} to {corrected}")
    return f"slot 0 carries {share} of the mass of its positions; error {error}, with log m {corrected}"


def property_check(rng: random.Random) -> str:
    """Random weights and scores: the gap's sign in ℚ(e^{1/k}); and how often log m raises the error."""
    count, raised = 30, 0
    for _ in range(count):
        m = rng.randint(2, 4)
        raw = [rng.randint(0, 3) for _ in range(m - 1)] + [rng.randint(1, 3)]
        weights = [Rational(w, sum(raw)) for w in raw]
        x = [Rational(rng.randint(-4, 4), 2) for _ in range(m)]
        alike = len({v for w, v in zip(weights, x, strict=True) if w}) == 1
        found = sign(jensen_gap(list(weights), list(x)))
        expect(found == (0 if alike else 1), f"Jensen's gap has sign {found} for weights {weights}, scores {x}")
        base = attention.article_example()
        keys, vals = (Matrix([Rational(rng.randint(-6, 6), 2) for _ in range(3)]) for _ in range(2))
        example = Example(base.query, keys, vals, base.e, base.f)
        raised += sign(_squared_error(example, [2, 1]) - example.error**2) > 0
    expect(0 < raised < count, f"log m raised the error in {raised} of {count} examples")
    return f"{count} random gaps are ≥ 0, and 0 iff the scores agree; log m raised the error in {raised} examples"


CLAIM = Claim(
    id="T2",
    title="Why it is approximate",
    statement="exp(Σ w x) ≤ Σ w exp(x): unnormalised, a slot that averages m positions has at most 1/m of their mass.",
    latex=r"\exp\left(\sum_j w_jx_j\right)\le\sum_j w_je^{x_j}",
    source="article, 'A compression you can calculate'; Jensen",
    derive=derive,
    enclosure=enclosure,
    property=property_check,
    scale=at_scale.CHECKS["T2"],
    theorems=(
        "jensen_exp",
        "jensen_exp_eq",
        "slot_mass_max",
        "slot_mass_mean",
        "slot_mass_log",
        "example_mass",
        "normalised_exceeds",
    ),
    reading=(
        "The bound holds before normalisation. After it every other slot shrinks too, so a normalised slot weight can "
        "exceed its share. Adding log m to the score of a slot helps in some cases and harms in others: measure it."
    ),
)
