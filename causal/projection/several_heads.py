"""What a verdict on E and F means for a layer of several heads that share them and are added up by W_O (T22).

A leak of the layer is shown by inputs on which ball arithmetic tells its outputs apart; that leaks of the heads cancel
is decided by multiplying the heads out, where there are few enough slots.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError
from ..verdict import Status, Verdict
from .entries import exact

if TYPE_CHECKING:
    from ...aliases import ArrayLike
    from .decide import Reading

NAMES = ("W_Q", "W_K", "W_V", "W_O")
TRIES = 6  # random inputs on which a leak of the layer is looked for, at each query
QUERIES = 64  # queries at which a layer is decided
ENTRIES = 1 << 17  # of the exponents that are multiplied out


@dataclass(frozen=True)
class Heads:
    """Weights of H heads as whole numbers: `query`, `key` (H, m, d), `value` (H, m, d_v), `output` (H, d_v, p).

    One factor above 0 for all heads brings each of the four there; inputs divided by a root undo it, so that the layer
    leaks with the one weights iff it does with the others.
    """

    query: Any
    key: Any
    value: Any
    output: Any

    def __len__(self) -> int:
        return len(self.query)

    def carries(self) -> bool:
        """Whether W_V W_O is not 0 for some head."""
        from flint import fmpz_mat

        return any(
            any(x != 0 for x in (fmpz_mat(v.tolist()) * fmpz_mat(o.tolist())).entries())
            for v, o in zip(self.value, self.output, strict=True)
            if v.any() and o.any()
        )


def read_heads(weights: Sequence[ArrayLike]) -> Heads:
    """W_Q, W_K (H, m, d), W_V (H, m, d_v) and W_O (H, d_v, p), whose floats are taken exactly."""
    arrays = [np.asarray(weight) for weight in weights]
    for name, array in zip(NAMES, arrays, strict=True):
        if array.ndim != 3 or not array.size:
            problem = f"hold {name} with another shape than (heads, rows, columns)"
            raise ArgumentError("weights", problem, "pass one matrix per head", array.shape)
    query, key, value, output = (array.shape for array in arrays)
    if query != key or key[:2] != value[:2] or (value[0], value[2]) != output[:2]:
        problem = f"have shapes {query}, {key}, {value} and {output}, which do not fit"
        raise ArgumentError("weights", problem, "pass (H, m, d), (H, m, d), (H, m, d_v) and (H, d_v, p)")
    return Heads(*(_whole(name, array) for name, array in zip(NAMES, arrays, strict=True)))


def _whole(name: str, array: np.ndarray) -> Any:
    entries = array.ravel().tolist()
    if array.dtype.kind != "f" or not np.isfinite(array).all():
        entries = [exact(x, f"{name} in weights") for x in entries]
    ratios = [x.as_integer_ratio() for x in entries]
    unit = lcm(*{below for _, below in ratios})
    return np.array([above * (unit // below) for above, below in ratios], dtype=object).reshape(array.shape)


def of_layer(verdict: Verdict, reading: Reading, heads: Heads) -> Verdict:
    """The verdict with T22 and a reason that says what follows for the layer."""
    return replace(
        verdict, claims=(*verdict.claims, "T22"), reasons=(*verdict.reasons, _reason(verdict, reading, heads))
    )


def _reason(verdict: Verdict, reading: Reading, heads: Heads) -> str:
    if verdict.status is not Status.REFUTED:
        if "T19" in verdict.claims:
            return f"this holds for each of the {len(heads)} heads with these weights; W_O adds their leaks up (T22)"
        return f"this holds for the layer of {len(heads)} heads too: T11 is enough for each, whatever W_O (T22)"
    witness: Any = verdict.witness
    if reading.support.boundary.stands is None or reading.support.boundary.forbids_own_position:
        return "of the layer nothing is said: its queries are computed at positions that they may use (T22)"
    if witness.bias is not None:
        return "of the layer nothing is said: finite biases are added to its scores (T22)"
    asked = Asked(reading, witness.query, (witness.position, *witness.keys, *witness.values))
    if asked.leaks(heads):
        return _leak(witness.query)
    if not heads.carries():
        return "the layer with these weights does not leak: W_V W_O is 0 for every head (T22)"
    return _cancelling(reading, heads)


def _leak(query: int) -> str:
    return f"the layer with these weights leaks too, at query {query}: its heads do not cancel (T22)"


def _cancelling(reading: Reading, heads: Heads) -> str:
    """What can be said where no leak was found at the first query: all failing ones are decided, if they are few."""
    from ...symbolic.several_heads import TooManyChoices

    undecided = "whether the layer with these weights leaks is not decided: no input that was tried moves it (T22)"
    if len(reading.failing) > QUERIES:
        return undecided
    for query in reading.failing.tolist():
        asked = Asked(reading, query)
        if asked.leaks(heads):
            return _leak(query)
        try:
            if not asked.safe(heads):
                return undecided
        except TooManyChoices:
            return undecided
    return "the layer with these weights does not leak: what its heads leak cancels in W_O, for all real inputs (T22)"


@dataclass(frozen=True)
class Asked:
    """One query of the layer; `first` are positions that tell something."""

    reading: Reading
    query: int
    first: tuple[int, ...] = ()

    @cached_property
    def slots(self) -> np.ndarray:
        """The visible ones."""
        return np.flatnonzero(self.reading.sees.sees(np.array([self.query]))[0])

    @cached_property
    def stands(self) -> int:
        """The position whose input asks."""
        assert self.reading.support.boundary.stands is not None
        return int(self.reading.support.boundary.stands[self.query])

    @cached_property
    def positions(self) -> list[int]:
        """The positions that visible slots read, and the query's own."""
        read = np.zeros(self.reading.support.boundary.n, bool)
        for entries in (self.reading.keys, self.reading.values):
            read |= (np.asarray(entries.block(self.slots)) != 0).any(axis=0)
        read[self.stands] = True
        return np.flatnonzero(read).tolist()

    @cached_property
    def forbidden(self) -> set[int]:
        """Those of them that the query may not use."""
        allowed = self.reading.support.boundary.allowed_row(self.query)
        return {j for j in self.positions if not allowed[j]}

    def columns(self, positions: list[int]) -> tuple[Any, Any]:
        """E and F at these positions, (slots, positions), as fractions."""
        shape = len(self.slots), len(positions)
        keys, values = (
            np.array(entries.fractions(self.slots, np.array(positions)), dtype=object).reshape(shape)
            for entries in (self.reading.keys, self.reading.values)
        )
        return keys, values

    def leaks(self, heads: Heads) -> bool:
        """Whether some inputs that agree on what the query may use are seen to give different outputs."""
        rng = random.Random(0)
        return any(self._differs(heads, rng) for _ in range(TRIES))

    def _differs(self, heads: Heads, rng: random.Random) -> bool:
        """Whether one random pair of inputs on a few positions is seen to give different outputs."""
        m, p = heads.query.shape[1], heads.output.shape[2]
        some = rng.sample(self.positions, min(2, len(self.positions)))
        late = rng.sample(sorted(self.forbidden), min(1, len(self.forbidden)))
        chosen = sorted({self.stands, *self.first, *some, *late} & set(self.positions))
        keys, values = self.columns(chosen)
        x = np.array([_random(rng, m) for _ in chosen])
        moved = np.array([_random(rng, m) if j in self.forbidden else row for j, row in zip(chosen, x, strict=True)])
        own, toward = x[chosen.index(self.stands)], _random(rng, p)  # if one combination of outputs differs, they do
        ways = [(key @ (own @ query), value @ (output @ toward)) for query, key, value, output in _by_head(heads)]
        first, second = ([(keys @ (y @ k), values @ (y @ v)) for k, v in ways] for y in (x, moved))
        unit = _unit([z for scores, _ in (*first, *second) for z in scores])
        return any(not _total(first, unit, bits).overlaps(_total(second, unit, bits)) for bits in (128, 512))

    def safe(self, heads: Heads) -> bool:
        """T22, decided; raises TooManyChoices where that takes too long."""
        import sympy

        from ...symbolic.prefix import Head
        from ...symbolic.several_heads import Layer, LayerHead, TooManyChoices

        m = heads.query.shape[1]
        if len(heads) * len(self.slots) * len(self.positions) * m * m > ENTRIES:
            raise TooManyChoices(f"{len(heads)} heads of {len(self.slots)} slots and {m} inputs are too many")

        def matrix(array: Any) -> Any:
            return sympy.Matrix(*array.shape, [sympy.Rational(x.numerator, x.denominator) for x in array.ravel()])

        keys, values = map(matrix, self.columns(self.positions))
        head = Head.of(keys, values, forbidden=[i for i, j in enumerate(self.positions) if j in self.forbidden])
        layer = Layer(
            tuple(
                LayerHead(head, matrix(key @ query.T), matrix(value @ output))
                for query, key, value, output in _by_head(heads)
            ),
            self.positions.index(self.stands),
        )
        return layer.safe()


