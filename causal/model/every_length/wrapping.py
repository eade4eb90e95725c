"""Whether whole numbers wrap around: an interval for each term, while places and lengths are not too large.

A machine's whole numbers start again below 0 where they are too large; terms do not. So a term stands for the number
only while it is seen to fit its format.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from .integers import index, parts, solver  # noqa: F401  (index: in the example)

if TYPE_CHECKING:
    from .integers import Parts, Term

Span: TypeAlias = tuple[int, int]
MOST_POSITIONS = 2**20  # up to here, whole numbers are seen not to wrap around


def fits(term: Term, bits: int) -> bool:
    """Whether a whole number is one of so many bits, with a sign, at all places up to `MOST_POSITIONS`."""
    span = span_of(term)
    return span is not None and -(2 ** (bits - 1)) <= span[0] and span[1] < 2 ** (bits - 1)


_BOUNDS: dict[int, Span | None] = {}  # of terms that `parts` keeps alive


def span_of(term: Term) -> Span | None:
    """Between which numbers a whole number lies while places and lengths are at most `MOST_POSITIONS`; None: unknown.

    >>> span_of(3 * index(0) - 1) == (-1, 3 * MOST_POSITIONS - 1)
    True
    """
    known = parts(term)
    key = term.get_id()
    if key not in _BOUNDS:
        _BOUNDS[key] = _spanned(known)
    return _BOUNDS[key]


def _spanned(term: Parts) -> Span | None:
    if term.number is not None:
        return term.number, term.number
    if term.kind == solver.Z3_OP_UNINTERPRETED:
        return 0, MOST_POSITIONS
    spans = [span_of(c) for c in term.children if solver.is_int(c)]
    known = [s for s in spans if s is not None]
    if len(known) < len(spans) or term.kind not in SPANS:
        return None
    ends = SPANS[term.kind](known)
    return min(ends), max(ends)


def _products(spans: Sequence[Span]) -> list[int]:
    found = [1]
    for low, high in spans:
        found = [a * b for a in (min(found), max(found)) for b in (low, high)]
    return found


def _quotients(spans: Sequence[Span]) -> list[int]:
    (low, high), (least, most) = spans
    widest = max(abs(low), abs(high))
    return [low // least, high // least] if least == most > 0 else [-widest, widest]


SPANS: dict[int, Any] = {
    solver.Z3_OP_ADD: lambda spans: [sum(low for low, _ in spans), sum(high for _, high in spans)],
    solver.Z3_OP_SUB: lambda spans: [
        spans[0][0] - sum(high for _, high in spans[1:]), spans[0][1] - sum(low for low, _ in spans[1:])
    ],
    solver.Z3_OP_UMINUS: lambda spans: [-end for end in spans[0]],
    solver.Z3_OP_MUL: _products,
    solver.Z3_OP_IDIV: _quotients,
    solver.Z3_OP_MOD: lambda spans: [0, max(map(abs, spans[1]))],
    solver.Z3_OP_ITE: lambda spans: [end for span in spans for end in span],
}  # fmt: skip
