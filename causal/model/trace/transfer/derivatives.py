"""Derivatives that a program takes on its way: what each reads, beside the derivative of what came after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..domain import FIXED, NONE_HI, NONE_LO, VARIES, ZERO, Array, Shadow, compress, full, reshape
from .elementwise import assemble, pointwise
from .reductions import reduced, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def added_up(x: Shadow, through: Callable[[Array], Array]) -> Shadow:
    """Each output element is a sum of input elements, each times a fixed number above 0, or an exact 0 where there are
    none: which they are, the operation itself says, sent marks of 1 among zeros.
    """
    lo, hi, kind = full(x)
    nothing = through(np.zeros(x.shape)).astype(lo.dtype)
    earliest = _reached(lo, through, nothing + NONE_LO)
    latest = _reached(-hi, through, nothing - NONE_HI)
    varies, counts = (through(np.asarray(marks, np.float64)) > 0 for marks in (kind < FIXED, kind != ZERO))
    known = np.where(varies, np.uint8(VARIES), np.where(counts, np.uint8(FIXED), np.uint8(ZERO)))
    return assemble(known.shape, compress(earliest), compress(-latest), compress(known))


def _reached(ranks: Array, through: Callable[[Array], Array], found: Array) -> Array:
    """The least rank among those that each output element is made of, or what was found already if that is less."""
    for rank in np.unique(ranks):
        reached = through(np.asarray(ranks <= rank, np.float64)) > 0
        found = np.where(reached & (found > rank), rank, found)
    return found


def of_rows(given: Sequence[Shadow], axis: int, shape: tuple[int, ...], others: Sequence[Shadow]) -> Shadow:
    """Each row along an axis reads the rows of what is given, which may lack the axis; of the others all counts."""
    rows = tuple(1 if a == axis else n for a, n in enumerate(shape))
    parts = [reduced(s, (axis,), rows) if len(s.shape) == len(shape) and s.shape else _as_rows(s, rows) for s in given]
    return pointwise(shape, [*parts, *(whole((), (s,)) for s in others)])


def _as_rows(x: Shadow, rows: tuple[int, ...]) -> Shadow:
    """One number for each row, or one for all."""
    return x if not x.shape else reshape(x, rows)


def through_gate(given: Sequence[Shadow], axis: int, half: tuple[int, ...]) -> Shadow:
    """A result as long as one half along an axis reads both halves of what is given, which may be as long itself."""
    return pointwise(half, [_halved(s, axis, half) for s in given])


def of_gate(given: Sequence[Shadow], axis: int, shape: tuple[int, ...]) -> Shadow:
    """Both halves along an axis read both halves of what is given."""
    half = tuple(n // 2 if a == axis else n for a, n in enumerate(shape))
    return _twice(through_gate(given, axis, half), axis, shape)


def _halved(x: Shadow, axis: int, half: tuple[int, ...]) -> Shadow:
    if x.shape == half:
        return x
    return reduced(reshape(x, (*x.shape[:axis], 2, *half[axis:])), (axis,), half)


def _twice(x: Shadow, axis: int, shape: tuple[int, ...]) -> Shadow:
    """The same again beside itself."""
    parts = (a if a.shape[axis] == 1 else np.concatenate([a, a], axis) for a in (x.lo, x.hi, x.kind))
    return assemble(shape, *parts)


def of_norm(
    given: Sequence[Shadow], axes: tuple[int, ...], shape: tuple[int, ...], parameters: Sequence[Shadow]
) -> Shadow:
    """What was normalised over some axes: all along them counts, of whatever is given."""
    rows = tuple(1 if a in axes else n for a, n in enumerate(shape))
    return pointwise(shape, [reduced(s, axes, rows) for s in given] + [whole((), (p,)) for p in parameters])


def of_distances(rows: Sequence[Shadow], others: Shadow, shape: tuple[int, ...]) -> Shadow:
    """Each row reads the same row of what is given, and all other rows of its batch."""
    if any(0 in s.shape for s in (*rows, others)):
        return whole(shape, (*rows, others))
    own = [reduced(s, (len(s.shape) - 1,), (*s.shape[:-1], 1)) for s in rows]
    last = len(others.shape) - 2, len(others.shape) - 1
    return pointwise(shape, [*own, reduced(others, last, (*others.shape[:-2], 1, 1))])
