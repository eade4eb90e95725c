"""Brute force, written without the checker: a head evaluated to 60 digits, and the finite-step form (2′) of T11.

`moves` decides by evaluation: a function of exponentials that is not constant differs at random rational points, but
for a set of measure zero. `safe` decides by (1) and (2′), in fractions and dictionaries. Both take visible slots only.
"""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction

import mpmath


def evaluate(E, F, bias, keys, values, digits=60):
    """Σ_s w_s (F V)_s with w = softmax(E κ + bias), for lists of Fractions."""
    with mpmath.workdps(digits):
        scores = [sum((e * k for e, k in zip(row, keys, strict=True)), b) for row, b in zip(E, bias, strict=True)]
        top = max(scores)
        weights = [mpmath.exp(mpmath.mpf(z.numerator) / z.denominator) for z in (z - top for z in scores)]
        amounts = [sum((f * v for f, v in zip(row, values, strict=True)), Fraction(0)) for row in F]
        total = mpmath.fsum(weights)
        return (
            mpmath.fsum(w * mpmath.mpf(a.numerator) / a.denominator for w, a in zip(weights, amounts, strict=True))
            / total
        )


def moves(E, F, forbidden, bias=None, tries=3, seed=0):
    """Whether replacing keys and values on the forbidden positions moves the output, at random rational points."""
    n, rng = len(E[0]), random.Random(seed)
    bias = [Fraction(0)] * len(E) if bias is None else bias

    def draw():
        return [Fraction(rng.randint(-999, 999), 331) for _ in range(n)]

    for _ in range(tries):
        keys, values = draw(), draw()
        other_keys, other_values = (
            [new if j in forbidden else old for j, (old, new) in enumerate(zip(table, draw(), strict=True))]
            for table in (keys, values)
        )
        gap = evaluate(E, F, bias, keys, values) - evaluate(E, F, bias, other_keys, other_values)
        if abs(gap) > mpmath.mpf(10) ** -40:
            return True
    return False


def safe(E, F, forbidden, bias=None):
    """T11 by (1) and (2′), literally."""
    k, n = len(E), len(E[0])
    bias = [Fraction(0)] * k if bias is None else bias
    allowed = [i for i in range(n) if i not in forbidden]
    for j in forbidden:
        sums = defaultdict(Fraction)
        for s in range(k):
            sums[tuple(E[s]), bias[s]] += F[s][j]
        if any(sums.values()):
            return False
        for i in allowed:
            sums = defaultdict(Fraction)
            for s in range(k):
                for u in range(k):
                    c = tuple(x + y for x, y in zip(E[s], E[u], strict=True))
                    sums[c, bias[s] + bias[u], E[u][j]] += F[s][i] - F[u][i]
            if any(sums.values()):
                return False
    return True


def safe_projection(E, F, sees, allowed, bias=None):
    """Whether every query is safe: `sees` (queries, r), `allowed` (queries, n), `bias` (queries, r) or None."""
    for t, (row, may) in enumerate(zip(sees, allowed, strict=True)):
        slots = [s for s, shown in enumerate(row) if shown]
        forbidden = {j for j, yes in enumerate(may) if not yes}
        if slots and not safe(
            [E[s] for s in slots],
            [F[s] for s in slots],
            forbidden,
            None if bias is None else [bias[t][s] for s in slots],
        ):
            return False
    return True
