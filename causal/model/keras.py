"""Layers of Keras 3, on its back ends of JAX and PyTorch: what they are, and the mode that a call tells them.

A layer has no mode of its own: the outermost call says `training=`, and those inside hear of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import CodeType
from typing import Any

from .setting import ModelError

INNARDS = os.sep + os.path.join("keras", "src") + os.sep
LAYERS = INNARDS + "layers" + os.sep
CALLS = LAYERS + "layer.py"  # where every layer is called

_inside: ContextVar[bool] = ContextVar("inside a call of a layer", default=False)


def is_layer(value: Any) -> bool:
    """Whether it is a layer or model of Keras, which need not be in use.

    >>> is_layer(len)
    False
    """
    kind = getattr(sys.modules.get("keras"), "Layer", None)
    return isinstance(kind, type) and issubclass(type(value), kind)


def runs_on_jax(value: Any) -> bool:
    """Whether it is a layer, and Keras runs on JAX; ModelError where it runs on neither JAX nor PyTorch."""
    if not is_layer(value):
        return False
    backend = sys.modules["keras"].backend.backend()
    if backend not in ("jax", "torch"):
        raise ModelError("the model", f"is a layer of Keras on {backend}", "set KERAS_BACKEND to jax or torch")
    return bool(backend == "jax")


def are_built(layers: Sequence[Any]) -> None:
    """ModelError where one of the layers, which is inside no other, has not made its variables yet."""
    inner = {id(part) for layer in layers for part in layer._flatten_layers(include_self=False)}
    for layer in layers:
        if not layer.built and id(layer) not in inner:
            what = f"runs {layer.name}, a layer of Keras that was never called"
            raise ModelError("the model", what, "call the model once first, so that it makes its variables")


@cache
def is_inner(file: str) -> bool:
    """Whether a file is what layers of Keras are made of, and none of its layers.

    >>> path = os.sep.join(["", "env", "keras", "src", ""])
    >>> is_inner(path + "ops"), is_inner(os.sep.join([path + "layers", "rnn"]))
    (True, False)
    """
    return INNARDS in file and (LAYERS not in file or file.endswith(CALLS))


def is_call(code: CodeType) -> bool:
    """Whether it is what every layer of Keras is called by, whose `self` is the layer."""
    return code.co_name == "__call__" and code.co_filename.endswith(CALLS)


def path_of(module: Any) -> str:
    """The names of a layer of Keras, and of those around it, joined by dots; "" for any other module."""
    path = getattr(module, "path", None) if is_layer(module) else None
    return path.replace("/", ".") if isinstance(path, str) else ""


@contextmanager
def training_told(mode: str) -> Iterator[None]:
    """The outermost call of every layer is told the mode, unless it says `training=` itself.

    Nothing catches what a layer raises, to raise it again with another traceback.
    """
    keras: Any = sys.modules.get("keras")
    kind = getattr(keras, "Layer", None)
    if kind is None:
        yield
        return
    before, filtered = kind.__call__, keras.config.is_traceback_filtering_enabled()

    def told(layer: Any, *given: Any, **keywords: Any) -> Any:
        if not _inside.get() and keywords.get("training") is None:
            keywords["training"] = mode == "train"
        token = _inside.set(True)
        try:
            return before(layer, *given, **keywords)
        finally:
            _inside.reset(token)

    kind.__call__ = told
    keras.config.disable_traceback_filtering()
    try:
        yield
    finally:
        kind.__call__ = before
        if filtered:
            keras.config.enable_traceback_filtering()
