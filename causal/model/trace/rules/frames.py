"""What PyTorch's operations make of rows that stand in a frame (see `frames`, and `transfer.frames` for why)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ..frames import EXACT, NOTHING, About, Counts, Note, step
from ..transfer import frames
from ..transfer.frames import Frame
from ..transfer.reductions import axes_of

Found = Sequence[Note]


def _first(about: About) -> Any:
    return about.call.operands()[0]


# -- where frames begin ------------------------------------------------------------------------------------------------


@step("sort")
def sort(about: About) -> Found | Note:
    """A key of one axis is put in order; the order of an order is its inverse. Along other axes, rows are sorted."""
    call, x = about.call, _first(about)
    note = about.note(x)
    axis = int(call["dim"]) % max(1, len(x.shape)) if call.has("dim") else -1
    places = Note(span=(0, max(0, x.shape[axis] - 1))) if x.shape else NOTHING
    if len(x.shape) != 1 or x.shape[0] < 2:
        return [along_another(about), replace(along_another(about), span=places.span)]
    descending = bool(call["descending"])
    if note.rows is not None and note.rows.is_order and not descending:
        return [NOTHING, Note(inverse=note.rows.frame, span=places.span)]
    key = note.key or object()
    about.frames.note(call, x.value, replace(note, key=key))
    frame = Frame(x.shape[0], key, *frames.profile(x.shadow, 0), not descending)
    sorted_key = Note(rows=frames.key_of(frame), span=about.span(x), key=key)
    return [sorted_key, Note(rows=frames.order_of(frame), span=places.span)]


@step("topk")
def topk(about: About) -> Found:
    """Row by row; the places are whole numbers."""
    x = _first(about)
    note = along_another(about)
    span = (0, max(0, x.shape[int(about.call["dim"]) % len(x.shape)] - 1)) if x.shape else None
    return [note, replace(note, span=span)]


@step("argmax argmin")
def found_at(about: About) -> Note:
    """The place of the largest: a whole number."""
    x, dim = _first(about), about.call["dim"]
    last = (math.prod(x.shape) if dim is None else x.shape[int(dim) % max(1, len(x.shape))]) - 1 if x.shape else 0
    return replace(reduction(about), span=(0, max(0, last)))


# -- groups ------------------------------------------------------------------------------------------------------------


@step("histc bincount")
def counted(about: About) -> Note:
    """How often each number of a key occurs, where none is left out."""
    call, x = about.call, _first(about)
    note, span = about.note(x), about.span(x)
    if note.key is None and len(x.shape) == 1:
        note = replace(note, key=object())
        about.frames.note(call, x.value, note)
    bins = about.shape[0]
    if call.name == "aten.histc":
        complete = bool(call["min"] == 0 and call["max"] == bins - 1 and bins > 1)
    else:
        complete = call["weights"] is None
    exact = _holds_whole(about.outputs[0].dtype) and math.prod(x.shape) <= EXACT
    if not (complete and exact) or span is None or not 0 <= span[0] <= span[1] < bins or note.key is None:
        return NOTHING
    return Note(counts=Counts(note.key))


@step("cumsum")
def running(about: About) -> Note:
    """Counts summed up say where each group ends; along other axes rows are summed apart."""
    counts = about.note(_first(about)).counts
    if counts is not None and len(about.shape) == 1 and not counts.ends and _holds_whole(about.outputs[0].dtype):
        return Note(counts=replace(counts, ends=True))
    return along_another(about)


@step("_grouped_mm")
def grouped(about: About) -> Note:
    """Row i times the matrix of its group: of the group of its key, where the groups end as those of the key do."""
    x, weight, *rest = about.call.operands()
    rows, ends = about.rows(x, 0), about.call["offs"]
    counts = about.note(ends).counts
    if rows is None or counts is None or not counts.ends or len(x.shape) != 2 or len(weight.shape) != 3:
        return NOTHING
    if counts.key is not rows.frame.key or not rows.frame.ascending:
        return NOTHING
    others = [o.shadow for o in (weight, *rest) if o is not ends]
    return Note(rows=frames.together([rows, frames.key_of(rows.frame)], others, 0))


# -- functions of rows -------------------------------------------------------------------------------------------------


@step("pointwise")
def pointwise(about: About) -> Note:
    """Each element follows from those at the same place."""
    call, shape = about.call, about.shape
    operands = call.operands()
    standing = [(r.axis + len(shape) - len(o.shape)) for o in operands if (r := about.rows(o)) is not None]
    if not standing:
        return _kept_span(about)
    axis = standing[0]
    note = about.together({i: axis - (len(shape) - len(o.shape)) for i, o in enumerate(operands)}, axis)
    numbers = _numbers(about) if note.rows is not None else None
    span = _kept_span(about).span
    rows = note.rows
    return Note(rows=None if rows is None else replace(rows, numbers=numbers), span=span)


@step("eq")
def equal(about: About) -> Note:
    """Where whole numbers are a given one."""
    found, x, number = pointwise(about), _first(about), about.call["other"]
    note = about.note(x)
    if not isinstance(number, int) or note.span is None:
        return found
    note = replace(note, same=note.same or object())
    about.frames.note(about.call, x.value, note)
    return replace(found, equals=(note.same, tuple(x.shape), number))


def _numbers(about: About) -> Any:
    """The items' numbers, where they follow from those of the operands and from constants."""
    call, given = about.call, []
    for operand in call.operands():
        rows = about.rows(operand)
        if rows is not None:
            if rows.numbers is None:
                return None
            sizes = [rows.frame.size if a == rows.axis else 1 for a in range(len(operand.shape))]
            given.append(torch.from_numpy(np.asarray(rows.numbers)).to(operand.value.dtype).reshape(sizes))
            size = rows.frame.size
        else:
            numbers = call.shadows.numbers(operand.value) if operand.shadow.is_fixed else None
            if numbers is None or numbers.numel() != 1:
                return None
            call.values_used(operand)
            given.append(numbers)
    if about.outputs[0].is_floating_point() or about.outputs[0].dtype == torch.bool or "device" in call.kwargs:
        return None
    found = call.replay(*given)
    return found.reshape(-1).numpy() if isinstance(found, torch.Tensor) and found.numel() == size else None


