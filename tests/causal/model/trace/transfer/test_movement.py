"""Moving elements, without any tensor library: NumPy's own functions are the operations."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.model.trace.domain import (
    FIXED,
    NEGINF,
    PLAIN,
    POSITIVE,
    VARIES,
    ZERO,
    Shadow,
    full,
    join_all,
    ranked,
    uniform,
)
from attnproof.causal.model.trace.transfer import movement
from shadow_probe import Operand, Run, check, check_exact, constant, normal, varying

X = normal(6, 4)
S = ranked(X.shape, 0, np.arange(6))
MOVES = {
    "transposed": lambda x: x.T,
    "every other": lambda x: x[1::2],
    "turned": lambda x: x[::-1],
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, 0),
    "one": lambda x: x[2, 3],
    "repeated": lambda x: np.tile(x, (2, 1)),
}


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("squeeze", [False, True])
def test_the_shadow_moves_as_the_elements_do(name, squeeze):
    f = MOVES[name]
    (s,) = movement.moved([S], lambda arrays: [np.asarray(f(arrays[0]))], squeeze)
    check_exact(lambda x: np.asarray(f(x)), s, varying(X))


def test_several_outputs_have_a_shadow_each():
    parts = movement.moved([S], lambda arrays: np.split(arrays[0], 3))
    assert len(parts) == 3
    for i, part in enumerate(parts):
        check_exact(lambda x, i=i: x[2 * i : 2 * i + 2], part, varying(X))


def test_axes_along_which_nothing_varies_stay_free():
    (s,) = movement.moved([uniform((6, 1000), VARIES)], lambda arrays: [arrays[0].T])
    assert s.shape == (1000, 6)
    assert s.lo.size == 1


def test_an_array_without_axes_stays_an_array():
    assert isinstance(movement.without_repeats(np.zeros(())), np.ndarray)


def test_joined_and_padded():
    c = uniform((2, 4), FIXED)
    check_exact(lambda x: np.concatenate([x, X[:2], x]), movement.joined([S, c, S], 0, (14, 4)), varying(X))
    check_exact(lambda x: np.concatenate([x, x], 1), movement.joined([S, S], 1, (6, 8)), varying(X))
    assert movement.joined([], 0, (0, 4)).is_fixed
    s = movement.padded(S, uniform((), NEGINF), [(2, -1), (0, 3)])
    check_exact(lambda x: np.pad(x[:-1], ((2, 0), (0, 3)), constant_values=-np.inf), s, varying(X))
    assert (full(s)[2] == np.pad(np.zeros((5, 4)), ((2, 0), (0, 3)), constant_values=NEGINF)).all()


def test_transported_elements_and_zeros():
    def mirrored(x):
        return np.pad(x, ((2, 1), (0, 0)), mode="reflect")

    check_exact(mirrored, movement.transported(S, mirrored), varying(X))

    def padded(x):
        return np.pad(x, ((1, 1), (0, 0)))

    s = movement.transported(S, padded)
    check_exact(padded, s, varying(X))
    assert (full(s)[2][[0, -1]] == ZERO).all()


@pytest.mark.parametrize("diagonal", [-1, 0, 2])
def test_triangles(diagonal):
    check_exact(lambda x: np.tril(x, diagonal), movement.triangle(S, diagonal, upper=False), varying(X))
    check_exact(lambda x: np.triu(x, diagonal), movement.triangle(S, diagonal, upper=True), varying(X))


def test_among_zeros():
    row = ranked((6,), 0, np.arange(6))
    s = movement.among_zeros([row], lambda arrays: [np.diag(arrays[0])])
    check_exact(np.diag, s, varying(X[:, 0]))
    assert (full(s)[2] == np.where(np.eye(6), VARIES, ZERO)).all()


def test_another_type_keeps_zeros_and_forgets_the_rest():
    kinds = np.array([VARIES, POSITIVE, PLAIN, ZERO, NEGINF], np.uint8)
    s = Shadow((5,), *uniform((5,)).along(0), kinds)
    assert movement.converted(s).kind.tolist() == [VARIES, VARIES, FIXED, ZERO, FIXED]
    assert movement.converted(s, positive=True).kind.tolist() == [VARIES, POSITIVE, FIXED, ZERO, FIXED]


def test_broadcast_repeats_and_drops_axes_in_front():
    check_exact(lambda x: np.broadcast_to(x, (3, 6, 4)), movement.broadcast(S, (3, 6, 4)), varying(X))
    check_exact(lambda x: x, movement.broadcast(ranked((1, 6, 4), 1, np.arange(6)), (6, 4)), varying(X))


def test_masked_scatter_may_take_any_element_where_the_mask_is_true():
    mask, target, source = constant(normal(6, 4, seed=2) > 0), normal(6, 4, seed=1), varying(X)
    run = Run()

    def f(x):
        out = target.copy()
        out[mask.value] = x.reshape(-1)[: mask.value.sum()]
        return out

    s = movement.masked_scatter(run, constant(target), mask, source.shadow, (6, 4))
    check(f, s, varying(X))
    assert (full(s)[2] == np.where(mask.value, VARIES, PLAIN)).all()
    assert (run.told, run.about["values"]) == (["values"], (mask,))
    open_mask = Operand(X > 0, uniform((6, 4), VARIES, 2, 2))
    for given, ends in ((source.shadow, (0, 5)), (uniform((6, 4)), (2, 2))):
        loose = movement.masked_scatter(run, constant(target), open_mask, given, (6, 4))
        assert join_all([loose]) == ends
