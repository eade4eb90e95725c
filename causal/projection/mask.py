"""The largest mask that passes the support criterion (T13), its price (T14), and the nearest projection for a mask."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentTypeError
from ..spans import spans_of
from .entries import NATIVE, Entries, like, read, read_pair
from .support import BLOCK, NEVER, NOTHING, Support, chunks, rank_of, scan_all, supports
from .visible import SafeMask, Visible, boundary_of, read_visible, shown_by

if TYPE_CHECKING:
    from ...aliases import ArrayLike
    from ..boundary import Boundary

RUNS = 8  # of rows that are cleared one by one


def largest_safe_mask(
    F: ArrayLike, E: ArrayLike | None = None, *, layout: str | None = None, boundary: Boundary | str | None = None
) -> SafeMask:
    """The largest mask under which the projections pass the support criterion (T13).

    `F`, `E` (None: E = F): value and key projections, (r, n) slots first or (n, r) positions first as `layout` says;
    any array library, nested lists, Fractions. `boundary=None` is the prefix boundary. Raises ValueError or TypeError
    for what `check_projection` refuses.

    >>> largest_safe_mask([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).to_array().astype(int).tolist()
    [[1, 0], [1, 0], [1, 1]]
    """
    matrices = read_pair(F, E, layout)
    where = boundary_of(None, boundary, matrices[0].shape[1])
    return mask_of(supports(matrices, where)[0])


def mask_of(support: Support) -> SafeMask:
    """The largest safe mask of a support that has been computed already."""
    empty = support.highest == NOTHING
    ranks = support.boundary.available
    release = np.where(empty, -1, support.highest)
    if ranks is not None and rank_of(support.boundary) is not None:
        # The last position of each rank, so that a release is a position again.
        last = np.zeros(int(ranks.max()) + 1, np.int64)
        last[ranks] = np.arange(len(ranks))
        release = np.where(empty, -1, last[np.where(empty, 0, support.highest)])
    return SafeMask(release, support.boundary, support)


def nearest_safe_projection(
    F: ArrayLike,
    *,
    layout: str | None = None,
    visible: ArrayLike | SafeMask | str | None,
    boundary: Boundary | str | None = None,
) -> Any:
    """The nearest matrix to F (in every entrywise norm) that passes the support criterion under a mask.

    T10 asks that certain entries are zero; the nearest such matrix keeps all others. The result is of F's kind,
    library, dtype and layout. Use it for E as well: the entries to clear are the same. `visible` as in
    `check_projection`, where "largest" leaves F as it is. Raises what `check_projection` raises.

    >>> nearest_safe_projection([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], visible=[[True, False]] * 3)
    [[0.5, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if type(F).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(F, "to_numpy"):
        numbers = F.to_numpy()
        return _framed(F, numbers, nearest_safe_projection(numbers, layout=layout, visible=visible, boundary=boundary))
    entries = read(F, "F", layout)
    if entries.where == "sparse":
        raise ArgumentTypeError(
            "F", "is sparse, and is checked as such but not cleared", "pass it dense, F.toarray() or so"
        )
    given = read_visible(visible, entries.shape[0])
    where = boundary_of(given, boundary, entries.shape[1])
    if isinstance(given, str):  # what a query sees is safe already
        scan_all([entries])
        return F
    seen_by = shown_by(given, where.queries, entries.shape[0])
    if _is_plain(F) and where.is_chain and where.available is not None:
        return _copied(F, entries, where.available, _least_horizon(seen_by, where))
    scan_all([entries])
    if isinstance(F, (list, tuple)) or type(F).__module__.split(".")[0] == "sympy" or entries.is_exact:
        keep = _keep_matrix(seen_by, where, entries.shape)
        keep = keep if entries.layout == "slots-first" else keep.T
        original = np.array(F.tolist() if hasattr(F, "tolist") else [list(row) for row in F], object)
        return like(np.where(keep, original, original * 0), F)
    return _cleared(F, entries, seen_by, where)


def _framed(F: Any, numbers: np.ndarray, near: np.ndarray) -> Any:
    """The data frame F with the zeros of `near`, which was made of its numbers; columns keep their names and types."""
    if near is numbers:
        return F
    return F.where(near == numbers, 0) if hasattr(F, "iloc") else type(F)(near, schema=F.schema)


def _cleared(F: ArrayLike, entries: Entries, seen_by: Visible, boundary: Boundary) -> Any:
    """F with its forbidden entries set to zero, in F's own library, lazily where the library is lazy."""
    import array_api_compat as compat

    positions_first = entries.layout == "positions-first"
    if isinstance(F, Entries):
        F = entries.data.T if positions_first else entries.data
    F = F if compat.is_array_api_obj(F) else np.asarray(F)
    xp = compat.array_namespace(F)
    place = {} if compat.is_dask_array(F) else {"device": compat.device(F)}
    keep: Any
    if boundary.is_chain and boundary.available is not None:
        rank = xp.asarray(np.array(boundary.available), **place)  # a writable copy, as PyTorch wants
        limit = xp.asarray(_least_horizon(seen_by, boundary), **place)
        keep = rank[:, None] <= limit[None, :] if positions_first else rank[None, :] <= limit[:, None]
    else:
        matrix = _keep_matrix(seen_by, boundary, entries.shape)
        keep = xp.asarray(matrix.T if positions_first else matrix, **place)
    return xp.where(keep, F, xp.zeros((), dtype=F.dtype, **place))


def _is_plain(F: Any) -> bool:
    """Whether it is an array of NumPy's own numbers, which are cleared in the pass that looks for NaN and infinity."""
    return type(F) is np.ndarray and F.dtype.name in NATIVE


def _copied(F: np.ndarray, entries: Entries, rank: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """F (r, n), or its transpose, 0 where the position's rank exceeds the slot's limit, in one pass over F."""
    out = np.empty_like(F)
    x, kept = (F.T, out.T) if entries.layout == "positions-first" else (F, out)
    clear = _clear_ends if bool((rank[1:] >= rank[:-1]).all()) else _clear_scattered
    with np.errstate(over="ignore", invalid="ignore"):
        finite = clear(x, kept, rank, limit)
    if not finite:  # an infinity, a NaN, or numbers so large that only their sum is none
        scan_all([entries])
    return out


def _is_finite(part: np.ndarray) -> bool:
    """Whether a block has a finite sum, and so neither NaN nor infinity in it."""
    if part.dtype == np.float16:
        return bool(np.isfinite(part).all())
    return bool(np.isfinite(np.einsum("ij->", part)))  # several times as quick as a sum that rounds less


def _clear_ends(x: np.ndarray, out: np.ndarray, rank: np.ndarray, limit: np.ndarray) -> bool:
    """x into `out`, where ranks ascend; whether the sums of blocks, which a cache holds, are finite."""
    (r, n), finite = x.shape, True
    until = np.searchsorted(rank, limit, side="right")
    if abs(x.strides[0]) >= abs(x.strides[1]):
        for s in range(r):
            for a in range(0, n, BLOCK):
                part, here, stop = x[s, a : a + BLOCK], out[s, a : a + BLOCK], max(0, until[s] - a)
                here[:stop], here[stop:] = part[:stop], 0
                finite &= _is_finite(part[None])
        return finite
    width = max(1, BLOCK // max(1, r))
    for start, stop in pairwise(np.unique([0, *until, n]).tolist()):  # between them the same slots are cleared
        clear = _clearing(until <= start, np.dtype(f"u{x.itemsize}"))
        for a in range(start, stop, width):
            part, here = x[:, a : min(stop, a + width)], out[:, a : min(stop, a + width)]
            here[:] = part
            clear(here)
            finite &= _is_finite(part.T)
    return finite


def _clearing(rows: np.ndarray, kind: np.dtype[Any]) -> Callable[[np.ndarray], None]:
    """How some rows of a block are set to zero: run by run where runs are few, else as whole numbers of this kind."""
    runs = spans_of(np.flatnonzero(rows))
    kept = np.where(rows, kind.type(0), ~kind.type(0))[:, None]

    def clear(block: np.ndarray) -> None:
        if len(runs) > RUNS:
            np.bitwise_and(block.view(kind), kept, out=block.view(kind))  # x & 0 is 0, whatever the sign of x
            return
        for first, past in runs:
            block[first:past] = 0

    return clear


def _clear_scattered(x: np.ndarray, out: np.ndarray, rank: np.ndarray, limit: np.ndarray) -> bool:
    """The same for ranks in any order."""
    r, n = x.shape
    height = r if abs(x.strides[0]) < abs(x.strides[1]) else 1
    width, finite = max(1, BLOCK // max(1, height)), True
    for s in range(0, r, max(1, height)):
        for a in range(0, n, width):
            part, here = x[s : s + height, a : a + width], out[s : s + height, a : a + width]
            here[:] = part
            np.copyto(here, 0, where=rank[None, a : a + width] > limit[s : s + height, None])
            finite &= _is_finite(part.T if height > 1 else part)
    return finite


def _least_horizon(seen_by: Visible, boundary: Boundary) -> np.ndarray:
    """For each slot the smallest horizon of a query that sees it (NEVER when none does)."""
    assert boundary.horizon is not None
    if seen_by.rule is not None and seen_by.rule.boundary.is_chain:
        # A rule shows a slot to the queries of late horizon: the least of theirs here, whatever their order here.
        shown_from = seen_by.rule.boundary.horizon
        assert shown_from is not None
        order = np.argsort(shown_from, kind="stable")
        least = np.minimum.accumulate(np.append(boundary.horizon[order], NEVER)[::-1])[::-1]
        return np.asarray(least[np.searchsorted(shown_from[order], seen_by.rule.highest)])
    least = np.full(seen_by.slots, NEVER)
    for queries in chunks(seen_by.queries, seen_by.slots):
        shown = np.where(seen_by.sees(queries), boundary.horizon[queries][:, None], NEVER)
        least = np.minimum(least, shown.min(axis=0, initial=NEVER))
    return least


def _keep_matrix(seen_by: Visible, boundary: Boundary, shape: tuple[int, int]) -> np.ndarray:
    """Boolean (r, n): no query that sees the slot is forbidden the position."""
    r, n = shape
    blocked = np.zeros((r, n), bool)
    for queries in chunks(boundary.queries, r + n):
        forbidden = ~boundary.allowed(queries[:, None], np.arange(n)[None, :])
        blocked |= seen_by.sees(queries).T.astype(np.float32) @ forbidden.astype(np.float32) > 0
    return ~blocked
