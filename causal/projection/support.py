"""The support criterion (T10): no visible slot reads a forbidden position.

One pass over the memory, in blocks that fit a cache, finds for every slot the first and the last position that it reads
and refuses NaN and infinity on the way. Everything else is arithmetic on r numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...libraries import library
from .entries import Entries, to_host
from .sparse import Sparse

if TYPE_CHECKING:
    from ..boundary import Boundary

BLOCK = 1 << 16  # elements: 256 KiB of float32, which a second-level cache holds
FOLD = 1 << 12  # elements that one step of a reduction over rows takes: a first-level cache holds the running result
TOP = 64  # positions of extreme rank that are looked at first
NOTHING = np.iinfo(np.int64).min  # the highest rank of a slot that reads nothing
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Scan:
    """What one pass over a projection leaves: per slot and block of positions the extremes, and the ranks it reads.

    `lowest` and `highest` (r,) are the extreme ranks in the slot's support (NEVER and NOTHING for an empty one);
    `low` and `high` (r, blocks) the extreme values in the blocks cut by `edges` (blocks + 1,).
    """

    lowest: np.ndarray
    highest: np.ndarray
    low: np.ndarray
    high: np.ndarray
    edges: np.ndarray


def scan_all(matrices: list[Entries], rank: np.ndarray | None = None) -> list[Scan]:
    """The extreme ranks that each slot reads; `rank` (n,) defaults to the position itself.

    All Dask arrays among the projections share a single compute. Raises ValueError for the first entry that is NaN or
    infinite.
    """
    pending = {k: _dask_parts(m, rank) for k, m in enumerate(matrices) if m.where == "dask"}
    if pending:
        dask = library("dask", "a Dask array")
        done = dask.compute({k: [part for _, _, part in parts] for k, parts in pending.items()})[0]
        pending = {k: [(s, j, part) for (s, j, _), part in zip(pending[k], done[k], strict=True)] for k in pending}
    scans = []
    for k, entries in enumerate(matrices):
        found = _joined(entries, pending[k]) if k in pending else _scan_array(entries.data, rank)
        if not (np.all(np.isfinite(found.low)) and np.all(np.isfinite(found.high))):
            _name_bad_entry(entries, found)
        if (
            entries.dtype == "exact"
            and entries.where != "host"
            and max(found.high.max(initial=0), -found.low.min(initial=0)) >= 2**53
        ):
            raise ValueError(f"{entries.name} holds integers of 2⁵³ or more outside NumPy; pass it as a NumPy array")
        scans.append(found)
    return scans


def _scan_array(data: Any, rank: np.ndarray | None) -> Scan:
    """One array, in whichever way its library reduces best."""
    if isinstance(data, np.ndarray):
        return _scan_objects(data, rank) if data.dtype == object else _scan_numpy(data, rank)
    if isinstance(data, Sparse):
        lowest, highest = data.ends(rank, NEVER, NOTHING)
        low, high = (ends[:, None] for ends in data.extremes(highest != NOTHING))
        return Scan(lowest, highest, low, high, np.array([0, data.shape[1]]))
    return _scan_generic(data, rank)


def _scan_numpy(x: np.ndarray, rank: np.ndarray | None) -> Scan:
    # Two reductions tell everything: NaN passes through, infinity is an extreme, a block is 0 iff both extremes are.
    low, high, edges = _along_slots(x) if abs(x.strides[0]) < abs(x.strides[1]) else _along_positions(x)
    occupied = (low != 0) | (high != 0)
    lowest, highest = _ends(x, occupied, edges) if rank is None else _ranks(x, occupied, edges, rank)
    return Scan(lowest, highest, low, high, edges)


def _along_positions(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Extremes in blocks (r, blocks), and the blocks' edges, where positions lie next to each other."""
    r, n = x.shape
    width = max(1, min(n, BLOCK))
    height = max(1, BLOCK // width)
    edges = np.append(np.arange(0, n, width), n)
    cuts = edges.tolist()
    low, high = np.zeros((r, len(cuts) - 1), x.dtype), np.zeros((r, len(cuts) - 1), x.dtype)
    smallest, largest = np.minimum.reduce, np.maximum.reduce
    for s in range(0, r, height):
        rows = x[s] if height == 1 else x[s : s + height]
        here = s if height == 1 else slice(s, s + height)
        for b in range(len(cuts) - 1):
            block = rows[..., cuts[b] : cuts[b + 1]]
            low[here, b], high[here, b] = smallest(block, axis=-1), largest(block, axis=-1)
    return low, high, edges


def _along_slots(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same where slots lie next to each other."""
    r, n = x.shape
    height = max(1, min(r, BLOCK))
    width = max(1, 4 * BLOCK // height)  # long columns amortise the reduction along them
    edges = np.append(np.arange(0, n, width), n)
    cuts = edges.tolist()
    low, high = np.zeros((len(cuts) - 1, r), x.dtype), np.zeros((len(cuts) - 1, r), x.dtype)
    fold = max(1, FOLD // max(r, 1)) if x.T.flags.c_contiguous else 1
    for s in range(0, r, height):
        rows = x.T[:, s : s + height]
        for b in range(len(cuts) - 1):
            block = rows[cuts[b] : cuts[b + 1]]
            low[b, s : s + height] = _folded(np.minimum.reduce, block, fold)
            high[b, s : s + height] = _folded(np.maximum.reduce, block, fold)
    return low.T, high.T, edges


def _folded(reduce: Callable[..., Any], block: np.ndarray, fold: int) -> np.ndarray:
    """A block of whole rows reduced over them, `fold` rows at a time as one: short rows cost as much as long ones."""
    whole = len(block) // fold * fold
    if fold == 1 or not whole:
        return np.asarray(reduce(block, axis=0))
    ends = reduce(block[:whole].reshape(-1, fold * block.shape[1]), axis=0).reshape(fold, -1)
    return np.asarray(reduce(np.concatenate([ends, block[whole:]]), axis=0))


def _ends(x: np.ndarray, occupied: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last position of each slot's support, looked up inside the outermost occupied blocks."""
    r, blocks = occupied.shape
    first, last = np.full(r, NEVER), np.full(r, NOTHING)
    for s in np.flatnonzero(occupied.any(axis=1)).tolist():
        row = occupied[s]
        a, b = int(row.argmax()), blocks - 1 - int(row[::-1].argmax())
        last[s] = edges[b] + _last(x[s, edges[b] : edges[b + 1]])
        first[s] = edges[a] + _first(x[s, edges[a] : edges[a + 1]])
    return first, last


def _last(row: np.ndarray) -> int:
    """The last entry that is not zero, of a row that has one, looked for from its end in widening windows."""
    stop, width = len(row), 256
    while True:
        start = max(0, stop - width)
        found = int((row[start:stop] != 0).tobytes().rfind(1))  # far quicker than reversing
        if found >= 0:
            return start + found
        stop, width = start, 4 * width


def _first(row: np.ndarray) -> int:
    """The first entry that is not zero, of a row that has one."""
    start, width = 0, 256
    while True:
        read = row[start : start + width] != 0
        found = int(read.argmax())
        if read[found]:
            return start + found
        start, width = start + width, 4 * width


def _ranks(x: np.ndarray, occupied: np.ndarray, edges: np.ndarray, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Extreme ranks of each slot's support."""
    lowest = _highest_rank(x, occupied, edges, -rank)
    return np.where(lowest == NOTHING, NEVER, -lowest), _highest_rank(x, occupied, edges, rank)


def _highest_rank(x: np.ndarray, occupied: np.ndarray, edges: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """The highest rank of each slot's support: among the highest of all, else in the blocks that can still raise it."""
    top = np.argpartition(rank, -TOP)[-TOP:] if len(rank) > TOP else np.arange(len(rank))
    highest = np.where(x[:, top] != 0, rank[top], NOTHING).max(axis=1, initial=NOTHING)
    sought = highest == NOTHING
    if not sought.any():
        return np.asarray(highest)
    most = np.maximum.reduceat(rank, edges[:-1])
    for b in np.argsort(-most, kind="stable").tolist():
        here = rank[edges[b] : edges[b + 1]]
        for s in np.flatnonzero(sought & occupied[:, b] & (highest < most[b])).tolist():
            row = x[s, edges[b] : edges[b + 1]]
            first, past = _first(row), _last(row) + 1
            highest[s] = max(highest[s], here[first:past][row[first:past] != 0].max())
    return np.asarray(highest)


def _scan_objects(x: np.ndarray, rank: np.ndarray | None) -> Scan:
    """Fractions: their support is exact, their extremes are rounded outwards."""
    r, n = x.shape
    edges = np.array([0, n] if n else [0])
    support = (x != 0).astype(bool)
    ranks = np.arange(n) if rank is None else rank
    lowest = np.array([ranks[row].min() if row.any() else NEVER for row in support], np.int64)
    highest = np.array([ranks[row].max() if row.any() else NOTHING for row in support], np.int64)
    low = np.array([[_outward(min(row), -1)] for row in x]).reshape(r, -1) if n else np.zeros((r, 0))
    high = np.array([[_outward(max(row), +1)] for row in x]).reshape(r, -1) if n else np.zeros((r, 0))
    return Scan(lowest, highest, low, high, edges)


def _outward(x: Any, side: int) -> float:
    """A finite float on the far side of an exact number."""
    largest = np.finfo(np.float64).max
    if abs(x) >= largest:
        return float(largest if x > 0 else -largest)
    near = float(x)
    return near if near == x else float(np.nextafter(near, side * np.inf))


def _scan_generic(x: Any, rank: np.ndarray | None) -> Scan:
    """Any array-API library: whole-block reductions where the array lives, small results to the host."""
    import array_api_compat as compat

    xp, device = compat.array_namespace(x), compat.device(x)
    r, n = (int(side) for side in x.shape)
    width = max(1, min(n, (1 << 22) // max(r, 1)))
    edges = np.append(np.arange(0, n, width), n)
    ranks = np.arange(n) if rank is None else rank
    lowest, highest = np.full(r, NEVER), np.full(r, NOTHING)
    low, high = np.zeros((r, len(edges) - 1)), np.zeros((r, len(edges) - 1))
    for b, (start, stop) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        block = x[:, start:stop]
        # Ranks by their order within the block: some libraries truncate 64-bit integers.
        kinds, order = np.unique(ranks[start:stop], return_inverse=True)
        here = xp.asarray(order.astype(np.int32), device=device)[None, :]
        none, all_of = (xp.asarray(v, dtype=xp.int32, device=device) for v in (-1, len(kinds)))
        first = to_host(xp.min(xp.where(block != 0, here, all_of), axis=1)).astype(np.int64)
        last = to_host(xp.max(xp.where(block != 0, here, none), axis=1)).astype(np.int64)
        lowest = np.minimum(lowest, np.append(kinds, NEVER)[first])
        highest = np.maximum(highest, np.append(kinds, NOTHING)[last])
        low[:, b], high[:, b] = to_host(xp.min(block, axis=1)), to_host(xp.max(block, axis=1))
    return Scan(lowest, highest, low, high, edges)


def _dask_parts(entries: Entries, rank: np.ndarray | None) -> list[tuple[int, int, Any]]:
    """(first slot, first position, delayed Scan) of every chunk."""
    dask = library("dask", "a Dask array")
    data = entries.data
    parts = []
    starts = [np.cumsum([0, *chunks[:-1]]) for chunks in data.chunks]
    for s, row in zip(starts[0].tolist(), data.to_delayed(), strict=True):
        for k, chunk in enumerate(row):
            j, wide = int(starts[1][k]), data.chunks[1][k]
            here = None if rank is None else rank[j : j + wide]
            parts.append((s, j, dask.delayed(_scan_chunk)(chunk, j if rank is None else None, here)))
    return parts


def _scan_chunk(chunk: Any, offset: int | None, rank: np.ndarray | None) -> Scan:
    if isinstance(chunk, np.ndarray) and chunk.dtype.kind == "V":  # bfloat16 of ml_dtypes
        chunk = chunk.astype(np.float32)
    if offset is None:
        return _scan_array(chunk, rank)
    found = _scan_array(chunk, None)
    lowest = np.where(found.lowest == NEVER, NEVER, found.lowest + offset)
    highest = np.where(found.highest == NOTHING, NOTHING, found.highest + offset)
    return Scan(lowest, highest, found.low, found.high, found.edges)


def _joined(entries: Entries, parts: list[tuple[int, int, Scan]]) -> Scan:
    """The scan of a whole matrix from those of its chunks; blocks are the chunks' columns."""
    r, n = entries.shape
    columns = sorted({j for _, j, _ in parts if j < n})
    edges = np.array([*columns, n])
    low, high = np.zeros((r, len(columns))), np.zeros((r, len(columns)))
    lowest, highest = np.full(r, NEVER), np.full(r, NOTHING)
    for s, j, part in parts:
        if part.low.size == 0:
            continue
        rows, b = slice(s, s + len(part.low)), columns.index(j)
        low[rows, b], high[rows, b] = part.low.min(axis=1), part.high.max(axis=1)
        lowest[rows] = np.minimum(lowest[rows], part.lowest)
        highest[rows] = np.maximum(highest[rows], part.highest)
    return Scan(lowest, highest, low, high, edges)


def _name_bad_entry(entries: Entries, found: Scan) -> None:
    bad = ~(np.isfinite(found.low) & np.isfinite(found.high))
    s = int(bad.any(axis=1).argmax())
    b = int(bad[s].argmax())
    start = int(found.edges[b])
    values = entries.block(slice(s, s + 1), slice(start, int(found.edges[b + 1])))[0]
    j = start + int((~np.isfinite(values)).argmax())
    place, value = entries.place(s, j), float(values[j - start])
    raise ValueError(f"{place} = {value} is not finite; a projection holds finite numbers, replace it")


# -- who may read what a slot holds -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Support:
    """For each slot whether a query may use everything it reads, under one boundary.

    `lowest` and `highest` (r,) are ranks; `readable_matrix` (queries, r) replaces them under an arbitrary relation.
    """

    boundary: Boundary
    lowest: np.ndarray
    highest: np.ndarray
    readable_matrix: np.ndarray | None = None

    @property
    def slots(self) -> int:
        """How many slots there are."""
        return len(self.highest)

    @cached_property
    def _groups(self) -> np.ndarray:
        """The one group that a slot reads: −1 for a slot that reads nothing, −2 for one that reads across a border."""
        group = self.boundary.position_group
        assert group is not None
        empty = self.highest == NOTHING
        first, last = (
            group[np.where(empty, 0, ends)] if len(group) else empty * 0 for ends in (self.lowest, self.highest)
        )
        return np.where(empty, -1, np.where(first == last, last, -2))

    def readable(self, queries: Any, slots: Any = slice(None)) -> np.ndarray:
        """Whether query t may use all that slot s reads; boolean (len(queries), len(slots))."""
        if self.readable_matrix is not None:
            return np.asarray(self.readable_matrix[queries][:, slots])
        horizon = self.boundary.horizon
        assert horizon is not None
        fits: np.ndarray = self.highest[slots][None, :] <= horizon[queries][:, None]
        if self.boundary.query_group is not None:
            group = self._groups[slots][None, :]
            fits &= (group == self.boundary.query_group[queries][:, None]) | (group == -1)
        return fits


def rank_of(boundary: Boundary) -> np.ndarray | None:
    """The rank vector to scan with: None where rank and position agree."""
    rank = boundary.available
    if rank is None or "k" in boundary.parameters or "lengths" in boundary.parameters:
        return None
    return None if np.array_equal(rank, np.arange(boundary.n)) else rank


def supports(matrices: list[Entries], boundary: Boundary) -> tuple[Support, list[Scan]]:
    """The joint support of E and F under a boundary, and their scans, in one pass over each.

    Raises ValueError for the first entry that is NaN or infinite.
    """
    scans = scan_all(matrices, rank_of(boundary))
    lowest = np.minimum.reduce([found.lowest for found in scans])
    highest = np.maximum.reduce([found.highest for found in scans])
    matrix = _readable_by_relation(matrices, boundary) if boundary.matrix is not None else None
    return Support(boundary, lowest, highest, matrix), scans


def _readable_by_relation(matrices: list[Entries], boundary: Boundary) -> np.ndarray:
    """Under an arbitrary relation: slot s is readable to t iff no forbidden position is in its support."""
    assert boundary.matrix is not None
    r, n = matrices[0].shape
    broken = np.zeros((boundary.queries, r), np.float32)
    width = max(1, (1 << 22) // max(r, 1))
    for a in range(0, n, width):
        reads = np.logical_or.reduce(
            [np.asarray(m.block(slice(None), slice(a, a + width)) != 0, bool) for m in matrices]
        )
        broken += (~boundary.matrix[:, a : a + width]).astype(np.float32) @ reads.T.astype(np.float32)
    return np.asarray(broken == 0)


def chunks(count: int, width: int) -> Iterator[np.ndarray]:
    """0 … count − 1 in runs whose (run, width) table has about BLOCK entries."""
    step = max(1, BLOCK // max(width, 1))
    for start in range(0, count, step):
        yield np.arange(start, min(count, start + step))
