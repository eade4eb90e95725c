"""A PyTorch model as a pure function of one sequence: seeded, restored after every call, in a mode and a precision.

A check runs the same program many times and compares the runs, so whatever makes two runs differ beside the varied
input is taken away here: random numbers, training flags, buffers that a call rewrites, and tensors that it writes into.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import draws
from .modules import in_mode, modules_of, seeded
from .precision import in_float64, parameters_as, uncompiled, wider
from .restore import Snapshot, restored
from .setting import AS_GIVEN, ModelError, Setting, need_torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Seen:
    """What one run showed: the output's dtype and shape, the coarsest float in use, randomness, writes, vocabulary."""

    output: Tensor
    path: str
    unchecked: tuple[str, ...]
    epsilon: float
    random: bool
    apart: bool
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

    def call(self, x: Tensor, alone: bool = False) -> Any:
        """The model's raw output on `x` in place of the varied input, every tensor a copy of the caller's."""
        positional, keywords = self._arguments(x, alone)
        return self.model(*positional, **keywords)

    def _arguments(self, x: Tensor, alone: bool = False) -> tuple[list[Any], dict[str, Any]]:
        """Copies of the inputs, one per tensor; `x` wherever the varied one was given, or at its own place `alone`."""
        import torch

        from .trace.pytree import mapped

        copies: dict[int, Tensor] = {} if alone else {id(self.input): x.clone()}
        originals: list[Tensor] = []  # kept alive, since the copies are found by their addresses

        def copied(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            if id(value) not in copies:
                originals.append(value)
                copies[id(value)] = value.clone()
            return copies[id(value)]

        positional, keywords = mapped(copied, (self.positional, self.keywords))
        if alone:
            (keywords if isinstance(self.vary, str) else positional)[self.vary] = x.clone()
        return positional, keywords

    @property
    def tied(self) -> tuple[int | str, ...]:
        """The other inputs that are the very tensor that is varied, by index or keyword."""
        given: list[tuple[int | str, Any]] = [*enumerate(self.positional), *self.keywords.items()]
        return tuple(name for name, value in given if value is self.input and name != self.vary)

    def run(self, x: Tensor, setting: Setting = AS_GIVEN) -> Tensor:
        """The output (queries, features) for the varied input `x`, detached; complex numbers as two reals."""
        with self.prepared(setting), _told():
            if setting.precision == "float64":
                x = wider(x)
            return self._rows(self.call(x, setting.alone))

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
            stack.enter_context(seeded(setting.seed))
            stack.enter_context(in_mode(self.modules, setting.mode))
            stack.enter_context(restored(self.modules))
            stack.enter_context(parameters_as(self.modules, setting))
            if setting.apart:
                stack.enter_context(uncompiled())
                stack.enter_context(draws.apart())
            if setting.precision == "float64":
                stack.enter_context(in_float64())
            yield

    def observe(self, mode: str = "eval", apart: bool = False) -> Seen:
        """One native run, with what it showed; ModelError when the model raises or returns no usable tensor."""
        import torch

        from .trace.pytree import leaves

        watch = _watcher(self.input)
        setting = Setting(mode=mode, apart=apart)
        with self.prepared(setting), _told():
            positional, keywords = self._arguments(self.input)
            given = leaves((positional, keywords))
            versions = [(i, t, t._version) for i, (_, t) in enumerate(given) if isinstance(t, torch.Tensor)]
            before = Snapshot(self.modules)
            started = time.perf_counter()
            with uncompiled(), watch:
                result = self.model(*positional, **keywords)
            seconds = time.perf_counter() - started
            state = before.changes()
            written = tuple(i for i, t, v in versions if t._version != v)
        if watch.steered and not apart:
            return self.observe(mode, apart=True)
        with _told():
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
            apart=apart,
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


@contextmanager
def _told() -> Iterator[None]:
    """Whatever the model raises, as one sentence with the original as its cause."""
    from .trace.pytree import TreeError

    try:
        yield
    except (ModelError, KeyboardInterrupt):
        raise
    except TreeError as error:
        raise ModelError(str(error)) from None
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

    from .trace.pytree import leaves

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


# -- what one run shows ------------------------------------------------------------------------------------------


def _watcher(x: Tensor) -> Any:
    import torch

    from .trace.mode import Mode
    from .trace.pytree import leaves

    class Watcher(Mode):
        epsilon = torch.finfo(x.dtype).eps if x.is_floating_point() else 0.0
        random = False
        steered = False  # an operation drew as many random numbers as its values asked for
        vocabulary: int | None = None

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            self.steered |= draws.is_steered(func)
            self.random |= torch.Tag.nondeterministic_seeded in getattr(func, "tags", ())
            for _, t in leaves(result):
                if isinstance(t, torch.Tensor) and (t.is_floating_point() or t.is_complex()):
                    self.epsilon = max(self.epsilon, torch.finfo(t.dtype).eps)
            if func is torch.ops.aten.embedding.default and not x.is_floating_point():
                table, index = args[0], args[1]
                if index.numel() == x.numel() and bool(torch.equal(index.reshape(-1), x.reshape(-1))):
                    self.vocabulary = min(self.vocabulary or table.shape[0], table.shape[0])
            return result

    return Watcher()
