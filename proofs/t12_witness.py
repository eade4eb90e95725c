"""T12: every leak has a finite witness in exact arithmetic, and how large a leak can be."""

from __future__ import annotations

import random
from functools import partial

import sympy
from sympy import Expr, Matrix, Rational, Symbol

from ..numeric.balls import enclose
from ..symbolic import attention, derivation, softmax
from ..symbolic.derivation import Derivation
from ..symbolic.field import is_zero
from ..symbolic.prefix import Head, Leak, product_example, separating, unit
from .claim import CheckFailed, Claim, Scale, expect
from .t10_support import article_head
from .t11_exact import random_head


def leaking_heads() -> list[tuple[str, Head]]:
    """A leak through values, one through scores alone, and one in a product example with a bumped entry."""
    through_scores = Head.of([[0, 0], [1, 1]], [[1, 0], [2, 0]], forbidden=[1])
    return [("values", article_head()), ("scores", through_scores), ("perturbed product", product_example((3, 0)))]


def blind_step() -> Leak:
    """A head that leaks, and a step that does not show it although κ separates all pair sums of E."""
    head = Head.of([[-1, 1], [1, 2], [1, 0]], [[2, 0], [-1, 0], [-1, 0]], forbidden=[1])
    before = (Rational(-3), Rational(-1))
    return Leak(head, 1, (before, (before[0], before[1] + 2)), (unit(2, 0), unit(2, 0)))


def separates_pair_sums(leak: Leak) -> bool:
    """Whether c·κ is distinct for distinct pair sums c of E."""
    seen = leak.head.seen
    sums = {
        tuple(a + b for a, b in zip(leak.head.row(s), leak.head.row(u), strict=True))
        for k, s in enumerate(seen)
        for u in seen[k + 1 :]
    }
    at = {sum((a * b for a, b in zip(c, leak.scores[0], strict=True)), sympy.S.Zero) for c in sums}
    return len(at) == len(sums)


def popoviciu(mean: Expr, square: Expr, low: Expr, high: Expr) -> Expr:
    """(high − mean)(mean − low) − variance, which is the mean of (high − a)(a − low)."""
    return (high - mean) * (mean - low) - (square - mean**2)


