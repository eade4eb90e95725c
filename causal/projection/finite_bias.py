"""Finite biases instead of −∞: a slot with one is visible, and hidden only where its float weight underflows to 0.

In a float type exp(x) is 0 once x lies below the logarithm of half the smallest positive number, so a slot s whose
score plus bias trails the row's largest by that margin θ has weight exactly 0. In exact terms: z_s − z_u ≤ (b_u − b_s)
− θ for some kept slot u, before the sums round; large scores absorb a bias in rounding, which the bound on |z|
excludes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .entries import BITS
from .float_head import rounding

if TYPE_CHECKING:
    from .counterexample import Head
    from .exact import Question
    from .witness import ProjectionWitness

# The smallest whole θ with exp(−θ) below half the smallest positive number of the type in which a row is summed: for
# the two short types that is float32, so a weight that they would round to 0 still counts in the sum.
UNDERFLOW = {"float16": 104, "bfloat16": 104, "float32": 104, "float64": 746}


LARGEST = {  # finite numbers
    "float16": 65504.0,
    "bfloat16": 2.0**128 - 2.0**120,
    "float32": 2.0**128 - 2.0**104,
    "float64": float(np.finfo(np.float64).max),
}


@dataclass(frozen=True)
class Hidden:
    """Slots of one question that a finite bias would have to hide: indices into `question.slots`, and the bias gap.

    `gap`: the largest bias among the slots kept, less the largest among those hidden.
    """

    members: np.ndarray
    gap: float


def ways_to_hide(question: Question, offending: np.ndarray) -> Iterator[Hidden]:
    """Sets of biased slots whose weight 0 might make the question safe: the offending ones, then by falling gap level.

    `offending` (k,) marks slots that read a forbidden position. A slot with the largest bias cannot be hidden.
    """
    bias = question.bias
    if bias is None:
        return
    lower = bias < bias.max()
    if (offending & lower).any():
        yield _hidden(bias, offending & lower)
    for level in np.unique(bias[lower]):
        yield _hidden(bias, bias <= level)


def _hidden(bias: np.ndarray, members: np.ndarray) -> Hidden:
    return Hidden(np.flatnonzero(members), float(bias[~members].max() - bias[members].max()))


def condition(hidden: Hidden, question: Question, dtype: str) -> str:
    """The exact condition on scores under which the hidden slots weigh 0 in `dtype`."""
    theta, unit = UNDERFLOW[dtype], 2.0 ** -BITS[dtype]
    slots = question.slots[hidden.members]
    assert question.bias is not None
    largest = float(np.abs(question.bias).max())
    with np.errstate(over="ignore"):  # a bias past the end of the type becomes infinite there, and hides all the more
        exact = np.array_equal(rounding(dtype)(question.bias).astype(np.float64), question.bias)
    roundings = 2 if exact else 4  # of a bias: in the sum with its score, and before that into the type
    room = (hidden.gap - theta - roundings * unit * largest) / (2 * (1 + unit))
    room = min(room, LARGEST[dtype])  # beyond it a score is infinite, and the output NaN
    names = (
        f"slot {slots[0]}" if len(slots) == 1 else f"slots {', '.join(map(str, slots[:6]))}{', …' * (len(slots) > 6)}"
    )
    queries = question.queries
    asked = f"query {queries[0]}" if len(queries) == 1 else f"{len(queries)} queries from {queries[0]} on"
    difference = Fraction(hidden.gap) - theta
    limit = f"{float(difference):.12g}"
    text = (
        f"at {asked} the finite bias hides {names} in {dtype}: score + bias stays at least {theta} below the row's "
        f"largest, where exp rounds to 0; that is, a score difference z_hidden − z_kept ≤ {limit} before rounding"
    )
    if room > 0:
        return f"{text}, which holds as long as every |score| ≤ {_below(room)}"
    return f"{text}; this bias is no mask, the condition fails already when all scores are equal"


def _below(x: float) -> str:
    """x in nine digits, none of which rounds it up."""
    shown = f"{x:.9g}"
    return shown if Fraction(shown) <= Fraction(x) else f"{x * (1 - 1e-9):.9g}"


def breaking_witness(
    question: Question, head: Head, hidden: Hidden, values: np.ndarray, keys: np.ndarray
) -> ProjectionWitness | None:
    """Inputs under which a hidden slot wins the softmax after all and the query leaks, or None if none is found.

    `values` and `keys` (k, n) are F and E on the question's slots. The scores are raised by one key to twice the gap.
    """
    query, horizon = int(question.queries[0]), int(question.horizons[0])
    forbidden = question.rank > horizon
    for s in hidden.members.tolist():
        for m, kappa in _raising(head, s, hidden, keys):
            for j in np.flatnonzero((values[s] != 0) & forbidden)[:2].tolist():
                same = {m: (kappa, kappa)} if kappa else {}
                witness = head.witness(query, j, same, {j: (Fraction(0), Fraction(1))})
                if _shows(witness):
                    return witness
            if kappa and forbidden[m]:
                differing = np.flatnonzero((values[s] != values[0]) | (values[s] != values[-1]))
                for i in [i for i in differing.tolist() if not forbidden[i]][:2]:
                    witness = head.witness(query, m, {m: (Fraction(0), kappa)}, {i: (Fraction(1), Fraction(1))})
                    if _shows(witness):
                        return witness
    return None


def _raising(head: Head, s: int, hidden: Hidden, keys: np.ndarray) -> Iterator[tuple[int, Fraction]]:
    """Keys that lift slot s over all others: none where equal scores do, else one position at ± twice the gap."""
    assert head.bias is not None
    if head.bias[s] >= max(head.bias) - 64:
        yield 0, Fraction(0)  # the weight is not 0 even at equal scores
    need = 2 * (max(head.bias) - head.bias[s]) + 1
    row = keys[s]
    for sign in (1, -1):
        lead = np.flatnonzero(
            (sign * row > 0) & (sign * row >= sign * keys.max(axis=0) if sign > 0 else row <= keys.min(axis=0))
        )
        for m in lead[:8].tolist():
            column = head.column("E", m)
            rival = max(
                (sign * x for u, x in enumerate(column) if u not in set(hidden.members.tolist())), default=Fraction(0)
            )
            ahead = sign * column[s] - rival
            if ahead > 0:
                kappa = Fraction(2) ** _log2_ceil(need / ahead)
                yield m, sign * kappa


def _log2_ceil(x: Fraction) -> int:
    power = x.numerator.bit_length() - x.denominator.bit_length()
    while Fraction(2) ** power < x:
        power += 1
    return power


def _shows(witness: ProjectionWitness) -> bool:
    before, after = (float(output) for output in witness.outputs)
    return before != after and witness.replay()
