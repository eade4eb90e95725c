"""A PyTorch model as a pure function of one sequence: seeded, restored after every call, in a mode and a precision.

A check runs the same program many times and compares the runs, so whatever makes two runs differ beside the varied
input is taken away here: random numbers, training flags, buffers that a call rewrites, and tensors that it writes into.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from .trace.tree import leaves

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

MODES = ("eval", "train")


class ModelError(ValueError):
    """The model cannot be checked as it was given; the sentence says what to change."""


def need_torch() -> Any:
    """PyTorch, or one sentence that names the extra."""
    try:
        import torch
    except ImportError:
        raise ImportError("check_model needs PyTorch; install it with pip install 'attnproof[torch]'") from None
    return torch


@dataclass(frozen=True)
class Setting:
    """How a run is made. `jitter` is the scale of the noise added to every parameter, `tremor` a relative one."""

    mode: str = "eval"
    precision: str = "native"  # or "float64": parameters, inputs and every intermediate result
    jitter: float = 0.0
    tremor: float = 0.0
    seed: int = 0
    tremor_seed: int = 0

    def describe(self) -> str:
        """A phrase such as 'float64, train mode, parameters jittered by 0.1'."""
        said = [] if self.precision == "native" else [self.precision]
        said += [f"{self.mode} mode"] if self.mode != "eval" else []
        said += [f"parameters jittered by {self.jitter:g}"] if self.jitter else []
        return ", ".join(said)


@dataclass(frozen=True)
class Seen:
    """What one run showed: the output's dtype and shape, the coarsest float in use, randomness, writes, vocabulary."""

    output: Tensor
    path: str
    unchecked: tuple[str, ...]
    epsilon: float
    random: bool
    writes_input: tuple[int, ...]
    writes_state: tuple[str, ...]
    seconds: float
    vocabulary: int | None


