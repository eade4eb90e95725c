"""A PyTorch model as `torch.export` records it with a symbol for its length, and what the record takes for granted.

PyTorch decides every branch of Python and every question about sizes with the length of the inputs that it records on,
and notes each as a guard. A record therefore stands for those lengths at which all its guards hold; that they do is
proved, not taken from its range alone.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch.export import Dim, default_decompositions, export
from torch.export.graph_signature import InputKind, OutputKind
from torch.nn.modules import transformer
from torch.utils import _pytree as pytree

from ...outputs import tensors
from ...raised import phrase
from ...setting import ModelError, Setting
from ..integers import NotLinear
from .hashing import SAID, hashable
from .recurrent import whole_layers
from .spelled import SpelledOut

if TYPE_CHECKING:
    from torch import Tensor

    from ...program import Program

LOGGERS = ("torch.fx.experimental.symbolic_shapes", "torch.export", "torch._export")
ROLES = {InputKind.PARAMETER: "parameter", InputKind.BUFFER: "constant", InputKind.CONSTANT_TENSOR: "constant"}
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-3, torch.float16: 5e-2, torch.bfloat16: 1e-1}  # relative


@dataclass(frozen=True)
class Given:
    """One input of the graph: its role ("input", "other", "parameter" or "constant"), and its numbers if it is held."""

    role: str
    value: Any = None


class Whole(torch.nn.Module):
    """The model as a function of its tensors alone, which returns the outputs that are checked."""

    def __init__(self, program: Program, structure: Any, leaves: Sequence[Any]) -> None:
        super().__init__()
        model = program.subject.model
        own = set(model.modules()) if isinstance(model, torch.nn.Module) else set()
        self.reached = torch.nn.ModuleList(m for m in program.modules if m not in own)  # what they hold are parameters
        self.model, self._paths = model, program.paths
        self._structure, self._leaves = structure, list(leaves)

    def forward(self, *given: Any) -> tuple[Any, ...]:
        """The outputs, for the tensors among the inputs in order."""
        left = iter(given)
        leaves = [next(left) if isinstance(v, torch.Tensor) else v for v in self._leaves]
        positional, keywords = pytree.tree_unflatten(leaves, self._structure)
        found = tensors(self.model(*positional, **keywords))
        return tuple(found[path] for path in self._paths)


@dataclass(frozen=True)
class Record:
    """A recorded graph, the guards that it holds under, and the least and greatest length that it is made for."""

    exported: Any
    whole: Whole
    roles: tuple[str, ...]  # of the tensors among the inputs
    guards: tuple[Any, ...]
    symbols: frozenset[str]
    least: int
    most: int | None
    keys: bool = False  # whether symbols were keys of caches

    @property
    def graph(self) -> Any:
        """The operations."""
        return self.exported.graph

    @cached_property
    def given(self) -> dict[str, Given]:
        """What the graph is given, by the names of its placeholders."""
        roles, found = iter(self.roles), {}
        for spec in self.exported.graph_signature.input_specs:
            if spec.kind == InputKind.USER_INPUT:
                found[spec.arg.name] = Given(next(roles))
            elif spec.kind in ROLES:
                value = self._held(spec.target)
                role = "parameter" if value.requires_grad else ROLES[spec.kind]
                found[spec.arg.name] = Given(role, value)
            else:
                raise NotLinear(f"the program takes {spec.kind.name.lower()}, which is not followed")
        return found

    def _held(self, target: str) -> Any:
        state, constants = self.exported.state_dict, self.exported.constants
        return state[target] if target in state else constants[target]

    @property
    def results(self) -> list[int]:
        """Which of what the graph returns are the model's outputs."""
        specs = self.exported.graph_signature.output_specs
        return [k for k, spec in enumerate(specs) if spec.kind == OutputKind.USER_OUTPUT]

    def run(self, given: Sequence[Tensor]) -> list[Tensor]:
        """The outputs of the graph on numbers."""
        left = iter(given)
        arguments = [next(left) if g.role in ("input", "other") else g.value for g in self.given.values()]
        found = torch.fx.Interpreter(self.exported.graph_module).run(*arguments)
        return [found[k] for k in self.results]

    def differs(self, given: Sequence[Tensor]) -> bool:
        """Whether graph and model give different outputs for these inputs."""
        torch.manual_seed(0)
        expected = self.whole(*given)
        torch.manual_seed(0)
        return not all(map(_close, expected, self.run(given)))


