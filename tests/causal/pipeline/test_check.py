"""T17: the cases with known verdicts, alignment by time, panels, noise, and what bad input gets."""

from __future__ import annotations

import itertools
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from attnproof.causal.boundary import Boundary
from attnproof.causal.pipeline.budget import CALLS
from attnproof.causal.pipeline.check import assert_no_lookahead, check_pipeline
from attnproof.causal.pipeline.inputs import read_source
from attnproof.causal.pipeline.replacement import replaced
from attnproof.causal.pipeline.witness import PipelineWitness
from attnproof.causal.verdict import NotProvedError, PrefixLeakError, Status, Verdict, Witness
from needs import need
from peeking import double_and_peek

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")

CASES = {
    c["name"]: c for c in json.loads((Path(__file__).parents[2] / "cases" / "pipelines.json").read_text())["cases"]
}


def series():
    s = pd.Series(np.arange(10.0))
    s[3] = np.nan
    return s


def quarter_hours():
    times = pd.date_range("2024-03-01", periods=24, freq="15min")
    return pd.DataFrame({"price": np.random.default_rng(0).normal(size=24).cumsum()}, index=times)


def fills_if_above_5(s):
    following = s.shift(-1)
    return s.where(s.notna(), following.where(following > 5))


FUNCTIONS = {
    "centred rolling mean, 5 wide": lambda s: s.rolling(5, center=True).mean(),
    "back-fill": lambda s: s.bfill(),
    "linear interpolation across the gap": lambda s: s.interpolate(),
    "z-score with the whole sample's mean and deviation": lambda s: (s - s.mean()) / s.std(),
    "z-score, expanding statistics": lambda s: (s - s.expanding().mean()) / s.expanding().std(),
    "z-score with statistics of rows 0–6, applied to all rows": lambda s: (s - s[:7].mean()) / s[:7].std(),
    "shift(−1)": lambda s: s.shift(-1),
    "trailing rolling mean": lambda s: s.rolling(3).mean(),
    "forward-fill": lambda s: s.ffill(),
    "expanding mean including the row itself": lambda s: s.expanding().mean(),
    "dropping rows so that positions shift": lambda s: s.dropna().diff(),
    "unseeded noise added": lambda s: s + np.random.default_rng().normal(size=len(s)),
    "value divided by the length of the series": lambda s: s / len(s),
    "fills gaps from the next value only if that value is above 5": fills_if_above_5,
    "hourly bars joined at their opening time on 15-minute rows": lambda f: (
        f.resample("1h").last().reindex(f.index, method="ffill")
    ),
}


def data_of(name):
    return quarter_hours() if "bars" in name else series()


@pytest.mark.parametrize("name", CASES)
def test_cases_have_their_verdicts(name):
    case = CASES[name]
    verdict = check_pipeline(FUNCTIONS[name], data_of(name), cuts="all")
    (column,) = verdict.columns
    assert column.reach == case["reach"]
    assert verdict.status is (Status.UNDECIDED if case["reach"] is None else Status.REFUTED)
    if case["reach"] is not None:
        assert column.through == case.get("through", "value")
        assert verdict.witness.replay()
        assert column.values == verdict.witness.outputs
        assert 0 < column.score <= 1
    if "rows" in case:
        assert [list(run) for run in verdict.details["leaking_ranks"][column.name]] == case["rows"]
        assert column.first_row == case["rows"][0][0]
    truncation, perturbation, _ = verdict.evidence
    if case.get("through") == "length":
        assert (truncation.ok, perturbation.ok) == (False, True)
    if case.get("found_by") == "perturbation":
        assert (truncation.ok, perturbation.ok) == (True, False)
    assert bool(case.get("noise")) == ("non-deterministic" in column.detail)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if "strict" in c])
def test_strict_boundaries_are_tested_by_changing_the_row_itself(name):
    verdict = check_pipeline(FUNCTIONS[name], series(), boundary="strict", cuts="all")
    assert verdict.status is Status.REFUTED
    (column,) = verdict.columns
    assert "uses its own row, which the boundary forbids" in column.detail
    assert column.reach == 0
    assert [e.ok for e in verdict.evidence] == [True, False, True]
    assert verdict.witness.query == verdict.witness.position
    assert verdict.witness.replay()
    lagged = check_pipeline(lambda s: FUNCTIONS[name](s).shift(1), series(), boundary=Boundary.strict(10), cuts="all")
    assert lagged.status is Status.UNDECIDED


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


