"""Writes docs/claims.md: what each claim says in words and LaTeX beside the Rocq statements that the kernel checks.

    python -m attnproof.proofs.claims_page [FILE]

The page lets a reader compare the two; nothing else can, since no program knows what the words mean.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .claim import Claim, registry
from .kernel import REAL_FILES, Development
from .rocq_source import Pin, pins, sections

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path("docs/claims.md")
HEAD = """<!-- Written by `python -m attnproof.proofs.claims_page`; a test fails when this page is not current. -->

# The claims, in words and in Rocq

Left: what the kit says. Right: the statement that Rocq's kernel checks, as `proofs/rocq/Claims.v` pins it. Read the two
against each other: that they say the same is the one thing that no program here can check. What else has to be believed
is in [trust.md](trust.md).

Reading guide for the right side: `'M[R]_(n, r)` is an n × r matrix over `R`, `'rV[R]_n` a row, `'cV[R]_n` a column,
`'I_n` the indices 0 … n − 1; `A i j` is an entry, `*m` the matrix product, `*:` a multiple, `^T` the transpose,
`const_mx a` has all entries `a`, `1%:M` is the identity; `n.+1` is n + 1, `x%:R` the number x in the ring, `x ^+ k` a
power, `x^-1` is 1/x (0 for x = 0), `expR` the real exponential. A `realType` is the real numbers, a `realFieldType` any
ordered field, a `fieldType` any field.
"""


def page() -> str:
    """The whole page, from the registry and the packaged Claims.v.

    >>> page().splitlines()[2]
    '# The claims, in words and in Rocq'
    """
    source = Development.packaged().sources["Claims.v"]
    parts: dict[str, list[str]] = {}
    for claim_id, text in sections(source):
        parts.setdefault(claim_id, []).append(_tidy(text))
    shared = "\n\n".join(piece for text in parts.pop("", []) if (piece := _definitions(text)))
    pinned = pins(source)[0]
    pieces = [HEAD]
    if shared:
        pieces.append(f"Definitions that several statements use:\n\n```coq\n{shared}\n```\n")
    for claim in registry().values():
        own = [pin for pin in pinned if pin.claim == claim.id]
        pieces.append(_entry(claim, "\n\n".join(parts.get(claim.id, [])), own))
    return "\n".join(pieces)


def _entry(claim: Claim, rocq: str, own: Sequence[Pin]) -> str:
    words = f"{claim.statement}\n\n$$\n{claim.latex}\n$$\n\nSource: {claim.source}."
    if not own:
        right = "No Rocq statement: [trust.md](trust.md) says why, and what settles the claim instead."
    else:
        real = any(pin.file in REAL_FILES for pin in own)
        used = "some use the three classical axioms" if real else "closed under the global context"
        right = f"{len(own)} theorems, {used}.\n\n```coq\n{rocq}\n```"
    return (
        f'## {claim.id}. {claim.title}\n\n<table>\n<tr><th>The kit</th><th>Rocq</th></tr>\n<tr valign="top">\n'
        f"<td>\n\n{words}\n\n</td>\n<td>\n\n{right}\n\n</td>\n</tr>\n</table>\n"
    )


def _tidy(text: str) -> str:
    """Without the headings that divide Claims.v, and without blank lines at either end."""
    text = re.sub(r"^\(\* =+ .*? =+ \*\)$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _definitions(preamble: str) -> str:
    """What stands before the first claim, without the introduction and the imports."""
    at = preamble.find("Local Open Scope")
    return preamble[preamble.index("\n", at) :].strip() if at >= 0 else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page to the file named, by default docs/claims.md below the current folder."""
    parser = argparse.ArgumentParser(
        prog="python -m attnproof.proofs.claims_page", description="Write the claims page."
    )
    parser.add_argument("file", nargs="?", type=Path, default=PAGE, help=f"where to write; by default {PAGE}")
    target: Path = parser.parse_args(arguments).file
    if not target.parent.is_dir():
        parser.error(f"the folder {str(target.parent)!r} does not exist; create it or name another file")
    target.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {target}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
