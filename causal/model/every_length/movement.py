"""Moving elements at every length: an element of the result is one of an operand, at places that are terms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from . import integers
from .integers import NotLinear, every, index, solver, whole
from .shadow import LengthShadow, is_size, moved, picked

if TYPE_CHECKING:
    from .integers import Term
    from .shadow import Size


def same_size(a: Size, b: Size) -> bool:
    """Whether two sizes are one at every length, as far as their terms' forms say."""
    return bool(solver.is_true(solver.simplify(whole(a) == whole(b))))


def broadcast(x: LengthShadow, shape: Sequence[Size], axes: Sequence[int]) -> LengthShadow:
    """Axes put in, or stretched from size 1; axis k of x becomes `axes[k]`."""
    places = [solver.IntVal(0) if is_size(x.shape[k], 1) else index(a) for k, a in enumerate(axes)]
    return moved(x, shape, places)


def transposed(x: LengthShadow, order: Sequence[int]) -> LengthShadow:
    """Axes in another order."""
    return moved(x, [x.shape[d] for d in order], [index(list(order).index(k)) for k in range(len(order))])


def cut(x: LengthShadow, shape: Sequence[Size], starts: Sequence[Size], steps: Sequence[int]) -> LengthShadow:
    """Every so many places from a start."""
    return moved(x, shape, [whole(s) + index(a) * k for a, (s, k) in enumerate(zip(starts, steps, strict=True))])


def reversed_(x: LengthShadow, axes: Sequence[int]) -> LengthShadow:
    """Axes from the end to the start."""
    return moved(x, x.shape, [whole(d) - 1 - index(a) if a in axes else index(a) for a, d in enumerate(x.shape)])


def concatenated(xs: Sequence[LengthShadow], axis: int, shape: Sequence[Size]) -> LengthShadow:
    """End to end."""
    starts: list[Term] = [whole(0)]
    for x in xs[:-1]:
        starts.append(starts[-1] + whole(x.shape[axis]))
    result = None
    for x, start in zip(reversed(xs), reversed(starts), strict=True):
        here = moved(x, shape, [index(a) - start if a == axis else index(a) for a in range(len(shape))])
        result = here if result is None else picked(index(axis) < start + whole(x.shape[axis]), here, result, shape)
    assert result is not None
    return replace(result, shape=tuple(shape))


def tiled(x: LengthShadow, times: Sequence[Size], shape: Sequence[Size]) -> LengthShadow:
    """Repeated along axes; NotLinear where one whose size is a symbol is."""
    places: list[Term] = []
    for a, (size, count) in enumerate(zip(x.shape, times, strict=True)):
        places.append(index(a) if is_size(count, 1) else index(a) % _block(size))
    return moved(x, shape, places)


def padded(x: LengthShadow, fill: LengthShadow, before: Sequence[Size], shape: Sequence[Size]) -> LengthShadow:
    """One number before and behind the elements; a negative width cuts."""
    places = [solver.simplify(index(a) - whole(b)) for a, b in enumerate(before)]
    inside = every(*(solver.And(p >= 0, p < whole(d)) for p, d in zip(places, x.shape, strict=True)))
    return picked(inside, moved(x, shape, places), moved(fill, shape, []), shape)


def reshaped(x: LengthShadow, shape: Sequence[Size]) -> LengthShadow:
    """The elements in row-major order in another shape; NotLinear where a block has a symbolic size."""
    places: list[Term] = [whole(0)] * len(x.shape)
    for old, new in _groups(x.shape, shape):
        if not old or not new:
            continue
        if len(old) == len(new) == 2 and not isinstance(x.shape[old[1]], int):
            places[old[0]], places[old[1]] = _skewed([x.shape[a] for a in old], [shape[a] for a in new], new)
            continue
        at: Term = index(new[0])
        for k in new[1:]:
            at = at * _block(shape[k]) + index(k)
        for k in reversed(old[1:]):
            size = _block(x.shape[k])
            places[k] = at % size
            at = at / size
        places[old[0]] = at
    return moved(x, shape, [solver.simplify(p) for p in places])


SHIFTS = ((1, True), (-1, True))  # by which rows become longer, and whether there are at most as many as they are long


def _skewed(old: Sequence[Size], new: Sequence[Size], axes: Sequence[int]) -> tuple[Term, Term]:
    """Rows that become one longer or shorter, as they do where scores of relative positions are shifted.

    Place (i, j) of rows of B' = B + d numbers is number i·B' + j = i·B + (j + d·i): of row i, or of the one before or
    after, where |d| ≤ 1 and there are at most B rows.
    """
    width, (i, j) = whole(old[1]), map(index, axes)
    more, fewer = (solver.simplify(d) for d in (whole(new[1]) - width, width - whole(new[0])))
    if not all(map(solver.is_int_value, (more, fewer))) or (more.as_long(), fewer.as_long() >= 0) not in SHIFTS:
        raise NotLinear("a block whose size is a symbol is not linear")
    at = j + more * i
    row = solver.If(at < 0, i - 1, solver.If(at < width, i, i + 1))
    place = solver.If(at < 0, at + width, solver.If(at < width, at, at - width))
    return row, place


def _block(size: Size) -> int:
    if isinstance(size, int):
        return size
    raise NotLinear("a block whose size is a symbol is not linear")


def _groups(old: Sequence[Size], new: Sequence[Size]) -> list[tuple[list[int], list[int]]]:
    """The axes, old and new, in pairs of groups of equal sizes; axes of size 1 alone."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        if i < len(old) and is_size(old[i], 1):
            groups.append(([i], []))
            i += 1
        elif j < len(new) and is_size(new[j], 1):
            groups.append(([], [j]))
            j += 1
        else:
            p, q = _fitting(old[i:], new[j:])
            groups.append((list(range(i, i + p)), list(range(j, j + q))))
            i, j = i + p, j + q
    return groups


def _fitting(old: Sequence[Size], new: Sequence[Size]) -> tuple[int, int]:
    """How many axes from the first on hold as many elements on either side; the fewest."""
    for both in range(2, len(old) + len(new) + 1):
        for p in range(max(1, both - len(new)), min(len(old), both - 1) + 1):
            if same_size(math.prod(map(whole, old[:p])), math.prod(map(whole, new[: both - p]))):
                return p, both - p
    raise NotLinear("a reshape between symbolic sizes is not linear")


def along(x: LengthShadow, axis: int, place: Term) -> LengthShadow:
    """One place of an axis, the axis itself gone."""
    shape = [d for a, d in enumerate(x.shape) if a != axis]
    places = [place if a == axis else index(a - (a > axis)) for a in range(len(x.shape))]
    return moved(x, shape, places)


def last_of(size: Size) -> Term:
    """The last place of an axis."""
    return integers.solver.simplify(whole(size) - 1)