def _kept_span(about: About) -> Note:
    """A choice among whole numbers lies between the least and the largest of them."""
    call = about.call
    if call.name not in CHOOSING or about.outputs[0].dtype == torch.bool:
        return NOTHING
    spans: list[tuple[int, int] | None] = []
    for name in CHOOSING[call.name]:
        value = call[name]
        spans.append(
            (value, value) if isinstance(value, int) else about.span(value) if hasattr(value, "memory") else None
        )
    if call.name == "aten.masked_fill" and spans[0] is not None:
        spans[0] = _without(spans[0], about.note(call["self"]), tuple(call["self"].shape), about.note(call["mask"]))
    if any(s is None for s in spans):
        return NOTHING
    return Note(span=(min(s[0] for s in spans if s), max(s[1] for s in spans if s)))


def _without(span: tuple[int, int], note: Note, shape: tuple[int, ...], mask: Note) -> tuple[int, int]:
    """Between which numbers those lie that a mask leaves, where it hides all that are the least or the largest."""
    if note.same is None or mask.equals is None or mask.equals[:2] != (note.same, shape):
        return span
    least, most, hidden = *span, mask.equals[2]
    return (least + (hidden == least), most - (hidden == most)) if least < most else span


CHOOSING = {"aten.where": ("self", "other"), "aten.masked_fill": ("self", "value")}


@step("_to_copy clone detach alias lift_fresh")
def kept(about: About) -> Note:
    """A copy, of another type perhaps: whole numbers stay what they are where the type holds them."""
    note, dtype = about.note(_first(about)), about.outputs[0].dtype
    if dtype == _first(about).value.dtype:
        return note
    span = about.span(_first(about))
    if span is not None and -1 < span[0] <= span[1] <= (EXACT if _holds_whole(dtype) else 127) and dtype != torch.bool:
        return replace(note, span=span, chosen=None)
    rows = None if note.rows is None else replace(note.rows, numbers=None)
    return Note(rows=rows, counts=note.counts if _holds_whole(dtype) else None)


def _holds_whole(dtype: torch.dtype) -> bool:
    """Whether a type holds every whole number up to `EXACT`."""
    return dtype in (torch.int32, torch.int64, torch.float32, torch.float64)


@step("view _unsafe_view _reshape_copy view_copy unsqueeze squeeze unsqueeze_copy squeeze_copy")
def reshaped(about: About) -> Note:
    """Row-major order is kept."""
    x = _first(about)
    note = about.note(x)
    if x.value.dtype != about.outputs[0].dtype:  # the same bits, read as another type
        return NOTHING
    rows, at = note.rows, None
    if rows is not None:
        at = frames.axis_after_reshape(rows.axis, x.shape, about.shape)
    rows = None if rows is None or at is None else replace(rows, axis=at)
    return replace(note, rows=rows, counts=None, columns=None)


