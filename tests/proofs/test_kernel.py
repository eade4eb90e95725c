"""The gate passes what is honest, says what it found, and is silent without Rocq."""

from __future__ import annotations

from pathlib import Path

import pytest
from attnproof.proofs import kernel
from attnproof.proofs.kernel import Development, GateReport, kernel_evidence, main, run_gate
from attnproof.proofs.rocq_source import pins, project_files, scan
from needs import need_rocq
from rocq_samples import CLAIMS, HONEST, PROJECT, judge, row

# -- honest work passes ---------------------------------------------------------------------------------------------


def test_an_honest_development_passes_and_is_judged_once(cache: Path) -> None:
    seen: list[str] = []
    report = run_gate(development=Development(HONEST), progress=lambda done, total, what: seen.append(what))
    assert report.ok
    assert (report.passed, report.failed, report.cached) == (2, 0, False)
    assert seen == ["base.v"]
    assert str(report).endswith("\n2 passed, 0 failed")
    assert row(report).detail == "closed under the global context"
    assert row(report, "base.keep").statement == "forall A : Prop, A -> A"
    again = run_gate(development=Development(HONEST))
    assert again.cached
    assert again.rows == report.rows
    evidence = kernel_evidence("T1", report)
    assert evidence.ok is True
    assert "two" in evidence.detail
    assert kernel_evidence("T3", report).ok is None


def test_the_three_axioms_pass_in_the_files_about_the_reals_and_nowhere_else(cache: Path) -> None:
    text = """From mathcomp.classical Require Import boolp.
Theorem same (P Q : Prop) : (P <-> Q) -> P = Q. Proof. exact (@propositional_extensionality P Q). Qed."""
    project = PROJECT.replace("base.v", "base.v\n{0}.v")
    claims = CLAIMS + "Check ({0}.same : forall P Q : Prop, (P <-> Q) -> P = Q).\n"

    def with_file(name: str) -> GateReport:
        pinned = claims.format(name).replace("Require base.", f"Require base {name}.")
        return judge(**{f"{name}__v": text, "Claims__v": pinned, "project": project.format(name)})

    assert with_file("real").ok
    report = with_file("algebra")
    assert report.failed == 1
    assert row(report, "algebra.same").detail == "assumes mathcomp.classical.boolp.propositional_extensionality"


def test_nothing_is_written_beside_the_sources(cache: Path) -> None:
    folder = Path(kernel.__file__).parent / "rocq"
    before = sorted(p.name for p in folder.iterdir())
    run_gate(development=Development(HONEST))
    assert sorted(p.name for p in folder.iterdir()) == before
    assert not list(cache.glob("attnproof/building-*"))


def test_a_cache_that_cannot_be_written_is_done_without(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    report = run_gate(development=Development(HONEST))
    assert report.ok
    assert not run_gate(development=Development(HONEST)).cached


# -- without Rocq ---------------------------------------------------------------------------------------------------


def test_without_rocq_there_is_a_reason_and_never_a_tick(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    report = run_gate()
    assert str(report) == "kernel: not run (install coq, libcoq-mathcomp-analysis)"
    assert not report.ok
    evidence = kernel_evidence("T3", report)
    assert evidence.ok is None
    assert evidence.detail == "kernel: not run (install coq, libcoq-mathcomp-analysis)"
    assert main([]) == 3
    assert capsys.readouterr().out.strip() == "kernel: not run (install coq, libcoq-mathcomp-analysis)"


# -- the development that ships -------------------------------------------------------------------------------------


def test_the_development_lists_every_file_and_scans_clean() -> None:
    sources = Development.packaged().sources
    listed, wrong = project_files(sources["_CoqProject"])
    assert wrong == []
    assert sorted(listed) == sorted(set(sources) - {"_CoqProject"})
    assert [str(f) for name, text in sources.items() if name.endswith(".v") for f in scan(name, text)] == []
    found, wrong = pins(sources["Claims.v"])
    assert wrong == []
    assert {pin.file for pin in found} <= set(listed)


@pytest.mark.slow
def test_every_theorem_passes_the_gate() -> None:
    need_rocq()
    report = run_gate()
    assert report.findings == ()
    assert [row for row in report.rows if not row.ok] == []
    assert report.ok
