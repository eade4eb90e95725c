"""A verdict in words: plain text, a paragraph, a panel for a terminal, and a card for a notebook."""

# ruff: noqa: D102  # the members of a protocol
from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from html import escape
from typing import Any, Protocol

from .spans import shown as spans

COLOUR = {"PROVED": "green", "PROVED_IF": "yellow", "REFUTED": "red", "UNDECIDED": "magenta"}
MARK = {True: "✓", False: "✗", None: "–"}


class Told(Protocol):
    """What a report asks of a verdict (`attnproof.causal.verdict.Verdict` has it)."""

    def headline(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def status(self) -> Enum: ...
    @property
    def suppressed(self) -> str | None: ...
    @property
    def witness(self) -> Any: ...
    @property
    def conditions(self) -> Sequence[Any]: ...
    @property
    def reasons(self) -> Sequence[str]: ...
    @property
    def columns(self) -> Sequence[Any]: ...
    @property
    def leak_bound(self) -> Any: ...
    @property
    def starved(self) -> Sequence[int]: ...
    @property
    def boundary(self) -> Any: ...
    @property
    def claims(self) -> Sequence[str]: ...
    @property
    def evidence(self) -> Sequence[Any]: ...
    @property
    def assumptions(self) -> Sequence[str]: ...


def rows(verdict: Told) -> list[tuple[str, str]]:
    """Label and text of every part that the verdict has, in the order in which a person wants them."""
    found: list[tuple[str, str]] = []
    if verdict.suppressed:
        found.append(("accepted all the same", verdict.suppressed))
    if verdict.witness is not None:
        found.append(("witness", verdict.witness.describe()))
    for condition in verdict.conditions:
        found.append(("provided that", condition.text))
        if condition.counterexample is not None:
            found.append(("broken by", condition.counterexample.describe()))
    found += [("because" if verdict.status.name == "UNDECIDED" else "note", reason) for reason in verdict.reasons]
    for column in sorted(verdict.columns, key=lambda column: column.status.name != "REFUTED"):
        found.append((column.name, f"{column.status.name}: {column.detail}"))
    if verdict.leak_bound is not None:
        bound = verdict.leak_bound
        found.append(
            (
                "leak bound",
                f"{bound.values:.6g} per unit of value, {bound.keys:.6g} per unit of score and of |V|, "
                "all forbidden inputs moved at once",
            )
        )
    if len(verdict.starved):
        found.append(("starved queries", spans(verdict.starved)))
    if verdict.boundary is not None:
        found.append(("boundary", verdict.boundary.describe()))
    if verdict.claims:
        found.append(("claims", ", ".join(verdict.claims)))
    for e in verdict.evidence:
        seconds = "" if e.seconds is None else f" ({e.seconds:.2g} s)"
        found.append((f"{MARK[e.ok]} {e.kind}", e.detail + seconds))
    found += [("assuming", assumption) for assumption in verdict.assumptions]
    return found


def text(verdict: Told) -> str:
    """Plain text: the headline, then one line per part."""
    parts = rows(verdict)
    width = max((len(label) for label, _ in parts), default=0)
    return "\n".join([verdict.headline(), *(f"  {label:<{width}}  {body}" for label, body in parts)])


def paragraph(verdict: Told) -> str:
    """One paragraph of prose."""
    sentences = [f"{verdict.about[:1].upper()}{verdict.about[1:]}: {verdict.status.value}."]
    if verdict.boundary is not None:
        sentences.append(f"The boundary is the {verdict.boundary.describe()}.")
    if verdict.witness is not None:
        sentences.append(f"Here {verdict.witness.describe()}; witness.replay() recomputes it.")
    for condition in verdict.conditions:
        sentences.append(f"It holds provided that {condition.text}.")
        if condition.counterexample is not None:
            sentences.append(f"That can be broken: {condition.counterexample.describe()}.")
    sentences += [f"{reason[:1].upper()}{reason[1:]}." for reason in verdict.reasons]
    for column in verdict.columns:
        sentences.append(f"Column {column.name}: {column.detail}.")
    if verdict.leak_bound is not None:
        b = verdict.leak_bound
        sentences.append(
            f"All forbidden positions together move an output by at most {b.values:.6g} per unit of their values, plus "
            f"at most {b.keys:.6g} per unit of their scores and of |V|."
        )
    if len(verdict.starved):
        sentences.append(f"Queries that see nothing: {spans(verdict.starved)}.")
    done = [f"{e.kind} ({e.detail})" for e in verdict.evidence if e.ok]
    if done:
        sentences.append(f"Evidence: {'; '.join(done)}.")
    if verdict.claims:
        sentences.append(f"Theorems used: {', '.join(verdict.claims)}.")
    if verdict.assumptions:
        sentences.append(f"Assumed: {'; '.join(verdict.assumptions)}.")
    if verdict.suppressed:
        sentences.append(f"Accepted all the same: {verdict.suppressed}.")
    return " ".join(sentences)


def rich_panel(verdict: Told) -> Any:
    """A rich panel for a terminal."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", style="dim", overflow="fold", max_width=24)
    grid.add_column(overflow="fold")
    for label, body in rows(verdict):
        grid.add_row(Text(label), Text(body))
    colour = COLOUR[verdict.status.name]
    headline = Text(verdict.headline(), style=f"bold {colour}")  # not as the panel's title, which is cut, not wrapped
    return Panel(Group(headline, grid), border_style=colour)


def html(verdict: Told) -> str:
    """A card for a notebook; every text is escaped."""
    inks = {"green": "#1a7f37", "yellow": "#9a6700", "red": "#cf222e", "magenta": "#8250df"}
    colour = inks[COLOUR[verdict.status.name]]
    body = "".join(
        f"<tr><td style='text-align:right;color:#656d76;white-space:nowrap;vertical-align:top'>{escape(label)}</td>"
        f"<td style='text-align:left'>{escape(part)}</td></tr>"
        for label, part in rows(verdict)
    )
    return (
        f"<div style='border-left:4px solid {colour};padding-left:0.8em'>"
        f"<b style='color:{colour}'>{escape(verdict.headline())}</b><table>{body}</table></div>"
    )
