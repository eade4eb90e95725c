"""Refutation by replay, where only parameters that are moved a little open the leak."""

from __future__ import annotations

import attnproof as ap
from needs import need

torch = need("torch")
from model_checks import x
from torch import nn
from torch.nn import functional as F


def test_a_jittered_witness_refutes_only_where_stored_values_prove_nothing():
    """ReLU(−1 + tiny·x) is dead at the stored weights, no abstract zero shows it, and training opens it."""
    dead = nn.Linear(4, 4)
    with torch.no_grad():
        dead.weight.mul_(1e-3)
        dead.bias.fill_(-0.1)
    verdict = ap.check_model(lambda x: x + F.relu(dead(x)).flip(1), x(), parameters="any")
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.setting.jitter > 0


class TooWeak(nn.Module):
    """Attention under a mask of −100, which leaves weights for what is masked."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.q, self.k = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        hidden = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        return (self.q(x) @ self.k(x).mT).masked_fill(hidden, -100.0).softmax(-1) @ x


def test_a_mask_that_is_too_weak_is_overcome_by_larger_inputs():
    verdict = ap.check_model(TooWeak(), torch.randn(1, 6, 4, generator=torch.Generator().manual_seed(0)))
    assert verdict.status.name == "REFUTED", verdict
    assert verdict.witness.replay()
