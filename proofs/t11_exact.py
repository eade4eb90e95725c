"""T11: the exact criterion for softmax heads."""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import sympy
from sympy import Expr, Matrix, Rational, Symbol

from ..numeric import scale as at_scale
from ..symbolic import derivation, rank
from ..symbolic.derivation import Derivation
from ..symbolic.prefix import Head, product_example
from .claim import Claim, expect
from .t10_support import small_heads as two_slot_heads

LARGEST_WRONSKIAN = 5


def parts(e: Matrix, f: Matrix, kappa: list[Expr], v: list[Expr]) -> tuple[Expr, Expr]:
    """Numerator and denominator of y(κ, v) for symbolic E, F of shape (r, n)."""
    powers = [sympy.exp((e.row(s) * Matrix(kappa))[0]) for s in range(e.rows)]
    carried = [(f.row(s) * Matrix(v))[0] for s in range(e.rows)]
    return sympy.Add(*(p * c for p, c in zip(powers, carried, strict=True))), sympy.Add(*powers)


def pair_sum(e: Matrix, f: Matrix, kappa: list[Expr], v: list[Expr], j: int) -> Expr:
    """Σ_{s<u} e^{(E[s]+E[u])·κ} (E[s,j] − E[u,j]) (F[s] − F[u])·v."""
    return sympy.Add(
        *(
            sympy.exp(((e.row(s) + e.row(u)) * Matrix(kappa))[0])
            * (e[s, j] - e[u, j])
            * ((f.row(s) - f.row(u)) * Matrix(v))[0]
            for s, u in combinations(range(e.rows), 2)
        )
    )


def step_sum(e: Matrix, f: Matrix, kappa: list[Expr], v: list[Expr], j: int, step: Expr) -> Expr:
    """−Σ over ordered pairs of e^{(E[s]+E[u])·κ + δ E[u,j]} (F[s] − F[u])·v: D(κ)D(κ+δe_j)(y(κ+δe_j) − y(κ))."""
    return -sympy.Add(
        *(
            sympy.exp(((e.row(s) + e.row(u)) * Matrix(kappa))[0] + step * e[u, j])
            * ((f.row(s) - f.row(u)) * Matrix(v))[0]
            for s, u in permutations(range(e.rows), 2)
        )
    )


def wronskian(a: list[Expr], x: Expr) -> Matrix:
    """Derivatives of order 0 … m−1 of e^{a_i x}, one row per order."""
    return Matrix(len(a), len(a), lambda k, i: a[i] ** k * sympy.exp(a[i] * x))


@cache
def small_heads() -> tuple[tuple[Head], ...]:
    """Three slots, two positions, 1 forbidden: every E of zeros and ones, F of zeros and ones on position 0."""
    rows = [
        ([entries[2 * s : 2 * s + 2] for s in range(3)], [(x, 0) for x in entries[6:]])
        for entries in product((0, 1), repeat=9)
    ]
    return tuple((Head.of(e, f, forbidden=[1]),) for e, f in rows)


def fragile_head() -> Head:
    """Equal E rows with F = [[1,1],[3,−1]]: safe, because 1 and −1 cancel at the forbidden position 1."""
    return Head.of([[0, 0], [0, 0]], [[1, 1], [3, -1]], forbidden=[1])


def _independent(a: list[sympy.Symbol], x: sympy.Symbol) -> derivation.Step:
    """The Wronskian of e^{a_1 x}, e^{a_2 x}, … has the determinant of Vandermonde as its factor."""
    return derivation.linear(
        f"{len(a)} exponentials",
        wronskian(a, x),
        "Vandermonde times e^{Σ a_i x}",
        det_is=sympy.Mul(*(q - p for p, q in combinations(a, 2))) * sympy.exp(sympy.Add(*a) * x),
    )


