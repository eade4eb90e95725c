"""The gate must catch every fraud, by each of its two locks alone where both apply."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from attnproof.proofs import rocq_source
from attnproof.proofs.kernel import kernel_evidence
from rocq_samples import BASE, CLAIMS, FRAUDS, PROJECT, PROOF, judge, row


@pytest.mark.parametrize("name", FRAUDS)
def test_a_fraud_is_caught(name: str, cache: Path) -> None:
    changes, scanned, in_row = FRAUDS[name]
    report = judge(**changes)
    assert not report.ok
    assert report.failed > 0
    if scanned is not None:
        assert any(scanned in finding for finding in report.findings), report.findings
    if in_row is not None:
        assert any(in_row in row.detail and not row.ok for row in report.rows), report.rows
    else:
        assert report.findings
    assert kernel_evidence("T1", report).ok is not True


@pytest.mark.parametrize("name", [name for name, (_, scanned, in_row) in FRAUDS.items() if scanned and in_row])
def test_print_assumptions_catches_it_without_the_scan(name: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rocq_source, "scan", lambda file, text: [])
    changes, _, in_row = FRAUDS[name]
    report = judge(**changes)
    assert any(in_row in row.detail and not row.ok for row in report.rows), report.rows


def test_what_is_planted_unused_is_found_all_the_same(cache: Path) -> None:
    report = judge(base__v=BASE + "Axiom unused : False.\n")
    assert report.passed == 2
    assert report.findings == ("base.v:7: Axiom",)
    evidence = kernel_evidence("T1", report)
    assert evidence.ok is False
    assert evidence.detail == "the gate found: base.v:7: Axiom"


def test_a_coercion_cannot_smuggle_an_assumption_into_a_pin(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rocq_source, "scan", lambda file, text: [])
    weak = """Inductive weak : Prop := Weak.
Axiom strengthen : weak -> 1 + 1 = 2.
Coercion strengthen : weak >-> eq.
Theorem two : weak. Proof. exact Weak. Qed."""
    report = judge(base__v=BASE.replace(PROOF, weak), Claims__v=CLAIMS.replace("Require base", "Require Import base"))
    assert not row(report).ok


@pytest.mark.parametrize("name", ["Num", "GRing", "QArith_base"])
def test_a_file_named_like_a_module_of_mathcomp_is_refused(name: str, cache: Path) -> None:
    claims = f"From mathcomp Require Import all_ssreflect all_algebra.\nFrom AttnProof Require {name}.\n{CLAIMS}"
    report = judge(
        Claims__v=claims,
        project=PROJECT.replace("base.v", f"base.v\n{name}.v"),
        **{f"{name}__v": "Module Theory. End Theory. Definition sqrt (n : nat) := n."},
    )
    assert report.passed == 2
    assert len(report.findings) == 1
    assert re.match(rf"{name}\.v:1: is named like a library's module \((\S+\.)?{name}\)", report.findings[0])
