"""What cancels in real arithmetic: sums of differences, factors above and below, Fourier transforms there and back.

A total less a suffix is a prefix; exp(x − m) / Σ exp(x − m) does not depend on m; a product of spectra is the spectrum
of a convolution. None of it follows from the intervals of the parts, which join all positions. So a tensor is kept in
another *form* beside its shadow, from which a sharper one follows when parts cancel. In floats they leave a rounding
error, which may depend on anything: what is claimed here holds under a condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ..domain import NONE_HI, NONE_LO, POSITIVE, RANK, VARIES, ZERO, Array, Shadow, align, compress

LARGEST = 2**40  # of the whole numbers in a matrix: sums of two such are exact
LONGEST = 2048  # of an axis that is mixed or transformed

Axes = tuple[int | None, ...]  # which axis of another tensor each axis reads; None: it is the same along this one


@dataclass(frozen=True, eq=False)
class Origin:
    """A tensor as it was at one moment."""

    shadow: Shadow


@dataclass(frozen=True, eq=False)
class Mixed:
    """`scale` · Σ_s `matrix`[t, s] · origin[…, s, …]: t goes along the axis that reads `along`; without one, t is 0."""

    origin: Origin
    along: int
    axes: Axes
    matrix: Array
    scale: Fraction = Fraction(1)

    def shadow(self, shape: tuple[int, ...]) -> Shadow:
        """What the tensor, of this shape, depends on: what stands before a 0 does not count."""
        x = self.origin.shadow
        parts = []
        for part, least, none in ((x.lo, np.minimum, NONE_LO), (x.hi, np.maximum, NONE_HI)):
            rows = np.moveaxis(np.asarray(part), self.along, 0)
            rows = np.broadcast_to(rows, (self.matrix.shape[1], *rows.shape[1:]))
            empty = np.full(rows.shape[1:], none, RANK)
            mixed = np.stack([least.reduce(rows[row != 0], axis=0, initial=none) if row.any() else empty
                              for row in self.matrix])  # fmt: skip
            parts.append(_arranged(np.moveaxis(mixed, 0, self.along), self.axes))
        lo, hi = map(compress, parts)
        return Shadow(shape, lo, hi, np.full((1,) * len(shape), VARIES, np.uint8))


def _arranged(array: Array, axes: Axes) -> Array:
    """The array's axes in the order of `axes`, with axes of size 1 where none is read; others have size 1."""
    read = [a for a in axes if a is not None]
    rest = [a for a in range(array.ndim) if a not in read]
    array = array.transpose(read + rest).reshape([array.shape[a] for a in read])
    return np.expand_dims(array, tuple(i for i, a in enumerate(axes) if a is None))


def itself(origin: Origin, along: int) -> Mixed:
    """The origin, as mixed along one of its axes by the identity."""
    axes = tuple(a if size > 1 else None for a, size in enumerate(origin.shadow.shape))
    return Mixed(origin, along, axes, np.eye(origin.shadow.shape[along], dtype=np.int64))


def added(a: Mixed, b: Mixed, sign: int, rank: int) -> Mixed | None:
    """a + sign · b, broadcast to `rank` axes; None where they are not mixed from the same, along the same."""
    if a.origin is not b.origin or a.along != b.along:
        return None
    axes = []
    for p, q in zip(_padded(a.axes, rank), _padded(b.axes, rank), strict=True):
        if p != q and not (None in (p, q) and a.along in (p, q)):
            return None
        axes.append(q if p is None else p)
    if sum(axis == a.along for axis in axes) > 1:
        return None
    ratio = b.scale / a.scale
    left, right = a.matrix * ratio.denominator, b.matrix * (ratio.numerator * sign)
    made = Mixed(a.origin, a.along, tuple(axes), left + right, a.scale / ratio.denominator)
    bound = np.abs(a.matrix).max(initial=0) * ratio.denominator + np.abs(b.matrix).max(initial=0) * abs(ratio.numerator)
    return made if bound <= LARGEST else None


def _padded(axes: Axes, rank: int) -> Axes:
    return (None,) * (rank - len(axes)) + axes


