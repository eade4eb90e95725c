"""The correspondence between claims and Rocq theorems, and the page that puts the two side by side."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from attnproof.proofs import kernel
from attnproof.proofs.claim import Claim, registry
from attnproof.proofs.claims_page import main, page
from attnproof.proofs.kernel import Development, GateReport, TheoremRow, kernel_evidence
from attnproof.proofs.rocq_source import pins, sections

DOCS = Path(__file__).parents[2] / "docs"
SOURCE = Development.packaged().sources["Claims.v"]
PINNED = pins(SOURCE)[0]


def without_kernel() -> set[str]:
    """The claims that docs/trust.md lists as having no kernel mark."""
    section = (DOCS / "trust.md").read_text(encoding="utf-8").partition("## Claims without a kernel mark")[2]
    return set(re.findall(r"^\* \*\*(T\d+)\*\*", section.partition("\n## ")[0], re.MULTILINE))


@pytest.mark.parametrize("claim", registry().values(), ids=lambda claim: claim.id)
def test_every_claim_has_a_theorem_or_a_reason(claim: Claim) -> None:
    own = {pin.name for pin in PINNED if pin.claim == claim.id}
    if claim.id in without_kernel():
        assert not own
        assert claim.theorems == ()
    else:
        assert claim.theorems
        assert set(claim.theorems) == own  # a claim leans on all that is pinned under it, so a pin that goes is missed


def test_every_pin_belongs_to_a_claim_of_the_kit() -> None:
    assert {pin.claim for pin in PINNED} <= set(registry())


def test_a_theorem_that_a_claim_names_but_nobody_pins_is_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    row = TheoremRow("T3", "rank.other", "True", (), 0.1, True, "closed under the global context")
    monkeypatch.setattr(kernel, "_packaged_report", lambda: GateReport((row,)))
    evidence = kernel_evidence("T3")
    assert evidence.ok is False
    assert "pins no theorem mixing_minor_eq0" in evidence.detail


def test_every_headline_theorem_of_a_file_is_pinned_under_its_claim() -> None:
    pinned = {(pin.claim, pin.theorem) for pin in PINNED}
    for name, text in Development.packaged().sources.items():
        header = text.partition("*)")[0].partition("Headline theorem")[2].partition("\n\n")[0]
        for claim, theorem in re.findall(r"^ {6}(T\d+)\s+(\w+)", header, re.MULTILINE):
            assert (claim, f"{name.removesuffix('.v')}.{theorem}") in pinned


def test_the_committed_page_is_current() -> None:
    assert (DOCS / "claims.md").read_text(encoding="utf-8") == page(), (
        "docs/claims.md is not current; run `python -m attnproof.proofs.claims_page`"
    )


def test_the_page_holds_every_claim_and_every_pinned_statement() -> None:
    text = page()
    for claim in registry().values():
        assert f"## {claim.id}. {claim.title}\n" in text
        assert claim.latex in text
    for pin in PINNED:
        assert SOURCE[pin.start : pin.end] in text


def test_sections_cut_the_source_without_losing_a_check() -> None:
    assert sum(len(re.findall(r"^Check ", part, re.MULTILINE)) for _, part in sections(SOURCE)) == len(PINNED)


def test_the_command_writes_where_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "claims.md")]) == 0
    assert (tmp_path / "claims.md").read_text(encoding="utf-8") == page()
    assert capsys.readouterr().out == f"wrote {tmp_path / 'claims.md'}\n"
    with pytest.raises(SystemExit):
        main([str(tmp_path / "nowhere" / "claims.md")])
    missing = str(tmp_path / "nowhere")
    assert f"the folder {missing!r} does not exist; create it or name another file" in capsys.readouterr().err
