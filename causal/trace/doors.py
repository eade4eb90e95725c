"""The doors from tensors to the rest of Python that do not dispatch, and what runs out of sight.

While a model is traced, reading a tensor's values without a dispatched operation (`.numpy()`, `.tolist()`, a raw
pointer), and handing work to another thread (where the mode does not see it), report to the tracer. Compiled
functions run eagerly.
"""

from __future__ import annotations

import _thread
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
import torch.overrides
from torch.overrides import TorchFunctionMode

from .tracer import PLAIN_TYPES, Tracer

DOORS = ("numpy", "tolist", "__array__", "__dlpack__", "__repr__", "__format__", "data_ptr", "__reduce_ex__")
STORAGE = ("data_ptr", "tolist", "__getitem__", "__iter__", "__reduce__")  # of an untyped storage: raw bytes
# Constructors that take numbers out of 0-d tensors in a list, and index lists, without dispatching a read.
FROM_LISTS = {"tensor", "as_tensor", "asarray", "new_tensor", "new", "sparse_coo_tensor", "__getitem__", "__setitem__"}
NUMBERS = {"__float__", "__int__", "__index__", "__bool__", "__complex__"}


class Constructors(TorchFunctionMode):
    """Sees the calls above dispatch: what a constructor reads out of tensors that lie in lists is a read.

    `torch.tensor([x[0], x[1]])` and the legacy constructors stop the dispatch modes while they do it.
    """

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Report, then call."""
        name = getattr(func, "__name__", "")
        if name in NUMBERS:
            self.tracer.read_in_python([args[0]], f"Tensor.{name}()")
        elif name == "tensor_split":  # the places to split at are read through a raw pointer
            self.tracer.read_in_python([*args[1:], *(kwargs or {}).values()], f"Tensor.{name}()")
        elif name in FROM_LISTS:
            lists = [v for v in (*args, *(kwargs or {}).values()) if isinstance(v, (list, tuple))]
            if name in ("__getitem__", "__setitem__"):  # a tuple of tensors is an index, a list of them a constructor
                lists = [v for index in lists for v in (index if isinstance(index, tuple) else [index])]
                lists = [v for v in lists if isinstance(v, list)]
            self.tracer.read_in_python(lists, f"{name}() of a list of tensors")
        return func(*args, **(kwargs or {}))


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
    storage = torch.UntypedStorage
    # Modules leave their fused path when they see a function mode; ours must not change what the model does.
    patches.append((torch.overrides, "has_torch_function", _overridden))
    patches += [(storage, name, unseen(getattr(storage, name), f"UntypedStorage.{name}()")) for name in STORAGE]
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


def _overridden(arguments: Any) -> bool:
    return any(isinstance(a, torch.Tensor) and type(a) not in PLAIN_TYPES for a in arguments)


CALLBACKS = ("apply_", "map_", "map2_")  # Python computes the new elements one by one
THREADS = ((threading.Thread, "start"), (ThreadPoolExecutor, "submit"), (_thread, "start_new_thread"))


@contextmanager
def eager() -> Iterator[None]:
    """While it is open, compiled functions run as they were written."""
    stance = getattr(torch.compiler, "set_stance", None) if "torch._dynamo" in sys.modules else None
    original = torch.compile

    def plain(model: Any = None, **_: Any) -> Any:
        return (lambda f: f) if model is None else model

    torch.compile = plain  # type: ignore[assignment]
    try:
        with stance("force_eager") if stance is not None else nullcontext():
            yield
    finally:
        torch.compile = original
