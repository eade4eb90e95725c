"""Contractions (see `transfer.contractions`)."""

from __future__ import annotations

from typing import Any

from ..domain import Shadow, coarsen
from ..records import BY_VALUES
from ..registry import names, rule
from ..transfer import contractions as transfer
from ..transfer.reductions import reduced, whole


@rule(
    "aten.mm",
    "aten.bmm",
    "aten.mv",
    "aten.dot",
    "aten.vdot",
    "aten._int_mm",
    fails="never",
    sees_sign=False,
    layout="rows",
)
def product(call: Any) -> Shadow:
    """a @ b."""
    first, second = call.operands()[:2] if len(call.operands()) > 1 else call.operands() * 2
    return transfer.matrix_product(call, first, second, tuple(call.value.shape))


@rule(
    "aten.addmm", "aten.baddbmm", "aten.addmv", "aten._addmm_activation", "aten.addbmm", "aten.addr",
    fails="never", sees_sign=False, layout="rows",
)  # fmt: skip
def add_product(call: Any) -> Shadow:
    """β · bias + α · a @ b."""
    bias, a, b = (call[name] for name in list(call.info.positions)[:3])
    shape = tuple(call.value.shape)
    if call.name == "aten.addr":
        p = transfer.outer(a.shadow, b.shadow, shape)
    elif call.name == "aten.addbmm":
        p = reduced(transfer.matrix_product(call, a, b, (a.shape[0], *shape)), (0,), shape)
    else:
        p = transfer.matrix_product(call, a, b, shape)
    beta = call["beta"] if call.has("beta") else 1
    result = transfer.plus(p, bias, beta, call.value.dtype.is_floating_point)
    return coarsen(result) if call.name == "aten._addmm_activation" else result


@rule("aten._grouped_mm", fails="never", sees_sign=False, layout="rows")
def grouped(call: Any) -> Shadow:
    """Rows of one matrix times the matrices of their groups; other layouts join everything."""
    operands, shape = call.operands(), tuple(call.value.shape)
    rows, *others = (o.shadow for o in operands)
    if len(rows.shape) != 2 or len(others[0].shape) != 3:
        return whole(shape, (rows, *others))
    return transfer.grouped(rows, others, shape)


@rule(
    *names("_weight_int8pack_mm _weight_int4pack_mm_for_cpu _dyn_quant_matmul_4bit _scaled_mm"),
    fails="any", sees_sign=False, layout="rows",
)  # fmt: skip
def packed(call: Any) -> Shadow:
    """Rows times a matrix of packed numbers, with its scales."""
    rows, *others = (o.shadow for o in call.operands())
    return transfer.grouped(rows, others, tuple(call.value.shape))


@rule(
    "aten.linear", "aten.mkldnn_linear", "mkl._mkl_linear", "mkldnn._linear_pointwise",
    fails="never", sees_sign=False, layout="rows",
)  # fmt: skip
def linear(call: Any) -> Shadow:
    """x Wᵀ + b."""
    x, w, *bias = call.operands()
    real = call.value.dtype.is_floating_point
    return transfer.linear(call, x, w, bias[0] if bias else None, tuple(call.value.shape), real)


@rule("aten._cdist_forward", "aten._euclidean_dist", fails="never", sees_sign=False)
def distances(call: Any) -> Shadow:
    """The distance of each row of one from each row of the other."""
    a, b = call.operands()
    return transfer.distances(a.shadow, b.shadow, tuple(call.value.shape))


@rule("aten._trilinear", fails="never", sees_sign=False)
def trilinear(call: Any) -> Shadow:
    """A sum of products of three, each with axes put in along which it is the same."""
    return transfer.trilinear(
        [call[f"i{i}"].shadow for i in (1, 2, 3)],
        [call[f"expand{i}"] for i in (1, 2, 3)],
        call["sumdim"],
        tuple(call.value.shape),
    )


@rule("aten.linalg_cross", fails="never", sees_sign=False)
def cross(call: Any) -> Shadow:
    """The cross product of the vectors of three numbers along one axis."""
    shape = tuple(call.value.shape)
    return transfer.cross([o.shadow for o in call.operands()], call["dim"] % len(shape), shape)


@rule("aten.linalg_solve_triangular", fails="never", sees_sign=False)
def solve_triangular(call: Any) -> Any:
    """Substitution from the left; from the right every number reads whole matrices."""
    if not call["left"]:
        return decomposition(call)
    return transfer.substitution(call["self"].shadow, call["B"].shadow, call["upper"], tuple(call.value.shape))


DECOMPOSITIONS = names(
    """
    linalg_inv_ex _linalg_solve_ex linalg_cholesky_ex linalg_qr _linalg_svd _linalg_eigh linalg_pinv linalg_lu_factor_ex
    linalg_lu_solve _linalg_det linalg_matrix_exp _linalg_slogdet cholesky_solve cholesky_inverse cholesky linalg_eig
    linalg_lu lu_unpack linalg_ldl_factor_ex linalg_ldl_solve geqrf linalg_householder_product ormqr triangular_solve
    _linalg_eigvals
    """
)


@rule(*DECOMPOSITIONS, fails="any", sees_sign=False, layout="own")
def decomposition(call: Any) -> Any:
    """Each number of a decomposition reads the whole matrix (batches stay apart)."""
    shadows = [o.shadow for o in call.operands()]
    if isinstance(call.value, (tuple, list)):
        outputs = (v for v in call.value if hasattr(v, "shape"))
        return tuple(transfer.whole_matrices(shadows, tuple(v.shape)) for v in outputs)
    return transfer.whole_matrices(shadows, tuple(call.value.shape))


@rule("aten.linalg_lstsq", fails="any", sees_sign=False, layout="own", shaped_by="driver")
def least_squares(call: Any) -> Any:
    """Whole matrices; two drivers tell how well the solution fits only where the matrix has full rank."""
    if call["driver"] in ("gelsd", "gelss"):
        call.ledger.read(f"{call.name} {BY_VALUES}", [call["self"].shadow])
    return decomposition(call)
