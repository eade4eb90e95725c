"""The exact criterion for softmax heads (T11), decided: a finite list of identities over ℚ, and floats are rational.

Notation for one query: k visible slots, forbidden positions J, E and F restricted to the visible slots. T11 asks

(1) Σ F[s, j] = 0 over every set of slots with equal rows of E (and equal bias), for j ∈ J;
(2) Σ (E[s, j] − E[u, j]) (F[s, i] − F[u, i]) = 0 over every class of pairs {s, u} with equal E[s] + E[u] (and equal sum
    of biases), for j ∈ J and i ∉ J.

For fixed classes (2) is bilinear in the column E[·, j] and the column F[·, i], so it holds for all columns iff it holds
for a column basis of each. Queries with nested J share one elimination: taking the columns in the order in which they
become forbidden makes the pivots among any of the nested sets a basis of it. Everything is computed modulo primes: a
non-zero residue refutes, and zero modulo primes whose product exceeds a bound on the integer behind it proves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import Columns, enough_primes, modulo, per_strip
from .entries import Entries
from .support import NEVER

if TYPE_CHECKING:
    from ..boundary import Boundary


@dataclass(frozen=True)
class Leak:
    """A failing identity of T11: (1) at position j when `i` is None, else (2) at j and the allowed position i.

    `query` is forbidden j and allowed i; `columns` are positions whose keys together tell apart what must be told
    apart.
    """

    query: int
    j: int
    i: int | None
    columns: tuple[int, ...] = ()


@dataclass(frozen=True)
class Question:
    """T11 for queries that see the same slots and whose forbidden sets are nested.

    `slots` (k,); `bias` (k,) or None; `rank` (n,), `queries` (m,) and `horizons` (m,): query t is forbidden the
    positions with rank > its horizon.
    """

    slots: np.ndarray
    bias: np.ndarray | None
    rank: np.ndarray
    queries: np.ndarray
    horizons: np.ndarray

    def first_query(self, j: int, i: int | None = None) -> int | None:
        """The first query that is forbidden j and allowed i, or None."""
        fits = self.horizons < self.rank[j]
        if i is not None:
            fits &= self.rank[i] <= self.horizons
        return int(self.queries[fits.argmax()]) if fits.any() else None


def questions(boundary: Boundary, slots: np.ndarray, bias: Any, queries: np.ndarray) -> Iterator[Question]:
    """Split queries that see the same slots into chains of nested forbidden sets."""
    if boundary.matrix is not None:
        yield from _chains_of_relation(boundary, slots, bias, queries)
        return
    rank, horizon = boundary.available, boundary.horizon
    assert rank is not None
    assert horizon is not None
    if boundary.is_chain:
        yield Question(slots, bias, rank, queries, _at(horizon, queries))
        return
    assert boundary.query_group is not None
    groups = boundary.query_group[queries]
    for group in dict.fromkeys(groups.tolist()):
        members = queries[groups == group]
        own = np.where(boundary.position_group == group, rank, NEVER)
        yield Question(slots, bias, own, members, horizon[members])


def _at(table: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """`table[ascending]`, without a copy where the indices follow each other."""
    if len(ascending) and ascending[-1] - ascending[0] == len(ascending) - 1:
        return table[ascending[0] : ascending[-1] + 1]
    return np.asarray(table[ascending])


def _chains_of_relation(boundary: Boundary, slots: np.ndarray, bias: Any, queries: np.ndarray) -> Iterator[Question]:
    rows = {int(t): boundary.allowed_row(int(t)) for t in queries}
    chains: list[list[int]] = []
    for t in sorted(rows, key=lambda t: int(rows[t].sum())):
        for chain in chains:
            if np.all(rows[t] | ~rows[chain[-1]]):
                chain.append(t)
                break
        else:
            chains.append([t])
    for chain in chains:
        rank = np.full(boundary.n, NEVER)
        for step, t in reversed(list(enumerate(chain))):
            rank[rows[t]] = step
        order = np.argsort(chain)
        yield Question(slots, bias, rank, np.array(chain)[order], order)


# -- condition (1) ----------------------------------------------------------------------------------------------------


def values_leak(question: Question, E: Columns, F: Columns) -> Leak | None:
    """The first failure of (1), or None when it holds."""
    forbidden = question.rank > question.horizons.min()
    labels = E.row_labels(question.bias)
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    broken = np.zeros(F.count, bool)
    columns = np.flatnonzero(forbidden & ~F.zero)
    if len(starts) == len(labels):  # all rows differ: each entry stands alone
        broken[columns] = True
    else:
        for p in enough_primes(F.bits + len(labels).bit_length()):
            for strip in F.strips(columns):
                sums = modulo(np.add.reduceat(F.residues(p, strip)[order], starts, axis=0), p)
                broken[strip] |= (sums != 0).any(axis=0)
            columns = columns[~broken[columns]]
            if not len(columns):
                break
    if not broken.any():
        return None
    # Earliest query first, then the earliest position.
    query = int(question.queries[(question.horizons < question.rank[broken].max()).argmax()])
    horizon = question.horizons[question.queries == query][0]
    return Leak(query, int((broken & (question.rank > horizon)).argmax()), None)


# -- condition (2) ----------------------------------------------------------------------------------------------------


def open_thresholds(question: Question, E: Columns, F: Columns) -> np.ndarray:
    """The horizons at which (2) is not trivial: E not constant on J and F not constant off it."""
    moving_keys = question.rank[~E.constant]
    moving_values = question.rank[~F.constant]
    if not len(moving_keys) or not len(moving_values):
        return np.zeros(0, np.int64)
    d = np.unique(question.horizons)
    return np.asarray(d[(moving_values.min() <= d) & (d < moving_keys.max())])


@dataclass(frozen=True)
class Basis:
    """Modulo one prime: column bases of centred E (in the order of falling rank) and centred F (rising rank)."""

    p: int
    j: np.ndarray
    i: np.ndarray
    keys: np.ndarray  # (k, len(j)) residues of E[·, j] − E[0, j]
    extra: np.ndarray  # (k, 0 or 1) residues of the biases
    values: np.ndarray  # (k, len(i))


def basis(p: int, E: Columns, F: Columns, rank: np.ndarray, bias: Columns | None) -> Basis:
    """Both bases modulo p."""
    j, keys = _pivots(E, np.argsort(-rank.astype(np.float64), kind="stable"), p)
    i, values = _pivots(F, np.argsort(rank, kind="stable"), p)
    extra = np.zeros((len(keys), 0), np.int64) if bias is None else bias.residues(p, np.arange(1))
    return Basis(p, j, i, keys, extra, values)


def _pivots(columns: Columns, order: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns, in this order, that are not combinations of earlier ones (after centring), and their residues."""
    rows, labels = columns.kinds  # rows that repeat others determine nothing
    k = len(rows)
    chosen, kept = np.zeros(0, np.int64), np.zeros((k, 0), np.int64)
    for strip in columns.strips(order[~columns.constant[order]]):  # a constant column is 0 once it is centred
        if kept.shape[1] == k - 1:
            break  # centred columns have rank at most k − 1
        new = columns.residues(p, strip, rows)
        new = modulo(new - new[:1], p)
        left = np.flatnonzero(_outside(kept, new, p))
        while len(left) and kept.shape[1] < k - 1:
            count = max(32, 2 * kept.shape[1])  # few at first: the rank is often far below the number of slots
            few, left = left[:count], left[count:]
            both, names = np.hstack([kept, new[:, few]]), np.concatenate([chosen, strip[few]])
            pivots = _echelon(both, p)[1]
            chosen, kept = names[pivots], both[:, pivots]
            left = left[_outside(kept, new[:, left], p)]
    return chosen, kept[labels]