def test_labels_may_look_ahead_and_say_so():
    data = pd.DataFrame({"close": np.arange(9.0) ** 2})

    def features(d):
        return pd.DataFrame({"return": d["close"].diff(), "target": d["close"].shift(-1)})

    assert check_pipeline(features, data).status is Status.REFUTED
    verdict = check_pipeline(features, data, labels=["target"])
    assert verdict.status is Status.UNDECIDED
    assert "declared a label, which may look ahead: looks ahead 1 row" in verdict.columns[1].detail
    assert all(e.ok for e in verdict.evidence)
    with pytest.raises(ValueError, match=r"labels names 'tgt', which is no output column; they are return, target"):
        check_pipeline(features, data, labels=["tgt"])


def test_the_carrying_column_is_named():
    data = pd.DataFrame({"a": np.arange(10.0), "b": np.arange(10.0) ** 2, "c": 1.0 / np.arange(1, 11)})

    def features(d):
        return pd.DataFrame({"x": d["a"] + d["b"].shift(-2), "y": d["a"], "z": d["c"].shift(-1) * 0 + d["b"].shift(-1)})

    x, y, z = check_pipeline(features, data).columns
    assert (x.carrier, x.reach) == ("b", 2)
    assert (y.status, y.carrier) == (Status.UNDECIDED, None)
    assert z.carrier == "b"


def test_many_columns_are_searched_by_halves():
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 64)), columns=[f"c{i}" for i in range(64)])

    def slow(d):
        import time

        time.sleep(0.006)
        return d[["c37"]].shift(-1)

    verdict = check_pipeline(slow, data, cuts=2)
    assert verdict.columns[0].carrier == "c37"


# -- time, ties, zones, panels --------------------------------------------------------------------------------------


def trades():
    return pd.DataFrame(
        {
            "when": pd.to_datetime(
                ["2024-01-02 09:00", "2024-01-02 09:00", "2024-01-02 09:07", "2024-01-02 10:01"] * 1
            ).append(pd.date_range("2024-01-02 10:30", periods=8, freq="37min")),
            "price": [3.0, 4.0, 2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0, 8.0, 2.0, 8.0],
        }
    )


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
    assert ("times are shown in UTC" in verdict.reasons) == (zone is not None)
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


def test_simultaneous_rows_are_no_future():
    """Rows of one instant arrive together: using the other one is not look-ahead, using the next instant is."""
    data = trades()

    def total(d):
        return d[["when"]].assign(total=d.groupby("when")["price"].transform("sum"))

    assert check_pipeline(total, data, time="when", cuts="all").status is Status.UNDECIDED
    assert check_pipeline(total, data, cuts="all").status is Status.REFUTED  # without times, rows are instants


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


def panel():
    days = pd.date_range("2024-01-01", periods=8)
    random = np.random.default_rng(1)
    return pd.concat(
        [pd.DataFrame({"firm": f, "day": days, "x": random.normal(size=8)}) for f in ("A", "B", "C")], ignore_index=True
    )


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


def test_unsorted_times_are_refused():
    data = trades()
    with pytest.raises(ValueError, match=r"time goes back at row 1 \(2024-01-02T09:07\); sort the data by time first"):
        check_pipeline(lambda d: d, data.iloc[[7, 2, 3]], time="when")
    with pytest.raises(ValueError, match=r"time goes back at row 3 within its group"):
        check_pipeline(lambda d: d, panel().iloc[[0, 8, 16, 9, 8, 1]].iloc[[0, 1, 3, 4, 5]], time="day", group="firm")


# -- other tables ---------------------------------------------------------------------------------------------------


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


