"""What rounding does to safety by cancellation (T11): an input on which the terms do not cancel in a float type."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .entries import BITS
from .float_head import rounding

if TYPE_CHECKING:
    from .columns import Columns
    from .counterexample import Head
    from .exact import Question
    from .witness import ProjectionWitness

Pair = tuple[Fraction, Fraction]
MANY, FEW_SLOTS = 300, 16  # inputs that are tried where there are so few slots that each is cheap


def breaking_input(question: Question, head_of: Head, dtype: str, columns: Candidates) -> ProjectionWitness | None:
    """An input of the given float type that makes a head leak which is safe in real arithmetic, or None if none is
    found.

    `columns` proposes positions: forbidden ones that the slots read and allowed ones that they read.
    """
    if len(question.slots) == 1 or not (columns.past_values or columns.future_values):
        return None  # a lone slot has weight 1 in floats too, and values that are all 0 stay 0
    for query, position, keys, values in _proposals(question, head_of, dtype, columns):
        witness = head_of.witness(query, position, keys, values, dtype)
        if not representable(witness, dtype):
            continue
        before, after = witness.outputs
        if np.isfinite(before) and np.isfinite(after) and before != after:
            return witness
    return None


class Candidates:
    """Positions worth trying for one query: those of E and F, forbidden and allowed, that are not zero or move."""

    def __init__(self, E: Columns, F: Columns, forbidden: np.ndarray) -> None:
        def some(mask: np.ndarray) -> list[int]:
            return [int(j) for j in np.flatnonzero(mask)[:4]]

        self.future_values = some(forbidden & ~F.zero)
        self.future_keys = some(forbidden & ~E.zero)
        self.past_values = some(~forbidden & ~F.constant) or some(~forbidden & ~F.zero)
        self.past_keys = some(~forbidden & ~E.constant)


def candidates(question: Question, E: Columns, F: Columns) -> Candidates:
    """The positions to try for the query with the most forbidden ones."""
    return Candidates(E, F, question.rank > question.horizons.min())


def _proposals(
    question: Question, head_of: Head, dtype: str, columns: Candidates, tries: int = 60
) -> Iterator[tuple[int, int, dict[int, Pair], dict[int, Pair]]]:
    """Structured inputs first (a large forbidden number swallows the small allowed ones), then random ones.

    The last are of all the bits that the type has, whose products round: weights that add up to 1 in real arithmetic.
    """
    query = int(question.queries[question.horizons.argmin()])
    swallow = Fraction(2) ** (BITS[dtype] + 3)
    rng = random.Random(0)

    def unit(name: str, m: int) -> Fraction:
        most = max((abs(x) for x in head_of.column(name, m)), default=Fraction(0))
        return Fraction(2) ** (most.denominator.bit_length() - most.numerator.bit_length()) if most else Fraction(1)

    def still(name: str, m: int, factor: Fraction = Fraction(1)) -> Pair:
        return (factor * unit(name, m),) * 2

    for j in columns.future_values:
        for i in columns.past_values:
            yield query, j, {}, {i: still("F", i), j: (Fraction(0), swallow * unit("F", j))}
    for j in columns.future_keys:
        for i in columns.past_values:
            for m in columns.past_keys:
                step = (Fraction(0), swallow * unit("E", j))
                yield query, j, {m: still("E", m), j: step}, {i: still("F", i)}
    for _ in range(tries):
        keys = {m: still("E", m, Fraction(rng.randint(-64, 64), 16)) for m in columns.past_keys}
        values = {i: still("F", i, Fraction(rng.randint(-64, 64), 16)) for i in columns.past_values}
        size = rng.choice((Fraction(1), swallow / 16, swallow))
        change = (Fraction(0), size * Fraction(rng.randint(1, 64), 16))
        if columns.future_values and (not columns.future_keys or rng.random() < 0.5):
            j = rng.choice(columns.future_values)
            yield query, j, keys, {**values, j: (change[0], change[1] * unit("F", j))}
        elif columns.future_keys:
            j = rng.choice(columns.future_keys)
            yield query, j, {**keys, j: (change[0], change[1] * unit("E", j))}, values
    for _ in range(MANY if len(question.slots) <= FEW_SLOTS else tries):
        keys = {m: still("E", m, _every_bit(rng, dtype)) for m in columns.past_keys}
        values = {i: still("F", i, _every_bit(rng, dtype)) for i in columns.past_values}
        name = "F" if (columns.future_values and rng.random() < 0.5) or not columns.future_keys else "E"
        j = rng.choice(columns.future_values if name == "F" else columns.future_keys)
        moved = {j: (Fraction(0), _every_bit(rng, dtype) * unit(name, j))}
        yield query, j, {**keys, **moved} if name == "E" else keys, {**values, **moved} if name == "F" else values


def _every_bit(rng: random.Random, dtype: str) -> Fraction:
    """A number of about 1 with as many bits as the type holds."""
    bits = BITS[dtype]
    whole = rng.choice((-1, 1)) * (rng.getrandbits(bits) | 1 << (bits - 1))
    return Fraction(whole, 1 << (bits - 1)) * Fraction(2) ** rng.randint(-2, 2)


def representable(witness: ProjectionWitness, dtype: str) -> bool:
    """Whether every number of the witness is one of the float type, so that nothing rounds before the head runs."""
    to = rounding(dtype)
    tables = (witness.keys, witness.values, witness.E, witness.F)
    numbers = [x for table in tables for row in table.values() for x in row] + list(witness.bias or ())
    try:
        floats = np.array([float(x) for x in numbers])
    except OverflowError:
        return False
    with np.errstate(over="ignore"):
        exact = all(Fraction(y) == x for x, y in zip(numbers, floats.tolist(), strict=True))
        return exact and bool(np.all(to(floats).astype(np.float64) == floats))
