"""`attnproof verify` and `attnproof explain`: output, exit codes, errors."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from typing import NamedTuple

import mpmath
import pytest
from attnproof import cli
from attnproof.causal.verdict import Evidence
from attnproof.cli.verify import exit_code
from attnproof.proofs import verify as proofs_verify
from attnproof.proofs.claim import Claim, registry
from attnproof.proofs.verify import Row
from needs import need

pytestmark = pytest.mark.claim("T1", "T3")


class Done(NamedTuple):
    code: int
    out: str
    err: str


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Done:
    """The command in this process."""
    monkeypatch.setattr(sys, "argv", ["attnproof", *arguments])
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stop:
        cli.main()
    return Done(int(stop.value.code or 0), out.getvalue(), err.getvalue())


def test_json_is_exactly_the_promised_shape(monkeypatch):
    done = run(monkeypatch, "verify", "T3", "1", "--format", "json", "--precision", "12")
    assert done.code == 0, done.err
    data = json.loads(done.out)
    assert list(data) == ["schema_version", "claims"]
    assert data["schema_version"] == 1
    assert [c["id"] for c in data["claims"]] == ["T3", "T1"]
    for claim in data["claims"]:
        assert list(claim) == ["id", "statement", "status", "open_lemmas", "evidence"]
        assert (claim["status"], claim["open_lemmas"]) == {"T1": ("proved", 0), "T3": ("derived", 3)}[claim["id"]]
        assert claim["statement"] == registry()[claim["id"]].statement
        for e in claim["evidence"]:
            assert list(e) == ["kind", "ok", "detail", "seconds"]
    details = {e["kind"]: e["detail"] for e in data["claims"][1]["evidence"]}
    assert "y = 25.7521038260…" in details["enclosure"]


def test_digits_come_out_of_an_enclosure_as_many_as_asked(monkeypatch):
    done = run(monkeypatch, "verify", "T1", "--precision", "60", "--format", "json")
    detail = next(e["detail"] for e in json.loads(done.out)["claims"][0]["evidence"] if e["kind"] == "enclosure")
    with mpmath.workdps(80):
        e = mpmath.e
        y = mpmath.nstr(10 * (1 + 2 * e + 3 * e**2) / (1 + e + e**2), 75)
    assert f"y = {y[:60]}" in detail


def test_a_claim_named_twice_counts_once(monkeypatch):
    done = run(monkeypatch, "verify", "T3", "t1", "T1", "3", "--format", "json")
    assert [c["id"] for c in json.loads(done.out)["claims"]] == ["T3", "T1"]
    assert "1 proved;" in run(monkeypatch, "verify", "T1", "T1").out


def test_the_marker_of_claims_names_a_page_that_exists(pytestconfig):
    line = next(text for text in pytestconfig.getini("markers") if text.startswith("claim("))
    assert line.startswith("claim(*ids): the claims of docs/theory.md that a test checks; ")
    assert (pytestconfig.rootpath / "docs" / "theory.md").is_file()


def test_the_table_names_everything(monkeypatch):
    done = run(monkeypatch, "verify", "T3", "T18")
    assert done.code == 0
    for word in ("claim", "statement", "evidence", "symbolic✓", "property✓", "lemmas", "seconds", "T3", "proved"):
        assert word in done.out
    assert "derived, 3" in done.out
    assert (
        "1 proved, 1 derived; 3 lemmas leant on, 3 of them stated in proofs/rocq (--kernel has Rocq close those)\n"
        in done.out
    )
    assert "\x1b" not in done.out
    assert done.err == ""  # no progress in a pipe


def test_a_failed_claim_says_what_is_left_over_and_leaves_with_1(monkeypatch):
    from attnproof.proofs import t18_two_axes

    monkeypatch.setattr(t18_two_axes, "sequence_then_features", lambda e, x, w, ones, bias: (e * x) * w)
    done = run(monkeypatch, "verify", "T18", "T1")
    assert done.code == 1
    assert "T18 symbolic ✗ step 3 fails" in done.out
    assert "1_r·b^T" in done.out
    assert "1 proved, 1 failed" in done.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("verify", "T33"), "claim 'T33' is unknown; did you mean T3? The claims are T1 to T26"),
        (("explain", "nonsense"), "claim 'nonsense' is unknown; the claims are T1 to T26"),
        (("verify", "T1", "--precision", "0"), "--precision 0 is too small; pass a whole number of at least 1"),
        (("verify", "T1", "--precision", "9999"), "--precision 9999 is too large; pass a whole number of at most 4000"),
        (("verify", "T1", "--backend", "abacus"), "--backend 'abacus' is unknown; use numpy, torch, jax, cupy, dask"),
        (("verify", "T1", "--accept", "everything"), "--accept 'everything' is unknown"),
        (("verify", "T1", "--device", "nowhere"), "--device 'nowhere' is not usable with numpy"),
        (("verify", "T1", "--n", "0"), "--n 0 is too small; pass a whole number of at least 1"),
        (("verify", "--format", "xml"), "--format 'xml' is unknown; use text or json"),
    ],
)
def test_errors_are_one_sentence_and_exit_2(monkeypatch, arguments, sentence):
    done = run(monkeypatch, *arguments)
    assert done.code == 2
    assert sentence in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert "Traceback" not in done.err
    assert done.out == ""


def test_a_missing_library_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    done = run(monkeypatch, "verify", "T1", "--backend", "cupy")
    assert done.code == 2
    assert done.err == "attnproof: --backend cupy needs cupy; install it with pip install 'attnproof[cupy]'\n"


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax", "dask"])
def test_checks_on_arrays_run_where_asked(monkeypatch, backend):
    need({"numpy": "numpy", "dask": "dask.array"}.get(backend, backend))
    done = run(monkeypatch, "verify", "T5", "T13", "--backend", backend, "--n", "40", "--format", "json")
    assert done.code == 0, done.err
    scale = [e for c in json.loads(done.out)["claims"] for e in c["evidence"] if e["kind"] == "scale"]
    assert [e["ok"] for e in scale] == [True, True]
    assert "n = 40 was asked; " in scale[0]["detail"]
    assert "n = 40: the 8 releases" in scale[1]["detail"]
    if backend == "jax":
        assert not need("jax").config.jax_enable_x64  # as it was


def test_a_claim_without_a_check_on_arrays_says_so(monkeypatch):
    done = run(monkeypatch, "verify", "T17", "--n", "8")
    assert done.code == 3
    assert "T17 scale – not run: this claim has no check on arrays" in done.out


def test_explain_has_every_part(monkeypatch):
    done = run(monkeypatch, "explain", "t3")
    assert done.code == 0
    claim = registry()["T3"]
    for part in (
        claim.title,
        claim.statement,
        claim.source,
        "Derivation",
        "Evidence",
        "How to read it",
        "Rocq theorems",
    ):
        assert part in " ".join(done.out.split())
    assert "lemma: Sylvester 1884" in done.out
    data = json.loads(run(monkeypatch, "explain", "T3", "--format", "json").out)
    assert data["id"] == "T3"
    assert (data["status"], data["open_lemmas"]) == ("derived", 3)
    assert "— derived, 3 lemmas" in done.out
    assert len(data["derivation"]) == len(claim.derive().steps)
    assert all("procedure" in step or "lemma" in step for step in data["derivation"])


def test_the_command_runs_in_a_shell_without_a_terminal():
    done = subprocess.run(
        [sys.executable, "-m", "attnproof.cli", "verify", "T18"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "T18" in done.stdout
    assert done.stderr == ""


# -- exit codes and statuses --------------------------------------------------------------------------------------


def row(status: str, *evidence: Evidence, **claim: object) -> Row:
    made = Claim(id="T0", title="t", statement="s", latex="l", source="ours", **claim)  # type: ignore[arg-type]
    return Row(made, status, evidence, (), 0.0)


GOOD, IDLE, BAD = (Evidence("kernel", ok, "detail") for ok in (True, None, False))


def test_exit_codes():
    proved, failed, incomplete, derived = row("proved"), row("failed", BAD), row("incomplete"), row("derived")
    plain = {"kernel": False, "scale": False}
    assert exit_code([proved], False, **plain) == 0
    assert exit_code([proved, failed], True, **plain) == 1
    assert exit_code([proved, incomplete], False, **plain) == 3
    assert exit_code([proved, incomplete], True, **plain) == 0
    assert exit_code([proved, derived], False, **plain) == 0
    asked = {"kernel": True, "scale": False}
    with_theorem = {"theorems": ("x",)}
    assert exit_code([row("proved", GOOD, **with_theorem)], False, **asked) == 0
    assert exit_code([row("proved", IDLE, **with_theorem)], False, **asked) == 3  # Rocq is missing
    assert exit_code([row("derived", IDLE, **with_theorem)], False, **asked) == 3
    assert exit_code([proved, row("derived", GOOD, **with_theorem)], False, **asked) == 3  # a lemma without a theorem
    assert exit_code([row("proved", GOOD, **with_theorem), row("proved", IDLE)], False, **asked) == 0  # nothing pinned
    assert exit_code([row("proved", IDLE, **with_theorem)], True, **asked) == 0
    assert exit_code([row("proved", IDLE)], False, **asked) == 3  # --kernel was asked for and there is nothing to check


def test_a_claim_without_a_theorem_says_so_when_the_kernel_is_asked(monkeypatch):
    monkeypatch.setitem(registry(), "T16", replace(registry()["T16"], theorems=()))
    done = run(monkeypatch, "verify", "T16", "--kernel")
    assert done.code == 3
    assert "--kernel had nothing to check: no theorem is stated in proofs/rocq for T16" in done.out
    assert "1 proved; 0 lemmas leant on\n" in done.out


def status_of(**claim: object) -> tuple[str, list[bool | None]]:
    made = Claim(id="T0", title="t", statement="s", latex="l", source="ours", **claim)  # type: ignore[arg-type]
    found = proofs_verify.check_claim(made)
    return found.status, [e.ok for e in found.evidence]


def missing() -> str:
    raise ImportError("z3 is not installed; pip install 'attnproof[smt]'")


def crash() -> str:
    raise ZeroDivisionError("oops")


def test_statuses():
    derive = registry()["T18"].derive
    assert status_of(derive=derive) == ("proved", [True])
    assert status_of(derive=derive, solver=missing) == ("proved", [True, None])
    assert status_of(solver=missing) == ("incomplete", [None])
    assert status_of(derive=derive, exact=crash) == ("failed", [True, False])
    assert status_of() == ("incomplete", [])
    assert status_of(property=lambda rng: "samples") == ("incomplete", [True])  # samples alone never prove
    assert status_of(enclosure=lambda digits: "a number") == ("incomplete", [True])
    assert status_of(derive=derive, incomplete="not yet") == ("incomplete", [True])


def test_without_rocq_the_kernel_leaves_lemmas_open_and_says_so_by_its_exit_code(monkeypatch):
    from attnproof.proofs import kernel

    missing = kernel.GateReport(not_run=kernel.NOT_RUN)
    monkeypatch.setattr(kernel, "_packaged_report", lambda: missing)
    done = run(monkeypatch, "verify", "T11", "--kernel", "--format", "json")
    assert done.code == 3
    claim = json.loads(done.out)["claims"][0]
    assert (claim["status"], claim["open_lemmas"]) == ("derived", 5)
    assert claim["evidence"][-1]["ok"] is None
    assert run(monkeypatch, "verify", "T11").code == 0


def test_a_derived_claim_is_shown_in_another_colour():
    with_lemma, without = (proofs_verify.check_claim(name) for name in ("T3", "T1"))
    styles = [{str(span.style) for span in table_cell(row).spans} for row in (with_lemma, without)]
    assert styles == [{"cyan"}, {"green"}]
    assert table_cell(with_lemma).plain == "T3\nderived, 3 lemmas"


def table_cell(row: Row):
    """The first cell of the row in the table."""
    return next(proofs_verify.table([row]).columns[0].cells)


def test_the_kernel_closes_lemmas(monkeypatch):
    from attnproof.proofs import kernel

    monkeypatch.setattr(kernel, "kernel_evidence", lambda name: Evidence("kernel", True, "accepted"))
    with_kernel, without = (proofs_verify.check_claim("T3", kernel=asked) for asked in (True, False))
    assert len(without.open_lemmas) == len(without.lemmas) == 3
    assert (without.status, without.standing) == ("derived", "derived, 3 lemmas")
    assert (with_kernel.status, with_kernel.standing) == ("proved", "proved")
    assert without.lemmas == with_kernel.lemmas
    assert with_kernel.open_lemmas == ()
    out = io.StringIO()
    from rich.console import Console

    Console(file=out, width=160).print(proofs_verify.table([with_kernel]))
    assert "0 of 3" in out.getvalue()


def test_the_kernel_s_answer_is_passed_on(monkeypatch):
    from attnproof.proofs import kernel

    monkeypatch.setattr(kernel, "kernel_evidence", lambda name: Evidence("kernel", False, f"{name} refused"))
    found = proofs_verify.check_claim("T18", kernel=True)
    assert found.status == "failed"
    assert found.evidence[-1].detail == "T18 refused"
