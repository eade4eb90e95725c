"""The gate must catch every fraud, by each of its two locks alone where both apply; and pass what is honest."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from attnproof.proofs import kernel, rocq_build, rocq_cache, rocq_source
from attnproof.proofs.kernel import Development, GateReport, kernel_evidence, main, read_coqchk, run_gate
from attnproof.proofs.rocq_source import pins, project_files, scan, sentences, strip_comments
from needs import need_rocq

PROJECT = "-R . AttnProof\n-arg -w\n-arg -notation-overridden\n\nbase.v\nClaims.v\n"
BASE = """(** Two honest theorems. *)
Section Identity.
Variable A : Prop.
Theorem keep (a : A) : A. Proof. exact a. Qed.
End Identity.
Theorem two : 1 + 1 = 2. Proof. reflexivity. Qed.
"""
CLAIMS = """From AttnProof Require base.

(** * T1. One and one *)
Check (base.two : 1 + 1 = 2).

(** * T2. What is assumed follows *)
Check (base.keep :
  forall A : Prop, A -> A).
"""
HONEST = {"_CoqProject": PROJECT, "base.v": BASE, "Claims.v": CLAIMS}
PROOF = "Theorem two : 1 + 1 = 2. Proof. reflexivity. Qed."
FALSE = "1 + 1 = 3"
CLAIMS_3 = CLAIMS.replace("= 2", "= 3")


def forged(definition: str, name: str, proof: str, answer: str) -> str:
    """A theorem `name` behind a notation whose note of deprecation looks like one of Rocq's answers."""
    note = f'#[deprecated(since="1", note="it is\n@@ {answer}\n@@ end\n")]'
    return f"{definition}\n{note}\nNotation {name} := {proof}."


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    need_rocq()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CI", raising=False)
    return tmp_path / "cache"


def judge(**changes: str) -> GateReport:
    sources = {**HONEST, **{name.replace("__", "."): text for name, text in changes.items() if name != "project"}}
    if "project" in changes:
        sources["_CoqProject"] = changes["project"]
    return run_gate(development=Development(sources, frozenset({"real.v"})))


def row(report: GateReport, name: str = "base.two") -> kernel.TheoremRow:
    return next(row for row in report.rows if row.theorem == name)


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


