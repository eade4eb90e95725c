"""Files that compiled code writes, databases of Python's own, and files to which is appended."""

from __future__ import annotations

import dbm
import shelve
from pathlib import Path

import numpy as np
import pytest
from attnproof.causal.pipeline.check import assert_no_lookahead, check_pipeline
from attnproof.causal.pipeline.files import named_files
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")
X = np.random.default_rng(0).normal(size=30)


def in_parquet(x):
    pl = need("polars")
    if not Path("mean.parquet").exists():
        pl.DataFrame({"mean": [x.mean()]}).write_parquet("mean.parquet")
    return x - pl.read_parquet("mean.parquet")["mean"][0]


def in_a_shelf(x):
    with shelve.open("shelf") as shelf:
        return x - shelf.setdefault("mean", float(x.mean()))


def in_a_dbm(x):
    with dbm.open("base", "c") as base:
        if b"mean" not in base:
            base[b"mean"] = str(x.mean())
        return x - float(base[b"mean"])


def in_what_it_appends_to(x):
    with Path("means.csv").open("a+") as file:
        file.seek(0)
        means = file.read().split() or [str(x.mean())]
        file.write(means[0] + "\n")
    return x - float(Path("means.csv").read_text().split()[0])


@pytest.mark.parametrize("function", [in_parquet, in_a_shelf, in_a_dbm, in_what_it_appends_to])
def test_what_is_kept_in_a_file_hides_nothing(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    verdict = check_pipeline(function, X, cuts=5)
    assert verdict.status is Status.REFUTED
    assert verdict.witness.replay()
    assert any(r.startswith("function changes file ") for r in verdict.reasons), verdict.reasons
    assert not list(tmp_path.iterdir())


def test_a_writer_whose_file_is_not_named_is_named_itself(tmp_path):
    pl = need("polars")

    def kept(x):
        place = tmp_path / f"{len('mean') * 2}.parquet"
        if not place.exists():
            pl.DataFrame({"mean": [x.mean()]}).write_parquet(place)
        return x - pl.read_parquet(place)["mean"][0]

    with pytest.warns(UserWarning, match="function calls write_parquet, which tells nobody what file it writes"):
        assert_no_lookahead(kept, X, cuts=3)


def test_a_file_that_was_there_is_named_and_not_touched(tmp_path, monkeypatch):
    pl = need("polars")
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"mean": [0.5]}).write_parquet("mean.parquet")
    before = Path("mean.parquet").read_bytes()
    with pytest.warns(UserWarning, match=r"function reads file mean\.parquet, which is neither cut nor replaced"):
        assert_no_lookahead(in_parquet, X, cuts=3)
    assert Path("mean.parquet").read_bytes() == before


def test_names_of_files_in_code(tmp_path):
    texts = {"means.csv", str(tmp_path), "a sentence that ends.", "close", "", "x" * 300 + ".csv", 3, "%s.csv\n"}
    assert named_files(texts) == [Path("means.csv").absolute(), tmp_path / "means.csv"]
