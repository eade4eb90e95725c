"""Transformers, fitted anew or beforehand."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")


def test_transformers():
    need("sklearn")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    x = np.arange(12.0)[:, None] ** 2
    verdict = check_pipeline(make_pipeline(FunctionTransformer(np.log1p), StandardScaler()), x)
    assert (verdict.status, verdict.columns[0].reach) == (Status.REFUTED, "whole series")
    fitted = StandardScaler().fit(x)

    class Frozen:
        def transform(self, data):
            return fitted.transform(data)

    frozen = check_pipeline(Frozen(), x)
    assert frozen.status is Status.UNDECIDED
    assert "the object was fitted beforehand; what it learnt from later rows then is not seen here" in frozen.reasons
