"""Reductions: every element along the axes counts."""

from __future__ import annotations

from needs import need

torch = need("torch")

import pytest
from tensor_probe import check, normal

X = normal(6, 4)
MASK = normal(6, 4, seed=1) > 0
CASES = {
    "sum": lambda x: [x.sum(1), x.sum(0, keepdim=True), x.sum(), (x * MASK).sum(1)],
    "mean": lambda x: [x.mean(1), x.mean(), x.mean((0, 1), keepdim=True)],
    "prod": lambda x: [x.prod(1), x.prod()],
    "var": lambda x: [x.var(1), torch.var_mean(x, 1)[0], torch.var_mean(x, 1)[1], x.std(1), *torch.std_mean(x, 1)],
    "amax": lambda x: [x.amax(1), x.amin(1), x.amax(), torch.aminmax(x, dim=1)],
    "max": lambda x: [x.max(1)[0], x.min(1)[0], x.max(), x.min()],
    "max index": lambda x: [x.max(1)[1], x.argmax(1), x.argmin(1), x.argmax()],
    "max of two": lambda x: torch.max(x, x.flip(0)),
    "logsumexp": lambda x: [torch.logsumexp(x, 1), torch.logsumexp(x.masked_fill(MASK, -torch.inf), 0)],
    "any": lambda x: [(x > 0).any(1), (x > 0).all(1), (x > 0).any(), torch.count_nonzero(x > 0, 1)],
    "norm": lambda x: [x.norm(dim=1), torch.linalg.vector_norm(x, 1, dim=1), torch.dist(x, X[:1]), x.norm()],
    "median": lambda x: [x.median(1)[0], x.nanmedian(1)[0], x.kthvalue(2, 1)[0], x.mode(1)[0], x.median()],
    "trace": lambda x: torch.trace(x[:4]),
    "nansum": lambda x: x.nansum(1),
    "a scalar": lambda x: [x[0, 0].sum(), x[0, 0].amax(0), torch.logsumexp(x[0, 0], 0)],
    "hash": lambda x: torch.ops.aten.hash_tensor(x),
    "norm op": lambda x: torch.ops.aten.norm.ScalarOpt_dim(x, 2, [1]),
}
LOOSE = {"max index", "any", "median", "amax", "max", "max of two", "hash", "prod", "a scalar"}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


@pytest.mark.parametrize("largest", [lambda s: s.amax(1), lambda s: s.max(1)[0]], ids=["amax", "max"])
def test_a_masked_score_leaves_the_maximum_alone_when_another_is_visible(largest):
    low = torch.zeros(6, 4, dtype=torch.float64).masked_fill(MASK, -1e9)
    low[:, 0] = 0

    def f(x):
        return largest((x + x.flip(0) * 0 + low).T)

    run = check(f, X, exact=False)
    assert [c.kind for c in run.conditions] == ["finite-mask"]
    assert not check(f, X, exact=False, finite_masks=False).conditions
