"""What a function remembers where nothing can be put back shows in a fresh process."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from attnproof.causal.pipeline import fresh
from attnproof.causal.pipeline.check import assert_no_lookahead, check_pipeline
from attnproof.causal.pipeline.fresh import Fresh
from attnproof.causal.verdict import NotProvedError, Status

pytestmark = [pytest.mark.claim("T17"), pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely")]
X = np.random.default_rng(0).normal(size=30)


@pytest.fixture(autouse=True)
def _forks(monkeypatch):
    """Other tests import torch and Polars, with which no process is forked."""
    monkeypatch.setattr(fresh, "UNSAFE", ())


def first_mean():
    x = yield None
    mean = x.mean()
    while True:
        yield mean


def test_memory_that_cannot_be_put_back_passes_no_assertion():
    memory = first_mean()
    next(memory)

    def demeaned(x):
        return x - memory.send(x)

    verdict = check_pipeline(demeaned, X)
    assert verdict.status is Status.UNDECIDED
    assert verdict.details["untold"] == ["y"]
    assert any(
        r.startswith("function writes another y for a prefix when it is called on that first") for r in verdict.reasons
    )
    memory = first_mean()
    next(memory)
    with pytest.raises(NotProvedError, match="no leak can be told in y"):
        assert_no_lookahead(demeaned, X)


def test_what_is_the_same_in_a_fresh_process_is_not_named():
    verdict = check_pipeline(np.cumsum, X)
    assert verdict.details["untold"] == []
    assert not any("fresh process" in text for text in (*verdict.reasons, *verdict.assumptions))


def test_where_there_is_no_fresh_process_the_verdict_says_so(monkeypatch):
    monkeypatch.setattr(fresh, "UNSAFE", ("numpy",))
    assert any("no fresh process was to be had" in text for text in check_pipeline(np.cumsum, X).assumptions)


def test_a_process_that_waits_for_ever_is_ended(monkeypatch):
    monkeypatch.setattr(fresh, "PATIENCE", 0.1)
    assert Fresh(lambda: time.sleep(1000)).result() == []
    assert Fresh(lambda: 1 / 0).result() == []
    monkeypatch.setattr(fresh, "PATIENCE", 10.0)
    assert Fresh(lambda: [1]).result() == [[1]]
