"""The doors from tensors to the rest of Python that do not dispatch, and what runs out of sight.

While a model is traced, reading a tensor's values without a dispatched operation (`.numpy()`, `.tolist()`, a raw
pointer), and handing work to another thread (where the mode does not see it), report to the exits. Compiled
functions run eagerly.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.attention
import torch.overrides
import torch.utils._python_dispatch
import torch.utils.dlpack
from torch.overrides import TorchFunctionMode

from ..age import young
from . import composed
from .domain import VARIES, uniform
from .failures import REFUSED, caught
from .layouts import ASKS, Layouts
from .pytree import leaves
from .shadows import PLAIN_TYPES
from .tracer import Tracer

if TYPE_CHECKING:
    from .exits import Exits

WINDOWS = ("numpy", "__array__", "__dlpack__", "data_ptr", "const_data_ptr")  # what they give shows later writes, too
DOORS = (*WINDOWS, "tolist", "__repr__", "__format__", "__reduce_ex__")
# of an untyped storage: raw bytes, for Python, a file or another process
STORAGE = [
    "data_ptr",
    "tolist",
    "__getitem__",
    "__iter__",
    "__reduce__",
    "_write_file",
    "_share_fd_cpu_",
    "_share_filename_cpu_",
    "_swap_data_ptr_",
    "_set_from_file",
    "__setitem__",
    "byteswap",
    "resize_",
]
# Constructors that take numbers out of 0-d tensors in a list, and index lists, without dispatching a read.
FROM_LISTS = {"tensor", "as_tensor", "asarray", "new_tensor", "new", "sparse_coo_tensor", "__getitem__", "__setitem__"}
GETTERS = (vars(torch._C.TensorBase)["_base"].__get__,)  # attributes that tell how a tensor lies
NUMBERS = {"__float__", "__int__", "__index__", "__bool__", "__complex__"}


def called(function: Any) -> str:
    """The name of a function of PyTorch, or of an operation without its overload."""
    return str(getattr(function, "__name__", "")).partition(".")[0]


class Constructors(TorchFunctionMode):
    """Sees the calls above dispatch: what a constructor reads out of tensors that lie in lists is a read.

    `torch.tensor([x[0], x[1]])` and the legacy constructors stop the dispatch modes while they do it.
    """

    def __init__(self, exits: Exits) -> None:
        super().__init__()
        self.exits, self.layouts = exits, Layouts(exits.ledger, exits.shadows)

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Report, then call."""
        name = called(func)
        if name == "scaled_dot_product_attention":
            return self._attention(func, args, kwargs or {})
        if name == "max_pool1d":
            return self._pooled(func, args, kwargs or {})
        if name == "view" and not self.exits.is_busy:
            return self._viewed(func, args, kwargs or {})
        if (name in ASKS or func in GETTERS) and not self.exits.is_busy:
            with self.exits.stepping_aside():
                self.layouts.used(args[:1], f"Tensor.{name}() of")
        if name == "one_hot" and _classes(*args, **(kwargs or {})) > 0:
            return composed.one_hot(args[0], _classes(*args, **(kwargs or {})))
        if func is torch.nn.functional.embedding and (kwargs or {}).get("max_norm") is not None:
            return composed.normed_embedding(*args, **(kwargs or {}))
        if name in NUMBERS:
            self.exits.read_in_python([args[0]], f"Tensor.{name}()")
        elif name == "tensor_split":  # the places to split at are read through a raw pointer
            self.exits.read_in_python([*args[1:], *(kwargs or {}).values()], f"Tensor.{name}()")
        elif name in FROM_LISTS:
            given = [*args, *(kwargs or {}).values()]
            lists = [v for v in given if not isinstance(v, torch.Tensor)]
            if name in ("__getitem__", "__setitem__"):  # a tuple of tensors is an index, a list of them a constructor
                lists = [v for index in lists for v in (index if isinstance(index, tuple) else [index])]
                lists = [v for v in lists if not isinstance(v, torch.Tensor)]
            self.exits.read_in_python(lists, f"{name}() of a list of tensors")
        result = func(*args, **(kwargs or {}))
        given = [*args, *(v for k, v in (kwargs or {}).items() if k != "out")]
        if not name.endswith("_") and any(result is v for v in given if isinstance(v, torch.Tensor)):
            with self.exits.stepping_aside():
                self.layouts.mixed([result])  # lying otherwise, it may have been copied
        return result

    def _attention(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """By its math path, which lays the result out in another way than fused kernels do; or by one of these."""
        if _plainly_causal(*args, **kwargs) and not self.exits.chose_kernels:
            with _any_kernel(self.exits):
                return func(*args, **kwargs)
        result = func(*args, **kwargs)
        with self.exits.stepping_aside():
            self.layouts.loosen([result])
        return result

    def _viewed(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A view of what a fused kernel returns may be possible only as a copy of what the math path does: the same
        elements, whose layout is not certain either.
        """
        sizes = args[1:]
        if not sizes or kwargs or any(isinstance(size, torch.dtype) for size in sizes):
            return func(*args, **kwargs)
        with self.exits.stepping_aside():
            is_loose = self.layouts.are_loose(args[:1])
            if is_loose and (self.exits.suppressing or caught(REFUSED)):  # it may be told whether there is a view
                self.layouts.used(args[:1], "Tensor.view() of")
        return args[0].reshape(*sizes) if is_loose else func(*args)

    def _pooled(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """By two axes, where a kernel for one lays its result out row by row: the only one of PyTorch's operations
        that looks whether a mode is on, and then lays its result out otherwise (measured over its own samples).
        """
        result = func(*args, **kwargs)
        with self.exits.stepping_aside():
            self.layouts.loosen([] if result.is_contiguous() else [result])
        return result


@contextmanager
def _any_kernel(exits: Exits) -> Iterator[None]:
    """While it is open, attention may take any kernel."""
    choice = torch.nn.attention.sdpa_kernel(FUSED)
    with exits.busy():  # the choice is no doing of the program's
        choice.__enter__()
    try:
        yield
    finally:
        with exits.busy():
            choice.__exit__(None, None, None)


def _classes(tensor: Any = None, num_classes: int = -1, **_: Any) -> int:
    return num_classes


def _plainly_causal(
    query: Any, key: Any, value: Any, mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, **rest: Any
) -> bool:
    """Whether attention is causal by its flag alone, so that the rule of a fused kernel says all there is to say.

    On other devices than the CPU the kernels disagree about queries and keys of different lengths: the math path there.
    """
    return (
        is_causal and query.device.type == "cpu" and mask is None and rest.get("attn_mask") is None and dropout_p == 0.0
    )


@contextmanager
def watched(exits: Exits, holders: Iterable[ModuleType] = ()) -> Iterator[None]:
    """While it is open, the doors report to the ledger, and tensors made during the run can be told from older ones.

    `holders`: files of the program, which may have imported a door by its name.
    """
    patches: list[tuple[Any, str, Any]] = []
    doors: dict[int, Any] = {}

    def watch(
        owner: Any, name: str, report: Callable[..., Any], inside: bool = False, after: Callable[..., Any] | None = None
    ) -> None:
        """Before the call, `report` is given its arguments, and may give another for the first of them; `inside`: what
        the call does is PyTorch's own; `after` is given the first of them and what the call returned.
        """
        original = getattr(owner, name, None)
        if original is None:  # not in this release of PyTorch
            return

        def through(*args: Any, **kwargs: Any) -> Any:
            instead = report(*args)
            args = args if instead is None else (instead, *args[1:])
            with exits.busy() if inside else nullcontext():
                result = original(*args, **kwargs)
            if after is not None:
                after(args[0], result)
            return result

        patches.append((owner, name, through))
        doors[id(original)] = through

    def unseen(owner: Any, name: str, what: str) -> None:
        watch(owner, name, lambda *_: exits.out_of_sight(what))

    def door(name: str) -> Callable[..., Any]:
        def opened(tensor: Any, *_: Any) -> Any:
            shown = exits.shown(tensor, f"Tensor.{name}()", name in WINDOWS)
            exits.escaped(tensor, f"Tensor.{name}()", name in WINDOWS)
            return shown

        return opened

    def swapped(first: torch.Tensor, second: torch.Tensor) -> None:
        with exits.stepping_aside():
            mixed = first.is_meta is not second.is_meta
        if mixed and not exits.shadows.has_values:
            exits.ledger.need("torch.utils.swap_tensors() of tensors from before the run and from it")

    def text(function: Any, *given: Any) -> None:
        graph = str(function.inlined_graph)
        with exits.stepping_aside():
            Layouts(exits.ledger, exits.shadows).mixed([t for _, t in leaves(given) if isinstance(t, torch.Tensor)])
        if any(f"aten::{word}(" in graph for word in TEXT):
            exits.out_of_sight("the text of a value in TorchScript")
        if ATTENTION in graph and re.search(RESTS_ON_LAYOUT, graph):
            exits.out_of_sight("attention in TorchScript, whose result may lie otherwise")

    def after_script(function: Any, result: Any) -> None:
        if ATTENTION in str(function.inlined_graph):
            with exits.stepping_aside():
                Layouts(exits.ledger, exits.shadows).loosen(
                    [t for _, t in leaves(result) if isinstance(t, torch.Tensor)]
                )

    def chosen(*_: Any) -> None:
        exits.chose_kernels = exits.chose_kernels or not exits.is_busy

    def suppressing(by: int) -> Callable[..., None]:
        def count(*_: Any) -> None:
            exits.suppressing += by

        return count

    def popped(key: Any = None) -> None:
        count = torch._C._len_torch_dispatch_stack()
        mine = key is None and count and isinstance(torch._C._get_dispatch_stack_at(count - 1), Tracer)
        if mine and not any(part in _caller() for part in OWN):
            exits.out_of_sight(MODES_OFF)

    def below(_: Any, keys: torch._C.DispatchKeySet, *__: Any) -> None:
        if not keys.has(torch._C.DispatchKey.Python):
            exits.out_of_sight(MODES_OFF)

    def excluding(_: Any, *keys: torch._C.DispatchKeySet) -> None:
        if keys and keys[-1].has(torch._C.DispatchKey.Python):
            exits.out_of_sight(MODES_OFF)

    def excluded(key: torch._C.DispatchKey, out: bool) -> None:
        if out and key == torch._C.DispatchKey.Python:
            exits.out_of_sight(MODES_OFF)

    def kernel(operator: Any) -> Any:
        def called(key: torch._C.DispatchKey, *args: Any, **kwargs: Any) -> Any:
            if not key.name.startswith("Composite"):  # else it takes itself apart, which is seen
                exits.out_of_sight(MODES_OFF)
            return operator.__dict__["_op_dk"](key, *args, **kwargs)

        return called

    def get_state() -> torch.Tensor:
        state = torch.default_generator.get_state()
        exits.shadows.assign(state, uniform(tuple(state.shape), VARIES))  # no constant, and made of no data
        return state

    def set_state(state: torch.Tensor) -> None:
        if exits.shadows.of(state).depends:
            exits.read_in_python([state], "set_rng_state()")

    def left_aligned(src: torch.Tensor, mask: torch.Tensor) -> bool:
        if not exits.shadows.of(mask).is_fixed:
            return left_aligned_by_torch(src, mask)
        exits.ledger.assume(NESTED)
        return False

    left_aligned_by_torch = torch._nested_tensor_from_mask_left_aligned
    patches.append((torch, "_nested_tensor_from_mask_left_aligned", left_aligned))
    for name in DOORS:
        watch(torch.Tensor, name, door(name), inside=name in ("__repr__", "__format__"))
    for holder, name in (
        (torch._C, "_to_dlpack"),
        (torch._C, "_to_dlpack_versioned"),
        (torch, "to_dlpack"),
        (torch.utils.dlpack, "to_dlpack"),
    ):
        watch(holder, name, door("__dlpack__"))
    watch(torch._C, "_swap_tensor_impl", swapped)
    for name in CALLBACKS:
        unseen(torch.Tensor, name, f"Tensor.{name}()")
    for name in STORAGE:
        unseen(torch.UntypedStorage, name, f"UntypedStorage.{name}()")
    for owner, name, what in OUT_OF_SIGHT:
        unseen(owner, name, what)
    for holder in (torch._C, torch.utils._python_dispatch):
        watch(holder, "_pop_torch_dispatch_stack", popped)
    for kind, name, report in (
        ("_DispatchOperatorHandle", "redispatch_boxed", below),
        ("_SafeKernelFunction", "call_boxed", lambda *_: exits.out_of_sight(MODES_OFF)),
        ("_DisableTorchDispatch", "__init__", lambda *_: exits.out_of_sight(MODES_OFF)),
        ("_ExcludeDispatchKeyGuard", "__init__", excluding),
        ("_ForceDispatchKeyGuard", "__init__", excluding),
        ("_SetExcludeDispatchKeyGuard", "__init__", lambda _, *args: excluded(*args)),
    ):
        if kind in vars(torch._C):
            watch(getattr(torch._C, kind), name, report)
    watch(torch._C, "_dispatch_tls_set_dispatch_key_excluded", excluded)
    patches.append((torch._ops.OpOverload, "_op_dk", property(kernel, lambda o, v: o.__dict__.update(_op_dk=v))))
    for script in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        watch(script, "__call__", text, after=after_script)
    for name in torch.nn.attention._backend_names:
        watch(torch._C, f"_set_sdp_use_{name}", chosen)
    watch(contextlib.suppress, "__enter__", suppressing(1))
    watch(contextlib.suppress, "__exit__", suppressing(-1))
    for module in (torch, torch.random):
        watch(module, "set_rng_state", set_state)
        patches.append((module, "get_rng_state", get_state))
    # Modules leave their fused path when they see a function mode; ours must not change what the model does.
    patches.append((torch.overrides, "has_torch_function", _overridden))
    for module in holders:
        patches += [(module, name, doors[id(v)]) for name, v in vars(module).items() if id(v) in doors]
    saved = [(owner, name, owner.__dict__.get(name)) for owner, name, _ in patches]
    for owner, name, new in patches:
        setattr(owner, name, new)
    try:
        with young():
            yield
    finally:
        for owner, name, old in saved:
            if old is None:
                delattr(owner, name)
            else:
                setattr(owner, name, old)


# parts of PyTorch that take a mode off to give it the operator, or while they run nothing of the program
OWN = (torch._ops.__file__, composed.__file__, f"{os.sep}_dynamo{os.sep}")


def _caller() -> str:
    """The file that took a mode off."""
    frame: Any = sys._getframe(1)
    while frame.f_code.co_filename in (__file__, contextlib.__file__, torch.utils._python_dispatch.__file__):
        frame = frame.f_back
    return str(frame.f_code.co_filename)


def _overridden(arguments: Any) -> bool:
    return any(isinstance(a, torch.Tensor) and type(a) not in PLAIN_TYPES for a in arguments)


FUSED = [k for k in torch.nn.attention.SDPBackend.__members__.values() if k.name not in ("ERROR", "OVERRIDEABLE")]
NESTED = "the nested tensors of nn.TransformerEncoder, with zeros in place of padding, compute what its plain path does"
CALLBACKS = ("apply_", "map_", "map2_")  # Python computes the new elements one by one
TEXT = ("str", "format", "percentFormat", "hash")  # what makes text or a number of a tensor without dispatching
ATTENTION = "aten::scaled_dot_product_attention("
RESTS_ON_LAYOUT = r"aten::(\w*[a-z]_|stride|is_contiguous)\("  # writes in place among them
MODES_OFF = "operations with the dispatch modes switched off"
OUT_OF_SIGHT = (
    *((owner, name, "work in another thread") for owner, name in (
        (threading.Thread, "start"), (ThreadPoolExecutor, "submit"), (_thread, "start_new_thread"),
    )),
    (os, "fork", "work in another process"),
    (torch.jit, "save", "torch.jit.save()"),
    (ctypes, "CFUNCTYPE", "a function that C calls, whose failures nobody hears"),
    (ctypes, "PYFUNCTYPE", "a function that C calls, whose failures nobody hears"),
    (torch._C, "DisableTorchFunction", "operations with the function modes switched off"),
    (torch._C, "_dlpack_exchange_api", "the bytes of tensors, for another library"),
)  # fmt: skip


@contextmanager
def eager() -> Iterator[None]:
    """While it is open, compiled functions run as they were written."""
    stance = getattr(torch.compiler, "set_stance", None) if "torch._dynamo" in sys.modules else None
    original = torch.compile

    def plain(model: Any = None, **_: Any) -> Any:
        return (lambda f: f) if model is None else model

    torch.compile = plain
    try:
        with stance("force_eager") if stance is not None else nullcontext():
            yield
    finally:
        torch.compile = original
