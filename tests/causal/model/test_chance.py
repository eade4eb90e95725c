"""Numbers drawn by Python and NumPy steer a model, and no operation shows them: a proof says that it rests on them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model import assert_causal, check_model
from attnproof.causal.verdict import NotProvedError

X = torch.linspace(-1, 1, 32).sin().reshape(1, 8, 4)
OWN, OLD, PLAIN, SYSTEM = np.random.default_rng(0), np.random.RandomState(0), random.Random(0), random.SystemRandom()

DRAWS = {
    "Python": lambda: random.random(),
    "NumPy": lambda: np.random.rand(),
    "a NumPy generator of the program's own": lambda: OWN.random(),
    "an older one": lambda: OLD.rand(),
    "a Python generator of the program's own": lambda: PLAIN.random(),
    "the system": lambda: SYSTEM.random(),
    "a fresh NumPy generator": lambda: np.random.default_rng().random(),
    "a fresh Python generator": lambda: random.Random().random(),
}


@pytest.mark.parametrize("parameters", ["any", "stored"])
@pytest.mark.parametrize("name", DRAWS)
def test_a_route_that_is_drawn_is_a_condition(name, parameters):
    def layer_drop(x):  # skipped in this run, whatever was drawn
        return x.cumsum(1) + (x.mean(1, keepdim=True) if DRAWS[name]() > 1 else 0)

    verdict = check_model(layer_drop, X, parameters=parameters)
    assert verdict.status.name == "PROVED_IF"
    assert any("random" in condition.text for condition in verdict.conditions)
    with pytest.raises(NotProvedError, match="random"):
        assert_causal(layer_drop, X)


def test_a_route_that_torch_draws_is_a_condition_for_stored_parameters_too():
    def layer_drop(x):
        return x.cumsum(1) + (x.mean(1, keepdim=True) if torch.rand(()).item() > 1 else 0)

    assert check_model(layer_drop, X, parameters="stored").status.name == "PROVED_IF"


def test_a_model_that_draws_nothing_has_no_such_condition_and_keeps_its_generators():
    states = random.getstate(), OWN.bit_generator.state, PLAIN.getstate()

    def seeded(x):
        return x.cumsum(1) * float(random.Random(3).random() + np.random.default_rng(3).random())

    assert check_model(seeded, X).status.name == "PROVED"
    check_model(lambda x: x.cumsum(1) * (1 + OWN.random() + PLAIN.random() + random.random()), X)
    assert states == (random.getstate(), OWN.bit_generator.state, PLAIN.getstate())
