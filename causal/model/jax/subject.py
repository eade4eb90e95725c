"""A model with the inputs that it is checked on, as arrays of JAX or NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..arguments import checked_axis, parted
from ..setting import ModelError
from ..trace.subject import Subject
from .models import with_variables
from .varying import is_array, is_inexact


class ArraySubject(Subject):
    """A model with inputs that are arrays of JAX or NumPy."""

    @property
    def is_discrete(self) -> bool:
        """Whether the varied input holds whole numbers (tokens)."""
        return not is_inexact(self.input)


def subject_of(
    model: Callable[..., Any],
    inputs: Sequence[Any],
    vary: int | str,
    sequence_axis: int | None,
    output_axis: int | None,
) -> ArraySubject:
    """The model with its inputs, a last mapping as keywords; ModelError where they misfit."""
    model, given = with_variables(model, inputs)
    positional, keywords, vary = parted(given, vary)
    subject = ArraySubject(model, positional, keywords, vary)
    x = subject.input
    if not is_array(x) or jnp.issubdtype(x.dtype, jax.dtypes.extended):
        raise ModelError(
            f"input {vary}",
            f"is {type(x).__name__}; the varied input must be an array of numbers",
            "choose it with vary",
            mentions=("vary",),
        )
    return _placed(subject, sequence_axis, output_axis)


def _placed(subject: ArraySubject, sequence_axis: int | None, output_axis: int | None) -> ArraySubject:
    """The subject with the axes of positions and queries; ModelError where there are none."""
    axis, shape = checked_axis(subject, 1 if sequence_axis is None else sequence_axis), tuple(subject.input.shape)
    if not np.prod(shape):
        raise ModelError(f"input {subject.vary}", f"holds no number, as its shape is {shape}", "pass a longer one")
    return replace(subject, sequence_axis=axis, output_axis=axis if output_axis is None else output_axis)
