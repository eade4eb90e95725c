"""Samples: images read at points that a grid gives, maxima sent back to where they stood, distances between rows.

Leading axes (batch, channels) stay apart; what lies behind them is read as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..domain import VARIES, Shadow, join_axes, kinds_from
from .elementwise import pointwise


def by_leading_axes(shadows: Sequence[Shadow], lead: int, shape: tuple[int, ...]) -> Shadow:
    """A result each of whose slices along the first `lead` axes is a function of the operands' slices there."""
    return pointwise(shape, [_joined(s, range(lead, len(s.shape)), len(shape)) for s in shadows])


def at_points(image: Shadow, grid: Shadow, shape: tuple[int, ...]) -> Shadow:
    """The image (batch, channels, …) at points (batch, …, coordinates): of each channel anything, by the point."""
    point = _joined(grid, (len(grid.shape) - 1,), len(grid.shape))
    moved = (np.moveaxis(a, -1, 1) for a in (point.lo, point.hi, point.kind))  # its one coordinate stands for channels
    where = Shadow((grid.shape[0], 1, *grid.shape[1:-1]), *moved)
    return pointwise(shape, [_joined(image, range(2, len(image.shape)), len(shape)), where])


def between_rows(x: Shadow, shape: tuple[int, ...]) -> Shadow:
    """A number for each pair of rows of a matrix, the first row's pairs first."""
    lo, hi, _ = join_axes(x, (1,), keepdims=False)
    first, second = np.triu_indices(x.shape[0], 1)
    lo, hi = (np.broadcast_to(a, (x.shape[0],)) for a in (lo, hi))
    kind = np.full(1, VARIES, np.uint8)
    return Shadow(shape, np.minimum(lo[first], lo[second]), np.maximum(hi[first], hi[second]), kind)


def _joined(x: Shadow, axes: Sequence[int], rank: int) -> Shadow:
    """The join over some axes, each of size 1 then, as a shadow with `rank` axes, new ones last."""
    more = (1,) * (rank - len(x.shape))
    lo, hi, fixed = join_axes(x, axes)
    shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape)) + more
    kind = kinds_from(fixed)
    return Shadow(shape, *(np.asarray(a).reshape(np.asarray(a).shape + more) for a in (lo, hi, kind)))
