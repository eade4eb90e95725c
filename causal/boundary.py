"""The information boundary: which positions a query may use (THEORY, "Causality").

Every boundary but an arbitrary relation is held in rank form: position j becomes available at rank a_j, query t decides
at rank d_t, and t may use j iff a_j ≤ d_t and both belong to the same group. Memory is O(n + queries); only
`Boundary.relation` and `to_array` hold a (queries, n) matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError
from .sizes import Align, count, read_count, standing
from .times import comparable, read_times

if TYPE_CHECKING:
    from ..aliases import Array


class Misfit(ArgumentError):
    """A `boundary` whose n positions or queries are not those of what is checked; a wing may word it anew."""

    def __init__(self, n: int, queries: int, problem: str, remedy: str) -> None:
        super().__init__("boundary", problem, remedy)
        self.n, self.queries = n, queries
        self.args = (n, queries, problem, remedy)  # of which pickle makes it anew


@dataclass(frozen=True, eq=False)
class Boundary:
    """`allowed(t, j)`: query t may use position j. Build one with the class methods below, never directly.

    Attributes: `n` positions, `queries` queries, `kind` the constructor's name, `stands` (queries,) the position at
    which each query stands, or None where queries are not tied to positions.

    >>> b = Boundary.prefix(4)
    >>> bool(b.allowed(2, 1)), bool(b.allowed(1, 2))
    (True, False)
    >>> Boundary.documents([1, 2]).to_array().astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    """

    kind: str
    n: int
    queries: int
    stands: Array | None
    parameters: Mapping[str, Any]
    available: Array | None = field(repr=False)  # (n,) ranks, None for a relation
    horizon: Array | None = field(repr=False)  # (queries,) ranks, None for a relation
    position_group: Array | None = field(default=None, repr=False)
    query_group: Array | None = field(default=None, repr=False)
    matrix: Array | None = field(default=None, repr=False)

    # -- constructors ---------------------------------------------------------------------------------------------

    @classmethod
    def lagged(cls, n: int, k: int, queries: int | None = None, align: Align = "end") -> Boundary:
        """Query t may use position j iff j ≤ t − k, for a lag k ≥ 0.

        `queries=m` with `align="end"` puts the m queries at the last m positions, with "start" at the first m.
        Raises TypeError or ValueError on sizes that are not whole numbers, negative, or with more queries than
        positions.

        >>> Boundary.lagged(3, 2).to_array().astype(int).tolist()
        [[0, 0, 0], [0, 0, 0], [1, 0, 0]]
        """
        n, k = count("n", n), count("k", k)
        stands = standing(n, queries, align)
        kind = {0: "prefix", 1: "strict"}.get(k, "lagged")
        positions = stands if len(stands) == n else standing(n, None, align)  # shared: n may be a million
        horizon = stands - min(k, n) if k else stands  # a lag of n or more allows nothing
        return cls(kind, n, len(stands), stands, {"k": k, "align": align}, positions, horizon)

    @classmethod
    def prefix(cls, n: int, queries: int | None = None, align: Align = "end") -> Boundary:
        """Query t may use position j iff j ≤ t: the boundary that `boundary=None` means everywhere.

        >>> Boundary.prefix(5, queries=2).stands.tolist()
        [3, 4]
        """
        return cls.lagged(n, 0, queries, align)

    @classmethod
    def strict(cls, n: int, queries: int | None = None, align: Align = "end") -> Boundary:
        """Query t may use position j iff j < t.

        >>> bool(Boundary.strict(3).allowed(1, 1))
        False
        """
        return cls.lagged(n, 1, queries, align)

    @classmethod
    def documents(cls, lengths: Iterable[int]) -> Boundary:
        """Packed documents: query t may use j ≤ t of the same document; `lengths` are the documents' lengths.

        >>> bool(Boundary.documents([3, 5]).allowed(3, 2))
        False
        """
        sizes = [count("lengths", length, 1) for length in lengths]
        n = sum(sizes)
        group, where = np.repeat(np.arange(len(sizes)), sizes), np.arange(n)
        return cls("documents", n, n, where, {"lengths": sizes}, where, where, group, group)

    @classmethod
    def blocks(cls, n: int, size: int) -> Boundary:
        """Blocks of `size` positions, the last may be shorter: query t may use its whole block and all before it.

        >>> Boundary.blocks(3, 2).to_array().astype(int).tolist()
        [[1, 1, 0], [1, 1, 0], [1, 1, 1]]
        """
        n, size = count("n", n), count("size", size, 1)
        where = np.arange(n)
        horizon = np.minimum(where // size * size + size, n) - 1
        return cls("blocks", n, n, where, {"size": size}, where, horizon)

    @classmethod
    def bidirectional(cls, n: int, queries: int | None = None) -> Boundary:
        """Everything is allowed: for a text that is complete at the decision time.

        >>> bool(Boundary.bidirectional(3).to_array().all())
        True
        """
        n = count("n", n)
        m = n if queries is None else count("queries", queries)
        stands = np.arange(n) if m == n else None
        return cls("bidirectional", n, m, stands, {}, np.zeros(n, np.int64), np.zeros(m, np.int64))

    @classmethod
    def from_times(cls, available: Any, decision: Any) -> Boundary:
        """By time: query t may use position j iff `available[j] <= decision[t]`.

        Numbers, numpy datetimes, or anything with a total order; shapes (n,) and (queries,). They are compared exactly,
        whatever their types and units. When both have the same length, query t is taken to stand at position t. Raises
        ValueError on NaN/NaT or arrays that are not 1-D, TypeError on what has no order.

        >>> Boundary.from_times([1, 1, 5], [2, 5, 5]).to_array().astype(int).tolist()
        [[1, 1, 0], [1, 1, 1], [1, 1, 1]]
        """
        a, d = read_times(available), read_times(decision)
        for name, times in (("available", a), ("decision", d)):
            if times.ndim != 1:
                raise ValueError(f"{name} has shape {times.shape}; pass one time per entry, a 1-D array")
            bad = np.nonzero(times != times)[0]
            if bad.size:
                raise ValueError(f"{name}[{bad[0]}] is not a time ({times[bad[0]]}); drop or fill it")
        try:
            ranks = np.unique(np.concatenate(comparable(a, d)), return_inverse=True)[1].reshape(-1)
        except TypeError as error:
            raise TypeError(f"available and decision cannot be compared ({error}); pass times of one kind") from None
        stands = np.arange(a.size) if a.size == d.size else None
        given = {"available": a.tolist(), "decision": d.tolist()}
        if a.dtype.kind in "mM" or a.dtype.kind == "O":
            given = {"available": ranks[: a.size].tolist(), "decision": ranks[a.size :].tolist()}
        return cls("from_times", a.size, d.size, stands, given, ranks[: a.size], ranks[a.size :])

    @classmethod
    def relation(cls, matrix: Any) -> Boundary:
        """Any relation: `matrix[t, j]` is true iff query t may use position j; shape (queries, n), boolean.

        >>> Boundary.relation([[True, False], [True, True]]) == Boundary.prefix(2)
        True
        """
        m = np.array(matrix)
        if m.ndim != 2 or m.dtype != np.bool_:
            raise ValueError(f"matrix has shape {m.shape} and dtype {m.dtype}; pass a (queries, n) array of booleans")
        m.setflags(write=False)
        stands = np.arange(m.shape[1]) if m.shape[0] == m.shape[1] else None
        return cls("relation", m.shape[1], m.shape[0], stands, {}, None, None, matrix=m)

    @classmethod
    def parse(cls, text: str, n: int, queries: int | None = None, align: Align = "end") -> Boundary:
        """The command line's notation: prefix, strict, lag:K, documents:a,b,…, documents-of:B, blocks:B, bidirectional.

        `documents-of:4`: packed documents of 4 positions each, of which the last may be shorter. Raises ValueError
        that names the text and the seven forms.

        >>> Boundary.parse("lag:2", 6).kind
        'lagged'
        >>> Boundary.parse("documents-of:4", 6) == Boundary.documents([4, 2])
        True
        """
        name, _, argument = text.partition(":")
        try:
            if name == "lag":
                return cls.lagged(n, read_count(argument, "the lag", 0), queries, align)
            if name == "documents":
                built = cls.documents([read_count(length, "a length", 1) for length in argument.split(",")])
                if built.n != n or queries not in (None, n):
                    raise ValueError(f"lengths sum to {built.n}, not to the {n} positions")
                return built
            if name in ("documents-of", "blocks") and queries in (None, n):
                size = read_count(argument, "the number of positions", 1)
                rest = [n % size] if n % size else []
                return cls.blocks(n, size) if name == "blocks" else cls.documents([size] * (n // size) + rest)
            if name in ("prefix", "strict") and not argument:
                return cls.lagged(n, int(name == "strict"), queries, align)
            if name == "bidirectional" and not argument:
                return cls.bidirectional(n, queries)
        except ValueError as error:
            halves = ",".join(str(part) for part in (n - n // 2, n // 2) if part)
            like = {
                "lag": "write it like lag:2",
                "documents-of": "write it like documents-of:4",
                "blocks": "write it like blocks:4",
                "documents": f"write lengths that sum to {n}, like documents:{halves}",
            }
            problem = f"{text!r} does not fit ({error})"
            raise ArgumentError("boundary", problem, like.get(name, "choose another")) from None
        raise ArgumentError(
            "boundary",
            f"{text!r} is unknown",
            "use prefix, strict, lag:K, documents:a,b,…, documents-of:B, blocks:B or bidirectional",
        )

    @classmethod
    def resolve(
        cls, given: Boundary | str | None, n: int, queries: int | None = None, align: Align = "end"
    ) -> Boundary:
        """The boundary that an argument means: itself, what `parse` reads in a text, the prefix boundary for None.

        `queries` (None: n, or as many as the boundary given has) stand at the last positions, or with `align="start"`
        at the first. Raises ArgumentError where a text does not fit, its kind `Misfit` where the boundary given has
        other sizes, ArgumentTypeError for what is no boundary.

        >>> Boundary.resolve("strict", 6, queries=2).stands.tolist()
        [4, 5]
        >>> Boundary.resolve(Boundary.prefix(5), 6)
        Traceback (most recent call last):
        ...
        attnproof.causal.boundary.Misfit: boundary speaks of n = 5 positions, the projection has n = 6; make them agree
        """
        if given is None:
            return cls.prefix(n, queries, align)
        if isinstance(given, str):
            return cls.parse(given, n, queries, align)
        if not isinstance(given, Boundary):
            problem = f"must be a Boundary, not {type(given).__name__}"
            raise ArgumentTypeError("boundary", problem, f"build one with Boundary.prefix({n})")
        if given.n != n:
            problem = f"speaks of n = {given.n} positions, the projection has n = {n}"
            raise Misfit(given.n, given.queries, problem, "make them agree")
        if queries is not None and given.queries != queries:
            raise Misfit(
                given.n,
                given.queries,
                f"has {given.queries} queries, visible has {queries}",
                f"make them agree, for instance Boundary.prefix({n}, queries={queries})",
            )
        return given

    # -- questions ------------------------------------------------------------------------------------------------

    def allowed(self, t: Any, j: Any) -> Array:
        """Whether query t may use position j; integers or integer arrays that broadcast; boolean of that shape."""
        t, j = np.asarray(t), np.asarray(j)
        if self.matrix is not None:
            return np.asarray(self.matrix[t, j])
        assert self.available is not None
        assert self.horizon is not None
        allowed: Array = np.asarray(self.available[j] <= self.horizon[t])
        if self.position_group is not None and self.query_group is not None:
            allowed = allowed & (self.position_group[j] == self.query_group[t])
        return allowed

    def allowed_row(self, t: int) -> Array:
        """The positions that query t may use, as a boolean array of shape (n,)."""
        return self.allowed(t, np.arange(self.n))

    def to_array(self) -> Array:
        """The whole relation, boolean of shape (queries, n). Takes queries · n bytes."""
        return self.allowed(np.arange(self.queries)[:, None], np.arange(self.n)[None, :])

    @property
    def is_chain(self) -> bool:
        """Whether the allowed sets are nested, so that availability ranks alone decide."""
        return self.matrix is None and self.position_group is None

    @property
    def forbids_own_position(self) -> bool:
        """Whether some query may not use the position at which it stands (then the query must come from elsewhere)."""
        if self.stands is None:
            return False
        if "k" in self.parameters:
            return self.queries > 0 and bool(self.parameters["k"] > 0)
        return not bool(np.all(self.allowed(np.arange(self.queries), self.stands)))

    @property
    def is_reflexive(self) -> bool:
        """Whether every query stands at a position and may use it (needed by T15)."""
        return self.stands is not None and self.queries == self.n and not self.forbids_own_position

    @property
    def is_transitive(self) -> bool:
        """Whether t ← j and j ← i give t ← i (needed by T15); False unless query t stands at position t."""
        if self.stands is None or self.queries != self.n:
            return False
        if self.matrix is not None:
            through = self.matrix.astype(np.float32) @ self.matrix.astype(np.float32) > 0
            return bool(np.all(self.matrix | ~through))
        if self.position_group is not None:
            return True  # a prefix inside each document
        assert self.available is not None
        assert self.horizon is not None
        # What j has seen reaches rank reach[j]; t reads every j with available[j] ≤ horizon[t], so the largest reach
        # among those, a running maximum in order of availability, must not pass horizon[t].
        ranks = np.sort(self.available)
        seen = np.searchsorted(ranks, self.horizon, side="right")
        reach = np.where(seen > 0, ranks[np.maximum(seen, 1) - 1] if self.n else 0, np.iinfo(np.int64).min)
        order = np.argsort(self.available, kind="stable")
        running = np.maximum.accumulate(reach[order]) if self.n else reach
        relevant = seen > 0
        return bool(np.all(running[seen[relevant] - 1] <= self.horizon[relevant]))

    def _counts(self) -> tuple[Array, Array]:
        """A chain in canonical form: how many positions each query may use, and the least such number that admits j.

        Nested sets are told by their sizes, so j is allowed to t iff the second number of j is at most the first of t.
        """
        assert self.available is not None
        assert self.horizon is not None
        counts = np.searchsorted(np.sort(self.available), self.horizon, side="right")
        order = np.argsort(self.horizon, kind="stable")
        first = np.searchsorted(self.horizon[order], self.available, side="left")
        return counts, np.append(counts[order], self.n + 1)[first]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Boundary):
            return NotImplemented
        if (self.n, self.queries) != (other.n, other.queries):
            return False
        if self is other:
            return True
        if self.is_chain and other.is_chain:
            if np.array_equal(self.available, other.available) and np.array_equal(self.horizon, other.horizon):  # type: ignore[arg-type]
                return True
            return all(np.array_equal(a, b) for a, b in zip(self._counts(), other._counts(), strict=True))
        return all(bool(np.all(self.allowed_row(t) == other.allowed_row(t))) for t in range(self.queries))

    __hash__ = None  # type: ignore[assignment]  # equality is by relation, which has no cheap hash

    # -- words and JSON -------------------------------------------------------------------------------------------

    def describe(self) -> str:
        """A phrase for a person, such as 'prefix boundary over 8 positions'."""
        lag = f" by {self.parameters['k']}" if self.kind == "lagged" else ""
        documents = f" of lengths {_shown(self.parameters['lengths'])}" if self.kind == "documents" else ""
        documents += f" of {self.parameters['size']}" if self.kind == "blocks" else ""
        name = {"from_times": "by-time", "documents": "packed-documents"}.get(self.kind, self.kind)
        queries = "" if self.queries == self.n else f", {self.queries} queries"
        return f"{name} boundary{lag}{documents} over {self.n} positions{queries}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; `from_dict` reads it back."""
        data: dict[str, Any] = {"kind": self.kind, "n": self.n, "queries": self.queries, **self.parameters}
        if self.matrix is not None:
            data["allowed"] = [np.flatnonzero(row).tolist() for row in self.matrix]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Boundary:
        """The boundary that `to_dict` wrote.

        >>> Boundary.from_dict(Boundary.strict(4).to_dict()) == Boundary.strict(4)
        True
        """
        kind, n, queries = data["kind"], data["n"], data["queries"]
        if kind in ("prefix", "strict", "lagged"):
            return cls.lagged(n, data["k"], queries, data["align"])
        if kind == "documents":
            return cls.documents(data["lengths"])
        if kind == "blocks":
            return cls.blocks(n, data["size"])
        if kind == "bidirectional":
            return cls.bidirectional(n, queries)
        if kind == "from_times":
            return cls.from_times(data["available"], data["decision"])
        if kind == "relation":
            matrix = np.zeros((queries, n), bool)
            for t, row in enumerate(data["allowed"]):
                matrix[t, row] = True
            return cls.relation(matrix)
        raise ValueError(f"kind = {kind!r} is not a boundary; it was not written by Boundary.to_dict")


def _shown(values: list[int], most: int = 6) -> str:
    shown = ", ".join(map(str, values[:most]))
    return shown if len(values) <= most else f"{shown}, … ({len(values)})"
