"""`attnproof explain T11`: one claim, its derivation, what was found, and how to read it."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from . import Format, FormatOption, app
from .layout import hanging
from .verify import claim_named, exit_code


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
        print(hanging(explanation(row)))
    raise typer.Exit(exit_code([row], False, kernel=False, scale=False))
