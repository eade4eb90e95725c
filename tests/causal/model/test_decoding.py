"""Decoding with a cache against the full pass."""

from __future__ import annotations

from dataclasses import dataclass

import attnproof as ap
from needs import need

torch = need("torch")
from model_checks import x
from torch import nn


class Cached(nn.Module):
    """A running mean with a cache of transformers' shape; `bug` counts the cached positions wrongly."""

    def __init__(self, bug=0):
        super().__init__()
        self.bug = bug

    def forward(self, x, past_key_values=None, use_cache=False):
        total, count = past_key_values if past_key_values is not None else (torch.zeros_like(x[:, :1]), 0)
        sums = total + x.cumsum(1)
        ends = torch.arange(1, x.shape[1] + 1)[:, None] + count
        return Output(sums / ends, (sums[:, -1:], count + x.shape[1] + (self.bug if count + x.shape[1] >= 5 else 0)))


@dataclass
class Output:
    logits: torch.Tensor
    past_key_values: tuple


def test_decoding_with_a_cache_is_compared_with_the_full_pass():
    verdict = ap.check_model(Cached(), x())
    assert verdict.status.name == "PROVED", verdict
    assert any("past_key_values agrees with the full pass" in e.detail for e in verdict.evidence)
    wrong = ap.check_model(Cached(bug=1), x())
    assert any("first differs from the full pass at position 5" in r for r in wrong.reasons), wrong
    assert any(e.ok is False for e in wrong.evidence)


def test_recurrent_state_is_compared_with_the_full_pass():
    verdict = ap.check_model(nn.LSTM(4, 4, batch_first=True), x(100))
    assert any("its hidden state agrees with the full pass" in e.detail for e in verdict.evidence), verdict
