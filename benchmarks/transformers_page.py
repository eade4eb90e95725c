"""What the sweep over transformers found, as a page: how many of each verdict, what leaks or is open, then the rest."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

Row = dict[str, Any]
MEANING = {
    "PROVED": "`PROVED`",
    "PROVED_IF": "`PROVED_IF`: under a condition",
    "REFUTED": "`REFUTED`: by a replay",
    "UNDECIDED": "`UNDECIDED`",
    "ERROR": "not shrunk or run by the generic rule",
    "TIMEOUT": "stopped after a time",
}
DECIDED = ("PROVED", "PROVED_IF", "REFUTED")
NOT_RUN = ("ERROR", "TIMEOUT")
CONDITION = re.compile(
    r"in (?P<operation>\S+) at (?P<line>\S+:\d+)(?: \((?P<module>[^)]*)\))?(?P<more> and .*?places?)?, "
)


def short(text: str) -> str:
    """Without the folders of a path, and without what an operation's name begins with."""
    return re.sub(r"(?<![\w.])(?:/[^\s:()]+)+/(?=[^\s/]+\.py)", "", text).replace("aten.", "")


def place(operation: str, line: str, module: str, more: str = "") -> str:
    """An operation at a line of a module."""
    where = f" in `{module}`" if module else ""
    return f"`{short(operation)}` at `{short(line)}`{where}{more}"


def reason(row: Row) -> str:
    """In a sentence: why a class was not run or not decided, where a leak enters, or what a proof rests on."""
    if row.get("error"):
        return textwrap.shorten(short(row["error"]), 220, placeholder=" …")
    if row["verdict"] == "REFUTED" and row["blame"]:
        return place(row["blame"]["operation"], row["blame"]["line"], row["blame"]["module"])
    if row["conditions"]:
        return " at ".join(reversed(condition(row["conditions"][0])))
    return short(row["reasons"][0].partition(", and goes on through")[0]) if row["reasons"] else ""


def condition(text: str) -> tuple[str, str]:
    """Where a condition must hold, and what must."""
    found = CONDITION.match(text)
    if found is None:
        return "", short(text)
    parts = {name: part or "" for name, part in found.groupdict().items()}
    return place(**parts), text[found.end() :].partition("; ")[0]


def page(table: dict[str, Row], version: str, positions: int, wrong: Callable[[Row], bool]) -> str:
    """The whole page."""
    count = Counter(row["verdict"] for row in table.values())
    ran = len(table) - sum(count[v] for v in NOT_RUN)
    decided = sum(count[v] for v in DECIDED) / max(ran, 1)
    counts = [[meaning, f"{count[v]}"] for v, meaning in MEANING.items() if count[v]]
    found = {v: sorted((n, r) for n, r in table.items() if r["verdict"] == v) for v in MEANING}
    text = f"""# The causal language models of transformers {version}

Made by `python benchmarks/transformers_sweep.py` on {date.today():%-d %B %Y}. Each class is shrunk by one generic
rule and checked over {positions} positions. Brute force, which knows nothing of the checker, replaces later tokens and
looks whether an earlier logit moves, with the parameters as initialised and with noise on each.

{_table(["verdict", "classes"], [*counts, ["all", f"{len(table)}"]], right=[1])}
Of the {ran} classes that ran {decided:.1%} are decided. Brute force contradicts {sum(map(wrong, table.values()))} of
the verdicts. A proof is one of the shrunk configuration, in eager attention and in evaluation mode;
[guarantee](guarantee.md) says what it covers. Files are those of transformers and PyTorch. The seconds were taken on a
machine busy with other work.
"""
    rows = [[n, _seconds(r), reason(r)] for n, r in found["REFUTED"]]
    text += _section("Refuted", ["class", "seconds", "the later tokens enter by"], rows, [1])
    rows = [[n, _seconds(r), f"{r['forwards']}", _plain(reason(r))] for n, r in found["UNDECIDED"]]
    text += _section("Undecided", ["class", "seconds", "forwards", "because"], rows, [1, 2])
    rows = [[n, _plain(reason(r))] for v in NOT_RUN for n, r in found[v]]
    text += _section("Not run", ["class", "because"], rows)
    rows = [[n, _seconds(r)] for n, r in found["PROVED"]]
    text += _section("Proved", ["class", "seconds"], rows, [1])
    text += "\n## Proved under a condition\n" if found["PROVED_IF"] else ""
    for what, those in _by_condition(found["PROVED_IF"]):
        rows = [[n, _seconds(r), condition(r["conditions"][0])[0]] for n, r in those]
        text += f"\nIf {_plain(what)}:\n\n{_table(['class', 'seconds', 'at'], rows, [1])}"
    return text


def _by_condition(rows: list[tuple[str, Row]]) -> list[tuple[str, list[tuple[str, Row]]]]:
    """The classes that are proved under the same first condition, the most frequent first."""
    found: dict[str, list[tuple[str, Row]]] = {}
    for name, row in rows:
        more = len(row["conditions"]) - 1
        what = condition(row["conditions"][0])[1] + (
            "" if not more else f", and {more} condition{'s' * (more > 1)} more"
        )
        found.setdefault(what, []).append((name, row))
    return sorted(found.items(), key=lambda item: -len(item[1]))


def _plain(text: str) -> str:
    """Underlines and stars as they are, not as marks of Markdown."""
    return re.sub(r"[_*]", r"\\\g<0>", text)


def _seconds(row: Row) -> str:
    return f"{row['seconds']:.1f}"


def _section(title: str, heads: list[str], rows: list[list[str]], right: Iterable[int] = ()) -> str:
    return f"\n## {title}\n\n{_table(heads, rows, right)}" if rows else ""


def _table(heads: list[str], rows: list[list[str]], right: Iterable[int] = ()) -> str:
    rule = ["---:" if i in right else "---" for i in range(len(heads))]
    lines = [heads, rule, *([cell.replace("|", "/") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