def derive() -> Derivation:
    """Both directions, (2) against (2′), the product example and its perturbations, the consequences."""
    kappa, v = list(sympy.symbols("kappa0:2", real=True)), list(sympy.symbols("v0:2", real=True))
    x, step = Symbol("x", real=True), Symbol("delta", real=True)
    e3, f3 = rank.symbolic("E", 3, 2, real=True), rank.symbolic("F", 3, 2, real=True)
    top, bottom = parts(e3, f3, kappa, v)
    y = top / bottom
    moved = [kappa[0], kappa[1] + step]
    top2, bottom2 = parts(e3, f3, moved, v)
    q, root = sympy.symbols("q0:2", real=True), Symbol("sqrt_d", positive=True)
    steps: list[derivation.Step | derivation.Lemma] = [
        derivation.identity(
            "κ_j = q·k_j/√d takes every real value for q ≠ 0, so y is a function of free reals κ_j and of V",
            sympy.Add(*(x * (kappa[0] * root * x / (q[0] ** 2 + q[1] ** 2)) for x in q)) / root,
            kappa[0],
            "at k_j = κ_j √d q/(q·q); here d = 2. Each value coordinate by itself",
            latex=r"k_j=\kappa_j\sqrt d\,q/(q\cdot q)",
        ),
        derivation.identity(
            "∂y/∂v_1 times the positive D is Σ_s e^{E[s]·κ} F[s,1]",
            sympy.diff(y, v[1]) * bottom,
            sympy.Add(*(sympy.exp((e3.row(s) * Matrix(kappa))[0]) * f3[s, 1] for s in range(3))),
            "y = N/D is linear in v; here three slots, two positions, free entries",
            latex=r"D\,\partial y/\partial v_j=\sum_s e^{E_s\cdot\kappa}F_{sj}",
        ),
    ]
    steps.append(
        derivation.sizes(
            "exponentials with distinct exponents are linearly independent, since their Wronskian is not 0: "
            f"m = 2 … {LARGEST_WRONSKIAN}",
            [_independent(list(sympy.symbols(f"a0:{m}", real=True)), x) for m in range(2, LARGEST_WRONSKIAN + 1)],
            latex=r"W(e^{a_1x},\dots,e^{a_mx})=e^{\sum a_ix}\prod_{i<k}(a_k-a_i)",
        )
    )
    e_ends, f_ends = sympy.symbols("E_s E_u"), sympy.symbols("F_s F_u")
    f0, f1, g = sympy.symbols("f0 f1 g", real=True)
    product_e = Matrix([[0, 0], [1, 0], [0, 1], [1, 1]])
    product_top, product_bottom = parts(product_e, Matrix([[f0, 0], [f1, 0], [f0, 0], [f1, 0]]), kappa, v)
    shifted = Matrix([[e3[s, 0], g] for s in range(3)])
    shift_top, shift_bottom = parts(shifted, Matrix([[f3[s, 0], 0] for s in range(3)]), kappa, v)
    plain = [sympy.exp(e3[s, 0] * kappa[0]) for s in range(3)]
    flat_top, flat_bottom = parts(e3, Matrix([[f0, 0]] * 3), kappa, v)
    steps += [
        derivation.lemma(
            "Finitely many exponentials with distinct linear exponents in several variables are linearly independent.",
            "restrict to a line that separates the exponents; Wronskian as above",
            "independence",
        ),
        derivation.lemma(
            "So y does not depend on V_J iff Σ_{E[s]=a} F[s,j] = 0 for each row a of E on S, each j ∈ J: this is (1).",
            "group equal exponents, then independence",
            "exact_criterionP",
            r"\sum_{s\in S,\,E_s=a}F_{sj}=0",
        ),
        derivation.identity(
            "D² ∂y/∂κ_1 = Σ_{s<u} e^{(E[s]+E[u])·κ} (E[s,1] − E[u,1]) (F[s] − F[u])·v",
            sympy.diff(y, kappa[1]) * bottom**2,
            pair_sum(e3, f3, kappa, v, 1),
            "quotient rule: a covariance as a sum over pairs; free entries",
            latex=(
                r"D^2\frac{\partial y}{\partial\kappa_j}"
                r"=\sum_{s<u}e^{(E_s+E_u)\cdot\kappa}(E_{sj}-E_{uj})(F_s-F_u)\cdot v"
            ),
        ),
        derivation.lemma(
            "Given (1), y does not depend on κ_J iff for each pair sum c, j ∈ J and i ∉ J the coefficients with "
            "E[s]+E[u] = c sum to 0. This is (2). With (1) it is safety.",
            "group equal pair sums, then independence; a function with zero derivative on a connected set is constant",
            "exact_criterionP",
            r"\sum_{E_s+E_u=c}(E_{sj}-E_{uj})(F_{si}-F_{ui})=0",
        ),
        derivation.identity(
            "a finite step: D D′ (y′ − y) = −Σ_{(s,u)} e^{(E[s]+E[u])·κ + δE[u,1]} (F[s] − F[u])·v, κ′ = κ + δe_1",
            top2 * bottom - top * bottom2,
            step_sum(e3, f3, kappa, v, 1, step),
            "expand and rename; free entries. Grouping by E[s]+E[u] = c and E[u,j] = b gives (2′)",
            latex=r"\sum_{\substack{E_s+E_u=c\\E_{uj}=b}}(F_{si}-F_{ui})=0",
        ),
        derivation.identity(
            "(2′) ⇒ (2): weigh each class by b and add; both orders of a pair give −(E[s,j]−E[u,j])(F[s,i]−F[u,i])",
            e_ends[1] * (f_ends[0] - f_ends[1]) + e_ends[0] * (f_ends[1] - f_ends[0]),
            -(e_ends[0] - e_ends[1]) * (f_ends[0] - f_ends[1]),
            "pair by pair",
        ),
        derivation.lemma(
            "(2) ⇒ (2′): by (2) the derivative vanishes, so every finite step does, so by independence (2′) holds.",
            "the two steps above",
            "pairs_cancel_steps",
        ),
        derivation.cases(
            "both directions, tried: every head of two slots with entries 0, 1, every set of visible slots: safe by "
            "the definition iff (1) and (2) hold",
            two_slot_heads,
            lambda h: h.safe_by_definition() == h.safe_by_criterion(),
            "768 heads; the definition is decided in ℚ(κ, v, e^κ)",
        ),
        derivation.cases(
            "(2) and (2′) agree on every head of three slots with entries 0, 1, F being 0 on the forbidden position",
            small_heads,
            lambda h: h.safe_by_criterion() == h.safe_by_steps(),
            "512 heads, exact arithmetic",
        ),
        derivation.cases(
            "T10 implies T11: every one of them that passes T10 passes T11",
            small_heads,
            lambda h: not h.safe_by_support() or h.safe_by_criterion(),
            "all sums are empty or 0",
        ),
        derivation.identity(
            "the product example for any f₀, f₁: e^{κ_1} factors out, so y does not depend on κ_1",
            product_top / product_bottom,
            (f0 + sympy.exp(kappa[0]) * f1) * v[0] / (1 + sympy.exp(kappa[0])),
            "(1 + e^{κ_0})(1 + e^{κ_1}) factorises",
            latex=r"y=\frac{(f_0+e^{\kappa_0}f_1)v_0}{1+e^{\kappa_0}}",
        ),
        derivation.cases(
            "so it is safe, by the definition and by (1) and (2)",
            lambda: [(product_example(),)],
            lambda h: h.safe_by_definition() and h.safe_by_criterion() and h.safe_by_steps(),
            "f₀ = 2, f₁ = 5",
        ),
        derivation.cases(
            "neither of its diagonal pairs is safe alone",
            lambda: [((0, 3),), ((1, 2),)],
            lambda pair: not _only(product_example(), pair).safe_by_definition(),
            "from the definition",
        ),
        derivation.cases(
            "1 added to any one entry of its F makes it leak",
            lambda: product(range(4), range(2)),
            lambda s, j: not product_example((s, j)).safe_by_definition(),
            "from the definition, all eight entries",
        ),
        derivation.cases(
            "and (1), (2) and (2′) see the same in all nine cases",
            lambda: [(None,), *((bump,) for bump in product(range(4), range(2)))],
            lambda bump: (
                product_example(bump).safe_by_criterion()
                == product_example(bump).safe_by_steps()
                == product_example(bump).safe_by_definition()
            ),
            "exact arithmetic",
        ),
        derivation.identity(
            "a column of E that is constant over the visible slots cancels",
            shift_top / shift_bottom,
            sympy.Add(*(p * f3[s, 0] for s, p in enumerate(plain))) * v[0] / sympy.Add(*plain),
            "shift invariance of softmax; F is 0 there",
            latex="",
        ),
        derivation.identity(
            "equal rows of F that vanish on J make the scores irrelevant",
            flat_top / flat_bottom,
            f0 * v[0],
            "weights sum to 1",
        ),
        derivation.lemma(
            "Together: a softmax head is safe iff (1) and (2) hold at every query that sees a slot, all sizes; this "
            "is a finite list of identities between rationals, so it is decidable.",
            "the steps above",
            "exact_criterionP, exact_safeP",
        ),
    ]
    return Derivation("T11: the exact criterion", tuple(steps))


