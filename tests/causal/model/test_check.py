"""What check_model proves, refutes, and leaves open, on layers whose causality is known."""

from __future__ import annotations

import attnproof as ap
import numpy as np
import pytest
from needs import need

torch = need("torch")
from torch import nn
from torch.nn import functional as F


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def status(model, *inputs, **keywords):
    return ap.check_model(model, *inputs, **keywords).status.name


def x(n=8, d=4, batch=1):
    return torch.randn(batch, n, d)


class Attention(nn.Module):
    """One head of masked attention, the mask given as a function of the scores."""

    def __init__(self, mask, d=4):
        super().__init__()
        self.to_q, self.to_k, self.to_v = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.mask = mask

    def forward(self, x):
        scores = self.to_q(x) @ self.to_k(x).mT / x.shape[-1] ** 0.5
        return self.mask(scores).softmax(-1) @ self.to_v(x)


def upper(scores, k=1):
    return torch.ones(scores.shape[-2:], dtype=torch.bool).triu(k)


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
    verdict = ap.check_model(model, torch.randn(1, 16, 4))
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


def test_a_finite_mask_is_proved_under_a_condition_that_a_large_input_breaks():
    verdict = ap.check_model(Attention(lambda s: s.masked_fill(upper(s), -1e4)), x())
    assert verdict.status.name == "PROVED_IF", verdict
    text, broken = verdict.conditions[-1].text, verdict.conditions[-1].counterexample
    assert "visible score exceeds every masked score" in text
    assert broken is not None
    assert broken.replay()
    assert np.abs(broken.inputs[0]).max() > 10


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


# -- parameters ---------------------------------------------------------------------------------------------------


class Gated(nn.Module):
    def __init__(self, register=nn.Parameter):
        super().__init__()
        self.gate = register(torch.zeros(4))

    def forward(self, x):
        return x + self.gate * x.flip(1)


def test_a_zero_gate_hides_nothing():
    verdict = ap.check_model(Gated(), x())
    assert verdict.status.name == "PROVED_IF", verdict
    condition = verdict.conditions[0]
    assert "gate" in condition.text
    assert condition.counterexample.setting.jitter > 0
    assert "jittered" in condition.counterexample.describe()
    assert condition.counterexample.replay()


def test_a_zero_buffer_is_a_constant():
    model = Gated(register=lambda t: t)
    del model.gate
    model.register_buffer("gate", torch.zeros(4))
    assert status(model, x(), sequence_axis=1) == "PROVED"


def test_a_trainable_tensor_outside_any_module_is_a_parameter():
    gate = torch.zeros(4, requires_grad=True)
    verdict = ap.check_model(lambda x: x + gate * x.flip(1), x())
    assert verdict.status.name == "PROVED_IF"
    assert "a parameter outside the modules" in verdict.conditions[0].text
    assert status(lambda x: x + gate.detach() * x.flip(1), x()) == "PROVED_IF"


def test_stored_parameters_on_request():
    verdict = ap.check_model(Gated(), x(), parameters="stored", sequence_axis=1)
    assert verdict.status.name == "PROVED"
    assert any("keep their stored values" in a for a in verdict.assumptions)
    assert status(lambda x: x.flip(1), x(), parameters="stored") == "REFUTED"


def test_a_jittered_witness_refutes_only_where_stored_values_prove_nothing():
    """ReLU(−1 + tiny·x) is dead at the stored weights, no abstract zero shows it, and training opens it."""
    dead = nn.Linear(4, 4)
    with torch.no_grad():
        dead.weight.mul_(1e-3)
        dead.bias.fill_(-0.1)
    verdict = ap.check_model(lambda x: x + F.relu(dead(x)).flip(1), x(), parameters="any")
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.setting.jitter > 0


# -- not vacuous --------------------------------------------------------------------------------------------------


def test_an_over_masked_model_is_proved_with_a_warning():
    verdict = ap.check_model(nn.Linear(4, 4), x(), sequence_axis=1)
    assert verdict.status.name == "PROVED"
    assert any("own" in r and "warning" in r for r in verdict.reasons)


def test_outputs_that_lag_behind_are_reported():
    verdict = ap.check_model(lambda x: F.pad(x, (0, 0, 3, 0))[:, :-3], x())
    assert any("last 3 positions" in r for r in verdict.reasons), verdict


def test_the_probe_shows_that_the_past_is_used():
    verdict = ap.check_model(lambda x: x.cumsum(1), x())
    assert verdict.details["probe"] == {"position": 0, "moves": list(range(8))}


# -- the record ---------------------------------------------------------------------------------------------------


