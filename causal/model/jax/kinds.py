"""Whether a model, or its inputs, are JAX's: asked of what was imported already, so that nothing is imported to ask."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import keras

LIBRARIES = ("flax.nnx", "flax.linen", "equinox")


def is_jax(model: Any, inputs: Any = ()) -> bool:
    """Whether a model is written for JAX: a module of a library of it, a jitted function, or one given arrays of JAX.

    Where JAX is in use, a function that is given arrays of NumPy and no tensor is one, too.

    >>> is_jax(len), is_jax(len, ([1.0],))
    (False, False)
    """
    jax: Any = sys.modules.get("jax")
    if jax is None:
        return False

    owners = (model, getattr(model, "__self__", None))  # the object whose method it is
    if any(keras.runs_on_jax(owner) for owner in owners):
        return True
    if any(is_module(owner, library) for owner in owners for library in LIBRARIES):
        return True
    if isinstance(model, type(jax.jit(len))):
        return True
    leaves = list(_leaves(inputs, 0))
    if any(isinstance(leaf, (jax.Array, jax.ShapeDtypeStruct)) for leaf in leaves):
        return True
    tensor = getattr(sys.modules.get("torch"), "Tensor", ())
    arrays = any(isinstance(leaf, np.ndarray) for leaf in leaves) and not any(
        isinstance(leaf, tensor) for leaf in leaves
    )
    return arrays and may_be_jax(model)


def may_be_jax(model: Any) -> bool:
    """Whether only its inputs can tell: JAX is in use, and the model is no module of PyTorch's."""
    torch = sys.modules.get("torch.nn")
    return sys.modules.get("jax") is not None and not (torch is not None and isinstance(model, torch.Module))


def is_module(model: Any, library: str) -> bool:
    """Whether it is a module of one of LIBRARIES, which need not be in use."""
    kind = getattr(sys.modules.get(library), "Module", None)
    return isinstance(kind, type) and isinstance(model, kind)


def _leaves(value: Any, depth: int) -> Iterator[Any]:
    """What nested lists, tuples and mappings hold."""
    if depth < 8 and isinstance(value, Mapping):
        for child in value.values():
            yield from _leaves(child, depth + 1)
    elif depth < 8 and isinstance(value, (list, tuple)):
        for child in value:
            yield from _leaves(child, depth + 1)
    else:
        yield value
