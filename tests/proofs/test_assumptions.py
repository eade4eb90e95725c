"""Rocq's answers are read whole and between marks, or not believed."""

from __future__ import annotations

import pytest
from attnproof.proofs.assumptions import AXIOM_NAMES, Answer, Said, labels, read_answers
from attnproof.proofs.development import CLASSICAL_AXIOMS

MARK = "0123abcd"
CLOSED = "Closed under the global context\n"
FULL = {name.split(".", cut)[-1]: name for name in CLASSICAL_AXIOMS for cut in range(name.count(".") + 1)}
CHOICE = "mathcomp.classical.boolp.constructive_indefinite_description"


def said(group: str, *, leads: dict[str, str] = FULL, located: str = "Module AttnProof.x\n") -> str:
    """What Rocq prints for one group and one file x.v, where the names of axioms lead as given."""
    pieces = []
    for label in labels(1, ["x.v"]):
        kind, _, name = label.partition(" ")
        at = f"Constant {leads[name]}\n" if name in leads else f"No object of basename {name}\n"
        text = {"group": group, "file": located, "end": ""}.get(kind, at)
        pieces.append(f"@@ {MARK} {label}\n{text}")
    return "".join(pieces)


def read(text: str) -> Said:
    return read_answers(text, 1, ["x.v"], MARK)


def test_an_answer_is_read_whole() -> None:
    assert read(said(CLOSED)).groups == (Answer(),)
    assert read(said("Axioms:\nboolp.constructive_indefinite_description\n  : forall A\n")).groups[0].axioms == (
        CHOICE,
    )
    assert (read(said(CLOSED + "and more\n")).groups[0].error or "").startswith("Print Assumptions said")
    assert read(said("")).groups[0].error == "Print Assumptions said ''"


@pytest.mark.parametrize("change", ["twice", "missing", "order", "inside a line", "after the end"])
def test_every_mark_stands_once_and_in_order(change: str) -> None:
    text, first, last = said(CLOSED), f"@@ {MARK} group 0\n", f"@@ {MARK} end\n"
    changed = {
        "twice": first + CLOSED + text,
        "missing": text.replace(last, ""),
        "order": last + text.removesuffix(last),
        "inside a line": text.replace(CLOSED, f"note: {first}{CLOSED}"),
        "after the end": text + first + CLOSED,
    }[change]
    assert read(changed).groups == (Answer(error="the marks between Rocq's answers are not all there once"),)


@pytest.mark.parametrize("name", [CHOICE, "boolp.constructive_indefinite_description"])
def test_an_axiom_counts_as_classical_only_where_rocq_says_that_its_name_leads_there(name: str) -> None:
    assert name in AXIOM_NAMES
    answer = f"Axioms:\n{name} : forall A\n"
    assert set(read(said(answer)).groups[0].axioms) <= CLASSICAL_AXIOMS
    for leads in ({}, {**FULL, name: f"AttnProof.x.{name}"}):
        axioms = read(said(answer, leads=leads)).groups[0].axioms
        assert len(axioms) == 1
        assert not CLASSICAL_AXIOMS.intersection(axioms)


def test_a_name_that_means_another_module_too_is_told() -> None:
    assert read(said(CLOSED)).hidden == {"x.v": ()}
    both = "Module AttnProof.x\nModule mathcomp.algebra.ssrnum.x\n  (shorter name is ssrnum.x)\n"
    assert read(said(CLOSED, located=both)).hidden == {"x.v": ("mathcomp.algebra.ssrnum.x",)}
