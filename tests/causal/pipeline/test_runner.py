"""Functions that use the room of their result again."""

from __future__ import annotations

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
