"""T1: the article's example, calculated exactly in ℚ(e^{1/2})."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import sympy
from sympy import Expr, Matrix, Rational, latex

from ..numeric import scale as at_scale
from ..numeric.balls import confirm
from ..symbolic import attention, derivation
from ..symbolic.derivation import Derivation
from ..symbolic.field import remainder
from .claim import Claim, expect

if TYPE_CHECKING:
    import random

PRINTED = {
    "y": "25.7521",
    "ȳ": "27.2636",
    "ȳ − y": "1.5115",
    "a₀": "0.0900",
    "a₁": "0.2447",
    "a₂": "0.6652",
    "b₀": "0.1824",
    "b₁": "0.8176",
}


def closed_full() -> Expr:
    """y = 10(1 + 2e + 3e²)/(1 + e + e²)."""
    e = sympy.E
    return 10 * (1 + 2 * e + 3 * e**2) / (1 + e + e**2)


def closed_compressed() -> Expr:
    """ȳ = 15(1 + 2e^{3/2})/(1 + e^{3/2})."""
    h = sympy.exp(Rational(3, 2))
    return 15 * (1 + 2 * h) / (1 + h)


def closed_error() -> Expr:
    """ȳ − y = 5(1 + 2√e)/(1 + 2√e + 2e + e^{3/2}), with e^{3/2} ahead of e³ cancelled: visibly positive."""
    h = sympy.exp(Rational(1, 2))
    return 5 * (1 + 2 * h) / (1 + 2 * h + 2 * h**2 + h**3)


def derive() -> Derivation:
    """From K, V, E and F to both outputs and their difference."""
    x = attention.article_example()
    e, h = sympy.E, sympy.exp(Rational(3, 2))
    full, compressed = Matrix([[1, e, e**2]]) / (1 + e + e**2), Matrix([[1, h]]) / (1 + h)
    return Derivation(
        "T1: the example that can be calculated",
        (
            derivation.identity(
                "K̄ = E K",
                x.compressed_keys,
                Matrix([Rational(3, 2), 3]),
                "slot 0 averages the keys 1 and 2",
                shown=f"{latex(x.e)}{latex(x.keys)}",
            ),
            derivation.identity(
                "V̄ = F V",
                x.compressed_values,
                Matrix([15, 30]),
                "and the values 10 and 20",
                shown=f"{latex(x.f)}{latex(x.values)}",
            ),
            derivation.identity("full weights", x.weights_full, full, "softmax of (1, 2, 3); divide by e"),
            derivation.identity("y", x.output_full, closed_full(), "the weights times (10, 20, 30)"),
            derivation.identity("compressed weights", x.weights_compressed, compressed, "softmax of (3/2, 3)"),
            derivation.identity("ȳ", x.output_compressed, closed_compressed(), "the weights times (15, 30)"),
            derivation.identity(
                "the same through the effective mixing: ȳ = (BF)V",
                (attention.mixing(x.query, x.keys, x.e, x.f) * x.values)[0, 0],
                closed_compressed(),
                "B(FV) = (BF)V",
            ),
            derivation.identity(
                "ȳ − y as one fraction",
                x.error,
                closed_error(),
                "common factors cancel in ℚ(e^{1/2})",
                shown=f"{latex(closed_compressed())}-{latex(closed_full())}",
            ),
            derivation.positive("ȳ > y", closed_error(), "every coefficient in √e is positive"),
        ),
    )


def values() -> dict[str, Expr]:
    """The numbers that the article prints, as exact expressions."""
    x = attention.article_example()
    full, compressed = x.weights_full, x.weights_compressed
    return {
        "y": x.output_full,
        "ȳ": x.output_compressed,
        "ȳ − y": x.error,
        **{f"a{'₀₁₂'[j]}": full[j] for j in range(3)},
        **{f"b{'₀₁'[s]}": compressed[s] for s in range(2)},
    }


def enclosure(digits: int) -> str:
    """Every printed decimal rounds the enclosure of its exact value; mpmath agrees at the same digits."""
    shown = {}
    for name, expression in values().items():
        ball = confirm(expression, digits)
        printed = Fraction(PRINTED[name])
        half = Fraction(1, 2 * 10 ** len(PRINTED[name].split(".")[1]))
        expect(
            printed - half <= ball.lower and ball.upper <= printed + half, f"{name} = {ball}, printed {PRINTED[name]}"
        )
        shown[name] = str(ball)
    return f"y = {shown['y']}, ȳ = {shown['ȳ']}, ȳ − y = {shown['ȳ − y']}; all {len(shown)} printed decimals round them"


def property_check(rng: random.Random) -> str:
    """Random examples: the head agrees with the sums written out, in exact arithmetic, and the weights sum to 1."""
    count = 6
    for _ in range(count):
        n, r = rng.choice([(2, 1), (3, 2), (4, 2)])
        keys = [Rational(rng.randint(-4, 4), 2) for _ in range(n)]
        vals = [Rational(rng.randint(-9, 9)) for _ in range(n)]
        e, f = ([[Rational(rng.randint(-2, 2), 2) for _ in range(n)] for _ in range(r)] for _ in range(2))
        found = attention.compressed_attention([[1]], [[k] for k in keys], [[v] for v in vals], e, f)[0, 0]
        power = [sympy.exp(sum((a * k for a, k in zip(row, keys, strict=True)), sympy.S.Zero)) for row in e]
        carried = [sum((a * v for a, v in zip(row, vals, strict=True)), sympy.S.Zero) for row in f]
        by_hand = sympy.Add(*(p * c for p, c in zip(power, carried, strict=True))) / sympy.Add(*power)
        expect(remainder(found, by_hand) == 0, f"ȳ = {found} for K = {keys}, V = {vals}, E = {e}, F = {f}")
        weights = attention.slot_weights([[1]], [[k] for k in keys], e)
        expect(remainder(sympy.Add(*weights), 1) == 0, f"the weights {weights} do not sum to 1")
    return f"{count} random examples agree with the sums written out, exactly"


CLAIM = Claim(
    id="T1",
    title="The example that can be calculated",
    statement="For q = 1, K = (1,2,3), V = (10,20,30) and E = F = [[½,½,0],[0,0,1]]: y ≈ 25.7521, ȳ ≈ 27.2636.",
    latex=r"y=\frac{10(1+2e+3e^2)}{1+e+e^2},\qquad \bar y=\frac{15(1+2e^{3/2})}{1+e^{3/2}}",
    source="article, 'A compression you can calculate'",
    derive=derive,
    enclosure=enclosure,
    property=property_check,
    scale=at_scale.CHECKS["T1"],
    largest_n=at_scale.LARGEST["T1"],
    theorems=(
        "full_weights",
        "compressed_weights",
        "full_output",
        "compressed_output",
        "output_difference",
        "printed_weights",
        "printed_outputs",
        "expR_half_enclosed",
    ),
    reading="One fixed, illustrative projection, not a learned one: the difference of 1.51 bounds nothing else.",
)
