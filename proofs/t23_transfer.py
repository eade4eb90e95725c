"""T23: the rules by which the tracer moves shadows through a program are sound."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .claim import Claim, expect

if TYPE_CHECKING:
    from ..causal.model.trace.domain import Shadow

RANKS = 3


def property_check(rng: random.Random) -> str:
    """Random products with zeros and intervals, run twice with inputs that differ on some ranks: the tracer's
    contraction never calls an element clean that differs, nor 0 what is not.
    """
    from ..causal.model.trace.domain import full
    from ..causal.model.trace.transfer import contractions
    from .transfers import Held, Scores

    count, clean = 300, 0
    for _ in range(count):
        k = rng.randint(1, 4)
        entries = [_entry(rng) for _ in range(2 * k)]
        changed = rng.sample(range(RANKS), rng.randint(1, RANKS - 1))
        first = [value for _, _, _, value in entries]
        second = [
            value if kind in (4, 5) or not set(range(low, high + 1)) & set(changed) else Fraction(rng.randint(1, 9))
            for low, high, kind, value in entries
        ]
        left, right = Held(_shadow(entries[:k], (1, k))), Held(_shadow(entries[k:], (k, 1)))
        shadow = contractions.matrix_product(Scores(np.zeros((1, 1), bool)), left, right, (1, 1))
        low, high, kind = (int(part.item()) for part in full(shadow))
        outs = [sum((a * b for a, b in zip(run[:k], run[k:], strict=True)), Fraction(0)) for run in (first, second)]
        if not set(range(low, high + 1)) & set(changed):
            clean += 1
            expect(outs[0] == outs[1], f"{entries} with ranks {changed} moved: {outs}, called [{low}, {high}]")
        if kind == 5:
            expect(outs == [0, 0], f"{entries}: {outs}, called 0")
        if kind == 1:
            expect(min(outs) > 0, f"{entries}: {outs}, called above 0")
    expect(0 < clean < count, f"{clean} of {count} products are clean")
    return f"{count} random products with zeros, run twice: {clean} called clean, all of them equal"


def _entry(rng: random.Random) -> tuple[int, int, int, Fraction]:
    """Earliest and latest rank, kind (above 0, a constant or 0), and the value in the first run."""
    kind = rng.choice((1, 1, 4, 5, 5))
    low = rng.randrange(RANKS)
    return low, rng.randrange(low, RANKS), kind, Fraction(0 if kind == 5 else rng.randint(1, 9))


def _shadow(entries: list[tuple[int, int, int, Fraction]], shape: tuple[int, int]) -> Shadow:
    """The shadow of a matrix of these entries; constants have no interval."""
    from ..causal.model.trace.domain import FIXED, NONE_HI, NONE_LO, Shadow

    kind = np.array([e[2] for e in entries], np.uint8).reshape(shape)
    low, high = (np.array([e[i] for e in entries], np.int32).reshape(shape) for i in (0, 1))
    return Shadow(shape, np.where(kind >= FIXED, NONE_LO, low), np.where(kind >= FIXED, NONE_HI, high), kind)


CLAIM = Claim(
    id="T23",
    title="The tracer's rules are sound",
    statement="If each rule keeps the relation of two runs, an output whose shadow ends at t ignores inputs after t.",
    latex=r"\mathrm{hi}(\text{out})\le t\Rightarrow(x_{\le t}=x'_{\le t}\Rightarrow\text{out}(x)=\text{out}(x'))",
    source="ours",
    property=property_check,
    theorems=(
        "joined_sound",
        "scanned_sound",
        "added_sound",
        "multiplied_sound",
        "exponential_sound",
        "selected_sound",
        "summed_sound",
        "contracted_sound",
        "graph_causal",
    ),
    reading=(
        "Values are real numbers and −∞; that nothing overflows is a premise of the rules that need it. The tracer's "
        "own functions are compared with the proved ones on random shadows, and docs/trust.md says which are."
    ),
)
