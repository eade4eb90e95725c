"""Designs for packed documents, safe for every n and all lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import ArgumentError
from .blocks import at_least, staircase, windows
from .design import Design
from .family import DOCUMENTS, Family, averages
from .presburger import choose

# -- packed documents ---------------------------------------------------------------------------------------------


def _same_document(t: Any, j: Any, n: Any, start: Callable[[Any], Any]) -> Any:
    return (j <= t) & (start(j) == start(t))


def _packed_block(s: Any, j: Any, n: Any, p: Any, start: Callable[[Any], Any]) -> Any:
    """Slot s is block s − ⌊start/p⌋ of its document; blocks that their document does not complete have no slot."""
    first = start(j)
    block = (j - first) // p
    last = first + (block + 1) * p - 1
    return (s == first // p + block) & (last < n) & (start(last) == first)


def _lengths(lengths: Sequence[int]) -> list[int]:
    return [at_least("lengths", length, 1) for length in lengths]


def packed_blocks(p: int, lengths: Sequence[int]) -> Design:
    """Completed blocks inside packed documents: blocks start anew with each document, ⌊n/p⌋ slots in all.

    Document d that starts at a has the slots from ⌊a/p⌋ on; these never collide. Proved for every way to cut n
    positions into documents.

    >>> packed_blocks(2, [3, 4]).matrices(7).support.astype(int).tolist()
    [[1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1, 1]]
    """
    p, sizes = at_least("p", p, 1), _lengths(lengths)

    def sees(t: Any, s: Any, n: Any, p: Any, start: Callable[[Any], Any]) -> Any:
        block = s - start(t) // p
        return (block >= 0) & (start(t) + (block + 1) * p <= t + 1)

    family = Family(
        reads=_packed_block,
        sees=sees,
        slots=lambda n, p: n // p,
        covers=lambda t, j, n, p, start: start(j) // p + (j - start(j)) // p,
        due=lambda t, j, n, p, start: start(j) + ((j - start(j)) // p + 1) * p <= t + 1,
        boundary=_same_document,
        parameters={"p": 1, "start": DOCUMENTS},
    )
    return Design(
        "packed-blocks",
        f"blocks of {p} inside packed documents, seen once complete",
        family,
        {"p": p, "start": sizes},
        staleness=lambda n: max(min(size, p - 1) for size in sizes),
        window=lambda n: max(min(size, p - 1) for size in sizes),
        reading=lambda n: sum(size // p * p for size in sizes),
        seeing=lambda n: sum(staircase(size - p + 1, p) for size in sizes),
        stale_text="p − 1",
        window_text="p − 1",
        cost_text="completed blocks' cost, summed over the documents",
    )


def packed_blocks_with_window(p: int, lengths: Sequence[int], w: int | None = None) -> Design:
    """Completed blocks and a local window, both inside packed documents; shows every allowed position.

    >>> member = packed_blocks_with_window(2, [3, 4]).matrices(7)
    >>> bool((member.shown == member.boundary.to_array()).all())
    True
    """
    p, sizes = at_least("p", p, 1), _lengths(lengths)
    w = at_least("w", p - 1 if w is None else w, p - 1)

    def reads(s: Any, j: Any, n: Any, p: Any, start: Callable[[Any], Any]) -> Any:
        return choose(s < n // p, _packed_block(s, j, n, p, start), s - n // p == j)

    def sees(t: Any, s: Any, n: Any, p: Any, extra: Any, start: Callable[[Any], Any]) -> Any:
        w, first, i = p - 1 + extra, start(t), s - n // p
        block = s - first // p
        whole = (block >= 0) & (first + (block + 1) * p <= t + 1) & (first + block * p <= t - w)
        return choose(s < n // p, whole, (first <= i) & (i <= t) & (t - i < w))

    def covers(t: Any, j: Any, n: Any, p: Any, extra: Any, start: Callable[[Any], Any]) -> Any:
        return choose(t - j < p - 1 + extra, n // p + j, start(j) // p + (j - start(j)) // p)

    family = Family(
        reads=reads,
        sees=sees,
        slots=lambda n, p: n // p + n,
        covers=covers,
        due=None,
        boundary=_same_document,
        parameters={"p": 1, "extra": 0, "start": DOCUMENTS},
    )
    return Design(
        "packed-blocks-with-window",
        f"blocks of {p} and a local window of {w} inside packed documents",
        family,
        {"p": p, "extra": w - p + 1, "start": sizes},
        staleness=lambda n: 0,
        window=lambda n: 0,
        reading=lambda n: sum(size // p * p for size in sizes),
        seeing=lambda n: sum(staircase(size - w, p) + windows(size, w) for size in sizes),
        stale_text="0",
        window_text="built in: w ≥ p − 1",
        cost_text="blocks with window's cost, summed over the documents",
    )


def packed_decaying(lengths: Sequence[int], rate: float = 0.9, stride: int = 1) -> Design:
    """A decaying sum that starts anew with each document, kept at every `stride`-th position.

    >>> packed_decaying([2, 2], rate=0.5).matrices(4).support.astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]]
    """
    q, sizes = at_least("stride", stride, 1), _lengths(lengths)
    if not 0 < rate <= 1:
        raise ArgumentError("rate", "does not fit", "pass a rate above 0 and at most 1", rate)
    edges = np.cumsum([0, *sizes]).tolist()
    spans = list(pairwise(edges))

    def weights(support: np.ndarray) -> np.ndarray:
        newest = support.shape[1] - 1 - np.argmax(support[:, ::-1], axis=1)
        age = newest[:, None] - np.arange(support.shape[1])
        return averages(support * rate ** np.maximum(age, 0.0))

    def checkpoint(a: int) -> int:  # the first one at or after a
        return (a + q) // q * q - 1

    def stale(a: int, b: int) -> int:
        return max(min(b, checkpoint(a)) - a, min(q - 1, max(0, b - 1 - checkpoint(a))))

    family = Family(
        reads=lambda s, j, n, q, start: (start((s + 1) * q - 1) <= j) & (j <= (s + 1) * q - 1),
        sees=lambda t, s, n, q, start: (s + 1 == (t + 1) // q) & (start(t) <= (s + 1) * q - 1),
        slots=lambda n, q: n // q,
        covers=lambda t, j, n, q: (t + 1) // q - 1,
        due=lambda t, j, n, q: j < (t + 1) // q * q,
        boundary=_same_document,
        parameters={"q": 1, "start": DOCUMENTS},
    )
    return Design(
        "packed-decaying",
        f"a running sum fading at {rate}, kept every {q}, inside packed documents",
        family,
        {"q": q, "start": sizes},
        staleness=lambda n: max(stale(a, b) for a, b in spans),
        window=lambda n: max(stale(a, b) for a, b in spans),
        reading=lambda n: n // q * q,
        seeing=lambda n: sum(max(0, b - checkpoint(a)) for a, b in spans),
        stale_text="q − 1 for stride q",
        window_text="q − 1",
        cost_text="n reads by the recurrence and at most n scored pairs: linear in n",
        weights=weights,
    )
