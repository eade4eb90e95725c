"""Contractions: out[i, j] = Σ_k a[i, k] b[k, j].

The output joins a's row i and b's column j, except for the terms that an exact zero kills: b[k, j] is read only where
a[i, k] is not 0, and a[i, k] only where b[k, j] is not 0. The two halves separate, because a zero has an empty interval
itself; so a causal mask among the weights costs one pass over the mask, not a triple loop.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

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
    join_all,
    kinds_from,
    reshape,
    uniform,
)
from ..registry import names, rule
from ..transfer.elementwise import assemble, total

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
        return np.where(zero, blank, reduce.reduce(value, axis=-2, keepdims=True))
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
    return reduce.reduce(np.where(zero, blank, np.swapaxes(value, -1, -2)), axis=-1, keepdims=True)  # type: ignore[no-any-return]


def contract(call: Any, a: Any, b: Any, x: Shadow, y: Shadow) -> tuple[Array, Array, Array]:
    """lo, hi, kind of the product of x (…, i, k) and y (…, k, j); the operands are told when their zeros count."""
    zx, zy = x.kind == ZERO, y.kind == ZERO
    for zero, killer, killed, s in ((zx, a, b, y), (zy, b, a, x)):
        if zero.any() and s.kind.min() < FIXED:
            call.zeros_used(killer)
            call.must_be_finite(killed)
    zy_t = np.swapaxes(zy, -1, -2)

    def both(p: Array, q: Array, empty: int, reduce: np.ufunc) -> Array:
        from_y = sweep(zx, q, empty, reduce)
        from_x = np.swapaxes(sweep(zy_t, np.swapaxes(p, -1, -2), empty, reduce), -1, -2)
        return reduce(from_y, from_x)  # type: ignore[no-any-return]

    lo = both(x.lo, y.lo, NONE_LO, np.minimum)
    hi = both(x.hi, y.hi, NONE_HI, np.maximum)
    loose = both((x.kind < FIXED).astype(np.uint8), (y.kind < FIXED).astype(np.uint8), 0, np.maximum)
    kind = kinds_from(loose == 0)
    if zx.any() or zy.any():
        nothing = zx.all(-1, keepdims=True) | zy.all(-2, keepdims=True)
        kind = np.where(nothing, np.uint8(ZERO), kind)
    positive = (x.kind == POSITIVE).all(-1, keepdims=True) & (y.kind == POSITIVE).all(-2, keepdims=True)
    kind = np.where(positive & (kind == VARIES), np.uint8(POSITIVE), kind)
    return lo, hi, kind


def matrix_product(call: Any, a: Any, b: Any, shape: tuple[int, ...]) -> Shadow:
    """The shadow of a @ b; vectors count as matrices of one row or column."""
    x, y = _maybe_known(a), _maybe_known(b)
    if len(x.shape) == 1:
        x = reshape(x, (1, *x.shape))
    if len(y.shape) == 1:
        y = reshape(y, (*y.shape, 1))
    if x.shape[-1] == 0:
        return uniform(shape, ZERO)
    axes = max(len(x.shape), len(y.shape))
    x = Shadow(x.shape, align(x.lo, axes), align(x.hi, axes), align(x.kind, axes))
    y = Shadow(y.shape, align(y.lo, axes), align(y.hi, axes), align(y.kind, axes))
    lo, hi, kind = contract(call, a, b, x, y)
    full = (*np.broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1])
    full = (1,) * (axes - len(full)) + full
    result = assemble(full, *(compress(v) if v.size < 1 << 16 else v for v in (lo, hi, kind)))
    return reshape(result, shape)


def _maybe_known(operand: Any) -> Shadow:
    """The operand's shadow, its constants looked at when there are any."""
    shadow: Shadow = operand.known()
    return shadow


def plus(call: Any, product: Shadow, bias: Any, beta: Any) -> Shadow:
    """product + β · bias; with β = 0 the bias is not even read."""
    if beta == 0 or bias is None:
        return product
    s = bias.known()
    real = call.value.dtype.is_floating_point and not isinstance(beta, complex) and beta >= 1
    return total(product, s, product.shape, real)


