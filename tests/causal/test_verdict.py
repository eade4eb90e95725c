"""Verdicts: the four statuses, words, JSON there and back, and assertions."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from attnproof import Boundary, NotProvedError, PrefixLeakError, Status, Verdict, Witness, check_projection
from attnproof.causal.spans import Runs
from attnproof.causal.verdict import Column, Condition, Evidence, LeakBound, accept_or_raise, versions_of
from hypothesis import given
from hypothesis import strategies as st

HALF = [[Fraction(1, 2), Fraction(1, 2), 0], [0, 0, 1]]


def full() -> Verdict:
    witness = check_projection(HALF).witness
    return Verdict(
        subject="projection",
        about="<2 slots> & more",
        status=Status.PROVED_IF,
        claims=("T10", "T11"),
        evidence=(Evidence("exact", True, "identity", 0.25), Evidence("kernel", None, "Rocq is not here")),
        assumptions=("finite inputs",),
        conditions=(Condition("no rounding", witness), Condition("plain")),
        reasons=("read as slots-first",),
        leak_bound=LeakBound(0.5, float("inf")),
        starved=(0, 1, 2, 7),
        queries=9,
        boundary=Boundary.documents([4, 5]),
        columns=(
            Column("price", Status.REFUTED, "rewrites row 3", 3, "whole", (1.5, "nan"), "rolling", "value", 0.25),
        ),
        details={"slots": 2, "where": np.arange(2), "ratio": Fraction(1, 3), "odd": float("nan")},
        versions={"attnproof": "0"},
        input_hash="sha256:00",
    )


def test_only_proved_is_true():
    assert [bool(Verdict("projection", "it", status)) for status in Status] == [True, False, False, False]


def test_json_there_and_back():
    verdict = full()
    text = verdict.to_json()
    data = json.loads(text)
    assert data["schema_version"] == 1
    assert data["starved"] == [[0, 3], [7, 8]]
    assert data["leak_bound"] == {"values": 0.5, "keys": "inf"}
    again = Verdict.from_json(text)
    assert again.details == {"slots": 2, "where": [0, 1], "ratio": "1/3", "odd": "nan"}
    assert replace(again, details={}) == replace(verdict, details={})
    assert again.conditions[0].counterexample.replay()
    assert again.to_json() == text
    assert tuple(again.starved) == (0, 1, 2, 7)


def test_another_schema_is_refused():
    with pytest.raises(ValueError, match="schema_version = 7 cannot be read; this release reads 1"):
        Verdict.from_json('{"schema_version": 7}')
    with pytest.raises(ValueError, match="kind = 'dream' is no kind of witness; use one of projection"):
        Witness.from_dict({"kind": "dream"})
    with pytest.raises(ValueError, match="kind = 'hope' is no kind of evidence; use one of symbolic, exact"):
        Evidence("hope", True, "")


def test_words_of_a_verdict():
    verdict = full()
    assert verdict.headline() == "PROVED_IF: <2 slots> & more; 4 of 9 queries starved"
    assert replace(verdict, starved=(3,), queries=None).headline().endswith("; 1 query starved")
    text = str(verdict)
    for part in ("provided that", "broken by", "0–2, 7", "0.5 per unit of value", "✓ exact", "– kernel", "price"):
        assert part in text
    prose = verdict.explain()
    assert prose.startswith("<2 slots> & more: holds under the listed conditions")
    assert "It holds provided that no rounding." in prose
    assert "packed-documents boundary" in prose
    assert "Queries that see nothing: 0–2, 7." in prose
    assert "&lt;2 slots&gt; &amp; more" in verdict._repr_html_()
    assert "<2 slots>" not in verdict._repr_html_()


def test_a_terminal_shows_every_part():
    from rich.console import Console

    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(full())
    shown = console.export_text()
    assert "PROVED_IF: <2 slots> & more" in shown
    assert "no rounding" in shown


def test_a_subject_without_a_picture_says_so():
    with pytest.raises(ValueError, match="subject = 'pipeline' has no picture; print the verdict instead"):
        replace(full(), subject="pipeline").plot()


def test_assertions_accept_raise_and_suppress():
    proved, refuted, open_one = (
        Verdict("projection", "it", status) for status in (Status.PROVED, Status.REFUTED, Status.UNDECIDED)
    )
    assert accept_or_raise(proved, ("PROVED",)) is proved
    assert accept_or_raise(open_one, "UNDECIDED") is open_one
    with pytest.raises(PrefixLeakError) as leak:
        accept_or_raise(refuted, ("PROVED", "UNDECIDED"))
    assert leak.value.verdict is refuted
    assert isinstance(leak.value, AssertionError)
    with pytest.raises(NotProvedError) as unproved:
        accept_or_raise(open_one, ("PROVED",))
    assert not isinstance(unproved.value, PrefixLeakError)
    let_pass = accept_or_raise(refuted, ("PROVED",), suppress="known, issue 12")
    assert let_pass.suppressed == "known, issue 12"
    assert "accepted all the same" in str(let_pass)
    assert "Accepted all the same: known, issue 12." in let_pass.explain()
    with pytest.raises(ValueError, match="reason is empty"):
        accept_or_raise(refuted, ("PROVED",), suppress="  ")
    with pytest.raises(ValueError, match="accept names 'SAFE', which is no status; use PROVED"):
        accept_or_raise(proved, ("SAFE",))


def test_versions_name_what_is_missing():
    found = versions_of("numpy", "no-such-distribution")
    assert found["numpy"] == np.__version__
    assert found["no-such-distribution"] == "not installed"
    assert set(found) == {"attnproof", "numpy", "no-such-distribution"}


@given(st.sets(st.integers(0, 60)))
def test_runs_are_the_numbers(numbers):
    expected = tuple(sorted(numbers))
    runs = Runs.of(expected)
    assert runs == expected
    assert expected == runs
    assert runs == list(expected)
    assert tuple(runs) == expected
    assert len(runs) == len(expected)
    assert [runs[k] for k in range(-len(runs), len(runs))] == [*expected, *expected]
    assert runs[1:3] == expected[1:3]
    assert all((k in runs) == (k in expected) for k in range(62))
    assert Runs(runs.runs) == runs
    assert hash(runs) == hash(expected)
    assert runs != (*expected, 99)
    with pytest.raises(IndexError, match="is out of range for"):
        runs[len(runs)]


def test_many_starved_queries_are_short():
    many = Runs.of(np.arange(10**6))
    assert many.runs == ((0, 10**6),)
    assert repr(many) == "Runs(((0, 1000000),))"
    assert many == range(10**6)


def test_a_hash_is_computed_when_it_is_asked_for_and_once():
    asked = []
    verdict = Verdict("model", "it", Status.PROVED, input_hash=lambda: asked.append(1) or "abc")
    assert not asked
    assert verdict.input_hash == verdict.input_hash == "abc"
    assert asked == [1]
    assert pickle.loads(pickle.dumps(Verdict("model", "it", Status.PROVED, input_hash=lambda: "abc"))) == verdict
