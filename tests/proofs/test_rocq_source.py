"""Sources are read as Rocq reads them, and pins are what Claims.v says."""

from __future__ import annotations

import re

import pytest
from attnproof.proofs.rocq_source import pins, scan, sentences, strip_comments


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a (* b *) c", "a c"),
        ("a (* (* b *) c *) d", "a d"),
        ('a (* " *) b " *) c', "a c"),
        ('"(*" a (* *) b', "a b"),
        ('"say ""(*"" twice" a', "a"),
        ("(*) a *) b", "b"),
        ("a (**) b", "a b"),
        ("f ( *%R ) g", "f ( *%R ) g"),
    ],
)
def test_comments_are_read_as_rocq_reads_them(text: str, left: str) -> None:
    stripped = strip_comments(text)
    assert len(stripped) == len(text)
    assert stripped.split() == left.split()


@pytest.mark.parametrize("text", ["a (* b", 'a "b', '(* " *) a'])
def test_a_comment_or_string_without_an_end_is_a_finding(text: str) -> None:
    found = scan("x.v", text)
    assert len(found) == 1
    assert re.search("does not end; close", str(found[0]))


def test_words_in_comments_strings_and_longer_names_are_no_findings() -> None:
    text = '(* Axiom *) Definition Axiomatic := "Admitted". Section S. Variable a : nat. Context (b : nat). End S.'
    assert scan("x.v", text) == []


def test_sentences_end_where_rocq_ends_them() -> None:
    assert [s.text for s in sentences("Check a.b. Qed.\nProof... Qed")] == ["Check a.b", "Qed", "Proof"]


def test_a_section_inside_a_module_and_back() -> None:
    text = "Module M. Section S. Variable a : nat. End S. Variable b : nat. End M."
    assert [str(f) for f in scan("x.v", text)] == ["x.v:1: Variable outside a section"]
    assert scan("x.v", "Module N := M. Section S. Hypotheses (a b : nat). End S.") == []


def test_pins_carry_claim_and_statement() -> None:
    found, wrong = pins("(** * T4. A title *)\nCheck (f.g : (0 = 0) /\\\n  true = true)%N.")
    assert wrong == []
    assert (found[0].claim, found[0].title, found[0].name, found[0].file) == ("T4", "A title", "g", "f.v")
    assert found[0].statement == "(0 = 0) /\\\n  true = true  (%N)"
    assert (found[0].line, found[0].last_line) == (2, 3)
    assert "under no heading" in str(pins("Check (f.g : True).")[1][0])


@pytest.mark.parametrize("command", ["Check nat.", "Arguments pair {A B}."])
def test_what_claims_need_is_no_command_of_a_proof(command: str) -> None:
    assert scan("Claims.v", command) == []
    word = command.split()[0]
    assert [str(f) for f in scan("x.v", command)] == [f"x.v:1: {word} is no command that the gate lets through"]
