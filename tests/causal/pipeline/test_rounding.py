"""What counts as a difference between two columns, and how large it is."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.pipeline.rounding import differs, largest_difference
from attnproof.causal.verdict import Status
from needs import need

pytestmark = pytest.mark.claim("T17")


@pytest.mark.parametrize(
    ("x", "y", "size"),
    [
        ([1.0, 2.0], [1.0, 2.5], 0.5),
        ([np.nan, 2.0], [np.nan, 2.5], 0.5),
        ([1.0, 2.0], [np.nan, 2.0], np.inf),
        ([np.inf], [1.0], np.inf),
        ([np.inf], [np.inf], 0.0),
        ([np.inf], [-np.inf], np.inf),
        ([1 + 1j], [1 + 3j], 2.0),
        ([True, False], [True, True], 1.0),
        (np.array([2**62 + 1]), np.array([2**62]), 1.0),  # as floats they are the same
        (["a"], ["b"], np.inf),
    ],
)
def test_the_largest_difference(x, y, size):
    assert largest_difference(np.asarray(x), np.asarray(y)) == size


def test_gaps_that_come_and_go_on_equal_input_are_no_leak():
    """The first run has a number where every later one has a gap: it changes by itself."""
    calls = itertools.count()

    def warming_up(x):
        y = x.copy()
        if next(calls):
            y[0] = np.nan
        return y

    verdict = check_pipeline(warming_up, np.arange(9.0))
    assert verdict.status is Status.UNDECIDED
    assert verdict.details["noise"] == {"y": np.inf}
    assert "non-deterministic" in verdict.columns[0].detail


def test_rounding_is_no_leak():
    signal = need("scipy.signal")
    x = np.random.default_rng(0).normal(size=300).cumsum() * 1e6

    def causal_by_fft(a):
        return signal.fftconvolve(a, np.ones(16) / 16)[: len(a)]

    assert check_pipeline(causal_by_fft, x, cuts=12).status is Status.UNDECIDED


def test_missing_numbers_inside_entries_are_equal():
    entries = [{"a": float("nan"), "b": [1.0, float("nan")]}, {"a": 1.0}]
    x, y, z = (np.array(e, dtype=object) for e in (entries, copy.deepcopy(entries), [{"a": 0.0}, {"b": 1.0}]))
    assert not differs(x, y).any()
    assert differs(x, z).all()
    pandas = need("pandas")
    s = pandas.Series(np.arange(6.0))
    verdict = check_pipeline(lambda s: s.map(lambda v: {"v": v, "gap": float("nan")}), s)
    assert verdict.details["noise"] == {}
