"""A page of HTML that stands by itself: no script, no network, readable in print and without colour."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2328; max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.3rem; border-left: .4rem solid currentColor; padding-left: .7rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; border-bottom: 1px solid #8c959f; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid #d0d7de;
  overflow-wrap: anywhere; }
th { font-weight: 600; overflow-wrap: normal; }
td:first-child, th:first-child, td:nth-child(2), th:nth-child(2) { min-width: 6.5rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f8fa; border: 1px solid #d0d7de; padding: .6rem; }
code { overflow-wrap: anywhere; }
svg { width: 100%; max-width: 40rem; height: auto; display: block; }
ul { padding-left: 1.2rem; } li { overflow-wrap: anywhere; }
.PROVED { color: #1a7f37; } .PROVED_IF { color: #7d4e00; } .REFUTED { color: #b31d28; } .UNDECIDED { color: #6639ba; }
@media (max-width: 40rem) {
  table, tbody, tr, td { display: block; } thead { display: none; } tr { border-bottom: 1px solid #8c959f; }
  td { border: 0; } td:first-child { font-weight: 600; } td:empty { display: none; }
  td[data-of]:not(:first-child)::before { content: attr(data-of) ": "; color: #57606a; }
}
@media print { body { font-size: 10pt; max-width: none; padding: 0; } details { display: none; }
  h2 { break-after: avoid; } tr, svg, pre { break-inside: avoid; } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def document(title: str, body: str) -> str:
    """A whole page; `body` is HTML."""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{safe(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def safe(text: object) -> str:
    """Text in HTML: markup as it is written, and what cannot be seen or turns the line round as an escape.

    >>> safe("<b>&\\u202e")
    '&lt;b&gt;&amp;\\\\u202e'
    """
    return escape("".join(map(_seen, str(text))), quote=True)


def _seen(character: str) -> str:
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co") and character not in "\n\t"
    return character.encode("unicode_escape").decode() if hidden else character


def section(title: str, body: str) -> str:
    """A part with its heading; nothing where there is no body."""
    return f"<section><h2>{safe(title)}</h2>\n{body}</section>\n" if body else ""


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of text, without the columns that are empty; nothing without rows. No headings: none are written."""
    wanted = [i for i in range(len(rows[0])) if any(str(row[i]) for row in rows)] if rows else []
    if not wanted:
        return ""
    head = "".join(f"<th scope='col'>{safe(headings[i])}</th>" for i in wanted) if headings else ""
    names = [f" data-of='{safe(headings[i])}'" if headings else "" for i in wanted]
    body = "".join(
        "<tr>" + "".join(f"<td{name}>{safe(row[i])}</td>" for i, name in zip(wanted, names, strict=True)) + "</tr>\n"
        for row in rows
    )
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>\n{body}</tbody></table>\n"


def listing(texts: list[str]) -> str:
    """A list of sentences; nothing without any."""
    return "<ul>" + "".join(f"<li>{safe(text)}</li>" for text in texts) + "</ul>\n" if texts else ""


def evidence(found: Sequence[Any], against: str) -> str:
    """A table of pieces of evidence; `against` says what one says that found something."""
    marks = {True: "✓ holds", False: f"✗ {against}", None: "– not run"}
    rows = [[e.kind, marks[e.ok], e.detail, "" if e.seconds is None else f"{e.seconds:.2g}"] for e in found]
    return table(["kind", "result", "what was done", "seconds"], rows)


def json_below(title: str, name: str, text: str) -> str:
    """JSON in a part that is closed at first, found again by its name."""
    return f"<details><summary>{title}</summary><pre id='{name}'>{escape(text)}</pre></details>\n"


def write(page: str, path: str | Path) -> None:
    """Write a page as a file, whole or not at all. Raises ValueError for an ending that is no page's."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"report = {str(path)!r} has no ending of a page; use .html")
    path.write_bytes(page.encode("utf-8"))
