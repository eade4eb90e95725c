"""Numbers drawn by Python and NumPy steer a model, and no operation shows them: a proof says that it rests on them."""

from __future__ import annotations

import logging
import os
import random
import secrets
import time
import uuid
from time import time as clock

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
    "what no name of the program leads to": lambda: eval("HIDDEN").random(),
    "the local generator of a frame that waits": lambda: next(WAITING),
    "a frame that has yet to begin": lambda: next(BEGINNING),
    "a bit generator": lambda: BITS.random_raw() / 2**64,
    "seeds given away": lambda: np.random.default_rng(SEEDS.spawn(1)[0]).random(),
    "a seed from the clock": lambda: random.Random(time.time()).random(),
    "the clock by its name": lambda: clock() % 1,
    "a clock": lambda: time.perf_counter_ns() % 7 / 7,
    "bytes of the system": lambda: os.urandom(1)[0] / 256,
    "secrets": lambda: secrets.randbelow(7) / 7,
    "uuid": lambda: uuid.uuid4().int / 2**128,
    "uuid of a place and time": lambda: uuid.uuid1().int / 2**128,
    "PyTorch's seed": lambda: torch.initial_seed() % 7 / 7,
    "the state of PyTorch's numbers": lambda: float(torch.get_rng_state()[5]) / 256,
    "drawn, and put back": lambda: put_back(random.getstate, random.setstate, random.random),
    "drawn by NumPy, and put back": lambda: put_back(np.random.get_state, np.random.set_state, np.random.rand),
    "a seed after the draw": lambda: (random.random(), random.seed(3))[0],
    "a seed of nothing": lambda: (random.seed(), random.random())[1],
}


def frame(kind):
    generator = kind(0)
    while True:
        yield generator.random()


def put_back(get, put, draw):
    state = get()
    number = draw()
    put(state)
    return number


HIDDEN = np.random.default_rng()
BITS, SEEDS = np.random.PCG64(0), np.random.SeedSequence(0)
WAITING, BEGINNING = frame(np.random.default_rng), frame(random.Random)
next(WAITING)


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


SEEDED = {
    "Python": lambda: (random.seed(3), random.random())[1],
    "NumPy": lambda: (np.random.seed(3), np.random.rand())[1],
    "a generator of its own": lambda: (PLAIN.seed(3), PLAIN.random())[1],
    "seeded within, and put back": lambda: put_back(random.getstate, random.setstate, SEEDED["Python"]),
    "a fresh generator": lambda: random.Random(3).random() * np.random.default_rng(3).random(),
}


@pytest.mark.parametrize("name", SEEDED)
def test_what_the_program_seeds_before_it_draws_is_no_chance(name):
    assert check_model(lambda x: x.cumsum(1) * SEEDED[name](), X).status.name == "PROVED"


def test_pytorchs_numbers_put_aside_and_a_message_with_its_time_are_no_chance(caplog):
    def model(x):
        logging.getLogger("model").warning("runs")
        with torch.random.fork_rng([]):
            torch.manual_seed(0)
            return x.cumsum(1) * torch.rand(4)

    assert check_model(model, X).status.name == "PROVED"


def test_a_leak_beside_numbers_of_a_hidden_generator_is_refuted():
    verdict = check_model(lambda x: x.cumsum(1) * eval("HIDDEN").random() + x.flip(1), X)
    assert verdict.status.name == "REFUTED", verdict
