"""Decoding with a cache against the full pass: the first position where they differ.

Two protocols are known: models that take `past_key_values` and return them (transformers), and PyTorch's recurrent
modules, which take and return a hidden state.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .outputs import first_of, rows, tensors
from .setting import ModelError, Setting

if TYPE_CHECKING:
    from torch import Tensor

    from .program import Program

STEPS = 32  # chunks of the sequence that are decoded one after the other


@dataclass(frozen=True)
class Decoding:
    """How far step-by-step decoding agrees with the full pass: `first` is the first position that differs, or None."""

    protocol: str
    chunks: int
    first: int | None
    largest: float

    def describe(self) -> str:
        """A sentence for the verdict."""
        how = f"decoding in {self.chunks} steps with {self.protocol}"
        if self.first is None:
            return f"{how} agrees with the full pass (largest difference {self.largest:.1g})"
        return f"{how} first differs from the full pass at position {self.first} (by {self.largest:.3g} at most)"


def stepper(program: Program) -> tuple[str, Callable[[Tensor, Any], tuple[Any, Any]]] | None:
    """The model's own way to decode with a cache, or None: (name, step(chunk, cache) -> (output, cache))."""
    import torch

    model = program.subject.model
    if not isinstance(model, torch.nn.Module) or program.subject.keywords or len(program.subject.inputs) != 1:
        return None
    if isinstance(model, torch.nn.RNNBase):
        if model.bidirectional:
            return None
        return "its hidden state", lambda chunk, state: model(chunk, state)
    try:
        parameters = inspect.signature(model.forward).parameters
    except ValueError:  # a compiled script tells none
        return None
    if "past_key_values" not in parameters or "use_cache" not in parameters:
        return None

    def step(chunk: Tensor, cache: Any) -> tuple[Any, Any]:
        result = model(chunk, past_key_values=cache, use_cache=True)
        return result, getattr(result, "past_key_values", None)

    return "past_key_values", step


def decode(program: Program, full: Tensor, setting: Setting, tolerance: float) -> Decoding | None:
    """Decode the given input in chunks and compare with `full` (queries, features); None where there is no cache.

    Differences up to `tolerance` of the largest number count for nothing.
    """
    import torch

    found = stepper(program)
    if found is None or full.shape[0] != program.n:
        return None
    scale = float(full.abs().double().nan_to_num(0.0, 0.0).max()) if full.numel() else 0.0
    tolerance *= max(scale, 1e-30)
    name, step = found
    x, axis, queries = program.input, program.subject.sequence_axis, program.subject.output_axis
    wanted = program.paths[0] if program.paths else None
    largest, first, count, cache = 0.0, None, 0, None
    with program.prepared(setting):
        for start, length in _chunks(program.n):
            try:
                result, cache = step(x.narrow(axis, start, length), cache)
                given = tensors(result)
                y = rows(given[first_of(given, queries, wanted)], queries)
            except Exception as error:
                if start == 0:
                    return None  # its cache is not what it seems
                raise ModelError(
                    f"decoding with {name}",
                    f"raised {type(error).__name__} at position {start} ({error})",
                    "the model cannot go on from its own cache",
                ) from error
            if cache is None:
                return None  # it keeps none (switched off in its configuration)
            count += 1
            if y.shape[0] != length or not torch.isfinite(y).all():
                return None
            moved = (y.double() - full[start : start + length].double()).abs().amax(1)
            largest = max(largest, float(moved.max()))
            over = torch.nonzero(moved > tolerance).reshape(-1)
            if first is None and over.numel():
                first = start + int(over[0])
    return Decoding(name, count, first, largest)


def _chunks(n: int) -> Iterator[tuple[int, int]]:
    """At most STEPS chunks, the last of them single positions."""
    singles = min(n, STEPS // 2)
    rest = n - singles
    size = max(1, -(-rest // (STEPS // 2)))
    for start in range(0, rest, size):
        yield start, min(size, rest - start)
    for start in range(rest, n):
        yield start, 1
