"""The order of the rows that a table must have."""

from __future__ import annotations

import pytest
from attnproof.causal.pipeline.check import check_pipeline
from needs import need
from pipeline_data import panel, trades

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


def test_unsorted_times_are_refused():
    data = trades()
    with pytest.raises(ValueError, match=r"time goes back at row 1 \(2024-01-02T09:07\); sort the data by time first"):
        check_pipeline(lambda d: d, data.iloc[[7, 2, 3]], time="when")
    with pytest.raises(ValueError, match=r"time goes back at row 3 within its group"):
        check_pipeline(lambda d: d, panel().iloc[[0, 8, 16, 9, 8, 1]].iloc[[0, 1, 3, 4, 5]], time="day", group="firm")
