"""The notebooks as stored: every claim is derived in one, in the signs of mathematics, and none writes elsewhere.

That they run is a step of `.ci/run`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from attnproof.proofs.claim import registry

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(ROOT.glob("notebooks/*.ipynb"))}
DERIVED = re.compile(r'(?:claim_by_id|derivation)\("(T\d+)"\)')


def code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shown(notebook):
    """What the cells return, by its kind."""
    for cell in code(notebook):
        for output in cell["outputs"]:
            if output["output_type"] in ("execute_result", "display_data"):
                yield {kind: "".join(text) for kind, text in output["data"].items()}


def test_every_claim_is_derived_in_a_notebook_by_its_own_derivation():
    found = {
        name
        for notebook in NOTEBOOKS.values()
        for cell in code(notebook)
        for name in DERIVED.findall("".join(cell["source"]))
    }
    assert found == {name for name, claim in registry().items() if claim.derive is not None}
    looked_at = json.dumps(list(NOTEBOOKS.values()))
    for name, claim in registry().items():
        assert claim.derive is not None or f'check_claim(\\"{name}\\")' in looked_at, f"{name} is in no notebook"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_what_a_cell_returns_is_no_python(name):
    for data in shown(NOTEBOOKS[name]):
        if set(data) == {"text/plain"}:
            assert not re.match(r"[(\[{<]|np\.|array|Matrix", data["text/plain"]), data["text/plain"][:80]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_raw_tex_stands_beside_what_is_set(name):
    for data in shown(NOTEBOOKS[name]):
        text = re.sub(r"\$\$.*?\$\$|`[^`]*`", "", data.get("text/markdown", ""), flags=re.DOTALL)
        assert not re.search(r"[\^_]\\?\{|\\(frac|sum|le|ge|mathrm|text)\b|\*\*\w", text.replace("**T", "")), text[:200]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_stored_with_what_it_shows_and_writes_only_beside_itself(name):
    for cell in code(NOTEBOOKS[name]):
        source = "".join(cell["source"])
        assert cell["execution_count"], source
        assert not any(output["output_type"] == "error" for output in cell["outputs"]), source
        assert "../" not in source, source


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_cell_that_draws_shows_its_figure(name):
    for cell in code(NOTEBOOKS[name]):
        if "plt.subplots(" in "".join(cell["source"]):
            kinds = {kind for output in cell["outputs"] for kind in output.get("data", ())}
            assert "image/png" in kinds, "run it without MPLBACKEND"
