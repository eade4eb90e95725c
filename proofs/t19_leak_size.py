"""T19: how large a leak can be when all forbidden inputs move at once."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy
from sympy import Expr, Rational, Symbol

from ..numeric.balls import enclose
from ..symbolic import derivation, softmax
from ..symbolic.derivation import Derivation
from ..symbolic.prefix import Head
from .claim import Claim, Scale, expect
from .t11_exact import random_head


def by_old_values(weights: Sequence[Any], moved: Sequence[Any], before: Sequence[Any], after: Sequence[Any]) -> Expr:
    """Σ w′ (a′ − a) + Σ (w′ − w) a, for slots with weights w → w′ that carry a → a′."""
    rows = zip(weights, moved, before, after, strict=True)
    return sympy.Add(*(v * (b - a) + (v - w) * a for w, v, a, b in rows))


def by_new_values(weights: Sequence[Any], moved: Sequence[Any], before: Sequence[Any], after: Sequence[Any]) -> Expr:
    """Σ w (a′ − a) + Σ (w′ − w) a′."""
    rows = zip(weights, moved, before, after, strict=True)
    return sympy.Add(*(w * (b - a) + (v - w) * b for w, v, a, b in rows))


def combined(head: Head, matrix: sympy.Matrix, vector: Sequence[Any]) -> list[Expr]:
    """Σ_j matrix[s, j] vector[j] for each seen slot."""
    return [sympy.Add(*(matrix[s, j] * vector[j] for j in range(head.n))) for s in head.seen]


def bound(head: Head, values: Sequence[Any], change: Sequence[Any], step: Sequence[Any]) -> Expr:
    """T19 for one move: `change` of the forbidden values and `step` of the forbidden scores, both 0 elsewhere."""
    moved, tilt = combined(head, head.f, change), combined(head, head.e, step)
    carried = combined(head, head.f, values)
    spread = max(carried) - min(carried)
    return max(map(abs, moved)) + spread * sympy.tanh((max(tilt) - min(tilt)) / 4)


def at_once(head: Head) -> tuple[Fraction, Fraction]:
    """The checker's two numbers: max Σ_J |F[s, j]|, and ¼ max Σ_J |E[s, j] − E[u, j]| · max Σ_i |F[s, i] − F[u, i]|."""

    def apart(matrix: sympy.Matrix, positions: Sequence[int]) -> Rational:
        pairs = ((s, u) for s in head.seen for u in head.seen)
        return max(sympy.Add(*(abs(matrix[s, j] - matrix[u, j]) for j in positions)) for s, u in pairs)

    size = max(sympy.Add(*(abs(head.f[s, j]) for j in head.forbidden)) for s in head.seen)
    product = apart(head.e, head.forbidden) * apart(head.f, range(head.n)) / 4
    return Fraction(size.p, size.q), Fraction(product.p, product.q)


def turning_head() -> Head:
    """Two slots told apart by both forbidden positions: a tilt by them together is twice that of either."""
    return Head.of([[0, 0, 0], [0, 1, 1]], [[0, 0, 0], [1, 0, 0]], forbidden=[1, 2])


