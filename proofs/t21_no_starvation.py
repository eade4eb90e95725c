"""T21: how stale a causal compressed model must be when no query is starved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy

from ..symbolic import derivation
from ..symbolic.derivation import Derivation
from .claim import Claim, Scale, expect
from .t14_freshness import LARGEST_N, masks, release_sets, staleness

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator


def bound(n: int, r: int) -> int:
    """⌈n/r⌉ − 1: so far behind is the newest readable position of some query, when every query has one."""
    return (n - 1) // r


def fed_sets(n: int) -> Iterator[tuple[int, ...]]:
    """Every set of releases that starves nobody: query 0 forces a release at 0."""
    return (s for s in release_sets(n) if 0 in s)


def even_releases(n: int, r: int) -> list[int]:
    """Releases at 0, ⌈n/r⌉, 2⌈n/r⌉, …: the runs of positions between them are as long as the bound allows."""
    return list(range(0, n, bound(n, r) + 1))


def derive() -> Derivation:
    """A release at 0; r runs; the longest holds ⌈n/r⌉ positions; even spacing attains it."""
    q = sympy.Symbol("q", integer=True, nonnegative=True)
    spare = sympy.Symbol("m", integer=True, nonnegative=True)
    rest = sympy.Symbol("k", integer=True, nonnegative=True)
    r = spare + rest + 1
    n = q * r + spare + 1
    return Derivation(
        "T21: freshness without starvation",
        (
            derivation.cases(
                f"a query can read something iff a release is not after it; so query 0 needs one at 0: n ≤ {LARGEST_N}",
                lambda: ((n, s) for n in range(1, LARGEST_N + 1) for s in release_sets(n)),
                lambda n, s: all(any(p <= t for p in s) for t in range(n)) == (0 in s),
                "a slot may be shown from its release on (T13); every set of releases",
            ),
            derivation.positive(
                "r runs of q positions do not hold n = q r + m + 1 positions, m < r: some run has q + 1, q = ⌊(n−1)/r⌋",
                n - r * q,
                "n − r q = m + 1; each run starts at a release",
                latex=r"n>r\lfloor\tfrac{n-1}{r}\rfloor",
            ),
            derivation.positive(
                "r runs of q + 1 hold them all: releases at every (q+1)th position attain it",
                r * (q + 1) - n,
                "r (q+1) − n = r − m − 1, here written k",
                relation=">=",
                latex=r"n\le r\left(\lfloor\tfrac{n-1}{r}\rfloor+1\right)",
            ),
            derivation.cases(
                f"every set of at most r releases that starves nobody is stale by ⌈n/r⌉ − 1 at least: n ≤ {LARGEST_N}",
                lambda: ((n, s) for n in range(1, LARGEST_N + 1) for s in fed_sets(n)),
                lambda n, s: all(staleness(s, n) >= bound(n, r) for r in range(len(s), n + 1)),
                "tried one by one",
            ),
            derivation.cases(
                f"and even spacing attains it: n ≤ {LARGEST_N}, 1 ≤ r ≤ n",
                lambda: ((n, r) for n in range(1, LARGEST_N + 1) for r in range(1, n + 1)),
                lambda n, r: len(even_releases(n, r)) <= r and staleness(even_releases(n, r), n) == bound(n, r),
                "tried one by one",
            ),
            derivation.cases(
                "starving a query can be fresher: three positions, one release, at 1: 1 instead of 2",
                lambda: ((3, (1,)),),
                lambda n, s: staleness(s, n) == 1 and bound(n, 1) == 2,
                "T14's bound, which this attains",
            ),
            derivation.lemma(
                "The same for all n and r: a mask that passes T10 is inside the largest.",
                "the two inequalities above; pigeonhole over r runs and the r − 1 slots not released at 0; T13",
                "fed_query_stale, fed_attained",
            ),
        ),
    )


def exact() -> str:
    """`SafeMask.staleness` agrees on the even releases, n ≤ 8, and nobody is starved there."""
    count = 0
    for mask in masks(even_releases, bound):
        expect(not len(mask.starved), f"the even releases starve {mask.starved} of {len(mask.staleness)} queries")
        count += 1
    return f"SafeMask.staleness is ⌈n/r⌉ − 1 on {count} designs with evenly spaced releases from 0 on"


def property_check(rng: random.Random) -> str:
    """Random designs of larger size that starve nobody: the bound holds and even spacing attains it."""
    count = 200
    for _ in range(count):
        n = rng.randint(1, 400)
        r = rng.randint(1, n)
        found = staleness({0, *rng.sample(range(n), r - 1)}, n)
        expect(found >= bound(n, r), f"staleness {found} below {bound(n, r)} for n = {n}, r = {r}")
        expect(staleness(even_releases(n, r), n) == bound(n, r), f"even spacing misses {bound(n, r)}: n = {n}, r = {r}")
    return f"{count} random designs that starve nobody, n ≤ 400: at least ⌈n/r⌉ − 1 stale, attained by even spacing"


def scale_check(scale: Scale) -> str:
    """Sets of releases over many positions, on an array library: the longest run that starts at a release."""
    n = 100_000 if scale.n is None else max(2, scale.n)
    for r in sorted({1, 2, max(1, n // 7), n}):
        even = scale.xp.asarray([*even_releases(n, r), n])
        longest = int(scale.xp.max(even[1:] - even[:-1]))
        expect(longest - 1 == bound(n, r), f"the longest run is {longest} for n = {n}, r = {r}")
    return f"n = {n}: runs between even releases are ⌈n/r⌉ long at most, for r from 1 to n"


CLAIM = Claim(
    id="T21",
    title="Freshness without starvation",
    statement="If every query can read something, the newest position of some query is ⌈n/r⌉ − 1 behind it; attained.",
    latex=r"\max_t\,\mathrm{stale}(t)\ge\left\lceil\frac nr\right\rceil-1",
    source="ours",
    derive=derive,
    exact=exact,
    property=property_check,
    scale=scale_check,
    theorems=("fed_query_stale", "fed_attained", "starving_is_fresher"),
    reading="T14 allows queries that see nothing, and is lower; a model that may not have them pays this much.",
)
