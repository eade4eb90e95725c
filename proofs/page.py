"""The rows of `attnproof verify` as one file that a reviewer opens."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ..causal.document import document, listing, safe, section, table
from ..version import __version__
from .verify import as_json, remarks

if TYPE_CHECKING:
    from .verify import Row

MARK = {True: "✓ holds", False: "✗ fails", None: "– not run"}


def page(rows: Sequence[Row]) -> str:
    """The whole page, as HTML, with the same JSON inside that `--format json` prints."""
    counts = {row.status: sum(other.status == row.status for other in rows) for row in rows}
    standing = ", ".join(f"{count} {status}" for status, count in counts.items())
    title = f"{len(rows)} claim{'s' * (len(rows) != 1)}: {standing}"
    summary = [[row.claim.id, row.standing, row.claim.statement, f"{row.seconds:.2f}"] for row in rows]
    parts = [
        f"<h1>{safe(title)}</h1>\n",
        section("Claims", table(["claim", "status", "statement", "seconds"], summary)),
        *(section(f"{row.claim.id}: evidence", _evidence(row)) for row in rows),
        section("Remarks", listing(remarks(rows))),
        section("For the record", table([], [["attnproof", __version__], ["Python", platform.python_version()]])),
        "<details><summary>The rows as JSON</summary>"
        f"<pre id='rows'>{escape(json.dumps(as_json(rows), indent=1))}</pre></details>\n",
    ]
    return document(title, "".join(parts))


def _evidence(row: Row) -> str:
    told: list[list[object]] = [
        [e.kind, MARK[e.ok], e.detail, "" if e.seconds is None else f"{e.seconds:.2g}"] for e in row.evidence
    ]
    return table(["kind", "result", "what was done", "seconds"], told)
