"""Published designs that look ahead, each refuted by `Design.check`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .blocks import at_least, staircase, windows
from .design import Design
from .family import Family

# -- published designs that look ahead ----------------------------------------------------------------------------


def incomplete_blocks(p: int) -> Design:
    """UNSAFE: a block is seen from its first position on, while later ones are still to come."""
    p = at_least("p", p, 1)
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
        seeing=lambda n: staircase(n, p),
    )


def triangular_scores(k: int) -> Design:
    """UNSAFE: dense slots with a lower-triangular mask on the (n, k) scores: slots are not positions."""
    k = at_least("k", k, 1)
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
        seeing=lambda n: windows(n, k),
    )


def segment_means(p: int) -> Design:
    """UNSAFE: landmarks that average segments of p positions, all visible to every query."""
    p = at_least("p", p, 1)
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
    k = at_least("k", k, 1)
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
