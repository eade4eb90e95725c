"""Pipelines built at random from trailing and leading operations: the verdict matches the construction."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from needs import need

pytestmark = pytest.mark.claim("T17")
pd = need("pandas")

TRAILING = {
    "shift": lambda s, k: s.shift(k),
    "rolling mean": lambda s, k: s.rolling(k + 1, min_periods=1).mean(),
    "rolling max": lambda s, k: s.rolling(k + 1, min_periods=1).max() + s,
    "ewm": lambda s, k: s.ewm(span=k + 1).mean(),
    "cumsum": lambda s, k: s.cumsum() / k,
    "ffill": lambda s, k: s.ffill(),
    "expanding": lambda s, k: s - s.expanding(min_periods=1).mean(),
}
LEADING = {
    "shift": lambda s, k: s + s.shift(-k),
    "centred": lambda s, k: s.rolling(2 * k + 1, center=True, min_periods=1).sum(),
    "whole": lambda s, k: s - s.mean(),
    "reversed cumsum": lambda s, k: s[::-1].cumsum()[::-1],
}


@st.composite
def pipelines(draw):
    steps = draw(
        st.lists(
            st.tuples(st.just(TRAILING), st.sampled_from(sorted(TRAILING)), st.integers(1, 4)), min_size=1, max_size=4
        )
    )
    leads = draw(st.booleans())
    if leads:
        steps.insert(
            draw(st.integers(0, len(steps))), (LEADING, draw(st.sampled_from(sorted(LEADING))), draw(st.integers(1, 4)))
        )
    gaps = draw(st.sets(st.integers(3, 20), max_size=3))
    return steps, leads, gaps


def largest_effect_of_the_future(pipeline, s):
    """Brute force: change one later value at a time, or stop early, and see by how much earlier rows move.

    Stopping early matters: a lag after which a centred window follows reads nothing ahead, and yet its last row is
    another one while the series still ends there.
    """
    base, runs = pipeline(s), []
    for j in range(1, len(s)):
        changed = s.copy()
        changed[j] += 10.0
        runs += [pipeline(changed)[:j], pipeline(s[:j])]
    moved = [(run - base[: len(run)]).abs().max() for run in runs]
    appeared = any((run.isna() != base[: len(run)].isna()).any() for run in runs)
    return float("inf") if appeared else float(np.nanmax([0.0, *moved]))


@settings(max_examples=60, deadline=None)
@given(pipelines(), st.integers(0, 1000))
def test_the_verdict_matches_the_construction(built, seed):
    steps, leads, gaps = built
    s = pd.Series(np.random.default_rng(seed).normal(size=22))
    s[sorted(gaps)] = np.nan

    def pipeline(x):
        for family, name, k in steps:
            x = family[name](x, k)
        return x

    effect = largest_effect_of_the_future(pipeline, s)
    assert leads or effect == 0
    assume(not 0 < effect < 1e-6)  # a leading step that later ones cancel up to rounding, such as s.mean() by diff()
    verdict = check_pipeline(pipeline, s, cuts="all", seed=seed)
    assert verdict.status is (Status.REFUTED if effect else Status.UNDECIDED), [name for _, name, _ in steps]
    if effect:
        assert verdict.witness.replay()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 500))
def test_reach_is_the_distance_read_ahead(ahead, behind, seed):
    """After a leading shift, trailing ones cancel it: the reach is what remains."""
    s = pd.Series(np.random.default_rng(seed).normal(size=30))
    verdict = check_pipeline(lambda x: x.shift(-ahead).shift(behind), s, cuts="all")
    if ahead > behind:
        assert verdict.columns[0].reach == ahead - behind
    else:
        assert verdict.status is Status.UNDECIDED


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 40), st.sets(st.integers(1, 38), min_size=1, max_size=4), st.integers(0, 200))
def test_back_fill_leaks_exactly_at_the_gaps(n, gaps, seed):
    s = pd.Series(np.random.default_rng(seed).normal(size=n))
    gaps = {g for g in gaps if g < n - 1}
    s[sorted(gaps)] = np.nan
    verdict = check_pipeline(lambda x: x.bfill(), s, cuts="all")
    runs = verdict.details["leaking_ranks"].get("y") or ()
    assert {r for first, past in runs for r in range(first, past)} == gaps
