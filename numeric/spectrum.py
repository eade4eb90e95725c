"""Singular values, rank, row sums and signs of the position mixing `B F`, in O(n r) memory: never the n × n matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import array_api_compat as compat
import numpy as np

from . import blocks
from .arrays import CHUNK_BYTES, has_values, is_traced, itemsize, read, rows_per_block
from .arrays import blocks as slices
from .attention import broadcast_lead
from .range import least, near_one, powers, restored

if TYPE_CHECKING:
    from ..aliases import ArrayLike

SHAPES = {"B": "m r", "F": "r n"}


class Spectrum(NamedTuple):
    """Singular values `values` (…, min(m, r)), largest first, and `error` (…, min(m, r)), a bound on each one's error.

    The error is an estimate from residuals that were themselves computed in floating point.
    """

    values: ArrayLike
    error: ArrayLike


class Factor(NamedTuple):
    """The triangle R of a tall matrix X = Q R, with the residual ‖X − Q R‖_F and the defect ‖QᵀQ − 1‖_F of that Q."""

    R: ArrayLike
    residual: ArrayLike
    defect: ArrayLike


def mixing_spectrum(B: ArrayLike, F: ArrayLike) -> Spectrum:
    """The singular values of `B F` from two thin QR factorisations, O((m + n) r²) operations.

    Shapes (…, m, r) and (…, r, n), r ≤ n. With B = Q_B R_B, Fᵀ = Q_F R_F they are those of the r × r matrix R_B R_Fᵀ;
    the values past r are 0. The error estimate adds, by Weyl and Ostrowski, the residuals of both factorisations and
    of the small SVD and the departure of Q_B, Q_F from orthogonality.

    Peak memory: about twice the larger input beside both. A Dask array is factored chunk by chunk of positions and only
    triangles travel. Works under `jax.jit`, where the check for finite entries is off. Arrays in memory near an end of
    their float type are scaled first; a value beyond it is ∞. Raises as `arrays.read` does, and ValueError for chunks
    so near the end of their float type that a factorisation overflows.

    >>> import numpy as np
    >>> B, F = np.array([[2.0], [0], [0]]), np.array([[0.0, 3, 0]])
    >>> mixing_spectrum(B, F).values.round(12).tolist()
    [6.0]
    """
    return _spectrum_of(B, F, _spectrum)


def relative_spectrum(B: ArrayLike, F: ArrayLike) -> Spectrum:
    """`mixing_spectrum` up to a positive factor, with largest values of about 1: it does not overflow or underflow.

    >>> import numpy as np
    >>> relative_spectrum(np.array([[1e-200]]), np.array([[1e-200]])).values.tolist()
    [1.0]
    """
    return _spectrum_of(B, F, _relative)


def _spectrum_of(B: ArrayLike, F: ArrayLike, function: Callable[[Factor, Factor], Spectrum]) -> Spectrum:
    _, (B, F) = read(SHAPES, B=B, F=F)
    (B, b), (F, f) = near_one(B), near_one(F)
    factors = factor(B, -2, "B"), factor(F, -1, "F")
    if compat.is_dask_array(B) or compat.is_dask_array(F):
        task = blocks.call(function, *factors)
        shape = (*broadcast_lead(B, F), min(B.shape[-2], B.shape[-1]))
        lazy = B if compat.is_dask_array(B) else F
        return Spectrum(*(blocks.array(part, shape, B.dtype, lazy) for part in (task[0], task[1])))
    power = powers(b, f)
    return function(*factors) if function is _relative or power is None else _restored(function(*factors), power)


def _restored(found: Spectrum, power: np.ndarray) -> Spectrum:
    """The spectrum of factors times 2^power; what that rounds near 0 counts in the error."""
    values, error = (restored(part, power, 1) for part in found)
    return Spectrum(values, error + least(values))


def mixing_row_sums(B: ArrayLike, F: ArrayLike) -> ArrayLike:
    """The row sums of `B F`, as B (F 1) (T4): all 1 for every row-stochastic B iff F 1 = 1. Shape (…, m).

    Peak memory O(m + r) beside the inputs, which are copied where they lie near an end of their float type; a sum
    beyond it is ±∞. Works on Dask and, with the check for finite entries off, under `jax.jit`.

    >>> import numpy as np
    >>> mixing_row_sums(np.array([[0.5, 0.5]]), np.array([[1.0, 1, 0], [0, 0, 1]])).tolist()
    [1.5]
    """
    xp, (B, F) = read(SHAPES, B=B, F=F)
    (B, b), (F, f) = near_one(B), near_one(F)
    return restored(xp.matmul(B, xp.sum(F, axis=-1)[..., None])[..., 0], powers(b, f), 1)


class Coefficient(NamedTuple):
    """One coefficient of the mixing: its `value`, and the query and position (`row`, `column`) that it stands at."""

    value: ArrayLike
    row: ArrayLike
    column: ArrayLike


def most_negative_coefficient(B: ArrayLike, F: ArrayLike) -> Coefficient:
    """The smallest coefficient of `B F` and where it stands (T4): not negative iff `B F` has no negative entry.

    Shapes (…, m, r), (…, r, n); the three results have shape (…). O(m n r) operations, in blocks of about 16 MiB,
    never the m × n matrix. On Dask each pair of chunks is a task. Works under `jax.jit`, where the check for finite
    entries is off and the loop is unrolled. A coefficient beyond its float type is −∞, and a negative one too near 0
    for it the largest negative number there is. Raises as `arrays.read` does.

    >>> import numpy as np
    >>> c = most_negative_coefficient(np.array([[1.0, 0], [0, 1]]), np.array([[1.0, 2, 3], [4, -5, 6]]))
    >>> float(c.value), int(c.row), int(c.column)
    (-5.0, 1, 1)
    """
    xp, (B, F) = read(SHAPES, B=B, F=F)
    if not (compat.is_dask_array(B) or compat.is_dask_array(F)):
        (B, b), (F, f) = near_one(B), near_one(F)
        found, power = _smallest(0, 0, B, F), powers(b, f)
        return found if power is None else found._replace(value=_negative(xp, found.value, power))
    parts, top = [], 0
    for b, rows in zip(blocks.split(B, -2), blocks.lengths(B, -2), strict=True):
        left = 0
        for f, columns in zip(blocks.split(F, -1), blocks.lengths(F, -1), strict=True):
            parts.append(blocks.call(partial(_smallest, top, left), b, f))
            left += columns
        top += rows
    task = blocks.merge(_least, parts)
    lazy, lead = (B if compat.is_dask_array(B) else F), broadcast_lead(B, F)
    dtypes = (B.dtype, xp.int64, xp.int64)
    return Coefficient(*(blocks.array(task[i], lead, dtype, lazy) for i, dtype in enumerate(dtypes)))


def _negative(xp: Any, value: ArrayLike, power: np.ndarray) -> ArrayLike:
    """value · 2^power, which stays negative where value is."""
    whole = restored(value, power)
    return xp.where((value < 0) & (whole == 0), xp.full_like(whole, -least(whole)), whole)


def _smallest(top: int, left: int, B: ArrayLike, F: ArrayLike) -> Coefficient:
    xp = compat.array_namespace(B, F)
    lead, (m, n) = broadcast_lead(B, F), (B.shape[-2], F.shape[-1])
    width = min(n, max(1, CHUNK_BYTES // itemsize(B)))
    found = []
    for columns in slices(n, width):
        part = F[..., :, columns]
        step = rows_per_block(
            F, (columns.stop - columns.start) * max(1, math.prod(lead) // max(1, math.prod(F.shape[:-2])))
        )
        for rows in slices(m, step):
            product = xp.matmul(B[..., rows, :], part)
            flat = xp.reshape(product, (*lead, -1))
            at = xp.argmin(flat, axis=-1, keepdims=True)
            value = xp.min(flat, axis=-1)
            size = product.shape[-1]
            row, column = at[..., 0] // size + (rows.start + top), at[..., 0] % size + (columns.start + left)
            found.append(Coefficient(value, row, column))
    return _least(found)


def _least(parts: Sequence[Coefficient]) -> Coefficient:
    best = parts[0]
    xp = compat.array_namespace(best.value)
    for part in parts[1:]:
        better = part.value < best.value
        best = Coefficient(*(xp.where(better, new, old) for new, old in zip(part, best, strict=True)))
    return best


# -- thin QR with residuals, whole or chunk by chunk ------------------------------------------------------------------


def factor(X: ArrayLike, axis: int, name: str) -> Any:
    """The `Factor` of X with its long axis `axis` (−2, or −1 for a transposed X); a task where X is a Dask array.

    On Dask: QR of each chunk, then of the stacked triangles, as a tree (TSQR); residuals and defects add up.
    """
    parts = [blocks.call(partial(_factor, axis, name), chunk) for chunk in blocks.split(X, axis)]
    return parts[0] if len(parts) == 1 else blocks.merge(partial(_stack, name), parts)


def _factor(axis: int, name: str, X: ArrayLike) -> Factor:
    return thin(X if axis == -2 else compat.array_namespace(X).matrix_transpose(X), name)[1]


def thin(X: ArrayLike, name: str) -> tuple[Any, Factor]:
    """The thin QR of a tall array in memory: Q, and the `Factor` that measures it; ValueError where it overflows."""
    xp = compat.array_namespace(X)
    with np.errstate(over="ignore", invalid="ignore"):
        Q, R = xp.linalg.qr(X)
        parts = [
            norm(xp, xp.matmul(Q[..., rows, :], R) - X[..., rows, :])
            for rows in slices(X.shape[-2], rows_per_block(X, X.shape[-1]))
        ]
        found = Factor(R, _together(xp, parts), orthogonality_defect(xp, Q))
    if has_values(X) and not all(bool(xp.all(xp.isfinite(part))) for part in found):
        largest = float(xp.max(xp.abs(X)))
        raise ValueError(
            f"{name} has entries up to {largest:.4g}, whose squares and sums overflow in {X.dtype}; scale it, for "
            f"instance {name} * 2.0**-64"
        )
    return Q, found


def orthogonality_defect(xp: Any, Q: ArrayLike) -> Any:
    """`‖QᵀQ − 1‖_F` over the last two axes."""
    gram = xp.matmul(xp.matrix_transpose(Q), Q)
    device = None if is_traced(Q) else compat.device(Q)
    return norm(xp, gram - xp.eye(gram.shape[-1], dtype=gram.dtype, device=device))


def norm(xp: Any, X: ArrayLike) -> ArrayLike:
    """The Frobenius norm over the last two axes; no square overflows or underflows."""
    largest = xp.max(xp.abs(X), axis=(-2, -1), keepdims=True)
    unit = xp.where(largest > 0, largest, xp.ones_like(largest))
    scaled = X / unit
    return unit[..., 0, 0] * xp.sqrt(xp.sum(scaled * scaled, axis=(-2, -1)))


def _together(xp: Any, norms: Sequence[Any]) -> ArrayLike:
    """The norm of a matrix from those of its blocks of rows."""
    return norms[0] if len(norms) == 1 else norm(xp, xp.stack(list(norms), axis=-1)[..., None, :])


def _stack(name: str, parts: Sequence[Factor]) -> Factor:
    """The factor of the stacked rows: their triangles stacked and factored again."""
    if len(parts) == 1:
        return parts[0]
    xp = compat.array_namespace(parts[0].R)
    _, top = thin(xp.concat([p.R for p in parts], axis=-2), name)
    residual, defect = _together(xp, [p.residual for p in parts]), parts[0].defect
    for p in parts[1:]:
        defect = xp.maximum(defect, p.defect)
    return Factor(top.R, residual + (1 + defect) * top.residual, defect + top.defect + defect * top.defect)


def _spectrum(b: Factor, f: Factor) -> Spectrum:
    xp = compat.array_namespace(b.R, f.R)
    found, scale_b, scale_f = _relative(b, f), scaled(xp, b)[1], scaled(xp, f)[1]
    return Spectrum(*(part * scale_b * scale_f for part in found))


def _relative(b: Factor, f: Factor) -> Spectrum:
    """The singular values from both triangles, each brought to about 1 so that no product overflows on the way."""
    xp = compat.array_namespace(b.R, f.R)
    b, f = scaled(xp, b)[0], scaled(xp, f)[0]
    core = xp.matmul(b.R, xp.matrix_transpose(f.R))
    U, s, Vh = xp.linalg.svd(core, full_matrices=False)
    size_b, size_f = norm(xp, b.R), norm(xp, f.R)
    small = norm(xp, core - xp.matmul(U * s[..., None, :], Vh))
    eps = xp.finfo(core.dtype).eps
    absolute = (
        (1 + b.defect)
        * (1 + f.defect)
        * (small + core.shape[-1] * eps * size_b * size_f + b.residual * (size_f + f.residual) + size_b * f.residual)
    )
    stretch = b.defect + f.defect + orthogonality_defect(xp, U) + orthogonality_defect(xp, xp.matrix_transpose(Vh))
    error = absolute[..., None] + stretch[..., None] * s
    return Spectrum(s, error)


def scaled(xp: Any, f: Factor) -> tuple[Factor, Any]:
    """The factor of X over the largest entry of its triangle, and that entry, shape (…, 1), 1 for a zero matrix."""
    size = xp.max(xp.abs(f.R), axis=(-2, -1))  # the norm might overflow
    unit = xp.where(size > 0, size, xp.ones_like(size))
    return Factor(f.R / unit[..., None, None], f.residual / unit, f.defect), unit[..., None]
