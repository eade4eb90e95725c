"""T17 on several tables: each is cut and replaced, together and alone, and the witness names the one that leaks."""

from __future__ import annotations

import re

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status, Verdict
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")

DAYS = pd.date_range("2024-01-01", periods=40, name="date")
RANDOM = np.random.default_rng(0)
PRICES = pd.DataFrame({"close": RANDOM.normal(size=40).cumsum() + 100}, index=DAYS)
NEWS = pd.DataFrame({"score": RANDOM.normal(size=20)}, index=DAYS[::2])


def known_so_far(prices, news):
    return prices.join(news).ffill()


def next_news(prices, news):
    return pd.merge_asof(prices, news, left_index=True, right_index=True, direction="forward")


@pytest.mark.parametrize("data", [(PRICES, NEWS), {"prices": PRICES, "news": NEWS}])
def test_every_table_is_replaced_and_the_witness_names_it(data):
    assert check_pipeline(known_so_far, data).status is Status.UNDECIDED
    verdict = check_pipeline(next_news, data)
    assert [c.status.name for c in verdict.columns] == ["UNDECIDED", "REFUTED"]
    assert (verdict.columns[1].carrier, verdict.columns[1].reach) == ("news.score", 1)
    assert verdict.about.startswith("2 columns over 40 rows of prices, 20 of news, every cut")
    assert "all tables together, prices alone, news alone" in verdict.evidence[1].detail
    witness = verdict.witness
    assert witness.table == "news"
    assert re.search(r"\(1 ← news 1\): .* when the rows of table news after time 2024-01-02 are", witness.describe())
    assert witness.replay()
    again = Verdict.from_json(verdict.to_json()).witness
    assert again == witness
    assert again.replay(next_news, data)
    assert not again.replay(known_so_far, data)


def test_names_of_tables_when_the_function_tells_none():
    verdict = check_pipeline(lambda *tables: next_news(*tables), [PRICES, NEWS])
    assert verdict.columns[1].carrier == "table 2.score"


def test_a_leak_that_cancels_when_tables_change_together():
    """The two differ by nothing in the data, and by nothing when both have the same future."""

    def difference(a, b):
        return (a.close.diff(-1) > 0) ^ (b.close.diff(-1) > 0)

    assert check_pipeline(difference, (PRICES, PRICES.copy())).columns[0].carrier in ("a.close", "b.close")
    same = check_pipeline(difference, (PRICES, PRICES))  # one object: what happens to one happens to the other
    assert same.status is Status.UNDECIDED
    assert "over 40 rows of a," in same.about


def test_a_leak_that_needs_both_tables():
    """Neither table alone shows it: the flag is raised when both go beyond anything seen."""

    def flag(a, b):
        both = (a.close > PRICES.close.max() + 1).any() and (b.score > NEWS.score.max() + 0.1).any()
        return a.close.cumsum() + both

    verdict = check_pipeline(flag, (PRICES, NEWS))
    assert verdict.status is Status.REFUTED
    assert verdict.witness.table == ""
    assert verdict.columns[0].carrier == "several columns together"


def test_a_table_is_known_when_it_is_published():
    growth = pd.DataFrame({"quarter": DAYS[:30:7], "growth": [1.0, 2.0, 3.0, 4.0, 5.0]})  # quarters of a short year
    growth["published"] = growth["quarter"] + pd.Timedelta(days=5)
    data = {"prices": PRICES.reset_index(), "growth": growth}

    def joined(on):
        return lambda prices, growth: pd.merge_asof(prices, growth, left_on="date", right_on=on)[["date", "growth"]]

    when = {"prices": "date", "growth": "published"}
    assert check_pipeline(joined("published"), data, time=when, cuts=6).status is Status.UNDECIDED
    early = check_pipeline(joined("quarter"), data, time=when, cuts=6)
    assert early.status is Status.REFUTED
    assert early.columns[1].carrier.startswith("growth.")


def test_revised_figures():
    """A figure is first estimated, then revised: the latest vintage looks ahead, the one known at the time does not."""
    vintages = pd.DataFrame({"month": DAYS[:20:5].repeat(2), "value": RANDOM.normal(size=8)})
    vintages["published"] = vintages["month"] + pd.to_timedelta([1, 9] * 4, unit="D")
    vintages = vintages.sort_values("published", ignore_index=True)
    data = {"prices": PRICES[:24].reset_index(), "vintages": vintages}
    when = {"prices": "date", "vintages": "published"}

    def latest(prices, vintages):
        final = vintages.groupby("month", as_index=False).last()
        return pd.merge_asof(prices, final, left_on="date", right_on="month")[["date", "value"]]

    def as_known(prices, vintages):
        known = [vintages[vintages.published <= day].sort_values(["month", "published"]) for day in prices["date"]]
        return prices[["date"]].assign(value=[k["value"].iloc[-1] if len(k) else np.nan for k in known])

    assert check_pipeline(as_known, data, time=when, cuts=6).status is Status.UNDECIDED
    assert check_pipeline(latest, data, time=when, cuts=6).status is Status.REFUTED


