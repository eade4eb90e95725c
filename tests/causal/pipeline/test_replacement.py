"""What stands in for the future, in columns of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.pipeline.inputs import read_source
from attnproof.causal.pipeline.replacement import replaced
from attnproof.causal.verdict import Status
from needs import need
from pipeline_data import series

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")


def test_every_kind_of_column_is_replaced():
    data = pd.DataFrame(
        {
            "flag": [True, False] * 5,
            "count": pd.array([1, 2, None, 4, 5, 6, 7, 8, 9, 10], dtype="Int64"),
            "small": np.arange(10, dtype=np.uint8) + 246,
            "kind": pd.Categorical(["u", "v"] * 5),
            "word": ["p", "q", None, "p", "q"] * 2,
            "real": pd.array([1.5] * 9 + [None], dtype="Float64"),
            "day": pd.date_range("2020-01-01", periods=10),
        }
    )
    verdict = check_pipeline(lambda d: d.shift(-1), data, cuts="all")
    assert {c.name: c.status.name for c in verdict.columns} == dict.fromkeys(data.columns, "REFUTED")
    assert [c.carrier for c in verdict.columns] == list(data.columns)
    assert check_pipeline(lambda d: d.shift(1), data, cuts="all").status is Status.UNDECIDED
    for cut in (2, 5):  # gaps stay gaps, dtypes stay, the past stays
        for how in ("high", "low", "draw"):
            other = replaced(read_source(data), np.arange(10) > cut, how, 1)
            assert other.dtypes.equals(data.dtypes)
            assert other.isna().equals(data.isna())
            assert other.iloc[: cut + 1].equals(data.iloc[: cut + 1])


def test_replacements_out_of_range_that_raise_fall_back_on_the_data_s_own_values():
    def strict_range(s):
        if (s > 9).any() or (s < 0).any():
            raise ValueError("out of range")
        return s.shift(-1)

    assert check_pipeline(strict_range, series()).status is Status.REFUTED


@pytest.mark.parametrize("size", [5.0, 300.0])
def test_replaced_numbers_of_half_precision_stay_finite(size):
    """Infinity times a weight of zero is no number, and would read as a leak."""
    x = (np.random.default_rng(0).normal(size=12) * size).astype(np.float16)

    def running_mean(x):
        weights = np.tril(np.ones((len(x), len(x)), np.float16)) / np.float16(12)
        return weights @ x

    assert check_pipeline(running_mean, x).status is Status.UNDECIDED
    assert check_pipeline(lambda x: running_mean(x[::-1])[::-1], x).status is Status.REFUTED
