"""Choosing the inputs of a witness (T12): keys that tell apart what the failing identity of T11 needs told apart.

Each proposal is checked exactly, by collecting rational exponents, so that a wrong guess costs time and nothing else.
By T12 a proposal exists whenever an identity fails; random keys on enough positions find one with probability 1.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .witness import ProjectionWitness, by_exponent, whole_numbers

if TYPE_CHECKING:
    from .entries import Entries

Column = Sequence[Fraction]
Keys = Mapping[int, Fraction]


class Head:
    """The visible slots of one query: exact columns of E and F on demand, and the biases."""

    def __init__(self, E: Entries, F: Entries, slots: np.ndarray, bias: np.ndarray | None) -> None:
        self._entries = {"E": E, "F": F}
        self._columns: dict[tuple[str, int], tuple[Fraction, ...]] = {}
        self.slots = slots
        self.bias = None if bias is None else tuple(Fraction(float(b)) for b in bias)

    def column(self, name: str, j: int) -> tuple[Fraction, ...]:
        """E[slots, j] or F[slots, j]."""
        if (name, j) not in self._columns:
            found = self._entries[name].fractions(self.slots, slice(j, j + 1))
            self._columns[name, j] = tuple(row[0] for row in found)
        return self._columns[name, j]

    def scores(self, keys: Keys) -> list[Fraction]:
        """E[s]·κ + bias for each slot."""
        total = list(self.bias) if self.bias is not None else [Fraction(0)] * len(self.slots)
        for m, kappa in keys.items():
            if kappa:
                total = [z + e * kappa for z, e in zip(total, self.column("E", m), strict=True)]
        return total

    def unit(self, m: int) -> Fraction:
        """A power of two that brings the entries of E[slots, m] to about 1."""
        most = max((abs(x) for x in self.column("E", m)), default=Fraction(0))
        if not most:
            return Fraction(1)
        return Fraction(2) ** (most.denominator.bit_length() - most.numerator.bit_length())

    def witness(
        self,
        query: int,
        position: int,
        keys: Mapping[int, tuple[Fraction, Fraction]],
        values: Mapping[int, tuple[Fraction, Fraction]],
        arithmetic: str = "exact",
    ) -> ProjectionWitness:
        """The witness with these inputs; `slot` is the first visible one that reads the position."""
        reads = [f or e for f, e in zip(self.column("F", position), self.column("E", position), strict=True)]
        slot = next((int(s) for s, x in zip(self.slots, reads, strict=True) if x), None)
        positions = sorted({*keys, *values})
        return ProjectionWitness(
            query=query,
            position=position,
            slot=slot,
            slots=tuple(int(s) for s in self.slots),
            bias=self.bias,
            keys=dict(keys),
            values=dict(values),
            E={m: self.column("E", m) for m in positions if m in keys},
            F={m: self.column("F", m) for m in positions if m in values},
            arithmetic=arithmetic,
        )


def proposals(head: Head, columns: Sequence[int], tries: int | None = None) -> Iterator[dict[int, Fraction]]:
    """Keys to try, simplest first: none, one position at a time, then random ones on all the given positions."""
    yield {}
    for m in columns[:8]:
        yield {m: head.unit(m)}
    rng, size, count = random.Random(0), 8, 0
    while columns and (tries is None or count < tries):
        yield {m: head.unit(m) * Fraction(rng.randint(-size, size), size) for m in columns}
        size, count = size * 2, count + 1


def values_witness(
    head: Head, query: int, j: int, columns: Sequence[int], tries: int | None = None
) -> ProjectionWitness | None:
    """A failure of (1) at j shown: value j changes from 0 to 1 and the output moves; None when `tries` run out."""
    carried = head.column("F", j)
    for keys in proposals(head, columns, tries):
        sums: dict[Fraction, Fraction] = {}
        for z, f in zip(head.scores(keys), carried, strict=True):
            sums[z] = sums.get(z, Fraction(0)) + f
        if any(sums.values()):
            one = {j: (Fraction(0), Fraction(1))}
            return head.witness(query, j, {m: (v, v) for m, v in keys.items() if v}, one)
    return None


def keys_witness(
    head: Head, query: int, j: int, i: int, columns: Sequence[int], tries: int | None = None
) -> ProjectionWitness | None:
    """A failure of (2) at j and i shown: key j takes a step while value i is 1; None when `tries` run out."""
    carried, stepped, unit = head.column("F", i), head.column("E", j), head.unit(j)
    for keys in proposals(head, columns, tries):
        scores = head.scores(keys)
        for step in (unit, -2 * unit):
            if _moves(scores, [z + step * e for z, e in zip(scores, stepped, strict=True)], carried):
                before = {m: (v, v) for m, v in keys.items() if v}
                start = keys.get(j, Fraction(0))
                return head.witness(query, j, {**before, j: (start, start + step)}, {i: (Fraction(1), Fraction(1))})
    return None


def _moves(before: list[Fraction], after: list[Fraction], carried: Column) -> bool:
    """Whether Σ f_s e^{z_s} / Σ e^{z_s} differs between two lists of scores."""
    (z, w), _ = whole_numbers(before, after)
    (amounts,), _ = whole_numbers(carried)
    coefficients: dict[int, int] = {}
    for x, (count, total) in by_exponent(z, amounts).items():
        for y, (other, taken) in by_exponent(w, amounts).items():
            # Σ over the slots with these scores of (F[s, i] − F[u, i]), from counts and sums alone.
            coefficients[x + y] = coefficients.get(x + y, 0) + total * other - count * taken
    return any(coefficients.values())


def telling_columns(part: np.ndarray, bias: np.ndarray | None) -> list[int]:
    """Columns whose keys, with the biases, split the slots as far as all columns can.

    `part` (k, …) holds columns of E on the visible slots. At most k − 1 come back, one or two for ordinary matrices.
    """
    labels = np.zeros(len(part), np.int64) if bias is None else np.unique(bias, return_inverse=True)[1]
    chosen: list[int] = []
    settled: set[int] = set()  # labels within which no column tells any two slots apart
    while True:
        open_labels = [a for a, count in enumerate(np.bincount(labels)) if count > 1 and a not in settled]
        if not open_labels:
            return chosen
        members = np.flatnonzero(labels == open_labels[0])
        m = next((int(d.argmax()) for u in members[1:] if (d := part[members[0]] != part[u]).any()), None)
        if m is None:
            settled.add(open_labels[0])
            continue
        chosen.append(m)
        column = np.unique(part[:, m], return_inverse=True)[1]
        done = {tuple(np.flatnonzero(labels == a)) for a in settled}
        labels = np.unique(labels * (len(column) + 1) + column, return_inverse=True)[1]
        settled = {int(labels[group[0]]) for group in done}
