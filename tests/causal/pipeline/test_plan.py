"""Which cuts are made: few calls, at the gaps; or those that were asked for."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from attnproof.causal.pipeline.budget import CALLS
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status
from needs import need
from pipeline_data import series

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


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


def test_chosen_cuts_are_the_cuts_that_run():
    verdict = check_pipeline(lambda x: x.bfill(), series(), cuts=[0, 7])
    assert verdict.status is Status.UNDECIDED
    assert list(verdict.details["cuts"]) == [0, 7]
    assert verdict.reasons[0] == (
        "cut after row 0, row 7; that nothing was found there proves nothing for other cuts and other data"
    )


def test_the_plan_does_not_depend_on_how_quick_the_function_is():
    """A busy machine made 26 of 149 cuts where an idle one made them all, and missed the leak."""
    x = np.random.default_rng(0).normal(size=150)

    def busy(s, pause=0.002):
        time.sleep(pause)
        return np.cumsum(s)

    quick, slow = check_pipeline(np.cumsum, x), check_pipeline(busy, x)
    assert quick.details["cuts"] == slow.details["cuts"]
    assert quick.details["calls"] == slow.details["calls"]
    assert "every cut" in slow.about
    long = check_pipeline(np.cumsum, np.random.default_rng(0).normal(size=3000))
    assert f"{len(long.details['cuts'])} of 2999 cuts" in long.headline()


def test_calls_that_are_left_when_every_day_was_cut_once_try_the_other_ways_there():
    """Of 833 calls on 300 days, 404 were made, and a look ahead in one row that only some ways show was missed."""
    days = pd.date_range("2020-01-01", periods=300)
    data = pd.DataFrame({"close": 100 + np.random.default_rng(0).normal(size=300).cumsum()}, index=days)

    def held(d):
        return pd.Series(np.where(d.close.shift(-1) > d.close, 1, np.nan), d.index).ffill()

    verdict = check_pipeline(held, data)
    assert verdict.status is Status.REFUTED
    quiet = check_pipeline(lambda d: d.cumsum(), data)
    assert quiet.details["calls"] > 800
    assert any("truncation: 299 runs" in evidence.detail for evidence in quiet.evidence)
