"""Ready designs: safe for every n, each proved by `Design.check`; and published unsafe ones, each refuted by it.

Rules are written once and run on integers, arrays and symbols alike. p is a block length, w = p − 1 + extra a local
window, q a stride, m the number of decay rates, `start` the first position of a position's document.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .design import Design
from .family import DOCUMENTS, Family, averages
from .presburger import choose


def _least(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} = {value!r} does not fit; pass a whole number of at least {least}")
    return int(value)


def _staircase(steps: int, length: int) -> int:
    """1 + … over `steps` terms, each value repeated `length` times: Σ_{u<steps} (⌊u/length⌋ + 1)."""
    if steps <= 0:
        return 0
    whole, rest = divmod(steps, length)
    return length * whole * (whole + 1) // 2 + rest * (whole + 1)


def _windows(n: int, w: int) -> int:
    """Σ_{t<n} min(t + 1, w)."""
    return n * (n + 1) // 2 if n <= w else w * n - w * (w - 1) // 2


# -- completed blocks ---------------------------------------------------------------------------------------------


def completed_blocks(p: int) -> Design:
    """Slot s averages block s of p positions; a query sees it once its last position has come.

    >>> completed_blocks(2).matrices(4).visible.astype(int).tolist()
    [[0, 0], [1, 0], [1, 0], [1, 1]]
    """
    p = _least("p", p, 1)
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
        seeing=lambda n: _staircase(n - p + 1, p),
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
    p = _least("p", p, 1)
    w = _least("w", p - 1 if w is None else w, p - 1)

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
        seeing=lambda n: _staircase(n - w, p) + _windows(n, w),
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
    p, q = _least("p", p, 1), _least("stride", stride, 1)

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
        seeing=lambda n: _staircase(n - p + 1, q),
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
    q, m = _least("stride", stride, 1), _least("number of rates", len(rates), 1)
    for rate in rates:
        if not 0 < rate <= 1:
            raise ValueError(f"rates has {rate!r}; pass rates above 0 and at most 1")

    def weights(support: np.ndarray) -> np.ndarray:
        age = support.sum(axis=1, keepdims=True) - 1 - np.arange(support.shape[1])
        rate = np.array([rates[s % m] for s in range(len(support))], np.float64)[:, None]
        faded = np.where(support, rate ** np.maximum(age, 0), 0.0)
        return faded / np.maximum(faded.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)

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
    return [_least("lengths", length, 1) for length in lengths]


def packed_blocks(p: int, lengths: Sequence[int]) -> Design:
    """Completed blocks inside packed documents: blocks start anew with each document, ⌊n/p⌋ slots in all.

    Document d that starts at a has the slots from ⌊a/p⌋ on; these never collide. Proved for every way to cut n
    positions into documents.

    >>> packed_blocks(2, [3, 4]).matrices(7).support.astype(int).tolist()
    [[1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1, 1]]
    """
    p, sizes = _least("p", p, 1), _lengths(lengths)

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
        seeing=lambda n: sum(_staircase(size - p + 1, p) for size in sizes),
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
    p, sizes = _least("p", p, 1), _lengths(lengths)
    w = _least("w", p - 1 if w is None else w, p - 1)

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
        seeing=lambda n: sum(_staircase(size - w, p) + _windows(size, w) for size in sizes),
        stale_text="0",
        window_text="built in: w ≥ p − 1",
        cost_text="blocks with window's cost, summed over the documents",
    )


def packed_decaying(lengths: Sequence[int], rate: float = 0.9, stride: int = 1) -> Design:
    """A decaying sum that starts anew with each document, kept at every `stride`-th position.

    >>> packed_decaying([2, 2], rate=0.5).matrices(4).support.astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]]
    """
    q, sizes = _least("stride", stride, 1), _lengths(lengths)
    if not 0 < rate <= 1:
        raise ValueError(f"rate = {rate!r} does not fit; pass a rate above 0 and at most 1")
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


# -- published designs that look ahead ----------------------------------------------------------------------------


def incomplete_blocks(p: int) -> Design:
    """UNSAFE: a block is seen from its first position on, while later ones are still to come."""
    p = _least("p", p, 1)
    return _unsafe(
        "incomplete-blocks",
        f"blocks of {p}, seen from their first position on",
        Family(
            reads=lambda s, j, n, p: j // p == s,
            sees=lambda t, s, n, p: s * p <= t,
            slots=lambda n, p: (n + p - 1) // p,
            covers=None,
            due=None,
            boundary=None,
            parameters={"p": 1},
        ),
        {"p": p},
        "block-wise causal masks over compressed keys",
        reading=lambda n: n,
        seeing=lambda n: _staircase(n, p),
    )


def triangular_scores(k: int) -> Design:
    """UNSAFE: dense slots with a lower-triangular mask on the (n, k) scores: slots are not positions."""
    k = _least("k", k, 1)
    return _unsafe(
        "triangular-scores",
        f"{k} dense slots under a triangular mask on the scores",
        Family(
            reads=lambda s, j, n, k: j >= 0,
            sees=lambda t, s, n, k: s <= t,
            slots=lambda n, k: k,
            covers=None,
            due=None,
            boundary=None,
            parameters={"k": 1},
        ),
        {"k": k},
        "causal options of public Linformer implementations",
        reading=lambda n: n * k,
        seeing=lambda n: _windows(n, k),
    )


def segment_means(p: int) -> Design:
    """UNSAFE: landmarks that average segments of p positions, all visible to every query."""
    p = _least("p", p, 1)
    return _unsafe(
        "segment-means",
        f"means of segments of {p}, visible to all",
        Family(
            reads=lambda s, j, n, p: j // p == s,
            sees=lambda t, s, n, p: s >= 0,
            slots=lambda n, p: (n + p - 1) // p,
            covers=None,
            due=None,
            boundary=None,
            parameters={"p": 1},
        ),
        {"p": p},
        "Nyströmformer (Xiong et al., 2021), used causally",
        reading=lambda n: n,
        seeing=lambda n: n * -(-n // p),
    )


def dense(k: int) -> Design:
    """UNSAFE: Linformer's own design, k dense slots that every query sees; made for complete texts."""
    k = _least("k", k, 1)
    return _unsafe(
        "dense",
        f"{k} dense slots, visible to all",
        Family(
            reads=lambda s, j, n, k: j >= 0,
            sees=lambda t, s, n, k: s >= 0,
            slots=lambda n, k: k,
            covers=None,
            due=None,
            boundary=None,
            parameters={"k": 1},
        ),
        {"k": k},
        "Linformer (Wang et al., 2020), used causally",
        reading=lambda n: n * k,
        seeing=lambda n: n * k,
    )


