"""What a verdict adds for the reader: proofs about nothing, outputs that lag, and what to try when it stays open."""

from __future__ import annotations

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model.trace import Rule
from attnproof.causal.model.trace.registry import BUILT_IN
from model_checks import x
from torch import nn
from torch.nn import functional as F


def test_an_over_masked_model_is_proved_with_a_warning():
    verdict = ap.check_model(nn.Linear(4, 4), x(), sequence_axis=1)
    assert verdict.status.name == "PROVED"
    assert any("own" in r and "warning" in r for r in verdict.reasons)


def test_outputs_that_lag_behind_are_reported():
    verdict = ap.check_model(lambda x: F.pad(x, (0, 0, 3, 0))[:, :-3], x())
    assert any("last 3 positions" in r for r in verdict.reasons), verdict


def test_the_probe_shows_that_the_past_is_used():
    rules = [Rule(("aten.cumsum",), BUILT_IN["aten.cumsum"].function)]  # may look at values, so that they are computed
    verdict = ap.check_model(lambda x: x.cumsum(1), x(), rules=rules)
    assert verdict.details["probe"] == {"position": 0, "moves": list(range(8))}


def test_experts_by_groups_stay_open_with_a_remedy():
    if not hasattr(torch, "_grouped_mm"):
        pytest.skip("this PyTorch has no grouped product")
    torch.manual_seed(0)
    weights = torch.randn(2, 4, 4)

    def experts(x):
        chosen = (x[0, :, 0] > 0).long()
        order = chosen.argsort()
        ends = torch.nn.functional.one_hot(chosen, 2).sum(0).cumsum(0).int()
        y = torch._grouped_mm(x[0][order], weights, offs=ends)
        return y[order.argsort()][None]

    def gathered(x):
        return torch.einsum("btd,btde->bte", x, weights[(x[..., 0] > 0).long()])

    x = torch.randn(1, 6, 4)
    torch.testing.assert_close(experts(x), gathered(x))
    verdict = ap.check_model(experts, x, sequence_axis=1)
    assert verdict.status.name == "UNDECIDED"
    assert any("experts_implementation='batched_mm'" in r for r in verdict.reasons)
    assert ap.check_model(gathered, x, sequence_axis=1).status.name == "PROVED"


def test_chosen_rows_that_are_asked_for_stay_open_with_a_remedy():
    def experts(x, asks):
        h = x[0]
        mask, out = h[:, 0] > 0, torch.zeros_like(h)
        if not asks or mask.any():
            out[mask] = h[mask].tanh()
        return out[None]

    x = torch.randn(1, 6, 4)
    verdict = ap.check_model(lambda x: experts(x, True), x, sequence_axis=1)
    assert verdict.status.name == "UNDECIDED"
    assert any("without `if mask.any()`" in r for r in verdict.reasons), verdict
    assert ap.check_model(lambda x: experts(x, False), x, sequence_axis=1).status.name == "PROVED"