@rule("aten.mm", "aten.bmm", "aten.mv", "aten.dot", "aten.vdot", "aten._int_mm", fails="never", sees_sign=False)
def product(call: Any) -> Shadow:
    """a @ b."""
    first, second = call.operands()[:2] if len(call.operands()) > 1 else call.operands() * 2
    return matrix_product(call, first, second, tuple(call.value.shape))


@rule(
    "aten.addmm", "aten.baddbmm", "aten.addmv", "aten._addmm_activation", "aten.addbmm", "aten.addr",
    fails="never", sees_sign=False,
)  # fmt: skip
def add_product(call: Any) -> Shadow:
    """β · bias + α · a @ b."""
    bias, *rest = (call[name] for name in list(call.info.positions)[:3])
    shape = tuple(call.value.shape)
    beta = call["beta"] if call.has("beta") else 1
    if call.name == "aten.addr":
        a, b = rest
        lo, hi = _outer([a.shadow.lo, b.shadow.lo], np.minimum), _outer([a.shadow.hi, b.shadow.hi], np.maximum)
        fixed = _outer([a.shadow.kind >= FIXED, b.shadow.kind >= FIXED], np.logical_and)
        return plus(call, assemble(shape, lo, hi, kinds_from(fixed)), bias, beta)
    if call.name == "aten.addbmm":
        p = matrix_product(call, rest[0], rest[1], (rest[0].shape[0], *shape))
        from .reductions import reduced

        return plus(call, reduced(p, (0,), shape), bias, beta)
    result = plus(call, matrix_product(call, rest[0], rest[1], shape), bias, beta)
    if call.name == "aten._addmm_activation":
        return Shadow(shape, result.lo, result.hi, kinds_from(result.kind >= FIXED))
    return result


@rule("aten._grouped_mm", fails="never", sees_sign=False)
def grouped(call: Any) -> Shadow:
    """Rows of one matrix times the matrices of their groups: row i reads itself, all weights and all group ends."""
    a, *others = call.operands()
    shape = tuple(call.value.shape)
    if len(a.shape) != 2 or len(others[0].shape) != 3:
        others = [a, *others]
    lo, hi = join_all(o.shadow for o in others)
    fixed = all(o.shadow.is_fixed for o in call.operands())
    result = uniform(shape, FIXED if fixed else VARIES, lo, hi)
    if others[0] is a:
        return result
    rows = a.shadow.lo.min(-1, keepdims=True), a.shadow.hi.max(-1, keepdims=True)
    return assemble(shape, np.minimum(result.lo, rows[0]), np.maximum(result.hi, rows[1]), result.kind)


def _outer(pair: list[Array], reduce: Any) -> Array:
    result: Array = reduce(pair[0][:, None], pair[1][None, :])
    return result


@rule(
    "aten.linear", "aten.mkldnn_linear", "mkl._mkl_linear", "mkldnn._linear_pointwise", fails="never", sees_sign=False
)
def linear(call: Any) -> Shadow:
    """x Wᵀ + b."""
    operands = call.operands()
    x, w = operands[0], operands[1]
    s, v = x.known(), w.known()
    axes = max(2, len(s.shape))
    vt = Shadow(
        tuple(reversed(v.shape)), *(align(np.swapaxes(a, -1, -2), axes) for a in (v.lo, v.hi, v.kind))
    )  # (in, out)
    s2 = s if len(s.shape) > 1 else reshape(s, (1, *s.shape))
    lo, hi, kind = contract(call, x, w, s2, vt)
    shape = tuple(call.value.shape)
    result = reshape(assemble((*s2.shape[:-1], v.shape[0]), lo, hi, kind), shape)
    return plus(call, result, operands[2], 1) if len(operands) > 2 else result


