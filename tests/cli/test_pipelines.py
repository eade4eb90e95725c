"""`attnproof pipelines`, `attnproof startup` and `--save-witness`: lines, files, exit codes, and errors."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import pytest
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")
FEATURES = """
import numpy as np
from pandas import concat
def add_mean(d): return d[["day"]].assign(m=d["close"].rolling(3).mean())
def add_lead(d): return d[["day"]].assign(target=d["close"].shift(-1), enter=d["close"].shift(-1) > d["close"])
def add_bad(d): raise KeyError("volume")
def noisy(d): return d[["day"]].assign(m=np.random.default_rng().normal(size=len(d)))
def add_two(a, b): return a
def _hidden(d): return d
def ema(d): return d[["day"]].assign(m=d["close"].ewm(span=3).mean(), total=d["close"].cumsum())
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipelines")
    (folder / "my_features.py").write_text(FEATURES)
    days = pd.date_range("2024-01-01", periods=40)
    pd.DataFrame({"day": days, "close": [float(i * i % 7) for i in range(40)]}).to_csv(folder / "data.csv", index=False)
    return folder


def run(place, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "attnproof.cli", *arguments], capture_output=True, text=True, cwd=place
    )


def test_one_line_each_and_the_worst_exit_code(place):
    every = run(place, "pipelines", "my_*.py:*", "--data", "data.csv", "--time", "day", "--format", "csv")
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(every.stdout))}
    assert {name.partition(":")[2]: row["status"] for name, row in rows.items()} == {
        "add_mean": "UNDECIDED",
        "add_lead": "REFUTED",
        "add_bad": "ERROR",
        "noisy": "UNDECIDED",
        "ema": "UNDECIDED",
    }
    lead = rows["my_features.py:add_lead"]
    assert (lead["leaking"], lead["first_row"], lead["reach"], lead["carrier"]) == ("target enter", "0", "1", "close")
    assert lead["decisions"].startswith("enter=")
    assert rows["my_features.py:noisy"]["untold"] == "m"
    assert every.returncode == 2


def test_labels_that_some_lack_and_accepted_lines(place):
    options = ("--data", "data.csv", "--time", "day", "--labels", "target,enter", "--accept", "undecided")
    fine = run(place, "pipelines", "my_features.py:add_[ml]*", *options)
    assert fine.returncode == 0, fine.stderr
    assert [line.split(": ")[:2] for line in fine.stdout.splitlines()] == [
        ["my_features.py:add_mean", "UNDECIDED"],
        ["my_features.py:add_lead", "UNDECIDED"],
    ]
    told = run(place, "pipelines", "my_features:noisy", *options, "--format", "json")
    assert told.returncode == 3
    assert json.loads(told.stdout)["pipelines"][0]["untold"] == ["m"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pipelines", "my_features.py:nothing*", "--data", "data.csv"], "finds no function of a table"),
        (["pipelines", "my_features.py", "--data", "no.csv"], "--data no.csv is not a file"),
        (["startup", "my_features.py:ema", "data.csv", "--save", "x.bmp"], "--save x.bmp has an ending that is not"),
        (["startup", "my_features.py:ema", "data.csv", "--time", "when"], "--time 'when' is no column"),
        (["pipeline", "my_features.py:ema", "data.csv", "--startup", "99"], "--startup 99 leaves none of 40 rows"),
        (["pipeline", "my_features.py:ema", "data.csv", "--signals", "z"], "--signals names 'z', which is no output"),
    ],
)
def test_bad_input_is_one_sentence(place, arguments, said):
    done = run(place, *arguments)
    assert done.returncode == 2
    assert said in done.stderr.replace("'no.csv'", "no.csv").replace("'x.bmp'", "x.bmp"), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_start_up_and_a_saved_witness(place):
    need("pyarrow"), need("matplotlib")
    done = run(place, "startup", "my_features.py:ema", "data.csv", "--time", "day", "--save", "moves.png")
    assert "no number of rows up to 20 is enough for" in done.stdout
    assert done.returncode == 3
    assert (place / "moves.png").stat().st_size > 1000
    fine = run(place, "startup", "my_features.py:add_mean", "data.csv", "--time", "day", "--format", "json")
    assert (fine.returncode, json.loads(fine.stdout)["needed"]["m"]) == (0, 2)
    saved = run(place, "pipeline", "my_features.py:add_lead", "data.csv", "--time", "day", "--save-witness", "shown")
    assert saved.returncode == 1
    assert "wrote shown/witness.parquet" in saved.stderr
    assert saved.stdout.startswith("REFUTED: 3 columns over 40 rows")