@dataclass(frozen=True, eq=False)
class Parted:
    """A tensor in two parts: `rest` · Π anchorᵖ · Π exp(anchor)ᵖ, or with `log` `rest` + Σ p · anchor.

    Each anchor stands with the axes of it that the tensor's axes read, and whether it is an exponent.
    """

    rest: Shadow
    powers: Mapping[tuple[Origin, Axes, bool], int]
    log: bool = False

    def read(self, axis: int) -> bool:
        """Whether an anchor varies along an axis."""
        return any(axes[axis] is not None for _, axes, _ in self.powers)

    def at(self, moved: Mapping[int, int | None] | None, rank: int) -> dict[tuple[Origin, Axes, bool], int] | None:
        """The powers where axis i of a new tensor is `moved[i]` of the old; None where an anchor's axis is gone."""
        if moved is None:
            return None
        found = {}
        for (origin, axes, how), power in self.powers.items():
            new = tuple(None if moved.get(i) is None else axes[moved[i] or 0] for i in range(rank))
            if sorted(a for a in axes if a is not None) != sorted(a for a in new if a is not None):
                return None
            found[origin, new, how] = power
        return found


def multiplied(
    a: Mapping[tuple[Origin, Axes, bool], int], b: Mapping[tuple[Origin, Axes, bool], int], sign: int, rank: int
) -> dict[tuple[Origin, Axes, bool], int]:
    """The powers of a · bˢⁱᵍⁿ, broadcast to `rank` axes, without those that cancel."""
    made: dict[tuple[Origin, Axes, bool], int] = {}
    for powers, s in ((a, 1), (b, sign)):
        for (origin, axes, how), power in powers.items():
            key = (origin, _padded(axes, rank), how)
            made[key] = made.get(key, 0) + s * power
    return {key: power for key, power in made.items() if power}


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A Fourier transform, along one axis, of a real signal whose shadow is `time`; `half`: of one half of it."""

    time: Shadow
    axis: int
    half: bool


def convolved(a: Spectrum, b: Spectrum) -> Spectrum | None:
    """A product of spectra is that of the circular convolution: 0 kills a product."""
    x, y = a.time, b.time
    rank = max(len(x.shape), len(y.shape))
    axis = a.axis - len(x.shape)
    n = x.shape[axis]
    if a.half != b.half or axis != b.axis - len(y.shape) or n != y.shape[axis] or n > LONGEST:
        return None
    shape = np.broadcast_shapes(x.shape, y.shape)
    first, second = (_along_front(s, axis, rank, n) for s in (x, y))
    if (first[2] == ZERO).sum() < (second[2] == ZERO).sum():
        first, second = second, first  # the one with more zeros is gone through
    rest = np.broadcast_shapes(first[0].shape[1:], second[0].shape[1:])
    lo, hi = np.full((n, *rest), NONE_LO, RANK), np.full((n, *rest), NONE_HI, RANK)
    zero = np.ones((n, *rest), bool)
    for s in range(n):
        if (first[2][s] == ZERO).all():
            continue
        dead = (first[2][s] == ZERO) | (second[2] == ZERO)
        places = (np.arange(n) + s) % n
        lo[places] = np.minimum(lo[places], np.where(dead, NONE_LO, np.minimum(first[0][s], second[0])))
        hi[places] = np.maximum(hi[places], np.where(dead, NONE_HI, np.maximum(first[1][s], second[1])))
        zero[places] &= dead
    kind = np.where(zero, np.uint8(ZERO), np.uint8(VARIES))
    made = Shadow(shape, *(compress(np.moveaxis(v, 0, axis + rank)) for v in (lo, hi, kind)))
    return Spectrum(made, axis + rank, a.half)


def _along_front(shadow: Shadow, axis: int, rank: int, n: int) -> tuple[Array, Array, Array]:
    """lo, hi and kind with the axis in front, in its own length; what is not 0 counts as any number."""
    parts = [np.moveaxis(align(np.asarray(p), rank), axis + rank, 0) for p in (shadow.lo, shadow.hi, shadow.kind)]
    whole = np.broadcast_shapes(*(p.shape for p in parts))
    lo, hi, kind = (np.broadcast_to(p, (n, *whole[1:])) for p in parts)
    return lo, hi, kind


def plain(shadow: Shadow) -> Shadow:
    """The shadow with nothing known of its numbers but zeros and signs: no mask, no constant to look at."""
    kind = np.where((shadow.kind == ZERO) | (shadow.kind == POSITIVE), shadow.kind, np.uint8(VARIES))
    return Shadow(shadow.shape, shadow.lo, shadow.hi, kind)


def sharper(found: Shadow, other: Shadow) -> Shadow | None:
    """What holds where both do; None where the other says nothing new."""
    lo = np.maximum(np.asarray(found.lo), np.asarray(other.lo))
    hi = np.minimum(np.asarray(found.hi), np.asarray(other.hi))
    live = np.asarray(found.lo) <= np.asarray(found.hi)
    if not (live & ((lo > np.asarray(found.lo)) | (hi < np.asarray(found.hi)))).any():
        return None
    return replace(found, lo=lo, hi=hi)
