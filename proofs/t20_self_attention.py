"""T20: the exact criterion survives self-attention, where keys and values come from the same positions."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import sympy
from sympy import Expr, Matrix, MatrixSymbol, Rational, Symbol

from ..symbolic import derivation, rank
from ..symbolic.derivation import Derivation
from ..symbolic.prefix import Head
from ..symbolic.self_attention import Case, SelfAttention, case_of, without
from .claim import Claim, Scale, expect
from .t11_exact import parts, random_head

if TYPE_CHECKING:
    from collections.abc import Sequence

TURN = Matrix([[0, 1], [-1, 0]])  # x M xᵀ = 0 for every x
TRIES = 24  # pairs of inputs on which an unsafe layer is to differ


def tied_sum(e: Matrix, f: Matrix, kappa: Sequence[Expr], j: int, step: Expr) -> Expr:
    """Σ over ordered pairs of ((F[s] − F[u])·κ − δ F[u,j]) e^{(E[s]+E[u])·κ + δ E[u,j]}."""
    column = Matrix(kappa)
    return sympy.Add(
        *(
            (((f.row(s) - f.row(u)) * column)[0] - step * f[u, j])
            * sympy.exp(((e.row(s) + e.row(u)) * column)[0] + step * e[u, j])
            for s, u in [*permutations(range(e.rows), 2), *((s, s) for s in range(e.rows))]
        )
    )


def blind_example() -> SelfAttention:
    """E reads the query's own position alone, which always scores 0; F cancels at the forbidden one. T11 fails."""
    head = Head.of([[1, 0], [0, 0]], [[0, 1], [0, -1]], forbidden=[1])
    return SelfAttention(head, 0, TURN, sympy.eye(2), sympy.eye(2))


