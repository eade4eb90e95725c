"""`attnproof explain T11`: one claim, its derivation, what was found, and how to read it."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from . import OPEN, PROVED, REFUTED, Format, app


@app.command()
def explain(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="An id such as T11.")],
    output: Annotated[Format, typer.Option("--format")] = Format.text,
) -> None:
    """Print a claim's statement, source, derivation, evidence and how to read it."""
    from ..proofs.claim import claim_by_id
    from ..proofs.explain import explanation, explanation_dict
    from ..proofs.verify import check_claim

    row = check_claim(claim_by_id(claim))
    if output is Format.json:
        print(json.dumps(explanation_dict(row), indent=2, ensure_ascii=False))
    else:
        from rich.console import Console

        Console(width=None if sys.stdout.isatty() else 120).print(explanation(row), markup=False, highlight=False)
    raise typer.Exit({"proved": PROVED, "failed": REFUTED}.get(row.status, OPEN))