def _close(a: Tensor, b: Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    relative = CLOSE.get(a.dtype, 0.0)
    if not relative:
        return bool(torch.equal(a, b))
    size = float(a.abs().nan_to_num(0.0, 0.0, 0.0).max()) if a.numel() else 0.0
    return bool(torch.allclose(a, b, rtol=relative, atol=relative * max(size, 1e-3), equal_nan=True))


def flat(program: Program) -> tuple[list[Any], Any]:
    """The leaves of the inputs, and their structure."""
    leaves, structure = pytree.tree_flatten((list(program.subject.inputs), dict(program.subject.keywords)))
    return leaves, structure


def recorded(program: Program, mode: str, axes: Sequence[int | None]) -> Record:
    """The program recorded on its inputs, where axis `axes[k]` of the k-th tensor is the length; NotLinear if not."""
    leaves, structure = flat(program)
    given = [v for v in leaves if isinstance(v, torch.Tensor)]
    dynamic = tuple(None if a is None else {a: Dim.DYNAMIC} for a in axes)
    whole = Whole(program, structure, leaves)
    with (
        program.prepared(Setting(mode=mode)),
        _quiet(),
        _recordable(),
        whole_layers(),
        SpelledOut(),
        _from_the_left(),
        hashable() as asked,
    ):
        try:
            made = export(whole, tuple(given), dynamic_shapes={"given": dynamic}, strict=False)
            environment = _environment(made)
            exported = made.run_decompositions(_decompositions())
        except (KeyboardInterrupt, MemoryError, ModelError):
            raise
        except Exception as error:  # whatever PyTorch raises says that it cannot record it
            raise NotLinear(_in_words(error, program.n)) from error
    environments = {id(e): e for e in (environment, _environment(exported))}
    symbols = {str(s) for e in environments.values() for s in e.var_to_range}
    limits = [e.var_to_range[s] for e in environments.values() for s in e.var_to_range]
    return Record(
        exported,
        whole,
        tuple(_role(v, program.input) for v in given),
        tuple(g.expr for e in environments.values() for g in e.guards),
        frozenset(symbols),
        max((int(v.lower) for v in limits if v.lower.is_Integer), default=1),
        min((int(v.upper) for v in limits if v.upper.is_Integer), default=None),
        bool(asked),
    )


def _decompositions() -> Any:
    """PyTorch's own, but for what has a rule that says more than its parts do: a softmax whose rows may be hidden."""
    found = default_decompositions()
    found.pop(torch.ops.aten._safe_softmax.default, None)
    return found


def _in_words(error: Exception, n: int) -> str:
    """Why a program cannot be recorded for all lengths."""
    text = str(error)
    if "specialized it to be a constant" in text:
        return f"Python reads the length as a number (a loop over positions, say), so that only n = {n} was recorded"
    if "data-dependent" in text or type(error).__name__ == "GuardOnDataDependentSymNode":
        return "a branch of Python, or a size, depends on the numbers in a tensor"
    if SAID in text or ("unhashable type" in text and "SymInt" in text):
        return SAID
    return f"torch.export cannot record it: {phrase(error)}"


def _role(value: Tensor, varied: Tensor) -> str:
    """Whether it is the varied input, or lies in its memory."""
    same = value is varied or (
        value.device.type != "meta" and value.untyped_storage().data_ptr() == varied.untyped_storage().data_ptr()
    )
    return "input" if same else "other"


def _environment(exported: Any) -> Any:
    """Where the sizes of a recorded program, and its guards, are kept."""
    for node in exported.graph.nodes:
        for value in pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, torch.Tensor) and hasattr(value, "fake_mode"):
                return value.fake_mode.shape_env
    raise ModelError("the model", "takes no tensor when it is recorded", "pass the input as a tensor")


@contextmanager
def _recordable() -> Iterator[None]:
    """While numbers of masks are not asked for: whether one is causal only chooses among kernels."""
    held: Any = transformer
    detected = held._detect_is_causal_mask
    held._detect_is_causal_mask = lambda mask, is_causal=None, size=None: is_causal is True
    try:
        yield
    finally:
        held._detect_is_causal_mask = detected


@contextmanager
def _from_the_left() -> Iterator[None]:
    """While products of several arrays are taken from the left on: a better order is looked for with numbers."""
    settings: Any = torch.backends.opt_einsum
    with settings.flags(enabled=False) if settings.is_available() else nullcontext():
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """What PyTorch says of a program that it cannot record is said by us, in one sentence."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(logger, logger.level) for logger in loggers]
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            for logger, level in before:
                logger.setLevel(level)
