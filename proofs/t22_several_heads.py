"""T22: several heads added up by an output projection, which can hide or cancel what they leak."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from sympy import Expr, Matrix, MatrixSymbol, Symbol

from ..symbolic import derivation
from ..symbolic.derivation import Derivation
from ..symbolic.prefix import Head
from ..symbolic.several_heads import Layer, LayerHead
from .claim import Claim, Scale, expect
from .t11_exact import random_head
from .t20_self_attention import agreeing_inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

TRIES = 24  # pairs of inputs on which an unsafe layer is to differ


def cancelling_example() -> Layer:
    """Two heads of one slot, which carries the forbidden position whatever the keys: W_O has both signs."""
    head = Head.of([[1, 0]], [[0, 1]], forbidden=[1])
    first, second = (LayerHead(head, sympy.Matrix(form), sympy.Matrix([sign, 0])) for form, sign in _WAYS)
    return Layer((first, second))


_WAYS: tuple[tuple[list[int], int], ...] = (([1, 0], 1), ([0, 1], -1))


def choices_sum(weights: Sequence[Sequence[Expr]], moved: Sequence[Sequence[Expr]], carried: Any, after: Any) -> Expr:
    """Σ over one slot of each head before and one after of (Σ_h c_h − c'_h) Π_h a_h a'_h, for two heads."""
    (a, b), (a2, b2), (c, d), (c2, d2) = weights, moved, carried, after
    return sympy.Add(
        *(
            (c[s] - c2[u] + d[v] - d2[w]) * a[s] * a2[u] * b[v] * b2[w]
            for s in range(len(a))
            for u in range(len(a))
            for v in range(len(b))
            for w in range(len(b))
        )
    )


def derive() -> Derivation:
    """W_O enters linearly; the product of the heads, multiplied out; class by class; heads that share less."""
    n, d, p = sympy.symbols("n d p", integer=True, positive=True)
    outs, others = ([MatrixSymbol(f"Y_{h}{mark}", n, d) for h in (1, 2)] for mark in ("", "'"))
    w, w2 = ([MatrixSymbol(f"{name}_{h}", d, p) for h in (1, 2)] for name in ("W", "V"))
    a = [list(sympy.symbols(f"{name}0:2", positive=True)) for name in ("a", "b")]
    a2 = [list(sympy.symbols(f"{name}0:2'", positive=True)) for name in ("a", "b")]
    c = [list(sympy.symbols(f"{name}0:2", real=True)) for name in ("c", "d")]
    c2 = [list(sympy.symbols(f"{name}0:2'", real=True)) for name in ("c", "d")]

    def output(weights: list[list[Symbol]], carried: list[list[Symbol]]) -> Expr:
        tops = [
            sympy.Add(*(x * y for x, y in zip(ws, cs, strict=True))) for ws, cs in zip(weights, carried, strict=True)
        ]
        return sympy.Add(*(top / sympy.Add(*ws) for top, ws in zip(tops, weights, strict=True)))

    bottom = sympy.Mul(*(sympy.Add(*ws) for ws in (*a, *a2)))
    gamma, f = Symbol("gamma", real=True), list(sympy.symbols("f0:2", real=True))
    mean = sympy.Add(*(x * y for x, y in zip(a[0], f, strict=True)))
    score, value = Symbol("kappa"), Symbol("v")
    return Derivation(
        "T22: several heads and an output projection",
        (
            derivation.matrices(
                "the difference of two outputs is linear in W_O: what is safe is closed under sums and multiples",
                (outs[0] - others[0]) * (w[0] + w2[0]) + (outs[1] - others[1]) * (w[1] + w2[1]),
                (outs[0] - others[0]) * w[0]
                + (outs[1] - others[1]) * w[1]
                + (outs[0] - others[0]) * w2[0]
                + (outs[1] - others[1]) * w2[1],
                "two heads; a multiple of W_O multiplies the difference",
                latex=r"\sum_h(Y_h-Y_h')(W_h+V_h)=\sum_h(Y_h-Y_h')W_h+\sum_h(Y_h-Y_h')V_h",
            ),
            derivation.lemma(
                "So the safe W_O form a subspace, which is everything iff every head is safe by itself.",
                "a W_O with a single 1 shows one coordinate of one head",
                "safe_outputs_subspace, safe_outputs_all",
            ),
            derivation.identity(
                "over one denominator the difference is a sum over a slot before and one after the move in each head",
                (output(a, c) - output(a2, c2)) * bottom,
                choices_sum(a, a2, c, c2),
                "two heads with two slots each; slot s weighs a_s and carries c_s",
                latex=r"(y-y')\prod_hZ_hZ_h'=\sum_{(s_h,u_h)}\Big(\sum_h c_{s_h}-c'_{u_h}\Big)\prod_ha_{s_h}a'_{u_h}",
            ),
            derivation.lemma(
                "With keys X W_K and values X W_V the weights are exponentials of X and what is carried is linear in "
                "X, so the layer is safe iff per exponent all that is carried adds up to 0.",
                "affine independence of exponentials; forbidden positions move one at a time",
                "layer_exact",
            ),
            derivation.lemma(
                "Heads with keys and values of their own: every head that W_O reads must be safe.",
                "the other heads stand still",
                "own_inputs_exact",
            ),
            derivation.identity(
                "a head gives position j the share γ whatever the keys iff Σ (F[s,j] − γ) e^{E[s]·κ} = 0",
                (mean / sympy.Add(*a[0]) - gamma) * sympy.Add(*a[0]),
                sympy.Add(*((y - gamma) * x for x, y in zip(a[0], f, strict=True))),
                "class by class: the mean of F[·,j] over the slots with equal rows of E is γ",
                latex=r"\Big(\frac{\sum_sF_{sj}a_s}{\sum_sa_s}-\gamma\Big)\sum_sa_s=\sum_s(F_{sj}-\gamma)a_s",
            ),
            derivation.lemma(
                "Keys of their own and shared values: heads that W_O reads satisfy (2) and have one mean γ_h per "
                "forbidden position, and Σ_h w_h γ_h = 0.",
                "the share of a position is the sum of the heads' shares, each a function of its own keys",
                "shared_values_exact",
            ),
            derivation.identity(
                "so two heads of one slot that reads v_1 cancel under W_O = (1, −1), though each of them leaks",
                sympy.Add(*(sign * part.head.output((score, score), (0, value)) for part, sign in _example_parts())),
                0,
                "a lone slot has weight 1",
                latex="v_1-v_1=0",
            ),
        ),
    )


def _example_parts() -> list[tuple[LayerHead, Expr]]:
    return [(part, part.effect[0]) for part in cancelling_example().heads]


def random_layer(rng: random.Random) -> Layer:
    """One to three random heads, of a fixed query or a position's, often made to cancel."""
    base = random_head(rng)
    at = rng.choice(base.allowed) if rng.random() < 0.5 else None

    def weights(cols: int) -> Matrix:
        return Matrix(2, cols, lambda *_: rng.choice([-1, 0, 1, 2]))

    parts: list[LayerHead] = []
    for _ in range(rng.choice([1, 2, 2, 3])):
        form, effect = weights(1 if at is None else 2), weights(1)
        kind = rng.random()
        if parts and kind < 0.4:  # the opposite of another head, often with its scores
            other = rng.choice(parts)
            parts.append(LayerHead(other.head, other.form if rng.random() < 0.7 else form, -other.effect))
        elif kind < 0.7:  # every slot carries the forbidden positions alike
            f, e = base.f.copy(), base.e.copy()
            for j in base.forbidden:
                f[:, j] = sympy.ones(f.rows, 1) * rng.choice([1, -1])
                e[:, j] = e[:, j] if rng.random() < 0.3 else sympy.zeros(e.rows, 1)
            parts.append(LayerHead(Head.of(e, f, seen=base.seen, forbidden=base.forbidden), form, effect))
        else:
            parts.append(LayerHead(base, form, effect))
    return Layer(tuple(parts), at)


def property_check(rng: random.Random) -> str:
    """Random layers: those called safe never differ, decided in exact arithmetic; the others differ on some inputs."""
    count, tally = 60, Counter[tuple[bool, bool]]()
    for _ in range(count):
        layer = random_layer(rng)
        safe, head = layer.safe(), layer.heads[0].head
        differ = any(layer.differs(*agreeing_inputs(head, rng)) for _ in range(3 if safe else TRIES))
        expect(differ is not safe, f"{layer} is called {'safe' if safe else 'unsafe'}")
        alone = all(part.head.safe_by_criterion() or part.effect.is_zero_matrix for part in layer.heads)
        expect(safe or not alone, f"{layer} is called unsafe, and each of its heads is safe")
        tally[safe, alone] += 1
    expect(len(tally) == 3, f"cases that came up: {dict(tally)}")
    return (
        f"{count} random layers: {tally[True, True]} of safe heads and {tally[True, False]} whose leaks cancel never "
        f"differ, {tally[False, False]} leak, and each is seen to"
    )


def exact() -> str:
    """The example is safe though each head leaks; check_projection tells a W_O that cancels from one that does not."""
    from ..causal.projection.check import check_projection

    example = cancelling_example()
    expect(example.safe(), "the example is called unsafe")
    for part in example.heads:
        expect(not Layer((part,)).safe(), "a head of the example is called safe by itself")
    eye = np.eye(2)
    told = {}
    for name, second in (("cancels", -1), ("leaks too", 1)):
        weights = (np.stack([eye, eye]), np.stack([eye, eye]), np.stack([eye, eye]), np.stack([eye, second * eye]))
        told[name] = check_projection([[0.0, 1.0]], [[1.0, 0.0]], layout="slots-first", weights=weights).reasons[-1]
    expect(all(name in reason for name, reason in told.items()), f"check_projection says {told}")
    return "the example is safe though both heads leak, and check_projection tells W_O = (1, −1) from (1, 1)"


def scale_check(scale: Scale) -> str:
    """The example over many positions: one slot per head, opposite signs; inputs that move change nothing, exactly."""
    n = 10_000 if scale.n is None else max(2, scale.n)
    rng = np.random.default_rng(scale.seed)
    signs = [float(part.effect[0]) for part in cancelling_example().heads]
    outputs = []
    for _ in range(2):
        values = rng.integers(-8, 9, (n, 2)).astype(float)
        on = scale.array(values)
        outputs.append(sum(sign * scale.xp.sum(on, axis=0) for sign in signs))  # a lone slot reads every position
    same = bool(scale.xp.all(outputs[0] == outputs[1]))
    expect(same, f"the outputs differ: {outputs}")
    return f"n = {n}: heads of one slot with opposite signs give the same output whatever the inputs are"


CLAIM = Claim(
    id="T22",
    title="Several heads and an output projection",
    statement="The safe W_O form a subspace; a given W_O is safe iff what its heads carry adds up to 0 per exponent.",
    latex=r"\sum_hY_hW_h\ \text{safe}\iff\forall B:\sum_{(s_h,u_h)\in B}\ \sum_h(F_{s_h}-F'_{u_h})\otimes W_VW_h=0",
    source="ours",
    derive=derive,
    exact=exact,
    property=property_check,
    scale=scale_check,
    theorems=(
        "safe_outputs_subspace",
        "safe_outputs_all",
        "layer_exact",
        "own_inputs_exact",
        "shared_values_exact",
    ),
    reading=(
        "W_O = 0 at the start of training hides every leak, and so do heads that cancel; almost every other W_O shows "
        "them. Rocq has the theorem for a fixed query; for that of a position it is derived in docs/theory.md."
    ),
)
