"""Softmax and norms: rows, −∞, large finite numbers, starved rows."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
import torch.nn.functional as F
from attnproof.causal import trace
from tensor_probe import check, normal

X = normal(6, 4)
C = normal(6, 6, seed=1)
FUTURE = torch.ones(6, 6).triu(1).bool()
HIDE = torch.zeros(6, 6, dtype=torch.float64).masked_fill(FUTURE, -torch.inf)
ONE, TWO = normal(4, seed=2), normal(4, seed=3)


def scores(x):
    return x @ x.T


def by_hand(s):
    e = (s - s.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


CASES = {
    "softmax": lambda x: [x.softmax(1), x.softmax(0)],
    "masked softmax": lambda x: (scores(x) + HIDE).softmax(1) @ x,
    "filled softmax": lambda x: scores(x).masked_fill(FUTURE, -torch.inf).softmax(1) @ x,
    "selected softmax": lambda x: (
        torch.where(FUTURE, torch.tensor(-torch.inf, dtype=x.dtype), scores(x)).softmax(1) @ x
    ),
    "softmax by hand": lambda x: by_hand(scores(x) + HIDE) @ x,
    "masked after": lambda x: (scores(x).softmax(1) * ~FUTURE) @ x,
    "masked exponentials": lambda x: (scores(x).exp() * ~FUTURE) @ x / (scores(x).exp() * ~FUTURE).sum(1, keepdim=True),
    "log softmax": lambda x: (scores(x) + HIDE).log_softmax(1).exp() @ x,
    "layer norm": lambda x: [F.layer_norm(x, (4,)), F.layer_norm(x, (4,), ONE, TWO), F.layer_norm(x, (6, 4))],
    "derivatives of softmax": lambda x: [
        torch.ops.aten._softmax_backward_data(x, X.softmax(1), 1, x.dtype),
        torch.ops.aten._log_softmax_backward_data(X, x, -1, x.dtype),
    ],
    "renorm": lambda x: torch.renorm(x, 2, 0, 0.5),
    "rms norm": lambda x: F.rms_norm(x, (4,), ONE),
    "group norm": lambda x: F.group_norm(x.T[None], 2, ONE, TWO),
    "instance norm": lambda x: F.instance_norm(x.T[None]),
    "batch norm": lambda x: F.batch_norm(x.T[None], ONE.clone(), TWO.abs() + 1, ONE, TWO),
    "batch norm training": lambda x: F.batch_norm(x.T[None], None, None, ONE, TWO, training=True),
    "batch norm of rows": lambda x: F.batch_norm(x, ONE.clone(), TWO.abs() + 1, training=True),
    "legit": lambda x: list(
        torch.ops.aten._native_batch_norm_legit(x.T[None], None, None, ONE.clone(), TWO.abs(), True, 0.1, 1e-5)
    ),
    "no stats": lambda x: list(
        torch.ops.aten._native_batch_norm_legit.no_stats(x.T[None], None, None, True, 0.1, 1e-5)
    ),
    "no training": lambda x: torch.ops.aten._native_batch_norm_legit_no_training(
        x.T[None], None, None, ONE, TWO.abs(), 0.1, 1e-5
    )[0],
    "no update": lambda x: torch.ops.aten._batch_norm_no_update(x.T[None], None, None, ONE, TWO.abs(), 0.1, 1e-5)[0],
    "with update": lambda x: torch.ops.aten._batch_norm_with_update(
        x.T[None], None, None, ONE.clone(), TWO.abs(), 0.1, 1e-5
    )[0],
    "normalize": lambda x: F.normalize(x, dim=1),
    "a scalar": lambda x: [x[0, 0].softmax(0) + x[0, 0], x[0, 0].log_softmax(0) + x[0, 0]],
}
LOOSE = {"softmax by hand", "masked softmax", "filled softmax", "selected softmax", "log softmax", "softmax"}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)


def test_running_statistics_become_data():
    mean, var = torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)

    def f(x):
        F.batch_norm(x.T[None], mean, var, training=True)
        return mean + 0

    assert trace.run(f, (X,), sequence_axis=0).outputs[0].along(0)[1].tolist() == [5] * 4


@pytest.mark.parametrize("value", [-1e9, -1e4, torch.finfo(torch.float64).min])
@pytest.mark.parametrize("softmax", [lambda s: s.softmax(-1), by_hand, lambda s: s.log_softmax(-1).exp()])
@pytest.mark.parametrize("how", ["add", "fill"])
def test_a_finite_mask_counts_under_a_condition(value, softmax, how):
    def f(x):
        s = scores(x)
        s = s.masked_fill(FUTURE, value) if how == "fill" else s + torch.zeros_like(s).masked_fill(FUTURE, value)
        return softmax(s) @ x

    run = trace.run(f, (X,), sequence_axis=0)
    assert run.outputs[0].along(0)[1].tolist() == [0, 1, 2, 3, 4, 5]
    assert {c.kind for c in run.conditions} == {"finite-mask"}
    assert "746" in run.conditions[0].text
    strict = trace.run(f, (X,), sequence_axis=0, finite_masks=False)
    assert not strict.conditions
    assert strict.outputs[0].along(0)[1].tolist()[0] == 5 or how == "fill"


def test_a_row_masked_by_a_finite_number_throughout_attends_to_everything():
    mask = torch.zeros(6, 6, dtype=torch.float64).masked_fill(torch.ones(6, 6).triu(0).bool(), -1e9)
    run = trace.run(lambda x: (scores(x) + mask).softmax(-1) @ x, (X,), sequence_axis=0)
    assert run.outputs[0].along(0)[1].tolist() == [5, 0, 2, 3, 4, 5]


def test_a_mask_that_is_too_weak_is_no_mask():
    soft = torch.zeros(6, 6, dtype=torch.float64).masked_fill(FUTURE, -120.0)
    run = trace.run(lambda x: (30 * scores(x) + soft).softmax(-1) @ x, (X,), sequence_axis=0, values=True)
    assert run.outputs[0].along(0)[1].max() == 5
    assert run.outputs[0].along(0)[1][0] == 5


def test_starved_rows_are_named():
    strict = torch.zeros(6, 6, dtype=torch.float64).masked_fill(torch.ones(6, 6).triu(0).bool(), -torch.inf)
    run = trace.run(lambda x: (scores(x) + strict).softmax(-1).nan_to_num() @ x, (X,), sequence_axis=0)
    assert [row for _, row in run.starved] == [0]


def test_a_row_of_float16_is_summed_in_float32():
    """At 19 below, every masked weight is 0 in float16, and still the visible ones move: the condition asks for 104."""
    torch.manual_seed(0)
    moved = 0
    for _ in range(100):
        row = torch.cat([torch.rand(8) * 3, torch.zeros(4088)]).half()
        row[8:] = row[:8].max() - 19
        hidden = torch.cat([row[:8], torch.full((4088,), -6e4).half()])
        assert not row.softmax(0)[8:].any()
        moved += not torch.equal(row.softmax(0)[:8], hidden.softmax(0)[:8])
    assert moved
    mask = torch.full((8, 8), -6e4).half().triu(1)
    verdict = ap.check_model(lambda x: ((x @ x.mT).half() + mask).softmax(-1).float() @ x, torch.randn(1, 8, 2))
    assert verdict.status.name == "PROVED_IF"
    assert "by more than 104 (float16)" in verdict.conditions[0].text