def derive() -> Derivation:
    """The two kinds of witness, why their outputs differ, and the three bounds on the size of a leak."""
    t = Symbol("t", positive=True)
    x, h = sympy.symbols("x h", real=True)
    mean, square, low, high = sympy.symbols("mu m2 a_min a_max", real=True)
    va, vb, cov = sympy.symbols("V_a V_b C", real=True)
    w = sympy.symbols("w0:3", positive=True)
    slack = sympy.symbols("d0:3", nonnegative=True)
    most, least, top = sympy.symbols("T m f_max", nonnegative=True)
    alpha, beta = sympy.symbols("alpha0:2", nonnegative=True), sympy.symbols("beta0:2", nonnegative=True)
    p = sympy.symbols("p0:4", positive=True)
    gains, losses = sympy.symbols("u0:2", nonnegative=True), sympy.symbols("l0:2", nonnegative=True)
    below, above = sympy.symbols("g0:2", nonnegative=True), sympy.symbols("k0:2", nonnegative=True)
    spread = Symbol("R", nonnegative=True)
    article = attention.article_example()
    leak = article_head().witness()
    assert leak is not None
    keys = [[[k] for k in kappa] for kappa in leak.scores]
    values = [[[v] for v in value] for value in leak.values]
    step = softmax.two_slot_step(x, h)
    steps: list[derivation.Step | derivation.Lemma] = [
        derivation.cases(
            "a separating κ = (1, x, x², …) exists: x outside the roots of finitely many polynomials (all row sets of "
            "two or three rows with entries 0, 1, 2 and two columns)",
            lambda: (((a, b, c),) for a in _rows() for b in _rows() for c in _rows()),
            _separates,
            "the difference of two distinct rows is a non-zero polynomial in x",
        ),
        derivation.lemma(
            "For finitely many distinct rows of any length some rational κ gives distinct values.",
            "a non-zero polynomial has finitely many roots",
            "separating_point",
        ),
        derivation.identity(
            "with κ separating the rows, the output is a sum of distinct powers of t = e^{1/k}: none cancel another",
            sympy.Add(*(c * t**p for c, p in zip(slack, (0, 1, 3), strict=True))).as_poly(t).all_coeffs(),
            [slack[2], 0, slack[1], slack[0]],
            "and e^{1/k} is the root of no polynomial over ℚ but 0 (Lindemann–Weierstrass)",
            latex="",
        ),
        *(
            derivation.cases(
                f"witness for the leak through {name}: it replays, decided in ℚ(e^{{1/k}})",
                partial(_alone, head),
                _witnessed,
                "κ separates the rows, V = e_j" if name == "values" else "κ and δ separate the classes (c, b), V = e_i",
            )
            for name, head in leaking_heads()
        ),
        derivation.cases(
            "separating the pair sums alone is not enough: a leaking head, separated pair sums, and a step of κ_1 "
            "that leaves the output as it is",
            lambda: [(blind_step(),)],
            lambda found: (
                separates_pair_sums(found) and found.difference() == 0 and not found.head.safe_by_definition()
            ),
            "E = [[−1,1],[1,2],[1,0]], F = (2,−1,−1) on position 0, κ = (−3,−1), δ = 2",
        ),
        derivation.identity(
            "with d = 1 and q = 1, κ is K: the article's witness as a pair of inputs to the head itself",
            [attention.compressed_attention([[1]], k, v, article.e)[0, 0] for k, v in zip(keys, values, strict=True)],
            list(leak.outputs),
            "q·k/√d = k",
            latex="",
        ),
        derivation.lemma(
            "For rational E, F every leak has such a witness. The theorem uses another, found by a finite search: "
            "for some m ≤ r² the keys m κ and m κ + m δ with κ = (1, t, t², …), t a natural number and δ = t^n.",
            "T11, the separating point, Lindemann–Weierstrass; the theorem: Vandermonde over the multiples m of (κ, δ)",
            "find_witnessP, find_witness_refutes, find_witness_natural",
        ),
        derivation.positive(
            "size, through values: |∂y/∂v_j| ≤ max_s |F[s,j]|, a mean being at most the maximum",
            top * sympy.Add(*w) - sympy.Add(*((top - d) * q for d, q in zip(slack, w, strict=True))),
            "Σ w (max − F) ≥ 0; three slots, F[s,j] = max − d_s",
            relation=">=",
            latex=r"|\partial y/\partial v_j|\le\max_s|F_{sj}|",
        ),
        derivation.identity(
            "through scores, ∂y/∂κ_j is a covariance; a variance is at most (max − mean)(mean − min)",
            popoviciu(mean, square, low, high),
            -(square - (high + low) * mean + high * low),
            "the right side is the mean of (max − a)(a − min) ≥ 0, with m2 the mean of a²",
        ),
        derivation.squares(
            "which is at most ¼ (max − min)²",
            (high - low) ** 2 / 4,
            (high - mean) * (mean - low),
            [(sympy.S.One, mean - (high + low) / 2)],
            "AM–GM as a square",
        ),
        derivation.identity(
            "and a covariance C has V_b(V_a V_b − C²) = mean of (V_b a − C b)² ≥ 0, for centred a, b",
            vb * (va * vb - cov**2),
            vb**2 * va - 2 * vb * cov * cov + cov**2 * vb,
            "expand the square; Cauchy–Schwarz",
            latex=r"|\partial y/\partial\kappa_j|\le\tfrac14\,\mathrm{range}_sE_{sj}\,\mathrm{range}_s(FV)_s",
        ),
        derivation.positive(
            "a finite step multiplies slot weights by m to T: the odds of a set A of slots grow at most T/m-fold",
            most * (p[0] + p[1]) * (p[2] * (least + beta[0]) + p[3] * (least + beta[1]))
            - (p[0] * (most - alpha[0]) + p[1] * (most - alpha[1])) * least * (p[2] + p[3]),
            "two slots in A with factors T − α, two outside with factors m + β",
            relation=">=",
            latex="",
        ),
        derivation.positive(
            "the output moves by at most range(FV) times the weight that the gaining slots gain",
            spread * sympy.Add(*gains)
            - (
                sympy.Add(*(g * (spread - b) for g, b in zip(gains, below, strict=True)))
                - sympy.Add(*(lost * a for lost, a in zip(losses, above, strict=True)))
            ),
            "two slots gain, two lose; values measured from the least",
            relation=">=",
            latex="",
        ),
        derivation.identity(
            "two slots are the worst case: tanh(h/4) minus the step is tanh(h/4)(cosh x − 1)/(cosh x + cosh(h/2))",
            sympy.tanh(h / 4) - step,
            sympy.tanh(h / 4) * (sympy.cosh(x) - 1) / (sympy.cosh(x) + sympy.cosh(h / 2)),
            "h the step of the log-odds, x its middle",
            latex=r"\tanh\tfrac h4-\Delta w=\tanh\tfrac h4\,\frac{\cosh x-1}{\cosh x+\cosh\frac h2}",
        ),
        derivation.squares(
            "cosh x ≥ 1", sympy.cosh(x), 1, [(Rational(1, 2), sympy.exp(x / 2) - sympy.exp(-x / 2))], "half a square"
        ),
        derivation.convex("tanh(h/4) ≥ 0 for h ≥ 0, since e^h ≥ 1 + h", sympy.exp(h) - 1 - h, h, 0, "it bends upwards"),
        derivation.identity(
            "so |Δy| ≤ range(FV) tanh(|Δκ_j| range E/4), attained by two slots at x = 0",
            step.subs(x, 0),
            sympy.tanh(h / 4),
            "cosh 0 = 1",
            latex=r"|\Delta y|\le\mathrm{range}_s(FV)_s\,\tanh\left(|\Delta\kappa_j|\,\mathrm{range}_sE_{sj}/4\right)",
        ),
    ]
    return Derivation("T12: witnesses, and the size of a leak", tuple(steps))


