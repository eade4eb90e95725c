"""What is said of columns that nothing can replace."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


def test_columns_that_cannot_be_replaced_are_named():
    data = pd.DataFrame({"empty": [np.nan] * 6, "same": ["k"] * 6, "x": range(6)})
    verdict = check_pipeline(lambda d: d, data)
    assert "column empty has no value at all, so nothing can be learnt by replacing it" in verdict.reasons
    assert "column same has one value only, so nothing can be learnt by replacing it" in verdict.reasons