@step(
    "expand permute transpose t slice select split "
    "split_with_sizes unbind expand_copy permute_copy transpose_copy t_copy slice_copy select_copy"
)
def moved(about: About) -> Found:
    """Views that leave the axis of the rows whole: where it stands afterwards."""
    call, x = about.call, _first(about)
    note, axes = about.note(x), len(x.shape)
    span = Note(span=note.span)
    rows = note.rows
    if rows is None:
        return [span] * len(about.outputs)
    before, name = rows.axis, call.name.removeprefix("aten.").removesuffix("_copy")
    if name == "expand":
        after = before + len(about.shape) - axes
    elif name == "permute":
        after = [int(d) % axes for d in call["dims"]].index(before)
    elif name in ("transpose", "t"):
        pair = [int(call[d]) % axes for d in ("dim0", "dim1")] if name == "transpose" else [axes - 1, 0][-axes:]
        after = pair[1 - pair.index(before)] if before in pair and len(set(pair)) > 1 else before
    else:
        cut = int(call["dim"]) % axes
        gone = name in ("select", "unbind")
        after = before - (gone and cut < before)
        if cut == before and (gone or about.shape[before] != rows.frame.size):
            return [span] * len(about.outputs)
        if gone and note.columns is not None:
            columns = note.columns.T if name == "unbind" else [note.columns[:, int(call["index"])]]
            return [replace(span, rows=replace(rows, axis=after, numbers=column)) for column in columns]
    return [replace(span, rows=replace(rows, axis=after))] * len(about.outputs)


@step("max min")
def extreme(about: About) -> Note | Found:
    """The largest of each row, and its place: a whole number."""
    found = reduction(about)
    return [found, found_at(about)] if len(about.outputs) == 2 else found


@step("sum mean amax amin prod any all logsumexp var std linalg_vector_norm norm")
def reduction(about: About) -> Note:
    """Over other axes than that of the rows."""
    call, x = about.call, _first(about)
    rows = about.rows(x)
    if len(call.operands()) > 1:
        return pointwise(about) if call.name in ("aten.max", "aten.min") else NOTHING
    axes = axes_of(len(x.shape), call["dim"] if call.has("dim") else None)
    if rows is None or rows.axis in axes:
        return NOTHING
    kept = len(about.shape) == len(x.shape)
    return about.together({0: rows.axis}, rows.axis if kept else rows.axis - sum(a < rows.axis for a in axes))


@step("cumprod _softmax _log_softmax _safe_softmax glu")
def along_another(about: About) -> Note:
    """Something along one axis, not that of the rows."""
    x = _first(about)
    rows = about.rows(x)
    if rows is None or int(about.call["dim"]) % len(x.shape) == rows.axis:
        return NOTHING
    return about.together({0: rows.axis}, rows.axis)


@step("native_layer_norm _fused_rms_norm")
def normalised(about: About) -> Found:
    """Over the last axes, with the statistics beside it."""
    call, x = about.call, about.call["input"]
    rows = about.rows(x)
    if rows is None or rows.axis >= len(x.shape) - len(call["normalized_shape"]):
        return [NOTHING] * len(about.outputs)
    return [about.together({0: rows.axis}, rows.axis)] * len(about.outputs)


@step("mm bmm addmm baddbmm linear")
def product(about: About) -> Note:
    """Rows of the first matrix; a batch of products is one for each row."""
    operands = about.call.operands()
    first = {"aten.addmm": 1, "aten.baddbmm": 1}.get(about.call.name, 0)
    rows = about.rows(operands[first])
    axes = len(operands[first].shape)
    if rows is None or rows.axis == axes - 1:
        return NOTHING
    along = {first: rows.axis}
    if first:
        along[0] = rows.axis - (len(about.shape) - len(operands[0].shape))
    if about.call.name in ("aten.bmm", "aten.baddbmm") and rows.axis == 0:
        along[first + 1] = 0
    return about.together(along, rows.axis)


@step("cat")
def joined(about: About) -> Note:
    """Joined along another axis than that of the rows; whole numbers lie between the least and the largest of all."""
    operands, dtype = about.call.operands(), about.outputs[0].dtype
    spans = [about.span(o) if o.value.dtype == dtype else None for o in operands]
    all_known = [s for s in spans if s is not None]
    found = NOTHING
    if len(all_known) == len(operands):
        found = Note(span=(min(s[0] for s in all_known), max(s[1] for s in all_known)))
    axis = int(about.call["dim"]) % len(about.shape)
    standing = next((r.axis for o in operands if (r := about.rows(o)) is not None), axis)
    if standing == axis or any(len(o.shape) != len(about.shape) for o in operands):
        return found
    return replace(about.together(dict.fromkeys(range(len(operands)), standing), standing), span=found.span)
