from __future__ import annotations

import numpy as np
import pytest
from attnproof.numeric import arrays
from attnproof.numeric.attention import compressed_attention, full_attention, slot_weights, softmax

from numeric import oracle

pytestmark = pytest.mark.claim("T1")


@pytest.mark.parametrize("lead", [(), (2, 3)])
def test_heads_of_any_batch(backend, rng, lead):
    Q, K, V, E, F = oracle.head(rng, *lead, m=7)
    B = oracle.slots(Q, K, E)
    np.testing.assert_allclose(backend.run(slot_weights, Q, K, E), B, rtol=1e-12)
    np.testing.assert_allclose(backend.run(compressed_attention, Q, K, V, E, F), B @ F @ V, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(backend.run(full_attention, Q, K, V), oracle.weights(Q, K) @ V, rtol=1e-11, atol=1e-12)


def test_a_projection_is_shared_by_all_heads(backend, rng):
    Q, K, V, _, _ = oracle.head(rng, 2, 3)
    E, F = rng.standard_normal((2, 4, 10))
    found = backend.run(compressed_attention, Q, K, V, E, F)
    np.testing.assert_allclose(found, oracle.slots(Q, K, E) @ (F @ V), rtol=1e-11, atol=1e-12)


def test_blocks_of_queries_change_nothing(backend, rng, monkeypatch):
    Q, K, V, _, _ = oracle.head(rng, 2, n=9)
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 400)  # a few rows at a time
    np.testing.assert_allclose(backend.run(full_attention, Q, K, V), oracle.weights(Q, K) @ V, rtol=1e-11, atol=1e-12)


def test_masks_and_starved_queries(backend, rng):
    Q, K, V, E, F = oracle.head(rng)
    bias = np.where(rng.random((10, 4)) < 0.5, -np.inf, rng.standard_normal((10, 4)))
    bias[3] = -np.inf
    with np.errstate(all="ignore"):
        expected = oracle.slots(Q, K, E, bias) @ F @ V
    found = backend.run(compressed_attention, Q, K, V, E, F, bias)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    assert (found[3] == 0).all()


def test_the_article(backend):
    K = np.array([[1.0], [2], [3]])
    half = np.array([[0.5, 0.5, 0], [0, 0, 1]])
    one = np.ones((1, 1))
    e = np.e
    y = 10 * (1 + 2 * e + 3 * e**2) / (1 + e + e**2)
    short = 15 * (1 + 2 * e**1.5) / (1 + e**1.5)
    assert backend.run(full_attention, one, K, 10 * K)[0, 0] == pytest.approx(y, rel=1e-14)
    assert backend.run(compressed_attention, one, K, 10 * K, half, half)[0, 0] == pytest.approx(short, rel=1e-14)


def test_large_scores_do_not_overflow(backend):
    found = backend.run(softmax, np.array([[1e4, -1e4], [-1e4, -1e4]]))
    np.testing.assert_array_equal(found, [[1, 0], [0.5, 0.5]])
