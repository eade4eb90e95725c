"""A verdict as one file that a reviewer opens: what was decided, on what evidence, the witness, how to replay it."""

# ruff: noqa: D102  # the members of a protocol
from __future__ import annotations

import html
import linecache
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from . import report
from .document import document, evidence, json_below, listing, safe, section, table
from .grid import grid
from .ownership import short_place

if TYPE_CHECKING:
    from collections.abc import Mapping


PICTURES = {"model": ".model.picture", "projection": ".projection.picture"}
JSON = re.compile(r"<pre id='verdict'>(.*?)</pre>", re.DOTALL)
HEADINGS = ("what differs", "with the first input", "with the second")
MOST_CHANGES = 12


class Shown(report.Told, Protocol):
    """What a page asks of a verdict (`attnproof.causal.verdict.Verdict` has it)."""

    def to_json(self, **keywords: Any) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def details(self) -> Mapping[str, Any]: ...
    @property
    def versions(self) -> Mapping[str, str]: ...
    @property
    def input_hash(self) -> str: ...


def page(verdict: Shown) -> str:
    """The whole page, as HTML; every name and value in it is escaped, and the JSON of the verdict lies inside."""
    status = verdict.status.name
    parts = [
        f"<h1 class='{status}'>{safe(verdict.headline())}</h1>\n",
        f"<p><b>{status}</b>: {safe(verdict.status.value)}.</p>\n",
        section("Accepted all the same", listing([verdict.suppressed] if verdict.suppressed else [])),
        section("Witness", _witness(verdict.witness)),
        section("Where it enters", _blame(verdict.details.get("blame"))),
        section("Provided that", listing(_conditions(verdict))),
        section("Columns", table(["column", "status", "what was seen"], _columns(verdict))),
        section("Who reads what", _picture(verdict)),
        section("Because" if status == "UNDECIDED" else "Remarks", listing(list(verdict.reasons))),
        section("Evidence", evidence(verdict.evidence, "found against it")),
        section("Assumed", listing(list(verdict.assumptions))),
        section("For the record", table([], _record(verdict))),
        section("How to replay", _replay(verdict.witness)),
        json_below("The verdict as JSON", "verdict", verdict.to_json(indent=1)),
    ]
    return document(verdict.headline(), "".join(parts))


def json_in(path: str | Path) -> str:
    """The JSON of the verdict that lies in a page. Raises ValueError for a file without one."""
    found = JSON.search(Path(path).read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"path = {str(path)!r} holds no verdict; name a page that a report wrote")
    return html.unescape(found[1])


def _witness(witness: Any) -> str:
    if witness is None:
        return ""
    changes = [list(change) for change in witness.changes()]
    more = (
        f"<p>Of the inputs the first {MOST_CHANGES} entries are shown; more differ.</p>\n"
        if len(changes) > MOST_CHANGES
        else ""
    )
    before, after = witness.outputs
    outputs = [] if before is None else [["output", _short(before), _short(after)]]
    return (
        f"<p>Two inputs that agree on all that may be read, and two outputs: {safe(witness.describe())}.</p>\n"
        f"{table(HEADINGS, [*changes[:MOST_CHANGES], *outputs])}{more}"
    )


def _short(value: Any) -> str:
    values = value.tolist() if hasattr(value, "tolist") else value
    text = ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in values) if isinstance(values, list) else ""
    text = text or (f"{values:.6g}" if isinstance(values, float) else str(values))
    return text if len(text) <= 200 else f"{text[:200]} …"


def _blame(blame: Any) -> str:
    """The chain of operations from where a forbidden input enters, each with the line of the program that it is."""
    if not blame:
        return ""
    rows = [
        [op["operation"], op["module"] or "–", short_place(op["line"]), _source(op["line"]), op["detail"]]
        for op in [blame["entry"], *(op for op in blame["path"] if op != blame["entry"])]
    ]
    return table(["operation", "module", "line", "source", "what happens"], rows)


def _source(line: str) -> str:
    file, _, number = line.rpartition(":")
    return linecache.getline(file, int(number)).strip() if number.isdecimal() else ""


def _conditions(verdict: Shown) -> list[str]:
    return [
        f"{c.text}{'' if c.counterexample is None else f' (broken by: {c.counterexample.describe()})'}"
        for c in verdict.conditions
    ]


def _columns(verdict: Shown) -> list[list[object]]:
    ordered = sorted(verdict.columns, key=lambda column: column.status.name != "REFUTED")
    return [[column.name, column.status.name, column.detail] for column in ordered]


def _record(verdict: Shown) -> list[list[object]]:
    """The short facts, which the sections above do not say."""
    told = {"leak bound", "starved queries", "boundary", "claims"}
    found: list[list[object]] = [[label, text] for label, text in report.rows(verdict) if label in told]
    versions: Mapping[str, str] = verdict.versions
    found += [["versions", ", ".join(f"{name} {version}" for name, version in versions.items())]] if versions else []
    return found + ([["hash of the input", verdict.input_hash]] if verdict.input_hash else [])


def pictures_of(subject: str) -> Any:
    """The module that draws verdicts on the subject; ValueError where none does."""
    if subject not in PICTURES:
        raise ValueError(f"subject = {subject!r} has no picture; print the verdict instead")
    return import_module(PICTURES[subject], __package__)


def _picture(verdict: Shown) -> str:
    """Drawn where the subject has a picture and the verdict keeps what it shows."""
    try:
        codes, rows, columns = pictures_of(verdict.subject).cells(verdict)
    except ValueError:
        return ""
    if not codes.size:
        return ""
    witness = verdict.witness
    traced = verdict.status.name != "UNDECIDED" and verdict.details.get("latest") is not None
    pair = None if witness is None else (witness.query, witness.position)
    return grid(codes, rows, columns, pair, known=verdict.subject != "model" or traced)


def _replay(witness: Any) -> str:
    if witness is None:
        return ""
    needs = witness.replays_with
    given = f", with {safe(needs)} as it was checked" if needs else ""
    command = f"from attnproof import Verdict\nprint(Verdict.from_report('FILE').witness.replay({needs}))"
    return f"<p>In Python{given}; it prints True where the witness is confirmed:</p>\n<pre>{safe(command)}</pre>\n"
