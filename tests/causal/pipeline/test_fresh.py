"""What a function remembers where nothing can be put back shows in a fresh process."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
from attnproof.causal.pipeline import fresh
from attnproof.causal.pipeline.check import assert_no_lookahead, check_pipeline
from attnproof.causal.pipeline.fresh import Fresh
from attnproof.causal.verdict import NotProvedError, Status
from needs import need

pytestmark = [pytest.mark.claim("T17"), pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely")]
X = np.random.default_rng(0).normal(size=30)


@pytest.fixture(autouse=True)
def _forks(monkeypatch):
    """Other tests import Polars, with which no process is forked."""
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
    monkeypatch.setattr(sys, "platform", "win32")
    assert any("no fresh process was to be had" in text for text in check_pipeline(np.cumsum, X).assumptions)


def test_a_process_that_waits_for_ever_is_ended(monkeypatch):
    monkeypatch.setattr(fresh, "PATIENCE", 0.1)
    assert Fresh(lambda x: time.sleep(1000), "one", X).result() == []
    assert Fresh(lambda x: 1 / 0, "one", X).result() == []
    monkeypatch.setattr(fresh, "PATIENCE", 10.0)
    assert Fresh(lambda x: [1], "one", X).result() == [[1]]
    assert Fresh(lambda a, b: a + b, "keywords", {"a": 1, "b": 2}).result() == [3]


def test_beside_libraries_with_threads_a_fork_server_makes_it(monkeypatch):
    need("cloudpickle")  # a function defined in a test is sent by value
    monkeypatch.setattr(fresh, "UNSAFE", ("numpy",))

    def demeaned(x):
        sys.modules.setdefault("mean_of_the_first", x.mean())  # nothing looks there
        return x - sys.modules["mean_of_the_first"]

    try:
        verdict = check_pipeline(demeaned, X)
    finally:
        sys.modules.pop("mean_of_the_first")
    assert verdict.details["untold"] == ["y"]
    assert not any("no fresh process" in text for text in verdict.assumptions)


def test_a_script_is_not_run_again_by_the_process_that_it_starts(tmp_path):
    (tmp_path / "script.py").write_text(
        "import polars, numpy as np\n"
        "from attnproof.causal.pipeline.check import check_pipeline\n"
        "print('ran')\n"
        "verdict = check_pipeline(lambda x: x.cumsum(), np.arange(20.0))\n"
        "print(any('no fresh process' in text for text in verdict.assumptions))\n"
    )
    need("polars"), need("cloudpickle")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ran", "False"]