def derive() -> Derivation:
    """Scores as a form; inputs along one row; what a step then leaves; the cases of the form; T11 is not necessary."""
    n, m, d = sympy.symbols("n m d", integer=True, positive=True)
    x, own = MatrixSymbol("X", n, m), MatrixSymbol("x_t^T", m, 1)
    w_k, w_q = MatrixSymbol("W_K", m, d), MatrixSymbol("W_Q^T", d, m)
    kappa, step = list(sympy.symbols("kappa0:2", real=True)), Symbol("delta", real=True)
    e3, f3 = rank.symbolic("E", 3, 2, real=True), rank.symbolic("F", 3, 2, real=True)
    top, bottom = parts(e3, f3, kappa, kappa)
    moved = [kappa[0], kappa[1] + step]
    top2, bottom2 = parts(e3, f3, moved, moved)
    c, z = Symbol("c", real=True), Symbol("z", positive=True)
    g, h, k = sympy.symbols("g h k", real=True)
    row = Matrix([sympy.symbols("x0:2", real=True)])
    form = rank.symbolic("M", 2, 2, real=True)
    a, b, lam, score = Symbol("a", nonzero=True), Symbol("b"), Symbol("lambda", positive=True), Symbol("kappa_t")
    root = Symbol("sqrt_d", positive=True)
    return Derivation(
        "T20: the exact criterion for self-attention",
        (
            derivation.matrices(
                "position j scores x_j M x_tᵀ with M = W_K W_Qᵀ, up to 1/√d",
                (x * w_k) * (w_q * own),
                x * (w_k * w_q) * own,
                "keys X W_K, query x_t W_Q",
                latex=r"XW_K(xW_Q)^{\mathsf T}=X\,M\,x^{\mathsf T}",
            ),
            derivation.lemma(
                "T11 is always sufficient: safe for free keys and values, so for these",
                "the query is the same in both runs",
                "self_sufficient",
            ),
            derivation.identity(
                "where x M xᵀ = a ≠ 0 take all inputs along x, x_t = λx: the scores κ are free but for the sign of κ_t",
                (score * root / (lam * a)) * lam * a / root,
                score,
                "x_j = κ_j √d/(λ a) · x, κ_t = λ² a/√d; a column of W_V gives values b κ_j, b ≠ 0 for some x",
                latex="",
            ),
            derivation.identity(
                "v = κ, κ_1 steps by δ: DD′(y − y′) = Σ_{(s,u)} ((F[s]−F[u])·κ − δF[u,1]) e^{(E[s]+E[u])·κ+δE[u,1]}",
                top * bottom2 - top2 * bottom,
                tied_sum(e3, f3, kappa, 1, step),
                "quotient of sums, term by term; three slots, two positions, free entries",
                latex=r"DD'(y-y')=\sum_{(s,u)}\left((F_s-F_u)\cdot\kappa-\delta F_{uj}\right)"
                r"e^{(E_s+E_u)\cdot\kappa+\delta E_{uj}}",
            ),
            derivation.identity(
                "along m(κ, δ) a term is u_m = (g + m h) z^m, which u_{m+2} = 2z u_{m+1} − z² u_m continues",
                (g + (k + 2) * h) * z**2,
                2 * z * (g + (k + 1) * h) * z - z**2 * (g + k * h),
                "z is a double root: a polynomial with double roots at all other z picks out one class",
                latex="",
            ),
            derivation.lemma(
                "So affine coefficients vanish class by class, constants and linear parts by themselves, even if a "
                "coordinate keeps its sign.",
                "such terms with distinct z are independent; a point off finitely many planes separates the classes",
                "affine_independence",
            ),
            derivation.lemma(
                "The linear parts are (2′) for every i, and ΣF[u,j] = 0 per class, that is Z·Σ_s F[s,j]e^{E[s]·κ} = 0, "
                "so (1): T11 exactly, where x M xᵀ is not always 0.",
                "group by E[s]+E[u] and E[u,j]",
                "self_exact, fixed_query_exact",
            ),
            derivation.identity(
                "x M xᵀ = ½ x (M + Mᵀ) xᵀ: it is 0 for all x iff M is antisymmetric",
                (row * form * row.T)[0],
                (row * (form + form.T) * row.T)[0] / 2,
                "here m = 2",
                latex=r"xMx^{\mathsf T}=\tfrac12x(M+M^{\mathsf T})x^{\mathsf T}",
            ),
            derivation.lemma(
                "Then κ_t is 0 for every input: T11 with column t of E set to 0.",
                "x_t and the direction of the other inputs are chosen apart",
                "self_antisymmetric",
            ),
            derivation.lemma(
                "M = 0: all weights are equal, and the head is safe iff Σ_s F[s,j] = 0 for every forbidden j. "
                "With a key bias of score κ₀ the weights are e^{κ₀ Σ_i E[s,i]}.",
                "the output is linear in the values",
                "self_blind, fixed_query_blind",
            ),
            derivation.identity(
                "T11 is not necessary in the second case: E = [[1,0],[0,0]], F = [[0,1],[0,−1]] gives 0 for every v_1",
                _example_output(c, b),
                0,
                "κ_0 = 0 whatever x_0; yet (1) fails for each row of E",
                latex="",
            ),
        ),
    )


def _example_output(score: Expr, value: Expr) -> Expr:
    """The example's output when position 0 scores 0, position 1 scores and carries anything."""
    return blind_example().head.output((0, score), (0, value))


def random_layer(rng: random.Random) -> SelfAttention:
    """A random head of T11 with random weights, often tied, antisymmetric or 0."""
    head = random_head(rng)
    at = rng.choice(head.allowed)
    if rng.random() < 0.4:  # column t alone tells rows apart
        e = head.e.copy()
        for j in range(head.n):
            e[:, j] = e[:, j] if j == at else sympy.ones(e.rows, 1) * e[0, j]
        head = Head.of(e, head.f, forbidden=head.forbidden)

    def weights(cols: int) -> Matrix:
        return Matrix(2, cols, lambda *_: rng.choice([-1, 0, 1, 2]))

    key = weights(2)
    query = {0: TURN * key, 1: sympy.zeros(2, 2), 2: key}.get(rng.randrange(5), weights(2))
    if rng.random() < 0.25:
        key, query = sympy.eye(2), TURN
    value = rng.choice([key, weights(1), sympy.zeros(2, 1), weights(2)])
    return SelfAttention(head, at, query, key, value)


def agreeing_inputs(head: Head, rng: random.Random) -> tuple[Matrix, Matrix]:
    """Two random inputs that agree on the allowed positions."""

    def number() -> Rational:
        return Rational(rng.randint(-9, 9), rng.choice([1, 2, 3]))

    x = Matrix(head.n, 2, lambda *_: number())
    other = x.copy()
    for j in head.forbidden:
        other[j, :] = Matrix([[number(), number()]])
    return x, other


