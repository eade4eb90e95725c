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


# -- without values ---------------------------------------------------------------------------------------------------


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.mixed, self.out, self.norm = nn.Linear(8, 24), nn.Linear(8, 8), nn.LayerNorm(8)

    def forward(self, x):
        q, k, v = self.mixed(self.norm(x)).chunk(3, -1)
        return x + self.out(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))


class OfBytes(nn.Module):
    """Weights in whole numbers of eight bits, each row with a scale."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 127, (8, 8), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(8, 1))

    def forward(self, x):
        return (x @ (self.weight.to(x.dtype) * self.scale).mT).cumsum(1)


ODD = {
    "bfloat16": (lambda: Attention().bfloat16(), torch.bfloat16),
    "float16": (lambda: Attention().half(), torch.float16),
    "compiled": (lambda: torch.compile(Attention(), backend="eager"), torch.float32),
    "weights of bytes": (OfBytes, torch.float32),
}


@pytest.mark.parametrize("replay", ["auto", "never"])
@pytest.mark.parametrize("name", ODD)
def test_half_precision_compiled_and_quantised_models_are_proved_without_values(name, replay):
    build, dtype = ODD[name]
    verdict = ap.check_model(build(), torch.randn(1, 6, 8).to(dtype), replay=replay)
    assert verdict.status.name == "PROVED", verdict
    assert any("without values" in e.detail for e in verdict.evidence), verdict.evidence


@pytest.mark.filterwarnings("ignore:torch.ao.quantization:DeprecationWarning", "ignore:torch.quantize:UserWarning")
def test_activations_that_are_quantised_by_the_largest_of_all_look_ahead():
    model = torch.ao.quantization.quantize_dynamic(Attention().eval(), {nn.Linear}, dtype=torch.qint8)
    verdict = ap.check_model(model, torch.randn(1, 6, 8))
    assert verdict.status.name == "REFUTED"
    assert verdict.details["blame"]["entry"]["operation"] == "quantized.linear_dynamic"
    verdict = ap.check_model(model, torch.randn(1, 6, 8), replay="never")
    assert any("no rule for quantized.linear_dynamic" in r for r in verdict.reasons), verdict.reasons
