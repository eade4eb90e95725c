"""The questions that a check of a JAX model asks: one for each length and mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..arguments import inputs_of_lengths, length_as_asked, resolved_boundary, resolved_vocabulary
from ..outputs import Checked, Outputs, among, items, to_check
from ..question import Question
from ..raised import phrase
from ..seen import Seen
from ..setting import ModelError, Setting
from ..trace.policy import Policy
from .program import JaxProgram
from .subject import subject_of
from .tokens import tokens_of
from .varying import is_inexact

if TYPE_CHECKING:
    from ...boundary import Boundary
    from ..asked import Asked
    from ..trace.records import Trace


def questions(asked: Asked) -> Iterator[Question]:
    """One question after the other, the models that they are about having been recorded, and run once."""
    if asked.rules:
        raise ModelError("rules", "are for operations of PyTorch", "leave them out for a model of JAX's")
    resized = partial(_cut_or_repeated, asked)
    for n, given in inputs_of_lengths(asked.inputs, asked.lengths, asked.make_input, resized):
        subject = subject_of(asked.model, given, asked.vary, asked.sequence_axis, asked.output_axis)
        length_as_asked(subject, n, asked.boundary, asked.lengths)
        for mode in asked.modes:
            yield _question(asked, JaxProgram.of(subject, mode), mode)


def _question(asked: Asked, program: JaxProgram, mode: str) -> Question:
    about = resolved_boundary(asked.boundary, program.n)
    paths = _chosen(asked, program, about, mode)
    program = program.about(paths)
    runs = asked.replay and program.has_values
    told = partial(tokens_of, program.recording)
    bound = resolved_vocabulary(program.subject, asked.vocabulary, _largest, told, needed=asked.replay)
    policy = Policy(values=runs)
    seen = Seen(
        result=program.shapes,
        epsilon=program.epsilon,
        random=False,  # the same draws in every run
        apart=False,
        writes_input=(),
        writes_state=program.written,
        tables=frozenset(),
        unset=program.pure.unset,
        ran=runs,
        first=_first(program, policy, mode),
    )
    which = _laid_out(program, paths, runs, mode)
    return Question(
        program, about, seen, which, mode, bound, asked.parameters, (), asked.limits, asked.replay, asked.unused
    )


def _first(program: JaxProgram, policy: Policy, mode: str) -> Trace | str:
    """The first abstract run, or why there is none."""
    try:
        return program.traced(policy, Setting(mode=mode), np.arange(program.n))
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        return phrase(error)


# -- inputs -----------------------------------------------------------------------------------------------------------


def _cut_or_repeated(asked: Asked, n: int) -> tuple[Any, ...]:
    """The inputs with n positions of the varied one; ModelError where it is no positional array."""
    x = asked.inputs[asked.vary] if asked.inputs and isinstance(asked.vary, int) else None
    if x is None or not hasattr(x, "shape"):
        raise ModelError("lengths", "needs make_input(n) here", "only a positional array can be cut and repeated")
    assert isinstance(asked.vary, int)
    axis = 1 if asked.sequence_axis is None else asked.sequence_axis
    x = jnp.take(x, jnp.arange(n) % x.shape[axis], axis)
    return (*asked.inputs[: asked.vary], x, *asked.inputs[asked.vary + 1 :])


def _largest(x: Any) -> int | None:
    """The largest token, None where there are only shapes."""
    return None if isinstance(x, jax.ShapeDtypeStruct) else int(np.asarray(x).max())


# -- outputs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Shape:
    """An output as far as choosing needs to know it (`..outputs.Shaped`)."""

    shape: Sequence[int]
    dtype: Any

    def dim(self) -> int:
        return len(self.shape)

    def is_floating_point(self) -> bool:
        return bool(jnp.issubdtype(self.dtype, jnp.floating))

    def is_complex(self) -> bool:
        return bool(jnp.issubdtype(self.dtype, jnp.complexfloating))


def _shaped(found: Mapping[str, Any]) -> dict[str, _Shape]:
    return {path: _Shape(v.shape, v.dtype) for path, v in found.items()}


def _chosen(asked: Asked, program: JaxProgram, boundary: Boundary, mode: str) -> list[str]:
    """The paths of the outputs that are checked."""
    found = _shaped(program.returned)
    if not found:
        raise ModelError("the model", "returned no array", "wrap it in a function that returns the array to check")
    tops, _ = jax.tree_util.tree_flatten_with_path(program.shapes, is_leaf=lambda v: v is not program.shapes)
    keys = [jax.tree_util.keystr(path) for path, _ in tops]
    groups = None if asked.outputs is None else [among(found, keys, item) for item in items(asked.outputs)]

    def shorter(batch: bool) -> dict[str, _Shape] | None:
        less = program.one_shorter(mode, batch)
        return None if less is None else _shaped(less)

    axis, given = program.subject.output_axis, asked.boundary is not None
    return to_check(found, groups, axis, boundary, given, shorter)


def _laid_out(program: JaxProgram, paths: Sequence[str], runs: bool, mode: str) -> Outputs:
    """The outputs at the paths side by side; those of the others are named."""
    found = program.returned
    axis, checked, start = program.subject.output_axis, [], 0
    for path in paths:
        shape = found[path].shape
        double = 2 if jnp.issubdtype(found[path].dtype, jnp.complexfloating) else 1
        width = int(np.prod(shape, dtype=np.int64)) // shape[axis] * double
        checked.append(Checked(path, axis % len(shape), slice(start, start + width), not is_inexact(found[path])))
        start += width
    rows = program.numbers(program.input, Setting(mode=mode)) if runs else np.zeros((1, 1))
    return Outputs(tuple(checked), tuple(p for p in found if p not in paths), rows)
