"""Asking Rocq what each pinned theorem rests on, in a way that the sources cannot answer for it.

`Claims.v` is compiled with `Definition pin := (theorem : statement)` in place of each check, and prints what these pins
assume. Only standard output is read, cut at marks that hold a number drawn anew for each run: every mark must stand
there exactly once and in order, and what stands between two must be an answer in full.
"""

from __future__ import annotations

import functools
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .development import CLASSICAL_AXIOMS, Development
from .rocq_build import LIBRARY, Toolchain, compile_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from .rocq_source import Pin

PINNED_FILE = "Pinned.v"  # Claims.v with a definition in place of each check; compiled instead of it
# Every name that could stand for one of the three axioms: Rocq prints the shortest that leads there.
AXIOM_NAMES = sorted(name.split(".", cut)[-1] for name in CLASSICAL_AXIOMS for cut in range(name.count(".") + 1))


@dataclass(frozen=True)
class Answer:
    """What Rocq said of one pin: the axioms by full name, or the error."""

    axioms: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Said:
    """What one run said: an answer per group, and per file the module names other than its own that it hides."""

    groups: tuple[Answer, ...]
    hidden: Mapping[str, tuple[str, ...]]


def ask(
    toolchain: Toolchain, folder: Path, chosen: Development, pins: Sequence[Pin], files: Sequence[str]
) -> tuple[dict[str, Answer], dict[str, tuple[str, ...]]]:
    """The answer for each pinned theorem, and for each file the modules of libraries that its name hides.

    A pin that Rocq refuses is noted and left out. The rest is asked about in two groups, since `Print Assumptions`
    takes seconds over the reals; a group that assumes more than it may is asked about one by one.
    """
    answers: dict[str, Answer] = {}
    hidden: dict[str, tuple[str, ...]] = {}
    left = list(pins)
    groups = [group for real in (True, False) if (group := [p for p in pins if (p.file in chosen.real_files) is real])]
    while groups:
        mark = secrets.token_hex(16)
        text = _instrumented(chosen.sources.get("Claims.v", ""), pins, left, groups, files, mark)
        (folder / PINNED_FILE).write_text(text, encoding="utf-8")
        result = compile_file(toolchain, folder, PINNED_FILE)
        if not result.ok:
            refused = _refused(result.errors, left)
            if refused is None:
                failed = Answer(error=f"Claims.v cannot be checked: {first_error(result.output)}")
                return answers | {pin.theorem: failed for pin in left}, hidden
            answers[refused.theorem] = Answer(
                error=f"does not prove the pinned statement: {first_error(result.output)}"
            )
            left.remove(refused)
            groups = [rest for group in groups if (rest := [pin for pin in group if pin is not refused])]
            continue
        said = read_answers(result.said, len(groups), files, mark)
        hidden |= said.hidden
        again = []
        for group, answer in zip(groups, said.groups, strict=True):
            if len(group) > 1 and (answer.error or not chosen.allowed(group[0]).issuperset(answer.axioms)):
                again += [[pin] for pin in group]
            else:
                answers |= {pin.theorem: answer for pin in group}
        groups = again
    return answers, hidden


def first_error(output: str) -> str:
    """The first error in what Rocq printed, in one line."""
    found = re.search(r"^Error:?\s*(.*?)(?:\n\s*\n|\Z)", output, re.MULTILINE | re.DOTALL)
    return " ".join((found[1] if found else output).split())[:300] or "no reason was printed"


# -- the question -----------------------------------------------------------------------------------------------------


