"""Decisions that change are counted, with their times; the first screen names what matters."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline import check_pipeline
from attnproof.causal.pipeline.words import duration
from attnproof.errors import ArgumentError
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")
CLOSE = np.array([3.0, 1, 2, 5, 4, 6, 5, 7, 9, 8, 7, 9])
PRICES = pd.DataFrame(
    {"close": CLOSE}, index=pd.date_range("2024-03-31 00:00", periods=12, freq="h", tz="Europe/Berlin")
)


def strategy(d):
    close = d["close"]
    return pd.DataFrame(
        {
            "fine": close.diff(),
            "enter_long": (close.shift(-1) > close).astype(int),
            "exit_long": close > close.mean(),
            "side": pd.Categorical(np.where(close.rolling(3).mean() > close, "sell", "buy")),
        },
        index=d.index,
    )


def test_decisions_are_counted_as_by_hand():
    verdict = check_pipeline(strategy, PRICES, signals=["enter_long"])
    counted = verdict.details["signals"]
    assert set(counted) == {"enter_long", "exit_long"}
    live = [int(CLOSE[t + 1] > CLOSE[t]) for t in range(11)]  # written live it is always 0
    assert counted["enter_long"]["changed"] == sum(live)
    assert (counted["enter_long"]["of"], counted["enter_long"]["at_least"]) == (12, False)
    assert counted["enter_long"]["when"][:2] == ["2024-03-31T01:00+01:00", "2024-03-31T03:00+02:00"]
    assert "6 of 12 decisions are others when made live, at 2024-03-31T01:00+01:00, " in str(verdict)
    mean = [CLOSE[t] > CLOSE[: t + 1].mean() for t in range(12)]
    assert counted["exit_long"]["changed"] >= sum(a != b for a, b in zip(mean, CLOSE.mean() < CLOSE, strict=True))
    with pytest.raises(ArgumentError, match="signals names 'entry', which is no output column"):
        check_pipeline(strategy, PRICES, signals=["entry"])


def test_the_first_line_names_column_row_reach_and_carrier():
    verdict = check_pipeline(strategy, PRICES)
    first, *rest = str(verdict).splitlines()
    assert first.endswith(
        ": 2 look ahead: enter_long (at row 0 (time 2024-03-31T00:00+01:00), 1 instant (1 h), by close)"
    )
    columns = [line.split()[0] for line in rest if line.split()[0] in ("fine", "enter_long", "exit_long", "side")]
    assert columns == ["enter_long", "exit_long", "fine", "side"]
    assert [c.name for c in verdict.columns] == ["fine", "enter_long", "exit_long", "side"]


def test_a_panel_of_several_tables_says_through_which_group():
    days = pd.date_range("2024-01-01", periods=8)
    panel = pd.concat(
        [pd.DataFrame({"firm": f, "day": days, "x": np.arange(8.0) ** k}) for f, k in (("A", 1), ("B", 2))]
    )
    news = panel.rename(columns={"x": "score"}).iloc[::-1].sort_values("day", kind="stable")

    def own(panel, news):
        later = news.groupby("firm")["score"].shift(-1)
        return panel.merge(news.assign(score=later), on=["firm", "day"], how="left")

    keys = {
        "panel": panel.sort_values("day", kind="stable").reset_index(drop=True),
        "news": news.reset_index(drop=True),
    }
    verdict = check_pipeline(own, keys, time="day", group="firm")
    (score,) = [c for c in verdict.columns if c.name == "score"]
    assert score.carrier == "news.score, through its own group"


def test_stretches_of_time():
    assert [duration(np.timedelta64(n, "s")) for n in (5, 3600, 90_000)] == ["5 s", "1 h", "1 day 1 h"]
