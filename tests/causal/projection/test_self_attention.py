"""What a verdict means for a layer whose keys and values come from the same positions (T20)."""

import numpy as np
import pytest
from attnproof.causal.projection.check import check_projection

pytestmark = pytest.mark.claim("T20")
LEAK = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
SAFE = [[1.0, 0.0], [1.0, 0.0]]
EYE, TURN = np.eye(2), np.array([[0.0, 1.0], [-1.0, 0.0]])


@pytest.mark.parametrize(
    ("query", "key", "value", "said"),
    [
        (EYE, EYE, EYE, "leaks too, for some real inputs"),
        (TURN, EYE, EYE, "column t of E set to 0"),
        (0 * EYE, EYE, EYE, "all scores are 0"),
        (EYE, EYE, 0 * EYE, "nothing is carried"),
    ],
)
def test_the_case_of_the_weights_is_a_reason(query, key, value, said):
    plain = check_projection(LEAK)
    verdict = check_projection(LEAK, weights=(query, key, value))
    assert verdict.status is plain.status
    assert verdict.claims == (*plain.claims, "T20")
    assert said in verdict.reasons[-1]


def test_a_proof_holds_for_every_layer():
    verdict = check_projection(SAFE, layout="slots-first", weights=(TURN, EYE, EYE))
    assert verdict.status.name == "PROVED"
    assert "this holds for the layer" in verdict.reasons[-1]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((EYE, EYE), "weights.* pass W_Q, W_K and W_V, or these and W_O"),
        ((EYE, EYE, np.ones(3)), "weights.* pass matrices"),
        ((EYE, EYE, EYE * np.nan), "weights.* pass finite numbers"),
        ((EYE, np.ones((2, 3)), EYE), "W_Q has shape"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        check_projection(LEAK, weights=weights)
