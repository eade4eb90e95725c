"""Arrays that are put off are the arrays themselves: by operation, and in random programs traced both ways."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
from needs import need

torch = need("torch")
from attnproof.causal.model import trace
from attnproof.causal.model.trace import deferred, domain
from attnproof.causal.model.trace.deferred import Deferred, blocks, held, late
from attnproof.causal.model.trace.domain import NEGINF, Shadow
from attnproof.causal.model.trace.transfer import contractions, normalising
from hypothesis import given
from hypothesis import strategies as st
from shadow_probe import Run
from tensor_programs import program


@pytest.fixture
def tiny(monkeypatch):
    """Everything but single numbers is large, and a block has few elements."""
    monkeypatch.setattr(deferred, "LARGE", 2)
    monkeypatch.setattr(deferred, "BLOCK", 5)


def column_and_row(seed, shape=(2, 3, 4)):
    r = np.random.default_rng(seed)
    a, b = (r.integers(-5, 5, [n if keep else 1 for n, keep in zip(shape, kept, strict=True)]).astype(np.int32)
            for kept in ((1, 1, 0), (1, 0, 1)))  # fmt: skip
    return a, b, r.random(shape) < 0.5


@given(shape=st.lists(st.integers(1, 9), min_size=1, max_size=4), block=st.integers(1, 40))
def test_blocks_meet_every_element_once(shape, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deferred, "BLOCK", block)
        seen = np.zeros(shape, int)
        for where in blocks(shape):
            assert seen[where].size <= block
            seen[where] += 1
    assert (seen == 1).all()


REDUCTIONS = [
    lambda a: a.min(), lambda a: a.max(-1, keepdims=True), lambda a: a.min((0, 2), keepdims=True, initial=-9),
    lambda a: (a > 0).any(), lambda a: (a > -9).any((0, 1)), lambda a: (a > -9).all(),
    lambda a: (a > 0).all(1, keepdims=True),
    lambda a: (a > 0).sum(2, keepdims=True), lambda a: a.sum(1), lambda a: np.maximum.reduce(a, axis=-2, keepdims=True),
    lambda a: np.minimum.reduce(a), lambda a: np.maximum.accumulate(a, axis=1), lambda a: np.max(a, axis=(0, 1)),
]  # fmt: skip
SHAPES = [
    lambda a: a.reshape(2, 1, 3, 4, 1), lambda a: a.reshape((6, 4)), lambda a: a.reshape(-1),
    lambda a: np.swapaxes(a, -1, 0),
    lambda a: np.swapaxes(a.reshape(2, 3, 1, 4), 1, 3).min(1), lambda a: np.broadcast_to(a, (5, 2, 3, 4)),
    lambda a: a.take([-1], 1), lambda a: a.take([0, 2], 1), lambda a: a[:, 1:], lambda a: a[..., None], lambda a: a.T,
    lambda a: (a > 0).astype(np.uint8), lambda a: a.astype(np.int64), lambda a: np.concatenate([a, a], 1),
    lambda a: np.pad(a, 1), lambda a: np.where(a > 0, a, np.int32(7)), lambda a: ~(a == 1) | (a < -2),
    lambda a: np.array(a),
    lambda a: np.array_equal(a, np.asarray(a)), lambda a: np.unique(a.reshape(6, 4), axis=1), lambda a: a.copy(),
]  # fmt: skip


@pytest.mark.parametrize("function", [*REDUCTIONS, *SHAPES])
def test_what_is_done_to_it_is_done_to_the_array(function, tiny):
    for seed in range(3):
        a, b, where = column_and_row(seed)
        put_off = late(np.where, held(where), np.int32(9), late(np.minimum, a, b))
        assert isinstance(put_off, Deferred)
        whole = np.where(where, np.int32(9), np.minimum(a, b))
        got, wanted = function(put_off), function(whole)
        assert np.array_equal(np.asarray(got), wanted)
        assert np.asarray(got).dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize("dtype", [np.uint8, bool, np.int8])
def test_what_follows_from_one_byte_is_looked_up(dtype, tiny, monkeypatch):
    monkeypatch.setattr(deferred, "WORTH_A_TABLE", 2)
    kind = np.random.default_rng(0).integers(0, 256, (2, 3, 4)).astype(np.uint8).astype(dtype)
    row = np.arange(4, dtype=np.uint8).reshape(1, 1, 4)

    def of(k):
        low = (k == 2) | (k >= 200)
        return np.where(low & ~(k == 0), np.array([[[7]]], np.uint8), np.where(k < 3, np.uint8(1), np.uint8(5)))

    looked_up = of(held(kind))
    assert looked_up.byte is not None
    assert np.array_equal(np.asarray(looked_up), of(kind))
    assert np.array_equal(np.swapaxes(looked_up, 0, 2).min(1), np.swapaxes(of(kind), 0, 2).min(1))
    both = looked_up + row
    assert both.byte is None
    assert np.array_equal(np.asarray(both), of(kind) + row)


def test_long_chains_are_computed_on_the_way(tiny, monkeypatch):
    monkeypatch.setattr(deferred, "MOST_STEPS", 6)
    a, b, _ = column_and_row(0)
    put_off, whole = late(np.minimum, a, b), np.minimum(a, b)
    kept = []
    for _ in range(20):
        put_off, whole = put_off + np.int32(1), whole + np.int32(1)
        kept.append(put_off.function is None)
    assert any(kept)
    assert not all(kept)
    assert np.array_equal(np.asarray(put_off), whole)


def test_nothing_is_kept_that_takes_more_than_the_result(tiny):
    masks = [held(np.random.default_rng(i).random((2, 3, 4)) < 0.5) for i in range(9)]
    joined = masks[0]
    for mask in masks[1:]:
        joined = joined | mask
    kept, waiting = {}, [joined]
    while waiting:
        step = waiting.pop()
        kept[id(step)] = getattr(step, "nbytes", 0) if isinstance(step, np.ndarray) else 0
        waiting += getattr(step, "operands", ())
    assert sum(kept.values()) <= deferred.MOST_BYTES * joined.size
    assert np.array_equal(np.asarray(joined), np.any([np.asarray(m) for m in masks], 0))


def test_scores_of_many_positions_take_no_array_of_intervals(monkeypatch):
    """Two arrays of whole numbers would take 32 MiB each."""
    import tracemalloc

    monkeypatch.setattr(deferred, "LARGE", 1 << 20)
    n = 2048
    ranks = np.arange(n, dtype=np.int32).reshape(n, 1)
    q = Shadow((n, 8), ranks, ranks, np.zeros((1, 1), np.uint8))
    kt = Shadow((8, n), ranks.T, ranks.T, np.zeros((1, 1), np.uint8))
    run = Run()
    future = held(~np.tri(n, dtype=bool))
    tracemalloc.start()
    scores = Shadow((n, n), *contractions.contract(run, None, None, q, kt))
    weights = normalising.softmax(run, domain.without(scores, future, NEGINF), 1, safe=False)
    lo, hi, _ = contractions.contract(run, None, None, weights, q)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert hi.reshape(-1).tolist() == list(range(n))
    assert not lo.any()
    assert peak < 16 << 20


@pytest.mark.parametrize("seed", range(0, 800, 20))
def test_a_program_has_the_same_shadows_either_way(seed, tiny):
    hidden = -1e9 if seed % 40 else float("-inf")
    x = torch.from_numpy(np.random.default_rng(seed).standard_normal((6, 4)))

    def traced():
        return trace.run(program(seed, hidden=hidden), (x,), sequence_axis=0)

    put_off = traced()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deferred, "LARGE", 1 << 40)
        at_once = traced()
    assert len(put_off.outputs) == len(at_once.outputs)
    for a, b in zip(put_off.outputs, at_once.outputs, strict=True):
        assert domain.equal(a.shadow, b.shadow)
    assert put_off.complete == at_once.complete
    assert [r for r in put_off.reads if r.source != "draws"] == [r for r in at_once.reads if r.source != "draws"]
    assert put_off.conditions == at_once.conditions
    assert put_off.starved == at_once.starved


def test_equal_arrays_are_kept_once_and_given_back_at_once(tiny):
    a, b, other = (held(np.array(v, np.uint8)) for v in ([1, 2, 3], [1, 2, 3], [1, 2, 4]))
    assert a is b
    assert a is not other
    assert held(np.array([1, 2, 3], np.int8)) is not a
    gone = weakref.ref(held(np.array([7, 8, 9], np.uint8)))
    assert gone() is None  # without the help of a garbage collection


def test_what_was_asked_of_bytes_is_known(tiny, monkeypatch):
    kind = held(np.array([[0, 5], [5, 5]], np.uint8))
    assert (kind == 5).any()
    assert not (kind == 5).all()
    monkeypatch.setattr(Deferred, "part", None)
    assert ((kind == 5) | (kind == 5)).any()
    assert not (kind == 5).all()
