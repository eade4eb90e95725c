"""Random numbers that Python and NumPy draw while a model runs: they may steer it, and no operation shows them."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

if TYPE_CHECKING:
    from .ledger import Ledger

GENERATORS = (random.Random, np.random.Generator, np.random.RandomState)
ENTROPY = ((random, "_urandom"), (np.random.bit_generator, "randbits"))  # of generators that nobody seeded


@contextmanager
def followed(ledger: Ledger, reached: Sequence[Any]) -> Iterator[None]:
    """What is drawn while it is open, from the global generators, those reached or a fresh one, goes to the ledger."""
    theirs = [value for value in reached if issubclass(type(value), GENERATORS)]
    before = [(state, state()) for state in (_python, _numpy, *(_state_of(g) for g in theirs))]
    seed = random.Random.seed

    def told(original: Callable[..., Any]) -> Callable[..., Any]:
        def through(*args: Any, **kwargs: Any) -> Any:
            ledger.drawn(UNSEEDED)
            return original(*args, **kwargs)

        return through

    def seeding(self: random.Random, a: Any = None, *rest: Any, **named: Any) -> None:
        if a is None:
            ledger.drawn(UNSEEDED)
        seed(self, a, *rest, **named)

    with ExitStack() as stack:
        stack.enter_context(patch.object(random.Random, "seed", seeding))
        for owner, name in ENTROPY:
            if hasattr(owner, name):  # not in every release
                stack.enter_context(patch.object(owner, name, told(getattr(owner, name))))
        yield
    if any(state() != then for state, then in before):
        ledger.drawn("random numbers of Python or NumPy")


UNSEEDED = "a generator of random numbers without a seed"


def _python() -> bytes:
    return pickle.dumps(random.getstate())


def _numpy() -> bytes:
    return pickle.dumps(np.random.get_state())


def _state_of(generator: Any) -> Callable[[], bytes]:
    """A function that gives the generator's state; of one without a state, nothing: its draws are seen as entropy."""

    def state() -> bytes:
        if isinstance(generator, random.SystemRandom):
            return b""
        if isinstance(generator, random.Random):
            return pickle.dumps(generator.getstate())
        if isinstance(generator, np.random.RandomState):
            return pickle.dumps(generator.get_state())
        return pickle.dumps(generator.bit_generator.state)

    return state
