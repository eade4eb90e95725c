"""T14: how stale a causal compressed model must be."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import sympy

from ..numeric import scale as at_scale
from ..symbolic import derivation
from ..symbolic.derivation import Derivation
from .claim import Claim, expect

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Collection, Iterable, Iterator

    from ..causal.projection.visible import SafeMask

LARGEST_N = 12


def bound(n: int, r: int) -> int:
    """⌊n/(r+1)⌋: some query sees none of so many of its last positions, its own included."""
    return n // (r + 1)


def staleness(releases: Iterable[int], n: int) -> int:
    """The most last positions, its own included, that some query sees nothing of, when slots are released so.

    Query t sees positions up to the last release at or before t, and so misses the t − that that follow.

    >>> staleness([1, 3], 4), staleness([], 4)
    (1, 4)
    """
    at = sorted(p for p in releases if 0 <= p < n)
    ends = [*at, n]
    starts = [-1, *at]
    return max(end - start - 1 for start, end in zip(starts, ends, strict=True))


def even_releases(n: int, r: int) -> list[int]:
    """Releases that attain the bound: one after each run of ⌊n/(r+1)⌋ unreleased positions.

    >>> even_releases(7, 2)
    [2, 5]
    """
    gap = bound(n, r)
    return list(range(gap, n, gap + 1))[:r]


def release_sets(n: int) -> list[tuple[int, ...]]:
    """Every set of release positions."""
    return [tuple(p for p in range(n) if bits >> p & 1) for bits in range(1 << n)]


def last_releases(releases: Collection[int], n: int) -> Iterator[int]:
    """The last release at or before each query in turn, −1 where there is none.

    >>> list(last_releases([1, 3], 5))
    [-1, 1, 1, 3, 3]
    """
    return accumulate((t if t in releases else -1 for t in range(n)), max)


def derive() -> Derivation:
    """Releases cut the positions into gaps; pigeonhole; attained by even spacing; every case for n ≤ 12."""
    q, m, k = sympy.symbols("q m k", nonnegative=True)
    r = m + k  # the remainder m of n by r + 1 is at most r, and k is what it lacks
    n = q * (r + 1) + m
    return Derivation(
        "T14: freshness",
        (
            derivation.cases(
                f"what a query misses is the gap after the last release before it: every set of releases, "
                f"n ≤ {LARGEST_N}, query by query",
                lambda: ((n, s) for n in range(1, LARGEST_N + 1) for s in release_sets(n)),
                lambda n, s: staleness(s, n) == max(t - last for t, last in enumerate(last_releases(s, n))),
                "a visible slot reads no further than its release, and is released at t or before (T13)",
            ),
            derivation.identity(
                "r releases leave at least n − r positions unreleased, in at most r + 1 gaps; n = q(r+1) + m with "
                "0 ≤ m ≤ r, written r = m + k",
                n - r,
                (r + 1) * (q - 1) + m + 1,
                "q = ⌊n/(r+1)⌋",
            ),
            derivation.positive(
                "that is more than r + 1 gaps of q − 1 hold: some gap has at least q positions",
                n - r - (r + 1) * (q - 1),
                "n − r − (r+1)(q−1) = m + 1",
                latex=r"n-r>(r+1)\left(\lfloor\tfrac{n}{r+1}\rfloor-1\right)",
            ),
            derivation.positive(
                "and r + 1 gaps of q hold them all: even spacing attains the bound",
                (r + 1) * q - (n - r),
                "(r+1)q − (n − r) = r − m ≥ 0",
                relation=">=",
                latex=r"n-r\le(r+1)\lfloor\tfrac{n}{r+1}\rfloor",
            ),
            derivation.cases(
                f"every set of at most r releases has staleness at least ⌊n/(r+1)⌋: all n ≤ {LARGEST_N}, r ≤ n",
                lambda: ((n, s) for n in range(1, LARGEST_N + 1) for s in release_sets(n)),
                lambda n, s: staleness(s, n) >= max(bound(n, r) for r in range(len(s), n + 1)),
                "tried one by one",
            ),
            derivation.cases(
                f"and even spacing attains it: all n ≤ {LARGEST_N}, r ≤ n",
                lambda: ((n, r) for n in range(1, LARGEST_N + 1) for r in range(n + 1)),
                lambda n, r: len(even_releases(n, r)) <= r and staleness(even_releases(n, r), n) == bound(n, r),
                "tried one by one",
            ),
            derivation.lemma(
                "The same for all n and r: ⌈(n−r)/(r+1)⌉ = ⌊n/(r+1)⌋, a mask that passes T10 is inside the largest.",
                "the two inequalities above; pigeonhole; T13",
                "some_query_stale, freshness_attained",
            ),
        ),
    )


def masks(even: Callable[[int, int], list[int]], least: Callable[[int, int], int]) -> Iterator[SafeMask]:
    """The largest safe masks of designs with the `even(n, r)` releases, n ≤ 8, once each is as stale as `least(n, r)`.

    Raises AssertionError where `SafeMask.staleness` says otherwise.
    """
    import numpy as np

    from ..causal.projection.mask import largest_safe_mask

    for n in range(2, 9):
        for r in range(1, n):
            f = np.zeros((r, n))
            for s, p in enumerate(even(n, r)):
                f[s, p] = 1.0
            mask = largest_safe_mask(f, layout="slots-first")
            found = int(np.max(mask.staleness))
            expect(found == least(n, r), f"SafeMask.staleness {found} for n = {n}, r = {r}, expected {least(n, r)}")
            yield mask


def exact() -> str:
    """`SafeMask.staleness` agrees on designs with the even releases, n ≤ 8."""
    count = len(list(masks(even_releases, bound)))
    return f"SafeMask.staleness attains the bound on {count} evenly spaced designs"


def property_check(rng: random.Random) -> str:
    """Random designs of larger size: the bound holds and even spacing attains it."""
    count = 200
    for _ in range(count):
        n = rng.randint(1, 400)
        r = rng.randint(0, n)
        found = staleness(rng.sample(range(n), r), n)
        expect(found >= bound(n, r), f"staleness {found} below {bound(n, r)} for n = {n}, r = {r}")
        expect(
            staleness(even_releases(n, r), n) == bound(n, r), f"even spacing misses {bound(n, r)} for n = {n}, r = {r}"
        )
    return f"{count} random designs, n ≤ 400: at least ⌊n/(r+1)⌋ stale, attained by even spacing"


CLAIM = Claim(
    id="T14",
    title="Freshness",
    statement="With r slots some query sees none of its last ⌊n/(r+1)⌋ positions, if the mask passes T10; attained.",
    latex=r"\max_t\,\mathrm{stale}(t)\ge\left\lfloor\frac{n}{r+1}\right\rfloor",
    source="ours",
    derive=derive,
    exact=exact,
    property=property_check,
    scale=at_scale.CHECKS["T14"],
    theorems=(
        "unseen_def",
        "some_query_stale",
        "freshness_attained",
    ),
    reading="A causal compressed model needs an uncompressed local window of at least that many positions to see all.",
)