def test_every_kind_of_column_is_replaced():
    data = pd.DataFrame(
        {
            "flag": [True, False] * 5,
            "count": pd.array([1, 2, None, 4, 5, 6, 7, 8, 9, 10], dtype="Int64"),
            "small": np.arange(10, dtype=np.uint8) + 246,
            "kind": pd.Categorical(["u", "v"] * 5),
            "word": ["p", "q", None, "p", "q"] * 2,
            "real": pd.array([1.5] * 9 + [None], dtype="Float64"),
            "day": pd.date_range("2020-01-01", periods=10),
        }
    )
    verdict = check_pipeline(lambda d: d.shift(-1), data, cuts="all")
    assert {c.name: c.status.name for c in verdict.columns} == dict.fromkeys(data.columns, "REFUTED")
    assert [c.carrier for c in verdict.columns] == list(data.columns)
    assert check_pipeline(lambda d: d.shift(1), data, cuts="all").status is Status.UNDECIDED
    for cut in (2, 5):  # gaps stay gaps, dtypes stay, the past stays
        for how in ("high", "low", "draw"):
            other = replaced(read_source(data), np.arange(10) > cut, how, 1)
            assert other.dtypes.equals(data.dtypes)
            assert other.isna().equals(data.isna())
            assert other.iloc[: cut + 1].equals(data.iloc[: cut + 1])


def test_transformers():
    need("sklearn")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    x = np.arange(12.0)[:, None] ** 2
    verdict = check_pipeline(make_pipeline(FunctionTransformer(np.log1p), StandardScaler()), x)
    assert (verdict.status, verdict.columns[0].reach) == (Status.REFUTED, "whole series")
    fitted = StandardScaler().fit(x)

    class Frozen:
        def transform(self, data):
            return fitted.transform(data)

    frozen = check_pipeline(Frozen(), x)
    assert frozen.status is Status.UNDECIDED
    assert "the object was fitted beforehand; what it learnt from later rows then is not seen here" in frozen.reasons


# -- noise, rounding, mutation, short prefixes ----------------------------------------------------------------------


def test_what_is_not_deterministic_is_never_refuted():
    s = pd.Series(np.arange(40.0))

    def noisy(x):
        return pd.DataFrame(
            {"noisy": x.shift(-1) + 1e-3 * np.random.default_rng().normal(size=len(x)), "ahead": x.shift(-2)}
        )

    verdict = check_pipeline(noisy, s)
    noisy_column, ahead = verdict.columns
    assert noisy_column.status is Status.UNDECIDED
    assert "non-deterministic: runs on equal input differ by up to 0.00" in noisy_column.detail
    (reason,) = [r for r in verdict.reasons if "disagrees" in r]
    assert re.fullmatch(
        r"function disagrees with itself on equal input \(noisy by up to 0\.00\d+\): it reads a clock, draws without a "
        "seed or remembers earlier calls; pass the time in as data, fix the seed, keep nothing between calls, and "
        "check again",
        reason,
    )
    assert verdict.evidence[2].ok is False
    assert "repetition: " in verdict.evidence[2].detail
    assert (ahead.status, ahead.reach) == (Status.REFUTED, 2)  # the other column is the same whenever it is run
    assert verdict.witness.column == "ahead"
    assert verdict.witness.replay()


@pytest.mark.parametrize("late", range(2, 12))
def test_a_clock_that_ticks_during_the_check_is_no_leak(late):
    """Whichever call the clock ticks before, the unchanged input is run again afterwards, and tells."""
    calls = itertools.count()

    def stamped(x):
        return x + (next(calls) >= late)

    verdict = check_pipeline(stamped, np.arange(6.0), cuts=2)
    assert verdict.status is Status.UNDECIDED
    assert any("reads a clock" in r for r in verdict.reasons) == (late < next(calls))


@pytest.mark.parametrize("cuts", [1, 5, "all"])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.7, 0.95])
def test_rare_draws_are_no_leaks(cuts, share):
    for seed in range(20):
        random = np.random.default_rng(seed)
        verdict = check_pipeline(lambda x, r=random: x + (r.random() < share), np.arange(9.0), cuts=cuts)
        assert verdict.status is Status.UNDECIDED