def _only(head: Head, seen: tuple[int, ...]) -> Head:
    return Head(head.e, head.f, seen, head.forbidden)


def random_head(rng: random.Random) -> Head:
    """A small head with entries from {−1, 0, 1, 2}, often with planted cancellations or a product structure."""
    n, r = rng.choice([2, 2, 3]), rng.choice([2, 3, 4])
    first = rng.randint(1, n - 1)

    def entry() -> int:
        return rng.choice([-1, 0, 0, 1, 2])

    e, f = ([[entry() for _ in range(n)] for _ in range(r)] for _ in range(2))
    plant = rng.random()
    if plant < 0.2:  # equal rows of E, columns of F that cancel
        e = [e[0]] * r
        for j in range(first, n):
            f[-1][j] = -sum(f[s][j] for s in range(r - 1))
    elif plant < 0.45:  # F blind to the forbidden positions
        f = [[x if j < first else 0 for j, x in enumerate(row)] for row in f]
    elif plant < 0.6:  # a product: E = a_i + b_j, F = f_i
        a, b = rng.sample(range(-2, 4), 2), rng.sample(range(-2, 4), 2)
        values = [entry(), entry()]
        e = [[x] + [0] * (n - 2) + [z] for x in a for z in b]
        f = [[values[i]] + [0] * (n - 1) for i in range(2) for _ in range(2)]
        first = n - 1
    elif plant < 0.7:  # a constant column of E
        f = [[x if j < first else 0 for j, x in enumerate(row)] for row in f]
        e = [[x if j < first else e[0][j] for j, x in enumerate(row)] for row in e]
    return Head.of(e, f, forbidden=range(first, n))


