"""Which row of one run is which of another: by time, by label, by position, in panels."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status, Verdict
from needs import need
from pipeline_data import panel, quarter_hours, series, trades

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


@pytest.mark.parametrize("zone", [None, "America/New_York", "UTC"])
def test_rows_are_aligned_by_time_when_positions_shift(zone):
    data = trades()
    data["when"] = data["when"].dt.tz_localize(zone)

    def only_rises(d):  # drops rows, resets the index, keeps the time
        return d[d["price"].diff() > 0].reset_index(drop=True)

    def only_before_a_fall(d):
        return d[d["price"].diff(-1) > 0].reset_index(drop=True)

    assert check_pipeline(only_rises, data, time="when", cuts="all").status is Status.UNDECIDED
    verdict = check_pipeline(only_before_a_fall, data, time="when", cuts="all")
    assert verdict.status is Status.REFUTED
    offset = {None: "Z", "America/New_York": "-05:00", "UTC": "+00:00"}[zone]
    assert (f"T09:00{offset}" in str(verdict)) == (zone is not None)
    assert Verdict.from_json(verdict.to_json()).columns == verdict.columns
    assert "no row" in map(str, verdict.witness.outputs)
    assert verdict.details["aligned_by"] == "times"


def test_rows_that_nothing_identifies_are_refused():
    with pytest.raises(
        ValueError, match=r"function returned 9 rows for 10, and nothing says which rows these are; keep the"
    ):
        check_pipeline(lambda s: s.dropna().reset_index(drop=True), series())
    with pytest.raises(ValueError, match=r"function returned 9 rows for 10"):
        check_pipeline(np.diff, np.arange(10.0))


@pytest.mark.parametrize(("direction", "ahead"), [("backward", False), ("forward", True), ("nearest", True)])
def test_asof_joins(direction, ahead):
    data = trades()

    def join(d):
        bars = d.iloc[::3].rename(columns={"price": "quote"})
        return pd.merge_asof(d, bars, on="when", direction=direction)

    assert (check_pipeline(join, data, time="when").status is Status.REFUTED) is ahead


def test_bars_labelled_when_they_close_do_not_look_ahead():
    data = quarter_hours()
    for label, ahead in (("left", True), ("right", False)):
        verdict = check_pipeline(
            lambda f, label=label: f.resample("1h", closed="right", label=label).sum(), data, cuts="all"
        )
        assert (verdict.status is Status.REFUTED) is ahead
        assert verdict.details["aligned_by"] == "times"
        if ahead:
            assert verdict.witness.replay()


def test_panels_are_cut_by_time_across_groups():
    data = panel()
    own = {"grouped": lambda d: d[["firm", "day"]].assign(y=d.groupby("firm")["x"].shift(1))}
    own["cross-section"] = lambda d: d[["firm", "day"]].assign(y=d["x"] - d.groupby("day")["x"].transform("mean"))
    for function in own.values():
        assert check_pipeline(function, data, time="day", group="firm").status is Status.UNDECIDED
    ungrouped = check_pipeline(lambda d: d[["firm", "day"]].assign(y=d["x"].shift(1)), data, time="day", group="firm")
    assert ungrouped.status is Status.REFUTED  # the first day of B gets the last day of A
    assert "through other groups" in ungrouped.columns[-1].detail
    demeaned = check_pipeline(
        lambda d: d[["firm", "day"]].assign(y=d["x"] - d.groupby("firm")["x"].transform("mean")),
        data,
        time="day",
        group="firm",
    )
    assert demeaned.status is Status.REFUTED
    assert "through its own group" in demeaned.columns[-1].detail


def test_panels_in_other_shapes():
    data = panel()
    indexed = data.set_index(["firm", "day"])
    keys = {"time": "day", "group": "firm"}
    assert check_pipeline(lambda d: d.groupby(level="firm").cumsum(), indexed, **keys).status is Status.UNDECIDED
    assert check_pipeline(lambda d: d.groupby(level="firm").shift(-1), indexed, **keys).status is Status.REFUTED

    def by_day(lag):
        def features(d):
            ordered = d.sort_values(["day", "firm"]).reset_index(drop=True)
            return ordered[["firm", "day"]].assign(y=ordered.groupby("firm")["x"].shift(lag))

        return features

    assert check_pipeline(by_day(1), data, **keys).status is Status.UNDECIDED
    assert check_pipeline(by_day(-1), data, **keys).status is Status.REFUTED
    wide = check_pipeline(lambda d: d.pivot(index="day", columns="firm", values="x").diff(), data, **keys)
    assert [c.name for c in wide.columns] == ["A", "B", "C"]
    assert wide.status is Status.UNDECIDED
    means = check_pipeline(lambda d: d.groupby("day")["x"].mean().shift(-1), data, **keys)
    assert (means.status, means.columns[0].reach) == (Status.REFUTED, 1)


def test_the_returned_time_tells_the_row_however_results_are_sorted():
    """By chance the whole is in order of the id; with other ids it is not."""
    polars = need("polars")
    times = pd.date_range("2024-01-01", periods=12)
    data = polars.DataFrame({"t": times.to_numpy(), "id": np.arange(12), "x": np.arange(12.0) ** 2})

    def by_id(d):
        return d.with_columns(y=polars.col("x").cum_sum()).sort("id")[["t", "y"]]

    verdict = check_pipeline(by_id, data, time="t")
    assert verdict.status is Status.UNDECIDED
    assert "rows of two runs are paired by their time" in verdict.assumptions
    ahead = check_pipeline(lambda d: by_id(d.with_columns(x=polars.col("x").shift(-1))), data, time="t")
    assert ahead.status is Status.REFUTED

    def filtered(d):
        return d.filter(polars.col("x") < 1000)[["t", "x"]]

    verdict = check_pipeline(filtered, data, time="t", cuts="all")
    assert verdict.status is Status.UNDECIDED
    assert not any("nothing says which rows" in reason for reason in verdict.reasons)
    assert not any("replaced" in reason for reason in verdict.reasons)


def test_rolled_features_whose_index_has_no_names():
    """As tsfresh returns them: a row for each group and time, in order of the groups, the levels without names."""
    data = panel().sort_values(["day", "firm"]).reset_index(drop=True)

    def rolled(lag):
        def features(d):
            found = d.assign(y=d.groupby("firm")["x"].shift(lag)).sort_values(["firm", "day"])
            found.index = pd.MultiIndex.from_arrays([found["firm"], found["day"]], names=[None, None])
            return found[["y"]]

        return features

    verdict = check_pipeline(rolled(1), data, time="day", group="firm")
    assert verdict.status is Status.UNDECIDED
    assert "rows of two runs are paired by their time and group" in verdict.assumptions
    assert check_pipeline(rolled(-1), data, time="day", group="firm").status is Status.REFUTED


@pytest.mark.parametrize("indexed", [True, False])
def test_newest_first_with_a_fresh_index(indexed):
    data = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=30), "x": np.random.default_rng(0).normal(size=30)})
    given, keys = (data.set_index("day"), {}) if indexed else (data, {"time": "day"})

    def newest_first(lag):
        return lambda d: d["x"].shift(lag).iloc[::-1].reset_index(drop=True)

    verdict = check_pipeline(newest_first(1), given, **keys)
    assert verdict.status is Status.UNDECIDED
    assert "rows of two runs are paired by their place, newest first" in verdict.assumptions
    ahead = check_pipeline(newest_first(-2), given, **keys)
    assert (ahead.status, ahead.columns[0].reach) == (Status.REFUTED, 2)
    assert ahead.witness.replay()
    plain = check_pipeline(lambda d: d["x"].shift(1).reset_index(drop=True), given, **keys)
    assert plain.status is Status.UNDECIDED
    assert not any("newest" in text for text in plain.assumptions)
