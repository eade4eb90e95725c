"""What check_model proves, refutes, and leaves open, on layers whose causality is known."""

from __future__ import annotations

import attnproof as ap
import numpy as np
import pytest
from needs import need

torch = need("torch")
from model_checks import Attention, status, upper, x
from torch import nn
from torch.nn import functional as F

# -- proofs -------------------------------------------------------------------------------------------------------


def test_masked_attention_is_proved():
    verdict = ap.check_model(Attention(lambda s: s.masked_fill(upper(s), -torch.inf)), x())
    assert verdict.status.name == "PROVED", verdict
    assert verdict.details["latest"] == list(range(8))
    assert verdict.details["earliest"] == [0] * 8
    assert bool(verdict)
    assert {e.kind for e in verdict.evidence} == {"abstract", "replay"}


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers_are_proved_and_bidirectional_ones_refuted(kind):
    assert status(kind(4, 4, 2, batch_first=True), x()) == "PROVED"
    verdict = ap.check_model(kind(4, 4, batch_first=True, bidirectional=True), x())
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()


def test_recurrent_time_first():
    assert status(nn.LSTM(4, 4), torch.randn(8, 2, 4), sequence_axis=0) == "PROVED"


def test_causal_convolution_and_off_by_one():
    conv = nn.Conv1d(4, 4, 3)
    assert status(lambda x: conv(F.pad(x.mT, (2, 0))).mT, x()) == "PROVED"
    verdict = ap.check_model(lambda x: conv(F.pad(x.mT, (1, 1))).mT, x())
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.position - verdict.witness.query == 1


def test_transformer_decoder_layer_is_proved():
    layer = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    mask = nn.Transformer.generate_square_subsequent_mask(6)
    memory = torch.randn(1, 3, 8)
    verdict = ap.check_model(lambda x: layer(x, memory, tgt_mask=mask), x(6, 8), modes=("eval", "train"))
    assert verdict.status.name == "PROVED", verdict
    assert [run["mode"] for run in verdict.details["runs"]] == ["eval", "train"]


def test_encoder_layer_without_its_mask_is_refuted_at_its_attention():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    verdict = ap.check_model(lambda x: layer(x, is_causal=False), x(6, 8))
    assert verdict.status.name == "REFUTED"
    entry = verdict.details["blame"]["entry"]  # one fused operation, or the softmax inside the attention
    assert entry["operation"] == "aten._transformer_encoder_layer_fwd" or entry["module"] == "self_attn"


# -- leaks that other tests miss ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "leak",
    [
        lambda x: torch.where(x[:, -1:, :1] > 0, x, -x),  # through a selector: every derivative is 0
        lambda x: x + x.argmax(1, keepdim=True),
        lambda x: x.sort(1).values,
        lambda x: x + x.round().sum(1, keepdim=True),
        lambda x: x - x.mean(1, keepdim=True),
        lambda x: x.gather(1, (x[:, -1:, :] > 0).long().expand_as(x)),
        lambda x: torch.cat([x[:, :1] + (x[:, 3:4] > 0.3) * (x[:, 5:6] > 0.3), x[:, 1:]], 1),  # only jointly
        lambda x: x * (1 + 1e-7 * x.flip(1)),  # far below float32's tolerance, far above float64's rounding
    ],
)
def test_leaks_of_value_are_refuted(leak):
    verdict = ap.check_model(leak, x(8, 3))
    assert verdict.status.name == "REFUTED", verdict
    w = verdict.witness
    assert w.replay()
    assert not verdict.boundary.allowed(w.query, np.array(w.positions)).any()
    same = np.setdiff1d(np.arange(8), w.positions)
    assert np.array_equal(w.inputs[0][:, same], w.inputs[1][:, same])


def test_rounding_is_no_leak():
    kernel = torch.randn(16, 4)

    def fourier(x):
        return torch.fft.irfft(torch.fft.rfft(x, n=32, dim=1) * torch.fft.rfft(kernel, n=32, dim=0), n=32, dim=1)[
            :, :16
        ]

    def total_minus_rest(x):
        return x.sum(1, keepdim=True) - x.flip(1).cumsum(1).flip(1)

    assert status(fourier, torch.randn(1, 16, 4)) != "REFUTED"
    assert status(total_minus_rest, torch.randn(1, 16, 4)) != "REFUTED"


