"""Blocks, strides and pyramids: designs that are safe for every n, each proved by `Design.check`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError
from .design import Design
from .family import Family
from .presburger import choose


def at_least(name: str, value: Any, least: int) -> int:
    """The whole number given; ValueError when it is none, or below `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ArgumentError(name, "does not fit", f"pass a whole number of at least {least}", value)
    return int(value)


def staircase(steps: int, length: int) -> int:
    """1 + … over `steps` terms, each value repeated `length` times: Σ_{u<steps} (⌊u/length⌋ + 1)."""
    if steps <= 0:
        return 0
    whole, rest = divmod(steps, length)
    return length * whole * (whole + 1) // 2 + rest * (whole + 1)


def windows(n: int, w: int) -> int:
    """Σ_{t<n} min(t + 1, w)."""
    return n * (n + 1) // 2 if n <= w else w * n - w * (w - 1) // 2


# -- completed blocks ---------------------------------------------------------------------------------------------


def completed_blocks(p: int) -> Design:
    """Slot s averages block s of p positions; a query sees it once its last position has come.

    >>> completed_blocks(2).matrices(4).visible.astype(int).tolist()
    [[0, 0], [1, 0], [1, 0], [1, 1]]
    """
    p = at_least("p", p, 1)
    family = Family(
        reads=lambda s, j, n, p: j // p == s,
        sees=lambda t, s, n, p: (s + 1) * p <= t + 1,
        slots=lambda n, p: n // p,
        covers=lambda t, j, n, p: j // p,
        due=lambda t, j, n, p: (j // p + 1) * p <= t + 1,
        boundary=None,
        parameters={"p": 1},
    )
    return Design(
        "completed-blocks",
        f"blocks of {p}, seen once complete",
        family,
        {"p": p},
        staleness=lambda n: min(n, p - 1),
        window=lambda n: min(n, p - 1),
        reading=lambda n: n // p * p,
        seeing=lambda n: staircase(n - p + 1, p),
        stale_text="p − 1",
        window_text="p − 1",
        cost_text="p⌊n/p⌋ reads and about n²/(2p) scored pairs: quadratic in n for fixed p, n r / 2 for r = n/p slots",
    )


def blocks_with_window(p: int, w: int | None = None) -> Design:
    """Completed blocks for what is older than the last w positions, and those w positions one by one.

    Shows every allowed position; `w` is at least p − 1 (the default). The slots are the ⌊n/p⌋ blocks, then one slot for
    each position.

    >>> bool((blocks_with_window(3, 4).matrices(9).shown == np.tri(9, dtype=bool)).all())
    True
    """
    p = at_least("p", p, 1)
    w = at_least("w", p - 1 if w is None else w, p - 1)

    def sees(t: Any, s: Any, n: Any, p: Any, extra: Any) -> Any:
        w, blocks = p - 1 + extra, n // p
        block = ((s + 1) * p <= t + 1) & (s * p <= t - w)
        return choose(s < blocks, block, (s - blocks <= t) & (t - (s - blocks) < w))

    family = Family(
        reads=lambda s, j, n, p: choose(s < n // p, j // p == s, s - n // p == j),
        sees=sees,
        slots=lambda n, p: n // p + n,
        covers=lambda t, j, n, p, extra: choose(t - j < p - 1 + extra, n // p + j, j // p),
        due=None,
        boundary=None,
        parameters={"p": 1, "extra": 0},
    )
    return Design(
        "blocks-with-window",
        f"blocks of {p} and a local window of {w}",
        family,
        {"p": p, "extra": w - p + 1},
        staleness=lambda n: 0,
        window=lambda n: 0,
        reading=lambda n: n // p * p,
        seeing=lambda n: staircase(n - w, p) + windows(n, w),
        stale_text="0",
        window_text="built in: w ≥ p − 1",
        cost_text="p⌊n/p⌋ reads and about n²/(2p) + n w scored pairs",
    )


def strided_blocks(p: int, stride: int) -> Design:
    """Slot s averages the p positions from s·stride on, seen once they have come; overlapping when stride < p.

    With stride > p the gaps are never summarised, and only a window over everything would show them.

    >>> strided_blocks(4, 2).matrices(8).support.astype(int).tolist()[1]
    [0, 0, 1, 1, 1, 1, 0, 0]
    """
    p, q = at_least("p", p, 1), at_least("stride", stride, 1)

    def slots(n: Any, p: Any, q: Any) -> Any:
        return choose(n >= p, (n - p) // q + 1, 0)

    family = Family(
        reads=lambda s, j, n, p, q: (s * q <= j) & (j < s * q + p),
        sees=lambda t, s, n, p, q: s * q + p <= t + 1,
        slots=slots,
        covers=None,
        due=None,
        boundary=None,
        parameters={"p": 1, "q": 1},
    )
    gaps = q > p
    return Design(
        "strided-blocks",
        f"blocks of {p} every {q} positions, seen once complete",
        family,
        {"p": p, "q": q},
        staleness=lambda n: n if n < p else max(p - 1, min(q - 1, n - p)),
        window=lambda n: n if n < p else max(p - 1, n - p if gaps else 0),
        reading=lambda n: slots(n, p, q) * p,
        seeing=lambda n: staircase(n - p + 1, q),
        stale_text="max(p, q) − 1 for stride q",
        window_text="p − 1 when q ≤ p; otherwise n − p: the gaps are never summarised",
        cost_text="p reads for each of ⌊(n − p)/q⌋ + 1 slots, and about n²/(2q) scored pairs",
    )


def dyadic() -> Design:
    """Fenwick summaries: blocks of every length 2^l; query t sees the blocks of the binary digits of t + 1.

    They tile the prefix exactly, so everything is shown once, through at most log₂(n) + 1 slots. The proof holds for a
    level of any block length p ≥ 1, and shows that level p covers exactly what lies between the prefixes that levels 2p
    and p round down to; the levels 1, 2, 4, … telescope to the whole prefix.

    >>> dyadic().matrices(7).visible.sum(axis=1).tolist()
    [1, 1, 2, 1, 2, 2, 3]
    """
    family = Family(
        reads=lambda s, j, n, p: j // p == s,
        sees=lambda t, s, n, p: (s + 1 == (t + 1) // p) & ((t + 1) // p % 2 == 1),
        slots=lambda n, p: n // p,
        covers=lambda t, j, n, p: j // p,
        due=lambda t, j, n, p: ((t + 1) // p // 2 * 2 * p <= j) & (j < (t + 1) // p * p),
        boundary=None,
        parameters={"p": 1},
    )

    def levels(n: int) -> tuple[dict[str, int], ...]:
        return tuple({"p": 2**level} for level in range(n.bit_length()))

    def ones(n: int) -> int:  # how many binary ones the numbers 1 … n have
        return sum(
            (n + 1) // (2 * p) * p + max(0, (n + 1) % (2 * p) - p) for p in (2**k for k in range(n.bit_length()))
        )

    return Design(
        "dyadic",
        "blocks of every length 2^l, one for each binary digit of t + 1",
        family,
        {},
        staleness=lambda n: 0,
        window=lambda n: 0,
        reading=lambda n: sum(n // p * p for p in (2**k for k in range(n.bit_length()))),
        seeing=ones,
        stale_text="0",
        window_text="0: everything is shown",
        cost_text="at most n(⌊log₂ n⌋ + 1) reads, fewer than 2n slots, at most n(⌊log₂ n⌋ + 1) scored pairs",
        source="Fenwick, 1994",
        levels=levels,
    )


def decaying(rates: Sequence[float] = (0.9, 0.99), stride: int = 1) -> Design:
    """Exponentially decaying sums of everything so far, one per rate, kept at every `stride`-th position.

    A query sees the latest set only: as many slots as rates, whatever n is. Everything before the latest checkpoint is
    shown, with weights that fade as rate^age.

    >>> decaying([0.5]).matrices(3).F[2].round(4).tolist()
    [0.1429, 0.2857, 0.5714]
    """
    q, m = at_least("stride", stride, 1), at_least("number of rates", len(rates), 1)
    for rate in rates:
        if not 0 < rate <= 1:
            raise ArgumentError("rates", f"has {rate!r}", "pass rates above 0 and at most 1")

    def weights(support: np.ndarray) -> np.ndarray:
        age = support.sum(axis=1, keepdims=True) - 1 - np.arange(support.shape[1])
        rate = np.array([rates[s % m] for s in range(len(support))], np.float64)[:, None]
        faded = np.where(support, rate ** np.maximum(age, 0), 0.0)
        return np.asarray(faded / np.maximum(faded.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))

    family = Family(
        reads=lambda s, j, n, q, m: j < (s // m + 1) * q,
        sees=lambda t, s, n, q, m: s // m + 1 == (t + 1) // q,
        slots=lambda n, q, m: n // q * m,
        covers=lambda t, j, n, q, m: ((t + 1) // q - 1) * m,
        due=lambda t, j, n, q, m: j < (t + 1) // q * q,
        boundary=None,
        parameters={"q": 1, "m": 1},
    )
    return Design(
        "decaying",
        f"running sums fading at {', '.join(map(str, rates))}, kept every {q}",
        family,
        {"q": q, "m": m},
        staleness=lambda n: min(n, q - 1),
        window=lambda n: min(n, q - 1),
        reading=lambda n: n // q * q * m,
        seeing=lambda n: max(0, n - q + 1) * m,
        stale_text="q − 1 for stride q",
        window_text="q − 1",
        cost_text="n m reads by the recurrence and n m scored pairs for m rates: linear in n",
        weights=weights,
    )
