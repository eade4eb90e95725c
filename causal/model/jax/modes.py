"""The modes of modules that a function reaches, set while it is recorded and put back after it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from jax.experimental import xla_metadata

from .. import keras
from .kinds import is_module

FLAGS: Mapping[str, Mapping[str, bool]] = {
    "flax.nnx": {"deterministic": True, "use_running_average": True},
    "equinox": {"inference": True},
}
"""Attributes that say that a module is in eval mode, by its library."""

_recordings = itertools.count()


def moded(values: Sequence[Any]) -> tuple[Any, ...]:
    """Those of the values that are modules and have a mode of their own."""
    return tuple(v for v in values if _flags(v) or keras.is_layer(v))


def _flags(value: Any) -> dict[str, bool]:
    """The attributes that hold a module's mode, with what they are in eval mode."""
    told = next((flags for library, flags in FLAGS.items() if is_module(value, library)), {})
    return {name: rests for name, rests in told.items() if isinstance(getattr(value, name, None), bool)}


@contextmanager
def in_mode(modules: Sequence[Any], mode: str) -> Iterator[None]:
    """Every one of the modules in the mode, and layers of Keras called in it; afterwards each is as it was.

    What `jax.jit` remembers of functions that close over them was recorded in any mode, and is not used.
    """
    if not modules:
        yield
        return
    before = [(module, name, getattr(module, name)) for module in modules for name in _flags(module)]
    try:
        for module in modules:
            for name, rests in _flags(module).items():
                object.__setattr__(module, name, rests if mode == "eval" else not rests)  # equinox's are frozen
        fresh = xla_metadata.set_xla_metadata(recording=next(_recordings))  # part of what `jax.jit` remembers by
        with fresh, keras.training_told(mode):
            yield
    finally:
        for module, name, flag in before:
            object.__setattr__(module, name, flag)
