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

def noisy(d):
    return d[["day"]].assign(m=np.random.default_rng().normal(size=len(d)))

def centred(d):
    return d[["day"]].assign(m=d["close"].rolling(3, center=True).mean())

def polars_lead(d):
    return d.select("day", "firm", lead=d["close"].shift(-1))

class Scaler:
    def fit_transform(self, d):
        return d[["close"]] - d[["close"]].mean()

scaler = Scaler()
number = 3

def nearest(prices, news):
    import pandas as pd
    return pd.merge_asof(prices, news, on="day", direction="nearest")

def published(prices, news):
    import pandas as pd
    return pd.merge_asof(prices, news, left_on="day", right_on="out")[["day", "score"]]

def of_period(prices, news):
    import pandas as pd
    return pd.merge_asof(prices, news, left_on="day", right_on="period")[["day", "score"]]

def by_firm(prices, names):
    return prices.assign(size=prices["firm"].map(names.set_index("firm")["size"]))[["day", "size"]]

def second_first(news, prices):
    return nearest(prices, news)

def any_name(**tables):
    return nearest(**tables)

def by_position(prices, news, /):
    return nearest(prices, news)

def polars_nearest(prices, news):
    return prices.join_asof(news, on="day", strategy="nearest")
"""


TALKING = """
import os
print("imported")

def tone(d):
    print("called")
    os.write(1, b"from the file\\n")
    return d[["close"]]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipeline")
    (folder / "features.py").write_text(FEATURES)
    (folder / "talking.py").write_text(TALKING)
    days = pd.date_range("2024-01-01", periods=12).strftime("%Y-%m-%d")
    table = pd.DataFrame({"day": days, "firm": ["A", "B"] * 6, "close": [float(i * i % 7) for i in range(12)]})
    table.to_csv(folder / "data.csv", index=False)
    table.assign(day=pd.to_datetime(days)).to_parquet(folder / "data.parquet")
    table.iloc[::-1].to_csv(folder / "backwards.csv", index=False)
    summer = [f"2024-10-27T0{h}:30:00+0{o}:00" for h, o in ((1, 2), (2, 2), (2, 1), (3, 1), (4, 1))]
    table.iloc[:5].assign(day=summer).to_csv(folder / "summer.csv", index=False)
    table.assign(day="soon").to_csv(folder / "soon.csv", index=False)
    news = pd.DataFrame({"day": days[::3], "score": [0.0, 3.0, 1.0, 7.0]})
    news.to_csv(folder / "news.csv", index=False)
    news.assign(day=pd.to_datetime(days[::3])).to_parquet(folder / "news.parquet")
    late = news.rename(columns={"day": "period"}).assign(out=days[2::3])
    late.to_csv(folder / "late.csv", index=False)
    late.assign(period=pd.to_datetime(late["period"])).to_parquet(folder / "late.parquet")  # "out" is text here too
    pd.DataFrame({"firm": ["A", "B"], "size": [10, 20]}).to_csv(folder / "firms.csv", index=False)
    (folder / "year=2024").mkdir()
    table.to_csv(folder / "year=2024" / "data.csv", index=False)
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
        (["features:trailing", "backwards.csv", "--time", "day"], 3, "rows were sorted by time first"),
        (["features:trailing", "summer.csv", "--time", "day"], 3, "time 2024-10-27T00:30+00:00"),
        (["features:trailing", "data.parquet", "--time", "day", "--accept", "undecided"], 0, "no leak on these cuts"),
        (["features:noisy", "data.csv", "--time", "day", "--accept", "undecided"], 3, "non-deterministic"),
        (["features.py:centred", "data.csv", "--time", "day"], 1, "looks ahead 1 instant"),
        (["features:centred", "data.csv", "--time", "day", "--labels", "m"], 3, "declared a label"),
        (["features:trailing", "data.csv", "--time", "day", "--boundary", "strict"], 1, "uses its own row"),
        (["features:scaler", "data.csv", "--time", "day"], 1, "looks ahead over the whole series"),
        (["features:polars_lead", "data.csv", "--time", "day", "--group", "firm", "--library", "polars"], 1, "lead"),
        (
            ["features:centred", "data.csv", "--time", "day", "--cuts", "2", "--workers", "2", "--exact"],
            1,
            "looks ahead at least 1",
        ),
    ],
)
def test_verdicts_and_exit_codes(place, arguments, code, line):
    done = run(place, *arguments)
    assert done.returncode == code, done.stderr
    assert line in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_what_the_function_prints_goes_to_standard_error(place, workers):
    done = run(place, "talking:tone", "data.csv", "--cuts", "3", "--format", "json", "--accept", "undecided", *workers)
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "UNDECIDED"), done.stderr
    for words in ("imported", "called", "from the file"):
        assert f"{words}\n" in done.stderr


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


