"""Losses: one number for each element or each row, or their sum or mean, which depends on all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..domain import reshape
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


def of_sets(
    scores: Shadow, targets: Shadow, shapes: tuple[tuple[int, ...], tuple[int, ...]], each: bool
) -> tuple[Shadow, Shadow]:
    """By how much the scores of a row's target classes, of which there may be several, fail to exceed those of others;
    and which classes are targets.

    scores, targets: (classes,) or (rows, classes); shapes: of the loss, () or (rows,), and of the targets' marks.
    """
    last = len(scores.shape) - 1
    rows = scores.shape[:last]
    named = reduced(targets, (last,), rows)
    marks = pointwise(shapes[1], [reshape(named, (*rows, 1))])
    if not each:
        return whole(shapes[0], (scores, targets)), marks
    return pointwise(shapes[0], [reduced(scores, (last,), rows), named]), marks


def of_alignments(
    steps: Shadow, targets: Shadow, lengths: Sequence[Shadow], shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> tuple[Shadow, Shadow]:
    """Over all alignments of a sequence with its target, for each element of the batch; and what the derivative needs.

    steps: (time, batch, classes) or (time, classes); targets: (batch, places), or all of them on end; shapes: (batch,)
    or (), and (batch, time, places).
    """
    batch = shapes[0]
    rows = reduced(steps, (0, len(steps.shape) - 1), batch)
    apart = len(targets.shape) == 2 and len(batch) == 1
    named = reduced(targets, (1,), batch) if apart else whole((), (targets,))
    loss = pointwise(batch, [rows, named, whole((), lengths)] if lengths else [rows, named])
    return loss, pointwise(shapes[1], [reshape(loss, (shapes[1][0], 1, 1))])
