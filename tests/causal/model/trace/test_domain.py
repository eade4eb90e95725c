# ruff: noqa: E501 - a table
"""The domain on its own: compression, reshapes, joins; it needs no PyTorch."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from attnproof.causal.model.trace import domain
from attnproof.causal.model.trace.domain import FIXED, ZERO, Shadow
from hypothesis import given
from hypothesis import strategies as st


def shadow(shape, varies, seed=0):
    """A shadow that varies along the axes in `varies`."""
    sizes = [n if a in varies else 1 for a, n in enumerate(shape)]
    r = np.random.default_rng(seed)
    lo = r.integers(0, 5, sizes).astype(np.int32)
    return Shadow(tuple(shape), lo, lo + 2, r.choice([0, FIXED, ZERO], sizes).astype(np.uint8))


SHAPES = [
    ((2, 3, 4), (6, 4)), ((6, 4), (2, 3, 4)), ((2, 12), (2, 3, 4)), ((24,), (2, 3, 4)), ((2, 3, 4), (24,)),
    ((1, 6, 4), (6, 4)), ((6, 4), (1, 6, 1, 4)), ((4, 6), (6, 4)), ((2, 1, 3), (3, 1, 2)), ((1,), ()), ((), (1, 1)), ((6, 1), (2, 3)),
]  # fmt: skip


@given(pair=st.sampled_from(SHAPES), data=st.data())
def test_a_reshape_is_numpys(pair, data):
    old, new = pair
    varies = data.draw(st.sets(st.sampled_from(range(len(old))))) if old else set()
    s = shadow(old, varies, data.draw(st.integers(0, 99)))
    got = domain.reshape(s, new)
    for a, b in zip(domain.full(s), domain.full(got), strict=True):
        assert np.array_equal(a.reshape(new), b)


def test_reshapes_stay_compressed():
    s = shadow((1, 512, 768), {1})
    heads = domain.reshape(s, (1, 512, 12, 64))
    assert heads.hi.shape == (1, 512, 1, 1)
    assert domain.reshape(heads, (512, 768)).hi.shape == (512, 1)


@given(st.sets(st.sampled_from(range(3))), st.integers(0, 99))
def test_compression_loses_nothing(varies, seed):
    s = shadow((3, 4, 5), varies, seed)
    wide = Shadow(s.shape, *(np.array(a) for a in domain.full(s)))
    tight = domain.compressed(wide)
    assert domain.equal(s, tight)
    for axis in set(range(3)) - varies:
        assert tight.lo.shape[axis] == 1


def test_along_joins_everything_else():
    s = Shadow((2, 2), np.array([[0, 3], [5, 1]]), np.array([[1, 4], [6, 2]]), np.zeros((1, 1), np.uint8))
    assert [v.tolist() for v in s.along(0)] == [[0, 1], [4, 6]]
    assert [v.tolist() for v in s.along(-1)] == [[0, 1], [6, 4]]
    with pytest.raises(IndexError):
        s.along(2)


def test_an_empty_tensor_depends_on_nothing():
    lo, hi = domain.uniform((0, 3)).along(1)
    assert (lo > hi).all()


def test_the_domain_the_register_of_rules_and_the_ledger_need_no_pytorch():
    code = (
        "import sys; from attnproof.causal.model.trace import Rule, Shadow, ledger, memory, registry, transfer; "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
