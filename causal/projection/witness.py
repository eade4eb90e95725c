"""Witnesses about projections (T12): a pair of rational inputs on which the outputs provably differ, and their replay.

The replay knows nothing of the checker. It recomputes both outputs of one softmax head with d = d_v = 1 and q = 1, so
that key j enters as the score number κ_j. Over the visible slots the output is Σ a_s e^{z_s} / Σ e^{z_s} with rational
a_s and z_s; the difference of two of them has the numerator Σ_{s,u} (a_s − a'_u) e^{z_s + z'_u}. Collected by exponent,
it is zero only if every coefficient is (Lindemann–Weierstrass), and ball arithmetic shows the two outputs apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, ClassVar

import numpy as np

from ..verdict import Witness

MOST_BITS = 1 << 17  # far beyond what products of float64 entries need to be told apart


@dataclass(frozen=True)
class Ratio:
    """Σ a e^x / Σ b e^x with rational a, b, x; the exponents are shifted so that the largest one below the line is 0.

    `above` and `below` map exponents to coefficients, in ascending order of exponent.
    """

    above: tuple[tuple[Fraction, Fraction], ...]
    below: tuple[tuple[Fraction, Fraction], ...]

    @property
    def rational(self) -> Fraction | None:
        """The value when it is visibly rational: one exponent below the line and none but it above."""
        if not self.above:
            return Fraction(0)
        if len(self.below) == 1 and len(self.above) == 1 and self.above[0][0] == self.below[0][0]:
            return self.above[0][1] / self.below[0][1]
        return None

    def ball(self, bits: int) -> Any:
        """A FLINT ball that contains the value, computed with so many bits."""
        from flint import arb, fmpq

        from ...symbolic.precision import precision

        def total(terms: tuple[tuple[Fraction, Fraction], ...]) -> Any:
            pieces = [
                arb(fmpq(c.numerator, c.denominator)) * arb(fmpq(x.numerator, x.denominator)).exp() for x, c in terms
            ]
            return sum(pieces, arb(0))

        with precision(bits):
            return total(self.above) / total(self.below)

    def __float__(self) -> float:
        return float(self.rational) if self.rational is not None else float(self.ball(128).mid())

    def __str__(self) -> str:
        value = self.rational
        if value is not None:
            return str(value) if value.denominator < 10**6 else f"{float(value):.17g}"
        return str(self.ball(128).str(12, radius=False))


@dataclass(frozen=True, eq=False)
class ProjectionWitness(Witness):
    """Two inputs that agree on every position but one, which the query may not use, and two different outputs.

    Attributes: `query`, `position`, `slot` (one that reads the position, where one does); `slots`, the visible ones,
    and their additive `bias`; `keys` and `values`, positions to (before, after) pairs, 0 elsewhere; `E` and `F`, the
    columns of the projections at those positions, one entry per visible slot: all that the replay needs. `arithmetic`
    is "exact", or a float type, in which case the head is evaluated in it, sums from left to right.
    """

    kind: ClassVar[str] = "projection"

    query: int
    position: int
    slot: int | None
    slots: tuple[int, ...]
    bias: tuple[Fraction, ...] | None
    keys: Mapping[int, tuple[Fraction, Fraction]]
    values: Mapping[int, tuple[Fraction, Fraction]]
    E: Mapping[int, tuple[Fraction, ...]] = field(repr=False)
    F: Mapping[int, tuple[Fraction, ...]] = field(repr=False)
    arithmetic: str = "exact"

    @property
    def inputs(self) -> tuple[Any, Any]:  # type: ignore[override]
        """(before, after), each {"keys": {position: score number}, "values": {position: value}}; 0 elsewhere."""
        before, after = (
            {"keys": {j: v[side] for j, v in self.keys.items()}, "values": {j: v[side] for j, v in self.values.items()}}
            for side in (0, 1)
        )
        return before, after

    @cached_property
    def outputs(self) -> tuple[Any, Any]:  # type: ignore[override]
        """(before, after): `Fraction` or `Ratio` in exact arithmetic, else floats."""
        if self.arithmetic != "exact":
            return self._float_output(0), self._float_output(1)
        return self._exact_output(0), self._exact_output(1)

    def _scores(self, side: int) -> list[Fraction]:
        bias = self.bias or (Fraction(0),) * len(self.slots)
        return _combined(bias, self.E, {j: v[side] for j, v in self.keys.items()})

    def _amounts(self, side: int) -> list[Fraction]:
        return _combined((Fraction(0),) * len(self.slots), self.F, {j: v[side] for j, v in self.values.items()})

    def _exact_output(self, side: int) -> Fraction | Ratio:
        (scores,), shared = whole_numbers(self._scores(side))
        (amounts,), unit = whole_numbers(self._amounts(side))
        top = max(scores)
        collected = sorted(by_exponent(scores, amounts).items())
        ratio = Ratio(
            tuple((Fraction(z - top, shared), Fraction(total, unit)) for z, (_, total) in collected if total),
            tuple((Fraction(z - top, shared), Fraction(count)) for z, (count, _) in collected),
        )
        return ratio if ratio.rational is None else ratio.rational

    def _float_output(self, side: int) -> float:
        from .float_head import head

        return head(self.arithmetic, self.E, self.F, self.inputs[side], self.bias, len(self.slots))

    def changes(self) -> list[tuple[str, str, str]]:
        """The score and the value of the position that differs."""
        j, told = self.position, {"score of key": self.keys, "value": self.values}
        pairs = [(f"{name} {j}", of[j]) for name, of in told.items() if j in of]
        return [(where, str(before), str(after)) for where, (before, after) in pairs if before != after]

    def replay(self, bits: int = 64) -> bool:
        """Recompute both outputs from the matrices stored here; true iff the inputs differ at `position` only and the
        outputs differ, exactly and as disjoint balls (precision doubles from `bits`), or as floats of `arithmetic`.

        Raises ArithmeticError if the exact difference is not zero but no precision separates the balls.
        """
        moved = {j for table in (self.keys, self.values) for j, (before, after) in table.items() if before != after}
        if moved != {self.position}:
            return False
        if self.arithmetic != "exact":
            before, after = self.outputs
            return bool(before != after)
        return self.differs() and self._balls_are_apart(bits)

    def differs(self) -> bool:
        """Whether the exact outputs differ: some collected coefficient of the difference's numerator is not zero."""
        (z, w), _ = whole_numbers(self._scores(0), self._scores(1))
        (a, b), _ = whole_numbers(self._amounts(0), self._amounts(1))
        coefficients: dict[int, int] = {}
        for x, (count, amount) in by_exponent(z, a).items():
            for y, (other, taken) in by_exponent(w, b).items():
                # Σ (a_s − a'_u) over the slots s with exponent x before and u with exponent y after
                coefficients[x + y] = coefficients.get(x + y, 0) + amount * other - count * taken
        return any(coefficients.values())

    def _balls_are_apart(self, bits: int) -> bool:
        before, after = self._exact_output(0), self._exact_output(1)
        if isinstance(before, Fraction) and isinstance(after, Fraction):
            return before != after
        while bits <= MOST_BITS:
            x, y = (_ball(output, bits) for output in (before, after))
            if not x.overlaps(y):
                return True
            bits *= 2
        raise ArithmeticError(f"the outputs differ exactly, but {MOST_BITS} bits do not show it; scale the input")

    def describe(self) -> str:
        """A sentence: which input changes, and from which value to which the output moves."""
        before, after = (format_output(output) for output in self.outputs)
        kind = "value" if self.position in self.values and _moves(self.values[self.position]) else "key"
        table = self.values if kind == "value" else self.keys
        old, new = (format_number(x) for x in table[self.position])
        others = [
            f"{name} {j} = {format_number(v[0])}"
            for name, inputs in (("key", self.keys), ("value", self.values))
            for j, v in sorted(inputs.items())
            if not _moves(v) and v[0]
        ]
        given = f", with {', '.join(others[:4])}{', …' if len(others) > 4 else ''} and 0 elsewhere" if others else ""
        where = "" if self.arithmetic == "exact" else f" in {self.arithmetic}"
        return (
            f"output {self.query} changes from {before} to {after}{where} when {kind} {self.position} changes "
            f"from {old} to {new}{given}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: fractions as "a/b", and the outputs as decimals for the reader."""
        pairs = {
            name: {str(j): [str(x) for x in v] for j, v in getattr(self, name).items()} for name in ("keys", "values")
        }
        columns = {name: {str(j): [str(x) for x in v] for j, v in getattr(self, name).items()} for name in ("E", "F")}
        return {
            "kind": self.kind,
            "query": self.query,
            "position": self.position,
            "slot": self.slot,
            "slots": list(self.slots),
            "bias": None if self.bias is None else [str(b) for b in self.bias],
            **pairs,
            **columns,
            "arithmetic": self.arithmetic,
            "outputs": [format_output(output) for output in self.outputs],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ProjectionWitness:
        """The witness that `to_dict` wrote; its outputs are computed anew."""

        def table(name: str) -> dict[int, Any]:
            return {int(j): tuple(Fraction(x) for x in v) for j, v in data[name].items()}

        return cls(
            query=int(data["query"]),
            position=int(data["position"]),
            slot=None if data["slot"] is None else int(data["slot"]),
            slots=tuple(int(s) for s in data["slots"]),
            bias=None if data["bias"] is None else tuple(Fraction(b) for b in data["bias"]),
            keys=table("keys"),
            values=table("values"),
            E=table("E"),
            F=table("F"),
            arithmetic=data["arithmetic"],
        )

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, ProjectionWitness) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.query, self.position, self.slots, self.arithmetic))


