"""Where a long series is cut: before what is new in the calendar, in time, in flags and in rare values."""

from __future__ import annotations

import re

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")

N = 20_000


def bars(**more):
    times = pd.date_range("2024-01-03 06:15", periods=N, freq="15min")
    return pd.DataFrame({"close": np.random.default_rng(0).normal(size=N).cumsum(), **more}, index=times)


def peeks(chosen):
    """A function that reads the next row in the rows that `chosen(table)` names."""

    def function(d):
        return d["close"].where(~chosen(d), d["close"].shift(-1))

    return function


def last_of_period(period):
    def chosen(d):
        starts = d.index.to_period(period).start_time
        ends = (d.index + pd.Timedelta("15min")).to_period(period).start_time
        return pd.Series(starts != ends, index=d.index)

    return chosen


@pytest.mark.parametrize("period", ["h", "D", "W", "M"])
def test_the_last_bar_of_a_calendar_period(period):
    verdict = check_pipeline(peeks(last_of_period(period)), bars())
    assert verdict.status is Status.REFUTED, period
    assert verdict.details["calls"] <= 60


@pytest.mark.parametrize(
    "chosen",
    [
        lambda d: d["flag"].astype(bool) & ~d["flag"].shift(-1, fill_value=0).astype(bool),
        lambda d: ~d["flag"].astype(bool) & d["flag"].shift(-1, fill_value=0).astype(bool),
    ],
)
def test_the_last_row_before_a_flag_changes(chosen):
    flag = np.zeros(N, int)
    flag[7001:7005] = 1
    assert check_pipeline(peeks(chosen), bars(flag=flag)).status is Status.REFUTED


def test_the_row_before_and_the_row_of_a_rare_value():
    paid = np.tile(np.arange(50.0), N // 50)  # too many values for a flag
    paid[11_111] = 77.0
    for shift in (0, 1):
        verdict = check_pipeline(peeks(lambda d, k=shift: d["paid"].shift(-k) == 77.0), bars(paid=paid))
        assert verdict.status is Status.REFUTED


def test_the_last_row_before_a_break_in_time():
    data = bars()
    data.index = data.index.where(np.arange(N) < 12_345, data.index + pd.Timedelta("5h"))

    def before_a_break(d):
        later = d.index.to_series().shift(-1)
        return (later - d.index.to_series()) > pd.Timedelta("1h")

    assert check_pipeline(peeks(before_a_break), data).status is Status.REFUTED


@pytest.mark.parametrize("named", [True, False])
def test_a_leak_at_one_time_of_day_or_weekday_only(named):
    data = bars() if named else bars().reset_index(names="at")
    at = (lambda d: d.index) if named else (lambda d: d["at"].dt)
    kinds = [lambda d, h=h: at(d).hour == h for h in range(1, 24, 4)] + [lambda d: at(d).weekday == 3]
    for chosen in kinds:
        verdict = check_pipeline(peeks(chosen), data)
        assert verdict.status is Status.REFUTED
        assert verdict.details["calls"] <= 60


def test_times_of_day_without_a_cut_are_told():
    verdict = check_pipeline(lambda d: d.diff(), bars())
    (told,) = [r for r in verdict.reasons if r.startswith("no cut falls in ")]
    assert re.fullmatch(r"no cut falls in \d+ of 96 times of day; .*", told), told
    assert not any("no cut falls" in r for r in check_pipeline(lambda d: d.diff(), bars().iloc[:60]).reasons)
