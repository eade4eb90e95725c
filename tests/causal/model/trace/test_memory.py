"""Shadows of memory against memory itself: any view, any write, any type, read through any other view."""

from __future__ import annotations

import numpy as np
from attnproof.causal.model.trace.domain import FIXED, MASKED, ZERO, Shadow, full, uniform
from attnproof.causal.model.trace.memory import Geometry, Memory
from hypothesis import given, settings
from hypothesis import strategies as st

N = 24


@st.composite
def geometries(draw):
    """A view of 24 numbers that does not overlap itself."""
    kind = draw(st.sampled_from(["whole", "matrix", "transposed", "rows", "strided", "column"]))
    if kind == "whole":
        return Geometry(0, (N,), (1,), 4, "f")
    if kind == "matrix":
        return Geometry(0, (4, 6), (6, 1), 4, "f")
    if kind == "transposed":
        return Geometry(0, (6, 4), (1, 6), 4, "f")
    if kind == "rows":
        start = draw(st.integers(0, 2))
        return Geometry(6 * start, (2, 6), (6, 1), 4, "f")
    if kind == "column":
        return Geometry(draw(st.integers(0, 5)), (4,), (6,), 4, "f")
    return Geometry(draw(st.integers(0, 1)), (12,), (2,), 4, "f")


def window(array, g):
    return np.lib.stride_tricks.as_strided(array[g.offset :], g.shape, tuple(s * array.itemsize for s in g.strides))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.booleans(), geometries(), st.integers(0, 9)), min_size=1, max_size=8))
def test_reads_give_what_was_written(steps):
    memory, truth = Memory(N * 4), np.full(N, -1, np.int32)
    memory.everywhere = uniform((), FIXED)
    memory.dtype = "f"
    for write, g, value in steps:
        if write:
            values = (np.arange(int(np.prod(g.shape))) % 3 + value).reshape(g.shape).astype(np.int32)
            memory.write(g, Shadow(g.shape, values, values, np.zeros((1,) * len(g.shape), np.uint8)))
            window(truth, g)[...] = values
        hi = full(memory.read(g))[1]
        assert np.array_equal(hi, window(truth, g))


def test_bits_read_as_another_type_keep_intervals_and_lose_values():
    memory = Memory(16)
    pair = Geometry(0, (2,), (1,), 8, "complex64")
    memory.write(pair, Shadow((2,), np.array([1, 2], np.int32), np.array([1, 2], np.int32), np.zeros(1, np.uint8)))
    halves = memory.read(Geometry(0, (2, 2), (2, 1), 4, "float32"))
    assert full(halves)[1].tolist() == [[1, 1], [2, 2]]
    memory.write(Geometry(1, (1,), (1,), 4, "float32"), uniform((1,), ZERO, 7, 7))
    assert full(memory.read(pair))[1].tolist() == [7, 2]
    assert (memory.read(pair).kind <= FIXED).all()


def test_bytes_that_nobody_wrote_may_hold_anything():
    memory = Memory(N * 4)
    memory.write(Geometry(0, (4,), (6,), 4, "f"), uniform((4,), FIXED))
    hi = full(memory.read(Geometry(0, (N,), (1,), 4, "f")))[1]
    assert (hi[::6] == -1).all()
    assert (hi[1::6] > N).all()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5)), max_size=3))
def test_a_view_that_overlaps_itself_is_known(axes):
    g = Geometry(2, tuple(n for n, _ in axes), tuple(s for _, s in axes), 4, "f")
    places = window(np.arange(64), g)
    assert g.overlaps_itself() == (np.unique(places).size < places.size)


def test_a_place_written_twice_may_hold_either():
    memory = Memory(12, everywhere=uniform((), FIXED), dtype="f")
    ranks = np.array([[0, 1], [2, 3]], np.int32)
    memory.write(Geometry(0, (2, 2), (1, 1), 4, "f"), Shadow((2, 2), ranks, ranks, np.full((1, 1), ZERO, np.uint8)))
    found = memory.read(Geometry(1, (1,), (1,), 4, "f"))
    assert (int(found.lo.min()), int(found.hi.max()), int(found.kind.max())) == (0, 3, 0)


@st.composite
def blocks(draw):
    """A block of a tensor (2, 3, 4) that lies in one of two orders, and the axes along which its shadow varies."""
    strides = draw(st.sampled_from([(12, 4, 1), (1, 8, 2)]))
    starts = [draw(st.integers(0, size - 1)) for size in (2, 3, 4)]
    shape = tuple(draw(st.integers(1, size - start)) for size, start in zip((2, 3, 4), starts, strict=True))
    offset = sum(s * start for s, start in zip(strides, starts, strict=True))
    return Geometry(offset, shape, strides, 4, "f"), [draw(st.booleans()) for _ in shape]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.booleans(), blocks(), st.integers(0, 9)), min_size=1, max_size=8), st.booleans())
def test_blocks_of_a_whole_tensor_are_read_and_written_without_laying_it_flat(steps, turned):
    memory, truth = Memory(N * 4), np.zeros(N, np.int32)
    whole = Geometry(0, (2, 3, 4), (1, 8, 2) if turned else (12, 4, 1), 4, "f")
    memory.write(whole, uniform(whole.shape, 0, 0, 0))
    for write, (g, varies), value in steps:
        if write:
            shape = [n if some else 1 for n, some in zip(g.shape, varies, strict=True)]
            values = (np.arange(int(np.prod(shape))) + value).reshape(shape).astype(np.int32)
            memory.write(g, Shadow(g.shape, values, values, np.full((1,) * 3, value % 2 * ZERO, np.uint8)))
            window(truth, g)[...] = np.where(value % 2, 100, 0) + values
        _, hi, kind = full(memory.read(g))
        assert np.array_equal(np.where(kind == ZERO, 100, 0) + hi, window(truth, g))
    if all(g.strides == whole.strides for _, (g, _), _ in steps):
        assert memory.flat is None
    hi, kind = full(memory.read(whole))[1:]
    assert np.array_equal(np.where(kind == ZERO, 100, 0) + hi, window(truth, whole))


def test_how_far_a_mask_was_scaled_down_is_forgotten_with_what_it_lowered():
    row, half = Geometry(0, (2,), (1,), 4, "f"), Geometry(1, (1,), (1,), 4, "f")
    memory = Memory(8)
    memory.write(row, uniform((2,), MASKED), 0.5)
    memory.write(half, uniform((1,), MASKED), 1.0)
    assert memory.scaled == 0.5
    memory.write(half, uniform((1,), MASKED), 0.25)
    assert memory.scaled == 0.25
    memory.write(row, uniform((2,)), 0.25)
    memory.write(half, uniform((1,), MASKED), 0.5)
    assert memory.scaled == 0.5
    memory.write(row, uniform((2,), MASKED), 1.0)
    assert memory.scaled == 1.0