def test_functions_that_use_the_room_of_their_result_again():
    room = np.empty(30)

    def ahead(x):
        room[: len(x)] = np.append(x[1:], 0)
        return room[: len(x)]

    verdict = check_pipeline(ahead, np.arange(30.0) ** 2)
    assert verdict.status is Status.REFUTED
    assert verdict.columns[0].reach == 1
    assert verdict.witness.replay()


def test_rounding_is_no_leak():
    signal = need("scipy.signal")
    x = np.random.default_rng(0).normal(size=300).cumsum() * 1e6

    def causal_by_fft(a):
        return signal.fftconvolve(a, np.ones(16) / 16)[: len(a)]

    assert check_pipeline(causal_by_fft, x, cuts=12).status is Status.UNDECIDED


def test_functions_that_spoil_their_input_are_named():
    data = pd.DataFrame({"x": np.arange(8.0), "y": 1.0})
    before = data.copy()

    def spoil(d):
        d["x"] = 0.0
        return d[["y"]]

    verdict = check_pipeline(spoil, data)
    assert data.equals(before)
    assert "function changes column x in place; it was given copies, so let it copy its input" in verdict.reasons

    def spoil_array(a):
        a[:] = 0
        return a

    assert any("changes its array in place" in r for r in check_pipeline(spoil_array, np.arange(8.0)).reasons)


def test_short_prefixes_that_raise_are_no_leak():
    def picky(s):
        if len(s) < 7:
            raise ValueError("too short")
        return s.cumsum()

    verdict = check_pipeline(picky, pd.Series(np.arange(60.0)), cuts=8)
    assert verdict.status is Status.UNDECIDED
    (reason,) = [r for r in verdict.reasons if "too short" in r]
    assert reason == (
        "function raises ValueError (too short) on a prefix of 6 rows; "
        "the shortest prefix it accepts among those tried has 7 rows"
    )


def test_replacements_out_of_range_that_raise_fall_back_on_the_data_s_own_values():
    def strict_range(s):
        if (s > 9).any() or (s < 0).any():
            raise ValueError("out of range")
        return s.shift(-1)

    assert check_pipeline(strict_range, series()).status is Status.REFUTED


# -- what bad input gets --------------------------------------------------------------------------------------------

