"""What a failing assertion about a model says, and how it is accepted or suppressed."""

from __future__ import annotations

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from model_checks import Attention, upper, x
from torch import nn


def test_assert_causal_names_layer_pair_values_and_what_to_look_at():
    layer = nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 4, batch_first=True, bidirectional=True))
    with pytest.raises(ap.PrefixLeakError) as caught:
        ap.assert_causal(layer, x())
    said = str(caught.value)
    w = caught.value.verdict.witness
    assert f"output {w.query} ← input {w.position}" in said
    assert "becomes" in said
    assert "enters at 1: " in said
    assert "look at" in said


def test_assert_causal_accepts_and_suppresses():
    assert ap.assert_causal(nn.GRU(4, 4, batch_first=True), x())
    finite = Attention(lambda s: s.masked_fill(upper(s), -1e9))
    with pytest.raises(ap.NotProvedError, match="provided"):
        ap.assert_causal(finite, x())
    assert ap.assert_causal(finite, x(), accept=("PROVED", "PROVED_IF")).status.name == "PROVED_IF"
    assert ap.assert_causal(finite, x(), suppress="scores are bounded by a norm").suppressed
    with pytest.raises(ap.NotProvedError, match="reads a value"):
        ap.assert_causal(lambda x: x * 2 if bool(x[0, -1, 0] > 100) else x, x())