class Program:
    """The model, its inputs and the axes; `run` gives the output with the sequence axis first.

    `model` is an `nn.Module` or any callable (modules are found in closures, bound methods, partials, and globals that
    the function names). `inputs` are its positional inputs; a last mapping is passed as keywords. `vary` is the index
    (or keyword) of the input that is varied. Raises ModelError (a ValueError) with one sentence.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        inputs: Sequence[Any],
        *,
        vary: int | str = 0,
        sequence_axis: int = 1,
        output_axis: int | None = None,
    ) -> None:
        torch = need_torch()
        if not callable(model):
            raise TypeError(f"model must be callable, not {type(model).__name__}; pass an nn.Module or a function")
        self.model, self.vary = model, vary
        self.keywords: dict[str, Any] = {}
        positional = list(inputs)
        if positional and isinstance(positional[-1], Mapping):
            self.keywords = dict(positional.pop())
        self.positional = positional
        if isinstance(vary, str) and vary not in self.keywords:
            raise ModelError(f"vary = {vary!r} is no keyword of the model's inputs; give them as a last mapping")
        if not isinstance(vary, str) and not 0 <= vary < len(positional):
            if vary == 0 and len(self.keywords) == 1:
                self.vary = next(iter(self.keywords))
            else:
                raise ModelError(f"vary = {vary} names none of the {len(positional)} inputs; pass an index below that")
        x = self.input
        if not isinstance(x, torch.Tensor):
            raise ModelError(
                f"input {self.vary} is {type(x).__name__}; the varied input must be a tensor, choose it with vary"
            )
        self.sequence_axis = _axis(x, sequence_axis, "sequence_axis", f"input {self.vary}")
        self.output_axis = self.sequence_axis if output_axis is None else output_axis
        self.n = int(x.shape[self.sequence_axis])
        if not self.n:
            raise ModelError(
                f"input {self.vary} has no position along sequence_axis = {sequence_axis}; pass a longer one"
            )
        self.modules = modules_of(model)
        self._leaf: str | None = None

    @property
    def input(self) -> Any:
        """The varied input as given."""
        return self.keywords[self.vary] if isinstance(self.vary, str) else self.positional[self.vary]

    def is_discrete(self) -> bool:
        """Whether the varied input holds whole numbers (tokens)."""
        return not (self.input.is_floating_point() or self.input.is_complex())

    # -- running --------------------------------------------------------------------------------------------------

    def call(self, x: Tensor) -> Any:
        """The model's raw output on `x` in place of the varied input, every tensor a copy of the caller's."""
        positional, keywords = self._arguments(x)
        return self.model(*positional, **keywords)

    def _arguments(self, x: Tensor) -> tuple[list[Any], dict[str, Any]]:
        from torch.utils._pytree import tree_map

        positional, keywords = tree_map(_copied, (self.positional, self.keywords))
        if isinstance(self.vary, str):
            keywords[self.vary] = x.clone()
        else:
            positional[self.vary] = x.clone()
        return positional, keywords

    def run(self, x: Tensor, setting: Setting = Setting()) -> Tensor:
        """The output (queries, features) for the varied input `x`, detached; complex numbers as two reals."""
        with self.prepared(setting), _told():
            if setting.precision == "float64":
                x = _wider(x)
            return self._rows(self.call(x))

    def _rows(self, result: Any) -> Tensor:
        import torch

        path, y, _ = choose_output(result, self.output_axis, self._leaf)
        self._leaf = path
        y = y.detach()
        if y.is_complex():
            y = torch.view_as_real(y)
        return y.movedim(self._output_axis(y), 0).reshape(y.shape[self._output_axis(y)], -1)

    def _output_axis(self, y: Tensor) -> int:
        return self.output_axis if self.output_axis >= 0 else y.dim() + self.output_axis

    @contextmanager
    def prepared(self, setting: Setting) -> Iterator[None]:
        """The setting in force: mode, parameters, precision and seeds; everything is as before afterwards."""
        import torch

        with ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            stack.enter_context(_seeded(setting.seed))
            stack.enter_context(in_mode(self.modules, setting.mode))
            stack.enter_context(_restored(self.modules))
            stack.enter_context(_parameters(self.modules, setting))
            if setting.precision == "float64":
                stack.enter_context(_in_float64())
            yield

    def observe(self, mode: str = "eval") -> Seen:
        """One native run, with what it showed; ModelError when the model raises or returns no usable tensor."""
        import torch
        from torch.utils._pytree import tree_flatten

        watch = _watcher(self.input)
        setting = Setting(mode=mode)
        with self.prepared(setting), _told():
            positional, keywords = self._arguments(self.input)
            given = tree_flatten((positional, keywords))[0]
            versions = [(i, t, t._version) for i, t in enumerate(given) if isinstance(t, torch.Tensor)]
            before = _Snapshot(self.modules)
            started = time.perf_counter()
            with watch:
                result = self.model(*positional, **keywords)
            seconds = time.perf_counter() - started
            state = before.changes()
            written = tuple(i for i, t, v in versions if t._version != v)
        path, y, others = choose_output(result, self.output_axis, None)
        self._leaf = path
        if self.output_axis < 0:
            self.output_axis += y.dim()
        return Seen(
            output=self._rows(result),
            path=path,
            unchecked=tuple(others),
            epsilon=watch.epsilon,
            random=watch.random,
            writes_input=written,
            writes_state=tuple(state),
            seconds=seconds,
            vocabulary=watch.vocabulary,
        )


def _axis(x: Tensor, axis: int, name: str, what: str) -> int:
    if not isinstance(axis, int) or not -x.dim() <= axis < x.dim():
        raise ModelError(
            f"{name} = {axis!r} is no axis of {what}, whose shape is {tuple(x.shape)}; pass the axis that holds "
            "positions"
        )
    return axis % x.dim()


def _copied(value: Any) -> Any:
    import torch

    return value.clone() if isinstance(value, torch.Tensor) else value


@contextmanager
def _told() -> Iterator[None]:
    """Whatever the model raises, as one sentence with the original as its cause."""
    try:
        yield
    except (ModelError, KeyboardInterrupt):
        raise
    except Exception as error:
        said = " ".join(str(error).split())
        said = said if len(said) <= 300 else f"{said[:297]}…"
        if "CUDA" in said or "cuda" in said or "Triton" in said:
            raise ModelError(
                f"the model needs a CUDA kernel that does not run here ({type(error).__name__}: {said}); "
                "check it on a machine with a GPU or switch the model to its plain path"
            ) from error
        raise ModelError(
            f"the model raised {type(error).__name__} on these inputs ({said}); call it once yourself and mend that "
            "first"
        ) from error


# -- outputs ------------------------------------------------------------------------------------------------------


def choose_output(result: Any, axis: int, wanted: str | None) -> tuple[str, Tensor, list[str]]:
    """The output to check: the first floating tensor that has the output axis; its path, and those not checked."""
    import torch

    found = [(p, t) for p, t in leaves(result) if isinstance(t, torch.Tensor)]
    numbers = [(p, t) for p, t in found if t.is_floating_point() or t.is_complex()] or found
    usable = [(p, t) for p, t in numbers if -t.dim() <= axis < t.dim()]
    if not found:
        raise ModelError(
            f"the model returned {type(result).__name__} and no tensor; wrap it in a function that returns the tensor "
            "to check"
        )
    if not usable:
        raise ModelError(
            f"output_axis = {axis} is no axis of output{found[0][0]}, whose shape is {tuple(found[0][1].shape)}; "
            "pass the axis of the output that holds queries"
        )
    path, y = next(((p, t) for p, t in usable if p == wanted), usable[0])
    return path, y, [p for p, _ in numbers if p != path]


# -- modules, modes and state -------------------------------------------------------------------------------------


def modules_of(model: Any) -> list[nn.Module]:
    """The `nn.Module`s that a callable reaches: itself, bound methods, partials, closures and globals that it names."""
    import torch

    found: dict[int, torch.nn.Module] = {}
    seen: set[int] = set()

    def visit(value: Any, depth: int) -> None:
        if id(value) in seen or depth > 4:
            return
        seen.add(id(value))
        if isinstance(value, torch.nn.Module):
            found[id(value)] = value
        elif isinstance(value, MethodType):
            visit(value.__self__, depth + 1)
            visit(value.__func__, depth + 1)
        elif isinstance(value, partial):
            for part in (value.func, *value.args, *value.keywords.values()):
                visit(part, depth + 1)
        elif isinstance(value, FunctionType):
            for cell in value.__closure__ or ():
                try:
                    visit(cell.cell_contents, depth + 1)
                except ValueError:  # an empty cell
                    continue
            for part in (*(value.__defaults__ or ()), *vars(value).values()):
                visit(part, depth + 1)
            for name in value.__code__.co_names:
                if isinstance(value.__globals__.get(name), (torch.nn.Module, FunctionType)):
                    visit(value.__globals__[name], depth + 1)
        elif isinstance(value, (list, tuple)):
            for part in value:
                visit(part, depth + 1)
        elif isinstance(value, dict):
            for part in value.values():
                visit(part, depth + 1)
        elif callable(value) and hasattr(value, "__dict__") and not isinstance(value, type):
            for part in vars(value).values():
                visit(part, depth + 1)

    visit(model, 0)
    inner = {id(m) for top in found.values() for m in top.modules() if m is not top}
    return [m for key, m in found.items() if key not in inner]


def named_parameters(modules: Sequence[nn.Module]) -> dict[str, Tensor]:
    """Every parameter once, by name; names of several modules are prefixed by their number."""
    found: dict[str, Tensor] = {}
    for i, module in enumerate(modules):
        prefix = "" if len(modules) == 1 else f"{i}:"
        found.update({prefix + name: p for name, p in module.named_parameters()})
    return found


@contextmanager
def in_mode(modules: Sequence[nn.Module], mode: str) -> Iterator[None]:
    """Every module in the mode; each one's own flag comes back afterwards."""
    flags = [(m, m.training) for top in modules for m in top.modules()]
    try:
        for top in modules:
            if any(m.training != (mode == "train") for m in top.modules()):
                with suppress(NotImplementedError):  # exported programs have their mode built in
                    top.train(mode == "train")
        yield
    finally:
        for module, flag in flags:
            module.training = flag


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Torch's, NumPy's and Python's random numbers from the seed; their states come back afterwards."""
    import torch

    numpy_state, python_state = np.random.get_state(), random.getstate()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        np.random.seed(seed % 2**32)
        random.seed(seed)
        try:
            yield
        finally:
            np.random.set_state(numpy_state)
            random.setstate(python_state)