def _echelon(matrix: np.ndarray, p: int) -> tuple[Any, list[int]]:
    """The reduced echelon form modulo p, as FLINT's, and its pivot columns."""
    from flint import nmod_mat

    if not matrix.size:
        return matrix, []
    rows, columns = matrix.shape
    echelon, rank = nmod_mat(rows, columns, matrix.ravel().tolist(), p).rref()
    pivots, column = [], 0
    for row in range(rank):
        while int(echelon[row, column]) == 0:
            column += 1
        pivots.append(column)
    return echelon, pivots


def _outside(kept: np.ndarray, new: np.ndarray, p: int) -> np.ndarray:
    """Which columns of `new` are no combinations of the independent columns `kept`, modulo p.

    A few rows determine a combination of `kept`, and the others follow from them linearly.
    """
    echelon, rows = _echelon(np.ascontiguousarray(kept.T), p)
    others = np.setdiff1d(np.arange(len(new)), rows)
    if not rows:
        return np.asarray(new.any(axis=0))
    follow = np.array([[int(echelon[i, s]) for i in range(len(rows))] for s in others], np.int64)
    follow, given, found = follow.reshape(-1, len(rows)), new[rows], np.zeros(new.shape[1], bool)
    step = max(32, (1 << 18) // max(1, follow.size))  # in the processor's cache, and too small to wake BLAS's threads
    for columns in (slice(start, start + step) for start in range(0, len(found), step)):
        found[columns] = (_product(follow, given[:, columns], p) != new[others, columns]).any(axis=0)
    return found


def _product(a: np.ndarray, x: np.ndarray, p: int) -> np.ndarray:
    """a x modulo p for residues below 2³¹, by floating-point products of so few bits of `a` that none rounds."""
    width = 53 - 31 - a.shape[1].bit_length()
    assert width > 0
    floats, total = x.astype(np.float64), np.zeros((len(a), x.shape[1]), np.int64)
    for shift in reversed(range(0, 31, width)):
        part = (a >> shift) & ((1 << width) - 1)
        total = modulo((total << width) + (part.astype(np.float64) @ floats).astype(np.int64), p)
    return total


def pair_classes(bases: Iterator[Basis], first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Labels of the pairs: equal iff E[s] + E[u] (and the sum of biases) are equal. Refined prime by prime."""
    labels = np.zeros(len(first), np.int64)
    for b in bases:
        table = np.hstack([b.keys, b.extra])
        sums = modulo(table[first] + table[second], b.p)
        # A random linear form separates almost everything; what it leaves together is compared in full.
        weights = np.random.default_rng(b.p).integers(0, b.p, (1, table.shape[1]))
        form = modulo(modulo(table * weights, b.p).sum(axis=1), b.p)
        keys = modulo(form[first] + form[second], b.p)
        order = np.lexsort((keys, labels))
        a, c = order[:-1], order[1:]
        close = (labels[a] == labels[c]) & (keys[a] == keys[c])
        if close.any() and not (sums[a[close]] == sums[c[close]]).all():
            labels = np.unique(np.column_stack([labels, sums]), axis=0, return_inverse=True)[1].reshape(-1)
        else:
            fresh = np.empty(len(order), np.int64)
            fresh[order] = np.concatenate([[0], np.cumsum(~close)])
            labels = fresh
        if len(np.unique(labels)) == len(labels):
            break
    return labels


def keys_leak(question: Question, E: Columns, F: Columns, thresholds: np.ndarray) -> Leak | None:
    """A failure of (2) at one of the thresholds, or None when it holds at all of them; (1) holds already."""
    k = len(question.slots)
    first, second = np.triu_indices(k, 1)
    bias = None if question.bias is None else _bias_columns(question.bias)
    bias_bits = 0 if bias is None else bias.bits
    cache: dict[int, Basis] = {}

    def bases(bits: int) -> Iterator[Basis]:
        for p in enough_primes(bits):
            if p not in cache:
                cache[p] = basis(p, E, F, question.rank, bias)
            yield cache[p]

    labels = pair_classes(bases(max(E.bits, bias_bits) + 2), first, second)
    sizes = np.bincount(labels)
    alone = sizes[labels] == 1
    order = np.argsort(labels, kind="stable")
    together = order[~alone[order]]
    for b in bases(E.bits + F.bits + 2 + int(sizes.max(initial=1)).bit_length()):  # a class sums so many products
        # An index of thresholds turns "rank_i ≤ d < rank_j for some d" into a comparison.
        late, soon = (np.searchsorted(thresholds, question.rank[x], side="left") for x in (b.j, b.i))
        found = _single_pairs(b, first[alone], second[alone], late, soon)
        if found is None:
            found = _classes_of_pairs(b, first[together], second[together], labels[together], late, soon)
        if found is not None:
            j, i = int(b.j[found[0]]), int(b.i[found[1]])
            query = question.first_query(j, i)
            assert query is not None
            return Leak(query, j, i, tuple(b.j.tolist()))
    return None


def _bias_columns(bias: np.ndarray) -> Columns:
    return Columns(Entries("bias", bias.reshape(-1, 1), "float64", "host", "slots-first", False), np.arange(len(bias)))


def _single_pairs(b: Basis, first: Any, second: Any, late: np.ndarray, soon: np.ndarray) -> tuple[int, int] | None:
    """Pairs whose sum no other pair has: their own product must vanish wherever rank_i ≤ d < rank_j."""
    if not len(late) or not len(soon):
        return None
    step = per_strip(max(len(late), len(soon)))
    for start in range(0, len(first), step):
        s, u = first[start : start + step], second[start : start + step]
        last = np.where(b.keys[s] != b.keys[u], late[None, :], -1)
        least = np.where(b.values[s] != b.values[u], soon[None, :], NEVER)
        leaks = least.min(axis=1) < last.max(axis=1)
        if leaks.any():
            pair = int(leaks.argmax())
            return int(last[pair].argmax()), int(least[pair].argmin())
    return None


def _classes_of_pairs(
    b: Basis, first: Any, second: Any, labels: Any, late: np.ndarray, soon: np.ndarray
) -> tuple[int, int] | None:
    """Classes of several pairs (adjacent, sorted by label): the sum of their outer products must vanish there."""
    open_pairs = soon[None, :] < late[:, None]
    if not open_pairs.any() or not len(first):
        return None
    rows, columns = np.flatnonzero(open_pairs.any(axis=1)), np.flatnonzero(open_pairs.any(axis=0))
    open_pairs = open_pairs[np.ix_(rows, columns)]
    labels, keys, values = _by_value(b.keys[:, rows], b.values[:, columns], first, second, labels, b.p)
    step = per_strip(open_pairs.size, strips=4)
    carried = np.zeros(open_pairs.shape, np.int64)  # the unfinished class at the end of the last strip
    for start in range(0, len(labels), step):
        stop = min(len(labels), start + step)
        label = labels[start:stop]
        # Differences of residues are below 2³¹ in size, so their products fit; so do sums of 2³¹ residues.
        product = modulo(keys[start:stop, :, None] * values[start:stop, None, :], b.p)
        cuts = np.flatnonzero(np.diff(label, prepend=label[0] - 1))
        sums = modulo(np.add.reduceat(product, cuts, axis=0), b.p)
        if start and labels[start - 1] == label[0]:
            sums[0] = modulo(sums[0] + carried, b.p)
        unfinished = stop < len(labels) and labels[stop] == label[-1]
        carried = sums[-1]
        leaks = (sums[: len(sums) - unfinished] != 0) & open_pairs[None]
        if leaks.any():
            _, j, i = np.argwhere(leaks)[0]
            return int(rows[j]), int(columns[i])
    return None


def _by_value(
    keys: np.ndarray, values: np.ndarray, first: Any, second: Any, labels: Any, p: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The terms of (2) that are left once those of one class with the same value difference are one: labels, sums of
    key differences, value differences.

    Where slots repeat each other's values, as on a grid, these sums are few, or all zero.
    """
    kind = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)
    turned = kind[first] > kind[second]  # a pair has no order: the product of two differences stays as it is
    s, u = np.where(turned, second, first), np.where(turned, first, second)
    order = np.lexsort((kind[u], kind[s], labels))
    order = order[kind[s[order]] != kind[u[order]]]
    s, u, labels = s[order], u[order], labels[order]
    new = (np.diff(labels, prepend=-1) != 0) | (np.diff(kind[s], prepend=-1) != 0) | (np.diff(kind[u], prepend=-1) != 0)
    starts = np.flatnonzero(new)
    if not len(starts):
        return labels, keys[s], values[s]
    sums = modulo(np.add.reduceat(keys[s] - keys[u], starts, axis=0), p)
    left = sums.any(axis=1)
    starts = starts[left]
    return labels[starts], sums[left], values[s[starts]] - values[u[starts]]
