"""T10: slots that read nothing forbidden are safe, whatever the weights."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from sympy import Expr, MatrixSymbol, Rational

from ..numeric import scale as at_scale
from ..symbolic import attention, derivation
from ..symbolic.derivation import Derivation
from ..symbolic.prefix import Head
from .claim import Claim, expect

if TYPE_CHECKING:
    import random


def article_head(seen: tuple[int, ...] = (0, 1)) -> Head:
    """Query 0 of the article's projection under the prefix boundary, which forbids it positions 1 and 2."""
    return Head.of(attention.article_projection(), seen=seen, forbidden=[1, 2])


def masked_after(kappa: tuple[Any, ...], v: tuple[Any, ...], seen: tuple[int, ...] = (0,)) -> Expr:
    """E = F = I: weights normalised over all slots, those not seen dropped afterwards."""
    total = sympy.Add(*(sympy.exp(k) for k in kappa))
    return sympy.Add(*(sympy.exp(kappa[s]) * v[s] for s in seen)) / total


@cache
def small_heads() -> tuple[tuple[Head], ...]:
    """Two slots, two positions, every E and F of zeros and ones, query 0, every non-empty set of seen slots."""
    return tuple(
        (Head.of([entries[:2], entries[2:4]], [entries[4:6], entries[6:]], seen=seen, forbidden=[1]),)
        for entries in product((0, 1), repeat=8)
        for seen in ((0,), (1,), (0, 1))
    )


def derive() -> Derivation:
    """Compressed keys and values do not see what the slot does not read; what is not covered; the article's leak."""
    n, r, d = sympy.symbols("n r d", integer=True, positive=True)
    g, allowed = MatrixSymbol("G", r, n), MatrixSymbol("Pi", n, n)
    k1, k2 = MatrixSymbol("K", n, d), MatrixSymbol("K'", n, d)
    kappa, v = sympy.symbols("kappa0:3", real=True), sympy.symbols("v0:3", real=True)
    moved = sympy.Symbol("kappa1'", real=True)
    head = article_head()
    only = article_head(seen=(0,))
    return Derivation(
        "T10: the support criterion",
        (
            derivation.matrices(
                "visible rows that vanish on the forbidden positions are GΠ, Π the projector on the allowed ones: "
                "then EK − EK′ = G(ΠK − ΠK′)",
                (g * allowed) * k1 - (g * allowed) * k2,
                g * (allowed * k1 - allowed * k2),
                "associativity, for all shapes; the same for F and V",
            ),
            derivation.cases(
                "so inputs with ΠK = ΠK′, ΠV = ΠV′ give the same compressed keys and values, and the same output: "
                "every head with entries 0, 1 that passes is safe",
                small_heads,
                lambda h: not h.safe_by_support() or h.safe_by_definition(),
                "r = n = 2, all masks, decided from the definition in ℚ(κ, v, e^κ)",
            ),
            derivation.lemma(
                "The same for every n and r, every such output, and in rounded arithmetic with finite inputs.",
                "0·x = 0 for finite x; then the same operations on the same numbers",
                "support_safe_view, support_safe_rounded",
            ),
            derivation.different(
                "normalising over all slots and masking afterwards is not such a function: it leaks κ_1",
                masked_after((kappa[0], kappa[1]), (v[0], v[1])),
                masked_after((kappa[0], moved), (v[0], v[1])),
                "E = F = I, query 0 sees slot 0 alone",
            ),
            derivation.identity(
                "the article's leak: with slot 0 alone visible, query 0 outputs (v_0 + v_1)/2",
                only.output(kappa, v),
                (v[0] + v[1]) / 2,
                "one slot has weight 1",
            ),
            derivation.different(
                "and with both slots visible it depends on v_1 as well",
                head.output(kappa, v),
                head.output(kappa, (v[0], 0, v[2])),
                "as long as slot 0 is visible no mask over the other slots removes it",
                latex="",
            ),
            derivation.cases(
                "with every slot visible to query 0, prefix boundary, only projections that read position 0 alone pass",
                small_heads,
                lambda h: (
                    len(h.seen) < 2 or h.safe_by_support() == all(m[s, 1] == 0 for m in (h.e, h.f) for s in range(2))
                ),
                "r = n = 2",
            ),
        ),
    )


