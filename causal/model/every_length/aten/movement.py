"""ATen's operations that move elements, in operations that have rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import integers
from ..integers import NotLinear, index, solver, whole
from ..primitives import primitive
from ..shadow import moved, picked
from .lowering import Call, Tensor, aten, place, size_one

if TYPE_CHECKING:
    from ..equation import Equation
    from ..shadow import LengthShadow


@aten("view.default _unsafe_view.default reshape.default unsqueeze.default squeeze.default squeeze.dim squeeze.dims")
def reshaped(op: Call) -> Tensor:
    """The elements in row-major order in another shape."""
    return op.reshaped(op.x, op.shape)


@aten("permute.default")
def permuted(op: Call) -> Tensor:
    """Axes in another order."""
    order = tuple(int(d) % len(op.shape) for d in op["dims"])
    return op.do("transpose", op.x, permutation=order)


@aten("transpose.int t.default")
def transposed(op: Call) -> Tensor:
    """Two axes in each other's place."""
    order = list(range(len(op.shape)))
    if len(order) > 1:
        a, b = (op.axis(op.x, "dim0"), op.axis(op.x, "dim1")) if op.name == "transpose.int" else (0, 1)
        order[a], order[b] = order[b], order[a]
    return op.do("transpose", op.x, permutation=tuple(order))


@aten("expand.default expand_as.default broadcast_to.default")
def stretched(op: Call) -> Tensor:
    """Axes put in at the left, and stretched from size 1."""
    x = op.stretched(op.x, op.shape)
    return x if x.shape else Tensor(op.full_of(x), x.dtype)


@aten("slice.Tensor")
def cut(op: Call) -> Tensor:
    """Every so many places from a start."""
    x, axis, step = op.x, op.axis(op.x), op.get("step", 1)
    start = place(op, op.get("start", 0), x.shape[axis])
    starts = tuple(start if a == axis else 0 for a in range(len(x.shape)))
    return op.do("aten.cut", x, starts=starts, steps=tuple(step if a == axis else 1 for a in range(len(x.shape))))


@primitive("aten.cut")
def from_starts(e: Equation) -> LengthShadow:
    """Every so many places from a start."""
    pairs = enumerate(zip(e.params["starts"], e.params["steps"], strict=True))
    return moved(e.operands[0], e.shape, [solver.simplify(whole(s) + index(a) * k) for a, (s, k) in pairs])


@aten("select.int")
def selected(op: Call) -> Tensor:
    """One place of an axis."""
    x, axis = op.x, op.axis(op.x)
    shape = (*op.shape[:axis], 1, *op.shape[axis:])
    at = op["index"]
    start = at if isinstance(at, int) and at >= 0 else place(op, at, x.shape[axis])
    starts = tuple(start if a == axis else 0 for a in range(len(x.shape)))
    one = op.do("aten.cut", x, shape=shape, dtype=x.dtype, starts=starts, steps=(1,) * len(x.shape))
    return op.reshaped(one, op.shape)


@aten("cat.default")
def concatenated(op: Call) -> Tensor:
    """End to end."""
    xs = [op.cast(x, op.dtype) for x in op["tensors"] if len(x.shape) == len(op.shape)]  # empty ones may have one axis
    return op.do("concatenate", *xs, dimension=int(op.get("dim", 0)) % len(op.shape))


@aten("stack.default")
def stacked(op: Call) -> Tensor:
    """Side by side along an axis of its own."""
    axis = int(op.get("dim", 0)) % len(op.shape)
    shape = tuple(1 if a == axis else d for a, d in enumerate(op.shape))
    xs = [op.reshaped(op.cast(x, op.dtype), shape) for x in op["tensors"]]
    return op.do("concatenate", *xs, dimension=axis)


@aten("flip.default")
def flipped(op: Call) -> Tensor:
    """Axes from the end to the start."""
    return op.do("rev", op.x, dimensions=op.axes(op.x, "dims"))


@aten("repeat.default")
def repeated(op: Call) -> Tensor:
    """The array again and again along its axes."""
    shape = (1,) * (len(op.shape) - len(op.x.shape)) + op.x.shape
    return op.do("aten.tiled", op.reshaped(op.x, shape))


@primitive("aten.tiled")
def tiled(e: Equation) -> LengthShadow:
    """The array again and again: at places that are left when its size is divided by."""
    x, places = e.operands[0], []
    for a, (old, new) in enumerate(zip(x.shape, e.shape, strict=True)):
        if size_one(old):
            places.append(whole(0))
        elif solver.is_true(solver.simplify(whole(old) == whole(new))):
            places.append(index(a))
        elif isinstance(old, int):
            places.append(index(a) % old)
        else:
            raise NotLinear("an axis whose size is a symbol is repeated")
    return moved(x, e.shape, places)


