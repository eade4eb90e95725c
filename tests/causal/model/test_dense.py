"""Tensors of every kind that PyTorch has give a verdict or one sentence, as inputs, outputs and parameters."""

from __future__ import annotations

import attnproof as ap
import pytest
from needs import need

torch = need("torch")
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

X = torch.randn(2, 8, 4, generator=torch.Generator().manual_seed(0))


def negative(y):
    return torch.imag(torch.complex(y, y).conj())


OUTPUTS = {
    "negative bit": negative,
    "conjugate bit": lambda y: torch.complex(y, y).conj(),
    "8 bits": lambda y: y.to(torch.float8_e4m3fn),
    "half complex": lambda y: torch.complex(y, y).to(torch.complex32),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_of_every_kind(name):
    assert ap.check_model(lambda x: OUTPUTS[name](x.cumsum(1)), X).status.name == "PROVED"
    verdict = ap.check_model(lambda x: OUTPUTS[name](x.flip(1)), X)
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()


def test_a_sparse_output_that_leaks_is_refuted():
    assert ap.check_model(lambda x: x.flip(1).to_sparse(), X).status.name == "REFUTED"


INPUTS = {
    "negative bit": negative(X),
    "conjugate bit": torch.complex(X, X).conj(),
    "half complex": torch.complex(X, X).to(torch.complex32),
    "gradients": X.clone().requires_grad_() * 1,
}


@pytest.mark.parametrize("name", INPUTS)
def test_inputs_of_every_kind(name):
    verdict = ap.check_model(lambda x: x.flip(1), INPUTS[name])
    assert verdict.status.name == "REFUTED"
    assert verdict.witness.replay()
    again = ap.Verdict.from_json(verdict.to_json()).witness
    assert again.replay(lambda x: x.flip(1))
    other = ap.check_model(lambda x, y: (x + y).flip(1), X, INPUTS[name])
    assert ap.Verdict.from_json(other.to_json()).witness.replay(lambda x, y: (x + y).flip(1))


REFUSED = {
    "sparse": (lambda: X.to_sparse(), "input 0 is a sparse tensor .sparse_coo.; pass a dense tensor of numbers"),
    "nested": (
        lambda: torch.nested.nested_tensor([X[0], X[1]]),
        "input 0 is a nested tensor, which has no axis of pos",
    ),
    "meta": (lambda: X.to("meta"), "input 0 has a shape and no values; pass a dense tensor"),
    "fake": (lambda: FakeTensorMode().from_tensor(X), "input 0 has a shape and no values"),
    "quantised": (lambda: torch.quantize_per_tensor(X, 0.1, 0, torch.qint8), "input 0 is quantised; pass a dense"),
    "unsigned": (lambda: torch.ones(2, 8, dtype=torch.uint16), "input 0 is of type uint16, which PyTorch cannot write"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_inputs_that_cannot_be_varied_are_refused_in_a_sentence(name):
    make, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence):
        ap.check_model(lambda x: x, make())


NO_NUMBERS = {
    "nested": (lambda x: torch.nested.nested_tensor([x[0], x[1]]), "output is a nested tensor, which has no axis"),
    "meta": (lambda x: x.to("meta"), "output has a shape and no values; return it on a device with values"),
    "masked": (
        lambda x: torch.masked.masked_tensor(x, x > 0),
        "output is a MaskedTensor of torch.float32 whose entries cannot be compared .TypeError.; return a plain tensor",
    ),
}


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_outputs_that_cannot_be_compared_are_refused_in_a_sentence(name):
    model, sentence = NO_NUMBERS[name]
    with pytest.raises(ValueError, match=sentence):
        ap.check_model(model, X)


# -- inference mode -----------------------------------------------------------------------------------------------


def test_a_check_within_inference_mode_is_a_check():
    layer = nn.Linear(4, 4)
    with torch.inference_mode():
        made = torch.randn(2, 8, 4)
        assert ap.check_model(lambda x: layer(x).cumsum(1), made).status.name == "PROVED"
        verdict = ap.check_model(lambda x: layer(x).flip(1), made)
        assert verdict.status.name == "REFUTED"
        assert verdict.witness.replay()
    assert verdict.witness.replay()


def test_parameters_made_in_inference_mode_are_refused_in_a_sentence():
    with torch.inference_mode():
        model = nn.Sequential(nn.Linear(4, 4))
    with pytest.raises(
        ValueError, match=r"Sequential\.0\.weight was made in torch\.inference_mode, where PyTorch counts"
    ):
        ap.check_model(model, X)


# -- scripts ------------------------------------------------------------------------------------------------------


def test_a_frozen_script_is_checked_in_the_mode_that_it_has():
    class Sums(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x):
            return self.inner(x).cumsum(1)

    frozen = torch.jit.freeze(torch.jit.script(Sums().eval()))
    for model in (frozen, nn.Sequential(frozen)):
        assert ap.check_model(model, X).status.name == "PROVED"


# -- nothing to sum over ------------------------------------------------------------------------------------------

NOTHING = {
    "no rows": lambda x, w: (x[:, :0] @ w).sum(),
    "no batch": lambda x, w: (x[:0] @ w).sum(),
    "no terms": lambda x, w: (x[..., :0] @ w[:0]).sum(),
    "from the right": lambda x, w: (w @ x[:, :0].mT).sum(),
    "vector": lambda x, w: (x[0, :0] @ w[0]).sum(),
    "linear": lambda x, w: nn.functional.linear(x[:, :0], w).sum(),
    "baddbmm": lambda x, w: torch.baddbmm(x[:, :0], x[:, :0], w.expand(2, 4, 4)).sum(),
}


@pytest.mark.parametrize("weights", [torch.eye(4), torch.zeros(4, 4)], ids=["eye", "zeros"])
@pytest.mark.parametrize("name", NOTHING)
def test_products_of_nothing_are_proved(name, weights):
    assert ap.check_model(lambda x: x.cumsum(1) + NOTHING[name](x, weights), X).status.name == "PROVED"
