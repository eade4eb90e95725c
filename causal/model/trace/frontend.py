"""The PyTorch front end: run a model eagerly, with a shadow beside every tensor.

A `TorchDispatchMode` (`tracer`) sees each operation below autograd, after composite operations were taken apart. The
concrete operation runs as always; the rule then says what its outputs depend on. Shadows are kept per storage
(`memory`), so views and in-place writes need no replay. What leaves the tensors (`doors`) is recorded: nothing that
was read out of data ever becomes a constant.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from .domain import FIXED, ranked, uniform
from .location import Places
from .provenance import Flow
from .pytree import leaves, mapped
from .records import Chain, Output, Trace
from .registry import Rule

try:
    import torch
    import torch.nn.attention
except ImportError as error:  # pragma: no cover
    raise ImportError("PyTorch is not installed; pip install 'attnproof[torch]' to check PyTorch models") from error

from . import rules as families  # noqa: F401  (registers the rules)
from .escapes import Constructors, eager, watched
from .rules.attention import KERNELS
from .tracer import Tracer


def modules_of(model: Any) -> list[tuple[str, torch.nn.Module]]:
    """The module that a callable runs, with the prefix of its names: itself, its `model`, its owner, or what it closes
    over.
    """
    if isinstance(model, torch.nn.Module):
        return [("", model)]
    found: dict[int, tuple[str, torch.nn.Module]] = {}
    cells = [c.cell_contents for c in (getattr(model, "__closure__", None) or ()) if _filled(c)]
    bound = [getattr(model, "__self__", None), getattr(model, "func", None), *getattr(model, "args", ())]
    names = getattr(getattr(model, "__code__", None), "co_names", ())
    globals_ = [getattr(model, "__globals__", {}).get(n) for n in names]
    for candidate in (getattr(model, "model", None), *bound, *cells, *globals_):
        if isinstance(candidate, torch.nn.Module):
            found.setdefault(id(candidate), ("", candidate))
        elif isinstance(candidate, (list, tuple)):
            for c in candidate:
                if isinstance(c, torch.nn.Module):
                    found.setdefault(id(c), ("", c))
    if not found and bound[1] is not None:
        return modules_of(bound[1])
    return list(found.values())


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def run(
    model: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    keywords: Mapping[str, Any],
    input_index: int | str,
    sequence_axis: int,
    ranks: Any = None,
    rules: Sequence[Rule] = (),
    flow: Flow | None = None,
    parameters: str = "any",
    others: str = "given",
    finite_masks: bool = True,
) -> Trace:
    """See `attnproof.causal.model.trace.run`."""
    for name, value, allowed in (("parameters", parameters, ("any", "stored")), ("others", others, ("given", "any"))):
        if value not in allowed:
            raise ValueError(f"{name} = {value!r} is unknown; use {allowed[0]!r} or {allowed[1]!r}")
    chosen = _chosen(inputs, keywords, input_index, sequence_axis)
    n = chosen.shape[sequence_axis]
    order = np.arange(n) if ranks is None else np.asarray(ranks)
    if order.shape != (n,) or order.dtype.kind not in "iu" or (n and order.min() < -1):
        raise ValueError(f"ranks has shape {order.shape}; pass one whole number ≥ 0 for each of the {n} positions")
    places = Places(modules_of(model))
    policy = {"parameters": parameters, "finite_masks": finite_masks}
    tracer = Tracer(int(order.max(initial=0)), policy, rules, places, flow)
    for module_prefix, module in modules_of(model):
        for name, parameter in module.named_parameters():
            _note(tracer.parameters, module_prefix + name, parameter)
        for name, buffer in module.named_buffers():
            _note(tracer.buffers, module_prefix + name, buffer)
    copies: dict[int, torch.Tensor] = {}
    originals: list[torch.Tensor] = []  # kept alive, since the copies are found by their addresses

    def copy(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in copies:
            originals.append(value)
            copies[id(value)] = value.detach().clone()
        return copies[id(value)]

    args, kwargs = mapped(copy, (list(inputs), dict(keywords)))
    for original, tensor in copies.items():
        if original == id(chosen):
            shadow = ranked(tensor.shape, range(tensor.dim())[sequence_axis], order)
        elif others == "any" and _real(tensor):
            shadow = uniform(tensor.shape)
        else:
            shadow = uniform(tensor.shape, FIXED)
        tracer.assign(tensor, shadow)
        memory = tracer.memory_of(tensor)
        if memory is not None:
            memory.written = False
    started = time.perf_counter()
    with ExitStack() as stack:
        stack.enter_context(torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH))
        stack.enter_context(places)
        stack.enter_context(torch.no_grad())
        stack.enter_context(eager())
        stack.enter_context(watched(tracer))
        stack.enter_context(Constructors(tracer))
        stack.enter_context(tracer)
        value = model(*args, **kwargs)
        found = [(path, t) for path, t in leaves(value) if isinstance(t, torch.Tensor)]
        outputs = tuple(Output(path, t, tracer.shadow_of(t)) for path, t in found)
    if flow is not None:
        flow.outputs = [m.node if (m := tracer.memory_of(o.value)) is not None else -1 for o in outputs]
    assumptions = [
        "inputs are finite, and so is every number computed from them (no overflow, no NaN, no denominator that is 0)",
        "the model is a pure function of its inputs: what it keeps from earlier calls does not depend on them, and no "
        "thread that was running before takes part",
        f"shapes as run: {', '.join(str(tuple(t.shape)) for t in copies.values())}, with positions along axis "
        f"{sequence_axis}",
        *tracer.assumptions,
    ]
    if FUSED & set(tracer.counts):
        assumptions.append(
            "the fused path of nn.MultiheadAttention, taken without gradients, computes what its plain path does"
        )
    if "aten._safe_softmax" in tracer.counts or any(k in tracer.counts for k in KERNELS):
        assumptions.append("fused kernels of scaled_dot_product_attention compute what its math path does")
    if others == "given" and len(copies) > 1:
        assumptions.append("the other inputs keep the values given")
    elif any(t is not copies[id(chosen)] and not _real(t) for t in copies.values()):
        assumptions.append("the other inputs of whole numbers and truth values keep the values given")
    if any(r.source == "parameters" for r in tracer.reads.values()):
        assumptions.append("the program takes the route that the stored parameters and the random draws give")
    return Trace(
        outputs,
        unknown=tuple(tracer.unknown.values()),
        reads=tuple(tracer.reads.values()),
        conditions=tuple(tracer.conditions.values()),
        breaches=tuple(tracer.breaches.values()),
        parameter_zeros=tuple(sorted(tracer.parameter_zeros)),
        parameter_values=tuple(sorted(tracer.parameter_values)),
        starved=tuple(
            (op, int(row))
            for op, rows in tracer.starved.values()
            for row in np.unique(np.nonzero(rows.squeeze(-1))[-1])
        ),
        written=_written(tracer, model, copies),
        assumptions=tuple(assumptions),
        operations=dict(tracer.counts),
        seconds=time.perf_counter() - started,
    )


def _real(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


FUSED = {"aten._native_multi_head_attention", "aten._transformer_encoder_layer_fwd"}


def _note(table: dict[int, str], name: str, tensor: torch.Tensor) -> None:
    try:
        table.setdefault(tensor.untyped_storage()._cdata, name)
    except (NotImplementedError, RuntimeError, ValueError):
        return


def _chosen(inputs: Sequence[Any], keywords: Mapping[str, Any], which: int | str, axis: int) -> torch.Tensor:
    try:
        chosen = keywords[which] if isinstance(which, str) else inputs[which]
    except (IndexError, KeyError):
        raise ValueError(
            f"input_index = {which!r} names no input; there are {len(inputs)} inputs and keywords {sorted(keywords)}"
        ) from None
    if not isinstance(chosen, torch.Tensor):
        raise TypeError(f"input {which!r} is a {type(chosen).__name__}; choose an input that is a tensor")
    if not -chosen.dim() <= axis < chosen.dim():
        raise ValueError(
            f"sequence_axis = {axis} is no axis of an input of shape {tuple(chosen.shape)}; choose another"
        )
    return chosen


def _written(tracer: Tracer, model: Any, copies: Mapping[int, torch.Tensor]) -> tuple[str, ...]:
    """Names of what the run wrote data into: parameters and buffers of the model, and "input"."""
    names = []
    for prefix, module in modules_of(model):
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            memory = tracer.memory_of(tensor)
            if memory is not None and memory.written and tracer.shadow_of(tensor).depends:
                names.append(prefix + name)
    for tensor in copies.values():
        memory = tracer.memory_of(tensor)
        if memory is not None and memory.written:
            names.append("input")
    return tuple(dict.fromkeys(names))


def blame(
    model: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    output: int,
    output_axis: int,
    position: int,
    forbidden: Any,
    closed: Any,
    keywords: Mapping[str, Any],
    input_index: int | str,
    sequence_axis: int,
    **policy: Any,
) -> Chain:
    """See `attnproof.causal.model.trace.blame`."""
    marked = np.asarray(forbidden, bool)
    policy.pop("ranks", None)
    # Forbidden positions carry rank 0; the others carry −1, which no element can be seen to depend on.
    flow = Flow(marked if closed is None else np.asarray(closed, bool), position)
    ranks = np.where(marked, 0, -1)
    run(
        model,
        inputs,
        keywords=keywords,
        input_index=input_index,
        sequence_axis=sequence_axis,
        ranks=ranks,
        flow=flow,
        **policy,
    )
    return flow.chain(output)
