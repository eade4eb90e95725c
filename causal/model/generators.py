"""Generators of random numbers, wherever a program or a library holds them, and their states."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from itertools import compress
from typing import Any

import numpy as np

KINDS = (
    random.Random,
    np.random.Generator,
    np.random.RandomState,
    np.random.BitGenerator,
    np.random.SeedSequence,  # which counts the seeds that it gave away
)


def among(objects: list[Any]) -> list[Any]:
    """The generators among the objects."""
    kinds = {kind for base in KINDS for kind in _below(base)}
    return list(compress(objects, map(kinds.__contains__, map(type, objects))))


def _below(kind: type) -> Iterator[type]:
    yield kind
    directly: list[type] = type.__subclasses__(kind)
    for inner in directly:
        yield from _below(inner)


def state_of(generator: Any) -> bytes:
    """The generator's state, to be compared; empty where it has none, as the system's."""
    if isinstance(generator, random.SystemRandom):
        return b""
    try:
        if isinstance(generator, random.Random):
            return pickle.dumps(generator.getstate())
        if isinstance(generator, np.random.RandomState):
            return pickle.dumps(generator.get_state())
        if isinstance(generator, np.random.SeedSequence):
            return pickle.dumps(generator.n_children_spawned)
        return pickle.dumps(getattr(generator, "bit_generator", generator).state)
    except NotImplementedError:
        return b""
