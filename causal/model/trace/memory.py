"""Shadows of memory: one record per storage, read and written through any view of it.

A tensor is a geometry (offset, sizes, strides, type) over a storage, and so is its shadow. A whole write replaces the
storage's shadow; a partial one (through a slice, a transposed view, a real view of complex numbers) lays the shadow
out flat, element by element, and writes through the same strides, so that every other view sees it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .domain import FIXED, MASKED, RANK, VARIES, Array, Shadow, coarsen, compressed, full, join_all, kinds_from, uniform


@dataclass(frozen=True, slots=True)
class Geometry:
    """How a tensor lies in its storage, counted in elements of `itemsize` bytes; `dtype` tells re-read bits apart."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    dtype: str

    def is_whole(self, nbytes: int) -> bool:
        """Whether it covers every byte of the storage exactly once."""
        if self.offset or math.prod(self.shape) * self.itemsize != nbytes:
            return False
        expected = 1
        for stride, size in sorted(zip(self.strides, self.shape, strict=True)):
            if size != 1:
                if stride != expected:
                    return False
                expected *= size
        return True

    def starts_in(self, whole: Geometry) -> tuple[int, ...] | None:
        """Where it begins along each axis of a whole geometry of which it is a block, or None where it is none.

        >>> whole = Geometry(0, (2, 3, 4), (12, 4, 1), 4, "f")
        >>> Geometry(6, (2, 2, 2), (12, 4, 1), 4, "f").starts_in(whole)
        (0, 1, 2)
        """
        if self.dtype != whole.dtype or len(self.shape) != len(whole.shape):
            return None
        left, starts = self.offset - whole.offset, [0] * len(self.shape)
        for axis in sorted(range(len(starts)), key=lambda a: -whole.strides[a]):
            if whole.shape[axis] > 1:
                starts[axis], left = divmod(left, whole.strides[axis])
            alike = self.strides[axis] == whole.strides[axis] or self.shape[axis] == 1
            if not alike or starts[axis] < 0 or starts[axis] + self.shape[axis] > whole.shape[axis]:
                return None
        return None if left else tuple(starts)

    def overlaps_itself(self) -> bool:
        """Whether two of its elements share a byte, as those of an expanded or unfolded tensor do.

        >>> Geometry(0, (3, 2), (1, 1), 4, "torch.float32").overlaps_itself()
        True
        >>> Geometry(0, (3, 2), (2, 1), 4, "torch.float32").overlaps_itself()
        False
        """
        if not math.prod(self.shape):
            return False
        last = 0  # where the elements along the smaller strides end
        for stride, size in sorted(zip(self.strides, self.shape, strict=True)):
            if size != 1:
                if stride <= last:
                    break
                last += stride * (size - 1)
        else:
            return False
        end = sum(s * (n - 1) for s, n in zip(self.strides, self.shape, strict=True)) + 1
        places = _window(np.arange(end), replace(self, offset=0), 1)
        return np.unique(places).size < places.size


