"""`attnproof cost`: counts, a small measurement, the picture, and the errors."""

import json
import subprocess
import sys

import pytest
from attnproof.cli.cost import times_table
from needs import need

pytestmark = pytest.mark.claim("T9")


def run(*words):
    return subprocess.run([sys.executable, "-m", "attnproof.cli", "cost", *words], capture_output=True, text=True)


def test_counts_as_json():
    done = run("--n", "8:32", "--r", "n/4", "--d", "2", "--dv", "3", "--d-model", "4", "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [r["n"] for r in rows] == [8, 16, 32]
    assert [r["r"] for r in rows] == [2, 4, 8]
    assert rows[0]["full_macs"] == 8 * 8 * 5
    assert all(r["arithmetic_ratio"] == 0.5 and r["coefficients_ratio"] == 0.25 for r in rows)
    assert all(1 < r["layer_speedup"] < 2 for r in rows)


def test_below_break_even_it_is_slower():
    done = run("--n", "8", "--r", "8", "--d", "2", "--d-model", "4", "--format", "json")
    assert json.loads(done.stdout)["rows"][0]["layer_speedup"] < 1


def test_measured_table_and_picture(tmp_path):
    need("matplotlib")
    done = run("--n", "16,32", "--r", "4", "--d", "2", "--measure", "--save", str(tmp_path / "cost.png"))
    assert done.returncode == 0, done.stderr
    assert "measured (predicted: multiply–adds and bytes per second)" in done.stdout
    assert "The shortest of five calls each; the middle one took up to " in done.stdout
    assert (tmp_path / "cost.png").read_bytes().startswith(b"\x89PNG")


def test_no_ratio_is_drawn_from_noise():
    times = {"n": 8, "r": 2, "compressed_seconds": 1.0, "compressed_median_seconds": 1.5, "compressed_predicted": 1.0}

    def shown(seconds, median):
        row = {**times, "full_seconds": seconds, "full_median_seconds": median, "full_predicted": 1.0}
        return list(times_table([row]).columns[-1].cells)

    assert shown(1.6, 1.7) == ["1.6"]
    assert shown(0.5, 0.9) == ["0.5"]
    assert shown(1.4, 1.5) == shown(0.9, 1.1) == ["noise"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--n", "x", "--r", "2", "--d", "2"), "--n 'x' is no list of sizes; write 512,1024 or the doubling sweep"),
        (
            ("--n", "512:128", "--r", "2", "--d", "2"),
            "--n '512:128' ends before it begins; write the smaller size first, as in 128:512",
        ),
        (("--n", "0", "--r", "2", "--d", "2"), "--n '0' holds no size of at least 1"),
        (("--n", "4", "--r", "5", "--d", "2"), "--r '5' gives r = 5 slots at n = 4; choose 1 ≤ r ≤ n"),
        (("--n", "4", "--r", "n/0", "--d", "2"), "--r 'n/0' is no number of slots; write a number, sqrt, or a share"),
        (("--n", "4", "--r", "2", "--d", "0"), "--d 0 is too small; pass a whole number of at least 1"),
        (("--n", "1000000", "--r", "2", "--d", "2", "--measure"), "GiB for full attention"),
        (
            ("--n", "4", "--r", "2", "--d", "2", "--save", "cost.txt"),
            "--save 'cost.txt' has no picture's ending; use .png, .svg or .pdf",
        ),
    ],
)
def test_errors(words, sentence):
    done = run(*words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
