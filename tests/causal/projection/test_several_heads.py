"""What a verdict means for a layer of several heads with an output projection (T22)."""

import numpy as np
import pytest
from attnproof.causal.projection import several_heads
from attnproof.causal.projection.check import check_projection

pytestmark = pytest.mark.claim("T22")
LEAK = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
EYE = np.eye(2)


def weights(second, key=EYE):
    """Two heads, the second with W_O times `second`."""
    return np.stack([EYE, EYE]), np.stack([EYE, key]), np.stack([EYE, EYE]), np.stack([EYE, second * EYE])


def said(*arguments, **keywords):
    return check_projection(*arguments, **keywords).reasons[-1]


@pytest.mark.parametrize(
    ("second", "key", "expected"),
    [
        (1, EYE, "leaks too, at query 0"),
        (-1, EYE, "does not leak: what its heads leak cancels in W_O"),
        (-1, 2 * EYE, "leaks too, at query 0"),
        (-1 + 2**-50, EYE, "leaks too, at query 0"),
    ],
)
def test_the_output_projection_decides_whether_leaks_cancel(second, key, expected):
    plain, verdict = check_projection(LEAK), check_projection(LEAK, weights=weights(second, key))
    assert verdict.status is plain.status
    assert verdict.claims == (*plain.claims, "T22")
    assert expected in verdict.reasons[-1]


def test_nothing_leaks_where_nothing_is_carried():
    query, key, value, output = weights(1)
    assert "W_V W_O is 0 for every head" in said(LEAK, weights=(query, key, value, 0 * output))


def test_a_proof_holds_for_every_output_projection():
    assert "T11 is enough for each" in said([[1.0, 0.0]], layout="slots-first", weights=weights(1))
    assert "W_O adds their leaks up" in said(LEAK, tolerance=10, weights=weights(1))


@pytest.mark.parametrize(
    "keywords", [{"boundary": "strict"}, {"visible": np.array([[0.0, -1.0]] * 3)}], ids=["strict", "bias"]
)
def test_nothing_is_said_of_queries_from_elsewhere_and_of_finite_biases(keywords):
    assert "of the layer nothing is said" in said(LEAK, weights=weights(1), **keywords)


def test_what_is_too_large_to_decide_is_called_undecided(monkeypatch):
    monkeypatch.setattr(several_heads, "ENTRIES", 3)
    assert "is not decided" in said(LEAK, weights=weights(-1))


def test_a_large_layer_is_answered_by_its_leak():
    rng = np.random.default_rng(0)
    e = rng.standard_normal((32, 200))
    sizes = (4, 24, 6), (4, 24, 6), (4, 24, 6), (4, 6, 24)
    assert "leaks too" in said(e, weights=[rng.standard_normal(size) for size in sizes])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((*weights(1)[:3], EYE), "weights .*hold W_O with another shape than"),
        ((*weights(1)[:3], np.ones((2, 3, 2))), "weights have shapes .* which do not fit"),
        (weights(np.nan), "W_O in weights"),
    ],
)
def test_weights_that_do_not_fit_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        check_projection(LEAK, weights=given)
