"""What differs between runs on equal input is never refuted."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


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
