"""The second checker: what it accepts, and how its summary is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from attnproof.proofs import rocq_source
from attnproof.proofs.coqchk import read_coqchk
from attnproof.proofs.kernel import Development, run_gate
from rocq_samples import FRAUDS, HONEST


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
