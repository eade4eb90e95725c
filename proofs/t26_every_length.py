"""T26: one program for every length is causal when its obligations hold for all lengths from some one on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy
from sympy import Symbol

from ..symbolic import derivation
from ..symbolic.derivation import Derivation
from .claim import Claim, expect

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

LARGEST_N = 12


def reads(t: int, n: int) -> list[int]:
    """The positions that a causal window of two reads at t: t and, by an index that wraps at 0, t − 1."""
    return [t, (t + n - 1) % n]


def window(rows: Sequence[int], guarded: bool) -> list[int]:
    """Sums of a row and the one before it; unguarded, the first row takes the last one for its predecessor."""
    n = len(rows)
    return [rows[t] if guarded and not t else sum(rows[j] for j in {*reads(t, n)}) for t in range(n)]


def derive() -> Derivation:
    """The theorem about graphs, length by length; an index that wraps; a row that a finite mask hides throughout."""
    z, v = list(sympy.symbols("z0:3", real=True)), list(sympy.symbols("v0:3", real=True))
    c = Symbol("c", real=True)

    def mean(scores: list[sympy.Expr]) -> sympy.Expr:
        weights = [sympy.exp(score) for score in scores]
        return sympy.Add(*(w * x for w, x in zip(weights, v, strict=True))) / sympy.Add(*weights)

    return Derivation(
        "T26: every length",
        (
            derivation.lemma(
                "Rules that keep the relation, operands in bounds, a shadow of the output at t that ends at t, for "
                "all n ≥ n₀: the output at t ignores inputs after t for all n ≥ n₀.",
                "T23 at each length",
                "every_length_causal",
            ),
            derivation.cases(
                f"an index of t − 1 that wraps at 0 reads past t at t = 0 alone: 2 ≤ n ≤ {LARGEST_N}",
                lambda: ((t, n) for n in range(2, LARGEST_N + 1) for t in range(n)),
                lambda t, n: (max(reads(t, n)) <= t) == (t > 0),
                "so bounds of indices are obligations, too",
            ),
            derivation.lemma("The same for all n.", "n ≥ 2, t < n", "wrapped_index_leaks"),
            derivation.identity(
                "a finite mask that lowers all scores of a row alike changes nothing: the row attends to everything",
                mean([score + c for score in z]),
                mean(z),
                "three places; e^c cancels",
                latex=r"\frac{\sum e^{z_j+c}v_j}{\sum e^{z_j+c}}=\frac{\sum e^{z_j}v_j}{\sum e^{z_j}}",
            ),
            derivation.lemma("The same for rows of all lengths.", "e^c cancels", "starved_row_attends"),
        ),
    )


def property_check(rng: random.Random) -> str:
    """Random sequences of every length to 12 that differ at the end: a guarded window never sees it."""
    count = 0
    for n in range(2, LARGEST_N + 1):
        for _ in range(20):
            rows = [rng.randint(-9, 9) for _ in range(n)]
            other = [*rows[:-1], rows[-1] + rng.randint(1, 9)]
            for guarded in (True, False):
                first, second = window(rows, guarded), window(other, guarded)
                expect((first[0] != second[0]) is not guarded, f"guarded: {guarded}, {rows}, {other}")
                expect(first[1:-1] == second[1:-1], f"{rows} and {other} differ before the end")
            count += 1
    return f"{count} pairs of sequences, 2 ≤ n ≤ {LARGEST_N}: the last row moves the first only where an index wraps"


CLAIM = Claim(
    id="T26",
    title="Every length",
    statement="Obligations that hold for all n ≥ n₀ make one program causal at every such length.",
    latex=r"\forall n\ge n_0:\ \mathrm{hi}_n(\text{out}_t)\le t\ \Longrightarrow\ \forall n\ge n_0:\ \text{causal}_n",
    source="ours",
    derive=derive,
    property=property_check,
    theorems=("every_length_causal", "wrapped_index_leaks", "starved_row_attends"),
    reading=(
        "That the obligations of a program hold for all n is for Presburger arithmetic to say; that a graph is the "
        "program's at every length is a premise. −∞ in a whole row is NaN in both runs; a finite mask is none there."
    ),
)