def test_a_table_that_was_known_from_the_start():
    panel = pd.DataFrame({"firm": ["A", "B"] * 10, "date": DAYS[:10].repeat(2), "x": RANDOM.normal(size=20)})
    sectors = pd.DataFrame({"firm": ["A", "B"], "sector": ["u", "v"]})

    def merged(panel, sectors):
        return panel.merge(sectors, on="firm")

    data = {"panel": panel, "sectors": sectors}
    verdict = check_pipeline(merged, data, time={"panel": "date", "sectors": None}, group="firm")
    assert verdict.status is Status.UNDECIDED
    assert "table sectors: known from the start, as time says; it is neither cut nor replaced" in verdict.reasons
    by_index = {"prices": PRICES, "news": NEWS}
    assert check_pipeline(next_news, by_index, time={"news": None}).status is Status.UNDECIDED


def test_arrays_and_labels_side_by_side():
    x, y = RANDOM.normal(size=(30, 2)), RANDOM.normal(size=30)
    ahead = check_pipeline(lambda X, y: X[:, 0] + np.append(y[1:], 0), (x, y))
    assert (ahead.columns[0].carrier, ahead.columns[0].reach) == ("y.x", 1)
    assert check_pipeline(lambda X, y: X[:, 0] + y, (x, y)).status is Status.UNDECIDED


def test_target_encoding():
    features = pd.DataFrame({"k": list("abab" * 10)}, index=DAYS)
    target = pd.Series(RANDOM.normal(size=40), index=DAYS, name="y")

    def encoded(X, y):
        return X.assign(mean=y.groupby(X["k"]).transform("mean"))

    def encoded_so_far(X, y):
        return X.assign(mean=y.groupby(X["k"]).transform(lambda g: g.shift().expanding().mean()))

    assert check_pipeline(encoded, (features, target), cuts=6).status is Status.REFUTED
    assert check_pipeline(encoded_so_far, (features, target), cuts=6).status is Status.UNDECIDED


@pytest.mark.parametrize(("strategy", "status"), [("backward", "UNDECIDED"), ("forward", "REFUTED")])
def test_polars_tables(strategy, status):
    pl = need("polars")
    data = (pl.from_pandas(PRICES.reset_index()), pl.from_pandas(NEWS.reset_index()))

    def joined(prices, news):
        return prices.join_asof(news, on="date", strategy=strategy)

    assert check_pipeline(joined, data, time="date").status.name == status


def test_a_table_that_goes_on_longer_than_the_first():
    def last_news(prices, news):
        return prices.assign(last=news.score.iloc[-1])

    data = (PRICES.iloc[:10], NEWS)
    assert check_pipeline(known_so_far, data).status is Status.UNDECIDED
    verdict = check_pipeline(last_news, data)
    assert verdict.columns[1].carrier == "news.score"
    assert verdict.witness.replay()


def test_a_table_that_the_function_spoils_is_named():
    def spoil(prices, news):
        news["score"] = 0.0
        return prices

    verdict = check_pipeline(spoil, (PRICES, NEWS))
    assert any("function changes column score of table news in place" in r for r in verdict.reasons)
    assert NEWS["score"].std() > 0


def test_few_calls_for_large_tables():
    n = 5000
    days = pd.date_range("1990-01-01", periods=n, name="date")
    first = pd.DataFrame(RANDOM.normal(size=(n, 4)), index=days, columns=list("abcd"))
    second = pd.DataFrame({"z": RANDOM.normal(size=n // 2)}, index=days[::2])
    calls = iter(range(10**6))

    def features(first, second):
        next(calls)
        return first.join(second.bfill()).ffill().rolling(3).mean()

    verdict = check_pipeline(features, (first, second))
    assert verdict.details["calls"] == next(calls) <= 60
    assert "first alone, second alone" in verdict.evidence[1].detail


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({}, {}, r"data is empty; pass at least one table"),
        (
            (PRICES, NEWS),
            {"time": {"sales": "date"}},
            r"time names table 'sales', which is not in data; they are prices",
        ),
        (
            (PRICES, NEWS.tz_localize("UTC")),
            {},
            r"the times of table news have a time zone and those of table prices have none; give both the same",
        ),
        (
            (PRICES, NEWS.reset_index(drop=True)),
            {},
            r"table news has 20 rows and no times, so it cannot be cut like prices; pass time=\{'news': …\}, None if",
        ),
        (
            (PRICES.reset_index(drop=True), NEWS),
            {},
            r"table news has times and table prices has none; pass time= for prices",
        ),
        (
            {"prices": PRICES, "news": NEWS},
            {"time": {"prices": None}},
            r"time says that table prices was known from the start; put a table with times first",
        ),
        ({"prices": PRICES, "news": 3}, {}, r"table news: data is int; pass a pandas or Polars frame or series"),
    ],
)
def test_bad_tables_get_one_sentence(data, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        check_pipeline(known_so_far, data, **options)


def test_a_boundary_by_times_is_for_one_table():
    from attnproof.causal.boundary import Boundary

    published = Boundary.from_times(np.arange(40) + 2, np.arange(40))
    with pytest.raises(
        ValueError, match=r"boundary gives times for one table, but data has several; pass the times at"
    ):
        check_pipeline(known_so_far, (PRICES, NEWS), boundary=published)
    strict = check_pipeline(known_so_far, (PRICES, NEWS), boundary="strict", cuts=6)
    assert strict.status is Status.REFUTED
    assert check_pipeline(
        lambda p, n: known_so_far(p, n).shift(), (PRICES, NEWS), boundary="strict", cuts=6
    ).status is (Status.UNDECIDED)