@rule("aten._cdist_forward", "aten._euclidean_dist", fails="never", sees_sign=False)
def distances(call: Any) -> Shadow:
    """The distance of row i of one from row j of the other joins both rows."""
    a, b = call.operands()
    axes = len(call.value.shape)
    parts = []
    for x, y, reduce in (
        (a.shadow.lo, b.shadow.lo, np.minimum),
        (a.shadow.hi, b.shadow.hi, np.maximum),
        (a.shadow.kind >= FIXED, b.shadow.kind >= FIXED, np.logical_and),
    ):
        p = reduce.reduce(align(x, axes), axis=-1, keepdims=True)
        q = np.swapaxes(reduce.reduce(align(y, axes), axis=-1, keepdims=True), -1, -2)
        parts.append(reduce(p, q))
    return assemble(tuple(call.value.shape), parts[0], parts[1], kinds_from(parts[2]))


@rule("aten.linalg_solve_triangular", fails="never", sees_sign=False)
def solve_triangular(call: Any) -> Any:
    """Forward substitution: row i of the solution reads rows 0…i of the right side and of the lower triangle."""
    if not call["left"]:
        return _whole_matrices(call)
    a, b = call["self"].shadow, call["B"].shadow
    shape = tuple(call.value.shape)
    axes = len(shape)
    n = a.shape[-1]
    upper = call["upper"]
    inside = np.tri(n, n, 0, bool)
    inside = inside.T if upper else inside
    parts = []
    for x, y, empty, reduce in ((a.lo, b.lo, NONE_LO, np.minimum), (a.hi, b.hi, NONE_HI, np.maximum)):
        rows = reduce.reduce(np.where(inside, align(x, axes), RANK(empty)), axis=-1, keepdims=True)
        joined = np.array(
            np.broadcast_to(reduce(rows, align(y, axes)), np.broadcast_shapes(rows.shape, align(y, axes).shape))
        )
        parts.append(reduce.accumulate(joined[..., ::-1, :] if upper else joined, axis=-2))
    if upper:
        parts = [p[..., ::-1, :] for p in parts]
    fixed = bool((a.kind >= FIXED).all() and (b.kind >= FIXED).all())
    return assemble(shape, parts[0], parts[1], kinds_from(np.full((1,) * axes, fixed)))


DECOMPOSITIONS = names(
    """
    linalg_inv_ex _linalg_solve_ex linalg_cholesky_ex linalg_qr _linalg_svd _linalg_eigh linalg_pinv linalg_lu_factor_ex
    linalg_lu_solve _linalg_det linalg_matrix_exp _linalg_slogdet cholesky_solve cholesky_inverse
    """
)


@rule(*DECOMPOSITIONS, fails="any", sees_sign=False)
def _whole_matrices(call: Any) -> Any:
    """Each number of a decomposition reads the whole matrix (batches stay apart)."""
    outputs = list(call.value) if isinstance(call.value, (tuple, list)) else [call.value]
    operands = call.operands()
    # Operands of different ranks (a batch of vectors in linalg.solve) line their batches up in another way: join all.
    ranks = {len(o.shape) for o in operands}
    lead = np.broadcast_shapes(*(o.shape[:-2] for o in operands)) if len(ranks) == 1 and min(ranks) >= 2 else None
    results = []
    for value in outputs:
        if not hasattr(value, "shape"):
            continue
        shape = tuple(value.shape)
        if lead is None or shape[: len(lead)] != lead:
            lo, hi = min(int(o.shadow.lo.min()) for o in operands), max(int(o.shadow.hi.max()) for o in operands)
            fixed = all(o.shadow.is_fixed for o in operands)
            results.append(uniform(shape, FIXED if fixed else VARIES, lo, hi))
            continue
        axes = len(lead)
        lo_, hi_, fixed_ = None, None, None
        for o in operands:
            s = o.shadow
            p = align(s.lo.min((-1, -2)), axes)
            q = align(s.hi.max((-1, -2)), axes)
            r = align((s.kind >= FIXED).all((-1, -2)), axes)
            lo_ = p if lo_ is None else np.minimum(lo_, p)
            hi_ = q if hi_ is None else np.maximum(hi_, q)
            fixed_ = r if fixed_ is None else fixed_ & r
        tail = (1,) * (len(shape) - axes)
        assert lo_ is not None
        assert hi_ is not None
        parts = [v.reshape(v.shape + tail) for v in (lo_, hi_, kinds_from(fixed_))]
        results.append(assemble(shape, *parts))
    return tuple(results) if isinstance(call.value, (tuple, list)) else results[0]
