"""One claim in words: statement, source, derivation, evidence, and how to read it."""

from __future__ import annotations

from typing import Any

from ..symbolic.derivation import Derivation, Step
from .verify import MARK, Row


def explanation(row: Row) -> str:
    """The claim as text for a terminal.

    >>> from .verify import check_claim
    >>> print(explanation(check_claim("T1")).splitlines()[0])
    T1. The example that can be calculated — proved
    """
    claim = row.claim
    parts = [f"{claim.id}. {claim.title} — {row.standing}", "", claim.statement, f"Source: {claim.source}."]
    derivation = _derivation(row)
    if derivation is not None:
        parts += [
            "",
            "Derivation (each step is decided anew whenever it is checked)",
            str(derivation).split("\n", 1)[1],
        ]
    parts += ["", "Evidence"]
    parts += [f"  {MARK[e.ok]} {e.kind}: {e.detail}" + _took(e.seconds) for e in row.evidence]
    if claim.incomplete:
        parts.append(f"  incomplete: {claim.incomplete}")
    if claim.theorems:
        parts += ["", f"Rocq theorems (attnproof verify {claim.id} --kernel checks them): {', '.join(claim.theorems)}"]
    if claim.reading:
        parts += ["", "How to read it", f"  {claim.reading}"]
    return "\n".join(parts)


def explanation_dict(row: Row) -> dict[str, Any]:
    """The same as plain data: the row of `verify`, with title, source, derivation, theorems and reading."""
    claim, derivation = row.claim, _derivation(row)
    steps = [] if derivation is None else list(derivation)
    return {
        "schema_version": 1,
        **row.to_dict(),
        "title": claim.title,
        "latex": claim.latex,
        "source": claim.source,
        "derivation": [
            {"statement": s.statement, "reason": s.reason, "procedure": s.procedure, "latex": s.latex}
            if isinstance(s, Step)
            else {"statement": s.statement, "lemma": s.source, "theorem": s.theorem, "latex": s.latex}
            for s in steps
        ],
        "theorems": list(claim.theorems),
        "reading": claim.reading,
    }


def _derivation(row: Row) -> Derivation | None:
    return None if row.claim.derive is None else row.claim.derive()


def _took(seconds: float | None) -> str:
    return "" if seconds is None else f" ({seconds:.2f} s)"
