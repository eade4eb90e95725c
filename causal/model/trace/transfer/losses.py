"""Losses: one number for each element or each row, or their sum or mean, which depends on all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .elementwise import pointwise
from .reductions import reduced, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..domain import Shadow


def of_elements(shadows: Sequence[Shadow], shape: tuple[int, ...], each: bool) -> Shadow:
    """A function of the elements at the same place where `each` has its number, else of all."""
    return pointwise(shape, shadows) if each else whole(shape, shadows)


def of_rows(scores: Shadow, target: Shadow, weights: Sequence[Shadow], shape: tuple[int, ...], each: bool) -> Shadow:
    """The score of a row's target, among the classes along the axis after the batch; all weights may count.

    scores: (classes,), (rows, classes) or (rows, classes, …); target: (), (rows,) or (rows, …), and so the result.
    """
    if not each:
        return whole(shape, (scores, target, *weights))
    axis = min(1, len(scores.shape) - 1)
    classes = reduced(scores, (axis,), (*scores.shape[:axis], *scores.shape[axis + 1 :]))
    return pointwise(shape, (classes, target, *(whole((), (w,)) for w in weights)))
