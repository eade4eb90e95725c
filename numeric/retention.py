"""What a projection retains of each position and of a span of positions (T8): leverages of F, in floats and over ℚ."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import array_api_compat as compat
from flint import ctx, fmpq, fmpq_mat

from ..symbolic.precision import precision
from . import blocks
from .arrays import blocks as slices
from .arrays import has_leading, over_leading, read, rows_per_block
from .enclosure import singular_values
from .exact import exact_matrix
from .range import near_one
from .spectrum import Factor, factor, scaled, thin

if TYPE_CHECKING:
    from ..aliases import ArrayLike

SHAPES = {"F": "r n"}


class Leverage(NamedTuple):
    """Leverages `values` (…, n) in [0, 1], the numerical `rank` (…) that they sum to, and a bound `error` (…) for each.

    The error is an estimate from residuals (Wedin's sin Θ theorem), provided that the numerical rank is the rank.
    """

    values: ArrayLike
    rank: ArrayLike
    error: ArrayLike


class Retention(NamedTuple):
    """Singular values `values` (…, m) of a span of m positions, zeros included, and `error` (…), a bound for each."""

    values: ArrayLike
    error: ArrayLike


def leverage(F: ArrayLike, rtol: float | None = None) -> Leverage:
    """The leverages `ℓ_j = e_jᵀ F⁺F e_j` of F, shape (…, r, n), r ≤ n, by one thin QR of Fᵀ and an r × r SVD (T8).

    `ℓ_j` is the share of position j's variance that the best affine decoder recovers from F V when positions are
    uncorrelated with equal variances; for other variances pass `F * sqrt(variances)`. They sum to the rank. Directions
    whose singular value is at most `rtol` (n times the precision unless given) times the largest count as absent.

    Peak memory: about twice F beside it. A Dask array is factored chunk by chunk, then each chunk solved against the
    triangle. Works under `jax.jit`, where the check for finite entries is off. An array in memory near an end of its
    float type is scaled first. Raises as `arrays.read` does, and ValueError for chunks so near the end of their float
    type that the factorisation overflows.

    >>> import numpy as np
    >>> leverage(np.array([[0.5, 0.5, 0], [0, 0, 1]])).values.round(12).tolist()
    [0.5, 0.5, 1.0]
    """
    xp, (F,) = read(SHAPES, F=F)
    tolerance = _tolerance(xp, F, rtol)
    if not compat.is_dask_array(F):
        Q, f = thin(xp.matrix_transpose(near_one(F)[0]), "F")
        core = _core(tolerance, f)
        return Leverage(_row_squares(Q, core.left), core.rank, core.error)
    core = blocks.call(partial(_core, tolerance), factor(F, -1, "F"))
    parts = [blocks.call(_chunk_leverage, chunk, core) for chunk in blocks.split(F, -1)]
    lead = F.shape[:-2]
    values = blocks.join(parts, -1, [(*lead, size) for size in blocks.lengths(F, -1)], F.dtype, F)
    return Leverage(values, blocks.array(core[2], lead, xp.int64, F), blocks.array(core[3], lead, F.dtype, F))


def span_retention(F: ArrayLike, start: int, stop: int, rtol: float | None = None) -> Retention:
    """The m = stop − start singular values of the columns of F⁺F in the span, largest first, zeros included (T8).

    Their squares sum to the span's leverages; 1 means a direction of the span that is recovered exactly, 0 one that is
    lost. Needs `0 ≤ start < stop ≤ n`, else ValueError. `rtol`, memory, Dask, jit and errors as in `leverage`.

    >>> import numpy as np
    >>> span_retention(np.array([[0.5, 0.5, 0], [0, 0, 1]]), 0, 2).values.round(12).tolist()
    [1.0, 0.0]
    """
    xp, (F,) = read(SHAPES, F=F)
    check_span(start, stop, F.shape[-1])
    tolerance = _tolerance(xp, F, rtol)
    if not compat.is_dask_array(F):
        Q, f = thin(xp.matrix_transpose(near_one(F)[0]), "F")
        core = _core(tolerance, f)
        return Retention(_span_values(xp.matmul(Q[..., start:stop, :], core.left)), core.error)
    core = blocks.call(partial(_core, tolerance), factor(F, -1, "F"))
    task = blocks.call(_chunk_span, blocks.whole(F[..., :, start:stop]), core)
    lead = F.shape[:-2]
    return Retention(blocks.array(task, (*lead, stop - start), F.dtype, F), blocks.array(core[3], lead, F.dtype, F))


class _Core(NamedTuple):
    left: ArrayLike  # (r, r): the left singular vectors of the triangle, absent directions zeroed
    right: ArrayLike  # (r, r): the right ones over their singular values, absent directions zeroed; for F / unit
    rank: ArrayLike
    error: ArrayLike
    unit: ArrayLike  # (…, 1): the size of F, so that no quotient overflows


def _tolerance(xp: Any, F: ArrayLike, rtol: float | None) -> float:
    if rtol is None:
        return int(F.shape[-1]) * float(xp.finfo(F.dtype).eps)
    if not rtol >= 0:
        raise ValueError(f"rtol = {rtol} is no tolerance; pass a number of at least 0")
    return rtol


def check_span(start: int, stop: int, n: int) -> None:
    """ValueError unless `0 ≤ start < stop ≤ n`.

    >>> check_span(0, 2, 3)
    """
    if not 0 <= start < stop <= n:
        raise ValueError(
            f"the span from {start} to {stop} is not inside the n = {n} positions; pass 0 ≤ start < stop ≤ n"
        )


def _core(tolerance: float, f: Factor) -> _Core:
    xp = compat.array_namespace(f.R)
    f, unit = scaled(xp, f)
    U, s, Vh = xp.linalg.svd(f.R, full_matrices=False)
    kept = s > tolerance * s[..., :1]
    zero, one = xp.zeros_like(s), xp.ones_like(s)
    keep, safe = xp.where(kept, one, zero), xp.where(kept, s, one)
    # Wedin: the projector moves by at most (perturbation)/(smallest singular value kept).
    dropped = xp.max(xp.where(kept, zero, s), axis=-1)
    perturbed = f.residual + dropped + s.shape[-1] * xp.finfo(s.dtype).eps * s[..., 0]
    moved = 2 * perturbed * xp.max(keep / safe, axis=-1) + f.defect
    error = xp.where(moved < 1, moved, xp.ones_like(moved))
    right = xp.matrix_transpose(Vh) * (keep / safe)[..., None, :]
    return _Core(U * keep[..., None, :], right, xp.sum(xp.astype(kept, xp.int64), axis=-1), error, unit)


def _row_squares(X: ArrayLike, Y: ArrayLike) -> ArrayLike:
    """The squared norms of the rows of X Y, leverages, a block of rows at a time."""
    xp = compat.array_namespace(X)
    parts = []
    for rows in slices(X.shape[-2], rows_per_block(X, X.shape[-1])):
        product = xp.matmul(X[..., rows, :], Y)
        parts.append(_at_most_one(xp, xp.sum(product * product, axis=-1)))
    return parts[0] if len(parts) == 1 else xp.concat(parts, axis=-1)


def _at_most_one(xp: Any, x: ArrayLike) -> ArrayLike:
    """x where rounding did not carry it past 1, the largest leverage that there is."""
    return xp.minimum(x, xp.ones_like(x))


def _chunk_leverage(F: ArrayLike, core: _Core) -> ArrayLike:
    return _row_squares(compat.array_namespace(F).matrix_transpose(F / core.unit[..., None]), core.right)


def _chunk_span(F: ArrayLike, core: _Core) -> ArrayLike:
    xp = compat.array_namespace(F)
    return _span_values(xp.matmul(xp.matrix_transpose(F / core.unit[..., None]), core.right))


def _span_values(rows: ArrayLike) -> ArrayLike:
    """Singular values of (…, m, r), padded with zeros to m."""
    xp = compat.array_namespace(rows)
    values = _at_most_one(xp, xp.linalg.svdvals(rows))
    short = rows.shape[-2] - values.shape[-1]
    if short <= 0:
        return values
    return xp.concat([values] + [xp.zeros_like(values[..., :1])] * short, axis=-1)


# -- over ℚ -----------------------------------------------------------------------------------------------------------


def exact_projector(F: ArrayLike) -> fmpq_mat:
    """`F⁺F` over ℚ, (n, n), by exact elimination; for small sizes.

    With R the non-zero rows of the reduced echelon form of F it is `Rᵀ (R Rᵀ)⁻¹ R`. Raises as `balls.exact_rows` does.

    >>> exact_projector([[1, 1]])
    [1/2, 1/2]
    [1/2, 1/2]
    """
    reduced, rank = exact_matrix(F, "F").rref()
    n = reduced.ncols()
    if not rank:
        return fmpq_mat(n, n)
    R = fmpq_mat(rank, n, [reduced[i, j] for i in range(rank) for j in range(n)])
    Rt = R.transpose()
    return Rt * (R * Rt).inv() * R


def exact_leverage(F: ArrayLike) -> Any:
    """The leverages over ℚ, a list of n Fractions that sum to the rank exactly; leading axes give an array of lists.

    >>> exact_leverage([[0.5, 0.5, 0], [0, 0, 1]])
    [Fraction(1, 2), Fraction(1, 2), Fraction(1, 1)]
    """
    if has_leading(2, F):
        return over_leading(exact_leverage, 2, F=F)
    P = exact_projector(F)
    return [_fraction(P[j, j]) for j in range(P.ncols())]


def certified_span_retention(F: ArrayLike, start: int, stop: int) -> Any:
    """Enclosures of the span's singular values at the current ball precision, and the exact sum of their squares.

    Leading axes give an object array of such pairs.

    P = F⁺F is a projector, so the squares are the eigenvalues of its block on the span, which are that block's singular
    values. Raises ValueError for a span that is not inside.

    >>> from attnproof.numeric.enclosure import precision
    >>> with precision(80):
    ...     values, total = certified_span_retention([[0.5, 0.5, 0], [0, 0, 1]], 0, 2)
    >>> values[0].contains(1), values[1].contains(0), total
    (True, True, Fraction(1, 1))
    """
    if has_leading(2, F):
        return over_leading(lambda one: certified_span_retention(one, start, stop), 2, F=F)
    P = exact_projector(F)
    check_span(start, stop, P.ncols())
    span = range(start, stop)
    block = fmpq_mat(len(span), len(span), [P[i, j] for i in span for j in span])
    with precision(2 * ctx.prec):  # a root halves the digits of a zero
        found = [s.nonnegative_part().sqrt() for s in singular_values(block)]
    total = sum((P[j, j] for j in span), fmpq(0))
    return found, _fraction(total)


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))
