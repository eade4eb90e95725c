"""T23: the rules by which the tracer moves shadows through a program are sound."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..symbolic import derivation
from ..symbolic.derivation import Derivation
from .claim import Claim, expect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..causal.model.trace.domain import Shadow

RANKS = 3


def derive() -> Derivation:
    """Every product of two elements, decided one by one; then the rules and the theorem about graphs, in Rocq."""
    return Derivation(
        "T23: the tracer's rules are sound",
        (
            derivation.cases(
                f"the product of two elements, for all shadows with {RANKS} ranks and every set of ranks that "
                "moves: clean means equal, 0 means 0, above 0 means above 0",
                _products,
                lambda left, right, changed: _fault([left], [right], changed, 7) is None,
                "the tracer's own contraction, run twice on each",
            ),
            derivation.lemma(
                "Joins, running ends, sums and products, sums, products, exp under its condition, choices, sums over "
                "axes, contractions keep the relation of two runs whose inputs agree before t.",
                "each from the definition of the relation, for real numbers and −∞",
                "joined_sound, scanned_sound, added_sound, multiplied_sound, exponential_sound, selected_sound, "
                "summed_sound, contracted_sound, running_sum_sound, running_product_sound",
            ),
            derivation.lemma(
                "So do softmax, with −∞, starved rows and scores that count 0 by a condition, and the largest element.",
                "a weight that is 0 in both runs adds nothing to the sum, whatever the score is",
                "softmaxed_sound, peaked_sound",
            ),
            derivation.lemma(
                "A graph whose nodes keep the relation is causal where its output's shadow ends at t.",
                "induction over the nodes in their order",
                "graph_causal, graph_causal_along",
            ),
        ),
    )


Entry = tuple[int, int, int, Fraction]  # earliest and latest rank, kind (above 0, a constant or 0), first value


def _products() -> Iterator[tuple[Entry, Entry, tuple[int, ...]]]:
    """Both factors' shadows, and which ranks move."""
    spans = [(low, high) for low in range(RANKS) for high in range(low, RANKS)]
    entries = [(low, high, kind, Fraction(0 if kind == 5 else 2)) for low, high in spans for kind in (1, 4, 5)]
    moves = [c for size in range(1, RANKS) for c in itertools.combinations(range(RANKS), size)]
    return ((left, right, changed) for left in entries for right in entries for changed in moves)


def _fault(left: list[Entry], right: list[Entry], changed: Sequence[int], moved: int) -> str | None:
    """What the tracer's contraction says wrongly of a row times a column, where `changed` ranks move; or None."""
    from ..causal.model.trace.domain import full

    entries, k = [*left, *right], len(left)
    first = [value for _, _, _, value in entries]
    second = [
        value if kind in (4, 5) or not set(range(low, high + 1)) & set(changed) else Fraction(moved)
        for low, high, kind, value in entries
    ]
    low, high, kind = (int(part.item()) for part in full(_contracted(left, right)))
    outs = [sum((a * b for a, b in zip(run[:k], run[k:], strict=True)), Fraction(0)) for run in (first, second)]
    told = f"{entries} with ranks {list(changed)} moved: {outs}"
    if not set(range(low, high + 1)) & set(changed) and outs[0] != outs[1]:
        return f"{told}, called [{low}, {high}]"
    if kind == 5 and outs != [0, 0]:
        return f"{told}, called 0"
    if kind == 1 and min(outs) <= 0:
        return f"{told}, called above 0"
    return None


def _contracted(left: list[Entry], right: list[Entry]) -> Shadow:
    from ..causal.model.trace.transfer import contractions
    from .transfers import Held, Scores

    k = len(left)
    run: Any = Scores(np.zeros((1, 1), bool))
    row: Any = Held(_shadow(left, (1, k)))
    column: Any = Held(_shadow(right, (k, 1)))
    return contractions.matrix_product(run, row, column, (1, 1))


def property_check(rng: random.Random) -> str:
    """Random products with zeros and intervals, run twice with inputs that differ on some ranks: the tracer's
    contraction never calls an element clean that differs, nor 0 what is not.
    """
    from ..causal.model.trace.domain import full

    count, clean = 300, 0
    for _ in range(count):
        k = rng.randint(1, 4)
        left, right = ([_entry(rng) for _ in range(k)] for _ in range(2))
        changed = rng.sample(range(RANKS), rng.randint(1, RANKS - 1))
        fault = _fault(left, right, changed, rng.randint(1, 9))
        expect(fault is None, str(fault))
        low, high, _ = (int(part.item()) for part in full(_contracted(left, right)))
        clean += not set(range(low, high + 1)) & set(changed)
    expect(0 < clean < count, f"{clean} of {count} products are clean")
    return f"{count} random products with zeros, run twice: {clean} called clean, all of them equal"


def _entry(rng: random.Random) -> Entry:
    """Earliest and latest rank, kind (above 0, a constant or 0), and the value in the first run."""
    kind = rng.choice((1, 1, 4, 5, 5))
    low = rng.randrange(RANKS)
    return low, rng.randrange(low, RANKS), kind, Fraction(0 if kind == 5 else rng.randint(1, 9))


def _shadow(entries: list[Entry], shape: tuple[int, int]) -> Shadow:
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
    derive=derive,
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
        "running_sum_sound",
        "running_product_sound",
        "peaked_sound",
        "softmaxed_sound",
        "graph_causal",
        "program_def",
        "kept_along_def",
        "graph_causal_along",
    ),
    reading=(
        "Values are real numbers and −∞; that nothing overflows is a premise of the rules that need it. The tracer's "
        "own functions are compared with the proved ones on random shadows, and docs/trust.md says which are."
    ),
)
