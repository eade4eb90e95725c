"""What the proofs of whole models rest on: finite masks, zeros and values of parameters, other inputs."""

from __future__ import annotations

import math

import attnproof as ap
import numpy as np
import pytest
from needs import need

torch = need("torch")
from model_checks import Attention, status, upper, x
from torch import nn

N = 8
HALF = torch.ones(N, 1, dtype=torch.half)
FUTURE = torch.ones(N, N, dtype=torch.bool).triu(1)


class Gated(nn.Module):
    """A gate at zero before a look ahead, so that only the stored parameters prove it, and something with a weight."""

    def __init__(self, weight, part):
        super().__init__()
        self.gate, self.weight, self.part = nn.Parameter(torch.zeros(())), nn.Parameter(weight), part

    def forward(self, x):
        return self.part(self.weight, x) + self.gate * x.flip(1)


VALUES = {
    "index": (torch.arange(8.0), lambda w, x: x[:, w.argsort()]),
    "condition": (-torch.ones(()), lambda w, x: torch.where(w > 0, x.flip(1), x)),
    "branch": (-torch.ones(()), lambda w, x: x.flip(1) if w > 0 else x),
    "number": (-torch.ones(()), lambda w, x: x.flip(1) if w.item() > 0 else x),
    "list": (-torch.ones(()), lambda w, x: x + x.flip(1) * max(0, w.tolist())),
    "mask": (torch.zeros(N, N).masked_fill(FUTURE, -math.inf), lambda w, x: (x @ x.mT + w).softmax(-1) @ x),
    "one or not": (
        torch.ones(N, N).tril(),
        lambda w, x: (x @ x.mT).masked_fill(w != 1, -math.inf).softmax(-1) @ x,
    ),
    "cancelling": (torch.ones(2), lambda w, x: x + (w[0] - w[1]) * x.flip(1)),
    "relu": (-torch.ones(()), lambda w, x: x + w.relu() * x.flip(1)),
    "rounded": (torch.full((), 0.2), lambda w, x: x + w.round() * x.flip(1)),
    "slope of 0": (-torch.ones(()), lambda w, x: x + nn.functional.leaky_relu(w, 0.0) * x.flip(1)),
    "alpha of 0": (-torch.ones(()), lambda w, x: x + nn.functional.elu(w, 0.0) * x.flip(1)),
    "too small": (torch.full((), 1e-30), lambda w, x: x + w * 1e-300 * x.flip(1)),
    "too small for half": (torch.full((), 1e-30), lambda w, x: x + w.half().to(x) * x.flip(1)),
    "copied into half": (torch.full((1,), 1e-30), lambda w, x: x + HALF.clone().copy_(w).to(x) * x.flip(1)),
    "in place": (torch.full((), 1e-30), lambda w, x: x + w.clone().mul_(1e-300) * x.flip(1)),
    "shape": (torch.ones(N), lambda w, x: x + x.roll(N - int(w.nonzero().shape[0]), 1)),
}


