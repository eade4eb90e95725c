"""Writes docs/article.md: the article's statements, sentence by sentence, with what settles each.

python -m attnproof.proofs.article_page [FILE]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .article import ROWS, SENTENCES, SILENT, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path("docs/article.md")
HEAD = """<!-- Written by `python -m attnproof.proofs.article_page`; a test fails when this page is not current. -->

# The article, sentence by sentence

The kit started from the article "Low-rank attention and Linformer". Each row is one statement of it, with a few of its
words so that it can be found, and what settles it here: **proved** (the claims of [theory](theory.md) that say it, with
their derivations and theorems), **decided** (by exact computation, in `proofs/article.py`, which the tests run),
**measured** (the limit in theory, and an experiment beside it), or **read** (in another project's source, which nothing
here can prove). The article counts positions from 1.
"""


def page() -> str:
    """The whole page.

    >>> page().splitlines()[2]
    '# The article, sentence by sentence'
    """
    parts = [HEAD]
    for section, count in SENTENCES.items():
        rows = "\n".join(_line(row) for row in ROWS if row.section == section)
        silent = [f"{n} ({why})" for (where, n), why in SILENT.items() if where == section]
        left = f"\nOf its {count} sentences these state nothing: {', '.join(silent)}.\n" if silent else ""
        parts.append(
            f"## {section}\n\n| sentence | words | what it says | | where |\n|---|---|---|---|---|\n{rows}\n{left}"
        )
    return "\n".join(parts)


def _line(row: Row) -> str:
    seen = [_link(place) for place in row.seen]
    own = [f"`{row.check.__name__}`"] if row.check else []
    where = ", ".join([*row.claims, *own, *seen])
    return f"| {', '.join(map(str, row.sentences))} | “{row.words}” | {row.says} | **{row.kind}** | {where} |"


def _link(place: str) -> str:
    if place.startswith("docs/"):
        return f"[{Path(place).stem.replace('-', ' ')}]({place.removeprefix('docs/')})"
    if place.startswith("notebooks/"):
        return f"[notebook {Path(place).name[:2]}](../{place})"
    return place


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page to the file named, by default docs/article.md below the current folder."""
    parser = argparse.ArgumentParser(prog="python -m attnproof.proofs.article_page", description="Write the page.")
    parser.add_argument("file", nargs="?", type=Path, default=PAGE, help=f"where to write; by default {PAGE}")
    target: Path = parser.parse_args(arguments).file
    if not target.parent.is_dir():
        parser.error(f"the folder {str(target.parent)!r} does not exist; create it or name another file")
    target.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {target}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
