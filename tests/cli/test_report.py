"""`--report FILE`: a page beside what is printed, refused before any work where it cannot be written."""

from __future__ import annotations

import subprocess
import sys

import attnproof as ap
import numpy as np
import pytest
from needs import need


def run(*arguments, cwd):
    command = [sys.executable, "-m", "attnproof.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd)


def test_check_and_pipeline_write_the_page_of_what_they_print(tmp_path):
    need("pandas")
    np.save(tmp_path / "F.npy", np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]))
    done = run("check", "F.npy", "--report", "check.html", cwd=tmp_path)
    assert done.returncode == 1
    verdict = ap.Verdict.from_report(tmp_path / "check.html")
    assert done.stdout.startswith(verdict.headline())
    (tmp_path / "features.py").write_text("def ahead(d):\n    return d.assign(x=d['x'].shift(-1))\n")
    (tmp_path / "data.csv").write_text("x\n" + "\n".join(map(str, range(12))) + "\n")
    done = run("pipeline", "features:ahead", "data.csv", "--report", "pipeline.html", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(ap.Verdict.from_report(tmp_path / "pipeline.html").headline())


def test_verify_writes_its_rows(tmp_path):
    assert run("verify", "T1", "--report", "rows.html", cwd=tmp_path).returncode == 0
    page = (tmp_path / "rows.html").read_text(encoding="utf-8")
    assert "<h1>1 claim: 1 proved</h1>" in page
    assert "T1: evidence" in page


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("page.pdf", "--report 'page.pdf' has no page's ending; use .html"),
        ("none/page.html", "--report 'none/page.html' lies in a folder that does not exist; create none first"),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_first(tmp_path, path, sentence):
    done = run("verify", "T1", "--report", path, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
