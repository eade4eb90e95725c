"""Gathers, scatters and slices at places that are themselves numbers (see `transfer.indexing`).

At known places the primitive itself moves the shadow's arrays; where the places depend on data, the output depends on
them and on all that they may pick.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jax.lax import GatherDimensionNumbers, GatherScatterMode, gather_p

from ..domain import NONE_HI, NONE_LO, RANK, VARIES, Array, Shadow, compress, full
from ..transfer.elementwise import assemble
from ..transfer.indexing import everywhere, loose, slots_of, written
from .registry import primitive

if TYPE_CHECKING:
    from .calls import JaxCall
    from .operands import JaxOperand

FILL = {"mode": GatherScatterMode.FILL_OR_DROP, "fill_value": 0, "indices_are_sorted": False, "unique_indices": False}
OTHERWISE = {**FILL, "mode": GatherScatterMode.CLIP, "fill_value": None}


def gathered_from(array: Array, places: Any, numbers: Any, sizes: Sequence[int], how: dict[str, Any]) -> Array:
    """Slices of an array at places."""
    return np.asarray(gather_p.bind(array, places, dimension_numbers=numbers, slice_sizes=tuple(sizes), **how))


def _slim(a: Array, x: Shadow, numbers: Any, sizes: Sequence[int]) -> tuple[Array, list[int]]:
    """The array and the sizes of its slices with axes of size 1 where nothing varies and whole slices are taken."""
    named = {*numbers.start_index_map, *numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    slim = [d for d, size in enumerate(x.shape) if d not in named and a.shape[d] == 1 and sizes[d] == size]
    target = [1 if d in slim else size for d, size in enumerate(x.shape)]
    return np.ascontiguousarray(np.broadcast_to(a, target)), [1 if d in slim else s for d, s in enumerate(sizes)]


@primitive("gather")
def gathered(call: JaxCall) -> Shadow:
    """Slices of an array at places."""
    x, i = call.operands
    numbers, sizes = call.params["dimension_numbers"], call.params["slice_sizes"]
    s = x.known()
    if not i.is_constant:
        return _gathered_by_data(call, s, i.shadow)
    call.values_used(i)

    def at(a: Array, how: dict[str, Any]) -> Array:
        array, few = _slim(np.asarray(a), s, numbers, sizes)
        return gathered_from(array, i.number(), numbers, few, how)

    lo, hi, kind = (compress(at(a, OTHERWISE)) for a in (s.lo, s.hi, s.kind))
    inside = at(np.ones((1,) * len(x.shape), np.int32), FILL) == 1
    if not inside.all():  # where the primitive fills in a number of its own, or nobody says what
        kind = np.where(inside, kind, np.uint8(VARIES))
    return assemble(call.shape, lo, hi, kind)


def _gathered_by_data(call: JaxCall, x: Shadow, i: Shadow) -> Shadow:
    """Any slice along the indexed axes, and the places themselves."""
    numbers, sizes = call.params["dimension_numbers"], call.params["slice_sizes"]
    axes, rank = tuple(numbers.start_index_map), len(call.shape)
    batch = [d for d in range(rank) if d not in numbers.offset_dims]
    arrays = []
    for a, b, reduce in ((x.lo, i.lo, np.minimum), (x.hi, i.hi, np.maximum)):
        joined = reduce.reduce(np.asarray(a), axis=axes, keepdims=True) if axes else np.asarray(a)
        array, few = _slim(joined, x, numbers, sizes)
        found = gathered_from(array, np.zeros(i.shape, np.int32), numbers, few, OTHERWISE)
        wide = [1] * rank
        own = reduce.reduce(np.asarray(b), axis=-1)
        for axis, size in zip(batch, own.shape, strict=True):
            wide[axis] = size
        arrays.append(compress(reduce(found, own.reshape(wide))))
    return loose(call.shape, arrays[0], arrays[1])


# -- slices -------------------------------------------------------------------------------------------------------


def _spans(call: JaxCall, x: Sequence[int], sizes: Sequence[int], starts: Sequence[JaxOperand]) -> list[slice | None]:
    """Along each axis the places of a slice, which is moved inside; None where they depend on data."""
    spans: list[slice | None] = []
    for length, size, start in zip(x, sizes, starts, strict=True):
        if size == length:
            spans.append(slice(0, size))
        elif start.is_constant:
            call.values_used(start)
            first = min(max(int(start.array()), 0), length - size)
            spans.append(slice(first, first + size))
        else:
            spans.append(None)
    return spans


@primitive("dynamic_slice", moves=True)
def sliced(call: JaxCall) -> Shadow:
    """A slice of fixed size from a start."""
    x, *starts = call.operands
    s, spans = x.known(), _spans(call, x.shape, call.shape, starts)
    where = [span or slice(None) for span in spans]

    def cut(a: Array) -> Array:
        return np.asarray(a)[tuple(slice(None) if n == 1 else w for n, w in zip(a.shape, where, strict=True))]

    lo, hi, kind = map(cut, (s.lo, s.hi, s.kind))
    among = [d for d, span in enumerate(spans) if span is None]
    if not among:
        return Shadow(call.shape, compress(lo), compress(hi), compress(kind))
    lo = np.minimum.reduce(lo, axis=tuple(among), keepdims=True, initial=NONE_LO)
    hi = np.maximum.reduce(hi, axis=tuple(among), keepdims=True, initial=NONE_HI)
    first = min(int(starts[d].shadow.lo) for d in among)
    last = max(int(starts[d].shadow.hi) for d in among)
    return loose(call.shape, compress(np.minimum(lo, RANK(first))), compress(np.maximum(hi, RANK(last))))


@primitive("dynamic_update_slice", moves=True)
def updated(call: JaxCall) -> Shadow:
    """A slice written over others from a start."""
    x, u, *starts = call.operands
    spans = _spans(call, x.shape, u.shape, starts)
    if None in spans:
        return everywhere(x.shadow, [u.shadow, *(o.shadow for o in starts)])
    arrays = []
    for a, b in zip(full(x.known()), full(u.known()), strict=True):
        whole = a.copy()
        whole[tuple(spans)] = b
        arrays.append(compress(whole))
    return Shadow(x.shape, *arrays)


# -- scatters -----------------------------------------------------------------------------------------------------


@primitive("scatter scatter-add scatter-sub scatter-mul scatter-min scatter-max")
def scattered(call: JaxCall) -> Shadow:
    """Slices written at, or joined to what stands at, places; places outside are dropped or moved inside."""
    x, i, u = call.operands
    slots = _slots(call, x.shape, i, u.shape) if i.is_constant else None
    if slots is None:
        return everywhere(x.shadow, [i.shadow, u.shadow])
    call.values_used(i)
    where = slots.reshape(-1)
    inside = where > 0
    source = Shadow((int(inside.sum()),), *(a.reshape(-1)[inside] for a in full(u.known())))
    return written(x.known(), where[inside] - 1, source, accumulate=not _overwrites(call))


def _overwrites(call: JaxCall) -> bool:
    """Whether what stood there does not matter."""
    if call.name != "scatter":
        return False
    body = call.params.get("update_jaxpr")
    body = getattr(body, "jaxpr", body)
    return body is None or (not body.eqns and body.outvars[0] is body.invars[1])


def _slots(call: JaxCall, shape: tuple[int, ...], i: JaxOperand, updates: tuple[int, ...]) -> Array | None:
    """For each element that is written, 1 + the number of its place in row-major order, 0 where it is dropped.

    It is what a gather of the same slices would pick. None where nobody says what happens outside.
    """
    d, mode = call.params["dimension_numbers"], call.params["mode"]
    batching = tuple(getattr(d, "operand_batching_dims", ()))
    numbers = GatherDimensionNumbers(
        offset_dims=d.update_window_dims,
        collapsed_slice_dims=d.inserted_window_dims,
        start_index_map=d.scatter_dims_to_operand_dims,
        operand_batching_dims=batching,
        start_indices_batching_dims=tuple(getattr(d, "scatter_indices_batching_dims", ())),
    )
    window = iter(updates[a] for a in d.update_window_dims)
    sizes = [1 if a in (*d.inserted_window_dims, *batching) else next(window) for a in range(len(shape))]
    names = (slots_of(shape) + 1).astype(np.int32)
    inside = gathered_from(names, i.number(), numbers, sizes, FILL)
    if mode == GatherScatterMode.CLIP:
        return gathered_from(names, i.number(), numbers, sizes, OTHERWISE)
    if mode == GatherScatterMode.FILL_OR_DROP or (inside > 0).all():
        return inside
    return None
