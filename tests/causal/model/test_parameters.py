"""A proof that rests on stored parameters names all of them: those whose zeros matter, and those whose values do."""

import math

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
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
