"""`attnproof schema COMMAND`: the JSON Schema of what a command prints with `--format json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from . import app
from .usage import suggestion

Schema = Mapping[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
REAL: Schema = {"type": ["number", "string"]}  # what JSON lacks, nan and inf, is written as a string
ANY: Schema = {}
VERSION: Schema = {"const": 1}


def _maybe(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _record(optional: Mapping[str, Schema] | None = None, **fields: Schema) -> Schema:
    """An object with exactly these fields, and maybe the optional ones."""
    properties = {**fields, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(fields), "additionalProperties": False}


def _open(**fields: Schema) -> Schema:
    """An object with at least these fields."""
    return {"type": "object", "properties": fields, "required": list(fields)}


STATUS: Schema = {"enum": ["PROVED", "PROVED_IF", "REFUTED", "UNDECIDED"]}
EVIDENCE = _record(kind=TEXT, ok=_maybe(FLAG), detail=TEXT, seconds=_maybe(REAL))
WITNESS = _open(kind=TEXT)
COLUMN = _open(name=TEXT, status=STATUS, detail=TEXT, first_row=_maybe(WHOLE), values=_maybe(_list(ANY)))
VERDICT = _record(
    schema_version=VERSION,
    subject={"enum": ["projection", "family", "model", "pipeline"]},
    about=TEXT,
    status=STATUS,
    claims=_list(TEXT),
    evidence=_list(EVIDENCE),
    assumptions=_list(TEXT),
    conditions=_list(_record(text=TEXT, counterexample=_maybe(WITNESS))),
    witness=_maybe(WITNESS),
    reasons=_list(TEXT),
    leak_bound=_maybe(_record(values=REAL, keys=REAL)),
    starved=_list({"type": "array", "items": WHOLE, "minItems": 2, "maxItems": 2}),
    queries=_maybe(WHOLE),
    boundary=_maybe(_open(kind=TEXT, n=WHOLE, queries=WHOLE)),
    columns=_list(COLUMN),
    details={"type": "object"},
    suppressed=_maybe(TEXT),
    versions={"type": "object", "additionalProperties": TEXT},
    input_hash=TEXT,
)
CLAIM = {"id": TEXT, "statement": TEXT, "status": TEXT, "open_lemmas": WHOLE, "evidence": _list(EVIDENCE)}
DESIGN = dict.fromkeys(("name", "about", "claim", "staleness", "window", "cost", "source"), TEXT)
STEP = _open(statement=TEXT, latex=_maybe(TEXT))  # decided by a procedure, or leaning on a lemma
SCHEMAS: Mapping[str, Schema] = {
    **dict.fromkeys(("check", "model", "pipeline", "design show"), VERDICT),
    "design list": _record(
        schema_version=VERSION, designs=_list(_record(**DESIGN, status=STATUS, witness=_maybe(TEXT)))
    ),
    "pipelines": _record(schema_version=VERSION, pipelines=_list({"type": "object"})),
    "cost": _record(schema_version=VERSION, rows=_list(_open(n=WHOLE, r=WHOLE))),
    "error": _record(schema_version=VERSION, rows=_list({"type": "object"})),
    "retention": _open(schema_version=VERSION),
    "verify": _record(schema_version=VERSION, claims=_list(_open(**CLAIM))),
    "explain": _open(schema_version=VERSION, **CLAIM, title=TEXT, source=TEXT, derivation=_list(STEP), reading=TEXT),
    "doctor": _record(
        schema_version=VERSION,
        attnproof=TEXT,
        python=TEXT,
        core=_list(_open(package=TEXT, usable=FLAG)),
        extras=_list(_open(extra=TEXT, usable=FLAG)),
        devices=_list(_open(library=TEXT, usable=FLAG)),
        provers=_list(_open(prover=TEXT, usable=FLAG)),
    ),
}


def schema_of(command: str) -> dict[str, Any]:
    """The JSON Schema of a command's output; KeyError, in a sentence, for a command that prints none."""
    if command not in SCHEMAS:
        known = f"{suggestion(command, SCHEMAS)}those with a schema are {', '.join(SCHEMAS)}"
        raise KeyError(f"COMMAND {command!r} prints no JSON of its own; {known}")
    return {"$schema": DIALECT, "title": f"attnproof {command} --format json", **SCHEMAS[command]}


@app.command()
def schema(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="check, or: design list.", show_default=False)
    ],
) -> None:
    """Print the JSON Schema of what a command prints with --format json."""
    print(json.dumps(schema_of(" ".join(command)), indent=2, ensure_ascii=False))
