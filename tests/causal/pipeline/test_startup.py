"""Rows at the start that are not compared, and how many a pipeline needs."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline import check_pipeline, measure_startup
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")
X = 100 + np.random.default_rng(0).normal(size=400).cumsum()
PRICES = pd.DataFrame({"close": X}, index=pd.date_range("2024-01-01", periods=400, freq="h"))
PANEL = pd.concat([PRICES.iloc[:60].assign(firm=f) for f in "AB"]).reset_index(names="day").sort_values(["day", "firm"])


def warm(d):
    """Writes the first full window into the rows before it, as some libraries of indicators do."""
    mean = d["close"].rolling(10).mean()
    return mean.fillna(mean.iloc[9] if len(mean) > 9 else np.nan)


def test_rows_of_the_start_are_not_compared():
    assert check_pipeline(warm, PRICES.iloc[:60]).status is Status.REFUTED
    verdict = check_pipeline(warm, PRICES.iloc[:60], startup=9)
    assert verdict.status is Status.UNDECIDED
    late = check_pipeline(lambda d: d["close"].shift(-1), PRICES.iloc[:60], startup=9)
    assert late.columns[0].first_row == 9
    assert late.witness.replay()


def test_each_group_has_a_start_of_its_own():
    def of_each(d):
        return d.groupby("firm", group_keys=False)[["close"]].apply(lambda g: g.assign(close=warm(g)))

    keys = {"time": "day", "group": "firm"}
    assert check_pipeline(of_each, PANEL, **keys).status is Status.REFUTED
    assert check_pipeline(of_each, PANEL, **keys, startup=9).status is Status.UNDECIDED
    timed = PRICES.iloc[:40].reset_index(names="at")
    sparse = [check_pipeline(lambda d: d.assign(close=warm(d)).iloc[::2].reset_index(drop=True), timed, time="at")]
    sparse.append(check_pipeline(lambda d: d.assign(close=warm(d))[::2], timed, time="at", startup=9))
    assert [verdict.status.name for verdict in sparse] == ["REFUTED", "UNDECIDED"]


@pytest.mark.parametrize("startup", [-1, True, 400, 2.5])
def test_a_startup_that_does_not_fit_is_one_sentence(startup):
    with pytest.raises(ValueError, match="startup"):
        check_pipeline(lambda d: d, PRICES, startup=startup)


def features(d):
    close = d["close"]
    return pd.DataFrame({"mean": close.rolling(20).mean(), "ewm": close.ewm(span=5).mean(), "sum": close.cumsum()})


def test_the_smallest_start_up_by_column():
    found = measure_startup(features, PRICES, tolerance=1e-6)
    assert found.needed["mean"] == 19
    decay = 1 - 2 / 6
    assert abs(found.needed["ewm"] - np.log(1e-6 * 100 / np.ptp(X)) / np.log(decay)) < 25
    assert found.needed["sum"] is None
    assert "no number of rows up to 200 is enough for sum" in str(found)
    moved = dict(zip(found.lengths, found.moves["ewm"], strict=True))
    assert all(m > 1e-6 for n, m in moved.items() if n < found.needed["ewm"])
    assert found.to_dict()["moves"]["mean"][0] == "inf"


def test_groups_lengths_and_pictures():
    def moving(d):
        return d.assign(mean=d.groupby("firm")["close"].transform(lambda s: s.rolling(4).mean()))

    found = measure_startup(moving, PANEL, time="day", group="firm", lengths=[1, 3, 8])
    assert (found.lengths, found.needed["mean"]) == ((1, 3, 8), 3)
    need("matplotlib")
    assert measure_startup(np.cumsum, X).plot().get_xscale() == "log"
    with pytest.raises(ValueError, match=r"lengths = \[300\] does not fit the data"):
        measure_startup(np.cumsum, X, lengths=[300])
