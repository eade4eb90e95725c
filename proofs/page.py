"""The rows of `attnproof verify` as one file that a reviewer opens."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..causal.document import document, evidence, json_below, listing, safe, section, table
from ..version import __version__
from .verify import as_json, remarks

if TYPE_CHECKING:
    from .verify import Row


def page(rows: Sequence[Row]) -> str:
    """The whole page, as HTML, with the same JSON inside that `--format json` prints."""
    counts = {row.status: sum(other.status == row.status for other in rows) for row in rows}
    standing = ", ".join(f"{count} {status}" for status, count in counts.items())
    title = f"{len(rows)} claim{'s' * (len(rows) != 1)}: {standing}"
    summary = [[row.claim.id, row.standing, row.claim.statement, f"{row.seconds:.2f}"] for row in rows]
    parts = [
        f"<h1>{safe(title)}</h1>\n",
        section("Claims", table(["claim", "status", "statement", "seconds"], summary)),
        *(section(f"{row.claim.id}: evidence", evidence(row.evidence, "fails")) for row in rows),
        section("Remarks", listing(remarks(rows))),
        section("For the record", table([], [["attnproof", __version__], ["Python", platform.python_version()]])),
        json_below("The rows as JSON", "rows", json.dumps(as_json(rows), indent=1)),
    ]
    return document(title, "".join(parts))
