"""How far ahead a leak reaches: a lower bound where cuts were sampled, and closed in on."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


@pytest.mark.parametrize("block", [6, 11, 28])
def test_reach_is_followed_to_its_end_and_called_a_lower_bound(block):
    """A cut in the middle of a block shows half of how far its first row looks."""
    s = pd.Series(np.random.default_rng(0).normal(size=20 * block))

    def mean_of_block(x):
        return x.groupby(np.arange(len(x)) // block).transform("mean")

    cut = 7 * block + 2
    verdict = check_pipeline(mean_of_block, s, cuts=[cut])
    assert verdict.columns[0].reach == block - 1
    assert f"looks ahead at least {block - 1} rows" in verdict.columns[0].detail
    assert verdict.details["every_cut"] is False
    assert verdict.witness.replay()


def test_reach_is_no_lower_bound_where_every_cut_was_made():
    verdict = check_pipeline(lambda s: s.shift(-3), pd.Series(np.arange(30.0) ** 2))
    assert "; looks" not in verdict.columns[0].detail
    assert "looks ahead 3 rows" in verdict.columns[0].detail
    assert verdict.details["every_cut"] is True
