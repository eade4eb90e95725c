"""A fixed sample of the sweep over transformers: one class for each kind of program that it taught the checker."""

from __future__ import annotations

from by_path import benchmark
from needs import need

torch = need("torch")
need("transformers")

import attnproof as ap
import pytest

sweep = benchmark("transformers_sweep")

SAMPLE = {
    "MixtralForCausalLM": "PROVED_IF",  # experts: rows sorted, multiplied in groups and put back
    "Qwen2MoeForCausalLM": "PROVED_IF",
    "DeepseekV3ForCausalLM": "PROVED_IF",
    "Ernie4_5_MoeForCausalLM": "PROVED_IF",  # indices of a choice cannot fail
    "GptOssForCausalLM": "PROVED_IF",  # sinks, shifted by the largest score
    "RoFormerForCausalLM": "PROVED_IF",  # a truth value that steers a warning
    "DeepseekV32ForCausalLM": "PROVED_IF",  # keys that each query picks
    "MambaForCausalLM": "PROVED",
}


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_of_public_models_is_decided(name):
    model = sweep.model_of(name)
    tokens = torch.randint(3, sweep.VOCABULARY, (1, sweep.POSITIONS))
    verdict = ap.check_model(lambda x: sweep.logits(model, x), tokens, vocabulary=sweep.VOCABULARY)
    assert verdict.status.name == SAMPLE[name]


def test_tokens_beyond_an_experts_capacity_leak():
    """The twin: each expert takes the best of its tokens only."""
    model = sweep.model_of("MixtralForCausalLM")
    for layer in model.model.layers:
        gate = layer.mlp.gate
        gate.register_forward_hook(lambda _, given, out: (out[0], _within_capacity(out[1], out[2]), out[2]))
    tokens = torch.randint(3, sweep.VOCABULARY, (1, sweep.POSITIONS))
    verdict = ap.check_model(lambda x: sweep.logits(model, x), tokens, vocabulary=sweep.VOCABULARY)
    assert verdict.status.name == "REFUTED"


def _within_capacity(weights, chosen, capacity=3):
    """0 for a token that is not among the best of the expert that it chose."""
    kept = torch.zeros_like(weights)
    for expert in range(4):
        score = torch.where(chosen == expert, weights, -1.0).flatten()
        best = score.topk(capacity).indices
        kept = kept + torch.zeros_like(score).scatter(0, best, 1.0).view_as(kept) * (chosen == expert)
    return weights * kept


def test_the_page_counts_first_and_cuts_no_word():
    """Conditions stand once, with the places where they must hold; a refutation names operation, line and module."""
    row = {"seconds": 1.0, "forwards": 5, "reasons": [], "conditions": [], "replays": True, "blame": None}
    entry = {"operation": "aten.sum", "line": "/a/models/m.py:7", "module": "layers.0", "detail": ""}
    masks = [
        "in aten._softmax at /x/models/n.py:12 (layers.1) and another place, every score is small; the mask adds -1"
    ]
    read = "the program reads a value that depends on the input: Tensor.__bool__() in gate (/x/models/m.py:3)"
    table = {
        "A": row | {"verdict": "PROVED"},
        "B": row | {"verdict": "PROVED_IF", "conditions": masks},
        "C": row | {"verdict": "REFUTED", "blame": entry},
        "D": row | {"verdict": "UNDECIDED", "reasons": [read + ", and goes on through mm"]},
        "E": {"verdict": "ERROR", "error": "ValueError: " + "words " * 60},
    }
    text = sweep.page(table, "9.9", 12, sweep.wrong)
    order = [text.index(part) for part in ("| all | 5 |", "## Refuted", "## Undecided", "## Not run", "## Proved\n")]
    assert order == sorted(order)
    assert "| C | 1.0 | `sum` at `m.py:7` in `layers.0` |" in text
    assert r"| D | 1.0 | 5 | the program reads a value that depends on the input: Tensor.\_\_bool\_\_() in gate" in text
    assert "If every score is small:\n" in text
    assert "| B | 1.0 | `_softmax` at `n.py:12` in `layers.1` and another place |" in text
    assert "words …" in text
    assert "Brute force contradicts 0" in text
