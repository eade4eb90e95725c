"""The order of the rows, tables of times alone, and rows that a function refuses."""

from __future__ import annotations

import re

import numpy as np
import pytest
from attnproof.causal.boundary import Boundary
from attnproof.causal.pipeline.check import assert_no_lookahead, check_pipeline
from attnproof.causal.verdict import Status
from needs import need
from pipeline_data import panel, trades

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")
SORTED = "rows were sorted by time first, for the function as well; they are numbered in that order"


def lead(d):
    return d.assign(x=d["x"].shift(-1))


def test_unsorted_rows_are_sorted_and_that_is_said():
    data = trades().sample(frac=1, random_state=0)
    verdict = check_pipeline(lambda d: d.assign(price=d["price"].diff()), data, time="when")
    assert verdict.status is Status.UNDECIDED
    assert SORTED in verdict.reasons
    late = check_pipeline(lead, panel().sample(frac=1, random_state=0), time="day", group="firm")
    assert SORTED in late.reasons
    assert late.witness.replay()
    assert SORTED not in check_pipeline(lead, panel(), time="day", group="firm").reasons
    news = panel().iloc[::-1]
    both = check_pipeline(lambda a, b: a.assign(x=len(b)), (panel(), news), time="day")
    assert f"table b: {SORTED}" in both.reasons


def test_a_boundary_of_times_goes_with_sorted_rows_only():
    data = trades().iloc[[7, 2, 3]]
    with pytest.raises(ValueError, match="boundary gives times for rows that are not in order of time"):
        check_pipeline(lambda d: d, data, time="when", boundary=Boundary.from_times([0, 1, 2], [0, 1, 2]))


def test_text_with_offsets_sorts_as_time_where_summer_time_ends():
    hours = [f"2024-10-27T02:{m}+0{o}:00" for o in (2, 1) for m in ("10", "40")]
    data = pd.DataFrame({"t": hours, "x": [1.0, 2.0, 4.0, 8.0]})
    verdict = check_pipeline(lambda d: d[["t"]].assign(x=d["x"].shift(-1)), data, time="t")
    assert SORTED not in verdict.reasons
    assert verdict.columns[1].first_row == 0


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["9/30/2024", "10/1/2024", "10/2/2024"], "time holds dates as text that does not sort, such as '9/30/"),
        (["30.9.24", "1.10.24", "2.10.24"], "pass dates, such as those of pandas.to_datetime"),
        (
            ["2024-9-30", "2024-10-1", "2024-10-2"],
            "text that is not in its own order, such as '2024-10-1' after '2024-9-",
        ),
        (["30 Sep 2024", "1 Oct 2024", "2 Oct 2024"], "pass times, numbers or ISO dates"),
    ],
)
def test_text_whose_order_is_not_that_of_time_is_refused(texts, sentence):
    data = pd.DataFrame({"t": texts, "x": [1.0, 2.0, 4.0]})
    with pytest.raises(ValueError, match=re.escape(sentence)):
        check_pipeline(lambda d: d.assign(x=d["x"].cumsum()), data, time="t")


def test_iso_text_is_sorted_and_other_text_may_stay_in_its_order():
    for texts in (["2024-10-01", "2024-09-30", "2024-10-02"], ["dawn", "noon", "zenith"]):
        data = pd.DataFrame({"t": texts, "x": [1.0, 2.0, 4.0]})
        verdict = check_pipeline(lambda d: d.assign(x=d["x"].cumsum()), data, time="t")
        assert verdict.status is Status.UNDECIDED
        assert (SORTED in verdict.reasons) == (texts[0] > texts[1])


def test_a_table_of_times_alone():
    days = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=12)})
    for data, time in ((days, "t"), (pd.DataFrame(index=pd.DatetimeIndex(days["t"])), None)):
        times = (lambda d: d["t"]) if time else (lambda d: d.index.to_series())
        fine = check_pipeline(lambda d, of=times: pd.DataFrame({"gap": of(d).diff()}), data, time=time)
        assert fine.status is Status.UNDECIDED
        assert any(r.startswith("data holds times and nothing else") for r in fine.reasons)
        left = check_pipeline(
            lambda d, of=times: pd.DataFrame({"t": of(d), "left": of(d).max() - of(d)}), data, time=time
        )
        assert left.status is Status.REFUTED
        assert left.columns[1].through == "length"


def test_rows_that_seem_to_be_newest_first_are_warned_of():
    """The days that are left are those of a reversed count, too: nothing in the result tells."""
    days = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=12)})
    with pytest.warns(UserWarning, match="function returned rows without their times, newest first as it seems"):
        assert_no_lookahead(lambda d: pd.DataFrame({"left": d["t"].max() - d["t"]}), days, time="t")


@pytest.mark.parametrize("nothing", [lambda d: None, lambda d: d.iloc[:0]])
def test_nothing_returned_for_short_data_is_no_leak(nothing):
    data = trades()

    def picky(d):
        return nothing(d) if len(d) < 5 else d.assign(price=d["price"].diff())

    verdict = check_pipeline(picky, data, time="when", cuts="all")
    assert verdict.status is Status.UNDECIDED
    (said,) = [r for r in verdict.reasons if "the shortest prefix it accepts among those tried has" in r]
    assert said.startswith("function returned no")


def test_no_rows_for_a_prefix_between_others_are_a_leak():
    def filtered(d):
        return d[d["x"].shift(-1, fill_value=d["x"].max() + 1) > d["x"]]

    data = pd.DataFrame({"x": [5.0, 4, 3, 2, 1, 9, 8, 7]}, index=pd.date_range("2024-01-01", periods=8))
    assert check_pipeline(filtered, data).status is Status.REFUTED


@pytest.mark.parametrize("constant", [1.0, np.nan])
def test_constant_tables(constant):
    data = pd.DataFrame({"x": constant}, index=pd.date_range("2024-01-01", periods=8))
    assert check_pipeline(lambda d: d.diff(), data).status is Status.UNDECIDED
    assert check_pipeline(lambda d: d * len(d), data.fillna(1.0)).status is Status.REFUTED


def test_where_a_function_raises_is_told():
    def raises(d):
        return d["volume"]

    line = raises.__code__.co_firstlineno + 1
    said = (
        rf"function raises KeyError \('volume'\) on the whole data \(test_inputs.py, line {line}\); it must run on that"
    )
    with pytest.raises(ValueError, match=said):
        check_pipeline(raises, trades(), time="when")
