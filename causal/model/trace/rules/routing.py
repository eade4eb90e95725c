"""Rows that are drawn into a frame by an index, and sent home by it (see `frames`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..domain import Shadow, reshape
from ..frames import NOTHING, About, Note, step
from ..transfer import frames
from .indexing import indices_of

if TYPE_CHECKING:
    from ..calls import TorchOperand
    from ..transfer.frames import Rows


def _read(about: About, table: Any, places: Sequence[Any], axis: int) -> Note | Shadow:
    """Slices of a table at indices, None for an axis taken whole; `axis`: the first that they make of the result."""
    named = {a: o for a, o in enumerate(places) if o is not None}
    rows = {a: about.rows(o) for a, o in named.items()}
    span = about.span(table)
    if len(named) == 1:
        ((at, index),) = named.items()
        stood, inverse = about.rows(table, at), about.note(index).inverse
        if stood is not None and inverse is stood.frame:
            return frames.at_home(stood, about.shape, index.shape, axis)
    if any(r is None or len(o.shape) != 1 for r, o in zip(rows.values(), named.values(), strict=True)):
        return Note(span=span)
    found = {a: r for a, r in rows.items() if r is not None}
    if not found or len({id(r.frame) for r in found.values()}) > 1 or not math.prod(table.shape):
        return Note(span=span)
    if not about.is_alike(table, -1, next(iter(found.values())).frame):
        return Note(span=span)
    drawn = frames.drawn_from(table.shadow, found, axis)
    return Note(rows=replace(drawn, numbers=_looked_up(about, table, found)), span=span)


def _looked_up(about: About, table: TorchOperand, places: Mapping[int, Rows]) -> Any:
    """What a table of constants holds for each item."""
    if len(table.shape) != 1 or not table.shadow.is_fixed or table.value.is_floating_point():
        return None
    numbers, at = about.call.shadows.numbers(table.value), places[0].numbers
    if numbers is None or at is None:
        return None
    about.call.values_used(table)
    return numbers.detach().cpu().numpy()[at]


@step("index _unsafe_index")
def index(about: About) -> Note | Shadow:
    """x[i, j, …]."""
    given = about.call["indices"]
    at = [a for a, i in enumerate(given) if i is not None]
    if not at or any(i is not None and i.mask for i in indices_of(given)):
        return NOTHING
    neighbours = at == list(range(at[0], at[0] + len(at)))
    return _read(about, about.call["self"], given, at[0] if neighbours else 0)


@step("index_select embedding")
def select_rows(about: About) -> Note | Shadow:
    """Whole slices along one axis, or rows of a table."""
    call = about.call
    if call.name == "aten.embedding":
        return _read(about, call["weight"], [call["indices"]], 0)
    x = call["self"]
    axis = int(call["dim"]) % max(1, len(x.shape))
    return _read(about, x, [None] * axis + [call["index"]], axis) if x.shape else NOTHING


@step("gather")
def gather(about: About) -> Note | Shadow:
    """Along the axis of the rows, by an index that is the same for every element of a row; else row by row."""
    call = about.call
    x, index = call["self"], call["index"]
    axis = int(call["dim"]) % max(1, len(about.shape))
    rows = about.rows(index)
    if rows is None or rows.axis != axis:
        standing = about.rows(x)
        if standing is None or standing.axis == axis:
            return Note(span=about.span(x))
        return replace(about.together({0: standing.axis, 1: standing.axis}, standing.axis), span=about.span(x))
    if not math.prod(x.shape) or not about.is_alike(x, -1, rows.frame):
        return NOTHING
    return Note(rows=frames.drawn_from(x.shadow, {axis: rows}, axis), span=about.span(x))


@step("index_put _unsafe_index_put")
def write(about: About) -> Note | Shadow:
    """x[i] = values, or += : the inverse of an order is made so, and rows go home."""
    call = about.call
    x, values, indices = call["self"], call["values"], call["indices"]
    index = indices[0] if len(indices) == 1 else None
    if index is None:
        return _write_at(about, x, indices, values)
    rows = about.rows(index)
    if rows is None or rows.numbers is None or len(index.shape) != 1 or not x.shape:
        return NOTHING
    accumulate = bool(call["accumulate"])
    if rows.is_order and x.shape == values.shape == index.shape and values.shadow.is_fixed and not accumulate:
        numbers = call.shadows.numbers(values.value)
        if numbers is not None and torch.equal(numbers, torch.arange(len(numbers)).to(numbers.dtype)):
            call.values_used(values)
            return Note(inverse=rows.frame, span=(0, x.shape[0] - 1))
    ahead = len(values.shape) - len(x.shape)
    if ahead > 0 or not (accumulate or rows.are_distinct(x.shape[0])):
        return NOTHING
    return _home(about, x.shadow, 0, rows, values, ahead, accumulate)


def _write_at(about: About, x: Any, indices: Sequence[Any], values: Any) -> Note | Shadow:
    """x[i, j, …] = values, or +=, at places along the first axes that stand in one frame."""
    rows = [r for i in indices if i is not None and len(i.shape) == 1 and (r := about.rows(i)) is not None]
    sizes, rest = x.shape[: len(indices)], x.shape[len(indices) :]
    if len(rows) < len(indices) or len({id(r.frame) for r in rows}) > 1 or len(values.shape) > 1 + len(rest):
        return NOTHING
    numbers = [r.numbers for r in rows if r.numbers is not None]
    inside = [0 <= n.min() <= n.max() < size for n, size in zip(numbers, sizes, strict=False)]
    if len(numbers) < len(indices) or not all(inside):
        return NOTHING
    flat = math.prod(sizes)
    places = replace(rows[0], numbers=np.ravel_multi_index(numbers, sizes))
    accumulate, along = bool(about.call["accumulate"]), len(values.shape) - 1 - len(rest)
    if not (accumulate or places.are_distinct(flat)):
        return NOTHING
    found = _home(about, reshape(x.shadow, (flat, *rest)), 0, places, values, along, accumulate)
    return found if isinstance(found, Note) else reshape(found, x.shape)


@step("index_add index_copy scatter scatter_add scatter_reduce")
def add(about: About) -> Note | Shadow:
    """Whole slices, or elements, written or added at the places of an index along one axis."""
    call = about.call
    x, index = call["self"], call["index"]
    source = call["source"] if call.has("source") else call["src"] if call.has("src") else None
    if source is None or not hasattr(source, "memory") or not x.shape:
        return NOTHING
    axis = int(call["dim"]) % len(x.shape)
    scatters = "scatter" in call.name
    rows = about.rows(index, axis if scatters else 0)
    if rows is None or rows.numbers is None or (scatters and index.shape != source.shape):
        return NOTHING
    sums = call.name not in ("aten.index_copy", "aten.scatter") or bool(call.has("reduce") and call["reduce"])
    if not sums and not rows.are_distinct(x.shape[axis]):
        return NOTHING
    keeps = sums or scatters  # of a slice, a scatter may leave some
    return _home(about, x.shadow, axis, rows, source, axis, keeps)


def _home(about: About, target: Shadow, axis: int, rows: Rows, values: Any, along: int, keeps: bool) -> Note | Shadow:
    """`along`: the axis of the values that their rows stand along, below 0 for none; `keeps`: what was there counts."""
    frame, standing = rows.frame, about.rows(values, along) if along >= 0 else None
    if standing is not None and standing.frame is not frame:
        return NOTHING
    if standing is None and not about.is_alike(values, along, frame):
        return NOTHING
    if not frame.is_choice:
        source = values.shadow if standing is None else standing
        return frames.sent_home(target, axis, np.asarray(rows.numbers), source, target.shape, keeps)
    here = frames.together([frames.constant(frame, None)], [values.shadow], 0) if standing is None else standing
    return frames.sent_home(target, axis, np.asarray(rows.numbers), frames.if_chosen(here), target.shape, True)