def derive() -> Derivation:
    """Values and weights apart; a mean; the odds of a set of slots; how far a weight moves; where each is attained."""
    w, v = sympy.symbols("w0:3", positive=True), sympy.symbols("u0:3", positive=True)
    a, b = sympy.symbols("a0:3", real=True), sympy.symbols("b0:3", real=True)
    top, short, gain, low = sympy.symbols("M d g l", nonnegative=True)
    shorts = sympy.symbols("d0:3", nonnegative=True)
    odds_a, odds_b, least, most = sympy.symbols("P Q m T", positive=True)
    alpha, beta = sympy.symbols("alpha beta", nonnegative=True)
    high_score, low_score, x, h = sympy.symbols("delta_max delta_min x h", real=True)
    theta = Symbol("theta", nonnegative=True)
    plus, minus = sympy.symbols("p0:2", nonnegative=True), sympy.symbols("n0:2", nonnegative=True)
    k = sympy.symbols("k0:2", real=True)
    eta, eps, m = sympy.symbols("eta epsilon m", positive=True)
    step = softmax.two_slot_step(x, h)
    change = sympy.Add(*(q * e - p * d for p, q, d, e in zip(w, v, a, b, strict=True)))
    return Derivation(
        "T19: the size of a leak",
        (
            derivation.identity(
                "y′ − y = Σ w′ (a′ − a) + Σ (w′ − w) a: slots carry a → a′ and weigh w → w′",
                change,
                by_old_values(w, v, a, b),
                "slot by slot, here three; a = FV before the move",
                latex=r"y'-y=\sum_s w'_s(F_J\Delta v)_s+\sum_s(w'_s-w_s)(FV)_s",
            ),
            derivation.identity(
                "and as well Σ w (a′ − a) + Σ (w′ − w) a′: so V may be taken after the move",
                change,
                by_new_values(w, v, a, b),
                "slot by slot",
                latex="",
            ),
            derivation.positive(
                "the first sum is a mean of (F_J Δv)_s, so at most the largest in size",
                top * sympy.Add(*w) - sympy.Add(*((top - d) * q for d, q in zip(shorts, w, strict=True))),
                "Σ w (M − d) with d ≥ 0; three slots",
                relation=">=",
                latex=r"\left|\sum_s w'_s(F_J\Delta v)_s\right|\le\max_s|(F_J\Delta v)_s|",
            ),
            derivation.positive(
                "moving scores by δ multiplies the odds of a set A of slots by at most e^{max δ}/e^{min δ} = T/m",
                most * odds_a * (least + beta) * odds_b - (most - alpha) * odds_a * least * odds_b,
                "P and Q are the weights of A and of the rest; P grows by a mean of e^δ, T − α, Q by another, m + β",
                relation=">=",
                latex="",
            ),
            derivation.identity(
                "T/m = e^R with R the range of δ, whatever the number of positions that move and whatever the biases",
                sympy.exp(high_score) / sympy.exp(low_score),
                sympy.exp(high_score - low_score),
                "so the log-odds of A move by at most R",
                latex="",
            ),
            derivation.identity(
                "a weight whose log-odds move by h moves by at most tanh(h/4): what is missing is "
                "tanh(h/4)(cosh x − 1)/(cosh x + cosh(h/2))",
                sympy.tanh(h / 4) - step,
                sympy.tanh(h / 4) * (sympy.cosh(x) - 1) / (sympy.cosh(x) + sympy.cosh(h / 2)),
                "x is the middle of the move",
                latex="",
            ),
            derivation.squares(
                "cosh x ≥ 1",
                sympy.cosh(x),
                1,
                [(Rational(1, 2), sympy.exp(x / 2) - sympy.exp(-x / 2))],
                "half a square",
            ),
            derivation.convex(
                "tanh(h/4) ≥ 0 for h ≥ 0, since e^h ≥ 1 + h", sympy.exp(h) - 1 - h, h, 0, "it bends upwards"
            ),
            derivation.positive(
                "Σ (w′ − w) a is at most the weight that the gaining slots gain times the range of a",
                gain * top - (gain * (top - short) - gain * low),
                "they gain g in all, the others lose g; values measured from the least: a mean M − d, another l",
                relation=">=",
                latex=r"|\Delta y|\le\max_s|(F_J\Delta v)_s|+\mathrm{range}_s(FV)_s\,\tanh\left(R/4\right)",
            ),
            derivation.identity(
                "with |Δκ_j| ≤ θ two slots are tilted against each other by at most θ Σ_J |E[s,j] − E[u,j]|",
                theta * sympy.Add(*plus, *minus)
                - sympy.Add(*((p - q) * y for p, q, y in zip(plus, minus, k, strict=True))),
                sympy.Add(*(p * (theta - y) + q * (theta + y) for p, q, y in zip(plus, minus, k, strict=True))),
                "p and n are the positive and negative part of a difference, θ ± Δκ_j ≥ 0; likewise for range(FV)",
                latex=r"\mathrm{range}_s(E_J\Delta\kappa)_s\le\theta\max_{s,u}\sum_J|E_{sj}-E_{uj}|",
            ),
            derivation.identity(
                "tanh x ≤ x for x ≥ 0: their difference grows from 0",
                sympy.diff(x - sympy.tanh(x), x),
                sympy.tanh(x) ** 2,
                "its slope is a square",
                latex="",
            ),
            derivation.identity(
                "the first term is attained: a lone visible slot, F = (1, 1/3, −1/7), both forbidden values moved by η",
                combined(Head.of([[0, 0, 0]], [[1, Rational(1, 3), -Rational(1, 7)]], forbidden=[1, 2]), *_lone(eta))[
                    0
                ],
                eta * (Rational(1, 3) + Rational(1, 7)),
                "by +η and −η",
                latex="",
            ),
            derivation.identity(
                "the second is attained: two slots told apart by two positions, which move from −h/4 to h/4 together",
                _turn(turning_head(), h),
                sympy.tanh(h / 4),
                "the tilt is h",
                latex="",
            ),
            derivation.identity(
                "bounds on each position alone do not add up to one: m entries ε in one slot move the output by m ε",
                sympy.Sum(eps, (Symbol("j"), 1, m)).doit() / eps,
                m,
                "all values moved by 1; each alone moves it by ε",
                latex="",
            ),
        ),
    )


def _lone(eta: Expr) -> tuple[sympy.Matrix, list[Expr]]:
    return sympy.Matrix([[1, Rational(1, 3), -Rational(1, 7)]]), [sympy.S.Zero, eta, -eta]


def _turn(head: Head, h: Any) -> Expr:
    """How far the output moves when both forbidden scores go from −h/4 to h/4 and the allowed value is 1."""
    value = (1, 0, 0)
    return head.output((0, h / 4, h / 4), value) - head.output((0, -h / 4, -h / 4), value)


