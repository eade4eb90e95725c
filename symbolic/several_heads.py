"""Several heads of one layer, added up by an output projection: whether what they leak cancels (T22).

Head h has keys X W_K, values X W_V and the query of one position; its output goes through W_O. Everything is for small
matrices with rational entries, as in `prefix`. The layer's output moves with position j iff

    Σ_h (N_h Z'_h − N'_h Z_h) Π_{g≠h} Z_g Z'_g,

with N_h / Z_h the heads before and N'_h / Z'_h after the move, is not identically 0. Multiplied out it is a sum of
exponentials of X with coefficients linear in X, and it is 0 iff the coefficients of each exponent add up to 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sympy import Matrix

    from .prefix import Head

Exponent = tuple[Fraction, ...]
Sum = Mapping[Exponent, Any]  # exponent to coefficient: a whole number, or an array of what is carried
MOST = 1 << 16  # choices of two slots per head that are multiplied out


class TooManyChoices(ValueError):
    """The layer has too many choices of slots to multiply out."""


@dataclass(frozen=True)
class LayerHead:
    """A head of a layer: `form` says how inputs score, `effect` = W_V W_O (m, p) what they add to the outputs.

    `form` is W_K qᵀ (m, 1) for a fixed query, and W_K W_Qᵀ (m, m) for the query of a position.
    """

    head: Head
    form: Matrix
    effect: Matrix


@dataclass(frozen=True)
class Layer:
    """Heads of one query over the same n inputs; `at` is the position that asks, or None for a fixed query."""

    heads: tuple[LayerHead, ...]
    at: int | None = None

    @property
    def forbidden(self) -> tuple[int, ...]:
        """The positions that the query may not use."""
        return self.heads[0].head.forbidden if self.heads else ()

    def choices(self) -> int:
        """In how many ways two slots can be chosen in each head that matters, slots with equal scores being one."""
        return prod(len(group) ** 2 for group in self._groups())

    def safe(self) -> bool:
        """T22: whether the output depends on allowed positions alone, for all real inputs.

        Raises TooManyChoices where the product of the heads has more than 65,536 terms.
        """
        if self.choices() > MOST:
            raise TooManyChoices(f"{self.choices()} choices of slots are too many to multiply out")
        groups = self._groups()
        return not any(_not_zero(_moved([_pair(group, j) for group in groups])) for j in self.forbidden)

    def differs(self, x: Matrix, other: Matrix) -> bool:
        """Whether two inputs (n, m) give different outputs, decided: distinct powers of e do not cancel."""
        parts = [(*_at(part, self.at, x), *_at(part, self.at, other)) for part in self.heads if part.head.seen]
        return _not_zero(_moved(parts))

    def _groups(self) -> list[_Group]:
        """The heads that carry something and are not safe by themselves; heads with equal scores are one."""
        found: dict[frozenset[tuple[Exponent, int]], _Group] = {}
        for part in self.heads:
            if part.effect.is_zero_matrix or not part.head.seen or part.head.safe_by_criterion():
                continue
            group = _group(part, self.at)
            alike = found.setdefault(frozenset((x, c.count) for x, c in group.items()), {})
            for exponent, slots in group.items():
                known = alike.get(exponent)
                alike[exponent] = slots if known is None else _Class(slots.count, known.carried + slots.carried)
        return list(found.values())


@dataclass(frozen=True)
class _Class:
    """Slots with the same scores: how many, and what they carry together, (n, m, p)."""

    count: int
    carried: Any


_Group = dict[Exponent, _Class]


def _fractions(matrix: Matrix) -> Any:
    """A SymPy matrix as an array of fractions."""
    entries = np.array([Fraction(int(x.p), int(x.q)) for x in matrix.flat()], dtype=object)
    return entries.reshape(matrix.shape)


def _group(part: LayerHead, at: int | None) -> _Group:
    """The classes of slots of a head by exponent: E[s] ⊗ form, position by position."""
    e, f, form, effect = map(_fractions, (part.head.e, part.head.f, part.form, part.effect))
    group: _Group = {}
    for s in part.head.seen:
        blocks = np.multiply.outer(e[s], form)
        if at is not None:  # x M xᵀ sees the symmetric part of M alone
            blocks[at] = (blocks[at] + blocks[at].T) / 2
        key = tuple(blocks.ravel())
        known = group.get(key, _Class(0, 0))
        group[key] = _Class(known.count + 1, known.carried + np.multiply.outer(f[s], effect))
    return group


def _pair(group: _Group, j: int) -> tuple[Sum, Sum, Sum, Sum]:
    """N, Z before and N', Z' after position j takes an input of its own, which stands last."""
    before: tuple[dict[Exponent, Any], dict[Exponent, Any]] = ({}, {})
    after: tuple[dict[Exponent, Any], dict[Exponent, Any]] = ({}, {})
    for exponent, slots in group.items():
        n = slots.carried.shape[0]
        width = len(exponent) // n
        start, end, nothing = j * width, (j + 1) * width, (Fraction(0),) * width
        moved = exponent[:start] + nothing + exponent[end:] + exponent[start:end]
        shifted = np.concatenate([slots.carried, slots.carried[j : j + 1]])
        shifted[j] = Fraction(0)
        _add(before, exponent + nothing, np.concatenate([slots.carried, 0 * slots.carried[:1]]), slots.count)
        _add(after, moved, shifted, slots.count)
    return *before, *after


def _at(part: LayerHead, at: int | None, x: Matrix) -> tuple[Sum, Sum]:
    """N and Z at the inputs x, by exponents that are numbers."""
    scores = _fractions(part.head.e * x * part.form * (1 if at is None else x.row(at).T))
    carried = _fractions(part.head.f * x * part.effect)
    sums: tuple[dict[Exponent, Any], dict[Exponent, Any]] = ({}, {})
    for s in part.head.seen:
        _add(sums, (scores[s, 0],), carried[s], 1)
    return sums


def _add(sums: tuple[dict[Exponent, Any], dict[Exponent, Any]], exponent: Exponent, carried: Any, count: int) -> None:
    top, bottom = sums
    top[exponent] = top.get(exponent, 0) + carried
    bottom[exponent] = bottom.get(exponent, 0) + count


def _packed(parts: Sequence[tuple[Sum, Sum, Sum, Sum]]) -> list[tuple[dict[int, Any], ...]]:
    """The same in whole numbers, up to one factor for exponents and one for coefficients; sums stay apart."""
    exponents = {x for part in parts for terms in part for x in terms}
    unit = lcm(1, *(entry.denominator for x in exponents for entry in x))
    most = max((abs(entry) for x in exponents for entry in x), default=Fraction(0))
    base = 2 * (2 * len(parts) * int(most * unit)) + 1  # one digit for every sum of two exponents per head
    code = {x: sum(int(entry * unit) * base**place for place, entry in enumerate(x)) for x in exponents}
    carried = [entry for part in parts for terms in part[::2] for c in terms.values() for entry in c.ravel()]
    whole = lcm(1, *(Fraction(entry).denominator for entry in carried))

    def packed(part: tuple[Sum, Sum, Sum, Sum]) -> tuple[dict[int, Any], ...]:
        tops, bottoms = part[::2], part[1::2]
        first, second = ({code[x]: _whole(c * whole) for x, c in terms.items()} for terms in tops)
        return first, {code[x]: c for x, c in bottoms[0].items()}, second, {code[x]: c for x, c in bottoms[1].items()}

    return [packed(part) for part in parts]


def _whole(entries: Any) -> Any:
    return np.array([int(entry) for entry in entries.ravel()], dtype=object)


def _moved(parts: Sequence[tuple[Sum, Sum, Sum, Sum]]) -> dict[int, Any]:
    """Σ_h (N_h Z'_h − N'_h Z_h) Π_{g≠h} Z_g Z'_g, collected by exponent."""
    product: dict[int, Any] | None = None
    total: dict[int, Any] = {}
    for top, bottom, top2, bottom2 in _packed(parts):
        both = _times(bottom, bottom2)
        cross = _plus(_times(top, bottom2), _times(top2, bottom), -1)
        if product is None:
            product, total = both, cross
        else:
            product, total = _times(product, both), _plus(_times(total, both), _times(cross, product))
    return total


def _times(left: dict[int, Any], right: dict[int, Any]) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for x, a in left.items():
        for y, b in right.items():
            found[x + y] = found.get(x + y, 0) + a * b
    return found


def _plus(left: dict[int, Any], right: dict[int, Any], sign: int = 1) -> dict[int, Any]:
    found = dict(left)
    for x, b in right.items():
        found[x] = found.get(x, 0) + sign * b
    return found


def _not_zero(total: dict[int, Any]) -> bool:
    return any(np.any(coefficient != 0) for coefficient in total.values())
