"""The two-number machine, and the exponents fitted from a sweep."""

import numpy as np
import pytest
from attnproof.numeric import roofline
from attnproof.symbolic.cost import compressed_head, full_head, macs

pytestmark = pytest.mark.claim("T9")


@pytest.mark.parametrize(("n", "r", "d", "dv"), [(8, 2, 3, 5), (100, 7, 4, 4)])
def test_passes_do_the_arithmetic_of_the_formulas(n, r, d, dv):
    total = {kind: sum(p[1] for p in roofline.passes(kind, n, r, d, dv)) for kind in roofline.KINDS}
    assert total["full"] == total["fused"] == macs(full_head(n, d, dv))
    assert total["compressed"] == macs(compressed_head(n, r, d, dv))


def test_arithmetic_bound_and_traffic_bound():
    fast_memory = roofline.Machine(rate=1e9, bandwidth=1e30)
    n, r, d = 512, 64, 32
    full, small = (roofline.predict(fast_memory, kind, n, r, d) for kind in ("full", "compressed"))
    assert small / full == pytest.approx(2 * r / n)
    slow_memory = roofline.Machine(rate=1e30, bandwidth=1e9)
    full, fused = (roofline.predict(slow_memory, kind, n, r, d) for kind in ("full", "fused"))
    assert full / fused == pytest.approx((4 * n * n + 4 * n * d) / (4 * n * d))
    assert roofline.predict(fast_memory, "full", n, r, d, heads=3) == pytest.approx(3 * n * n * 2 * d / 1e9)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_fit_covers_the_exponent_under_noise(exponent):
    rng, sizes, hits = np.random.default_rng(0), 2.0 ** np.arange(8, 14), 0
    for _ in range(200):
        values = 3 * sizes**exponent * np.exp(0.05 * rng.standard_normal(len(sizes)))
        hits += roofline.fit_exponent(sizes, values).holds(exponent)
    assert 180 <= hits <= 199  # a 95 % interval covers, but not always


def test_fit_refuses():
    with pytest.raises(ValueError, match="sizes has 2 entries and values 2; pass at least three"):
        roofline.fit_exponent([1, 2], [1, 2])
    with pytest.raises(ValueError, match=r"values has the entry 0.*must be positive"):
        roofline.fit_exponent([1, 2, 3], [1, 0, 2])


def test_unknown_kind():
    with pytest.raises(ValueError, match="kind = 'flash' is unknown; use one of full, fused, compressed"):
        roofline.passes("flash", 4, 2, 1, 1)


def test_numpy_calls_agree_with_each_other():
    calls = roofline.attention_calls(np, 16, 16, 4, 4)
    assert calls["full"]().shape == calls["compressed"]().shape == (1, 16, 4)
    assert "fused" not in calls  # NumPy has none


def test_measuring_gives_numbers():
    machine = roofline.measure_machine(np, size=64, repeats=1)
    assert machine.rate > 0
    assert machine.bandwidth > 0
