"""Contractions: out[i, j] = Σ_k a[i, k] b[k, j].

The output joins a's row i and b's column j, except for the terms that an exact zero kills: b[k, j] is read only where
a[i, k] is not 0, and a[i, k] only where b[k, j] is not 0. The two halves separate, because a zero has an empty interval
itself; so a causal mask among the weights costs one pass over the mask, not a triple loop.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..deferred import late
from ..domain import (
    FIXED,
    NONE_HI,
    NONE_LO,
    POSITIVE,
    RANK,
    VARIES,
    ZERO,
    Array,
    Shadow,
    align,
    compress,
    kinds_from,
    reshape,
    uniform,
)
from .elementwise import assemble, pointwise, total
from .reductions import reduced, whole

if TYPE_CHECKING:
    from .context import Context, Number, Operand

MOST_COLUMNS = 64  # distinct columns that are followed one by one
MOST_WORK = 1 << 26  # elements of the triple product that are followed exactly before the columns are joined


def sweep(zero: Array, value: Array, empty: int, reduce: np.ufunc) -> Array:
    """Over k, the join of value[…, k, j] where zero[…, i, k] is false: shape (…, i or 1, j or 1)."""
    if (value == empty).all():
        return np.full((1,) * value.ndim, empty, value.dtype)
    if not zero.any():
        return reduce.reduce(value, axis=-2, keepdims=True)  # type: ignore[no-any-return]
    blank = value.dtype.type(empty)
    if zero.shape[-1] == 1:
        joined: Array = late(np.where, zero, blank, reduce.reduce(value, axis=-2, keepdims=True))
        return joined
    if value.shape[-2] == 1:
        return np.where(zero.all(-1, keepdims=True), blank, value)
    columns = value.shape[-1]
    if columns > 1:
        distinct, inverse = np.unique(value.reshape(-1, columns), axis=1, return_inverse=True)
        work = math.prod(np.broadcast_shapes(zero.shape[:-2], value.shape[:-2])) * zero.shape[-2] * zero.shape[-1]
        if distinct.shape[1] > MOST_COLUMNS and work * distinct.shape[1] > MOST_WORK:
            return sweep(zero, reduce.reduce(value, axis=-1, keepdims=True), empty, reduce)
        if distinct.shape[1] < columns:
            few = sweep(zero, distinct.reshape((*value.shape[:-1], distinct.shape[1])), empty, reduce)
            return few.take(inverse.reshape(-1), axis=-1) if few.shape[-1] > 1 else few
        parts = [sweep(zero, value[..., c : c + 1], empty, reduce) for c in range(columns)]
        return np.concatenate(np.broadcast_arrays(*parts), -1) if columns else value
    return reduce.reduce(late(np.where, zero, blank, np.swapaxes(value, -1, -2)), axis=-1, keepdims=True)  # type: ignore[no-any-return]


def thin(array: Array) -> Array:
    """The array compressed, where that is no work."""
    return compress(array) if array.size < 1 << 16 else array


def contract(run: Context, a: Operand, b: Operand, x: Shadow, y: Shadow) -> tuple[Array, Array, Array]:
    """lo, hi, kind of the product of x (…, i, k) and y (…, k, j); the operands are told when their zeros count."""
    zx, zy = x.kind == ZERO, y.kind == ZERO
    for zero, killer, killed, s in ((zx, a, b, y), (zy, b, a, x)):
        if zero.any() and (s.kind < FIXED).any():
            run.zeros_used(killer)
            run.must_be_finite(killed)
    zy_t = np.swapaxes(zy, -1, -2)

    def both(p: Array, q: Array, empty: int, reduce: np.ufunc) -> Array:
        from_y = sweep(zx, q, empty, reduce)
        from_x = np.swapaxes(sweep(zy_t, np.swapaxes(p, -1, -2), empty, reduce), -1, -2)
        return late(reduce, thin(from_y), thin(from_x))

    lo = both(x.lo, y.lo, NONE_LO, np.minimum)
    hi = both(x.hi, y.hi, NONE_HI, np.maximum)
    loose = both((x.kind < FIXED).astype(np.uint8), (y.kind < FIXED).astype(np.uint8), 0, np.maximum)
    kind = kinds_from(loose == 0)
    if zx.any() or zy.any():
        nothing = zx.all(-1, keepdims=True) | zy.all(-2, keepdims=True)
        kind = np.where(nothing, np.uint8(ZERO), kind)
    rows, columns = (x.kind == POSITIVE).all(-1, keepdims=True), (y.kind == POSITIVE).all(-2, keepdims=True)
    if rows.any() and columns.any():
        kind = late(np.where, late(np.logical_and, rows, columns) & (kind == VARIES), np.uint8(POSITIVE), kind)
    return lo, hi, kind


def matrix_product(run: Context, a: Operand, b: Operand, shape: tuple[int, ...]) -> Shadow:
    """The shadow of a @ b; vectors count as matrices of one row or column."""
    x, y = a.known(), b.known()
    if len(x.shape) == 1:
        x = reshape(x, (1, *x.shape))
    if len(y.shape) == 1:
        y = reshape(y, (*y.shape, 1))
    if x.shape[-1] == 0:
        return uniform(shape, ZERO)
    axes = max(len(x.shape), len(y.shape))
    x = Shadow(x.shape, align(x.lo, axes), align(x.hi, axes), align(x.kind, axes))
    y = Shadow(y.shape, align(y.lo, axes), align(y.hi, axes), align(y.kind, axes))
    lo, hi, kind = contract(run, a, b, x, y)
    full = (*np.broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1])
    full = (1,) * (axes - len(full)) + full
    result = assemble(full, *map(thin, (lo, hi, kind)))
    return reshape(result, shape)


def plus(product: Shadow, bias: Operand | None, beta: Number, real: bool) -> Shadow:
    """product + β · bias; with β = 0 the bias is not even read. `real`: the sum is of floating numbers."""
    if beta == 0 or bias is None:
        return product
    return total(product, bias.known(), product.shape, real and not isinstance(beta, complex) and beta >= 1)


def outer(a: Shadow, b: Shadow, shape: tuple[int, ...]) -> Shadow:
    """a[i] · b[j] joins both."""

    def pairs(p: Array, q: Array, reduce: np.ufunc) -> Array:
        return late(reduce, p[:, None], q[None, :])

    fixed = pairs(a.kind >= FIXED, b.kind >= FIXED, np.logical_and)
    return assemble(shape, pairs(a.lo, b.lo, np.minimum), pairs(a.hi, b.hi, np.maximum), kinds_from(fixed))


def grouped(rows: Shadow, others: Sequence[Shadow], shape: tuple[int, ...]) -> Shadow:
    """Rows of one matrix times the matrices of their groups: row i reads itself, all weights and all group ends."""
    result = whole(shape, others)
    lo, hi = rows.lo.min(-1, keepdims=True), rows.hi.max(-1, keepdims=True)
    kind = result.kind if rows.is_fixed else np.zeros_like(result.kind)
    return assemble(shape, np.minimum(result.lo, lo), np.maximum(result.hi, hi), kind)


def linear(run: Context, x: Operand, w: Operand, bias: Operand | None, shape: tuple[int, ...], real: bool) -> Shadow:
    """x Wᵀ + b, for x of one axis or more and W of shape (out, in)."""
    s, v = x.known(), w.known()
    axes = max(2, len(s.shape))
    columns = Shadow(  # (in, out)
        tuple(reversed(v.shape)), *(align(np.swapaxes(a, -1, -2), axes) for a in (v.lo, v.hi, v.kind))
    )
    rows = s if len(s.shape) > 1 else reshape(s, (1, *s.shape))
    lo, hi, kind = contract(run, x, w, rows, columns)
    return plus(reshape(assemble((*rows.shape[:-1], v.shape[0]), lo, hi, kind), shape), bias, 1, real)


def cross(vectors: Sequence[Shadow], axis: int, shape: tuple[int, ...]) -> Shadow:
    """Cross products of vectors along one axis: each number reads the vectors at its place whole (less would do: not
    its own place in them).
    """
    kept = [tuple(1 if a == axis else n for a, n in enumerate(v.shape)) for v in vectors]
    return pointwise(shape, [reduced(v, (axis,), k) for v, k in zip(vectors, kept, strict=True)])


def distances(a: Shadow, b: Shadow, shape: tuple[int, ...]) -> Shadow:
    """The distance of row i of one from row j of the other joins both rows."""
    axes = len(shape)
    parts = []
    for x, y, reduce in (
        (a.lo, b.lo, np.minimum),
        (a.hi, b.hi, np.maximum),
        (a.kind >= FIXED, b.kind >= FIXED, np.logical_and),
    ):
        p = reduce.reduce(align(x, axes), axis=-1, keepdims=True)
        q = np.swapaxes(reduce.reduce(align(y, axes), axis=-1, keepdims=True), -1, -2)
        parts.append(reduce(p, q))
    return assemble(shape, parts[0], parts[1], kinds_from(parts[2]))


def substitution(a: Shadow, b: Shadow, upper: bool, shape: tuple[int, ...]) -> Shadow:
    """The solution X of A X = B for a triangular A: by forward substitution, row i of it reads rows 0…i of B and of the
    lower triangle of A; by backward substitution rows i… of B and of the upper triangle.
    """
    axes = len(shape)
    n = a.shape[-1]
    inside = np.tri(n, n, 0, bool)
    inside = inside.T if upper else inside
    parts = []
    for x, y, empty, reduce in ((a.lo, b.lo, NONE_LO, np.minimum), (a.hi, b.hi, NONE_HI, np.maximum)):
        rows = reduce.reduce(np.where(inside, align(x, axes), RANK(empty)), axis=-1, keepdims=True, initial=empty)
        joined = np.array(
            np.broadcast_to(reduce(rows, align(y, axes)), np.broadcast_shapes(rows.shape, align(y, axes).shape))
        )
        parts.append(reduce.accumulate(joined[..., ::-1, :] if upper else joined, axis=-2))
    if upper:
        parts = [p[..., ::-1, :] for p in parts]
    fixed = a.is_fixed and b.is_fixed
    return assemble(shape, parts[0], parts[1], kinds_from(np.full((1,) * axes, fixed)))


def trilinear(
    shadows: Sequence[Shadow], expanded: Sequence[Sequence[int]], summed: Sequence[int], shape: tuple[int, ...]
) -> Shadow:
    """Σ a · b · c over the axes `summed`, each with axes of size 1 put in at `expanded`."""
    rank = len(shadows[0].shape) + len(expanded[0])
    parts = []
    for shadow, at in zip(shadows, expanded, strict=True):
        given, places = iter(shadow.shape), {d % rank for d in at}
        parts.append(reshape(shadow, tuple(1 if a in places else next(given) for a in range(rank))))
    product = pointwise(tuple(np.broadcast_shapes(*(p.shape for p in parts))), parts)
    return reduced(product, tuple(d % rank for d in summed), shape) if summed else product


def whole_matrices(shadows: Iterable[Shadow], shape: tuple[int, ...]) -> Shadow:
    """A number of a decomposition reads the whole matrix (the last two axes), of each operand; batches stay apart."""
    shadows = list(shadows)
    # Operands of different ranks (a batch of vectors beside one of matrices) line their batches up in another way.
    ranks = {len(s.shape) for s in shadows}
    lead = np.broadcast_shapes(*(s.shape[:-2] for s in shadows)) if len(ranks) == 1 and min(ranks) >= 2 else None
    if lead is None or shape[: len(lead)] != lead or any(0 in s.shape for s in shadows):
        return whole(shape, shadows)
    axes = len(lead)
    parts = []
    for reduce, arrays in (
        (np.minimum, [s.lo for s in shadows]),
        (np.maximum, [s.hi for s in shadows]),
        (np.logical_and, [s.kind >= FIXED for s in shadows]),
    ):
        joined = [align(reduce.reduce(a, axis=(-1, -2)), axes) for a in arrays]
        over = joined[0]
        for other in joined[1:]:
            over = reduce(over, other)
        parts.append(over.reshape(over.shape + (1,) * (len(shape) - axes)))
    return assemble(shape, parts[0], parts[1], kinds_from(parts[2]))
