"""What PyTorch's operations make of forms in which parts cancel (see `transfer.cancelling` for why)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..cancelling import NOTHING, Form, Seen, step
from ..domain import ZERO, Array, Shadow, axis_groups, uniform
from ..transfer import cancelling
from ..transfer.cancelling import LARGEST, LONGEST, Mixed, Parted, Spectrum
from ..transfer.elementwise import pointwise
from ..transfer.reductions import axes_of

Moved = Mapping[int, int | None]  # which axis of the operand each axis of the result is


def _first(seen: Seen) -> Any:
    return seen.call.operands()[0]


# -- sums --------------------------------------------------------------------------------------------------------------


@step("sum mean")
def summed(seen: Seen) -> Form:
    """A row of ones."""
    call, x = seen.call, _first(seen)
    rank = len(x.shape)
    dims = axes_of(rank, call["dim"] if call.has("dim") else None)
    kept = len(seen.shape) == rank
    moved: dict[int, int | None] = dict(enumerate(d if d not in dims else None for d in range(rank)))
    if not kept:
        moved = dict(enumerate(d for d in range(rank) if d not in dims))
    mixed = seen.mixed(x, dims[0]) if len(dims) == 1 else None
    if mixed is not None:
        axes = tuple(None if moved[i] is None else mixed.axes[moved[i] or 0] for i in range(len(seen.shape)))
        scale = mixed.scale / (x.shape[dims[0]] if call.name == "aten.mean" else 1)
        mixed = _bounded(replace(mixed, axes=axes, matrix=mixed.matrix.sum(0, keepdims=True), scale=scale))
    return Form(mixed=mixed, parted=_carried(seen, x, moved, dims))


@step("cumsum")
def running(seen: Seen) -> Form:
    """Sums of rows."""
    x = _first(seen)
    axis = int(seen.call["dim"]) % max(1, len(x.shape))
    mixed = seen.mixed(x, axis) if x.shape else None
    if mixed is not None:
        mixed = _bounded(replace(mixed, matrix=mixed.matrix.cumsum(0)))
    return Form(mixed=mixed, parted=_carried(seen, x, {i: i for i in range(len(x.shape))}, (axis,)))


def _bounded(mixed: Mixed) -> Mixed | None:
    return mixed if np.abs(mixed.matrix).max(initial=0) <= LARGEST else None


def _carried(seen: Seen, x: Any, moved: Moved | None, joined: tuple[int, ...]) -> Parted | None:
    """Two parts of the result of something linear, which brings together elements along the axes `joined`."""
    parted = seen.form(x).parted
    if parted is None or parted.log or any(parted.read(a) for a in joined):
        return None
    return _same(seen, x, parted, moved)


def _same(seen: Seen, x: Any, parted: Parted, moved: Moved | None) -> Parted | None:
    """The parts after the operation, which the anchors pass."""
    powers, rest = parted.at(moved, len(seen.shape)), seen.rest({x: parted.rest})
    return None if powers is None or rest is None else Parted(rest, powers, parted.log)


@step("mm bmm")
def product(seen: Seen) -> Form:
    """Factors that do not vary along the axis of the sum stay factors."""
    a, b = seen.call.operands()
    rank = len(seen.shape)
    first, second = seen.parted(a, log=False), seen.parted(b, log=False)
    if not (first.powers or second.powers) or first.read(rank - 1) or second.read(rank - 2):
        return NOTHING
    left = first.at({i: i if i < rank - 1 else None for i in range(rank)}, rank)
    right = second.at({i: i if i != rank - 2 else None for i in range(rank)}, rank)
    rest = seen.rest({a: first.rest, b: second.rest})
    if left is None or right is None or rest is None:
        return NOTHING
    return Form(parted=Parted(rest, cancelling.multiplied(left, right, 1, rank)))


# -- element by element ------------------------------------------------------------------------------------------------


@step("add sub")
def added(seen: Seen) -> Form:
    """Sums of mixtures, of logarithms of factors, of products with the same factors, and of spectra."""
    call = seen.call
    a, b, alpha = call["self"], call["other"], call["alpha"]
    if isinstance(alpha, complex) or alpha != 1:
        return NOTHING
    sign, rank = (1 if call.name == "aten.add" else -1), len(seen.shape)
    if not (hasattr(a, "memory") and hasattr(b, "memory")):
        return _shifted(seen, a if hasattr(a, "memory") else b)
    return Form(
        mixed=_mixed(seen, a, b, sign, rank), parted=_sum(seen, a, b, sign, rank), spectrum=_spectra(seen, a, b)
    )


def _shifted(seen: Seen, x: Any) -> Form:
    """A number more or less."""
    parted = seen.form(x).parted
    if parted is None or not parted.log:
        return NOTHING
    return Form(parted=_same(seen, x, parted, {i: i for i in range(len(seen.shape))}))


def _mixed(seen: Seen, a: Any, b: Any, sign: int, rank: int) -> Mixed | None:
    """Where one is mixed from something, the other may be, too, or be that itself."""
    left, right = seen.form(a).mixed, seen.form(b).mixed
    if left is None and right is None:
        return None
    for one, form in ((left, seen.form(b)), (right, seen.form(a))):
        if one is not None and form.mixed is None and form.origin is one.origin:
            other = cancelling.itself(one.origin, one.along)
            left, right = (one, other) if one is left else (other, one)
    return None if left is None or right is None else cancelling.added(left, right, sign, rank)


def _sum(seen: Seen, a: Any, b: Any, sign: int, rank: int) -> Parted | None:
    """Logarithms of factors add up; one that is smaller than the result is an anchor itself."""
    first, second = seen.parted(a, log=True), seen.parted(b, log=True)
    if not (first.powers or second.powers):
        products = seen.parted(a, log=False), seen.parted(b, log=False)
        if products[0].powers and not cancelling.multiplied(products[0].powers, products[1].powers, -1, rank):
            rest = seen.rest({a: products[0].rest, b: products[1].rest})
            return None if rest is None else Parted(rest, cancelling.multiplied(products[0].powers, {}, 1, rank))
    return _combined(seen, (a, first), (b, second), sign, log=True)


def _combined(seen: Seen, a: tuple[Any, Parted], b: tuple[Any, Parted], sign: int, log: bool) -> Parted | None:
    """Two in parts, of which one may be an anchor as a whole: then it leaves nothing but a number in the rest."""
    (x, first), (y, second), rank = a, b, len(seen.shape)
    if not (first.powers and second.powers):
        for operand, its, other in ((y, second, first), (x, first, second)):
            anchor = None if its.powers else seen.anchored(operand, log)
            if anchor is None or (other.powers and not _among(anchor, other)):
                continue
            alone = Parted(uniform(tuple(operand.shape)), anchor.powers, log)
            first, second = (first, alone) if operand is y else (alone, second)
            break
    powers = cancelling.multiplied(first.powers, second.powers, sign, rank)
    changed = first.powers or second.powers
    rest = seen.rest({x: first.rest, y: second.rest}) if changed else None
    return None if rest is None else Parted(rest, powers, log)


def _among(anchor: Parted, other: Parted) -> bool:
    """Whether it is an anchor of the other already, which it may cancel."""
    return {origin for origin, _, _ in anchor.powers} <= {origin for origin, _, _ in other.powers}


@step("mul div")
def multiplied(seen: Seen) -> Form:
    """Products and quotients of factors, of spectra, and of mixtures with plain numbers."""
    call = seen.call
    a, b = call["self"], call["other"]
    by = call.name == "aten.div"
    if by and call.has("rounding_mode") and call["rounding_mode"] is not None:
        return NOTHING
    if hasattr(a, "memory") and hasattr(b, "memory"):
        sign = -1 if by else 1
        parted = _combined(seen, (a, seen.parted(a, False)), (b, seen.parted(b, False)), sign, log=False)
        return Form(parted=parted, spectrum=None if by else _convolved(seen, a, b))
    x, number = (a, b) if hasattr(a, "memory") else (b, a)
    if not isinstance(number, (int, float)) or not math.isfinite(number) or number == 0 or (x is b and by):
        return NOTHING
    form, factor = seen.form(x), Fraction(number)
    mixed, parted = form.mixed, form.parted
    if mixed is not None:
        mixed = _scaled(mixed, 1 / factor if by else factor)
    if parted is not None:
        parted = None if parted.log else _same(seen, x, parted, {i: i for i in range(len(seen.shape))})
    return Form(mixed=mixed, parted=parted, spectrum=form.spectrum)


def _scaled(mixed: Mixed, factor: Fraction) -> Mixed | None:
    scale = mixed.scale * factor
    return replace(mixed, scale=scale) if max(abs(scale.numerator), scale.denominator) < 2**200 else None


@step("neg")
def negative(seen: Seen) -> Form:
    """Mixtures change their sign."""
    form = seen.form(_first(seen))
    return Form(mixed=None if form.mixed is None else _scaled(form.mixed, Fraction(-1)), spectrum=form.spectrum)


@step("reciprocal")
def inverse(seen: Seen) -> Form:
    """Factors turn over."""
    x = _first(seen)
    parted = seen.form(x).parted
    rest = None if parted is None or parted.log else seen.rest({x: parted.rest})
    if parted is None or rest is None:
        return NOTHING
    return Form(parted=Parted(rest, {key: -power for key, power in parted.powers.items()}))


@step("exp")
def exponential(seen: Seen) -> Form:
    """Sums become products."""
    x = _first(seen)
    parted = seen.form(x).parted
    rest = None if parted is None or not parted.log else seen.rest({x: parted.rest})
    return NOTHING if parted is None or rest is None else Form(parted=Parted(rest, parted.powers))


@step("log")
def logarithm(seen: Seen) -> Form:
    """Products of exponentials become sums."""
    x = _first(seen)
    parted = seen.form(x).parted
    if parted is None or parted.log or not all(how for _, _, how in parted.powers):
        return NOTHING
    rest = seen.rest({x: parted.rest})
    return NOTHING if rest is None else Form(parted=Parted(rest, parted.powers, log=True))


# -- transforms --------------------------------------------------------------------------------------------------------


@step("_fft_r2c _fft_c2c _fft_c2r")
def transformed(seen: Seen) -> Form:
    """There along one axis, and back."""
    call, x = seen.call, _first(seen)
    if len(call["dim"]) != 1:
        return NOTHING
    axis = int(call["dim"][0]) % len(x.shape)
    if call.name == "aten._fft_r2c" or (call.name == "aten._fft_c2c" and call["forward"]):
        time = cancelling.plain(x.known())
        if (time.kind == ZERO).any():
            call.zeros_used(x)
        half = call.name == "aten._fft_r2c" and bool(call["onesided"])
        return Form(spectrum=Spectrum(time, axis, half)) if x.shape[axis] <= LONGEST else NOTHING
    spectrum, half = seen.form(x).spectrum, call.name == "aten._fft_c2r"
    if spectrum is None or spectrum.axis != axis or spectrum.half != half or spectrum.time.shape != seen.shape:
        return NOTHING
    return Form(value=spectrum.time)


def _spectra(seen: Seen, a: Any, b: Any) -> Spectrum | None:
    """A sum of spectra of signals of one length."""
    first, second = seen.form(a).spectrum, seen.form(b).spectrum
    if first is None or second is None or first.half != second.half:
        return None
    x, y = first.time.shape, second.time.shape
    axis = first.axis - len(x)
    if axis != second.axis - len(y) or x[axis] != y[axis]:
        return None
    shape = tuple(np.broadcast_shapes(x, y))
    time = cancelling.plain(pointwise(shape, (first.time, second.time)))
    return Spectrum(time, axis + len(shape), first.half)


def _convolved(seen: Seen, a: Any, b: Any) -> Spectrum | None:
    """A product of spectra, or of one with real numbers that are the same for all frequencies."""
    first, second = seen.form(a).spectrum, seen.form(b).spectrum
    if first is not None and second is not None:
        return cancelling.convolved(first, second)
    one, by = (first, b) if first is not None else (second, a)
    if one is None or not by.value.is_floating_point():
        return None
    axis = one.axis - len(one.time.shape)
    if len(by.shape) >= -axis and by.shape[axis] != 1:
        return None
    shape = tuple(np.broadcast_shapes(one.time.shape, tuple(by.shape)))
    return Spectrum(cancelling.plain(pointwise(shape, (one.time, by.shadow))), axis + len(shape), one.half)


# -- views and copies --------------------------------------------------------------------------------------------------


@step(
    "view _unsafe_view _reshape_copy unsqueeze squeeze expand permute transpose t slice select flip roll clone detach "
    "alias _to_copy"
)
def moved(seen: Seen) -> Form:
    """The same elements at other places."""
    x = _first(seen)
    form = seen.form(x)
    plain = form.mixed is None and form.parted is None and form.spectrum is None
    if plain and seen.call.name not in ("aten.flip", "aten.roll"):
        return NOTHING
    if x.value.is_complex() != (form.spectrum is not None) or not (x.value.is_floating_point() or form.spectrum):
        return NOTHING
    to, picks = _move(seen, x)
    if form.mixed is None and len(picks) == 1 and form.spectrum is None:
        form = replace(form, mixed=seen.mixed(x, next(iter(picks))))
    parted = form.parted
    if parted is not None:
        parted = None if any(parted.read(a) for a in picks) else _same(seen, x, parted, to)
    return Form(
        mixed=None if form.mixed is None else _picked(form.mixed, to, picks),
        parted=parted,
        spectrum=None if form.spectrum is None else _placed(seen, form.spectrum, to, picks),
    )


def _move(seen: Seen, x: Any) -> tuple[dict[int, int | None], dict[int, Array]]:
    """Which axis each axis of the result was, and what was picked along others, in which order."""
    call, old, new = seen.call, tuple(x.shape), seen.shape
    name, rank = call.name.removeprefix("aten."), len(x.shape)
    if name in ("clone", "detach", "alias", "_to_copy"):
        return {i: i for i in range(rank)}, {}
    if name in ("flip", "roll"):
        dims = [int(d) % rank for d in call["dims"]]
        shifts = call["shifts"] if name == "roll" else [None] * len(dims)
        if len(shifts) != len(dims):  # over all elements
            return dict.fromkeys(range(rank)), {a: np.zeros(0, int) for a in range(rank)}
        return {i: i for i in range(rank)}, {
            d: np.arange(old[d])[::-1] if shift is None else np.roll(np.arange(old[d]), int(shift))
            for d, shift in zip(dims, shifts, strict=True)
        }
    if name in ("slice", "select"):
        cut = int(call["dim"]) % rank
        if name == "select":
            return {i: i + (i >= cut) for i in range(rank - 1)}, {cut: np.arange(old[cut])[[int(call["index"])]]}
        picked = np.arange(old[cut])[slice(call["start"], call["end"], call["step"])]
        return {i: i for i in range(rank)}, {} if picked.size == old[cut] else {cut: picked}
    if name == "permute":
        return dict(enumerate(int(d) % rank for d in call["dims"])), {}
    if name in ("transpose", "t"):
        order = list(range(rank))
        if rank > 1:
            p, q = (int(call["dim0"]) % rank, int(call["dim1"]) % rank) if name == "transpose" else (0, 1)
            order[p], order[q] = order[q], order[p]
        return dict(enumerate(order)), {}
    if name == "expand":
        extra = len(new) - rank
        return {i: i - extra if i >= extra else None for i in range(len(new))}, {}
    wide, now = ([i for i, size in enumerate(shape) if size > 1] for shape in (old, new))
    groups = axis_groups([old[i] for i in wide], [new[i] for i in now])
    back = {now[right[0]]: wide[left[0]] for left, right in groups if len(left) == len(right) == 1}
    return {j: back.get(j) for j in range(len(new))}, {}


def _picked(mixed: Mixed, to: Moved, picks: Mapping[int, Array]) -> Mixed | None:
    """A mixture after a move; None where part of an axis of its origin is left out."""
    axes, matrix = list(mixed.axes), mixed.matrix
    for axis, picked in picks.items():
        if axes[axis] != mixed.along or not picked.size:
            return None
        matrix = matrix[picked]
        if len(matrix) == 1:
            axes[axis] = None
    new = tuple(None if old is None else axes[old] for old in (to[i] for i in sorted(to)))
    sizes = mixed.origin.shadow.shape
    needed = {a for a in axes if a is not None and (a == mixed.along or sizes[a] > 1)}
    return replace(mixed, axes=new, matrix=matrix) if needed <= set(new) else None


def _placed(seen: Seen, spectrum: Spectrum, to: Moved, picks: Mapping[int, Array]) -> Spectrum | None:
    """A spectrum after a move that leaves its frequencies alone."""
    order, time = [to[i] for i in sorted(to)], spectrum.time
    if spectrum.axis in picks or order.count(spectrum.axis) != 1:
        return None
    read = [a for a in order if a is not None]
    parts = []
    for part in (time.lo, time.hi, time.kind):
        array = np.asarray(part)
        for axis, picked in picks.items():
            array = array.take(picked, axis) if array.shape[axis] > 1 else array
        rest = [a for a in range(array.ndim) if a not in read]
        if any(array.shape[a] > 1 for a in rest):
            return None
        array = array.transpose(read + rest).reshape([array.shape[a] for a in read])
        parts.append(np.expand_dims(array, tuple(i for i, a in enumerate(order) if a is None)))
    axis = order.index(spectrum.axis)
    shape = tuple(time.shape[spectrum.axis] if i == axis else size for i, size in enumerate(seen.shape))
    return Spectrum(Shadow(shape, *parts), axis, spectrum.half)