def property_check(rng: random.Random) -> str:
    """Random layers: those called safe never differ, decided in exact arithmetic; the others differ on some inputs."""
    count, tally = 120, Counter[tuple[str, bool]]()
    for _ in range(count):
        layer = random_layer(rng)
        safe = layer.safe()
        differ = any(layer.differs(*agreeing_inputs(layer.head, rng)) for _ in range(4 if safe else TRIES))
        expect(differ is not safe, f"{layer} is called {'safe' if safe else 'unsafe'}")
        tally[layer.case.name, safe] += 1
    both = {case.name for case in Case if case is not Case.NOTHING for safe in (True, False) if tally[case.name, safe]}
    expect(len(both) == 3, f"cases that came up: {dict(tally)}")
    shown = ", ".join(f"{name.lower()} {'safe' if safe else 'unsafe'} {k}" for (name, safe), k in sorted(tally.items()))
    return f"{count} random layers ({shown}): the safe ones never differ, the others do"


def exact() -> str:
    """The example is safe though T11 fails; what check_projection says of weights is the case."""
    from ..causal.projection.check import check_projection

    example = blind_example()
    expect(example.case is Case.ANTISYMMETRIC, f"the example is {example.case}")
    expect(not example.head.safe_by_criterion(), "T11 holds for the example")
    expect(example.safe() and without(example.head, 0).safe_by_criterion(), "the example is called unsafe")
    e, f = (np.array(matrix.tolist(), dtype=float) for matrix in (example.head.e, example.head.f))
    told = 0
    for query, key, value in ((TURN, sympy.eye(2), sympy.eye(2)), (sympy.eye(2), sympy.eye(2), sympy.eye(2))):
        case = case_of(query, key, value)
        weights = tuple(np.array(w.tolist(), dtype=float) for w in (query, key, value))
        verdict = check_projection(f, e, layout="slots-first", weights=weights)
        expect(any(case.value in reason for reason in verdict.reasons), f"{verdict.reasons} for {case}")
        told += 1
    return f"the example is safe where T11 fails, and check_projection names the case of {told} pairs of weights"


def scale_check(scale: Scale) -> str:
    """The example over many positions: forbidden inputs that move change nothing, exactly, in any array library."""
    n = 10_000 if scale.n is None else max(2, scale.n)
    rng = np.random.default_rng(scale.seed)
    query, key = (np.array(w.tolist(), dtype=float) for w in (blind_example().query, blind_example().key))
    keys, values = np.zeros((2, n)), np.zeros((2, n))
    keys[0, 0], values[0, 1:], values[1, 1:] = 1, 1, -1
    x = rng.integers(-8, 9, (n, 2)).astype(float)
    outputs = []
    for factor in (1.0, -3.0):
        moved = x.copy()
        moved[1:] *= factor
        e, f, inputs, w_k, w_q = map(scale.array, (keys, values, moved, key, query))
        scores = e @ (inputs @ w_k) @ (inputs[0, :] @ w_q)
        weights = scale.xp.exp(scores - scale.xp.max(scores))
        outputs.append((weights @ (f @ inputs)) / scale.xp.sum(weights))
    same = bool(scale.xp.all(outputs[0] == outputs[1]))
    expect(same, f"the outputs differ: {outputs}")
    return f"n = {n}: the head that is blind to itself gives the same output whatever the {n - 1} later inputs are"


CLAIM = Claim(
    id="T20",
    title="The exact criterion survives self-attention",
    statement="With keys X W_K, values X W_V, query x_t W_Q: T11 is sufficient, and exact where x W_K W_Qᵀ xᵀ ≢ 0.",
    latex=r"M=W_KW_Q^{\mathsf T},\ W_V\neq0:\quad(\exists x:\ xMx^{\mathsf T}\neq0)\ \Longrightarrow\ "
    r"(\text{safe}\iff(1)\wedge(2))",
    source="ours",
    derive=derive,
    exact=exact,
    property=property_check,
    scale=scale_check,
    theorems=(
        "affine_independence",
        "fixed_query_exact",
        "fixed_query_blind",
        "no_values_safe",
        "self_sufficient",
        "self_exact",
        "self_antisymmetric",
        "self_blind",
        "antisymmetric_safe",
    ),
    reading=(
        "A leak that T11 finds with free keys and values is one of the model too, unless its weights make a position "
        "blind to itself. All real inputs count: over a finite vocabulary only the safe direction holds."
    ),
)
