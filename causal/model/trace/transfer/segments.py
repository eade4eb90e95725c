"""Segments: runs of an axis that are joined each to one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..domain import FIXED, NONE_HI, NONE_LO, RANK, VARIES, Array, Shadow, compress, full, reshape
from .elementwise import assemble, pointwise
from .reductions import reduced

if TYPE_CHECKING:
    from .context import Operand


def joined(x: Shadow, cuts: Operand, axis: int, shape: tuple[int, ...], are_lengths: bool) -> Shadow:
    """Result s joins the elements of segment s along `axis`; the axes before it are a batch, with cuts of its own.

    cuts: (…, segments + 1), where each segment begins and the last one ends; or (…, segments), their lengths. Where
    they depend on data, a result may read all of its axis.
    """
    if cuts.shadow.is_fixed:
        given = cuts.array().astype(np.int64)
        before = np.zeros((*given.shape[:-1], 1), np.int64)
        ends = np.concatenate([before, given.cumsum(-1)], -1) if are_lengths else given
        return _apart(x, ends, axis, shape)
    row = reduced(x, (axis,), tuple(1 if a == axis else n for a, n in enumerate(x.shape)))
    places = reduced(cuts.shadow, (axis,), (*cuts.shape[:axis], 1))
    return pointwise(shape, [row, reshape(places, (*places.shape, *(1,) * (len(shape) - axis - 1)))])


def _apart(x: Shadow, ends: Array, axis: int, shape: tuple[int, ...]) -> Shadow:
    lo, hi = np.full(shape, NONE_LO, RANK), np.full(shape, NONE_HI, RANK)
    kind = np.full(shape, FIXED, np.uint8)
    given = full(x)
    for at in np.ndindex(*ends.shape[:axis]):
        for s in range(shape[axis]):
            first, last = int(ends[(*at, s)]), int(ends[(*at, s + 1)])
            low, high, known = (a[at][first:last] for a in given)
            lo[(*at, s)] = low.min(0, initial=NONE_LO)
            hi[(*at, s)] = high.max(0, initial=NONE_HI)
            kind[(*at, s)] = np.where((known >= FIXED).all(0), np.uint8(FIXED), np.uint8(VARIES))
    return assemble(shape, compress(lo), compress(hi), compress(kind))
