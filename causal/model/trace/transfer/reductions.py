"""Reductions: a number made of all elements along some axes depends on each of them.

Sums do not feel exact zeros, and maxima and log-sum-exps do not feel −∞: those elements carry no interval, so the plain
join already leaves them out. A score lowered by a large constant leaves a maximum alone as long as another is visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..deferred import late
from ..domain import (
    BIG,
    FIXED,
    MASKED,
    NEGINF,
    NONE_HI,
    NONE_LO,
    POSITIVE,
    RANK,
    VARIES,
    ZERO,
    Array,
    Shadow,
    join_all,
    join_axes,
    kinds_from,
    uniform,
)
from .elementwise import assemble

if TYPE_CHECKING:
    from .context import Context, Operand


def axes_of(rank: int, dim: int | Sequence[int] | None) -> tuple[int, ...]:
    """The reduced axes, from an argument that is None, a number or a list; all axes for None or an empty list.

    >>> axes_of(3, -1), axes_of(3, [2, 0]), axes_of(2, None)
    ((2,), (0, 2), (0, 1))
    """
    if dim is None or (not isinstance(dim, int) and not dim):
        return tuple(range(rank))
    dims = [dim] if isinstance(dim, int) else list(dim)
    return tuple(sorted(d % rank for d in dims)) if rank else ()


def fit(shape: tuple[int, ...], rank: int, axes: tuple[int, ...], arrays: tuple[Array, ...]) -> list[Array]:
    """Arrays that kept the reduced axes with size 1, without those axes when the output has dropped them."""
    if len(shape) == rank:
        return list(arrays)
    return [np.squeeze(a, axes) for a in arrays]


def whole(shape: tuple[int, ...], shadows: Iterable[Shadow]) -> Shadow:
    """What may depend on every element of every operand, and nothing more is known of."""
    shadows = list(shadows)
    return uniform(shape, FIXED if all(s.is_fixed for s in shadows) else VARIES, *join_all(shadows))


def reduced(x: Shadow, axes: tuple[int, ...], shape: tuple[int, ...]) -> Shadow:
    """The join over `axes`; an index of the largest element depends on all of them as well."""
    if not x.shape:
        return Shadow(shape, x.lo, x.hi, kinds_from(x.kind >= FIXED))
    lo, hi, fixed = join_axes(x, axes)
    return assemble(shape, *fit(shape, len(x.shape), axes, (lo, hi, kinds_from(fixed))))


def total(x: Shadow, axes: tuple[int, ...], shape: tuple[int, ...]) -> Shadow:
    """The sum over `axes`: a sum of zeros is 0; a sum of numbers above 0 and zeros is above 0."""
    result = reduced(x, axes, shape)
    k = x.kind
    if not x.shape or not ((k == ZERO).any() or (k == POSITIVE).any()):
        return result
    zero = (k == ZERO).all(axes, keepdims=True)
    above = ((k == POSITIVE) | (k == ZERO)).all(axes, keepdims=True) & (k == POSITIVE).any(axes, keepdims=True)
    zero, above = fit(shape, len(x.shape), axes, (zero, above))
    kind = np.where(zero, np.uint8(ZERO), np.where(above, np.uint8(POSITIVE), result.kind))
    return assemble(shape, result.lo, result.hi, kind)


def visible(x: Shadow, axes: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Per row (axes kept): lo, hi over the elements that can win a maximum, and whether masked ones were left out.

    A masked element is left out of rows in which an element is visible (neither masked nor −∞). That is sound only
    where it lies below the visible ones: `Context.masked_below` says whether it does.
    """
    k = x.kind
    masked = (k == MASKED) | (k == BIG)
    open_ = ~masked & (k != NEGINF)
    some = np.broadcast_to(open_, np.broadcast_shapes(open_.shape, x.lo.shape)).any(axes, keepdims=True)
    drop = (k == MASKED) & some
    lo = late(np.where, drop, RANK(NONE_LO), x.lo).min(axes, keepdims=True, initial=NONE_LO)
    hi = late(np.where, drop, RANK(NONE_HI), x.hi).max(axes, keepdims=True, initial=NONE_HI)
    return lo, hi, drop.any(axes, keepdims=True)


def largest(run: Context, operand: Operand, axes: tuple[int, ...], shape: tuple[int, ...]) -> Shadow:
    """The largest element, or the log of a sum of exponentials: −∞ never matters, a masked score only when nothing is
    visible.
    """
    x = operand.known()
    if x.shape and (x.kind == MASKED).any() and run.finite_masks:
        lo, hi, dropped = visible(x, axes)
        if dropped.any() and run.masked_below(operand, (x.kind == MASKED) | (x.kind == BIG), axes):
            return assemble(shape, *fit(shape, len(x.shape), axes, (lo, hi, np.zeros_like(lo, np.uint8))))
    return reduced(x, axes, shape)