X = np.arange(8.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: check_pipeline(np.cumsum, [1, 2, 3]),
            TypeError,
            r"data is list; pass a pandas or Polars frame or series",
        ),
        (lambda: check_pipeline(np.cumsum, np.zeros((2, 2, 2))), ValueError, r"data has shape \(2, 2, 2\); pass rows"),
        (lambda: check_pipeline(np.cumsum, X[:1]), ValueError, r"data has 1 rows; a look-ahead check needs at least 2"),
        (lambda: check_pipeline(lambda d: d, pd.DataFrame()), ValueError, r"data has 0 rows"),
        (lambda: check_pipeline(lambda d: d, pd.DataFrame(index=range(4))), ValueError, r"data has no columns"),
        (
            lambda: check_pipeline(lambda d: d, pd.DataFrame(np.ones((4, 2)), columns=["a", "a"])),
            ValueError,
            r"data has two columns named a; rename one",
        ),
        (lambda: check_pipeline(3, X), TypeError, r"function is int; pass a callable, or an object with fit_transform"),
        (
            lambda: check_pipeline(lambda x: None, X),
            TypeError,
            r"function returned NoneType; return a frame, a series or",
        ),
        (
            lambda: check_pipeline(lambda x: 1 / 0, X),
            ValueError,
            r"function raises ZeroDivisionError \(division by zero\) on",
        ),
        (
            lambda: check_pipeline(lambda x: x[:, None, None], X),
            ValueError,
            r"function returned an array of shape \(8, 1, 1\)",
        ),
        (
            lambda: check_pipeline(lambda x: np.ones((len(x), len(x))), X),
            ValueError,
            r"function returned columns y0 for one input and y0, .* for another; return the same columns",
        ),
        (
            lambda: check_pipeline(lambda s: pd.concat([s, s], axis=1), pd.Series(X, name="v")),
            ValueError,
            r"function returned two columns named v; rename one",
        ),
        (
            lambda: check_pipeline(lambda x: {"a": x, "b": x[1:]}, X),
            ValueError,
            r"function returned columns of different lengths; return one row per time",
        ),
        (
            lambda: check_pipeline(lambda x: pd.DataFrame(index=range(8)), X),
            ValueError,
            r"function returned no columns",
        ),
        (
            lambda: check_pipeline(np.cumsum, X, cuts="some"),
            ValueError,
            r"cuts = 'some' is unknown; pass 'all', a number",
        ),
        (lambda: check_pipeline(np.cumsum, X, cuts=0), ValueError, r"cuts = 0 is too few; pass at least 1"),
        (lambda: check_pipeline(np.cumsum, X, cuts=[9]), ValueError, r"cuts names 9; pass ranks of time from 0 to 6"),
        (lambda: check_pipeline(np.cumsum, X, cuts=[]), ValueError, r"cuts is empty; pass at least one"),
        (lambda: check_pipeline(np.cumsum, X, time="t"), ValueError, r"time = 't' is no column; the columns are x"),
        (
            lambda: check_pipeline(np.cumsum, X, time=[1, 2]),
            ValueError,
            r"time has 2 entries for 8 rows; pass one per row",
        ),
        (
            lambda: check_pipeline(np.cumsum, X, time=[1.0, np.nan, *range(6)]),
            ValueError,
            r"time is missing at row 1; drop or fill that row",
        ),
        (
            lambda: check_pipeline(np.cumsum, X, time=np.zeros(8)),
            ValueError,
            r"data has one instant only; a look-ahead check",
        ),
        (
            lambda: check_pipeline(lambda d: d, pd.DataFrame({"t": range(4)}), time="t"),
            ValueError,
            r"data has no column beside time and group",
        ),
        (
            lambda: check_pipeline(np.cumsum, X, boundary=Boundary.prefix(7)),
            ValueError,
            r"boundary speaks of 7 rows and 7 queries, the data has 8 rows",
        ),
        (lambda: check_pipeline(np.cumsum, X, boundary=3), TypeError, r"boundary must be a Boundary, not int"),
        (lambda: check_pipeline(np.cumsum, X, boundary="sideways"), ValueError, r"boundary 'sideways' is unknown"),
        (
            lambda: check_pipeline(np.cumsum, X, boundary=Boundary.documents([4, 4])),
            ValueError,
            r"boundary is documents, which does not cut a series into past and future; use prefix, strict, lagged",
        ),
        (
            lambda: check_pipeline(
                lambda d: d, pd.DataFrame({"o": [[1], [2], object(), {}]}, dtype=object).map(lambda v: _Opaque())
            ),
            TypeError,
            r"column o holds objects that cannot be told apart \(_Opaque\); leave it out or turn it into numbers",
        ),
        (
            lambda: check_pipeline(lambda x: x if len(x) == 8 and x[0] == 0 and x[-1] == 7 else 1 / 0, X),
            ValueError,
            r"function raises ZeroDivisionError \(division by zero\) on every replay; it must accept other data",
        ),
        (
            lambda: check_pipeline(lambda x: x, X, workers=2),
            ValueError,
            r"function cannot be sent to other processes .*; define it in a module, or leave out workers",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, error, message):
    with pytest.raises(error, match=message):
        call()


class _Opaque:
    def __str__(self):
        raise TypeError("no text")

    __repr__ = __str__


def test_columns_that_cannot_be_replaced_are_named():
    data = pd.DataFrame({"empty": [np.nan] * 6, "same": ["k"] * 6, "x": range(6)})
    verdict = check_pipeline(lambda d: d, data)
    assert "column empty has no value at all, so nothing can be learnt by replacing it" in verdict.reasons
    assert "column same has one value only, so nothing can be learnt by replacing it" in verdict.reasons