ZEROS = {
    "triangle": (torch.ones(N, N).tril(), lambda w, x: w @ x),
    "tanh": (torch.zeros(N, N), lambda w, x: x + (2 * w.tanh()).T @ x),
    "scaled": (torch.ones(N, N).tril(), lambda w, x: (w * torch.full((N, 1), 0.5)).half().to(x) @ x),
    "written": (torch.ones(N, N).tril(), lambda w, x: torch.ones(N, N).copy_(w).mul_(2).to(x) @ x),
    "padded": (torch.ones(N, N).tril(), lambda w, x: nn.functional.pad(w, (0, 0, 1, 0))[1:] @ x),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_that_matter_are_a_condition(name):
    verdict = ap.check_model(Gated(*VALUES[name]), torch.randn(1, N, 2))
    assert verdict.status.name == "PROVED_IF"
    assert [c.text for c in verdict.conditions] == [
        "parameters keep their stored values: weight",
        "the zeros among the parameters stay zero: gate",
    ]
    if name != "one or not":  # where all weights move, everything is masked
        assert verdict.conditions[-1].counterexample.replay()


@pytest.mark.parametrize("name", ZEROS)
def test_zeros_that_matter_are_a_condition(name):
    verdict = ap.check_model(Gated(*ZEROS[name]), torch.randn(1, N, 2))
    assert [c.text for c in verdict.conditions] == ["the zeros among the parameters stay zero: gate, weight"]


def test_parameters_that_make_no_constant_are_no_condition():
    """Scores made of weights are masked, and the zeros used are the mask's; the gate's zero is its own."""

    class Attending(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.score = nn.Parameter(torch.zeros(())), nn.Linear(2, 2)

        def forward(self, x):
            x = x + self.gate * self.score(x).flip(1)
            return (self.score(x) @ x.mT).masked_fill(FUTURE, -math.inf).softmax(-1) @ x

    verdict = ap.check_model(Attending(), torch.randn(1, N, 2))
    assert [c.text for c in verdict.conditions] == ["the zeros among the parameters stay zero: gate"]


class ZeroGate(nn.Module):
    def __init__(self, register=nn.Parameter):
        super().__init__()
        self.gate = register(torch.zeros(4))

    def forward(self, x):
        return x + self.gate * x.flip(1)


def test_a_zero_gate_hides_nothing():
    verdict = ap.check_model(ZeroGate(), x())
    assert verdict.status.name == "PROVED_IF", verdict
    condition = verdict.conditions[0]
    assert "gate" in condition.text
    assert condition.counterexample.setting.jitter > 0
    assert "jittered" in condition.counterexample.describe()
    assert condition.counterexample.replay()


def test_a_zero_buffer_is_a_constant():
    model = ZeroGate(register=lambda t: t)
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
    verdict = ap.check_model(ZeroGate(), x(), parameters="stored", sequence_axis=1)
    assert verdict.status.name == "PROVED"
    assert any("keep their stored values" in a for a in verdict.assumptions)
    assert status(lambda x: x.flip(1), x(), parameters="stored") == "REFUTED"


class ReadsItsGate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return x + self.gate.item() * x.flip(1)


def test_a_parameter_read_as_a_number_is_a_condition():
    verdict = ap.check_model(ReadsItsGate(), torch.randn(1, 4, 1), sequence_axis=1)
    assert verdict.status.name == "PROVED_IF"
    assert (
        "parameters and random draws that the program reads as numbers stay as they are" in verdict.conditions[0].text
    )


def test_a_finite_mask_is_proved_under_a_condition_that_a_large_input_breaks():
    verdict = ap.check_model(Attention(lambda s: s.masked_fill(upper(s), -1e4)), x())
    assert verdict.status.name == "PROVED_IF", verdict
    text, broken = verdict.conditions[-1].text, verdict.conditions[-1].counterexample
    assert "visible score exceeds every masked score" in text
    assert broken is not None
    assert broken.replay()
    assert np.abs(broken.inputs[0]).max() > 10


def test_whether_a_finite_mask_is_needed_costs_no_run_with_values(monkeypatch):
    runs = []
    monkeypatch.setattr("attnproof.causal.model.trace.frontend._with_values", lambda *a: runs.append(a))

    def masked(x):
        return (x @ x.mT).masked_fill(FUTURE, -1e9).softmax(-1) @ x

    assert status(masked, x()) == "PROVED_IF"
    assert status(lambda x: x.cumsum(1) + 0 * masked(x).detach()[:, :1], x()) == "PROVED"
    assert not runs


def test_a_proof_that_needs_the_other_input_says_so():
    def gated(x, gate):
        return x + gate * x.flip(1)

    verdict = ap.check_model(gated, x(), torch.zeros(1, 8, 4))
    assert verdict.status.name == "PROVED_IF"
    assert any("other inputs keep the values given" in c.text for c in verdict.conditions)


def test_what_other_inputs_must_keep_is_printed():
    hidden = torch.ones(N, N, dtype=torch.bool).triu(1)

    def model(x, mask, y):
        return (x @ x.mT).masked_fill(mask, -math.inf).softmax(-1) @ x + y

    verdict = ap.check_model(model, torch.randn(1, N, 2), hidden, torch.randn(1, N, 2))
    assert verdict.status.name == "PROVED"
    assert "the other inputs of whole numbers and truth values keep the values given" in verdict.assumptions


@pytest.mark.parametrize(
    "read",
    [
        lambda x, p: x[:, p.long()],
        lambda x, p: x.index_select(1, p.long()),
        lambda x, p: x.take_along_dim(p.long().view(1, -1, 1), 1),
        lambda x, p: x[:, p >= 0],
        lambda x, p: torch.zeros_like(x).index_copy(1, p.long(), x),
    ],
)
def test_reading_at_an_index_made_of_a_parameter_rests_on_its_values(read):
    class Read(nn.Module):
        def __init__(self):
            super().__init__()
            self.p = nn.Parameter(torch.arange(8.0))

        def forward(self, x):
            return read(x, self.p).cumsum(1)

    verdict = ap.check_model(Read(), torch.randn(1, 8, 3))
    assert [c.text for c in verdict.conditions] == ["parameters keep their stored values: p"], verdict
