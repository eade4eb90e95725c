"""`benchmarks/gpu.py` runs as a self-test on the CPU, and prints no GPU row that it did not measure."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from by_path import benchmark
from needs import need, need_cuda

ROOT = Path(__file__).parents[2]


def run(*arguments):
    command = [sys.executable, "-m", "benchmarks.gpu", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def gpu():
    return benchmark("gpu")


def test_the_self_test_passes_and_calls_itself_one(tmp_path):
    done = run(
        "--backend", "numpy", "--n", "300", "--rounds", "1", "--format", "json", "--save", str(tmp_path / "rows.json")
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found == json.loads((tmp_path / "rows.json").read_text())
    assert found["gpu_measured"] is False
    rows = [row for rows in found["rows"].values() for row in rows]
    assert not any(row["gpu"] for row in rows)
    assert all(row["ok"] for row in rows if "ok" in row)
    assert {row["claim"] for row in found["rows"]["claims at scale"]} >= {"T1", "T3", "T4", "T5", "T6", "T8", "T10"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--backend", "numpy", "--device", "cuda"), "--device 'cuda' is not usable with numpy"),
        (("--backend", "torch", "--device", "nonsense"), "--device 'nonsense' is not usable with torch"),
    ],
)
def test_a_device_that_is_not_there(arguments, sentence):
    if "torch" in arguments:
        need("torch")
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_result_on_the_cpu_is_no_gpu_row(gpu):
    """A machine that claims to be a GPU but computes on the CPU prints nothing."""
    place = gpu.machine("numpy", "cpu")
    place.is_gpu, place.name = True, "a GPU that is none"
    with pytest.raises(SystemExit, match="a result lies on cpu, not on a GPU that is none; no row is printed"):
        gpu.compare(place)
    with pytest.raises(SystemExit, match="no row is printed"):
        gpu.timed(place, 20, 10, 2, 2, 1)


def test_a_wrong_value_fails_its_row(gpu, monkeypatch):
    monkeypatch.setattr(gpu, "full_attention", lambda Q, K, V: np.zeros((len(Q), V.shape[-1])))
    bad = [row["what"] for row in gpu.compare(gpu.machine("numpy", "cpu")) if not row["ok"]]
    assert bad == ["full attention"]


def test_on_a_gpu():
    need_cuda(need("torch"))
    done = run("--backend", "torch", "--device", "cuda", "--n", "20000", "--rounds", "1", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["gpu_measured"] is True
