"""Parameters count as any numbers also where PyTorch or the program made something of them before the check."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

import pytest
from needs import need

torch = need("torch")
from attnproof.causal import trace
from attnproof.causal.model import check_model
from torch import nn
from torch.nn.utils import parametrize

X = torch.linspace(-1, 1, 24).sin().reshape(1, 6, 4)


class Gated(nn.Module):
    """A leak behind a weight that is zero; in float32 again after autocast."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 4, bias=False)
        nn.init.zeros_(self.gate.weight)

    def forward(self, x):
        return x.cumsum(1) + self.gate(x.flip(1)).float()


class Twice(nn.Module):
    def forward(self, weight):
        return 2 * weight


def parametrized():
    model = Gated()
    parametrize.register_parametrization(model.gate, "weight", Twice())
    return model


@contextmanager
def cached_twice():
    with torch.autocast("cpu", torch.bfloat16), parametrize.cached():
        yield


AROUND = {
    "nothing": (Gated, nullcontext),
    "autocast": (Gated, lambda: torch.autocast("cpu", torch.bfloat16)),
    "autocast without its cache": (Gated, lambda: torch.autocast("cpu", torch.bfloat16, cache_enabled=False)),
    "parametrize.cached": (parametrized, parametrize.cached),
    "both": (parametrized, cached_twice),
}


@pytest.mark.parametrize("how", AROUND)
@pytest.mark.parametrize("called_before", [False, True])
def test_a_zero_parameter_is_a_condition_under_whatever_caches(how, called_before):
    make, around = AROUND[how]
    model = make()
    with around():
        if called_before:
            model(X)
        for _ in range(2):
            verdict = check_model(model, X)
            assert verdict.status.name == "PROVED_IF", verdict
            assert "the zeros among the parameters stay zero: gate." in verdict.conditions[0].text
            assert verdict.conditions[0].counterexample is not None
        with torch.no_grad():
            assert model(X).equal(X.cumsum(1))


def test_the_callers_own_caching_goes_on_after_a_check():
    model = parametrized()
    with parametrize.cached():
        before = model.gate.weight
        check_model(model, X)
        assert model.gate.weight is before
    with torch.autocast("cpu", torch.bfloat16):
        check_model(model, X)
        assert torch.is_autocast_cache_enabled()


def test_an_abstract_run_alone_sees_no_cached_cast():
    model = Gated()
    with torch.autocast("cpu", torch.bfloat16):
        model(X)
        found = trace.run(model, (X,))
    assert found.outputs[0].along(1)[1].tolist() == [5, 4, 3, 3, 4, 5]  # x[t] and x[5 − t]


MADE = {
    "product": lambda w: w * 2,
    "view of a product": lambda w: (w * 2).mT,
    "view": lambda w: w.mT,
    "slice": lambda w: torch.cat([w, w])[4:],
}


@pytest.mark.parametrize("how", MADE)
def test_a_tensor_made_of_parameters_before_the_run_counts_as_any_numbers(how):
    class Fused(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(4, 4))
            self.made = {"fused": MADE[how](self.weight)}

        def forward(self, x):
            return x.cumsum(1) + x.flip(1) @ self.made["fused"]

    verdict = check_model(Fused(), X)
    assert verdict.status.name == "PROVED_IF", verdict
    assert "the zeros among the parameters stay zero: " in verdict.conditions[0].text
    assert ("weight" if how == "view" else "a tensor made of parameters") in verdict.conditions[0].text


def test_weight_norm_is_made_anew_in_every_run():
    model = Gated()
    torch.nn.utils.parametrizations.weight_norm(model.gate)
    with torch.no_grad():
        model.gate.parametrizations.weight.original0.zero_()
        model.gate.parametrizations.weight.original1.fill_(1)
    with parametrize.cached():
        model(X)
        verdict = check_model(model, X)
    assert verdict.status.name == "PROVED_IF", verdict
