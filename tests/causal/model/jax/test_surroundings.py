"""What stands around a check works on models of JAX, too: fixture, report, failures, pictures, command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from needs import need

need("jax")

import attnproof as ap
import jax.numpy as jnp
import pytest
from attnproof.causal.model.picture import caption, receptive_field, save

X = jnp.arange(12.0).reshape(1, 6, 2) / 7

MINE = """
import jax, jax.numpy as jnp

def causal(x):
    return jnp.cumsum(x, 1)

@jax.jit
def leaking(x):
    return jnp.cumsum(x[:, ::-1], 1)

def build():
    return causal, lambda n: jnp.ones((1, n, 2))

def peek():
    return leaking, lambda n: jnp.ones((1, n, 2))
"""

TESTS = """
import jax.numpy as jnp
from mine import causal, leaking

def test_causal(assert_causal):
    assert assert_causal(causal, jnp.ones((1, 6, 2))).status.name == "PROVED"

def test_leaking(assert_causal):
    assert_causal(leaking, jnp.ones((1, 6, 2)))
"""


def ran(folder, *arguments):
    around = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=around)


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "test_mine.py").write_text(TESTS)
    return tmp_path


def test_the_fixture_and_its_report(mine):
    options = ("-q", "-p", "attnproof.plugin", "-p", "no:cacheprovider", "--attnproof-report=report.json")
    done = ran(mine, "pytest", *options)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "mine.py:9" in done.stdout
    verdicts = json.loads((mine / "report.json").read_text())["verdicts"]
    assert [v["verdict"]["status"] for v in verdicts] == ["PROVED", "REFUTED"]
    assert "jax" in verdicts[0]["verdict"]["versions"]


def test_the_command_line_draws_and_reports(mine):
    done = ran(mine, "attnproof", "model", "mine.py:build", "--n", "6", "--save", "proof.png", "--report", "page.html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("PROVED")
    assert (mine / "proof.png").stat().st_size > 1000
    assert "causal over 6 positions" in (mine / "page.html").read_text()
    done = ran(mine, "attnproof", "model", "mine.py:peek", "--n", "6")
    assert done.returncode == 1
    assert "mine.py:9" in done.stdout


def test_an_assertion_names_the_line_and_both_values():
    with pytest.raises(ap.PrefixLeakError) as raised:
        ap.assert_causal(lambda x: jnp.cumsum(x[:, ::-1], 1), X)
    said = str(raised.value)
    assert f"{__file__.rsplit('/', 1)[-1]}:" in said
    assert raised.value.verdict.witness.replay()


def test_a_picture(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    verdict = ap.check_model(lambda x: jnp.cumsum(x, 1) + x[:, ::-1], X)
    assert receptive_field(verdict).shape == (6, 2)
    assert "rev" in caption(verdict)
    save(verdict, tmp_path / "leak.png")
    assert (tmp_path / "leak.png").stat().st_size > 1000
