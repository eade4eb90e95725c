"""A witness that was read back replays with the function and its data."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.pipeline.witness import PipelineWitness
from attnproof.causal.verdict import Status, Verdict, Witness
from peeking import double_and_peek

pytestmark = pytest.mark.claim("T17")


def test_verdicts_read_back_and_their_witness_replays_with_the_program():
    verdict = check_pipeline(double_and_peek, np.arange(9.0))
    again = Verdict.from_json(verdict.to_json())
    assert again.status is Status.REFUTED
    witness = again.witness
    assert isinstance(witness, PipelineWitness)
    assert witness == Witness.from_dict(verdict.witness.to_dict())
    assert witness.inputs == (None, None)
    assert verdict.witness.inputs[0].tolist() == list(range(9))
    assert verdict.witness.inputs[1].tolist() != list(range(9))
    with pytest.raises(
        ValueError, match=r"function and data are not part of the record; pass replay\(function, data\)"
    ):
        witness.replay()
    assert witness.replay(double_and_peek, np.arange(9.0))
    assert not witness.replay(np.cumsum, np.arange(9.0))
    assert "0 ← 1" in witness.describe()
    assert "when the rows after row 0 are" in verdict.explain()
