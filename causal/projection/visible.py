"""Which slots a query sees: everything, an explicit boolean or additive mask, or a rule that takes no memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError, ArgumentTypeError
from ..boundary import Boundary
from ..spans import Runs
from .entries import refuse_abstract, to_host
from .support import NOTHING, Support, chunks

if TYPE_CHECKING:
    from ...aliases import ArrayLike
    from ..sizes import Align


@dataclass(frozen=True, eq=False)
class SafeMask:
    """Query t sees slot s iff it may use everything that s reads: the unique largest mask that passes T10 (T13).

    The rule takes O(r) memory; only `to_array` holds (queries, r). There is in general no largest mask that is safe by
    T11, which also lets things cancel.

    Attributes: `release` (r,): the position that becomes available with the last of what the slot reads (the last such
    position where times are equal), −1 for a slot that reads nothing; under the prefix boundary, the last position that
    it reads, and `visible(t, s)` iff `release[s] <= t`. `boundary`, `slots`, `queries`.

    >>> from attnproof import largest_safe_mask
    >>> mask = largest_safe_mask([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    >>> mask.release.tolist(), mask.starved, mask.staleness.tolist()
    ([1, 3], (0,), [1, 0, 1, 0])
    """

    release: np.ndarray
    boundary: Boundary
    support: Support = field(repr=False)

    @property
    def slots(self) -> int:
        """How many slots the mask speaks of."""
        return len(self.release)

    @property
    def queries(self) -> int:
        """How many queries the mask speaks of."""
        return self.boundary.queries

    def visible(self, t: Any, s: Any) -> np.ndarray:
        """Whether query t sees slot s; integers or integer arrays that broadcast."""
        t, s = np.broadcast_arrays(np.asarray(t, np.int64), np.asarray(s, np.int64))
        answers = [
            self.support.readable(np.array([a]), np.array([b]))[0, 0] for a, b in zip(t.flat, s.flat, strict=True)
        ]
        return np.array(answers, bool).reshape(t.shape)

    def to_array(self) -> np.ndarray:
        """The whole mask, boolean (queries, r), True is visible."""
        return self.support.readable(np.arange(self.queries))

    @cached_property
    def starved(self) -> Runs:
        """The queries that see no slot; their softmax is over nothing and the reference head gives 0 there."""
        return Visible("rule", self.queries, self.slots, rule=self.support).starved()

    @cached_property
    def staleness(self) -> np.ndarray:
        """For each query, how many of its latest allowed positions no visible slot reads; int (queries,).

        Under the prefix boundary the own position counts, so 0 means that the query sees its own position. By T14 some
        query has at least ⌊n/(r+1)⌋, and by T21 ⌈n/r⌉ − 1 where none is starved.
        """
        ranks, horizon = self.boundary.available, self.boundary.horizon
        if ranks is None or horizon is None:
            return np.array([self._staleness_of(t) for t in range(self.queries)], np.int64)
        latest = np.full(self.queries, NOTHING)
        if self.support.boundary.is_chain:
            highest = np.sort(self.support.highest)
            seen = np.searchsorted(highest, horizon, side="right")
            latest = np.append(NOTHING, highest)[seen]
        else:
            for queries in chunks(self.queries, self.slots):
                shown = self.support.readable(queries)
                latest[queries] = np.where(shown, self.support.highest[None, :], NOTHING).max(axis=1, initial=NOTHING)
        if self.boundary.is_chain:
            ordered = np.sort(ranks)
            newer = np.searchsorted(ordered, horizon, side="right") - np.searchsorted(ordered, latest, side="right")
            return np.asarray(newer)
        # Packed documents: positions of the own document up to the horizon, after the latest one read.
        assert self.boundary.position_group is not None
        assert self.boundary.query_group is not None
        start = np.searchsorted(self.boundary.position_group, self.boundary.query_group)
        return np.asarray(horizon - np.maximum(latest, start - 1))

    def _staleness_of(self, t: int) -> int:
        allowed = np.flatnonzero(self.boundary.allowed_row(t))
        shown = self.support.readable(np.array([t]))[0]
        latest = max((int(h) for h in self.support.highest[shown]), default=int(NOTHING))
        return int((allowed > latest).sum())


@dataclass(frozen=True)
class Visible:
    """Who sees which slot: `sees(queries)` gives a boolean (len(queries), r).

    Attributes: `kind`: "all", "rule" or "dense"; `queries`, `slots`; `mask` (queries, r) for "dense"; `bias`
    (queries, r), finite where visible, for an additive mask with some non-zero finite entry; `rule` for "rule".
    """

    kind: str
    queries: int
    slots: int
    mask: np.ndarray | None = None
    bias: np.ndarray | None = None
    rule: Support | None = None

    @property
    def size(self) -> int:
        """How many entries of a mask are held."""
        return 0 if self.mask is None else self.mask.size

    def sees(self, queries: np.ndarray) -> np.ndarray:
        """Boolean (len(queries), r)."""
        if self.mask is not None:
            return np.asarray(self.mask[queries])
        if self.rule is not None:
            return self.rule.readable(queries)
        return np.ones((len(queries), self.slots), bool)

    def biases(self, query: int) -> np.ndarray | None:
        """The additive biases of one query, or None where there are none."""
        return None if self.bias is None else self.bias[query]

    def starved(self) -> Runs:
        """The queries that see no slot."""
        if self.kind == "all":
            return _first(self.queries if self.slots == 0 else 0)
        if self.rule is not None and self.rule.boundary.is_chain:
            least = self.rule.highest.min() if self.slots else np.iinfo(np.int64).max
            horizon = self.rule.boundary.horizon
            assert horizon is not None
            if "k" in self.rule.boundary.parameters:  # the horizons ascend
                return _first(int(np.searchsorted(horizon, least)))
            return Runs.of(np.flatnonzero(horizon < least))
        return Runs.of(self._where(lambda queries: ~self.sees(queries).any(axis=1)))

    def violations(self, support: Support) -> np.ndarray:
        """The queries that see a slot whose support they may not use (T10 fails there), ascending."""
        chain = support.boundary.is_chain
        horizon = support.boundary.horizon
        if self.slots == 0:
            return np.arange(0)
        if self.kind == "all" and chain and horizon is not None:
            return np.flatnonzero(horizon < support.highest.max())
        if self.rule is not None:
            if self.rule is support:
                return np.arange(0)
            if chain and horizon is not None and self.rule.boundary.is_chain and self.rule.boundary == support.boundary:
                # The slots that a rule shows grow with the horizon, and with them the furthest rank that they read.
                order = np.argsort(self.rule.highest, kind="stable")
                furthest = np.append(NOTHING, np.maximum.accumulate(support.highest[order]))
                shown = np.searchsorted(self.rule.highest[order], horizon, side="right")
                return np.flatnonzero(furthest[shown] > horizon)
        return self._where(lambda queries: (self.sees(queries) & ~support.readable(queries)).any(axis=1))

    def _where(self, holds: Any) -> np.ndarray:
        found = [queries[holds(queries)] for queries in chunks(self.queries, self.slots)]
        return np.concatenate(found) if found else np.arange(0)

    def groups(self, queries: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray | None, np.ndarray]]:
        """The queries grouped by what they see: (slots, biases of those slots, queries), in order of first query."""
        if self.kind == "all":
            if len(queries):
                yield np.arange(self.slots), None, queries
            return
        found: dict[bytes, list[int]] = {}
        for run in np.array_split(queries, max(1, len(queries) * self.slots >> 16)):
            rows = self.sees(run)
            for t, row in zip(run.tolist(), rows, strict=True):
                key = np.packbits(row).tobytes()
                if self.bias is not None:
                    key += np.where(row, self.bias[t], 0).tobytes()
                found.setdefault(key, []).append(t)
        for members in found.values():
            t = members[0]
            slots = np.flatnonzero(self.sees(np.array([t]))[0])
            yield slots, None if self.bias is None else self.bias[t][slots], np.array(members)


def _first(count: int) -> Runs:
    """0 … count − 1."""
    return Runs([(0, count)] if count else ())


def read_visible(visible: ArrayLike | SafeMask | str | None, slots: int) -> np.ndarray | SafeMask | str | None:
    """`visible` as a boolean or float NumPy array, a SafeMask, "largest" or None.

    Raises TypeError for integers (0 and 1 read both ways) and ValueError for another shape, NaN or +infinity.
    """
    if visible is None or isinstance(visible, SafeMask):
        if visible is not None and visible.slots != slots:
            problem = f"is a mask over {visible.slots} slots, the projection has r = {slots}"
            raise ArgumentError("visible", problem, "make them agree")
        return visible
    if isinstance(visible, str):
        if visible != "largest":
            remedy = "pass 'largest', a (queries, r) array, a SafeMask or None"
            raise ArgumentError("visible", "is unknown", remedy, visible)
        return visible
    if isinstance(visible, np.ma.MaskedArray):
        problem = "is a masked array, and a masked entry says nothing"
        raise ArgumentTypeError("visible", problem, "pass visible.filled(False)")
    array = np.asarray(visible) if isinstance(visible, (list, tuple)) else _host_mask(visible)
    if array.ndim == 1 and array.size == 0 and isinstance(visible, (list, tuple)):
        array = array.reshape(0, slots).astype(bool)
    if array.ndim != 2 or array.shape[1] != slots:
        hint = " (it looks transposed)" if array.ndim == 2 and array.shape[0] == slots else ""
        raise ArgumentError("visible", f"has shape {array.shape}{hint}", f"pass (queries, r) with r = {slots}")
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind != "f":
        raise ArgumentTypeError(
            "visible",
            f"has dtype {array.dtype}, in which 0 could mean hidden or no bias",
            "pass booleans (True is visible) or floats (an additive bias, -inf is hidden)",
        )
    with np.errstate(over="ignore"):
        bias = array.astype(np.float64)
    bad = np.argwhere(np.isnan(array) | (array == np.inf) | (np.isinf(bias) & np.isfinite(array)))
    if len(bad):
        t, s = bad[0]
        problem = f"= {array[t, s]} is no bias"
        raise ArgumentError(f"visible[{t}, {s}]", problem, "pass -inf for hidden and a finite float64 otherwise")
    return bias


def _host_mask(visible: ArrayLike | SafeMask | str | None) -> np.ndarray:
    if not hasattr(visible, "shape"):
        remedy = "pass a (queries, r) array, a SafeMask, 'largest' or None"
        raise ArgumentTypeError("visible", f"is of type {type(visible).__name__}", remedy)
    refuse_abstract(visible, "visible")
    array = to_host(visible)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def visible_to(given: np.ndarray | SafeMask | str | None, support: Support) -> Visible:
    """What `read_visible` returned, as a relation between the boundary's queries and the slots."""
    if isinstance(given, str):
        return Visible("rule", support.boundary.queries, support.slots, rule=support)
    return shown_by(given, support.boundary.queries, support.slots)


def shown_by(given: np.ndarray | SafeMask | None, queries: int, slots: int) -> Visible:
    """The same for a mask that does not follow from the projection."""
    if given is None:
        return Visible("all", queries, slots)
    if isinstance(given, np.ndarray):
        if given.dtype == np.bool_:
            return Visible("dense", queries, slots, mask=given)
        shown = given != -np.inf
        biased = bool(np.any(given[shown] != 0))
        return Visible("dense", queries, slots, mask=shown, bias=np.where(shown, given, 0.0) if biased else None)
    return Visible("rule", queries, slots, rule=given.support)


def queries_of(given: np.ndarray | SafeMask | str | None) -> int | None:
    """How many queries a mask speaks of, or None when it leaves that open."""
    if given is None or isinstance(given, str):
        return None
    return given.shape[0] if isinstance(given, np.ndarray) else given.queries


def boundary_of(given: np.ndarray | SafeMask | str | None, boundary: Boundary | str | None, n: int) -> Boundary:
    """The boundary asked for, the prefix boundary otherwise, checked against the sizes of projection and mask."""
    unsaid = boundary is None or isinstance(boundary, str)  # where the mask's queries stand
    mask = given.boundary if isinstance(given, SafeMask) else None
    if mask is not None and mask.n == n and (boundary is None or boundary == "prefix"):
        if mask.kind == "prefix":  # its queries may stand at the start
            return mask
        return Boundary.prefix(n, mask.queries) if mask.queries <= n else mask
    queries = queries_of(given)
    if unsaid and queries == 0 and n > 0:
        problem = f"has shape (0, r), no query for n = {n} positions"
        raise ArgumentError("visible", problem, "pass one row for each query")
    if boundary is None and queries is not None and queries > n:
        problem = f"has {queries} queries, more than n = {n} positions"
        raise ArgumentError("visible", problem, "pass a boundary that says what each may see", mentions=("boundary",))
    align: Align = "end" if mask is None else mask.parameters.get("align", "end")
    return Boundary.resolve(boundary, n, queries, align)
