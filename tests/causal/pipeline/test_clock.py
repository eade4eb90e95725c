"""Ranks of time: boundaries, ties, times of every kind that sorts, zones, groups that count for themselves."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.boundary import Boundary
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status, Verdict
from needs import need
from pipeline_data import panel, trades

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


def test_lagged_boundary_counts_rows():
    s = pd.Series(np.arange(12.0) ** 2)
    assert check_pipeline(lambda x: x.shift(2), s, boundary="lag:2").status is Status.UNDECIDED
    assert check_pipeline(lambda x: x.shift(2), s, boundary="lag:3").status is Status.REFUTED


def test_availability_times_decide():
    """A figure published two rows later may be used from then on, not before."""
    s, n = pd.Series(np.arange(12.0)), 12
    published = Boundary.from_times(np.arange(n) + 2, np.arange(n))
    assert check_pipeline(lambda x: x.shift(2), s, boundary=published).status is Status.UNDECIDED
    assert check_pipeline(lambda x: x.shift(1), s, boundary=published).status is Status.REFUTED


def test_simultaneous_rows_are_no_future():
    """Rows of one instant arrive together: using the other one is not look-ahead, using the next instant is."""
    data = trades()

    def total(d):
        return d[["when"]].assign(total=d.groupby("when")["price"].transform("sum"))

    assert check_pipeline(total, data, time="when", cuts="all").status is Status.UNDECIDED
    assert check_pipeline(total, data, cuts="all").status is Status.REFUTED  # without times, rows are instants


def test_panels_without_times_count_rows_within_groups():
    data = panel().drop(columns="day")
    assert check_pipeline(lambda d: d.assign(y=d.groupby("firm")["x"].cumsum())[["y"]], data, group="firm").status is (
        Status.UNDECIDED
    )
    assert check_pipeline(lambda d: d.assign(y=d.groupby("firm")["x"].shift(-1))[["y"]], data, group="firm").status is (
        Status.REFUTED
    )


@pytest.mark.parametrize("make", [str, pd.Timestamp.date, pd.Timestamp.timestamp])
def test_times_of_any_kind_that_sorts(make):
    days = [make(day) for day in pd.date_range("2024-01-01", periods=9)]
    data = pd.DataFrame({"t": days, "x": np.arange(9.0) ** 2})
    ahead = check_pipeline(lambda d: d.assign(x=d["x"].shift(-2)).dropna().reset_index(drop=True), data, time="t")
    assert (ahead.status, ahead.columns[1].reach) == (Status.REFUTED, 2)
    assert Verdict.from_json(ahead.to_json()).columns == ahead.columns
    behind = check_pipeline(lambda d: d.assign(x=d["x"].shift(2)).dropna().reset_index(drop=True), data, time="t")
    assert behind.status is Status.UNDECIDED


def test_periods_and_daylight_saving():
    monthly = pd.Series(np.arange(9.0), index=pd.period_range("2020-01", periods=9, freq="M"))
    assert check_pipeline(lambda s: s.shift(-1), monthly).status is Status.REFUTED
    hours = pd.date_range("2024-03-30 20:00", periods=30, freq="h", tz="Europe/Berlin")
    series = pd.Series(np.arange(30.0), index=hours)
    assert (
        check_pipeline(lambda s: s.resample("D", label="right", closed="right").sum(), series).status
        is Status.UNDECIDED
    )
    assert check_pipeline(lambda s: s.resample("D").sum(), series).status is Status.REFUTED
    assert check_pipeline(lambda s: s.tz_convert("UTC").cumsum(), series).status is Status.UNDECIDED
