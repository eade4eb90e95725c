"""What differs between runs on equal input is never refuted."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from attnproof.causal.pipeline.check import assert_no_lookahead, check_pipeline
from attnproof.causal.verdict import NotProvedError, PrefixLeakError, Status
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


def test_what_is_not_deterministic_is_never_refuted():
    s = pd.Series(np.arange(40.0))

    def noisy(x):
        return pd.DataFrame({"noisy": x + 1e-3 * np.random.default_rng().normal(size=len(x)), "ahead": x.shift(-2)})

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


@pytest.mark.parametrize("size", [1e-6, 1e-3])
def test_a_leak_far_above_the_noise_is_no_secret(size):
    data = pd.DataFrame({"close": np.random.default_rng(0).normal(size=80).cumsum()})

    def noisy(d):
        return d[["close"]].shift(-1).ffill() + size * np.random.default_rng().normal(size=(len(d), 1))

    verdict = check_pipeline(noisy, data)
    (column,) = verdict.columns
    assert (column.status, column.reach) == (Status.REFUTED, 1)
    assert "non-deterministic, but runs on equal input differ by no more than " in column.detail
    assert verdict.witness.replay()
    with pytest.raises(PrefixLeakError):
        assert_no_lookahead(noisy, data)


@pytest.mark.parametrize("draw", ["normal", "standard_cauchy", "exponential"])
def test_noise_alone_is_never_refuted(draw):
    """Heavy tails, noise that grows with the value and rare large draws beside small ones, too."""
    data = pd.DataFrame({"close": np.random.default_rng(0).normal(size=40).cumsum()})

    def noise(n):
        return getattr(np.random.default_rng(), draw)(size=n)

    def noisy(d):
        rare = 1e6 * (np.random.default_rng().random(len(d)) < 0.02)
        return d.assign(a=d["close"] + noise(len(d)), b=d["close"] * (1 + noise(len(d))), c=rare + 1e-3 * noise(len(d)))

    for cuts in (3, None, "all"):
        assert [c.status for c in check_pipeline(noisy, data, cuts=cuts).columns] == [Status.UNDECIDED] * 4


def test_what_is_not_deterministic_passes_no_assertion_in_silence():
    def noisy(x):
        return x + np.random.default_rng().normal(size=len(x))

    x = pd.Series(np.arange(9.0), name="x")
    with pytest.raises(
        NotProvedError, match="no leak can be told in x, where equal runs differ; fix the seed, declare"
    ):
        assert_no_lookahead(noisy, x)
    assert assert_no_lookahead(noisy, x, suppress="a bootstrap").suppressed == "a bootstrap"
    assert assert_no_lookahead(noisy, x, labels=["x"]).status is Status.UNDECIDED
    assert assert_no_lookahead(lambda s: s + np.random.default_rng(0).normal(size=9)[: len(s)], x).suppressed is None


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