def test_missing_pandas_is_no_obstacle_for_arrays(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert check_pipeline(np.cumsum, X).status is Status.UNDECIDED


# -- budgets, exactness, processes, records -------------------------------------------------------------------------


def test_automatic_cuts_call_at_most_60_times_and_hit_the_gaps():
    random = np.random.default_rng(0)
    data = pd.DataFrame(random.normal(size=(20_000, 20)).cumsum(0), columns=[f"c{i}" for i in range(20)])
    data.iloc[777, 3] = np.nan
    calls = itertools.count()  # a list would be put back

    def slow_bfill(d):
        next(calls)
        return d.bfill()

    verdict = check_pipeline(slow_bfill, data)
    made = next(calls)
    assert made <= CALLS
    assert verdict.details["calls"] == made
    assert 777 in verdict.details["cuts"]
    (leaking,) = [c for c in verdict.columns if c.status is Status.REFUTED]
    assert (leaking.name, leaking.first_row, leaking.reach, leaking.carrier) == ("c3", 777, 1, "c3")
    assert 50 < check_pipeline(lambda d: d.diff(), data).details["calls"] <= CALLS


def test_exact_finds_the_first_leaking_row():
    s = pd.Series(np.arange(200.0))

    def late(x):
        y = x.copy()
        y[37:] = x.shift(-1)[37:]
        return y

    rough = check_pipeline(late, s, cuts=4)
    exact = check_pipeline(late, s, cuts=4, exact=True)
    assert rough.columns[0].first_row > 37
    assert exact.columns[0].first_row == 37


def test_chosen_cuts_are_the_cuts_that_run():
    verdict = check_pipeline(lambda x: x.bfill(), series(), cuts=[0, 7])
    assert verdict.status is Status.UNDECIDED
    assert list(verdict.details["cuts"]) == [0, 7]
    assert verdict.reasons[0] == (
        "cut after row 0, row 7; that nothing was found there proves nothing for other cuts and other data"
    )


def test_processes_find_what_one_process_finds():
    one = check_pipeline(double_and_peek, np.arange(9.0), cuts=3)
    two = check_pipeline(double_and_peek, np.arange(9.0), cuts=3, workers=2)
    assert two.columns == one.columns
    assert two.evidence == one.evidence


def only_here(x):
    return x


def test_a_function_that_other_processes_cannot_import(monkeypatch):
    monkeypatch.setattr(sys, "path", [p for p in sys.path if Path(p).resolve() != Path(__file__).parents[3]])
    monkeypatch.setattr(only_here, "__module__", "a_module_that_is_not_there")
    monkeypatch.setitem(sys.modules, "a_module_that_is_not_there", sys.modules[__name__])
    with pytest.raises(ValueError, match="workers = 2 processes could not load the function or ended early; define it"):
        check_pipeline(only_here, np.arange(9.0), cuts=3, workers=2)


def test_verdicts_read_back_and_their_witness_replays_with_the_program():
    verdict = check_pipeline(double_and_peek, np.arange(9.0))
    again = Verdict.from_json(verdict.to_json())
    assert again.status is Status.REFUTED
    witness = again.witness
    assert isinstance(witness, PipelineWitness)
    assert witness == Witness.from_dict(verdict.witness.to_dict())
    assert witness.inputs == (None, None)
    assert verdict.witness.inputs[0].tolist() == list(range(9))
    assert verdict.witness.inputs[1].tolist() != list(range(9))
    with pytest.raises(
        ValueError, match=r"function and data are not part of the record; pass replay\(function, data\)"
    ):
        witness.replay()
    assert witness.replay(double_and_peek, np.arange(9.0))
    assert not witness.replay(np.cumsum, np.arange(9.0))
    assert "0 ← 1" in witness.describe()
    assert "when the rows after row 0 are" in verdict.explain()


def test_assertion():
    assert assert_no_lookahead(np.cumsum, X).status is Status.UNDECIDED
    with pytest.raises(PrefixLeakError, match=r"use trailing windows(.|\n)*looks ahead 1 row"):
        assert_no_lookahead(double_and_peek, X)
    with pytest.raises(NotProvedError):
        assert_no_lookahead(np.cumsum, X, accept=("PROVED",))
    assert assert_no_lookahead(double_and_peek, X, suppress="a label").suppressed == "a label"


def test_progress_is_reported():
    ticks = []
    check_pipeline(np.cumsum, X, cuts=2, progress=lambda done, of: ticks.append((done, of)))
    assert ticks == [(i, 8) for i in range(1, 9)]
