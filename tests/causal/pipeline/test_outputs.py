"""Results of every kind: frames, series, arrays, lists, mappings."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.pipeline.columns import share
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")


def test_polars_frames_and_series():
    pl = need("polars")
    frame = pl.DataFrame(
        {"t": range(10), "x": [1.0, 2.0, None, 4.0, 3.0, float("nan"), 5.0, 6.0, 2.0, 1.0], "k": ["a", "b"] * 5}
    )

    def features(d):
        return d.select("t", back=pl.col("x").fill_nan(None).fill_null(strategy="backward"), lag=pl.col("k").shift(1))

    verdict = check_pipeline(features, frame, time="t")
    assert [c.status.name for c in verdict.columns] == ["UNDECIDED", "REFUTED", "UNDECIDED"]
    assert check_pipeline(lambda s: s.rolling_mean(3), frame["x"]).status is Status.UNDECIDED
    assert check_pipeline(lambda d: d.select(pl.col("k").shift(-1)), frame).columns[0].carrier == "k"


def test_numpy_arrays_and_lists_and_mappings():
    x = np.arange(24.0).reshape(12, 2)
    verdict = check_pipeline(lambda a: {"sum": a.cumsum(0)[:, 0], "next": np.roll(a[:, 1], -1)}, x)
    assert [c.status.name for c in verdict.columns] == ["UNDECIDED", "REFUTED"]
    assert verdict.columns[1].carrier == "x1"
    assert check_pipeline(lambda a: list(a[:, 0]), x).status is Status.UNDECIDED
    assert check_pipeline(lambda a: a[:, ::-1] > 3, x.astype(np.int16)).status is Status.UNDECIDED


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.ones((len(x), len(x))),
        lambda x: [[a] * min(len(x), 3) for a in x],
        lambda x: np.eye(3)[np.digitize(x, [1, 3])][:, : np.digitize(x, [1, 3]).max() + 1],
    ],
)
def test_other_columns_for_a_prefix_are_a_finding(function):
    verdict = check_pipeline(function, np.arange(8.0))
    assert verdict.status is Status.REFUTED
    assert verdict.witness.replay()
    (columns,) = [c for c in verdict.columns if c.name == "set of columns"]
    assert columns.status is Status.REFUTED


def test_a_share_that_is_not_zero_is_never_shown_as_zero():
    assert [share(x) for x in (1.0, 0.0123, 0.00005, 0.00004)] == ["100.00%", "1.23%", "0.01%", "less than 0.01%"]
    data = np.arange(12.0)
    column = check_pipeline(lambda x: np.where(np.arange(len(x)) == 0, x[-1], x), data).columns[0]
    assert column.status is Status.REFUTED
    assert "0.00%" not in column.detail
