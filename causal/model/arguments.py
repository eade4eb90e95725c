"""The arguments of a check: modes, axes, inputs of several lengths, the boundary, the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentTypeError
from ..boundary import Boundary, Misfit
from .dense import lacking
from .modules import modules_of
from .setting import MODES, ModelError, need_torch
from .trace.subject import Subject

if TYPE_CHECKING:
    from torch import nn

BoundaryLike = Boundary | str | Callable[[int], Boundary] | None


# -- the arguments ------------------------------------------------------------------------------------------------


def chosen_modes(modes: Sequence[str]) -> list[str]:
    """The modes to check, one or several by name; ModelError for an unknown one."""
    chosen = [modes] if isinstance(modes, str) else list(modes)
    for mode in chosen:
        if mode not in MODES:
            raise ModelError("modes", f"names {mode!r}, which is no mode", "use 'eval', 'train' or both")
    if not chosen:
        raise ModelError("modes", "is empty", "use 'eval', 'train' or both")
    return chosen


def axis_of_positions(model: Any, given: int | None) -> int:
    """The axis that holds positions, 1 where nothing was said; ModelError where a layer in the model says otherwise."""
    if given is not None:
        return given
    found = _positions_first(model)
    if found is not None:
        whose, layer = found
        holder = f"{whose} holds {layer}, which" if layer else whose
        raise ModelError(
            holder,
            "takes positions along axis 0 (batch_first=False)",
            "pass sequence_axis=0, or 1 if you do mean the batch"
            if not layer
            else "pass sequence_axis=0, or 1 if the input has its positions there",
            mentions=("sequence_axis",),
        )
    return 1


def _positions_first(model: Any) -> tuple[str, str] | None:
    """The module in which a layer takes (positions, batch, …), and that layer where the module is one's own."""
    for top in modules_of(model):
        layers = [(p, m) for p, m in top.named_modules() if getattr(m, "batch_first", None) is False]
        if not layers:
            continue
        if type(top).__module__.startswith("torch.nn."):
            return type(top).__name__, ""
        path, layer = min(layers, key=lambda found: found[0].count("."))  # the outermost: it holds the others
        return type(top).__name__, f"{type(layer).__name__} {path!r}" if path else ""
    return None


def made_for_training(modules: Sequence[nn.Module]) -> None:
    """ModelError where a parameter or buffer was made in inference mode: what is written into it cannot be followed."""
    for top in modules:
        for name, t in [*top.named_parameters(), *top.named_buffers()]:
            if t.is_inference():
                raise ModelError(
                    f"{type(top).__name__}.{name}",
                    "was made in torch.inference_mode, where PyTorch counts no writes",
                    "make or load the model outside of it",
                )


def inputs_of_lengths(
    inputs: tuple[Any, ...],
    lengths: Sequence[int] | None,
    make_input: Callable[[int], Any] | None,
    resized: Callable[[int], tuple[Any, ...]],
) -> list[tuple[int | None, tuple[Any, ...]]]:
    """The inputs to run, one tuple per length (None: as given), `resized` where nothing makes them."""
    if lengths is None:
        if not inputs:
            raise ModelError(
                "no input",
                "was given",
                "pass the model's inputs, or lengths together with make_input",
                mentions=("lengths", "make_input"),
            )
        return [(None, inputs)]
    sizes = _checked_lengths(lengths)
    if make_input is None:
        return [(n, resized(n)) for n in sizes]
    made = ((n, make_input(n)) for n in sizes)
    return [(n, m if isinstance(m, tuple) else (m,)) for n, m in made]


def cut_or_repeated(inputs: tuple[Any, ...], vary: int | str, axis: int, n: int) -> tuple[Any, ...]:
    """The inputs with n positions of the varied one; ModelError where it is no positional tensor."""
    import torch

    if len(inputs) == 1 and callable(inputs[0]):
        raise ModelError("input 0", "is a function", "pass it as make_input=, with lengths")
    if not inputs or isinstance(vary, str) or not isinstance(inputs[vary], torch.Tensor):
        raise ModelError("lengths", "needs make_input(n) here", "only a positional tensor can be cut and repeated")
    x = inputs[vary]
    index = torch.arange(n, device=x.device) % x.shape[axis]
    return (*inputs[:vary], x.index_select(axis, index), *inputs[vary + 1 :])


def _checked_lengths(lengths: Sequence[int]) -> list[int]:
    """The lengths to check; ModelError for none, and for what is none."""
    sizes = list(lengths)
    for n in sizes:
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ModelError("lengths", f"names {n!r}", "pass whole numbers of at least 1")
    if not sizes:
        raise ModelError("lengths", "is empty", "name at least one length or leave it out")
    return sizes


def parted(inputs: Sequence[Any], vary: int | str) -> tuple[tuple[Any, ...], dict[str, Any], int | str]:
    """Inputs by place, those of a last mapping by keyword, and which is varied; ModelError where `vary` names none."""
    positional, keywords = list(inputs), {}
    if positional and isinstance(positional[-1], Mapping):
        keywords = dict(positional.pop())
    if isinstance(vary, str) and vary not in keywords:
        raise ModelError("vary", "is no keyword of the model's inputs", "give them as a last mapping", vary)
    if not isinstance(vary, str) and not 0 <= vary < len(positional):
        if vary or len(keywords) != 1:
            few = f"names none of the {len(positional)} inputs"
            raise ModelError("vary", few, "pass an index below that", vary)
        vary = next(iter(keywords))
    return tuple(positional), keywords, vary


