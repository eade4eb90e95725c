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