def _instrumented(
    claims: str,
    pins: Sequence[Pin],
    left: Sequence[Pin],
    groups: Sequence[Sequence[Pin]],
    files: Sequence[str],
    mark: str,
) -> str:
    """Claims.v with definitions in place of the checks that are left, on the same lines, and without the others.

    At the end it prints the assumptions of each group; where the names of the classical axioms lead, since a module of
    the development could be called like MathComp's; and which modules the name of each file can mean.
    """
    pieces, at = [], 0
    for number, pin in enumerate(pins):
        sentence = claims[pin.start : pin.end]
        body = re.sub(r"\ACheck\b", f"Definition pin_{number} :=", sentence)
        pieces += [claims[at : pin.start], body if pin in left else "\n" * sentence.count("\n")]
        at = pin.end
    lines = ["".join(pieces) + claims[at:]]
    for number, group in enumerate(groups):
        together = functools.reduce(lambda rest, pin: f"(pair (@pin_{pins.index(pin)}) {rest})", group, "tt")
        lines += [f"Definition group_{number} := {together}."]
    for label, question in zip(labels(len(groups), files), _questions(len(groups), files), strict=True):
        lines += [f'Goal True. idtac "@@ {mark} {label}". Abort.', question]
    return "\n".join([*lines, ""])


def labels(groups: int, files: Sequence[str]) -> list[str]:
    """What the marks say, in order; the last one ends the answers."""
    return [
        *(f"group {i}" for i in range(groups)),
        *(f"axiom {a}" for a in AXIOM_NAMES),
        *(f"file {f}" for f in files),
        "end",
    ]


def _questions(groups: int, files: Sequence[str]) -> list[str]:
    """The command after each mark."""
    return [
        *(f"Print Assumptions group_{i}." for i in range(groups)),
        *(f"Locate Term {name}." for name in AXIOM_NAMES),
        *(f"Locate Module {file.removesuffix('.v')}." for file in files),
        "",
    ]


def _refused(errors: str, asked: Sequence[Pin]) -> Pin | None:
    """The pin at the line of the first error, if the error lies in one."""
    where = re.search(r"line (\d+), characters [\d-]+:\s*\nError", errors)
    line = int(where[1]) if where else 0
    return next((pin for pin in asked if pin.line <= line <= pin.last_line), None)


# -- the answer -------------------------------------------------------------------------------------------------------


def read_answers(said: str, groups: int, files: Sequence[str], mark: str) -> Said:
    """Cut standard output at the marks; anything unforeseen is an error, never a pass."""
    expected = labels(groups, files)
    pieces = re.split(rf"^@@ {mark} (.*)\n", said, flags=re.MULTILINE)
    if pieces[1::2] != expected or said.count(mark) != len(expected):
        return Said((Answer(error="the marks between Rocq's answers are not all there once"),) * groups, {})
    answer = dict(zip(expected, pieces[2::2], strict=True))
    leads = {name: re.match(r"Constant (\S+)$", answer[f"axiom {name}"], re.MULTILINE) for name in AXIOM_NAMES}
    full = {name: found[1] for name, found in leads.items() if found}
    hidden = {file: _hidden(file, answer[f"file {file}"]) for file in files}
    return Said(tuple(_assumed(answer[f"group {i}"].strip(), full) for i in range(groups)), hidden)


def _hidden(file: str, located: str) -> tuple[str, ...]:
    """The modules other than this file that its name can mean."""
    own = f"{LIBRARY}.{file.removesuffix('.v')}"
    return tuple(name for name in re.findall(r"^Module (?:Type )?(\S+)$", located, re.MULTILINE) if name != own)


def _assumed(answer: str, full: Mapping[str, str]) -> Answer:
    """What `Print Assumptions` answered; a name counts as a classical axiom only when Rocq says that it leads there."""
    if answer == "Closed under the global context":
        return Answer()
    lines = [line for line in answer.splitlines()[1:] if line.strip() and not line[0].isspace()]
    names = [re.fullmatch(r"([\w.']+)(?:\s*:.*)?", line) for line in lines]
    if not answer.startswith("Axioms:\n") or not lines or not all(names):
        return Answer(error=f"Print Assumptions said {' '.join(answer.split())[:200]!r}")
    return Answer(axioms=tuple(sorted(_in_full(m[1], full) for m in names if m)))


def _in_full(name: str, full: Mapping[str, str]) -> str:
    """The full name of an axiom; one that only looks like a classical axiom's is marked as none."""
    return full.get(name, f"{LIBRARY}?.{name}" if name in CLASSICAL_AXIOMS else name)