def _combined(
    start: Sequence[Fraction], columns: Mapping[int, Sequence[Fraction]], factors: Mapping[int, Fraction]
) -> list[Fraction]:
    """start + Σ_j columns[j] · factors[j], slot by slot."""
    total = list(start)
    for j, factor in factors.items():
        if factor:
            moved = columns[j] if factor == 1 else [x * factor if x else x for x in columns[j]]
            total = [t + x for t, x in zip(total, moved, strict=True)] if any(total) else list(moved)
    return total


def whole_numbers(*lists: Sequence[Fraction]) -> tuple[list[list[int]], int]:
    """The lists times their common denominator, and that denominator."""
    factor = lcm(*(v.denominator for numbers in lists for v in numbers))
    return [[v.numerator * (factor // v.denominator) for v in numbers] for numbers in lists], factor


def by_exponent(exponents: list[int], amounts: list[int]) -> dict[int, tuple[int, int]]:
    """How many slots have each exponent, and the sum of their amounts."""
    found: dict[int, tuple[int, int]] = {}
    for x, a in zip(exponents, amounts, strict=True):
        count, total = found.get(x, (0, 0))
        found[x] = (count + 1, total + a)
    return found


def _ball(output: Fraction | Ratio, bits: int) -> Any:
    constant = (
        Ratio(((Fraction(0), output),), ((Fraction(0), Fraction(1)),)) if isinstance(output, Fraction) else output
    )
    return constant.ball(bits)


def _moves(pair: tuple[Fraction, Fraction]) -> bool:
    return pair[0] != pair[1]


def format_number(x: Fraction) -> str:
    """A short rendering of a rational number: itself when short, else seven digits with ≈."""
    text = str(x)
    if len(text) <= 12:
        return text
    near = _decimal(x)
    return near if Fraction(near) == x else f"≈ {near}"


def _decimal(x: Fraction, digits: int = 7) -> str:
    """Scientific notation for any size, without going through floats that overflow."""
    from decimal import Context, Decimal

    context = Context(prec=digits, Emin=-999999999, Emax=999999999)
    return str(context.divide(Decimal(x.numerator), Decimal(x.denominator)).normalize(context))


def format_output(output: Any) -> str:
    """An output for the reader: exact when short, otherwise digits that are right as far as they go."""
    if isinstance(output, Fraction):
        return format_number(output)
    if isinstance(output, (float, np.floating)):
        return repr(float(output))
    return str(output)
