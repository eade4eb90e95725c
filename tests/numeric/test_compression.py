"""The report on one head, and the projections that it compares."""

import numpy as np
import pytest
from attnproof.numeric import designs
from attnproof.numeric.compression import compression_report, invisible_share
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.claim("T2", "T6", "T7")


def head(n, r, seed=0, d=3):
    rng = np.random.default_rng(seed)
    Q, K, V = rng.normal(size=(3, n, d))
    return Q, K, V, designs.pooling(n, r)


def test_the_article():
    half = np.array([[0.5, 0.5, 0], [0, 0, 1]])
    K = np.array([[1.0], [2], [3]])
    found = compression_report(np.ones((1, 1)), K, 10 * K, half, half)
    assert found.output == pytest.approx(1.51151331686, abs=1e-9)
    assert found.mass == pytest.approx((1 / (2 * np.cosh(0.5)), 1.0))
    assert found.enclosure.startswith("[1.5115133168")
    assert found.corrected == pytest.approx(0.38, abs=0.01)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 12), st.data())
def test_nothing_beats_the_best(n, data):
    r = data.draw(st.integers(1, n))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    Q, K, V = rng.normal(size=(3, n, 2))
    E, F = rng.normal(size=(2, r, n))
    found = compression_report(Q, K, V, E, F)
    assert found.mixing >= found.best_softmax - 1e-9
    assert found.best_softmax >= found.best - 1e-9
    assert (found.ratio is None) == (found.best == 0)
    assert found.mass == (None,) * r or (F >= 0).all()


@pytest.mark.parametrize(("n", "r"), [(8, 2), (12, 3), (7, 3)])
def test_a_pooling_slot_carries_at_most_its_share(n, r):
    Q, K, V, E = head(n, r)
    found = compression_report(Q, K, V, E, E)
    sizes = (E > 0).sum(1)
    assert all(mass <= 1 / m + 1e-12 for mass, m in zip(found.mass, sizes, strict=True))
    if len(set(sizes)) == 1:
        assert found.corrected == pytest.approx(found.output)  # log m cancels when all slots average equally many


def test_full_rank_compresses_nothing():
    Q, K, V, E = head(6, 6)
    found = compression_report(Q, K, V, E, E)
    assert found.output == pytest.approx(0, abs=1e-12)
    assert found.ratio is None
    assert found.invisible == pytest.approx(0, abs=1e-12)


def test_a_direction_in_the_kernel_is_invisible():
    F = designs.pooling(4, 2)
    assert invisible_share(F, np.array([[1.0], [-1], [2], [-2]])) == pytest.approx(1)
    assert invisible_share(F, np.array([[1.0], [1], [2], [2]])) == pytest.approx(0)
    assert invisible_share(F, np.zeros((4, 1))) == 0


def test_fitting_beats_pooling_on_what_it_was_fitted_to():
    n, r = 16, 4
    pairs = []
    for seed in range(3):
        Q, K, _, E = head(n, r, seed)
        scores = Q @ K.T / np.sqrt(3)
        A = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        small = Q @ (E @ K).T / np.sqrt(3)
        pairs.append((A, np.exp(small) / np.exp(small).sum(1, keepdims=True)))
    F = designs.fitted(pairs)
    loss = [sum(np.linalg.norm(A - B @ X) ** 2 for A, B in pairs) for X in (F, designs.pooling(n, r))]
    assert loss[0] < loss[1]
    rng = np.random.default_rng(0)
    for _ in range(10):
        other = F + 1e-3 * rng.normal(size=F.shape)
        moved = sum(np.linalg.norm(A - B @ other) ** 2 for A, B in pairs)
        assert moved > loss[0]


@pytest.mark.parametrize("build", [designs.pooling, designs.strided, designs.gaussian])
def test_projections(build):
    assert build(10, 3).shape == (3, 10)
    with pytest.raises(ValueError, match="r = 11 slots do not fit n = 10 positions; choose 1 ≤ r ≤ n"):
        build(10, 11)


def test_pooling_and_strided_are_means():
    for n, r in [(10, 3), (7, 7), (9, 1)]:
        for build in (designs.pooling, designs.strided):
            rows = build(n, r)
            assert np.allclose(rows.sum(1), 1)
            assert (rows >= 0).all()
        assert (designs.pooling(n, r) > 0).sum() == n


def test_fitting_nothing():
    with pytest.raises(ValueError, match="pairs is empty"):
        designs.fitted([])
