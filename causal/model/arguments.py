"""The arguments of a check: modes, axes, inputs of several lengths, the boundary, the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..boundary import Boundary, Misfit
from .program import Program
from .setting import MODES, ModelError

BoundaryLike = Boundary | str | Callable[[int], Boundary] | None


# -- the arguments ------------------------------------------------------------------------------------------------


def chosen_modes(modes: Sequence[str]) -> list[str]:
    """The modes to check, one or several by name; ModelError for an unknown one."""
    chosen = [modes] if isinstance(modes, str) else list(modes)
    for mode in chosen:
        if mode not in MODES:
            raise ModelError(f"modes names {mode!r}, which is no mode; use 'eval', 'train' or both")
    if not chosen:
        raise ModelError("modes is empty; use 'eval', 'train' or both")
    return chosen


def axis_of_positions(model: Any, given: int | None) -> int:
    """The axis that holds positions, 1 where nothing was said; ModelError where the module says otherwise."""
    if given is None and _positions_first(model):
        raise ModelError(
            f"{type(model).__name__} takes positions along axis 0 (batch_first=False); pass sequence_axis=0, or 1 if "
            "you do mean the batch"
        )
    return 1 if given is None else given


def _positions_first(module: Any) -> bool | None:
    """Whether a module of PyTorch's takes (positions, batch, …); None where it does not say, or is somebody's own."""
    if not type(module).__module__.startswith("torch.nn."):
        return None
    batch_first = getattr(module, "batch_first", None)
    if batch_first is not None:
        return not batch_first
    said = (_positions_first(child) for child in module.children())
    return next((answer for answer in said if answer is not None), None)


def inputs_of_lengths(
    inputs: tuple[Any, ...],
    lengths: Sequence[int] | None,
    make_input: Callable[[int], Any] | None,
    vary: int | str,
    axis: int,
) -> list[tuple[int | None, tuple[Any, ...]]]:
    """The inputs to run, one tuple per length (None: as given)."""
    import torch

    if lengths is None:
        if not inputs:
            raise ModelError("no input was given; pass the model's inputs, or lengths together with make_input")
        return [(None, inputs)]
    sizes = list(lengths)
    for n in sizes:
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ModelError(f"lengths names {n!r}; pass whole numbers of at least 1")
    if not sizes:
        raise ModelError("lengths is empty; name at least one length or leave it out")
    if make_input is not None:
        made = ((n, make_input(n)) for n in sizes)
        return [(n, m if isinstance(m, tuple) else (m,)) for n, m in made]
    if len(inputs) == 1 and callable(inputs[0]):
        raise ModelError("input 0 is a function; pass it as make_input=, with lengths")
    if not inputs or isinstance(vary, str) or not isinstance(inputs[vary], torch.Tensor):
        raise ModelError("lengths needs make_input(n) here: only a positional tensor can be cut and repeated")
    x = inputs[vary]
    resized: list[tuple[int | None, tuple[Any, ...]]] = []
    for n in sizes:
        index = torch.arange(n, device=x.device) % x.shape[axis]
        resized.append((n, (*inputs[:vary], x.index_select(axis, index), *inputs[vary + 1 :])))
    return resized


def resolved_boundary(given: BoundaryLike, n: int, queries: int, axis: int) -> Boundary:
    """The boundary over n positions and the output's queries; ModelError where they do not agree."""
    if callable(given) and not isinstance(given, Boundary):
        given = given(n)
    if given is None and queries != n:
        raise ModelError(
            f"the output has {queries} positions along axis {axis} and the input {n}; say where they stand with "
            f"boundary=Boundary.prefix({n}, queries={queries}) or Boundary.relation(matrix), or pass output_axis"
            if queries <= n
            else f"the output has {queries} positions along axis {axis} and the input {n}; say what each may use "
            f"with boundary=Boundary.relation(matrix) of shape ({queries}, {n}), or pass output_axis"
        )
    try:
        resolved = Boundary.resolve(given, n)  # a text leaves open where fewer queries stand, so it is for n of them
    except Misfit as misfit:
        raise ModelError(
            f"boundary speaks of n = {misfit.n} positions, the sequence axis has {n}; pass Boundary.prefix({n}) or "
            "another sequence_axis"
        ) from None
    if resolved.queries != queries:
        raise ModelError(
            f"boundary has {resolved.queries} queries, the output {queries} positions along axis {axis}; make them "
            "agree or pass output_axis"
        )
    return resolved


def resolved_vocabulary(program: Program, given: int | None, inferred: int | None) -> int | None:
    """The number of tokens, None for numbers that are no tokens; ModelError where nothing tells it."""
    import torch

    if not program.is_discrete():
        return None
    if given is not None:
        if isinstance(given, bool) or not isinstance(given, int) or given < 2:
            raise ModelError(f"vocabulary = {given!r} leaves nothing to vary; pass the number of tokens, at least 2")
        top = int(program.input.max())
        if top >= given:
            raise ModelError(f"vocabulary = {given} but the input holds token {top}; pass at least {top + 1}")
        return given
    if program.input.dtype is torch.bool:
        return 2
    if inferred is None:
        raise ModelError(
            f"input {program.vary} holds whole numbers and no embedding tells their bound; pass vocabulary=, the "
            "number of tokens"
        )
    return inferred
