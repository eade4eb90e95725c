"""The doors from tensors to the rest of Python that do not dispatch, and what runs out of sight.

While a model is traced, reading a tensor's values without a dispatched operation (`.numpy()`, `.tolist()`, a raw
pointer), and handing work to another thread (where the mode does not see it), report to the tracer. Compiled
functions run eagerly.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch

from .tracer import Tracer

DOORS = ("numpy", "tolist", "__array__", "__dlpack__", "__repr__", "__format__", "data_ptr")


@contextmanager
def watched(tracer: Tracer) -> Iterator[None]:
    """While it is open, the doors report to the tracer, and tensors made during the run can be told from older ones."""
    originals = {name: getattr(torch.Tensor, name) for name in DOORS}

    def door(name: str) -> Callable[..., Any]:
        def through(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            tracer.escaped(self, f"Tensor.{name}()")
            return originals[name](self, *args, **kwargs)

        return through

    def unseen(original: Callable[..., Any], what: str = "work in another thread") -> Callable[..., Any]:
        def through(*args: Any, **kwargs: Any) -> Any:
            tracer.out_of_sight(what)
            return original(*args, **kwargs)

        return through

    patches: list[tuple[Any, str, Any]] = [(torch.Tensor, name, door(name)) for name in DOORS]
    patches += [(torch.Tensor, name, unseen(getattr(torch.Tensor, name), f"Tensor.{name}()")) for name in CALLBACKS]
    patches += [(owner, name, unseen(getattr(owner, name))) for owner, name in THREADS]
    saved = [(owner, name, owner.__dict__.get(name)) for owner, name, _ in patches]
    for owner, name, new in patches:
        setattr(owner, name, new)
    gc.freeze()  # what is tracked from now on is younger than the run
    try:
        yield
    finally:
        gc.unfreeze()
        for owner, name, old in saved:
            if old is None:
                delattr(owner, name)
            else:
                setattr(owner, name, old)


CALLBACKS = ("apply_", "map_", "map2_")  # Python computes the new elements one by one
THREADS = ((threading.Thread, "start"), (ThreadPoolExecutor, "submit"))


@contextmanager
def eager() -> Iterator[None]:
    """While it is open, compiled functions run as they were written."""
    if "torch._dynamo" in sys.modules:
        stance = getattr(torch.compiler, "set_stance", None)
        if stance is not None:
            with stance("force_eager"):
                yield
            return
    original = torch.compile

    def plain(model: Any = None, **_: Any) -> Any:
        return (lambda f: f) if model is None else model

    torch.compile = plain  # type: ignore[assignment]
    try:
        yield
    finally:
        torch.compile = original