def _instead_of(given: Any) -> str:
    """What to pass in the place of what is no tensor."""
    if type(given).__module__ == "numpy":
        return "pass torch.from_numpy(…), or jnp.asarray(…) to a model of JAX"
    if isinstance(given, (tuple, list)) and any(hasattr(part, "shape") for part in given):
        return "pass what it holds one by one, as in check_model(model, *inputs), or choose another input with vary"
    return "choose it with vary"


def subject_of(
    model: Callable[..., Any], inputs: Sequence[Any], vary: int | str, sequence_axis: int, output_axis: int | None
) -> Subject:
    """The model with its inputs, a last mapping as keywords; ModelError or TypeError where they misfit."""
    torch = need_torch()
    if not callable(model):
        raise ArgumentTypeError(
            "model", f"must be callable, not {type(model).__name__}", "pass an nn.Module or a function"
        )
    positional, keywords, vary = parted(inputs, vary)
    subject = Subject(model, positional, keywords, vary)
    if not isinstance(subject.input, torch.Tensor):
        raise ModelError(
            f"input {vary}",
            f"is {type(subject.input).__name__}; the varied input must be a tensor",
            _instead_of(subject.input),
            mentions=("vary",),
        )
    lacks = lacking(subject.input)
    if lacks is not None:
        raise ModelError(f"input {vary}", lacks, "pass a dense tensor of numbers, and convert it in a function")
    axis = checked_axis(subject, sequence_axis)
    subject = replace(subject, sequence_axis=axis, output_axis=axis if output_axis is None else output_axis)
    if not subject.n:
        raise ModelError(
            f"input {vary}",
            f"has no position along sequence_axis = {sequence_axis}",
            "pass a longer one",
            mentions=("sequence_axis",),
        )
    if not subject.input.numel():
        raise ModelError(
            f"input {vary}",
            f"holds no number, as its shape is {tuple(subject.input.shape)}",
            "pass at least one sequence that has features",
        )
    return subject


def checked_axis(subject: Subject, axis: int) -> int:
    """The axis of positions, counted from the first; ModelError where the varied input has none such."""
    shape = tuple(subject.input.shape)
    if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
        raise ModelError(
            "sequence_axis",
            f"is no axis of input {subject.vary}, whose shape is {shape}",
            "pass the axis that holds positions",
            axis,
        )
    return axis % len(shape)


def length_as_asked(subject: Subject, n: int | None, boundary: BoundaryLike, lengths: Sequence[int] | None) -> None:
    """ModelError where make_input(n) gave another length, or where one position alone was given by mistake."""
    axis = subject.sequence_axis
    if n is not None and subject.n != n:
        raise ModelError(f"make_input({n})", f"gave {subject.n} positions along axis {axis}", f"make it give {n}")
    if lengths is not None and set(lengths) == {1} and (boundary is None or boundary == "prefix"):
        raise ModelError("lengths", "names 1 alone, so that nothing comes later", "name a length of at least 2")
    if n is None and subject.n == 1 and (boundary is None or boundary == "prefix"):
        raise ModelError(
            f"input {subject.vary}",
            f"of shape {tuple(subject.input.shape)} has 1 position along axis {axis}, so that nothing comes later",
            "name the axis of the positions with sequence_axis",
            mentions=("sequence_axis",),
        )


def resolved_boundary(given: BoundaryLike, n: int) -> Boundary:
    """The boundary over n positions; ModelError where it speaks of others."""
    if callable(given) and not isinstance(given, Boundary):
        given = given(n)
    try:
        return Boundary.resolve(given, n)  # a text leaves open where fewer queries stand, so it is for n of them
    except Misfit as misfit:
        raise ModelError(
            "boundary",
            f"speaks of n = {misfit.n} positions, the sequence axis has {n}",
            f"pass Boundary.prefix({n}) or another sequence_axis",
            mentions=("sequence_axis",),
        ) from None


def resolved_vocabulary(
    subject: Subject,
    given: int | None,
    largest: Callable[[Any], int | None],
    inferred: Callable[[], int | None],
    needed: bool = True,
) -> int | None:
    """The number of tokens, None for numbers that are no tokens; ModelError where it is `needed` and nothing tells it.

    `largest` is the largest token in an input (None: it has no values).
    """
    if not subject.is_discrete:
        return None
    if given is not None:
        return _vocabulary_as_given(given, largest(subject.input))
    if str(subject.input.dtype).removeprefix("torch.") == "bool":
        return 2
    told = inferred()
    if told is None and needed:
        raise ModelError(
            f"input {subject.vary}",
            "holds whole numbers and no embedding tells their bound",
            "pass vocabulary=, the number of tokens",
            mentions=("vocabulary",),
        )
    return told


def _vocabulary_as_given(given: int, top: int | None) -> int:
    """The number of tokens as it was given; ModelError where it leaves nothing to vary, or `top` is a larger token."""
    if isinstance(given, bool) or not isinstance(given, int) or given < 2:
        raise ModelError("vocabulary", "leaves nothing to vary", "pass the number of tokens, at least 2", given)
    if top is not None and top >= given:
        raise ModelError("vocabulary", f"but the input holds token {top}", f"pass at least {top + 1}", given)
    return given
