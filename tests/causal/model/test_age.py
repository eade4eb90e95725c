"""Old and new objects are told apart, whoever collects or puts aside in between."""

from __future__ import annotations

import gc
import random
import weakref

import numpy as np
import pytest
from needs import need

torch = need("torch")

from attnproof.causal.model import age, check_model

X = torch.randn(1, 6, 4)
BETWEEN = {"nothing": lambda: None, "a collection": gc.collect, "freeze": gc.freeze, "unfreeze": gc.unfreeze}


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("make", [np.random.default_rng, random.Random])
def test_generators_made_between_two_runs_are_known_to_the_second(between, make):
    age.alive()
    made = make(0)
    BETWEEN[between]()
    known = age.alive()
    assert sum(g is made for g in known) == 1, between
    assert len(known) == len({id(g) for g in known})


@pytest.mark.parametrize("inside", BETWEEN)
def test_what_is_made_in_a_run_is_new_and_what_was_there_is_old(inside):
    old, older = torch.zeros(2), np.random.default_rng(0)
    with age.young():
        young, made = torch.zeros(2), np.random.default_rng(0)
        BETWEEN[inside]()
        assert age.is_new(young)
        assert inside in ("freeze", "unfreeze") or not age.is_new(old)  # where nobody can tell, it is new
        assert sum(g is made for g in age.born()) == 1
        assert not any(g is older for g in age.born())


@pytest.mark.parametrize("inside", BETWEEN)
def test_a_generator_left_for_the_next_call_is_a_draw(inside):
    held = []

    def model(x):
        held.append(np.random.default_rng(3))
        BETWEEN[inside]()
        return x.cumsum(1)

    assert check_model(model, X, parameters="stored").status.name == "PROVED_IF"


def test_what_was_put_aside_before_the_first_run_is_known_to_it():
    made = np.random.default_rng(0)
    gc.freeze()
    try:
        assert any(g is made for g in age._Past().born())
    finally:
        gc.unfreeze()


def test_generators_that_nobody_holds_are_let_go():
    made = random.Random(0)
    age.alive()
    gone = weakref.ref(made)
    del made
    age.alive()
    assert gone() is None


def test_a_collection_of_everything_goes_over_what_a_run_put_aside():
    circle = [X.clone()]
    circle.append(circle)
    gone = weakref.ref(circle[0])
    with age.young():
        del circle
        gc.collect()
        assert gone() is not None  # while it is open, the past stays aside
    gc.collect()
    assert gone() is None
    assert gc.get_freeze_count() == 0
