"""A model as a pure function of one sequence: its noise is seeded, whatever it is wrapped in."""

from __future__ import annotations

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from model_checks import status, x
from torch import nn


def test_dropout_is_noise_with_a_fixed_seed():
    state = torch.get_rng_state()
    verdict = ap.check_model(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), x(), modes="train", sequence_axis=1)
    assert verdict.status.name == "PROVED", verdict
    assert any("random" in a for a in verdict.assumptions)
    assert ap.check_model(nn.Sequential(nn.LSTM(4, 4, 2, batch_first=True, dropout=0.5)), x(), modes="train")
    torch.set_rng_state(state)
    before = torch.rand(3)
    torch.set_rng_state(state)
    ap.check_model(nn.Dropout(0.5), torch.ones(1, 8, 4), modes="train", sequence_axis=1)
    assert torch.equal(torch.rand(3), before)  # the caller's random numbers are untouched


# -- models in other clothes ----------------------------------------------------------------------------------------


class Shifting(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x):
        return self.linear(x).cumsum(1) * self.scale


WRAPS = {
    "script": torch.jit.script,
    "trace": lambda m: torch.jit.trace(m, torch.zeros(1, 8, 4)),
    "fx": torch.fx.symbolic_trace,
    "weight norm": lambda m: (nn.utils.parametrizations.weight_norm(m.linear), m)[1],
    "spectral norm": lambda m: (nn.utils.spectral_norm(m.linear), m)[1],
    "method": lambda m: m.forward,
    "partial": lambda m: __import__("functools").partial(m),
    "autocast": lambda m: lambda x: torch.autocast("cpu", torch.bfloat16)(m)(x),
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.filterwarnings("ignore")
def test_wrapped_models(wrap):
    model = WRAPS[wrap](Shifting())
    verdict = ap.check_model(model, x(), modes=("eval", "train"))
    assert verdict.status.name == "PROVED", verdict
    assert status(lambda x: model(x.flip(1)).flip(1), x()) == "REFUTED"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_compiled_and_exported_models():
    assert status(torch.compile(Shifting()), x()) == "PROVED"
    assert status(torch.compile(lambda x: x.flip(1) * 2), x()) == "REFUTED"
    assert status(torch.export.export(Shifting(), (x(),)).module(), x()) == "PROVED"


def test_the_hash_of_a_verdict_is_of_what_was_checked_or_there_is_none():
    layer = nn.Linear(4, 4)

    def check():
        return ap.check_model(layer, torch.ones(1, 8, 4), sequence_axis=1)

    first, again, later = check(), check(), check()
    assert first.input_hash == again.input_hash != ""
    with torch.no_grad():
        layer.weight.add_(1)
    assert later.input_hash == ""
    assert check().input_hash not in ("", first.input_hash)
