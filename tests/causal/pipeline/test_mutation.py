"""What a function spoils in its input is named, and the caller's data stay whole."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


def test_functions_that_spoil_their_input_are_named():
    data = pd.DataFrame({"x": np.arange(8.0), "y": 1.0})
    before = data.copy()

    def spoil(d):
        d["x"] = 0.0
        return d[["y"]]

    verdict = check_pipeline(spoil, data)
    assert data.equals(before)
    assert "function changes column x in place; it was given copies, so let it copy its input" in verdict.reasons

    def spoil_array(a):
        a[:] = 0
        return a

    assert any("changes its array in place" in r for r in check_pipeline(spoil_array, np.arange(8.0)).reasons)
