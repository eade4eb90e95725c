"""The PyTorch front end: run a model eagerly, with a shadow beside every tensor.

A `TorchDispatchMode` (`tracer`) sees each operation below autograd, after composite operations were taken apart. The
concrete operation runs as always; the rule then says what its outputs depend on. Shadows are kept per storage
(`shadows`, `memory`), so views and in-place writes need no replay. What leaves the tensors (`exits`, `escapes`) is
recorded (`ledger`): nothing that was read out of data ever becomes a constant.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from ....libraries import missing
from ..modules import modules_of
from .chance import followed
from .composed import biases_made_under_modes
from .course import Course
from .domain import FIXED, ranked, uniform
from .location import Places
from .provenance import Along, Axes, Flow
from .pytree import leaves, mapped
from .records import Chain, Output, Trace

try:
    import torch
    import torch.nn.attention
    from torch.jit._fuser import optimized_execution
except ImportError as error:  # pragma: no cover
    raise missing(error, "checking models", "torch") from error

from . import rules as families  # noqa: F401  (registers the rules)
from .assumptions import assumptions, is_real
from .caches import uncached
from .disguise import Disguise
from .escapes import Constructors, eager, watched
from .exits import Exits
from .importers import importers
from .kernels import Kernels, Shapes, warmed
from .kinds import answered
from .ledger import WEAK, Ledger, NoValues, ValueNeeded
from .leftovers import apart, numbered
from .routes import settled
from .shadows import Shadows
from .tracer import Tracer
from .twins import Twins

if TYPE_CHECKING:
    from .numbering import Numbering
    from .policy import Policy
    from .provenance import Graph
    from .subject import Subject


def run(
    subject: Subject,
    policy: Policy,
    ranks: Any = None,
    flow: Graph | None = None,
    *,
    values: bool = True,
    numbering: Numbering | None = None,
    left: list[Any] | None = None,
    course: Course | None = None,
) -> Trace:
    """One run, with values or without. Raises ValueNeeded where a run without them is asked for one.

    `numbering` gives what is returned a number, and truth values that are read other outcomes.

    A run without values leaves no real tensor as it was written; what else the model keeps, the caller puts back. What
    tensors without data are left somewhere goes to `left`. The `course` it takes is told even where it is abandoned.
    """
    chosen = _chosen(subject)
    order = _order(ranks, chosen.shape[subject.sequence_axis])
    modules = [*modules_of(subject.model), *subject.strangers]
    places = Places([("", module) for module in modules])
    last = int(order.max(initial=0))
    ledger = Ledger(places, last)
    twins = None if values else Twins(ledger, last, policy)
    shadows = twins or Shadows(ledger, last, policy)
    shadows.course = course or shadows.course
    exits = Exits(ledger, shadows)
    for module in modules:
        for name, parameter in module.named_parameters():
            _note(shadows.parameters, name, parameter)
        for name, buffer in module.named_buffers():
            _note(shadows.buffers, name, buffer)
    args, kwargs, copies = _copied(subject, None if values else chosen)
    kernels = Kernels() if twins is None else Shapes(ledger, twins, _home(modules, copies))
    older = _constants_of_scripts(modules)  # noqa: F841  (they exist in Python before the run, and so are no news in it)
    for original, tensor in copies.items():
        if original == id(chosen):
            shadow = ranked(tensor.shape, range(tensor.dim())[subject.sequence_axis], order)
        elif policy.others == "any" and is_real(tensor):
            shadow = uniform(tensor.shape)
        else:
            shadow = uniform(tensor.shape, FIXED)
        shadows.assign(tensor, shadow, numbers=values or not tensor.is_meta)
        memory = shadows.memory_of(tensor)
        if memory is not None:
            memory.written = False
        if numbering is not None:
            numbering.name(shadows, tensor, original)
    files = importers(subject.model, modules)
    started = time.perf_counter()
    with ExitStack() as stack:
        stack.enter_context(through_math())
        stack.enter_context(torch.no_grad())
        stack.enter_context(uncached())
        stack.enter_context(eager())
        stack.enter_context(biases_made_under_modes())
        stack.enter_context(optimized_execution(False))  # whose passes compare constants in the first runs
        stack.enter_context(watched(exits, files))
        stack.enter_context(followed(ledger, files))
        stack.enter_context(Constructors(exits))
        if isinstance(kernels, Shapes):
            stack.callback(_over, kernels.twins, left)
            stack.enter_context(answered(exits, ledger, kernels.home, files))
            stack.enter_context(Disguise(exits, kernels))
        tracer = Tracer(ledger, shadows, exits, kernels, policy.rules, flow, policy.real)
        if numbering is not None:
            numbering.ledger, tracer.numbering = ledger, numbering
        stack.callback(tracer.sharing.forget)
        stack.enter_context(tracer)
        try:
            value = subject.model(*args, **kwargs)
        finally:
            if ledger.needed:  # whatever the program made of it; who keeps the error keeps no tensors in its frames
                for error in ledger.raised:
                    traceback.clear_frames(error.__traceback__)
                ledger.raised.clear()  # which lead to this very frame, and so back to the ledger
                raise ValueNeeded(ledger.needed)
        found = [(path, t) for path, t in leaves(value) if isinstance(t, torch.Tensor)]
        with exits.busy():
            exits.chosen.leaves([t for _, t in found])
            outputs = tuple(Output(path, t, shadows.of(t)) for path, t in found)
        numbers = () if numbering is None else tuple((path, numbering.of(shadows, t)) for path, t in found)
    if not values:
        outputs = tuple(replace(o, value=apart(o.value)) for o in outputs)
    if flow is not None:
        flow.outputs = [m.node if (m := shadows.memory_of(t)) is not None else -1 for _, t in found]
    others = [t for original, t in copies.items() if original != id(chosen)]
    trace = Trace(
        outputs,
        unknown=tuple(ledger.unknown.values()),
        reads=tuple(ledger.reads.values()),
        conditions=tuple(ledger.conditions.values()),
        breaches=tuple(ledger.breaches.values()),
        parameter_zeros=tuple(sorted(ledger.parameter_zeros)),
        parameter_values=tuple(sorted(ledger.parameter_values)),
        starved=tuple(
            (op, int(row)) for op, rows in ledger.rows.values() for row in np.unique(np.nonzero(rows.squeeze(-1))[-1])
        ),
        written=_written(shadows, modules, copies.values()),
        assumptions=assumptions(ledger, subject, policy, list(copies.values()), others),
        operations=dict(ledger.counts),
        course=shadows.course.number,
        seconds=time.perf_counter() - started,
        data=shadows.holding_data(copies.values()),
        with_values=ASKED if values else "",
        wanted=tuple(ledger.wanted),
        compared=tuple(ledger.compared),
        valueless=tuple(ledger.without_value),
        numbers=numbers,
        result=None if values else apart(value),
        opened=twins is not None and twins.has_opened,
    )
    shadows.forget()
    return trace


@contextmanager
def through_math() -> Iterator[None]:
    """Attention takes its math path; a program that asks which kernels may be used is told what was so before."""
    were = {name: asked() for name in ENABLED if (asked := getattr(torch.backends.cuda, name, None)) is not None}
    with ExitStack() as stack:
        for name, was in were.items():
            stack.enter_context(patch.object(torch.backends.cuda, name, lambda was=was: was))
        stack.enter_context(torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH))
        yield


def _over(twins: Twins, left: list[Any] | None) -> None:
    """A run without values is over, however it ended."""
    twins.put_back()
    if left is not None:
        left += twins.left()


def traced(
    subject: Subject,
    policy: Policy,
    prepared: Callable[[bool], AbstractContextManager[object]],
    ranks: Any = None,
    flow: Graph | None = None,
    why: str = "",
    has_values: bool = True,
    is_first: bool = False,
) -> Trace:
    """One run without values, or, where that needs one, another with them; `with_values` says why.

    `prepared(values)` is entered for each of them, and puts back what the run leaves in the model. Where it is said
    beforehand `why` values are needed, there is no run without. Raises NoValues where the model or its inputs have
    none. Where the very first run does not count, it is made again, to see that the next does not find what it left.
    """
    why = why or (ASKED if policy.values else "")
    if why:
        return _with_values(subject, policy, prepared, ranks, flow, why)
    warmed()
    left: list[Any] = []

    def without(course: Course) -> Trace | str:
        try:
            with prepared(False):
                return run(subject, policy, ranks, flow, values=False, left=left, course=course)
        except ValueNeeded as needed:
            return str(needed)
        except MemoryError:
            raise
        except Exception as error:  # what a program raises of tensors without data says nothing
            return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"

    course, again = Course(), Course()
    found, kept = without(course), numbered(left)
    if isinstance(found, str):
        why = found
    elif not (has_values and WEAK in found.wanted and found.conditions):
        return replace(found, kept=kept)
    if not has_values:
        raise NoValues(why)
    if is_first and (isinstance(without(again), str), again.number) != (isinstance(found, str), course.number):
        raise RuntimeError("a run changes something that the next one finds, where the check cannot put it back")
    kept = kept or numbered(left)
    if kept:
        raise RuntimeError(f"it keeps {kept}, made from its input, where the check cannot put it back")
    axes = Axes(subject.n) if is_first and isinstance(found, str) and flow is None else None
    return _with_values(subject, policy, prepared, ranks, flow, why or WEAK, axes)


def _with_values(
    subject: Subject,
    policy: Policy,
    prepared: Callable[[bool], AbstractContextManager[object]],
    ranks: Any,
    flow: Graph | None,
    why: str,
    axes: Axes | None = None,
) -> Trace:
    """A run with values, and where it reads truth values out of the input, others that show what these change.

    The `axes` of its results are found on the way, which a chain asks for.
    """

    def again(numbering: Numbering) -> Trace:
        with prepared(True):
            return run(subject, policy, ranks, numbering=numbering)

    with prepared(True):
        found = replace(run(subject, policy, ranks, flow or axes), with_values=why)
    if axes is not None:
        found = replace(found, axes=axes.found)
    return found if flow is not None else settled(found, again)


def _order(ranks: Any, n: int) -> np.ndarray:
    """The rank of each of the n positions."""
    order = np.arange(n) if ranks is None else np.asarray(ranks)
    if order.shape != (n,) or order.dtype.kind not in "iu" or (n and order.min() < -1):
        raise ValueError(f"ranks has shape {order.shape}; pass one whole number ≥ 0 for each of the {n} positions")
    return order


def _home(modules: Sequence[torch.nn.Module], copies: dict[int, torch.Tensor]) -> torch.device:
    """The device that a program takes its tensors to lie on; ValueNeeded where they lie on several."""
    own = [t for m in modules for t in (*m.parameters(), *m.buffers())]
    devices = dict.fromkeys(t.device for t in (*own, *copies.values()) if not t.is_meta)
    if len(devices) > 1:
        raise ValueNeeded(f"tensors on {len(devices)} devices")
    return next(iter(devices), torch.device("cpu"))


def _copied(
    subject: Subject, without_data: torch.Tensor | None = None
) -> tuple[list[Any], dict[str, Any], dict[int, torch.Tensor]]:
    """The inputs and keywords with a copy for every tensor, and the copies by the addresses of the originals.

    The copy of one may be without data.
    """
    copies: dict[int, torch.Tensor] = {}
    originals: list[torch.Tensor] = []  # kept alive, since an address may be given away again

    def copy(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in copies:
            originals.append(value)
            new = torch.empty_like(value, device="meta") if value is without_data else value.detach().clone()
            copies[id(value)] = new
        return copies[id(value)]

    args, kwargs = mapped(copy, (list(subject.inputs), dict(subject.keywords)))
    return args, kwargs, copies


ASKED = "a run with values was asked for"
ENABLED = ("flash_sdp_enabled", "mem_efficient_sdp_enabled", "math_sdp_enabled", "cudnn_sdp_enabled")


def _constants_of_scripts(modules: Sequence[torch.nn.Module]) -> list[torch.Tensor]:
    """The tensors among the constants of scripts, which live outside Python until someone asks for them."""
    scripts = [m for top in modules for m in top.modules() if isinstance(m, torch.jit.ScriptModule)]
    graphs: list[Any] = [m.inlined_graph for m in scripts if hasattr(m, "inlined_graph")]
    nodes = [node for graph in graphs for node in graph.findAllNodes("prim::Constant", recurse=True)]
    return [node.t("value") for node in nodes if "value" in node.attributeNames() and node.kindOf("value") == "t"]


def _note(table: dict[int, str], name: str, tensor: torch.Tensor) -> None:
    try:
        table.setdefault(tensor.untyped_storage()._cdata, name)
    except (NotImplementedError, RuntimeError, ValueError):
        return


def _chosen(subject: Subject) -> torch.Tensor:
    """The varied input; ValueError or TypeError where there is none, or none with such an axis."""
    try:
        chosen = subject.input
    except (IndexError, KeyError):
        raise ValueError(
            f"input_index = {subject.vary!r} names no input; there are {len(subject.inputs)} inputs and keywords "
            f"{sorted(subject.keywords)}"
        ) from None
    if not isinstance(chosen, torch.Tensor):
        raise TypeError(f"input {subject.vary!r} is a {type(chosen).__name__}; choose an input that is a tensor")
    if not -chosen.dim() <= subject.sequence_axis < chosen.dim():
        raise ValueError(
            f"sequence_axis = {subject.sequence_axis} is no axis of an input of shape {tuple(chosen.shape)}; choose "
            "another"
        )
    return chosen


def _written(shadows: Shadows, modules: Sequence[torch.nn.Module], copies: Iterable[torch.Tensor]) -> tuple[str, ...]:
    """Names of what the run wrote data into: parameters and buffers of the model, and "input"."""
    names = []
    for module in modules:
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            memory = shadows.memory_of(tensor)
            if memory is not None and memory.written and shadows.of(tensor).depends:
                names.append(name)
    for tensor in copies:
        memory = shadows.memory_of(tensor)
        if memory is not None and memory.written:
            names.append("input")
    return tuple(dict.fromkeys(names))


def blame(
    subject: Subject,
    policy: Policy,
    prepared: Callable[[bool], AbstractContextManager[object]],
    *,
    output: int,
    position: int,
    forbidden: Any,
    closed: Any = None,
    like: Trace | None = None,
) -> Chain:
    """See `attnproof.causal.model.trace.blame`, and `traced`. `like`: an earlier run under the policy."""
    marked = np.asarray(forbidden, bool)
    passed = marked if closed is None else np.asarray(closed, bool)

    def followed(axes: Sequence[Sequence[Sequence[Along]]]) -> tuple[Flow, Trace]:
        flow = Flow(passed, position, axes)
        # Forbidden positions carry rank 0; the others carry −1, which no element can be seen to depend on.
        return flow, traced(subject, policy, prepared, np.where(marked, 0, -1), flow, why)

    why = "" if like is None else like.with_values
    if like is not None and like.axes:
        flow, found = followed(like.axes)
        if found.course == like.course:
            return flow.chain(output)
    axes = Axes(len(marked))
    traced(subject, policy, prepared, flow=axes, why=why)
    return followed(axes.found)[0].chain(output)
