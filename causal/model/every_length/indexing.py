"""Slices, gathers and scatters at every length: at known places as terms, at others of all that they may pick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import integers, movement, reductions
from .elementwise import clamped
from .integers import FALSE, TRUE, index, solver, whole
from .primitives import primitive
from .shadow import LengthShadow, is_size, joined, moved, picked, settled

if TYPE_CHECKING:
    from .equation import Equation
    from .integers import Term
    from .shadow import Size


def starts_of(e: Equation, starts: Sequence[LengthShadow], sizes: Sequence[Size]) -> list[Term] | None:
    """Where a slice starts, moved inside; None where that is not known."""
    found: list[Term] = []
    for start, size, length in zip(starts, sizes, e.operand_shapes[0], strict=True):
        if movement.same_size(size, length):
            found.append(whole(0))
        elif start.whole is None:
            return None
        else:
            found.append(solver.simplify(clamped(whole(0), start.whole, whole(length) - whole(size))))
    return found


@primitive("dynamic_slice")
def sliced(e: Equation) -> LengthShadow:
    """A slice from a start; at an unknown one, of all along the axes that it is cut from."""
    x, *rest = e.operands
    starts = rest[: len(x.shape)]
    known = starts_of(e, starts, e.shape)
    if known is not None:
        return movement.cut(x, e.shape, known, [1] * len(known))
    among = [a for a, (n, m) in enumerate(zip(x.shape, e.shape, strict=True)) if not movement.same_size(n, m)]
    wide = reductions.reduced(e.statements, x, among, e.last)
    kept = [a for a in range(len(x.shape)) if a not in among]
    return joined(e.shape, [movement.broadcast(wide, e.shape, kept), *(moved(s, e.shape, []) for s in starts)])


@primitive("dynamic_update_slice")
def updated(e: Equation) -> LengthShadow:
    """A slice written over others from a start."""
    x, u, *starts = e.operands
    known = starts_of(e, starts, u.shape)
    if known is None:
        among = [a for a, (n, m) in enumerate(zip(x.shape, u.shape, strict=True)) if not movement.same_size(n, m)]
        kept = [a for a in range(len(x.shape)) if a not in among]
        wide = movement.broadcast(reductions.reduced(e.statements, u, among, e.last), e.shape, kept)
        return joined(e.shape, [x, wide, *(moved(s, e.shape, []) for s in starts)])
    places = [solver.simplify(index(a) - s) for a, s in enumerate(known)]
    inside = integers.every(*(solver.And(p >= 0, p < whole(d)) for p, d in zip(places, u.shape, strict=True)))
    return picked(inside, moved(u, e.shape, places), x, e.shape)


@primitive("gather")
def gathered(e: Equation) -> LengthShadow:
    """Slices of an array at places: single places along some axes, whole axes else."""
    x, i = e.operands
    numbers, sizes = e.params["dimension_numbers"], [e.size(s) for s in e.params["slice_sizes"]]
    named = list(numbers.start_index_map)
    paired = list(getattr(numbers, "operand_batching_dims", ()))
    batch = [a for a in range(len(e.shape)) if a not in numbers.offset_dims]
    gone = [*numbers.collapsed_slice_dims, *paired]
    own = [a for a in range(len(x.shape)) if a not in gone]  # axes that a slice keeps, in order
    offset = dict(zip(own, numbers.offset_dims, strict=True))
    pairs = enumerate(zip(sizes, x.shape, strict=True))
    single = all(is_size(s, 1) or movement.same_size(s, d) or a in named for a, (s, d) in pairs)
    at = [index(a) for a in batch]  # of the index array, without its last axis
    places: list[Term] = [index(offset[a]) if a in offset else whole(0) for a in range(len(x.shape))]
    for a, b in zip(paired, getattr(numbers, "start_indices_batching_dims", ()), strict=True):
        places[a] = at[b]
    mode = getattr(e.params["mode"], "name", "")  # of an enumeration of JAX's
    inside = [TRUE]
    if i.whole is not None and single and mode != "ONE_HOT":
        for k, a in enumerate(named):
            start = integers.put(i.whole, [*at, whole(k)])
            end = whole(x.shape[a]) - whole(sizes[a])
            inside.append(solver.And(start >= 0, start <= end))
            places[a] = solver.simplify(clamped(whole(0), start, end) + (places[a] if a in offset else 0))
        found = moved(x, e.shape, places)
        sure = integers.every(*inside)
        if mode == "CLIP" or solver.is_true(sure):
            return found
        if mode == "FILL_OR_DROP":  # a number of the primitive's own, or no number
            return picked(sure, found, LengthShadow(tuple(e.shape), fixed=TRUE), e.shape)
        return joined(e.shape, [found])  # nobody says what is outside: the place itself is known all the same
    wide = reductions.reduced(e.statements, x, named, e.last)  # at places that data name
    rest = [a for a in range(len(x.shape)) if a not in named]
    chosen = moved(wide, e.shape, [places[a] for a in rest])
    reads = reductions.reduced(e.statements, i, [len(i.shape) - 1], e.last)
    steering = moved(reads, e.shape, at)
    found = joined(e.shape, [chosen, steering])
    return settled(LengthShadow(found.shape, found.hi, fixed=FALSE, unseen=found.unseen, signed=found.signed))


@primitive("scatter scatter-add scatter-sub scatter-mul scatter-min scatter-max scatter_add")
def scattered(e: Equation) -> Any:
    """One slice written at a known place, or joined to what stands there; several: of everything."""
    x, i, u = e.operands
    numbers = e.params["dimension_numbers"]
    if i.whole is None or len(i.shape) != 1 or numbers.operand_batching_dims:
        return e.everything()
    window = list(numbers.update_window_dims)
    own = [a for a in range(len(x.shape)) if a not in numbers.inserted_window_dims]
    sizes: list[Size] = [1] * len(x.shape)
    places: list[Term] = [whole(0)] * len(u.shape)
    start: list[Term] = [whole(0)] * len(x.shape)
    for k, a in enumerate(numbers.scatter_dims_to_operand_dims):
        start[a] = integers.put(i.whole, [whole(k)])
    for k, a in zip(window, own, strict=True):
        sizes[a] = u.shape[k]
        places[k] = solver.simplify(index(a) - start[a])
    ends = zip(start, sizes, x.shape, strict=True)
    fits = integers.every(*(solver.And(s >= 0, s + whole(m) <= whole(n)) for s, m, n in ends))
    if not e.statements.hold(fits):
        return e.everything()
    inside = [
        solver.And(index(a) >= s, index(a) < s + whole(m)) for a, (s, m) in enumerate(zip(start, sizes, strict=True))
    ]
    written = moved(u, e.shape, places)
    return picked(
        integers.every(*inside), written if e.name == "scatter" else joined(e.shape, [x, written]), x, e.shape
    )