def _alone(head: Head) -> list[tuple[Head]]:
    return [(head,)]


def _witnessed(head: Head) -> bool:
    leak = head.witness()
    return leak is not None and leak.replays()


def _rows() -> list[tuple[int, int]]:
    return [(a, b) for a in range(3) for b in range(3)]


def _separates(rows: tuple[tuple[int, int], ...]) -> bool:
    kappa = separating([tuple(map(sympy.Integer, row)) for row in rows])
    values = [sum(a * b for a, b in zip(row, kappa, strict=True)) for row in rows]
    return len(set(values)) == len(set(rows))


def enclosure(digits: int) -> str:
    """The two outputs of each witness lie in disjoint intervals."""
    shown = []
    for name, head in leaking_heads():
        leak = head.witness()
        expect(leak is not None, f"no witness for the leak through {name}")
        assert leak is not None
        before, after = (enclose(output, digits) for output in leak.outputs)
        expect(not before.overlaps(after), f"{name}: the outputs {before} and {after} are not told apart")
        shown.append(f"{name}: {before} against {after}")
    return "; ".join(shown)


def property_check(rng: random.Random) -> str:
    """Random heads: a witness exists iff the head is not safe by definition; it replays through the head itself."""
    count, leaks = 60, 0
    for _ in range(count):
        h = random_head(rng)
        leak = h.witness()
        safe = h.safe_by_definition()
        if (leak is None) != safe:  # a leak takes time to put in words
            raise CheckFailed(f"witness {leak} for E = {h.e}, F = {h.f}, J = {h.forbidden}")
        if leak is None:
            continue
        leaks += 1
        if not leak.replays():
            raise CheckFailed(f"the witness {leak} does not replay")
        outputs = [
            attention.compressed_attention([[1]], Matrix(k), Matrix(v), h.e, h.f)[0, 0]
            for k, v in zip(leak.scores, leak.values, strict=True)
        ]
        if is_zero(outputs[0] - outputs[1]):
            raise CheckFailed(f"the head itself does not move on {leak}")
        _within_bounds(leak)
    expect(0 < leaks < count, f"{leaks} of {count} random heads leak")
    return f"{count} random and planted heads: {leaks} leak, each with a witness that replays and keeps to the bounds"