def test_json_round_trip_and_replay_with_the_program_given():
    def shift(x):
        return x.roll(-1, 1)

    verdict = ap.check_model(shift, x())
    back = ap.Verdict.from_json(verdict.to_json())
    assert back.status is verdict.status
    assert back.witness == verdict.witness
    assert back.witness.replay(shift)
    assert not back.witness.replay(lambda x: x.cumsum(1))
    with pytest.raises(ValueError, match=r"read back without its model; pass it: witness\.replay\(model\)"):
        back.witness.replay()


def test_json_round_trip_with_other_inputs_and_keywords():
    memory = torch.randn(1, 3, 4)

    def model(x, memory, scale=None):
        return (x + memory.sum(1, keepdim=True)).flip(1) * scale

    verdict = ap.check_model(model, x(), memory, {"scale": torch.tensor(2.0)})
    assert verdict.status.name == "REFUTED"
    back = ap.Verdict.from_json(verdict.to_json())
    assert back.witness.replay(model)
    assert back.witness.replay(model, x(), memory, {"scale": torch.tensor(3.0)})


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.complex64])
def test_every_type_of_number_survives_json(dtype):
    def model(x, other):
        return (x * other).flip(1)

    verdict = ap.check_model(model, torch.randn(1, 6, 2).to(dtype), torch.ones(2, dtype=dtype))
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
    assert ap.Verdict.from_json(verdict.to_json()).witness.replay(model)


def test_a_model_that_cannot_be_widened_is_replayed_in_its_own_precision():
    def bits(x):
        return x.view(torch.int32).flip(1).view(torch.float32).abs().clamp(max=3)

    verdict = ap.check_model(bits, x())
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.setting.precision == "native"
    assert ap.Verdict.from_json(verdict.to_json()).witness.replay(bits)


def test_blame_names_the_module_the_line_and_the_chain():
    class Compressed(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
            self.mix = nn.Linear(8, 8)

        def forward(self, x):
            return self.mix(self.inner(x).mT).mT.tanh()

    blame = ap.check_model(Compressed(), x()).details["blame"]
    assert blame["entry"]["module"] == "mix"
    assert blame["entry"]["line"].rpartition(":")[0].endswith("test_check.py")
    assert blame["path"][-1]["operation"] == "aten.tanh"


@pytest.mark.parametrize("gradients", [True, False], ids=["plain path", "fused path"])
def test_blame_passes_over_a_causal_layer_that_the_future_leaves_again(gradients):
    """Later positions of its output depend on the future of earlier ones; they are closed to those, too."""

    class Pooled(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
            self.pool = nn.Linear(8, 3)

        def forward(self, x):
            y = self.layer(x, src_mask=nn.Transformer.generate_square_subsequent_mask(8))
            slots = self.pool(y.mT).mT
            return y + (y @ slots.mT).softmax(-1) @ slots

    with torch.set_grad_enabled(gradients):
        blame = ap.check_model(Pooled(), x()).details["blame"]
    assert blame["entry"]["module"] == "pool"
    assert "layer" not in {step["module"].partition(".")[0] for step in blame["path"]}


def test_blame_passes_over_a_padded_convolution_that_is_causal():
    """The convolution's output is longer than the sequence, so its shape alone does not clear it; the two runs do."""

    class Chomped(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(4, 4, 3, padding=2)

        def forward(self, x):
            return self.conv(x)[..., :-2]

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm = Chomped(), nn.BatchNorm1d(4)

        def forward(self, x):
            return self.norm(self.first(x.mT)).mT

    entry = ap.check_model(Block(), x(), modes="train").details["blame"]["entry"]
    assert (entry["operation"], entry["module"]) == ("aten.native_batch_norm", "norm")


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


def test_a_rule_of_the_users_own():
    from attnproof.causal.model.trace import Rule

    library = torch.library.Library("attnproof_test", "DEF")
    library.define("double(Tensor x) -> Tensor")
    library.impl("double", lambda x: 2 * x, "CompositeExplicitAutograd")
    model = lambda x: torch.ops.attnproof_test.double(x)  # noqa: E731
    verdict = ap.check_model(model, x())
    assert verdict.status.name == "UNDECIDED"
    assert any("no rule for attnproof_test.double" in r for r in verdict.reasons)
    copied = lambda x: model(x.clone())  # noqa: E731 - without a rule, it may write what it is given
    last = ap.check_model(lambda x: torch.cat([x[:, :-1], copied(x)[:, -1:]], 1), x())
    assert last.status.name == "PROVED"  # the last position may use everything
    assert any("no rule for attnproof_test.double" in r for r in last.reasons)
    rule = Rule(("attnproof_test::double",), lambda call: call["x"].shadow)
    assert status(model, x(), sequence_axis=1, rules=(rule,)) == "PROVED"
