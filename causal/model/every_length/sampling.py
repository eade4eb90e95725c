"""Terms at a few lengths: what a closed form has to be, before it is proved to be one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from .integers import PLACES, parts, solver, variables, whole

if TYPE_CHECKING:
    from .integers import Parts
    from .shadow import Size

LENGTHS = (3, 5)  # for the variables of the length
MOST = 12  # places of an axis that are looked at; more of a symbolic one
STEP = "k"  # how the names of a loop's steps begin
FEW = 4  # first and last places of a longer one

MEANINGS: dict[int, Callable[..., Any]] = {
    solver.Z3_OP_ADD: lambda *xs: sum(xs[1:], xs[0]),
    solver.Z3_OP_SUB: lambda *xs: reduce(np.subtract, xs),
    solver.Z3_OP_MUL: lambda *xs: reduce(np.multiply, xs),
    solver.Z3_OP_UMINUS: np.negative,
    solver.Z3_OP_IDIV: np.floor_divide,
    solver.Z3_OP_MOD: np.mod,
    solver.Z3_OP_ITE: np.where,
    solver.Z3_OP_AND: lambda *xs: reduce(np.logical_and, xs),
    solver.Z3_OP_OR: lambda *xs: reduce(np.logical_or, xs),
    solver.Z3_OP_XOR: np.logical_xor,
    solver.Z3_OP_NOT: np.logical_not,
    solver.Z3_OP_LE: np.less_equal,
    solver.Z3_OP_GE: np.greater_equal,
    solver.Z3_OP_LT: np.less,
    solver.Z3_OP_GT: np.greater,
    solver.Z3_OP_EQ: np.equal,
    solver.Z3_OP_DISTINCT: np.not_equal,
    solver.Z3_OP_IMPLIES: lambda a, b: np.logical_or(np.logical_not(a), b),
}


def numbers(term: Any, at: Mapping[str, Any], known: dict[int, Any] | None = None) -> Any:
    """The numbers or truth values of a term, for arrays of numbers of its variables.

    `known`: those of other terms there, by their addresses; what is found is added.
    """
    found: dict[int, Any] = {} if known is None else known

    def value(t: Any) -> Any:
        key = t.get_id()
        if key not in found:
            found[key] = _one(parts(t), at, value)
        return found[key]

    return value(term)


def _one(term: Parts, at: Mapping[str, Any], value: Callable[[Any], Any]) -> Any:
    if term.number is not None:
        return np.int64(term.number)
    if term.kind == solver.Z3_OP_TRUE or term.kind == solver.Z3_OP_FALSE:
        return np.bool_(term.kind == solver.Z3_OP_TRUE)
    if term.kind == solver.Z3_OP_UNINTERPRETED:
        return at[term.name]
    return MEANINGS[term.kind](*map(value, term.children))


def _along(numbers: Any, axis: int, rank: int) -> Any:
    """A list of numbers along one of several axes."""
    return numbers.reshape([-1 if k == axis else 1 for k in range(rank)])


@dataclass(frozen=True)
class _Grid:
    """Numbers for all variables, as arrays of `rank` axes; those in `gone` are removed. Terms are worked out once."""

    at: Mapping[str, Any]
    gone: tuple[int, ...]
    rank: int
    known: dict[int, Any] = field(default_factory=dict)

    def of(self, term: Any) -> Any:
        """A term there."""
        return numbers(term, self.at, self.known)


class Sample:
    """Places of an array of some shape at a few lengths; the axes in `gone` are those that a reduction removes."""

    def __init__(self, terms: Sequence[Any], shape: Sequence[Size], gone: Sequence[int], free: Iterable[str]) -> None:
        self._grids = []
        used = variables(*terms)
        steps = sorted(name for name in free if name.startswith(STEP))
        for length in LENGTHS:
            lengths = {name: np.int64(length + k) for k, name in enumerate(sorted(set(free) - {*steps}))}
            at: dict[str, Any] = dict(lengths)
            axes = [a for a in range(len(shape)) if PLACES[a].get_id() in used or a in gone]
            rank = len(axes) + len(steps)
            for k, name in enumerate(steps, len(axes)):
                at[name] = _along(np.arange(length), k, rank)
            for k, a in enumerate(axes):
                size = int(numbers(whole(shape[a]), lengths))
                places = np.arange(size)
                if size > MOST and isinstance(shape[a], int):
                    places = np.r_[:FEW, size - FEW : size]
                at[f"i{a}"] = _along(places, k, rank)
            for a in range(len(shape)):
                at.setdefault(f"i{a}", np.int64(0))
            self._grids.append(_Grid(at, tuple(k for k, a in enumerate(axes) if a in gone), rank))

    def needed(self, hi: Any, skip: Any) -> list[Any]:
        """What no closed form may be below, at the places that are left."""
        found = []
        for grid in self._grids:
            shown = np.where(grid.of(skip), -1, np.maximum(grid.of(hi), -1))
            shown = np.broadcast_to(shown, np.broadcast_shapes(np.shape(shown), (1,) * grid.rank))
            found.append(shown.max(axis=grid.gone, keepdims=True, initial=-1))
        return found

    def shown(self, truth: Any) -> list[Any]:
        """A truth value at the places."""
        return [np.asarray(grid.of(truth)) for grid in self._grids]

    def excess(self, form: Any, needed: Sequence[Any], most: Any = None) -> float | None:
        """By how much a form lies above what is needed; None where it is below. What lies above `most` says no more."""
        total = 0.0
        for grid, least in zip(self._grids, needed, strict=True):
            shown = np.maximum(grid.of(form), -1)
            if (shown < least).any():
                return None
            above = (shown if most is None else np.minimum(shown, np.maximum(grid.of(most), least))) - least
            total += float(np.mean(above)) if np.size(above) else 0.0
        return total