def _within_bounds(leak: Leak) -> None:
    """The size of a leak keeps to THEORY's bounds."""
    h, j = leak.head, leak.position
    moved = abs(float(leak.difference()))
    dv, dk = (abs(pair[1][j] - pair[0][j]) for pair in (leak.values, leak.scores))
    by_values = float(dv) * max(abs(float(h.f[s, j])) for s in h.seen)
    carried = [float(sum((h.f[s, i] * leak.values[0][i] for i in range(h.n)), sympy.S.Zero)) for s in h.seen]
    keys = [float(h.e[s, j]) for s in h.seen]
    spread = float(sympy.tanh(dk * Rational(max(keys) - min(keys)) / 4))
    bound = by_values + (max(carried) - min(carried)) * spread
    if moved > bound * (1 + 1e-9):
        raise CheckFailed(f"the leak {moved} exceeds its bound {bound}: {leak}")


def exact() -> str:
    """Every leak that the checker in causal/ reports on random heads carries a witness that replays."""
    import numpy as np

    from ..causal.boundary import Boundary
    from ..causal.projection.check import check_projection

    rng, replayed = random.Random(12), 0
    for _ in range(40):
        h = random_head(rng)
        boundary = Boundary.relation([[j not in h.forbidden for j in range(h.n)]])
        e, f = (np.array(m.tolist(), dtype=float) for m in (h.e, h.f))
        verdict = check_projection(f, e, layout="slots-first", boundary=boundary)
        expect(
            (verdict.witness is not None) == (h.witness() is not None), f"{verdict.headline()} for E = {h.e}, F = {h.f}"
        )
        if verdict.witness is not None:
            expect(verdict.witness.replay(), f"the checker's witness does not replay for E = {h.e}, F = {h.f}")
            replayed += 1
    return f"check_projection's {replayed} witnesses replay, and it reports a leak exactly where there is one"


def scale_check(scale: Scale) -> str:
    """The checker finds one planted leak in arrays of the library asked for, with a witness that replays."""
    import numpy as np

    from ..causal.projection.check import check_projection

    n = 10_000 if scale.n is None else max(2, scale.n)
    rng = np.random.default_rng(scale.seed)
    r, t = min(8, n), (n - 1) // 2
    late = np.arange(n)[None, :] > t
    dense = np.where(late, 0.0, rng.standard_normal((r, n)))
    planted = (int(rng.integers(r)), int(rng.integers(t + 1, n)))
    dense[planted] = 1e-6
    array = scale.array(dense)
    visible = np.arange(n)[:, None] >= np.full(r, t)[None, :]
    verdict = check_projection(array, layout="slots-first", visible=visible)
    witness = verdict.witness
    expect(witness is not None and witness.position == planted[1], f"{verdict.headline()}, planted at {planted}")
    assert witness is not None
    expect(witness.replay(), f"the witness for the leak planted at {planted} does not replay")
    return f"n = {n}: the leak planted at slot {planted[0]}, position {planted[1]} is found, and its witness replays"


CLAIM = Claim(
    id="T12",
    title="Every leak has a witness",
    statement="For rational E, F every leak has two explicit inputs whose outputs differ; and its size is bounded.",
    latex=r"|\Delta y|\le\mathrm{range}_s(FV)_s\tanh\left(|\Delta\kappa_j|\,\mathrm{range}_sE_{sj}/4\right)",
    source="ours; Lindemann–Weierstrass",
    derive=derive,
    exact=exact,
    enclosure=enclosure,
    property=property_check,
    scale=scale_check,
    theorems=(
        "separating_point",
        "output_def",
        "find_witnessP",
        "find_witness_refutes",
        "witness_not_safe",
        "find_witness_natural",
        "witness_reals",
        "value_leak_bound",
        "key_leak_bound",
        "key_leak_reals",
    ),
    reading=(
        "With d = 1 and q = 1 the witness is a pair of key and value vectors that agree wherever the query may look. "
        "The bounds say how large a leak can be; a small leak is still one."
    ),
)
