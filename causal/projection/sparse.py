"""Sparse projections of SciPy, PyTorch and JAX, by the pattern of their entries: as many steps as there are entries.

The support criterion (T10) needs no more. What asks for the numbers of some slots and positions gets them dense.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentTypeError

if TYPE_CHECKING:
    from ...aliases import ArrayLike

CHUNK = 1 << 16  # entries at a time, which a cache holds
FEW = 8  # rows that are looked for one by one in a chunk
MOST = 1 << 27  # entries of a dense block: 1 GiB of float64


@dataclass(frozen=True)
class Sparse:
    """The entries that are not zero: `values[starts[i]:starts[i + 1]]` stand in row i, columns `places` ascending.

    `T` turns it around; rows are then what was read as columns, and `by_row` says which the entries are sorted by.
    `span`: the smallest and the largest of the entries and 0, or NaN.
    """

    starts: np.ndarray
    places: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]
    span: tuple[Any, Any]
    by_row: bool = True

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries."""
        return np.dtype(self.values.dtype)

    @property
    def T(self) -> Sparse:
        """The transpose, which shares everything."""
        return replace(self, shape=self.shape[::-1], by_row=not self.by_row)

    @property
    def fits(self) -> bool:
        """Whether every entry stands in a row and a column that there is."""
        some = np.diff(self.starts) > 0
        last = self.places[self.starts[1:][some] - 1]
        return bool(self.starts[-1] == len(self.places) and len(some) == self.shape[0] and (last < self.shape[1]).all())

    @cached_property
    def rows(self) -> Sparse:
        """The same entries sorted by row."""
        if self.by_row:
            return self
        order = np.argsort(self.places, kind="stable")
        count = np.bincount(self.places, minlength=self.shape[0])
        columns = np.repeat(np.arange(self.shape[1]), np.diff(self.starts))
        return Sparse(np.append(0, np.cumsum(count)), columns[order], self.values[order], self.shape, self.span)

    def dense(self, rows: Any, columns: Any) -> np.ndarray:
        """Some rows and columns, slices or ascending indices, as a dense array; MemoryError if that is too large."""
        found = self.rows
        wanted = [np.arange(side)[index] for side, index in zip(self.shape, (rows, columns), strict=True)]
        if len(wanted[0]) * len(wanted[1]) > MOST:
            raise MemoryError(f"{len(wanted[0])} × {len(wanted[1])} entries")
        out = np.zeros((len(wanted[0]), len(wanted[1])), self.dtype)
        if not len(wanted[1]):
            return out
        for k, i in enumerate(wanted[0].tolist()):
            here = found.places[found.starts[i] : found.starts[i + 1]]
            at = np.searchsorted(here, wanted[1])
            hit = at < len(here)
            hit[hit] = here[at[hit]] == wanted[1][hit]
            out[k, hit] = found.values[found.starts[i] : found.starts[i + 1]][at[hit]]
        return out

    def ends(self, rank: np.ndarray | None, never: int, nothing: int) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest rank of each row's columns (None: the column itself), or `never` and `nothing`."""
        least, most = np.full(self.shape[0], never), np.full(self.shape[0], nothing)
        if self.by_row:
            some = np.diff(self.starts) > 0
            first, last = self.starts[:-1][some], self.starts[1:][some] - 1
            if rank is None:
                least[some], most[some] = self.places[first], self.places[last]
            elif len(first):
                ranks = rank[self.places]
                least[some], most[some] = (ends.reduceat(ranks, first) for ends in (np.minimum, np.maximum))
            return least, most
        if rank is None:
            self._outermost(least, range(0, len(self.places), CHUNK), forwards=True)
            self._outermost(most, reversed(range(0, len(self.places), CHUNK)), forwards=False)
            return least, most
        for a in range(0, self.shape[1], CHUNK):
            starts = self.starts[a : a + CHUNK + 1]
            here, ranks = self.places[starts[0] : starts[-1]], rank[a : a + CHUNK].repeat(np.diff(starts))
            np.minimum.at(least, here, ranks)
            np.maximum.at(most, here, ranks)
        return least, most

    def _outermost(self, found: np.ndarray, chunks: Iterable[int], forwards: bool) -> None:
        """The column of each row's first entry, or of its last, into `found`, where entries are sorted by column.

        Most chunks hold entries of rows that are known already, which their extremes show.
        """
        missing = np.ones(self.shape[0], bool)
        for a in chunks:
            if not missing.any():
                return
            here = self.places[a : a + CHUNK]
            least, most = int(here.min()), int(here.max())
            new = least + np.flatnonzero(missing[least : most + 1])
            if len(new) > FEW:
                entry = np.full(most + 1 - least, -1)
                order = np.arange(len(here))
                entry[(here[::-1] if forwards else here) - least] = order[::-1] if forwards else order
                at = entry[new - least]
            else:  # one that is not there gives −1, too
                hits = [(here == s).tobytes() for s in new]
                at = np.array([hit.find(1) if forwards else hit.rfind(1) for hit in hits], np.int64)
            new, at = new[at >= 0], at[at >= 0]
            found[new] = np.searchsorted(self.starts, a + at, side="right") - 1
            missing[new] = False

    def extremes(self, occupied: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """At most the smallest and at least the largest entry of each row, 0 included; NaN where an entry is NaN.

        `occupied` (rows,): whether there is an entry in the row.
        """
        low, high = np.zeros(self.shape[0], self.dtype), np.zeros(self.shape[0], self.dtype)
        if np.isfinite(self.span).all():
            low[occupied], high[occupied] = self.span
            return low, high
        rows = self.rows
        for i in range(self.shape[0]):
            part = rows.values[rows.starts[i] : rows.starts[i + 1]]
            low[i], high[i] = part.min(initial=0), part.max(initial=0)
        return low, high


def take_sparse(array: ArrayLike, name: str) -> tuple[Sparse, str] | None:
    """A sparse array of SciPy, PyTorch, JAX or PyData as `Sparse`, and its dtype's name; None for another thing."""
    root = type(array).__module__.partition(".")[0]
    known = {"scipy": "tocsr", "sparse": "to_scipy_sparse", "jax": "todense", "torch": "layout"}
    if not hasattr(array, known.get(root, "")) or str(getattr(array, "layout", "")) == "torch.strided":
        return None
    if len(array.shape) != 2:
        problem = f"has shape {tuple(array.shape)}"
        raise ValueError(f"{name} {problem}; pass a 2-D array, (slots, positions) or its transpose")
    if root == "torch":
        return _from_torch(array, name)
    if root == "jax":
        return _from_jax(array, name)
    return _from_scipy(array if root == "scipy" else array.to_scipy_sparse())


def _from_scipy(array: ArrayLike) -> tuple[Sparse, str]:
    shape = _sides(array)
    if array.format == "coo":
        rows, columns = array.coords if hasattr(array, "coords") else (array.row, array.col)
        if (found := _by_place((rows, columns), array.data, shape)) is not None:
            return found, array.dtype.name
    held = array if array.format in ("csr", "csc") else array.tocsr()
    if not _is_sorted(held.indptr, held.indices):
        held = type(held)((held.data, held.indices, held.indptr), shape=held.shape, copy=True)
        held.sum_duplicates()
    return _compressed(held.indptr, held.indices, held.data, shape, array.format != "csc"), held.dtype.name


def _from_torch(array: ArrayLike, name: str) -> tuple[Sparse, str]:
    import torch

    label = str(array.dtype).removeprefix("torch.")
    held = array.detach().cpu()
    shape = _sides(held)
    if held.dense_dim():
        raise ArgumentTypeError(name, "is sparse along one axis only", f"pass {name}.to_dense()")
    if held.layout in (torch.sparse_csr, torch.sparse_csc):
        by_row = held.layout == torch.sparse_csr
        starts, places = (held.crow_indices, held.col_indices) if by_row else (held.ccol_indices, held.row_indices)
        if _is_sorted(starts().numpy(), places().numpy()):
            return _compressed(starts().numpy(), places().numpy(), _numbers(held.values()), shape, by_row), label
    held = held.to_sparse_coo()
    placed = _by_place(held._indices().numpy(), _numbers(held._values()), shape)
    if placed is None:  # whatever it says of itself
        held = torch.sparse_coo_tensor(held._indices(), held._values(), shape, is_coalesced=False).coalesce()
        placed = _by_place(held.indices().numpy(), _numbers(held.values()), shape)
    assert placed is not None
    return placed, label


def _numbers(values: Any) -> np.ndarray:
    """A tensor of PyTorch in a type of NumPy's that holds it."""
    kind = str(values.dtype)
    return np.asarray((values.float() if "bfloat16" in kind or "float8" in kind else values).numpy())


def _from_jax(array: ArrayLike, name: str) -> tuple[Sparse, str]:
    held = array.to_bcoo() if hasattr(array, "to_bcoo") else array
    if held.n_batch or held.n_dense:
        problem = f"is a {type(array).__name__} with batch or dense axes"
        raise ArgumentTypeError(name, problem, f"pass {name}.todense()")
    found = _of_bcoo(held)
    found = _of_bcoo(held.sum_duplicates()) if found is None else found
    assert found is not None
    return found, array.dtype.name


def _of_bcoo(held: Any) -> Sparse | None:
    places, values, shape = np.asarray(held.indices).T, np.asarray(held.data), _sides(held)
    values = values.astype(np.float32) if values.dtype.kind == "V" else values
    found = _by_place(places, values, shape)
    if found is None or not found.fits:
        inside = (places < np.array(shape)[:, None]).all(axis=0)  # places past the end are padding
        found = _by_place(places[:, inside], values[inside], shape)
    return found


def _compressed(
    starts: np.ndarray, places: np.ndarray, values: np.ndarray, shape: tuple[int, int], by_row: bool
) -> Sparse:
    """From the compressed rows, or columns, of an array of this shape, sorted."""
    found = _kept(starts, places, values, shape if by_row else shape[::-1])
    return found if by_row else found.T


def _sides(array: ArrayLike) -> tuple[int, int]:
    return int(array.shape[0]), int(array.shape[1])


def _by_place(places: Any, values: np.ndarray, shape: tuple[int, int]) -> Sparse | None:
    """From rows and columns, sorted where they are not; None where an entry stands twice."""
    rows, columns = places
    if any((part[1:] < part[:-1]).any() for part in _chunks(rows)):
        order = np.lexsort((columns, rows))
        rows, columns, values = rows[order], columns[order], values[order]
    if shape[0] * FEW < len(rows):
        starts = np.array([bisect_left(rows, s) for s in range(shape[0] + 1)])
    else:
        starts = np.append(0, np.cumsum(np.bincount(rows, minlength=shape[0])))
    if not _is_sorted(starts, columns):
        order = np.lexsort((columns, rows))
        columns, values = columns[order], values[order]
        if not _is_sorted(starts, columns):
            return None
    return _kept(starts, columns, values, shape)


def _chunks(array: np.ndarray) -> Iterator[np.ndarray]:
    """Some entries at a time, side by side, each time with the first of the next."""
    return (np.ascontiguousarray(array[a : a + CHUNK + 1]) for a in range(0, len(array), CHUNK))


def _is_sorted(starts: np.ndarray, places: np.ndarray) -> bool:
    """Whether the places of each row ascend, none of them twice, whatever a library's flag says."""
    if all((part[1:] - part[:-1] <= 1).all() for part in _chunks(starts)):
        return True
    for a, part in zip(range(0, len(places), CHUNK), _chunks(places), strict=True):
        falls = part[1:] <= part[:-1]
        if falls.any():  # where a row starts the places start anew
            first, last = np.searchsorted(starts, (a + 1, a + len(part)))
            falls[starts[first:last] - a - 1] = False
            if falls.any():
                return False
    return True


def _kept(starts: np.ndarray, places: np.ndarray, values: np.ndarray, shape: tuple[int, int]) -> Sparse:
    """Without entries that are stored and zero; what is asked of all values, in one pass."""
    parts = [values[a : a + CHUNK] for a in range(0, len(values), CHUNK)]
    asked = [(part.min(), part.max(), (part == 0).any()) for part in parts]
    span = tuple(pick([x[k] for x in asked], initial=0) for k, pick in enumerate((np.min, np.max)))
    if any(zeros for *_, zeros in asked):
        kept = values != 0
        starts = np.append(0, np.cumsum(kept))[starts]
        places, values = places[kept], values[kept]
    return Sparse(starts, places, values, shape, (span[0], span[1]))
