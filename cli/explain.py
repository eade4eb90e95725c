"""`attnproof explain T11`: one claim, its derivation, what was found, and how to read it."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from typing import Annotated

import typer

from . import OPEN, PROVED, REFUTED, Format, FormatOption, app
from .verify import claim_named


def hanging(text: str, width: int) -> str:
    """The text wrapped to a width, continuation lines indented like the words of the line that they continue."""
    lines = []
    for line in text.splitlines():
        mark = re.match(r"\s*(\d+\. |[✓✗–] )?", line)
        indent = " " * len(mark[0] if mark else "")
        lines.append(textwrap.fill(line, max(40, width), subsequent_indent=indent, break_long_words=False))
    return "\n".join(lines)


@app.command()
def explain(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="An id such as T11.")],
    output: FormatOption = Format.text,
) -> None:
    """Print a claim's statement, source, derivation, evidence and how to read it."""
    from ..proofs.explain import explanation, explanation_dict
    from ..proofs.verify import check_claim

    row = check_claim(claim_named(claim))
    if output is Format.json:
        print(json.dumps(explanation_dict(row), indent=2, ensure_ascii=False))
    else:
        print(hanging(explanation(row), shutil.get_terminal_size((120, 24)).columns))
    raise typer.Exit({"proved": PROVED, "failed": REFUTED}.get(row.status, OPEN))