def test_the_cache_keeps_only_the_latest(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"kernel-{number}").mkdir()
        os.utime(tmp_path / f"kernel-{number}", (number, number))
    (tmp_path / "other-1").mkdir()
    assert rocq_cache.make_room(tmp_path / "kernel-new", keep=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kernel-4", "kernel-5", "other-1"]


# -- frauds: (changed files, what the scan says or None, what the row says or None) ---------------------------------

FRAUDS = {
    "admitted": (
        {"base__v": BASE.replace(PROOF, f"Theorem two : {FALSE}. Proof. Admitted."), "Claims__v": CLAIMS_3},
        "base.v:6: Admitted",
        "assumes base.two",
    ),
    "admit inside a proof": (
        {"base__v": BASE.replace(PROOF, "Theorem two : 1 + 1 = 2. Proof. admit. Admitted.")},
        "base.v:6: admit",
        "assumes base.two",
    ),
    "a new axiom": (
        {"base__v": BASE.replace(PROOF, f"Axiom magic : {FALSE}. Definition two := magic."), "Claims__v": CLAIMS_3},
        "base.v:6: Axiom",
        "assumes base.magic",
    ),
    "a conjecture": (
        {"base__v": BASE.replace(PROOF, "Conjecture two : 1 + 1 = 2.")},
        "base.v:6: Conjecture",
        "assumes base.two",
    ),
    "a parameter of a module type": (
        {
            "base__v": BASE.replace(
                PROOF,
                "Module Type Fact. Parameter two : 1 + 1 = 2. End Fact.\nDeclare Module Given : Fact.\n"
                "Definition two := Given.two.",
            )
        },
        "base.v:6: Parameter",
        "assumes base.Given.two",
    ),
    "a variable without a section": (
        {"base__v": BASE.replace(PROOF, "Variable two : 1 + 1 = 2.")},
        "base.v:6: Variable outside a section",
        "assumes base.two",
    ),
    "a hypothesis inside a module": (
        {"base__v": BASE.replace(PROOF, "Module M. Hypothesis two : 1 + 1 = 2. End M. Definition two := M.two.")},
        "base.v:6: Hypothesis outside a section",
        "assumes base.M.two",
    ),
    "a context without a section": (
        {"base__v": BASE.replace(PROOF, "Context (two : 1 + 1 = 2).")},
        "base.v:6: Context outside a section",
        "assumes base.two",
    ),
    "an unguarded fixpoint": (
        {
            "base__v": BASE.replace(
                PROOF,
                "Unset Guard Checking.\nFixpoint loop (n : nat) : 1 + 1 = 2 := loop n.\nDefinition two := loop 0.",
            )
        },
        "base.v:6: Guard Checking",
        "Print Assumptions said",
    ),
    "an unguarded fixpoint by attribute": (
        {
            "base__v": BASE.replace(
                PROOF,
                "#[bypass_check(guard)] Fixpoint loop (n : nat) : 1 + 1 = 2 := loop n.\nDefinition two := loop 0.",
            )
        },
        "base.v:6: bypass_check",
        "Print Assumptions said",
    ),
    "an inductive type that is not positive": (
        {
            "base__v": BASE.replace(
                PROOF,
                "Unset Positivity Checking.\nInductive U := fold (f : U -> 1 + 1 = 3).\n"
                "Definition use (u : U) := match u with fold f => f u end.\nDefinition two := use (fold use).",
            ),
            "Claims__v": CLAIMS_3,
        },
        "base.v:6: Positivity Checking",
        "Print Assumptions said",
    ),
    "type in type": (
        {
            "base__v": BASE.replace(
                PROOF,
                "Unset Universe Checking.\nDefinition U : Type := Type.\nDefinition V : U := U.\n"
                "Definition two : 1 + 1 = 2 := let _ := V in eq_refl.",
            )
        },
        "base.v:6: Universe Checking",
        "Print Assumptions said",
    ),
    "an Admitted behind a string that looks like a comment": (
        {
            "base__v": BASE.replace(
                PROOF,
                'Require Import String.\nDefinition s := "(*"%string.\nTheorem two : 1 + 1 = 2. Proof. Admitted.\n'
                'Definition t := "*)"%string.',
            )
        },
        "base.v:8: Admitted",
        "assumes base.two",
    ),
    "an axiom that hides in a module named like MathComp's": (
        {
            "boolp__v": "Axiom propositional_extensionality : forall P Q : Prop, P = Q.",
            "real__v": "From AttnProof Require boolp.\nDefinition all := boolp.propositional_extensionality.",
            "project": PROJECT.replace("base.v", "base.v\nboolp.v\nreal.v"),
            "Claims__v": "From AttnProof Require real.\n" + CLAIMS.replace(
                "base.two : 1 + 1 = 2", "real.all : forall P Q : Prop, P = Q"
            ),
        },
        "boolp.v:1: Axiom",
        "assumes AttnProof.boolp.propositional_extensionality",
    ),
    "a weakened theorem": (
        {"base__v": BASE.replace(PROOF, "Theorem two : 1 + 1 <= 2. Proof. apply le_n. Qed.")},
        None,
        "does not prove the pinned statement",
    ),
    "a theorem with one more assumption": (
        {"base__v": BASE.replace(PROOF, "Theorem two (n : nat) : n = 0 -> 1 + 1 = 2. Proof. reflexivity. Qed.")},
        None,
        "does not prove the pinned statement",
    ),
    "a theorem that is gone": (
        {"base__v": BASE.replace(PROOF, "")},
        None,
        "does not prove the pinned statement: The reference base.two was not found",
    ),
    "a theorem inside a comment": (
        {"base__v": BASE.replace(PROOF, f"(* (* *) \" *) \" {PROOF} *)")},
        None,
        "does not prove the pinned statement: The reference base.two was not found",
    ),
    "a file that does not compile": (
        {"base__v": BASE.replace(PROOF, f"Theorem two : {FALSE}. Proof. reflexivity. Qed.")},
        "base.v:1: does not compile",
        "base.v does not compile",
    ),
    "files that require each other": (
        {
            "base__v": "From AttnProof Require other.\n" + BASE,
            "other__v": "From AttnProof Require base.",
            "project": PROJECT.replace("base.v", "base.v\nother.v"),
        },
        "other.v:1: does not compile: not tried: the files require each other in a circle",
        "base.v does not compile",
    ),
    "a compiler flag": (
        {"project": PROJECT + "-arg -type-in-type=\n-arg \"-type-in-type\"\n"},
        "_CoqProject:7: unexpected line",
        None,
    ),
    "a file that nothing builds": (
        {"loose__v": "Theorem t : True. Proof. exact I. Qed."},
        "_CoqProject:1: loose.v is not listed",
        None,
    ),
    "a check in a form that the gate does not read": (
        {"Claims__v": CLAIMS + "Check base.two.\n"},
        "Claims.v:9: a Check in another form",
        None,
    ),
    "a pin that fails to name its file": (
        {"Claims__v": CLAIMS + "Fail Check (two : 1 + 1 = 3).\n"},
        "Claims.v:9: a Check in another form",
        None,
    ),
    "two pins of one theorem": (
        {"Claims__v": CLAIMS + "Check (base.two : 2 = 1 + 1 -> 1 + 1 = 2).\n"},
        "Claims.v:9: a theorem called two is pinned twice",
        None,
    ),
    "names from a whole file": (
        {"Claims__v": CLAIMS.replace("Require base", "Require Import base")},
        "Claims.v:1: imports a whole file",
        None,
    ),
    "names from a whole file, later": (
        {"Claims__v": CLAIMS.replace("base.\n", "base.\nImport base(two).\nImport base.\n", 1)},
        "Claims.v:3: imports a whole file",
        None,
    ),
    "an instance declared, and an answer forged on standard error": (
        {
            "base__v": BASE.replace(
                PROOF,
                "Class Magic : Prop := magic : 1 + 1 = 3.\nDeclare Instance given : Magic.\n"
                + forged(
                    "Definition real_two : 1 + 1 = 3 := given.", "two", "real_two", "0\nClosed under the global context"
                ),
            ),
            "Claims__v": CLAIMS_3,
        },
        "base.v:7: Declare Instance",
        "assumes base.given",
    ),
    "the path of an axiom forged on standard error": (
        {
            "boolp__v": "Class Same : Prop := same : forall P Q : Prop, P = Q.\n"
            "Declare Instance propositional_extensionality : Same.",
            "real__v": "From AttnProof Require boolp.\n"
            + forged(
                "Definition every : forall P Q : Prop, P = Q := boolp.propositional_extensionality.",
                "all",
                "every",
                "boolp.propositional_extensionality\nConstant mathcomp.classical.boolp.propositional_extensionality",
            ),
            "project": PROJECT.replace("base.v", "base.v\nboolp.v\nreal.v"),
            "Claims__v": "From AttnProof Require real.\n" + CLAIMS.replace(
                "base.two : 1 + 1 = 2", "real.all : forall P Q : Prop, P = Q"
            ),
        },
        "boolp.v:2: Declare Instance",
        "assumes AttnProof.boolp.propositional_extensionality",
    ),
    "an instance declared and not used": (
        {"base__v": BASE + "Existing Class False.\nDeclare Instance unused : False.\n"},
        "base.v:8: Declare Instance",
        None,
    ),
    "a command inside a focused goal": (
        {"base__v": BASE.replace("reflexivity.", "refine ?[g]. [g]: { Set Warnings \"-all\". reflexivity. }")},
        "base.v:6: Set is no command that the gate lets through",
        None,
    ),
    "a cast by the native compiler": (
        {"base__v": BASE.replace(PROOF, "Definition two : 1 + 1 = 2 := (@eq_refl nat 2 <<: 1 + 1 = 2).")},
        "base.v:6: <<:",
        None,
    ),
    "a file with the name of a module in Rocq's library": (
        {
            "Nat__v": "Definition add (n m : nat) := 3.",
            "project": PROJECT.replace("base.v", "base.v\nNat.v"),
            "base__v": "From AttnProof Require Nat.\n" + BASE.replace("1 + 1 = 2", "Nat.add 1 1 = 3"),
            "Claims__v": CLAIMS.replace("1 + 1 = 2", "Nat.add 1 1 = 3"),
        },
        "Nat.v:1: is named like a library's module (Nat), whose place it would take; rename the file",
        None,
    ),
    "an option that weakens the kernel": (
        {"project": PROJECT + "-arg -type-in-type\n"},
        "_CoqProject:7: unexpected line '-arg -type-in-type'",
        None,
    ),
    "no pins at all": ({"Claims__v": "From AttnProof Require base.\n"}, "no statement is pinned", None),
}  # fmt: skip


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


def test_a_proof_that_runs_forever_is_stopped(cache: Path, tmp_path: Path) -> None:
    toolchain = rocq_build.find_toolchain()
    assert toolchain is not None
    (tmp_path / "x.v").write_text("Ltac forever := forever.\nGoal True. forever. Qed.", encoding="utf-8")
    done = rocq_build.compile_file(toolchain, tmp_path, "x.v", limit=1.0)
    assert not done.ok
    assert done.output == "x.v did not compile within 1 s"


def test_a_leftover_product_does_not_count_as_compiled(cache: Path, tmp_path: Path) -> None:
    toolchain = rocq_build.find_toolchain()
    assert toolchain is not None
    (tmp_path / "x.v").write_text("Definition x := y.", encoding="utf-8")
    (tmp_path / "x.vo").write_text("old", encoding="utf-8")
    assert not rocq_build.compile_file(toolchain, tmp_path, "x.v").ok
    assert not (tmp_path / "x.vo").exists()


# -- names that lead elsewhere ---------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "XDG_DATA_DIRS", "COQPATH", "HOME"])
def test_a_library_that_the_environment_adds_is_not_found(
    variable: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = {"COQPATH": "", "HOME": ".local/share/coq"}.get(variable, "coq")
    folder = tmp_path / "added" / below
    folder.mkdir(parents=True)
    toolchain = rocq_build.find_toolchain()
    assert toolchain is not None
    (folder / "evil.v").write_text("Definition evil := 1.", encoding="utf-8")
    subprocess.run([toolchain.coqc, "evil.v"], cwd=folder, check=True)
    own = tmp_path / "own"
    own.mkdir()
    (own / "x.v").write_text("Require evil.", encoding="utf-8")
    monkeypatch.setenv(variable, str(tmp_path / "added"))
    if variable == "HOME":
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert subprocess.run([toolchain.coqc, "x.v"], cwd=own, capture_output=True, check=False).returncode == 0
    assert "Cannot find a physical path" in rocq_build.compile_file(toolchain, own, "x.v").output


# -- what the cache holds --------------------------------------------------------------------------------------------


def fraud_kept() -> tuple[Development, Path]:
    """A development that does not pass, judged, and the folder that the cache keeps of it."""
    changes, _, _ = FRAUDS["admitted"]
    development = Development({**HONEST, "base.v": changes["base__v"], "Claims.v": changes["Claims__v"]})
    assert not run_gate(development=development).ok
    assert run_gate(development=development).cached
    return development, next(rocq_cache.cache_folder().glob("kernel-*"))


def test_a_planted_report_is_not_believed(cache: Path) -> None:
    development, home = fraud_kept()
    row = kernel.TheoremRow("T1", "base.two", "1 + 1 = 3", (), 0.1, True, "closed under the global context")
    (home / "report.json").write_text(GateReport((row,)).to_json(), encoding="utf-8")
    report = run_gate(development=development)
    assert not report.cached
    assert not report.ok


def test_a_folder_that_another_key_sealed_is_not_believed(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    development, _ = fraud_kept()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    assert not run_gate(development=development).cached


def test_a_key_that_others_can_read_seals_nothing(cache: Path) -> None:
    development, _ = fraud_kept()
    assert rocq_cache.key_file().stat().st_mode & 0o777 == 0o600
    rocq_cache.key_file().chmod(0o644)
    assert not run_gate(development=development).cached


def test_a_folder_under_another_name_is_not_believed(tmp_path: Path, cache: Path) -> None:
    with rocq_cache.build_folder({"x.v": "text"}, tmp_path / "kernel-1"):
        pass
    assert rocq_cache.kept(tmp_path / "kernel-1")
    (tmp_path / "kernel-1").rename(tmp_path / "kernel-2")
    assert not rocq_cache.kept(tmp_path / "kernel-2")
    assert not (tmp_path / "kernel-2").exists()


@pytest.mark.parametrize("change", ["content", "more", "link"])
def test_one_changed_file_breaks_the_seal(change: str, tmp_path: Path, cache: Path) -> None:
    home = tmp_path / "kernel-1"
    with rocq_cache.build_folder({"x.v": "text", "y.v": "text"}, home):
        pass
    if change == "content":
        (home / "x.v").write_text("other", encoding="utf-8")
    elif change == "more":
        (home / "z.vo").write_text("", encoding="utf-8")
    else:
        (home / "x.v").unlink()
        (home / "x.v").symlink_to(home / "y.v")
    assert not rocq_cache.kept(home)


def test_in_ci_nothing_is_kept_and_nothing_believed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not run_gate(development=Development(HONEST)).cached
    monkeypatch.setenv("CI", "true")
    assert not run_gate(development=Development(HONEST)).cached
    folders = sorted(cache.glob("attnproof/*"))
    other = Development({**HONEST, "base.v": BASE + "\n"})
    assert run_gate(development=other).ok
    assert sorted(cache.glob("attnproof/*")) == folders
    assert not run_gate(development=other).cached


def test_another_version_of_mathcomp_is_another_digest(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "bin" / "coqc"
    library = tmp_path / "lib" / "user-contrib" / "mathcomp" / "analysis" / "exp.vo"
    for path in (compiler, library):
        path.parent.mkdir(parents=True)
    compiler.write_text(f"#!/bin/sh\ncase $1 in -where) echo {tmp_path / 'lib'};; *) echo version 8;; esac\n")
    compiler.chmod(0o755)
    (compiler.parent / "coqdep").symlink_to(compiler)
    monkeypatch.setenv("PATH", str(compiler.parent), prepend=os.pathsep)
    library.write_text("version 1", encoding="utf-8")
    before = rocq_build.find_toolchain()
    library.write_text("version 0.7", encoding="utf-8")
    after = rocq_build.find_toolchain()
    assert before is not None
    assert after is not None
    assert before.version == after.version == "version 8"
    assert before.digest != after.digest
    assert before.libraries == {"exp"}


# -- the second checker ---------------------------------------------------------------------------------------------


def test_coqchk_accepts_the_honest_and_refuses_the_unguarded(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = run_gate(coqchk=True, development=Development(HONEST))
    assert honest.coqchk is True
    assert honest.ok
    monkeypatch.setattr(rocq_source, "scan", lambda file, text: [])
    changes, _, _ = FRAUDS["an unguarded fixpoint"]
    sources = {**HONEST, "base.v": changes["base__v"]}
    report = run_gate(coqchk=True, development=Development(sources))
    assert report.coqchk is False
    assert "unsafe" in report.coqchk_detail


SUMMARY = """
CONTEXT SUMMARY
===============

* Theory: Set is predicative

* Axioms:
    Coq.Logic.Classical_Prop.classic
    mathcomp.classical.boolp.propositional_extensionality
{0}
* Constants/Inductives relying on type-in-type: {1}

* Constants/Inductives relying on unsafe (co)fixpoints: <none>

* Inductives whose positivity is assumed: <none>
"""


@pytest.mark.parametrize(
    ("axioms", "unsafe", "code", "accepted", "detail"),
    [
        ("", "<none>", 0, True, "accepts all modules; 1 classical axioms, none of ours"),
        ("    AttnProof.rank.magic\n", "<none>", 0, False, "axiom AttnProof.rank.magic"),
        ("", "AttnProof.rank.U", 0, False, "type-in-type: AttnProof.rank.U"),
        ("", "<none>", 1, False, "positivity is assumed: <none>"),
    ],
)
def test_the_summary_of_coqchk_is_read(axioms: str, unsafe: str, code: int, accepted: bool, detail: str) -> None:
    found, said = read_coqchk(SUMMARY.format(axioms, unsafe), code)
    assert found is accepted
    assert detail in said


def test_silence_of_coqchk_is_no_approval() -> None:
    assert read_coqchk("", 0) == (False, "it printed nothing")
    assert read_coqchk("Fatal Error: file x.vo is damaged", 0)[0] is False


# -- reading sources ------------------------------------------------------------------------------------------------


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