def exact() -> str:
    """The checker in causal/ agrees with the definition on every fourth of `small_heads` that sees both slots."""
    from ..causal.projection.check import check_projection

    heads = [h for (h,) in small_heads() if len(h.seen) == 2][::4]
    for h in heads:
        visible = [[True, True], [False, False]]
        e, f = (np.array(m.tolist(), dtype=float) for m in (h.e, h.f))
        verdict = check_projection(f, e, layout="slots-first", visible=np.array(visible))
        found = "leaks" if verdict.witness is not None else "T11" if "T11" in verdict.claims else "T10"
        expected = "T10" if h.safe_by_support() else "T11" if h.safe_by_definition() else "leaks"
        expect(found == expected, f"the checker says {found}, the definition {expected}, for E = {h.e}, F = {h.f}")
    return f"check_projection agrees with the definition on {len(heads)} heads of two slots"


def property_check(rng: random.Random) -> str:
    """Random heads that pass are safe by definition, and bit for bit in floating point."""
    passed = 0
    for _ in range(40):
        n, r = rng.randint(2, 4), rng.randint(1, 3)
        forbidden = rng.sample(range(n), rng.randint(1, n - 1))
        e, f = (
            [[0 if j in forbidden else Rational(rng.randint(-3, 3), 2) for j in range(n)] for _ in range(r)]
            for _ in range(2)
        )
        h = Head.of(e, f, forbidden=forbidden)
        expect(
            h.safe_by_support() and (r * n > 6 or h.safe_by_definition()), f"E = {e}, F = {f} passes but is not safe"
        )
        arrays = [np.array(m.tolist(), dtype=float) for m in (h.e, h.f)]
        before = [rng.uniform(-2, 2) for _ in range(n)], [rng.uniform(-2, 2) for _ in range(n)]
        after = tuple(
            [10.0 ** rng.randint(-300, 300) * rng.choice([-1, 1]) if j in forbidden else x for j, x in enumerate(part)]
            for part in before
        )
        outputs = [_float_output(arrays[0], arrays[1], np.array(k), np.array(v)) for k, v in (before, after)]
        expect(outputs[0] == outputs[1], f"floats {outputs} differ for E = {e}, F = {f}")
        passed += 1
    return f"{passed} random heads that pass: safe by definition, and equal in floats for forbidden inputs up to 1e300"


def _float_output(e: np.ndarray, f: np.ndarray, kappa: np.ndarray, v: np.ndarray) -> float:
    scores = np.array([sum(a * k for a, k in zip(row, kappa, strict=True)) for row in e])
    carried = np.array([sum(a * x for a, x in zip(row, v, strict=True)) for row in f])
    weights = np.exp(scores - scores.max())
    return float(np.sum(weights * carried) / np.sum(weights))


CLAIM = Claim(
    id="T10",
    title="The support criterion",
    statement="If no visible slot reads a forbidden position, with E or F, the head is safe, in floating point too.",
    latex=r"E_{sj}=F_{sj}=0\ \ (s\in S(t),\,j\in J(t))\ \Rightarrow\ \text{safe}",
    source="article, 'Two conditions behind the saving'",
    derive=derive,
    exact=exact,
    property=property_check,
    scale=at_scale.CHECKS["T10"],
    theorems=(
        "weights_def",
        "head_def",
        "query_safe_def",
        "prefix_safe_def",
        "support_safe_view",
        "support_prefix_safe",
        "support_first_query",
        "rounded_dot_def",
        "support_safe_rounded",
        "masked_after_leaks",
        "article_leak",
        "article_leak_value",
        "entry_def",
        "support_safeP",
        "support_safe_sound",
        "support_checker_reals",
        "support_safe_reals",
    ),
    reading=(
        "It asks that the output be a function of the visible slots' compressed keys and values alone. A softmax over "
        "all slots that is masked afterwards is not one. Sufficient; T11 says exactly when a softmax head is safe."
    ),
)