@aten("constant_pad_nd.default")
def padded(op: Call) -> Tensor:
    """One number before and behind; a negative width cuts."""
    x, widths = op.x, list(op["pad"])
    sides = [(0, 0)] * len(x.shape)
    for k in range(len(widths) // 2):
        sides[-1 - k] = (widths[2 * k], widths[2 * k + 1])
    fill = op.tensor(op.get("value", 0), op.dtype)
    return op.do("pad", x, fill, padding_config=tuple((before, after, 0) for before, after in sides))


@aten("split_with_sizes.default split.Tensor chunk.default unbind.int")
def split(op: Call) -> list[Tensor]:
    """Pieces of an axis."""
    x, axis, start, found = op.x, op.axis(op.x) if op.get("dim") is not None else 0, whole(0), []
    for k, shape in enumerate(op.shapes):
        alone = len(shape) < len(x.shape)  # of unbind: a place, its axis gone
        wide = (*shape[:axis], 1, *shape[axis:]) if alone else shape
        starts = tuple(solver.simplify(start) if a == axis else 0 for a in range(len(x.shape)))
        piece = op.do("aten.cut", x, shape=wide, dtype=x.dtype, starts=starts, steps=(1,) * len(x.shape))
        found.append(op.reshaped(piece, shape) if alone else piece)
        start = start + whole(wide[axis]) if k < len(op.shapes) else start
    return found


@aten("unfold.default")
def windows(op: Call) -> Tensor:
    """Windows of an axis, a step apart, along an axis of their own at the end."""
    x = op.x
    return op.do("aten.windows", x, axis=op.axis(x, "dimension"), step=int(op["step"]))


@primitive("aten.windows")
def windowed(e: Equation) -> LengthShadow:
    """Place i of window k lies at k · step + i."""
    x, axis, last = e.operands[0], e.params["axis"], len(e.shape) - 1
    places = [index(a) * e.params["step"] + index(last) if a == axis else index(a) for a in range(len(x.shape))]
    return moved(x, e.shape, places)


@aten("diagonal.default")
def diagonal(op: Call) -> Tensor:
    """Places at which two axes count alike."""
    x = op.x
    axes = tuple(int(op.get(k, default)) % len(x.shape) for k, default in (("dim1", 0), ("dim2", 1)))
    return op.do("aten.diagonal", x, axes=axes, offset=int(op.get("offset", 0)))


@primitive("aten.diagonal")
def along_both(e: Equation) -> LengthShadow:
    """The place along the last axis, behind an offset on one side."""
    x, (p, q), offset = e.operands[0], e.params["axes"], e.params["offset"]
    at, left = index(len(e.shape) - 1), iter(range(len(e.shape)))
    both = {p: at + max(0, -offset), q: at + max(0, offset)}
    return moved(x, e.shape, [both[a] if a in both else index(next(left)) for a in range(len(x.shape))])


@aten("view_as_complex.default")
def as_complex(op: Call) -> Tensor:
    """The two numbers of the last axis as one."""
    x = op.x
    return op.do("reduce_prod", x, axes=(len(x.shape) - 1,))


@aten("view_as_real.default")
def as_real(op: Call) -> Tensor:
    """Its two parts along an axis of their own."""
    return op.do("broadcast_in_dim", op.x, broadcast_dimensions=tuple(range(len(op.x.shape))))


# -- written over -----------------------------------------------------------------------------------------------------


@aten("slice_scatter.default")
def slice_written(op: Call) -> Tensor:
    """Another array at every so many places from a start."""
    x, axis = op.x, op.axis(op.x) if op.get("dim") is not None else 0
    size = x.shape[axis]
    start, end = place(op, op.get("start", 0), size), place(op, op["end"], size) if op.get("end") is not None else size
    source = op.stretched(op.cast(op["src"], op.dtype), op["src"].shape)
    return op.do("aten.written", x, source, axis=axis, start=start, end=end, step=int(op.get("step", 1)))


@aten("select_scatter.default")
def place_written(op: Call) -> Tensor:
    """Another array at one place of an axis."""
    x, axis, at = op.x, op.axis(op.x), op["index"]
    start = at if isinstance(at, int) and at >= 0 else place(op, at, x.shape[axis])
    shape = tuple(1 if a == axis else d for a, d in enumerate(x.shape))
    source = op.reshaped(op.cast(op["src"], op.dtype), shape)
    return op.do("aten.written", x, source, axis=axis, start=start, end=solver.simplify(whole(start) + 1), step=1)


@primitive("aten.written")
def written(e: Equation) -> LengthShadow:
    """What lies from a start to an end, a step apart, is another array's; the rest is as it was."""
    x, source = e.operands
    axis, start, end, step = (e.params[k] for k in ("axis", "start", "end", "step"))
    behind = index(axis) - whole(start)
    inside = integers.every(index(axis) >= whole(start), index(axis) < whole(end), behind % step == 0)
    places: list[Any] = [whole(0) if size_one(d) else index(a) for a, d in enumerate(source.shape)]
    places[axis] = solver.simplify(behind / step)
    return picked(inside, moved(source, e.shape, places), x, e.shape)
