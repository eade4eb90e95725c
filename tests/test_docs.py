"""The pages in docs: every Python block runs, the CI page's test file and workflow are sound, links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from needs import need

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [
    DOCS / f"{name}.md"
    for name in (
        "check-a-projection",
        "check-a-model",
        "check-a-pipeline",
        "pick-a-design",
        "in-ci",
        "prove-a-configuration",
        "check-a-jax-model",
        "for-every-length",
    )
]
if not DOCS.is_dir():
    pytest.skip("docs is not part of this installation", allow_module_level=True)


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_python_blocks_run_and_say_what_the_page_says(capsys):
    for module in ("torch", "jax", "pandas", "z3", "cvc5", "transformers"):
        need(module)
    for page in (*PAGES[:4], *PAGES[5:]):
        names: dict[str, object] = {}
        assert blocks(page, "python"), page
        for block in blocks(page, "python"):
            exec(compile(block, str(page), "exec"), names)
        words = re.findall(r"#[^\n]*\b(proved|refuted|looks ahead)", "".join(blocks(page, "python")))
        shown = capsys.readouterr().out
        for word in set(words):
            assert {"proved": "PROVED:", "refuted": "REFUTED:", "looks ahead": "looks ahead"}[word] in shown, (
                page,
                word,
            )


def test_the_ci_page_s_test_file_passes_in_a_project_of_its_own(tmp_path):
    (text,) = blocks(PAGES[4], "python")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_no_lookahead.py").write_text(text)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "attnproof.plugin"),
            *("tests/test_no_lookahead.py", "--attnproof-report=report.json"),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert done.returncode == 0, done.stdout
    assert len(json.loads((tmp_path / "report.json").read_text())["verdicts"]) == 3
    (workflow,) = blocks(PAGES[4], "yaml")
    assert "pytest tests/test_no_lookahead.py --attnproof-report=report.json" in workflow
    yaml = need("yaml")
    steps = yaml.safe_load(workflow)["jobs"]["check"]["steps"]
    assert [step.get("uses", "run").split("@")[0] for step in steps] == [
        "actions/checkout",
        "actions/setup-python",
        "run",
        "run",
        "actions/upload-artifact",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_and_commands_exist(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert (DOCS / target).exists(), target
    for command in re.findall(r"^attnproof (\w+)", "\n".join(blocks(page, "bash")), re.MULTILINE):
        from attnproof.cli import COMMANDS

        assert command in COMMANDS
