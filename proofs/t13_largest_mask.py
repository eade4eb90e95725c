"""T13: the largest mask that passes the support criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..symbolic import derivation
from ..symbolic.derivation import Derivation
from ..symbolic.prefix import Head
from .claim import Claim, Scale, expect

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

LARGEST_N = 12


def release(support: int) -> int:
    """The last position in a support, given as bits (bit j for position j); −1 for a slot that reads nothing.

    >>> release(0b0101), release(0)
    (2, -1)
    """
    return support.bit_length() - 1


def passes(support: int, t: int) -> bool:
    """T10 for one slot and query t under the prefix boundary: no position after t is read."""
    return not any(support >> j & 1 for j in range(t + 1, support.bit_length()))


def visible(support: int, t: int) -> bool:
    """The largest mask: release ≤ t."""
    return release(support) <= t


def starved(supports: tuple[int, ...], n: int) -> list[int]:
    """Queries that see no slot under the largest mask.

    >>> starved((0b0110, 0b1000), 4)
    [0, 1]
    """
    return [t for t in range(n) if not any(visible(s, t) for s in supports)]


def small_masks() -> Iterator[tuple[tuple[int, int], int]]:
    """Two slots over three positions: every pair of supports, every mask as six bits."""
    for first in range(8):
        for second in range(8):
            for mask in range(64):
                yield (first, second), mask


def mask_passes(supports: tuple[int, int], mask: int) -> bool:
    """T10 for a whole mask: bit 2t + s says that query t sees slot s."""
    return all(passes(supports[s], t) for t in range(3) for s in range(2) if mask >> (2 * t + s) & 1)


def largest(supports: tuple[int, int]) -> int:
    """The largest mask as bits."""
    return sum(1 << (2 * t + s) for t in range(3) for s in range(2) if visible(supports[s], t))


def rival_heads() -> list[Head]:
    """Equal rows of E and F = 1, −1, 1 at the forbidden position: two pairs of slots are safe, all three leak."""
    e, f = [[0, 0]] * 3, [[1, 1], [3, -1], [2, 1]]
    return [Head.of(e, f, seen=seen, forbidden=[1]) for seen in ((0, 1), (1, 2), (0, 1, 2))]


def derive() -> Derivation:
    """The criterion is a condition on each entry of the mask, so the union of passing masks passes; starved queries."""
    return Derivation(
        "T13: the largest mask",
        (
            derivation.cases(
                f"a slot passes T10 at query t iff release ≤ t: every support over n ≤ {LARGEST_N} positions, every t",
                lambda: ((support, t) for support in range(1 << LARGEST_N) for t in range(LARGEST_N)),
                lambda support, t: passes(support, t) == visible(support, t),
                "nothing after t is read iff the last position read is at most t",
                r"\mathrm{visible}(t,s)\iff\mathrm{release}(s)\le t",
            ),
            derivation.cases(
                "a mask passes iff it lies inside the largest one, so that one passes, is unique, and adding any entry "
                "breaks T10: two slots, three positions, every support and every mask",
                small_masks,
                lambda supports, mask: mask_passes(supports, mask) == (mask & ~largest(supports) == 0),
                "T10 asks something of each entry of the mask by itself",
            ),
            derivation.lemma(
                "The same for all n and r.",
                "the criterion is a conjunction over the entries of the mask",
                "passes_iff_below, largest_unique",
            ),
            derivation.cases(
                "the queries that see no slot are those before the first release (two slots, three positions)",
                lambda: ((first, second) for first in range(8) for second in range(8)),
                lambda first, second: (
                    starved((first, second), 3) == list(range(min(3, max(0, min(release(first), release(second))))))
                ),
                "release ≤ t for some slot iff t is at least the least release",
            ),
            derivation.cases(
                "in general no mask is the largest that is safe by T11: two sets of slots are safe, their union leaks",
                lambda: [tuple(rival_heads())],
                lambda first, second, union: (
                    first.safe_by_definition() and second.safe_by_definition() and not union.safe_by_definition()
                ),
                "equal E rows; F is 1, −1, 1 at the forbidden position; from the definition",
            ),
        ),
    )


def exact() -> str:
    """`largest_safe_mask` gives these releases, mask and starved queries, for every support of two slots, n = 3."""
    from ..causal.projection.mask import largest_safe_mask

    for first in range(8):
        for second in range(8):
            supports = (first, second)
            f = np.array([[float(s >> j & 1) for j in range(3)] for s in supports])
            found = largest_safe_mask(f, layout="slots-first")
            wanted = [[visible(s, t) for s in supports] for t in range(3)]
            expect(
                np.asarray(found.to_array()).tolist() == wanted, f"largest_safe_mask differs for supports {supports}"
            )
            expect(list(map(int, found.starved)) == starved(supports, 3), f"starved {found.starved} for {supports}")
    return "largest_safe_mask agrees on all 64 pairs of supports over three positions"


def property_check(rng: random.Random) -> str:
    """Random slots: safe by definition, seen alone, exactly where the largest mask shows them."""
    count = 25
    for _ in range(count):
        n = rng.randint(2, 3)
        support = [rng.random() < 0.6 for _ in range(n)]
        bits = sum(1 << j for j, reads in enumerate(support) if reads)
        row = [rng.choice([1, 2, -1]) if reads else 0 for reads in support]
        for t in range(n):
            h = Head.of([row], [row], forbidden=range(t + 1, n))
            expect(h.safe_by_definition() == visible(bits, t), f"slot {row} at query {t}: visible {visible(bits, t)}")
    return f"{count} random slots: seen alone, safe exactly at the queries where the largest mask shows them"


def scale_check(scale: Scale) -> str:
    """`largest_safe_mask` on arrays of the library asked for: the releases that the array was built with."""
    from ..causal.projection.mask import largest_safe_mask

    n = 100_000 if scale.n is None else scale.n
    rng = np.random.default_rng(scale.seed)
    releases = np.sort(rng.integers(0, n, size=min(8, n)))
    dense = np.where(np.arange(n)[None, :] <= releases[:, None], rng.standard_normal((len(releases), n)), 0.0)
    dense[np.arange(len(releases)), releases] = 1.0
    array = scale.array(dense)
    found = largest_safe_mask(array, layout="slots-first")
    expect(list(map(int, found.release)) == releases.tolist(), f"release {found.release}, built with {releases}")
    expect(
        len(found.starved) == releases[0], f"{len(found.starved)} queries starved, the first release is {releases[0]}"
    )
    return f"n = {n}: the {len(releases)} releases the array was built with; {len(found.starved)} queries starved"


CLAIM = Claim(
    id="T13",
    title="The largest safe mask",
    statement="Prefix boundary: visible(t, s) iff release(s) ≤ t is the unique largest mask that passes T10.",
    latex=r"\mathrm{visible}(t,s)\iff\mathrm{release}(s)\le t",
    source="ours",
    derive=derive,
    exact=exact,
    property=property_check,
    scale=scale_check,
    theorems=(
        "largest_def",
        "passes_def",
        "passes_iff_below",
        "largest_unique",
        "largest_prefix_safe",
        "starved_iff",
        "no_largest_exact",
        "passes_within_def",
        "largest_within_def",
        "passes_within_iff",
        "largest_within_unique",
        "largest_within_safe",
    ),
    reading="Queries before the first release see no slot: they are starved, and their softmax would be over nothing.",
)