NEWS = ["--table", "news=news.csv"]
LATE = ["--table", "news=late.parquet", "--time", "prices=day"]
LEAK = "when the rows of table news after"


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["features:nearest", "data.csv", *NEWS, "--time", "day"], 1, LEAK),
        (["features:nearest", "data.parquet", "--table", "news=news.parquet", "--time", "day"], 1, LEAK),
        (["features:nearest", "year=2024/data.csv", *NEWS, "--time", "day"], 1, LEAK),
        (["features:second_first", "data.csv", *NEWS, "--time", "day"], 1, LEAK),
        (["features:any_name", "prices=data.csv", *NEWS, "--time", "day"], 1, LEAK),
        (["features:polars_nearest", "data.csv", *NEWS, "--time", "day", "--library", "polars"], 1, LEAK),
        (["features:published", "data.csv", *LATE, "--time", "news=out"], 3, "no leak on these cuts"),
        (["features:of_period", "data.csv", *LATE, "--time", "news=out"], 1, LEAK),
        (["features:of_period", "data.csv", *LATE, "--time", "news=out", "--group", "prices=firm"], 1, LEAK),
        (
            ["features:by_firm", "data.csv", "--table", "names=firms.csv", "--time", "day", "--time", "names="],
            3,
            "table names: known from the start",
        ),
        (["features:trailing", "d=data.csv", "--time", "d=day"], 3, "no leak on these cuts"),
    ],
)
def test_several_tables(place, arguments, code, line):
    done = run(place, *arguments)
    assert done.returncode == code, done.stderr
    assert line in " ".join(done.stdout.split())
    assert done.stderr == ""


def test_the_witness_names_the_table(place):
    from attnproof import Verdict

    done = run(place, "features:nearest", "data.csv", *NEWS, "--time", "day", "--format", "json")
    assert Verdict.from_json(done.stdout).witness.table == "news"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["nearest", "data.csv", "--table", "nws=news.csv"],
            "--table 'nws=news.csv' names no parameter of features:nearest; did you mean news?",
        ),
        (
            ["nearest", "data.csv", "--table", "x=news.csv"],
            "--table 'x=news.csv' names no parameter of features:nearest; use prices, news",
        ),
        (["scaler", "data.csv", *NEWS], "--table 'news=news.csv' names no parameter of features:scaler; use data"),
        (
            ["nearest", "x=data.csv", *NEWS],
            "DATA = 'x=data.csv' names no parameter of features:nearest; use prices, news",
        ),
        (
            ["by_position", "prices=data.csv"],
            "DATA = 'prices=data.csv' names no parameter of features:by_position; use a function with named parameters",
        ),
        (
            ["any_name", "data.csv", *NEWS],
            "DATA = 'data.csv' finds no parameter of features:any_name left; write NAME=FILE or leave a --table out",
        ),
        (
            ["trailing", "data.csv", "--table", "d=news.csv"],
            "DATA = 'data.csv' finds no parameter of features:trailing left; write NAME=FILE or leave a --table out",
        ),
        (
            ["nearest", "data.csv", "--table", "news.csv"],
            "--table 'news.csv' is not of the form NAME=FILE; write it like --table news=news.csv",
        ),
        (
            ["nearest", "data.csv", "--table", "news="],
            "--table 'news=' is not of the form NAME=FILE; write it like --table news=news.csv",
        ),
        (
            ["nearest", "data.csv", *NEWS, "--table", "news=late.csv"],
            "--table 'news=late.csv' names news again; give each name one file",
        ),
        (
            ["nearest", "prices=data.csv", "--table", "prices=late.csv"],
            "--table 'prices=late.csv' names prices again; give each name one file",
        ),
        (
            ["nearest", "data.csv", "--table", "news=absent.csv"],
            "--table news = 'absent.csv' is not a file; pass the path of a .csv or .parquet file",
        ),
        (
            ["nearest", "prices=absent.csv", *NEWS],
            "DATA = 'absent.csv' is not a file; pass the path of a .csv or .parquet file",
        ),
        (
            ["nearest", "data.csv", "--table", "news=data.xml"],
            "--table news = 'data.xml' has an ending that is not read; pass a .csv or .parquet file",
        ),
        (["nearest", "data.csv", *NEWS, "--time", "nws=day"], "--time 'nws=day' names no table; did you mean news?"),
        (["nearest", "data.csv", *NEWS, "--group", "x=day"], "--group 'x=day' names no table; use prices, news"),
        (
            ["nearest", "data.csv", *NEWS, "--time", "news=day", "--time", "news=score"],
            "--time 'news=score' is a second column for table news; give one",
        ),
        (
            ["trailing", "data.csv", "--time", "day", "--time", "close"],
            "--time 'close' is a second column for all tables; give one",
        ),
        (
            ["nearest", "data.csv", *NEWS, "--time", "day", "--time", "news=when"],
            "table news: --time 'when' is no column; the columns are day, score",
        ),
        (
            ["nearest", "data.csv", *NEWS, "--time", "prices=day"],
            "table news has 4 rows and no times, so it cannot be "
            "cut like prices; pass --time news=COLUMN, or --time news= if it was known from the start",
        ),
        (
            ["nearest", "data.csv", *NEWS, "--time", "news=day"],
            "table news has times and table prices has none; pass --time for prices",
        ),
        (
            ["nearest", "data.csv", "--table", "news=soon.csv", "--time", "day"],
            "--time day holds what is no time in 'soon.csv' (",
        ),
        (
            ["nearest", "data.csv", *NEWS, "--time", "prices="],
            "--time says that table prices was known from the start; put a table with times first",
        ),
        (["nearest", "data.csv", *NEWS, "--time", ""], "table prices: --time '' is no column"),
    ],
)
def test_bad_tables_get_one_sentence(place, arguments, sentence):
    done = run(place, f"features:{arguments[0]}", *arguments[1:])
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"attnproof: {sentence}")
