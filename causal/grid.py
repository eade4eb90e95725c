"""Who reads what, as an SVG without script: a row per query, whose stretches say what they are when pointed at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .document import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..aliases import Array

MOST = 96  # rows and columns that are drawn; longer sequences are thinned out
FILLS = ("#ffffff", "#d8dbe0", "#3b6ea8", "url(#hatch)")  # by code; the last is told without colour as well
KNOWN = (
    "allowed, cannot be read",
    "forbidden, cannot be read",
    "allowed, may be read",
    "forbidden, read or not excluded",
)
TRACED = (
    "allowed, no reading traced",
    "forbidden, no reading traced",
    "allowed, reading traced",
    "forbidden, reading traced",
)
HATCH = (
    "<defs><pattern id='hatch' width='4' height='4' patternUnits='userSpaceOnUse' patternTransform='rotate(45)'>"
    "<rect width='4' height='4' fill='#b31d28'/><rect width='1.2' height='4' fill='#ffffff'/></pattern></defs>"
)


def grid(codes: Array, rows: Array, columns: Array, witness: tuple[int, int] | None = None, known: bool = True) -> str:
    """An SVG of codes (rows, columns), whose queries and positions are named; a ring marks the witness.

    `known`: what is not marked as read cannot be read; otherwise it was not traced, and nothing is known of it.
    """
    words = KNOWN if known else TRACED
    query, position = witness or (None, None)
    down, across = thinned(rows, query), thinned(columns, position)
    codes, rows, columns = codes[np.ix_(down, across)], rows[down], columns[across]
    side = min(24.0, 600 / max(len(rows), len(columns), 1))
    width, height = side * len(columns), side * len(rows)
    parts = [_row(codes[i], int(rows[i]), columns, i * side, side, words) for i in range(len(rows))]
    if witness is not None:
        x, y = ((int(np.abs(of - at).argmin()) + 0.5) * side for of, at in ((columns, witness[1]), (rows, witness[0])))
        said = f"witness: query {witness[0]} reads position {witness[1]}"
        parts.append(
            f"<circle cx='{x:g}' cy='{y:g}' r='{max(6, side / 2.5):g}' fill='none' stroke='#000000' stroke-width='2'>"
            f"<title>{safe(said)}</title></circle>"
        )
    label = f"{len(rows)} queries by {len(columns)} positions: what each query reads"
    wide, high = max(width, 130) + 34, max(height, 90) + 26  # room for the names of the axes
    box = f"style='max-width:{wide:g}px' viewBox='-30 -22 {wide:g} {high:g}'"
    return (
        f"<svg role='img' aria-label='{label}' {box}>{HATCH}"
        f"<text x='0' y='-8' font-size='11'>position {columns[0]} to {columns[-1]} →</text>"
        f"<text x='-8' y='0' font-size='11' text-anchor='end' transform='rotate(-90 -8 0)'>"
        f"query {rows[0]} to {rows[-1]} ↓</text>"
        f"<rect width='{width:g}' height='{height:g}' fill='#ffffff' stroke='#57606a'/>{''.join(parts)}</svg>\n"
        f"<p>{_legend(codes, words)}{_left_out(rows, columns)}</p>\n"
    )


def thinned(names: Array, wanted: int | None = None) -> Array:
    """At most MOST places, evenly spread, and that of the name that is wanted.

    >>> len(thinned(np.arange(1000))), 501 in thinned(np.arange(1000), 501)
    (96, True)
    """
    spread = np.linspace(0, len(names) - 1, min(len(names), MOST)).round().astype(int)
    return np.unique(np.concatenate([spread, np.flatnonzero(names == wanted)]))


def _row(codes: Array, query: int, columns: Array, y: float, side: float, words: Sequence[str]) -> str:
    """The stretches of one query that are alike."""
    starts = np.r_[0, np.flatnonzero(codes[1:] != codes[:-1]) + 1]
    parts = []
    for a, b in zip(starts, [*starts[1:], len(codes)], strict=True):
        what, fill = words[int(codes[a])], FILLS[int(codes[a])]
        first, last = columns[a], columns[b - 1]
        place = f"position {first}" if first == last else f"positions {first}–{last}"
        if last - first >= b - a:
            place += ", as far as drawn"
        parts.append(
            f"<rect x='{a * side:g}' y='{y:g}' width='{(b - a) * side:g}' height='{side:g}' "
            f"fill='{fill}' stroke='#8c959f' stroke-width='.4'>"
            f"<title>query {query}, {place}: {what}</title></rect>"
        )
    return "".join(parts)


def _left_out(rows: Array, columns: Array) -> str:
    whole = all(len(names) == names[-1] - names[0] + 1 for names in (rows, columns))
    return "" if whole else f" &nbsp; {len(rows)} queries and {len(columns)} positions are drawn, and others left out."


def _legend(codes: Array, words: Sequence[str]) -> str:
    return " &nbsp; ".join(
        "<svg style='display:inline;width:1em;height:1em' viewBox='0 0 12 12' aria-hidden='true'>"
        f"<rect width='12' height='12' fill='{FILLS[code]}' stroke='#57606a'/></svg> {safe(words[code])}"
        for code in np.unique(codes).tolist()
    )
