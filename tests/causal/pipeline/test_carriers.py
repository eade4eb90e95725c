"""The input column that carries a leak is named."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


def test_the_carrying_column_is_named():
    data = pd.DataFrame({"a": np.arange(10.0), "b": np.arange(10.0) ** 2, "c": 1.0 / np.arange(1, 11)})

    def features(d):
        return pd.DataFrame({"x": d["a"] + d["b"].shift(-2), "y": d["a"], "z": d["c"].shift(-1) * 0 + d["b"].shift(-1)})

    x, y, z = check_pipeline(features, data).columns
    assert (x.carrier, x.reach) == ("b", 2)
    assert (y.status, y.carrier) == (Status.UNDECIDED, None)
    assert z.carrier == "b"


def test_many_columns_are_searched_by_halves():
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 64)), columns=[f"c{i}" for i in range(64)])

    def slow(d):
        import time

        time.sleep(0.006)
        return d[["c37"]].shift(-1)

    verdict = check_pipeline(slow, data, cuts=2)
    assert verdict.columns[0].carrier == "c37"
