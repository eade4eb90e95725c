"""Contractions: rows join columns, except where an exact zero kills the term."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
import torch.nn.functional as F
from attnproof.causal import trace
from tensor_probe import check, normal

X = normal(6, 4)
W = normal(4, 3, seed=1)
TRIL = torch.tril(normal(6, 6, seed=2))
SPARSE = normal(6, 6, seed=3) * (normal(6, 6, seed=4) > 0)
EYE = torch.eye(6, dtype=torch.float64)


def weights(x):
    return torch.tril(torch.tanh(x @ x.T))


WEIGHTS = normal(3, 4, 4, seed=9).float()
BYTES = torch.randint(-9, 9, (3, 4), generator=torch.Generator().manual_seed(0), dtype=torch.int8)
CASES = {
    "least squares": lambda x: [
        torch.linalg.lstsq(x[None], normal(1, 6, 4)).solution,
        torch.linalg.lstsq(x[:4].reshape(4, 2, 2), normal(4, 2, 1), driver="gels").solution,
    ],
    "packed": lambda x: torch._weight_int8pack_mm(x.float(), BYTES, torch.ones(3)).double(),
    "roots alone": lambda x: torch.ops.aten._linalg_eigvals(x[:4, :4]).abs().sort()[0],
    "powers": lambda x: torch.ops.aten.linalg__powsum(x, 2, [1]),
    "mm": lambda x: [x @ W, TRIL @ x, SPARSE @ x, x.T @ TRIL, x @ x.T, torch.zeros(2, 6, dtype=x.dtype) @ x],
    "two masks": lambda x: [TRIL @ torch.triu(SPARSE) @ x, torch.tril(x @ x.T) @ torch.tril(x @ x.T)],
    "bmm": lambda x: torch.bmm(TRIL[None], x[None]),
    "mv": lambda x: [TRIL @ x[:, 0], torch.dot(x[0], x[1]), torch.vdot(x[0], x[1]), torch.mv(x, W[:, 0])],
    "addmm": lambda x: [
        torch.addmm(x, TRIL, x),
        torch.addmm(x.flip(0), TRIL, x, beta=0),
        torch.addmv(x[:, 0], TRIL, x[:, 1]),
    ],
    "baddbmm": lambda x: [torch.baddbmm(x[None], TRIL[None], x[None]), torch.addbmm(x, TRIL[None], x[None])],
    "addr": lambda x: torch.addr(TRIL, x[:, 0], x[:, 1]),
    "einsum": lambda x: [torch.einsum("nd,mn->dm", x, TRIL), torch.einsum("nd,de->ne", x, W)],
    "linear": lambda x: [F.linear(x, W.T), F.linear(x.T, TRIL, normal(6))],
    "activation": lambda x: torch.ops.aten._addmm_activation(W[0], x, W),
    "int": lambda x: torch._int_mm((x * 9).to(torch.int8).repeat(4, 8), torch.ones(32, 8, dtype=torch.int8)),
    "weights times values": lambda x: weights(x) @ x,
    "cdist": lambda x: [torch.cdist(x, x), torch.cdist(x, x, compute_mode="use_mm_for_euclid_dist")],
    "cross": lambda x: [torch.linalg.cross(x[:, :3], normal(6, 3)), torch.cross(normal(1, 3), x[:, 1:], dim=1)],
    "cross over positions": lambda x: torch.linalg.cross(x[:3], x[3:], dim=0),
    "solve": lambda x: [
        torch.linalg.solve_triangular(TRIL + 3 * EYE, x, upper=False),
        torch.linalg.solve_triangular((TRIL + 3 * EYE).T, x, upper=True),
        torch.linalg.solve_triangular(weights(x) * 0.1 + 3 * EYE, x, upper=False),
    ],
    "solve right": lambda x: torch.linalg.solve_triangular(TRIL + 3 * EYE, x.T, upper=False, left=False),
    "bilinear": lambda x: [F.bilinear(x, x, WEIGHTS.double()), F.bilinear(x, X.flip(0), WEIGHTS.double())],
    "older decompositions": lambda x: [
        torch.ops.aten.cholesky(x @ x.T + 9 * EYE),
        torch.linalg.eigvals(x @ x.T + 9 * EYE).abs(),
        torch.linalg.lu(x @ x.T + 9 * EYE)[2],
        torch.lu_unpack(*torch.linalg.lu_factor(x @ x.T + 9 * EYE))[1],
        torch.linalg.ldl_solve(*torch.linalg.ldl_factor(x @ x.T + 9 * EYE), x),
        torch.linalg.householder_product(*torch.geqrf(x)),
        torch.ormqr(*torch.geqrf(x), x),
        torch.triangular_solve(x, TRIL + 3 * EYE, upper=False)[0],
    ],
    "decompositions": lambda x: [
        torch.linalg.inv(x @ x.T + 9 * EYE),
        torch.linalg.solve(TRIL + 3 * EYE, x),
        torch.linalg.cholesky(x @ x.T + 9 * EYE),
        torch.linalg.det(x @ x.T + 9 * EYE),
        torch.linalg.slogdet(x @ x.T + 9 * EYE)[1],
        torch.linalg.matrix_exp((x @ x.T).tanh()),
        torch.linalg.svdvals(x),
        torch.linalg.eigvalsh(x @ x.T),
        torch.linalg.qr(x)[1],
        torch.linalg.pinv(x),
        torch.cholesky_solve(x, TRIL + 3 * EYE),
        torch.linalg.lu_factor(x @ x.T + 9 * EYE)[0],
        torch.linalg.lu_solve(*torch.linalg.lu_factor(TRIL + 3 * EYE), x),
        torch.cholesky_inverse(torch.tril(x @ x.T) + 9 * EYE),
    ],
}
GROUPED = getattr(torch, "_grouped_mm", None)
if GROUPED is not None:
    ENDS = torch.tensor([2, 5, 6], dtype=torch.int32)
    CASES["grouped"] = lambda x: [
        GROUPED(x.float(), WEIGHTS, offs=ENDS),
        GROUPED(torch.ones(6, 4), WEIGHTS * x[1].float(), offs=ENDS),
    ]
    CASES["grouped columns"] = lambda x: GROUPED(torch.ones(4, 8), torch.cat([x, x[:2]]).float(), offs=ENDS)
LOOSE = {
    "least squares",
    "roots alone",
    "cross over positions",
    "grouped columns",
    "decompositions",
    "older decompositions",
    "int",
    "activation",
    "solve right",
    "cdist",
    "two masks",
}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


def test_zeros_of_a_parameter_count_only_when_they_are_stored():
    layer = torch.nn.Linear(6, 6, bias=False).double()
    with torch.no_grad():
        layer.weight.tril_()
    f = lambda x: layer(x.T).T  # noqa: E731
    free = trace.run(f, (X,), sequence_axis=0)
    assert free.outputs[0].along(0)[1].tolist() == [5] * 6
    assert free.parameter_zeros == ()
    stored = trace.run(f, (X,), sequence_axis=0, parameters="stored")
    assert stored.outputs[0].along(0)[1].tolist() == [0, 1, 2, 3, 4, 5]
    assert stored.parameter_zeros == ("weight",)


def test_a_mask_on_a_parameter_counts_always():
    weight = torch.nn.Parameter(normal(6, 6))
    run = check(lambda x: (weight * torch.ones(6, 6).tril()) @ x, X)
    assert run.outputs[0].along(0)[1].tolist() == [0, 1, 2, 3, 4, 5]


def test_many_distinct_columns_fall_back_to_their_join():
    from attnproof.causal.model.trace.transfer import contractions

    zero = torch.ones(9, 9).triu(1).bool().numpy()
    import numpy as np

    value = np.arange(81).reshape(9, 9).astype(np.int32)
    exact = contractions.sweep(zero, value, -1, np.maximum)
    assert exact.tolist() == np.maximum.accumulate(value, 0).tolist()
    saved = contractions.MOST_COLUMNS, contractions.MOST_WORK
    contractions.MOST_COLUMNS, contractions.MOST_WORK = 2, 2
    try:
        coarse = contractions.sweep(zero, value, -1, np.maximum)
    finally:
        contractions.MOST_COLUMNS, contractions.MOST_WORK = saved
    assert (coarse >= exact).all()


def test_a_batch_of_vectors_is_solved_with_the_batches_that_it_has():
    n = 6
    matrices = torch.eye(2).expand(n, n, 2, 2) + 0.1

    def model(x):
        solved = torch.linalg.solve(matrices, x[0])  # solved[a, b] reads x[a, b]
        mark = torch.zeros(n, 1)
        mark[0] = 1
        return (x[0].sum(1) + mark * solved[1, 0])[None]

    assert ap.check_model(model, torch.randn(1, n, n, 2)).status.name == "REFUTED"