class _Snapshot:
    """Buffers, attributes and parameters of the modules, so that a call's writes can be named and undone."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        import torch

        self.dicts: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = []
        self.tensors: list[tuple[str, Tensor, Tensor]] = []
        self.parameters: list[tuple[str, Tensor, int]] = []
        for top in modules:
            for name, module in top.named_modules():
                dot = f"{name}." if name else ""
                if not isinstance(module, torch.jit.ScriptModule):  # its attributes live outside Python
                    self.dicts.append((dot, module, dict(module.__dict__), dict(module._buffers)))
                held = {
                    **{k: v for k, v in vars(module).items() if isinstance(v, torch.Tensor)},
                    **dict(module.named_buffers(recurse=False)),
                }
                for key, t in held.items():
                    if t is not None:
                        self.tensors.append((dot + key, t, t.detach().clone()))
            self.parameters += [(name, p, p._version) for name, p in top.named_parameters()]

    def changes(self) -> list[str]:
        """The names of buffers, tensors and parameters that differ from the snapshot."""
        import torch

        # values are compared, not versions: batch normalisation writes its running statistics behind autograd's back
        changed = [n for n, t, kept in self.tensors if not _same(t, kept)]
        changed += [n for n, p, v in self.parameters if p._version != v]
        for dot, module, attributes, buffers in self.dicts:
            for key, value in {**vars(module), **module._buffers}.items():
                old = buffers.get(key, attributes.get(key))
                if isinstance(value, torch.Tensor) and isinstance(old, torch.Tensor) and value is not old:
                    changed += [] if _same(value, old) else [dot + key]
        return sorted(set(changed))

    def restore(self) -> None:
        for _, t, kept in self.tensors:
            if not _same(t, kept):
                t.detach().copy_(kept)
        for _, module, attributes, buffers in self.dicts:
            for key in set(module.__dict__) - set(attributes):
                del module.__dict__[key]
            for key, value in attributes.items():
                if key != "training" and module.__dict__.get(key) is not value:
                    module.__dict__[key] = value
            for key in set(module._buffers) - set(buffers):
                del module._buffers[key]
            for key, value in buffers.items():
                if key not in module._buffers or module._buffers[key] is not value:
                    module._buffers[key] = value


def _same(a: Tensor, b: Tensor) -> bool:
    import torch

    return a.shape == b.shape and a.dtype == b.dtype and bool(torch.equal(a, b))


@contextmanager
def _restored(modules: Sequence[nn.Module]) -> Iterator[None]:
    snapshot = _Snapshot(modules)
    try:
        yield
    finally:
        snapshot.restore()


@contextmanager
def _parameters(modules: Sequence[nn.Module], setting: Setting) -> Iterator[None]:
    """Parameters jittered and widened as the setting says; the very same storage comes back afterwards."""
    import torch

    wide = setting.precision == "float64"
    if not (wide or setting.jitter or setting.tremor):
        yield
        return
    held: dict[int, tuple[Tensor, Tensor]] = {}
    generator = torch.Generator().manual_seed(1234 + setting.seed)
    trembling = torch.Generator().manual_seed(4321 + setting.tremor_seed)
    parameters = {id(p) for top in modules for p in top.parameters()}
    tensors = [t for top in modules for t in (*top.parameters(), *top.buffers())]
    try:
        for t in tensors:
            if id(t) in held or not (t.is_floating_point() or t.is_complex()):
                continue
            held[id(t)] = (t, t.data)
            value = _wider(t.data) if wide else t.data
            if id(t) in parameters and (setting.jitter or setting.tremor):
                real = torch.float64 if not t.is_complex() else torch.complex128
                for scale, factor, source in ((setting.jitter, 1.0, generator), (setting.tremor, value, trembling)):
                    if scale:
                        noise = torch.randn(value.shape, generator=source, dtype=real).to(value.dtype)
                        value = value + scale * factor * noise.to(value.device)
            t.data = value
        yield
    finally:
        for t, data in held.values():
            t.data = data


# -- precision ----------------------------------------------------------------------------------------------------


def _wide_dtype(dtype: Any) -> Any:
    import torch

    if dtype in (torch.float16, torch.bfloat16, torch.float32):
        return torch.float64
    if dtype in (torch.complex32, torch.complex64):
        return torch.complex128
    return dtype


def _wider(t: Tensor) -> Tensor:
    wide = _wide_dtype(t.dtype)
    return t if wide is t.dtype else t.to(wide)


@contextmanager
def _in_float64() -> Iterator[None]:
    """Every floating operation in double precision, `.float()` inside the model included."""
    import torch

    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with _widening():
            yield
    finally:
        torch.set_default_dtype(default)


def _widening() -> Any:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map

    def widen(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return _wider(value)
        return _wide_dtype(value) if isinstance(value, torch.dtype) else value

    class Widening(TorchDispatchMode):
        supports_higher_order_operators = True

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return "torch._dynamo" in sys.modules  # otherwise the first use would import it, which takes seconds

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if not hasattr(func, "_schema"):  # a higher-order operator, whose branches run under this mode, too
                return func(*tree_map(widen, args), **tree_map(widen, kwargs or {}))
            if func is torch.ops.aten.view.dtype:
                raise ModelError("the model reads the bits of a float; it cannot be run in float64")
            if func._schema.is_mutable:
                written = [
                    v
                    for a, v in zip(func._schema.arguments, args, strict=False)
                    if a.alias_info is not None and a.alias_info.is_write and isinstance(v, torch.Tensor)
                ]
                if any(_wide_dtype(t.dtype) is not t.dtype for t in written):
                    raise ModelError("the model writes into a tensor of its own that is not float64")
            args, kwargs = tree_map(widen, (args, kwargs or {}))
            return func(*args, **kwargs)

    return Widening()


def _watcher(x: Tensor) -> Any:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_iter

    class Watcher(TorchDispatchMode):
        supports_higher_order_operators = True
        epsilon = torch.finfo(x.dtype).eps if x.is_floating_point() else 0.0
        random = False
        vocabulary: int | None = None

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return "torch._dynamo" in sys.modules  # otherwise the first use would import it, which takes seconds

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            self.random |= torch.Tag.nondeterministic_seeded in getattr(func, "tags", ())
            for t in tree_iter(result):
                if isinstance(t, torch.Tensor) and (t.is_floating_point() or t.is_complex()):
                    self.epsilon = max(self.epsilon, torch.finfo(t.dtype).eps)
            if func is torch.ops.aten.embedding.default and not x.is_floating_point():
                table, index = args[0], args[1]
                if index.numel() == x.numel() and bool(torch.equal(index.reshape(-1), x.reshape(-1))):
                    self.vocabulary = min(self.vocabulary or table.shape[0], table.shape[0])
            return result

    return Watcher()