def causal_but_for_rounding():
    """Functions that are causal in exact arithmetic, and whose rounding depends on the future, some of them wildly."""
    rotation = torch.ones(1, 1)
    for _ in range(4):  # Hadamard's matrix over 4, which is exactly orthogonal
        rotation = torch.cat([torch.cat([rotation, rotation], 1), torch.cat([rotation, -rotation], 1)])
    rotation = rotation / 4

    def swamped(x):
        total = 1e8 * x.sum(1, keepdim=True)
        return (x + total) - total

    def rotated(x):
        return (rotation.T @ (rotation @ x[0]))[None]

    def chaotic(x):
        total = x.mean(1, keepdim=True)
        y = x + total - total
        for _ in range(60):
            y = 15.6 * torch.sigmoid(y) * (1 - torch.sigmoid(y))
        return y

    def stepped(x):
        total = x.sum(1, keepdim=True)
        return (((x + total) - total) * 4).round()

    def coarse(x):
        x = x.bfloat16()
        total = x.sum(1, keepdim=True)
        return (x + total - total).float()

    def shifted(x):
        top = x.amax(1, keepdim=True)
        return (x - top).exp().cumsum(1).log() + top

    def routed(x):
        out, weights = torch.zeros_like(x[0]), rotation.reshape(16, 4, 4)
        for k in range(2):
            rows = ((x[0, :, 0] > 0).long() == k).nonzero()[:, 0]
            out[rows] = x[0][rows] @ weights[k]
        return out[None]

    def sorted_twice(x):
        order = x.argsort(1)
        return x.gather(1, order).gather(1, order.argsort(1))

    return [swamped, rotated, chaotic, stepped, coarse, shifted, routed, sorted_twice]


@pytest.mark.parametrize("number", range(8))
def test_rounding_is_never_refuted(number):
    model = causal_but_for_rounding()[number]
    verdict = ap.check_model(model, torch.randn(1, 16, 4), sequence_axis=1)
    assert verdict.status.name != "REFUTED", verdict


def test_reading_a_value_is_never_proved():
    def routed(x):
        return x * 2 if bool(x[0, -1, 0] > 100) else x

    verdict = ap.check_model(routed, x())
    assert verdict.status.name == "UNDECIDED"
    assert any("reads a value" in r and "test_check.py" in r for r in verdict.reasons), verdict


def test_reading_a_value_can_be_refuted():
    def routed(x):
        return x * 2 if bool(x[0, -1, 0] > 0) else x

    assert status(routed, x()) == "REFUTED"


def test_what_cannot_be_traced_is_never_proved():
    class Odd(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.from_numpy(np.asarray(x.detach()) * 2)

        @staticmethod
        def backward(ctx, g):
            return g

    assert status(lambda x: Odd.apply(x), x()) == "UNDECIDED"


# -- finite masks -------------------------------------------------------------------------------------------------


def test_a_finite_mask_that_never_holds_is_refuted():
    """A row in which everything is masked by the same number attends to everything."""
    verdict = ap.check_model(Attention(lambda s: s.masked_fill(upper(s, 0), -1e9)), x())
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.query == 0


def test_a_soft_mask_is_refuted():
    assert status(Attention(lambda s: s - 20.0 * upper(s)), x()) == "REFUTED"


def test_rows_that_see_nothing_are_starved():
    def attend(x):
        q = x[:, None]
        mask = torch.ones(8, 8, dtype=torch.bool).tril(-1)
        return F.scaled_dot_product_attention(q, q, q, attn_mask=mask)[:, 0]

    verdict = ap.check_model(attend, x())
    assert verdict.status.name == "PROVED"
    assert list(verdict.starved) == [0]


def test_dynamic_quantisation_leaks_through_its_scale():
    """The scale of the quantised activations comes from the largest value of the whole sequence."""

    def quantised(x):
        scale = x.abs().amax() / 127
        return (x / scale).round() * scale

    verdict = ap.check_model(quantised, x())
    assert verdict.status.name == "REFUTED"
    assert "amax" in verdict.details["blame"]["entry"]["operation"]
