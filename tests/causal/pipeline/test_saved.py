"""A witness saved: two tables, what differs between them, and a test that fails."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from attnproof.causal.pipeline import PipelineWitness, check_pipeline
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")
MODULE = """import numpy as np
def features(d):
    return d.rolling(5, center=True).mean()
def joined(prices, news):
    return prices.assign(score=news["score"].shift(-1).to_numpy())
def array(x):
    return np.roll(x, -1)
"""


def run(folder):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_no_lookahead.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("name", ["features", "joined", "array"])
def test_the_test_fails_until_the_function_is_mended(tmp_path, name, monkeypatch):
    need("pyarrow")
    module = tmp_path / f"made_{name}.py"
    module.write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    function = getattr(__import__(module.stem), name)
    prices = pd.DataFrame({"close": np.arange(20.0) ** 2}, index=pd.date_range("2024-01-01", periods=20))
    news = pd.DataFrame({"score": np.arange(20.0)}, index=prices.index)
    data = {"features": prices, "joined": {"prices": prices, "news": news}, "array": np.arange(9.0)}[name]
    witness = check_pipeline(function, data, startup=2).witness
    files = witness.save(tmp_path / "shown", f"{module}:{name}")
    assert {f.name for f in files} >= {"difference.csv", "witness.json", "test_no_lookahead.py"}
    assert (tmp_path / "shown" / ("witness.npy" if name == "array" else "witness.parquet")).is_file()
    assert len((tmp_path / "shown/difference.csv").read_text().splitlines()) >= 2
    code, said = run(tmp_path / "shown")
    assert code == 1, said
    assert witness.describe()[:40] in said
    module.write_text("def features(d):\n    return d\njoined = lambda prices, news: prices\narray = features\n")
    assert "ValueError" in run(tmp_path / "shown")[1] if name == "joined" else run(tmp_path / "shown")[0] == 0


def test_a_witness_that_was_read_back_has_no_data():
    witness = check_pipeline(lambda x: x[::-1], np.arange(6.0)).witness
    with pytest.raises(ValueError, match="witness was read back from its record, without data"):
        PipelineWitness.from_dict(witness.to_dict()).save("nowhere")


def test_what_was_changed_is_told_from_the_cut_on():
    table = pd.DataFrame({name: np.arange(20.0) for name in "abc"})
    witness = check_pipeline(lambda d: d[["c"]].shift(-1), table).witness
    assert [what for what, _, _ in witness.changes()][:3] == [f"row {witness.position}, column {c}" for c in "abc"]
