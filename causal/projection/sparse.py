"""Sparse projections of SciPy, PyTorch and JAX, by the pattern of their entries: as many steps as there are entries.

The support criterion (T10) needs no more. What asks for the numbers of some slots and positions gets them dense.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentTypeError

if TYPE_CHECKING:
    from ...aliases import ArrayLike

CHUNK = 1 << 16  # entries at a time, which a cache holds
MOST = 1 << 27  # entries of a dense block: 1 GiB of float64


@dataclass(frozen=True)
class Sparse:
    """The entries that are not zero: `values[starts[i]:starts[i + 1]]` stand in row i, columns `places` ascending.

    `T` turns it around; rows are then what was read as columns, and `by_row` says which the entries are sorted by.
    """

    starts: np.ndarray
    places: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]
    by_row: bool = True

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries."""
        return np.dtype(self.values.dtype)

    @property
    def T(self) -> Sparse:
        """The transpose, which shares everything."""
        return replace(self, shape=self.shape[::-1], by_row=not self.by_row)

    @cached_property
    def rows(self) -> Sparse:
        """The same entries sorted by row."""
        if self.by_row:
            return self
        order = np.argsort(self.places, kind="stable")
        count = np.bincount(self.places, minlength=self.shape[0])
        columns = np.repeat(np.arange(self.shape[1]), np.diff(self.starts))
        return Sparse(np.append(0, np.cumsum(count)), columns[order], self.values[order], self.shape)

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
        for a in range(0, self.shape[1], CHUNK):
            starts = self.starts[a : a + CHUNK + 1]
            here = self.places[starts[0] : starts[-1]]
            columns = np.arange(a, a + len(starts) - 1) if rank is None else rank[a : a + CHUNK]
            ranks = (
                columns
                if len(here) == len(columns) and (np.diff(starts) == 1).all()
                else columns.repeat(np.diff(starts))
            )
            if rank is not None:
                np.minimum.at(least, here, ranks)
                np.maximum.at(most, here, ranks)
                continue
            most[here] = ranks  # they ascend, and where an index stands several times its last value is kept
            first = np.full(self.shape[0], never)
            first[here[::-1]] = ranks[::-1]
            np.minimum(least, first, out=least)
        return least, most

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """At most the smallest and at least the largest entry of each row, 0 included; NaN where an entry is NaN."""
        low, high = np.zeros(self.shape[0], self.dtype), np.zeros(self.shape[0], self.dtype)
        ends = self.values.min(initial=0), self.values.max(initial=0)
        if not np.isfinite(ends).all():
            rows = self.rows
            for i in range(self.shape[0]):
                part = rows.values[rows.starts[i] : rows.starts[i + 1]]
                low[i], high[i] = part.min(initial=0), part.max(initial=0)
        else:
            counts = np.diff(self.starts) if self.by_row else np.bincount(self.places, minlength=self.shape[0])
            low[counts > 0], high[counts > 0] = ends
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
    places, values = np.asarray(held.indices).T, np.asarray(held.data)
    if any(side.max(initial=-1) >= most for side, most in zip(places, held.shape, strict=True)):
        inside = (places < np.array(held.shape)[:, None]).all(axis=0)  # places past the end are padding
        places, values = places[:, inside], values[inside]
    values = values.astype(np.float32) if values.dtype.kind == "V" else values
    return _by_place(places, values, _sides(held))


def _compressed(
    starts: np.ndarray, places: np.ndarray, values: np.ndarray, shape: tuple[int, int], by_row: bool
) -> Sparse:
    """From the compressed rows, or columns, of an array of this shape, sorted."""
    found = _kept(Sparse(starts, places, values, shape if by_row else shape[::-1]))
    return found if by_row else found.T


def _sides(array: ArrayLike) -> tuple[int, int]:
    return int(array.shape[0]), int(array.shape[1])


def _by_place(places: Any, values: np.ndarray, shape: tuple[int, int]) -> Sparse | None:
    """From rows and columns, sorted where they are not; None where an entry stands twice."""
    rows, columns = places
    if (rows[1:] < rows[:-1]).any():
        order = np.lexsort((columns, rows))
        rows, columns, values = rows[order], columns[order], values[order]
    starts = np.searchsorted(rows, np.arange(shape[0] + 1))
    if not _is_sorted(starts, columns):
        order = np.lexsort((columns, rows))
        columns, values = columns[order], values[order]
        if not _is_sorted(starts, columns):
            return None
    return _kept(Sparse(starts, columns, values, shape))


def _is_sorted(starts: np.ndarray, places: np.ndarray) -> bool:
    """Whether the places of each row ascend, none of them twice, whatever a library's flag says."""
    within = np.ones(len(places) + 1, bool)  # false where a row starts, and the places start anew
    within[starts] = False
    for a in range(0, len(places) - 1, CHUNK):
        part = places[a : a + CHUNK + 1]
        if ((part[1:] <= part[:-1]) & within[a + 1 : a + len(part)]).any():
            return False
    return True


def _kept(found: Sparse) -> Sparse:
    """Without entries that are stored and zero."""
    if all(found.values[a : a + CHUNK].all() for a in range(0, len(found.values), CHUNK)):
        return found
    kept = found.values != 0
    starts = np.append(0, np.cumsum(kept))[found.starts]
    return replace(found, starts=starts, places=found.places[kept], values=found.values[kept])
