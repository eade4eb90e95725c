"""`attnproof pipeline`: files, options, exit codes, and one sentence for bad input."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")

FEATURES = """
import numpy as np

def trailing(d):
    return d[["day", "close"]].assign(close=d["close"].rolling(3).mean())

def centred(d):
    return d[["day"]].assign(m=d["close"].rolling(3, center=True).mean())

def polars_lead(d):
    return d.select("day", "firm", lead=d["close"].shift(-1))

class Scaler:
    def fit_transform(self, d):
        return d[["close"]] - d[["close"]].mean()

scaler = Scaler()
number = 3
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipeline")
    (folder / "features.py").write_text(FEATURES)
    days = pd.date_range("2024-01-01", periods=12).strftime("%Y-%m-%d")
    table = pd.DataFrame({"day": days, "firm": ["A", "B"] * 6, "close": [float(i * i % 7) for i in range(12)]})
    table.to_csv(folder / "data.csv", index=False)
    table.assign(day=pd.to_datetime(days)).to_parquet(folder / "data.parquet")
    table.iloc[::-1].to_csv(folder / "backwards.csv", index=False)
    table.assign(day="soon").to_csv(folder / "soon.csv", index=False)
    (folder / "broken.parquet").write_text("no")
    (folder / "data.xml").write_text("<x/>")
    (folder / "ragged.csv").write_text("x\n1\n2,3\n")
    (folder / "empty.csv").write_text("")
    return folder


def run(place, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "attnproof.cli", "pipeline", *arguments], capture_output=True, text=True, cwd=place
    )


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["features:trailing", "data.csv", "--time", "day"], 3, "no leak on these cuts"),
        (["features:trailing", "data.parquet", "--time", "day", "--accept", "undecided"], 0, "no leak on these cuts"),
        (["features.py:centred", "data.csv", "--time", "day"], 1, "looks ahead 1 instant"),
        (["features:centred", "data.csv", "--time", "day", "--labels", "m"], 3, "declared a label"),
        (["features:trailing", "data.csv", "--time", "day", "--boundary", "strict"], 1, "uses its own row"),
        (["features:scaler", "data.csv", "--time", "day"], 1, "looks ahead over the whole series"),
        (["features:polars_lead", "data.csv", "--time", "day", "--group", "firm", "--library", "polars"], 1, "lead"),
        (
            ["features:centred", "data.csv", "--time", "day", "--cuts", "2", "--workers", "2", "--exact"],
            1,
            "looks ahead 1",
        ),
    ],
)
def test_verdicts_and_exit_codes(place, arguments, code, line):
    done = run(place, *arguments)
    assert done.returncode == code, done.stderr
    assert line in done.stdout
    assert done.stderr == ""


def test_json_reads_back(place):
    from attnproof import Verdict

    done = run(place, "features:centred", "data.csv", "--time", "day", "--cuts", "all", "--format", "json")
    verdict = Verdict.from_json(done.stdout)
    assert verdict.status.name == "REFUTED"
    assert json.loads(done.stdout)["columns"][1]["reach"] == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["features", "data.csv"], "MODULE:FUNCTION = 'features' lacks one half; write it like my_module:build"),
        (["nothing:f", "data.csv"], "MODULE = 'nothing' is not found; run where it can be imported"),
        (["nothing.py:f", "data.csv"], "MODULE = 'nothing.py' is no file here; give the path of a Python file"),
        (
            ["features:absent", "data.csv"],
            "FUNCTION = 'absent' is not there; name one that 'features' defines",
        ),
        (["features:number", "data.csv"], "FUNCTION = 'number' is no function of 'features'"),
        (
            ["features:trailing", "absent.csv"],
            "DATA = 'absent.csv' is not a file; pass the path of a .csv or .parquet file",
        ),
        (
            ["features:trailing", "ragged.csv"],
            "DATA = 'ragged.csv' cannot be read (Expected 1 fields in line 3, saw 2)",
        ),
        (["features:trailing", "empty.csv"], "DATA = 'empty.csv' is empty; write it again"),
        (["features:trailing", "."], "DATA = '.' has an ending that is not read; pass a .csv or .parquet file"),
        (
            ["features:trailing", "data.csv", "--cuts", "0"],
            "--cuts '0' is no number of cuts; pass a number of at least 1",
        ),
        (["features:trailing", "data.xml"], "DATA = 'data.xml' has an ending that is not read"),
        (["features:trailing", "broken.parquet"], "DATA = 'broken.parquet' cannot be read"),
        (["features:trailing", "data.csv", "--library", "dask"], "--library 'dask' is unknown; use pandas or polars"),
        (
            ["features:trailing", "data.csv", "--cuts", "few"],
            "--cuts 'few' is no number of cuts; pass a number of at least 1, or all",
        ),
        (
            ["features:trailing", "data.csv", "--time", "when"],
            "--time 'when' is no column; the columns are day, firm, close",
        ),
        (["features:trailing", "soon.csv", "--time", "day"], "--time day holds what is no time"),
        (["features:trailing", "backwards.csv", "--time", "day"], "time goes back at row 1"),
        (["features:trailing", "data.csv", "--labels", "tgt"], "--labels names 'tgt', which is no output column"),
        (["features:trailing", "data.csv", "--boundary", "later"], "--boundary 'later' is unknown"),
    ],
)
def test_bad_input_gets_one_sentence(place, arguments, sentence):
    done = run(place, *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
