"""What a check holds of what a function returns: nothing that the function writes again, and little at a time."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status

pytestmark = pytest.mark.claim("T17")


def test_functions_that_use_the_room_of_their_result_again():
    room = np.empty(30)

    def ahead(x):
        room[: len(x)] = np.append(x[1:], 0)
        return room[: len(x)]

    verdict = check_pipeline(ahead, np.arange(30.0) ** 2)
    assert verdict.status is Status.REFUTED
    assert verdict.columns[0].reach == 1
    assert verdict.witness.replay()


def _trailing(d):
    return d.diff()


def _ahead(d):
    return d.diff().assign(c3=d["c3"].rolling(5, center=True).mean(), c7=d["c7"].shift(-1))


@pytest.mark.parametrize("function", [_trailing, _ahead])
def test_a_check_holds_two_and_a_half_frames_beside_what_a_call_holds(function):
    pandas = pytest.importorskip("pandas")
    values = np.random.default_rng(0).normal(size=(20_000, 12))
    data = pandas.DataFrame(values, columns=[f"c{i}" for i in range(12)])
    check_pipeline(function, data[:50])  # what is imported and compiled is no part of it
    tracemalloc.start()
    try:
        function(data.copy())
        call = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        check_pipeline(function, data)
        check = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert check - call < 2.5 * values.nbytes, f"{(check - call) / values.nbytes:.2f} frames"
