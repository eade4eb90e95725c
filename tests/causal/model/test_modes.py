"""Modes, training or not: each is checked, and every run is undone."""

from __future__ import annotations

import attnproof as ap
from needs import need

torch = need("torch")
from model_checks import status, x
from torch import nn


def test_batch_statistics_leak_in_training_only():
    norm = nn.BatchNorm1d(4)
    norm.eval()
    model = nn.Sequential(nn.Linear(4, 4), nn.Flatten(0, 1), norm, nn.Unflatten(0, (1, 8)))
    assert status(model, x(), sequence_axis=1) == "PROVED"
    verdict = ap.check_model(model, x(), modes=("eval", "train"))
    assert verdict.status.name == "REFUTED"
    assert [r["status"] for r in verdict.details["runs"]] == ["PROVED", "REFUTED"]
    assert "train mode" in verdict.witness.describe()
    assert verdict.witness.replay()
    assert not norm.training
    assert torch.equal(norm.running_mean, torch.zeros(4))  # every run was undone
    assert int(norm.num_batches_tracked) == 0
    assert any("2.running_mean" in r for r in verdict.reasons)