def _unsafe(
    name: str,
    about: str,
    family: Family,
    values: dict[str, Any],
    source: str,
    reading: Callable[[int], int],
    seeing: Callable[[int], int],
) -> Design:
    return Design(
        name,
        about,
        family,
        values,
        staleness=lambda n: 0,
        window=lambda n: 0,
        reading=reading,
        seeing=seeing,
        stale_text="0, because it looks ahead",
        window_text="no window repairs it",
        cost_text="not worth comparing: it looks ahead",
        safe=False,
        source=source,
    )


BUILD: dict[str, Callable[..., Design]] = {
    "completed-blocks": completed_blocks,
    "blocks-with-window": blocks_with_window,
    "strided-blocks": strided_blocks,
    "dyadic": dyadic,
    "decaying": decaying,
    "packed-blocks": packed_blocks,
    "packed-blocks-with-window": packed_blocks_with_window,
    "packed-decaying": packed_decaying,
    "incomplete-blocks": incomplete_blocks,
    "triangular-scores": triangular_scores,
    "segment-means": segment_means,
    "dense": dense,
}
"""The constructor of each design, by name."""


def build(name: str, n: int, **given: Any) -> Design:
    """The named design with the arguments given (None: left out) and plain defaults for the rest, for use at size n.

    Raises ValueError for an unknown name, which suggests the nearest, and for an argument that the design lacks.

    >>> build("strided-blocks", 12, stride=2).about
    'blocks of 4 every 2 positions, seen once complete'
    """
    if name not in BUILD:
        near = difflib.get_close_matches(name, BUILD, n=1)
        meant = f"did you mean {near[0]}? The designs are" if near else "the designs are"
        raise ValueError(f"design {name!r} is unknown; {meant} {', '.join(BUILD)}")
    given = {key: value for key, value in given.items() if value is not None}
    wanted = inspect.signature(BUILD[name]).parameters
    for key in given:
        if key not in wanted:
            raise ValueError(f"design {name} takes no {key}; it takes {', '.join(wanted) or 'no argument'}")
    thirds = [n - 2 * (n // 3), n // 3, n // 3] if n >= 3 else [n]
    defaults: dict[str, Any] = {"p": 4, "k": 4, "stride": 4, "lengths": thirds}
    needed = {k: defaults[k] for k in wanted if k in defaults and wanted[k].default is inspect.Parameter.empty}
    return BUILD[name](**{**needed, **given})
