"""The streaming compressor: bit for bit the batch result, and the matrices of the design it implements."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.design.blocks import blocks_with_window
from attnproof.causal.design.incremental import IncrementalCompressor
from attnproof.causal.pipeline.check import check_pipeline
from attnproof.causal.verdict import Status
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.claim("T14", "T16")

SHAPES = {
    "n": st.integers(1, 60),
    "d": st.integers(1, 9),
    "d_v": st.integers(1, 9),
    "p": st.integers(1, 9),
    "extra": st.integers(0, 7),
    "seed": st.integers(0, 10_000),
}


def draw(n, d, d_v, seed, size=1.0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) * size, random.normal(size=(n, d)) * size, random.normal(size=(n, d_v))


@settings(max_examples=120, deadline=None)
@given(**SHAPES)
def test_streaming_equals_batch_bit_for_bit(n, d, d_v, p, extra, seed):
    Q, K, V = draw(n, d, d_v, seed, size=10.0 ** (seed % 3))
    w = max(p - 1, 1) + extra
    head = IncrementalCompressor(p, w)
    streamed = np.stack([head.step(q, k, v) for q, k, v in zip(Q, K, V, strict=True)])
    assert np.array_equal(streamed, head.batch(Q, K, V))
    assert head.rows_held <= n // p + 1 + w
    head.reset()
    assert head.rows_held == 0
    assert np.array_equal(head.step(Q[0], K[0], V[0]), streamed[0])


@settings(max_examples=60, deadline=None)
@given(**SHAPES)
def test_it_computes_the_design_s_matrices(n, d, d_v, p, extra, seed):
    Q, K, V = draw(n, d, d_v, seed)
    w = max(p - 1, 1) + extra
    member = blocks_with_window(p, w).matrices(n)
    scores = np.where(member.visible, Q @ (member.F @ K).T / np.sqrt(d), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = weights / weights.sum(axis=1, keepdims=True) @ (member.F @ V)
    np.testing.assert_allclose(IncrementalCompressor(p, w).batch(Q, K, V), expected, rtol=1e-10, atol=1e-12)


def test_an_output_never_changes_when_later_tokens_come():
    rows = np.concatenate(draw(25, 3, 3, 0), axis=1)

    def head(x):
        return IncrementalCompressor(4).batch(x[:, :3], x[:, 3:6], x[:, 6:])

    assert check_pipeline(head, rows, cuts="all").status is Status.UNDECIDED
    for m in (1, 7, 24):
        assert np.array_equal(head(rows)[:m], head(rows[:m]))


def test_state_grows_by_one_row_per_block():
    head = IncrementalCompressor(8, 12)
    for q, k, v in zip(*draw(800, 4, 4, 1), strict=True):
        head.step(q, k, v)
    assert head.rows_held == 100 + 12


def test_weights_are_those_of_every_block():
    """With scale 0 every visible slot counts alike; query 5 sees blocks 0 and 1 and the window of positions 4 and 5."""
    Q, K, V = draw(6, 2, 2, 3)
    last_only = IncrementalCompressor(3, weights=[0.0, 0.0, 1.0], scale=0.0).batch(Q, K, V)
    np.testing.assert_allclose(last_only[5], (V[2] + V[5] + V[4] + V[5]) / 4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IncrementalCompressor(0), r"p = 0 does not fit; pass a whole number of at least 1"),
        (lambda: IncrementalCompressor(4, 2), r"w = 2 does not fit; pass a whole number of at least 3"),
        (lambda: IncrementalCompressor(1, 0), r"w = 0 does not fit; pass a whole number of at least 1"),
        (
            lambda: IncrementalCompressor(3, weights=[1.0]),
            r"weights has shape \(1,\); pass one weight for each of the p = 3",
        ),
        (
            lambda: IncrementalCompressor(2).step([1.0], [1.0, 2.0], [1.0]),
            r"q, k, v have shapes \(1,\), \(2,\), \(1,\)",
        ),
        (
            lambda: [
                head := IncrementalCompressor(2),
                head.step([1.0], [1.0], [1.0]),
                head.step([1.0], [1.0], [1.0, 2.0]),
            ],
            r"k and v have widths 1, 2, earlier tokens 1, 1",
        ),
        (
            lambda: IncrementalCompressor(2).batch(np.ones((3, 1)), np.ones((3, 1)), np.ones((2, 1))),
            r"Q, K, V have shapes",
        ),
    ],
)
def test_bad_input_gets_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()