def _by_head(heads: Heads) -> Iterator[tuple[Any, Any, Any, Any]]:
    return zip(heads.query, heads.key, heads.value, heads.output, strict=True)


def _random(rng: random.Random, size: int) -> Any:
    return np.array([rng.randint(-8, 8) for _ in range(size)], dtype=object)


def _unit(scores: Sequence[Fraction | int]) -> Fraction:
    """A power of 4 that brings scores to about 1, as inputs that are smaller by a power of 2 do."""
    top = max(abs(Fraction(z)) for z in scores)
    return Fraction(4) ** ((top.denominator.bit_length() - top.numerator.bit_length()) // 2) if top else Fraction(1)


def _total(heads: Sequence[tuple[Any, Any]], unit: Fraction, bits: int) -> Any:
    """A ball around Σ_h Σ_s c_s e^{unit z_s} / Σ_s e^{unit z_s}."""
    from flint import arb, fmpq

    from ...symbolic.precision import precision

    def ball(x: Fraction | int) -> Any:
        return arb(fmpq(x.numerator, x.denominator))

    with precision(bits):
        total = arb(0)
        for scores, carried in heads:
            top = max(scores)
            weights = [ball((z - top) * unit).exp() for z in scores]
            total += sum((ball(c) * w for c, w in zip(carried, weights, strict=True)), arb(0)) / sum(weights, arb(0))
        return total