def enclosure(digits: int) -> str:
    """Two positions that move together reach T19's bound, beyond what either could do alone."""
    head, h = turning_head(), Rational(2)
    moved = enclose(_turn(head, h), digits)
    both = enclose(bound(head, (1, 0, 0), (0, 0, 0), (0, h / 2, h / 2)), digits)
    alone = enclose(bound(head, (1, 0, 0), (0, 0, 0), (0, h / 2, 0)), digits)
    expect(moved.overlaps(both), f"the output moves by {moved}, and the bound that it reaches is {both}")
    expect(not moved.overlaps(alone), f"one position alone already has the bound {alone}")
    return f"both scores together: {moved}, which is the bound {both}; one of them alone: at most {alone}"


def property_check(rng: random.Random) -> str:
    """Random heads, all forbidden values and scores moved at once, by amounts of all sizes: never beyond the bound."""
    count, near = 200, 0.0
    for _ in range(count):
        head = random_head(rng)
        scores, values = ([Rational(rng.randint(-8, 8), 4) for _ in range(head.n)] for _ in range(2))
        size = rng.choice((1, 1, 8))
        change, step = (
            [Rational(size * rng.randint(-8, 8), 4) * int(j in head.forbidden) for j in range(head.n)] for _ in range(2)
        )
        after = [[x + d for x, d in zip(old, by, strict=True)] for old, by in ((scores, step), (values, change))]
        moved = abs(float(head.output(*after)) - float(head.output(scores, values)))
        for start in (values, after[1]):
            most = float(bound(head, start, change, step))
            expect(moved <= most * (1 + 1e-9) + 1e-12, f"{head} moves by {moved}, beyond {most}: {change}, {step}")
            near = max(near, moved / most if most else 0)
    return f"{count} random moves of all forbidden inputs: none beyond the bound, the nearest at {near:.3f} of it"


def exact() -> str:
    """The checker's two numbers are the theorem's, rounded up, and it accepts a tolerance no smaller than both."""
    import numpy as np

    from ..causal.boundary import Boundary
    from ..causal.projection.check import check_projection

    rng, bounded = random.Random(19), 0
    for _ in range(40):
        head = random_head(rng)
        boundary = Boundary.relation([[j not in head.forbidden for j in range(head.n)]])
        e, f = (np.array(m.tolist(), dtype=float) for m in (head.e, head.f))
        found = check_projection(f, e, layout="slots-first", boundary=boundary).leak_bound
        if found is None or not max(found.values, found.keys):
            continue
        bounded += 1
        for mine, true in zip((found.values, found.keys), at_once(head), strict=True):
            expect(true <= mine <= true * (1 + Fraction(1, 10**12)), f"{mine} for {true}: E = {head.e}, F = {head.f}")
        least = max(found.values, found.keys)
        for tolerance, refused in ((least, False), (least * 0.99, True)):
            verdict = check_projection(f, e, layout="slots-first", boundary=boundary, tolerance=tolerance)
            named = any("does not matter" in condition.text for condition in verdict.conditions)
            expect(named is not refused, f"tolerance {tolerance} for {found}: {verdict.headline()}")
    return f"check_projection's bounds on {bounded} random heads are the theorem's, and so is what a tolerance accepts"


def scale_check(scale: Scale) -> str:
    """Many entries, each far below a tolerance that they exceed together, in arrays of the library asked for."""
    import numpy as np

    from ..causal.projection.check import check_projection

    n = 10_000 if scale.n is None else max(2, scale.n)
    entry = 2.0**-20
    dense = np.full((1, n), entry)
    dense[0, 0] = 1
    array = scale.array(dense)
    total = (n - 1) * entry
    for tolerance, status in ((total * 0.999, "REFUTED"), (total * 1.001, "PROVED_IF")):
        verdict = check_projection(array, layout="slots-first", tolerance=tolerance)
        expect(verdict.status.name == status, f"{verdict.headline()}, tolerance {tolerance}, {n - 1} entries {entry}")
    return f"n = {n}: {n - 1} entries of 2⁻²⁰ are within a tolerance of {total:.6g} together, and of nothing less"


CLAIM = Claim(
    id="T19",
    title="How large a leak can be",
    statement="All forbidden inputs at once move an output by max|F_J Δv| + range(FV) tanh(range(E_J Δκ)/4) at most.",
    latex=r"|\Delta y|\le\max_s\left|(F_J\Delta v)_s\right|"
    r"+\mathrm{range}_s(FV)_s\,\tanh\left(\mathrm{range}_s(E_J\Delta\kappa)_s/4\right)",
    source="ours",
    derive=derive,
    exact=exact,
    enclosure=enclosure,
    property=property_check,
    scale=scale_check,
    theorems=("leak_at_once", "leak_of_forbidden", "moved_attained", "range_attained", "leak_reals"),
    reading=(
        "However many forbidden values and scores move, and however far, the output keeps to this bound; a tolerance "
        "is compared with it. It says nothing about inputs that overflow, and a small leak is still one."
    ),
)
