"""ATen's operations that read elements at places: at known places as terms, at others of all that they may pick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .. import reductions
from ..integers import index, solver, whole
from ..primitives import primitive
from ..shadow import LengthShadow, joined, moved, settled
from .lowering import Call, Tensor, aten

if TYPE_CHECKING:
    from ..equation import Equation


@aten("embedding.default")
def embedded(op: Call) -> Tensor:
    """Rows of a table."""
    return op.do("aten.at", op["weight"], op["indices"], axes=(0,), first=0)


@aten("index_select.default")
def chosen(op: Call) -> Tensor:
    """Places of an axis."""
    axis = op.axis(op.x)
    return op.do("aten.at", op.x, op["index"], axes=(axis,), first=axis)


@aten("index.Tensor _unsafe_index.Tensor")
def indexed(op: Call) -> Tensor:
    """Elements at places that arrays name, along some axes."""
    x, given = op.x, list(op["indices"])
    axes = tuple(a for a, i in enumerate(given) if i is not None)
    arrays = [given[a] for a in axes]
    if any(i.dtype.itemsize < 4 for i in arrays):
        op.unknown("picks by truth values")
    side_by_side = axes == tuple(range(axes[0], axes[0] + len(axes)))
    first = axes[0] if side_by_side else 0
    rank = max(len(i.shape) for i in arrays)
    shape = op.shape[first : first + rank]
    return op.do("aten.at", x, *(op.stretched(i, shape) for i in arrays), axes=axes, first=first)


@primitive("aten.at")
def at_places(e: Equation) -> LengthShadow:
    """Elements at places of some axes; the axes of the index arrays stand from `first` on."""
    x, *given = e.operands
    axes, first = e.params["axes"], e.params["first"]
    rank = max(len(i.shape) for i in given)
    names = [index(first + k) for k in range(rank)]
    own = [a for a in range(len(x.shape)) if a not in axes]
    kept = [k for k in range(len(e.shape)) if not first <= k < first + rank]
    where: dict[int, Any] = {a: index(k) for a, k in zip(own, kept, strict=True)}
    wide = [moved(i, e.shape, names if i.shape else []) for i in given]
    if all(i.whole is not None for i in wide):
        for a, i in zip(axes, wide, strict=True):
            where[a] = _counted(i.whole, x.shape[a])
        return moved(x, e.shape, [where[a] for a in range(len(x.shape))])
    return _steered(e, x, axes, [where[a] for a in own], wide)


@aten("gather.default")
def gathered(op: Call) -> Tensor:
    """For every place another one along an axis."""
    return op.do("aten.gathered", op.x, op["index"], axis=op.axis(op.x))


@primitive("aten.gathered")
def along_axis(e: Equation) -> LengthShadow:
    """The element at the place that an array of the result's shape names, along one axis."""
    x, i = e.operands
    axis = e.params["axis"]
    if i.whole is not None:
        return moved(x, e.shape, [i.whole if a == axis else index(a) for a in range(len(x.shape))])
    return _steered(e, x, (axis,), [index(a) for a in range(len(x.shape)) if a != axis], [i])


def _steered(e: Equation, x: LengthShadow, axes: Any, places: Any, steering: list[LengthShadow]) -> LengthShadow:
    """Any element along the axes, as other arrays say."""
    picked = moved(reductions.reduced(e.statements, x, axes, e.last), e.shape, places)
    found = joined(e.shape, [picked, *steering])
    return settled(LengthShadow(found.shape, found.hi, unseen=found.unseen, signed=found.signed))


def _counted(place: Any, size: Any) -> Any:
    """A place that may be counted from the end."""
    return solver.simplify(solver.If(place < 0, place + whole(size), place))


@aten("index_put.default")
def put_where(op: Call) -> Any:
    """One number, or one row, where an array of truth values says so; at places, of everything."""
    x, given, value = op.x, list(op["indices"]), op["values"]
    named = [a for a, i in enumerate(given) if i is not None]
    if len(named) != 1 or given[named[0]].dtype != torch.bool or op.get("accumulate", False):
        return op.everything()
    first, mask = named[0], given[named[0]]
    left = len(x.shape) - first - len(mask.shape)
    if len(value.shape) > left:
        return op.everything()  # a number of its own for each place that is picked
    where = op.do(
        "broadcast_in_dim", mask, dtype=torch.bool, broadcast_dimensions=tuple(range(first, first + len(mask.shape)))
    )
    (wide,) = op.alike([value])
    return op.do("select_n", where, x, wide if wide.shape else Tensor(op.full_of(wide), wide.dtype))


@aten("scatter.src scatter.value scatter_add.default scatter_reduce.two index_add.default")
@aten("masked_scatter.default index_copy.default index_fill.int_Scalar")
def written(op: Call) -> list[Tensor]:
    """Elements written at places: of everything."""
    return op.everything()