def overlap(a: Geometry, b: Geometry) -> bool:
    """Whether two different tensors of one storage share a byte. The same geometry twice is no partial overlap."""
    if a == b or not math.prod(a.shape) or not math.prod(b.shape):
        return False
    spans = []
    for g in (a, b):
        last = g.offset + sum(s * (n - 1) for s, n in zip(g.strides, g.shape, strict=True))
        spans.append((g.offset * g.itemsize, (last + 1) * g.itemsize))
    if spans[0][1] <= spans[1][0] or spans[1][1] <= spans[0][0]:
        return False
    start, stop = min(s for s, _ in spans), max(e for _, e in spans)
    if start % a.itemsize or start % b.itemsize:
        return True
    unit = math.gcd(a.itemsize, b.itemsize)
    marks = np.zeros((stop - start) // unit, bool)
    first, second = (replace(g, offset=g.offset - start // g.itemsize) for g in (a, b))
    _window(marks, first, a.itemsize // unit)[...] = True
    return bool(_window(marks, second, b.itemsize // unit).any())


UNSEEN = -1  # the number of what was written and not numbered yet


@dataclass(slots=True)
class Memory:
    """The shadow of one storage of `nbytes` bytes.

    Exactly one of `everywhere` (one interval and kind for all), `base` (a whole geometry with its shadow) and `flat`
    (lo, hi, kind per unit of `unit` bytes) is the truth; `views` caches what was read since the last write.
    """

    nbytes: int
    everywhere: Shadow | None = None
    base: tuple[Geometry, Shadow] | None = None
    flat: tuple[Array, Array, Array] | None = None
    unit: int = 1
    dtype: str = ""
    exposed: bool = False  # NumPy or another library may hold the bytes: never trust a constant looked at earlier
    signed: bool = False  # zeros held here may be products, whose sign depends on the input
    scaled: float = 1.0  # what numbers that a mask lowered, held here, were multiplied by since, at the least
    sources: frozenset[str] = frozenset()  # parameters whose zeros make the zeros held here
    valued: frozenset[str] = frozenset()  # parameters whose stored values make the constants held here
    written: bool = False
    number: int | None = None  # what it holds, where runs are compared (`numbering`)
    node: int = -1  # the operation that wrote it last, where a graph is kept
    views: dict[Geometry, Shadow] = field(default_factory=dict)
    notes: dict[Geometry, Any] = field(default_factory=dict)  # what `frames` knows of tensors since the last write
    forms: dict[Geometry, Any] = field(default_factory=dict)  # what `cancelling` knows of them
    picks: dict[Geometry, Any] = field(default_factory=dict)  # between which places they lie, where they are indices
    twin: Any = None  # real bytes beside a storage without data, right wherever the shadow says constant (`twins`)
    stale: bool = False  # something was written without its numbers
    older: bool = False  # it was there before the run
    is_loose: bool = False  # it may lie in another way outside the run (`layouts`)
    is_apart: bool = False  # and yet it is known what shares it
    chosen: Any = None  # as many rows stand in it as data have chosen, of this frame (`chosen`)

    def is_twin(self, address: int) -> bool:
        """Whether the storage at an address is the twin."""
        return self.twin is not None and bool(self.twin._cdata == address)

    @property
    def is_blank(self) -> bool:
        """Whether nothing is said of it yet."""
        return self.everywhere is None and self.base is None and self.flat is None

    @property
    def kinds(self) -> Array:
        """The kinds of all that it holds, in no particular shape."""
        if self.flat is not None:
            return self.flat[2]
        whole = self.everywhere if self.everywhere is not None else self.base[1] if self.base is not None else None
        return uniform(()).kind if whole is None else whole.kind

    @property
    def depends(self) -> bool:
        """Whether anything in it depends on the input."""
        if self.flat is not None:
            return bool((self.flat[1] >= self.flat[0]).any())
        whole = self.everywhere if self.everywhere is not None else self.base[1] if self.base is not None else None
        return whole is not None and whole.depends

    def read(self, geometry: Geometry) -> Shadow:
        """The shadow of the tensor that lies at `geometry`."""
        found = self.views.get(geometry)
        if found is None:
            found = self._read(geometry)
            self.views[geometry] = found
        return coarsen(found) if self.exposed else found

    def _read(self, geometry: Geometry) -> Shadow:
        if self.everywhere is not None:
            s = self.everywhere
            one = (1,) * len(geometry.shape)
            return Shadow(geometry.shape, s.lo.reshape(one), s.hi.reshape(one), s.kind.reshape(one))
        if math.prod(geometry.shape) == 0:
            return uniform(geometry.shape, FIXED)
        starts = self._block(geometry)
        if starts is not None:
            assert self.base is not None
            return _block_of(self.base[1], starts, geometry.shape)
        self._lay_flat(geometry.itemsize)
        assert self.flat is not None
        several = geometry.itemsize // self.unit
        lo, hi, kind = (_window(a, geometry, several) for a in self.flat)
        if several > 1:
            lo, hi, kind = lo.min(-1), hi.max(-1), kinds_from((kind >= FIXED).all(-1))
        shadow = compressed(Shadow(geometry.shape, lo, hi, kind))
        shadow = Shadow(geometry.shape, shadow.lo.copy(), shadow.hi.copy(), shadow.kind.copy())
        return shadow if geometry.dtype == self.dtype else coarsen(shadow)

    def remember(self, geometry: Geometry, shadow: Shadow) -> None:
        """Cache what `geometry` reads as: computed by a rule for a view, or refined by looking at constants."""
        self.views[geometry] = shadow
        if self.base is not None and self.base[0] == geometry:
            self.base = (geometry, shadow)

    def write(self, geometry: Geometry, shadow: Shadow, scaled: float = 0.0) -> None:
        """The tensor at `geometry` now has this shadow; `scaled`: what its numbers that a mask lowered were multiplied
        by since, at the least.

        Where its elements share bytes, which of them is written last is anyone's guess: each may hold any of them.
        """
        if geometry.overlaps_itself():
            shadow = uniform(geometry.shape, VARIES, *join_all([shadow]))
        if scaled < self.scaled or geometry.is_whole(self.nbytes) or not (self.kinds == MASKED).any():
            self.scaled = scaled
        if self.is_blank or geometry.is_whole(self.nbytes):
            self.everywhere, self.flat, self.base, self.dtype = None, None, (geometry, shadow), geometry.dtype
        elif math.prod(geometry.shape):
            self._write_part(geometry, shadow)
        self.views, self.notes, self.forms, self.number = {geometry: shadow}, {}, {}, UNSEEN
        self.picks = {}

    def _block(self, geometry: Geometry) -> tuple[int, ...] | None:
        """Where a block of the one whole tensor that is known begins; None where it is none."""
        if self.base is None or self.dtype != geometry.dtype or not self.base[0].is_whole(self.nbytes):
            return None
        return geometry.starts_in(self.base[0])

    def _write_part(self, geometry: Geometry, shadow: Shadow) -> None:
        """A block of a whole tensor is written into its shadow, which stays compressed; anything else is laid flat."""
        starts = self._block(geometry)
        if starts is not None:
            assert self.base is not None
            self.base = (self.base[0], _with_block(self.base[1], starts, shadow))
            return
        if self.dtype not in ("", geometry.dtype):
            self.dtype = "mixed"  # every later read is coarse
        self._lay_flat(geometry.itemsize)
        assert self.flat is not None
        several = geometry.itemsize // self.unit
        for array, new in zip(self.flat, full(shadow), strict=True):
            target = _window(array, geometry, several)
            target[...] = new[..., None] if several > 1 else new
        self.dtype = self.dtype or geometry.dtype

    def _lay_flat(self, itemsize: int) -> None:
        """Make `flat` the truth, in units no larger than `itemsize` bytes."""
        if self.flat is None:
            if self.base is not None:
                geometry, shadow = self.base
                unit = math.gcd(geometry.itemsize, itemsize)
                count = self.nbytes // unit
                # bytes that no tensor has shown yet: uninitialised or foreign, so anything
                anything = (np.zeros(count, RANK), np.full(count, np.iinfo(RANK).max, RANK), np.zeros(count, np.uint8))
                flat: tuple[Array, Array, Array] = anything
                several = geometry.itemsize // unit
                for array, new in zip(flat, full(shadow), strict=True):
                    _window(array, geometry, several)[...] = new[..., None] if several > 1 else new
            else:
                assert self.everywhere is not None
                unit, s = math.gcd(itemsize, self.nbytes), self.everywhere
                count = self.nbytes // unit
                flat = tuple(np.full(count, a.reshape(-1)[0], a.dtype) for a in (s.lo, s.hi, s.kind))  # type: ignore[assignment]
            self.flat, self.unit, self.base, self.everywhere = flat, unit, None, None
        elif self.unit > itemsize or itemsize % self.unit:
            unit = math.gcd(self.unit, itemsize)
            self.flat = tuple(np.repeat(a, self.unit // unit) for a in self.flat)  # type: ignore[assignment]
            self.unit = unit


def _block_of(whole: Shadow, starts: tuple[int, ...], shape: tuple[int, ...]) -> Shadow:
    """The shadow of a block of a tensor."""

    def cut(array: Array) -> Array:
        where = zip(np.asarray(array).shape, starts, shape, strict=True)
        found: Array = np.asarray(array)[tuple(slice(0, 1) if n == 1 else slice(a, a + m) for n, a, m in where)]
        return found

    return compressed(Shadow(shape, cut(whole.lo), cut(whole.hi), cut(whole.kind)))


def _with_block(whole: Shadow, starts: tuple[int, ...], block: Shadow) -> Shadow:
    """The shadow of a tensor of which a block was written; axes that the block covers stay compressed."""
    parts = []
    for old, new in zip((whole.lo, whole.hi, whole.kind), (block.lo, block.hi, block.kind), strict=True):
        old, new = np.asarray(old), np.asarray(new)
        cut = [n != size for n, size in zip(block.shape, whole.shape, strict=True)]
        sizes = [
            size if some else max(a, b) for some, size, a, b in zip(cut, whole.shape, old.shape, new.shape, strict=True)
        ]
        made = np.array(np.broadcast_to(old, sizes))
        where = zip(cut, starts, block.shape, strict=True)
        made[tuple(slice(start, start + n) if some else slice(None) for some, start, n in where)] = new
        parts.append(made)
    return compressed(Shadow(whole.shape, *parts))


def _window(array: Array, geometry: Geometry, several: int) -> Array:
    """The elements of a flat array that `geometry` covers; with a last axis of `several` units each when more than
    one.
    """
    step = array.itemsize
    shape, strides = geometry.shape, tuple(s * several * step for s in geometry.strides)
    if several > 1:
        shape, strides = (*shape, several), (*strides, step)
    return np.lib.stride_tricks.as_strided(array[geometry.offset * several :], shape, strides)
