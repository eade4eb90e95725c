"""The shortest prefix that a function accepts, and the very first leaking row."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


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
