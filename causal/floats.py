"""A softmax head in a float type, sums from left to right: what rounding does to safety by cancellation.

A head that is safe by T11 but not by T10 is safe because terms cancel, and in floating point they need not. The search
below looks for inputs of the stated type on which they do not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .entries import BITS

if TYPE_CHECKING:
    from .exact import Columns, Question
    from .separate import Head
    from .witness import ProjectionWitness

Pair = tuple[Fraction, Fraction]


def rounding(dtype: str) -> Callable[[Any], np.ndarray]:
    """Rounding to nearest in a float type; the result is held in a NumPy type that contains it.

    >>> float(rounding("bfloat16")(1.01))
    1.0078125
    """
    if dtype == "bfloat16":
        return _to_bfloat16
    kind = np.dtype(dtype)
    return lambda x: np.asarray(x).astype(kind)


def _to_bfloat16(x: Any) -> np.ndarray:
    """Round to nearest even on the upper 16 bits of float32; double rounding does no harm at these widths."""
    bits = np.asarray(x).astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def head(
    dtype: str,
    E: Mapping[int, Sequence[Fraction]],
    F: Mapping[int, Sequence[Fraction]],
    inputs: Mapping[str, Mapping[int, Fraction]],
    bias: Sequence[Fraction] | None,
    slots: int,
) -> float:
    """Output of one query with q = d = d_v = 1 in `dtype`: scores E κ + bias, softmax less its maximum, values F v.

    Every operation rounds; sums run over ascending positions, then over ascending slots.
    """
    to = rounding(dtype)
    with np.errstate(all="ignore"):
        scores, amounts = to(np.zeros(slots)), to(np.zeros(slots))
        for j, kappa in sorted(inputs["keys"].items()):
            scores = to(scores + to(to(_floats(E[j])) * to(float(kappa))))
        if bias is not None:
            scores = to(scores + to(_floats(bias)))
        for i, value in sorted(inputs["values"].items()):
            amounts = to(amounts + to(to(_floats(F[i])) * to(float(value))))
        weights = to(np.exp(to(scores - scores.max()).astype(np.float64)))
        total = to(0.0)
        for w in weights:
            total = to(total + w)
        output = to(0.0)
        for share, amount in zip(to(weights / total), amounts, strict=True):
            output = to(output + to(share * amount))
    return float(output)


def _floats(column: Sequence[Fraction]) -> np.ndarray:
    return np.array([float(x) for x in column])


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
    """Structured inputs first (a large forbidden number swallows the small allowed ones), then random ones."""
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
