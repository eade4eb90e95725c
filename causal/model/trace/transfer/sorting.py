"""Searching a sorted axis. Sorting one joins it (see `reductions.reduced`): an element of a sorted axis may come from
any place of it, and depends on all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..domain import BIG, FIXED, MASKED, RANK, Array, Shadow, align, join_all, kinds_from, without
from .elementwise import assemble

if TYPE_CHECKING:
    from .context import Context, Operand


def ordered(run: Context, operand: Operand, axis: int) -> Shadow:
    """What is sorted, or picked from, along an axis: scores that a large finite mask made all one number are constants,
    and whether, and in what order, they are taken depends on the visible ones.
    """
    x = operand.known()
    masked = (x.kind == MASKED) | (x.kind == BIG)
    if not (x.kind == MASKED).any() or not run.finite_masks or not run.masked_alike(operand, masked, (axis,)):
        return operand.shadow
    return without(x, x.kind == MASKED, FIXED)


def place(element: Shadow, row: Shadow, sorter: Shadow | None, shape: tuple[int, ...]) -> Shadow:
    """The place of an element in a sorted row depends on the element and on the row (and on the order it is read in).

    A row of several axes is one row for each leading index; the last axis is searched.
    """
    axes = len(shape)
    last = max(0, len(row.shape) - 1)
    parts: list[Array] = []
    for a, b, reduce in (
        (element.lo, row.lo, np.minimum),
        (element.hi, row.hi, np.maximum),
        (element.kind >= FIXED, row.kind >= FIXED, np.logical_and),
    ):
        joined = reduce.reduce(b, axis=last, keepdims=True)
        joined = joined.reshape((1,) * axes) if b.ndim <= 1 or axes < b.ndim else align(joined, axes)
        parts.append(reduce(align(a, axes), joined))
    if sorter is not None:
        lo, hi = join_all([sorter])
        parts[:2] = [np.minimum(parts[0], RANK(lo)), np.maximum(parts[1], RANK(hi))]
        parts[2] = parts[2] & sorter.is_fixed
    return assemble(shape, parts[0], parts[1], kinds_from(parts[2]))