def property_check(rng: random.Random) -> str:
    """Random and planted heads: (1) with (2) and with (2′) against the definition, decided in exact arithmetic."""
    count, safe = 150, 0
    for _ in range(count):
        h = random_head(rng)
        answers = h.safe_by_criterion(), h.safe_by_steps(), h.safe_by_definition()
        expect(len(set(answers)) == 1, f"(2), (2′), definition: {answers} for E = {h.e}, F = {h.f}, J = {h.forbidden}")
        safe += answers[0]
    expect(0 < safe < count, f"{safe} of {count} random heads are safe, so one direction was not tried")
    return f"{count} random and planted heads, {safe} of them safe: (2), (2′) and the definition agree"


def exact() -> str:
    """The checker in causal/ agrees with the criterion here on random and planted heads."""
    from ..causal.boundary import Boundary
    from ..causal.projection.check import check_projection

    rng, count = random.Random(11), 60
    for _ in range(count):
        h = random_head(rng)
        boundary = Boundary.relation([[j not in h.forbidden for j in range(h.n)]])
        e, f = (np.array(m.tolist(), dtype=float) for m in (h.e, h.f))
        verdict = check_projection(f, e, layout="slots-first", boundary=boundary)
        found = "leaks" if verdict.witness is not None else "T11" if "T11" in verdict.claims else "T10"
        expected = "T10" if h.safe_by_support() else "T11" if h.safe_by_criterion() else "leaks"
        expect(
            found == expected,
            f"the checker says {found}, T11 {expected}, for E = {h.e}, F = {h.f}, J = {h.forbidden}",
        )
    return f"check_projection agrees with (1) and (2) on {count} random and planted heads"


def replay() -> str:
    """Rounding undoes what only cancels: the fragile head gives 2.0 in floats, and 0.0 once v_1 = 1e17."""
    h = fragile_head()
    expect(h.safe_by_definition() and not h.safe_by_support(), "the fragile head is safe by T11 and not by T10")
    outputs = []
    for v1 in (0.0, 1e17):
        carried = [float(h.f[s, 0]) * 1.0 + float(h.f[s, 1]) * v1 for s in h.seen]
        outputs.append(sum(carried) / len(carried))
        exact_value = h.output([Rational(0)] * 2, [Rational(1), Rational(int(v1))])
        expect(exact_value == 2, f"in exact arithmetic the output is {exact_value}")
    expect(outputs == [2.0, 0.0], f"floats give {outputs}")
    return f"F = [[1,1],[3,−1]], equal E rows: {outputs[0]} in floats, {outputs[1]} once v_1 = 1e17; exactly 2"


CLAIM = Claim(
    id="T11",
    title="The exact criterion",
    statement="A softmax head is safe iff finitely many sums vanish: F over equal E rows; pairs with equal E sums.",
    latex=(
        r"\sum_{E_s=a}F_{sj}=0\quad\text{and}\quad\sum_{E_s+E_u=c}(E_{sj}-E_{uj})(F_{si}-F_{ui})=0"
        r"\qquad(j\in J,\ i\notin J)"
    ),
    source="ours",
    derive=derive,
    exact=exact,
    property=property_check,
    scale=at_scale.CHECKS["T11"],
    replay=replay,
    theorems=(
        "exponential_def",
        "independence",
        "exact_criterionP",
        "exact_criterion_def",
        "exact_criterion_query",
        "pairs_cancel_steps",
        "support_exact",
        "biased_head_def",
        "biased_safe",
        "biased_exact",
        "values_safe_iff",
        "keys_safe_iff",
        "exact_safeP",
        "support_safe_exact",
        "of_Q_def",
        "softmax_headE",
        "softmax_prefix_safe_def",
        "expR_exponential",
        "exact_criterion_reals",
        "checker_reals",
    ),
    reading=(
        "Real arithmetic. A head that is safe here and not by T10 is safe by cancellation, and rounding undoes it; the "
        "checker's verdict then carries the assumption 'real arithmetic'."
    ),
)
