"""The pytest plugin in a project of its own: fixtures, messages, marker, report, and that it stays light."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from needs import need

pytestmark = pytest.mark.claim("T10", "T17")


def run(folder, *arguments, text=None):
    if text is not None:
        (folder / "test_it.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "attnproof.plugin", "-p", "no:cacheprovider", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )


MIXED = """
import numpy as np
import pytest

HALF = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])

def test_safe(assert_prefix_safe):
    assert assert_prefix_safe(HALF, visible="largest").status.name == "PROVED"

def test_leaks(assert_prefix_safe):
    assert_prefix_safe(HALF)

def test_trailing(assert_no_lookahead):
    assert_no_lookahead(np.cumsum, np.arange(8.0))

def test_leading(assert_no_lookahead):
    assert_no_lookahead(lambda x: np.append(x[1:], 0.0), np.arange(8.0))

@pytest.mark.attnproof(accept=("PROVED",))
def test_strictly(assert_no_lookahead):
    assert_no_lookahead(np.cumsum, np.arange(8.0))

@pytest.mark.attnproof(suppress="the label of the next day")
def test_label(assert_no_lookahead):
    assert_no_lookahead(lambda x: np.append(x[1:], 0.0), np.arange(8.0))
"""


def test_fixtures_messages_and_report(tmp_path):
    done = run(tmp_path, "--attnproof-report=report.json", "--strict-markers", text=MIXED)
    assert done.returncode == 1
    assert "3 failed, 3 passed" in done.stdout
    assert "PrefixLeakError: (0 ← 1): " in done.stdout
    assert "remedy: show the slot only to later queries (visible='largest')" in done.stdout
    assert "remedy: use trailing windows, fit statistics on the past only" in done.stdout
    assert "NotProvedError: neither proved nor refuted; accept= names the statuses that pass" in done.stdout
    assert "accepted REFUTED in test_it.py::test_label: the label of the next day" in done.stdout
    assert "verdicts written to report.json" in done.stdout
    assert "plugin/__init__.py" not in done.stdout  # the traceback ends in the test
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["schema_version"] == 1
    assert [
        (v["test"].split("::")[1], v["outcome"], v["accepted"], v["verdict"]["status"]) for v in report["verdicts"]
    ] == [
        ("test_safe", "passed", True, "PROVED"),
        ("test_leaks", "failed", False, "REFUTED"),
        ("test_trailing", "passed", True, "UNDECIDED"),
        ("test_leading", "failed", False, "REFUTED"),
        ("test_strictly", "failed", False, "UNDECIDED"),
        ("test_label", "passed", True, "REFUTED"),
    ]
    assert report["verdicts"][5]["verdict"]["suppressed"] == "the label of the next day"
    assert not list(tmp_path.glob("*.part"))


def test_a_model(tmp_path):
    need("torch")
    text = """
import torch
from torch.nn.functional import scaled_dot_product_attention as attend

def test_causal(assert_causal):
    assert_causal(lambda x: attend(x, x, x, is_causal=True), torch.randn(1, 6, 4))

def test_sees_everything(assert_causal):
    assert_causal(lambda x: attend(x, x, x), torch.randn(1, 6, 4))
"""
    done = run(tmp_path, text=text)
    assert "1 failed, 1 passed" in done.stdout
    assert "remedy: mask the positions after the query" in done.stdout
    assert "enters at aten." in done.stdout  # as the assertion itself says


def test_verdicts_of_xdist_workers_reach_the_report(tmp_path):
    need("xdist")
    done = run(tmp_path, "-p", "xdist", "-n", "2", "--attnproof-report=report.json", text=MIXED)
    assert "3 failed, 3 passed" in done.stdout
    assert len(json.loads((tmp_path / "report.json").read_text())["verdicts"]) == 6


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--attnproof-report=report.txt", "--attnproof-report=report.txt is no .json file; name one"),
        (
            "--attnproof-report=no/r.json",
            "--attnproof-report=no/r.json lies in a folder that does not exist; create it first",
        ),
        ("--attnproof-report=folder.json", "--attnproof-report=folder.json is a folder; name a file in it"),
    ],
)
def test_reports_that_cannot_be_written_are_refused_at_once(tmp_path, option, sentence):
    (tmp_path / "folder.json").mkdir()
    done = run(tmp_path, option, text="def test_it(): pass")
    assert done.returncode == 4
    assert sentence in done.stderr
    assert [f.name for f in tmp_path.iterdir() if f.is_file()] == ["test_it.py"]


def test_a_report_that_becomes_unwritable_is_one_line(tmp_path):
    text = """
from pathlib import Path

def test_it(assert_prefix_safe):
    assert_prefix_safe([[1.0, 0.0]])
    Path("report.json").mkdir()
"""
    done = run(tmp_path, "--attnproof-report=report.json", text=text)
    assert done.returncode == 4
    assert "--attnproof-report=report.json cannot be written (Is a directory); name another file" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "report.json.part").exists()


def test_what_passes_by_default_is_what_the_page_says():
    import inspect

    import attnproof

    file = Path(__file__).parents[2] / "docs" / "in-ci.md"
    if not file.is_file():
        pytest.skip("docs is not part of this installation")
    page = " ".join(file.read_text(encoding="utf-8").split())
    assert "By default only PROVED passes; for `assert_no_lookahead` UNDECIDED passes too" in page
    for name, passes in {
        "assert_prefix_safe": ("PROVED",),
        "assert_causal": ("PROVED",),
        "assert_no_lookahead": ("PROVED", "UNDECIDED"),
    }.items():
        assert inspect.signature(getattr(attnproof, name)).parameters["accept"].default == passes


def test_wrong_markers_are_refused(tmp_path):
    text = """
import pytest

@pytest.mark.attnproof("anything")
def test_it(assert_prefix_safe): pass

@pytest.mark.attnproof(suppres="typo")
def test_that(assert_prefix_safe): pass
"""
    done = run(tmp_path, text=text)
    assert "@pytest.mark.attnproof('anything') is not known; use accept=, suppress=" in done.stdout
    assert "@pytest.mark.attnproof(suppres=) is not known; use accept=, suppress=" in done.stdout


def test_an_unrelated_run_imports_nothing_heavy(tmp_path):
    text = """
import sys

def test_light():
    heavy = {"numpy", "sympy", "torch", "pandas", "polars", "z3", "flint", "rich", "typer"} & set(sys.modules)
    assert not heavy
    ours = [m for m in sys.modules if m.startswith("attnproof")]
    assert sorted(ours) == ["attnproof", "attnproof.lazy", "attnproof.plugin"]
"""
    done = run(tmp_path, text=text)
    assert done.returncode == 0, done.stdout
    assert "attnproof" not in done.stdout


def test_installing_attnproof_is_enough(tmp_path):
    """The entry point, from a folder that is not this checkout."""
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--fixtures", "-q"], capture_output=True, text=True, cwd=tmp_path
    ).stdout
    for name in ("assert_prefix_safe", "assert_causal", "assert_no_lookahead"):
        assert name in listed
