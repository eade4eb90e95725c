"""Reading and writing at indices, without any tensor library."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.model.trace.domain import FIXED, PLAIN, VARIES, ZERO, Shadow, full, join_all, ranked, uniform
from attnproof.causal.model.trace.transfer import indexing
from attnproof.causal.model.trace.transfer.indexing import Index
from shadow_probe import Operand, Run, check, check_exact, constant, normal, varying

X = normal(6, 4)
C = normal(6, 4, seed=1)
I = np.array([4, 0, 2])
S = ranked(X.shape, 0, np.arange(6))
T = ranked((6, 2, 2), 0, np.arange(6))


def at(x, high=6):
    """Whole numbers read out of data, one per position."""
    return np.floor(np.abs(x[:, 0]) * 7).astype(int) % high


def by_data(high=6):
    return Operand(at(X, high), ranked((6,), 0, np.arange(6)))


def column(operand):
    """One place for each row, as an index of one column."""
    s = operand.shadow
    lo, hi, kind = (a[:, None] for a in (s.lo, s.hi, s.kind))
    return Operand(operand.value[:, None], type(s)((6, 1), lo, hi, kind))


PICKED = {
    "rows": (X, S, (I,)),
    "columns": (X, S, (None, I % 4)),
    "neighbours": (X, S, (I, I % 4)),
    "apart": (X.reshape(6, 2, 2), T, (I, None, I % 2)),
    "inside": (X.reshape(6, 2, 2), T, (None, I % 2, I[:, None] % 2)),
    "negative": (X, S, (np.array([[-1, 0]]),)),
    "mask": (X, S, (C > 0,)),
    "mask of rows": (X, S, (C[:, 0] > 0,)),
}


@pytest.mark.parametrize("name", PICKED)
def test_known_places_are_read_as_they_stand(name):
    x, s, given = PICKED[name]
    key = tuple(slice(None) if i is None else i for i in given)
    indices = [None if i is None else Index(constant(i), mask=i.dtype == bool) for i in given]
    picked = indexing.picked(s, indices, x[key].shape)
    check_exact(lambda y: y.reshape(x.shape)[key], picked, varying(X))


def test_places_that_are_data_may_be_any():
    i = Index(by_data(2))
    s = indexing.picked(T, [Index(constant(np.arange(6))), None, i], (6, 2))
    check_exact(lambda x: x.reshape(6, 2, 2)[np.arange(6), :, at(x, 2)], s, varying(X))
    s = indexing.picked(S, [Index(by_data())], (6, 4))
    check(lambda x: x[at(x)], s, varying(X))
    assert (full(s)[0] == 0).all()
    assert (full(s)[1] == 5).all()
    assert (full(s)[2] == VARIES).all()


def test_a_table_of_constants_read_at_data_depends_on_the_index():
    s = indexing.picked(constant(C).shadow, [Index(by_data())], (6, 4))
    check(lambda x: C[at(x)], s, varying(X))
    assert (full(s)[1] == np.arange(6)[:, None]).all()
    s = indexing.rows(constant(C).shadow, by_data(), 0, (6, 4))
    assert (full(s)[1] == np.arange(6)[:, None]).all()


def test_indices_apart_stand_in_front():
    x, s = np.arange(48).reshape(2, 3, 2, 4), constant(np.arange(48).reshape(2, 3, 2, 4)).shadow
    given = [None, Index(by_data(3)), None, Index(constant(I[:1] % 4))]
    picked = indexing.picked(s, given, (6, 2, 2))
    check(lambda y: x[:, at(y, 3), :, I[:1] % 4].astype(float), picked, varying(X))
    assert (full(picked)[1] == np.arange(6)[:, None, None]).all()


def test_a_table_of_constants_gathered_at_data_depends_on_the_index():
    s = indexing.gathered(constant(C).shadow, column(by_data()), 0, (6, 1))
    assert full(s)[0][:, 0].tolist() == list(range(6))
    assert full(s)[1][:, 0].tolist() == list(range(6))


@pytest.mark.parametrize(("axis", "where"), [(0, I[:, None] + np.zeros(3, int)), (1, I[:, None] % 4), (0, I[None, :])])
def test_gathered(axis, where):
    def f(x):
        cut = x[tuple(slice(None) if d == axis else slice(0, n) for d, n in enumerate(where.shape))]
        return np.take_along_axis(cut, where, axis)

    check_exact(f, indexing.gathered(S, constant(where), axis, where.shape), varying(X))


def test_gathered_by_data():
    s = indexing.gathered(S, column(by_data(4)), 1, (6, 1))
    check_exact(lambda x: np.take_along_axis(x, at(x, 4)[:, None], 1), s, varying(X))
    s = indexing.gathered(S, column(by_data()), 0, (6, 1))
    check(lambda x: np.take_along_axis(x[:, :1], at(x)[:, None], 0), s, varying(X))
    assert (full(s)[1] == 5).all()


@pytest.mark.parametrize(("axis", "where", "shape"), [(0, I, (3, 4)), (1, I[1:], (6, 2)), (1, np.array(2), (6, 1))])
def test_slices_by_their_places(axis, where, shape):
    s = indexing.rows(S, constant(where), axis, shape)
    check_exact(lambda x: np.take(x, where, axis).reshape(shape), s, varying(X))


@pytest.mark.parametrize("place", [-1, 6])
def test_known_places_out_of_range_are_an_error_also_where_nothing_varies_along_the_axis(place):
    where, table = constant(np.array([0, place])), uniform((6, 4), VARIES)
    for read in (
        lambda: indexing.rows(table, where, 0, (2, 4)),
        lambda: indexing.gathered(table, constant(np.full((1, 4), place)), 0, (1, 4)),
        lambda: indexing.slices_written(Run(), Operand(X, table), where, Operand(X[:2], S), 0, False),
        lambda: indexing.scattered(Run(), Operand(X, table), constant(np.full((1, 4), place)), Operand(X, S), 0, False),
    ):
        with pytest.raises(IndexError, match=f"index {place} is out of range for 6 places"):
            read()


def test_one_place_may_drop_its_axis():
    check_exact(lambda x: x[3], indexing.rows(S, constant(np.array(3)), 0, (4,)), varying(X))


def test_bags_join_their_own_indices_only():
    table = constant(normal(5, 3))

    def bags(x):
        return np.add.reduceat(table.value[at(x, 5)], [0, 2], 0)

    s = indexing.bags(table.shadow, by_data(5).shadow, None, constant([0, 2]), (2, 3))
    check(bags, s, varying(X))
    assert full(s)[0].tolist() == [[0] * 3, [2] * 3]
    assert full(s)[1].tolist() == [[1] * 3, [5] * 3]
    empty = indexing.bags(table.shadow, by_data(5).shadow, None, constant([0, 2, 2]), (3, 3))
    assert (full(empty)[1] == 5).all()


def test_taken_and_kept():
    s = indexing.kept(S, constant(C > 0), (int((C > 0).sum()),))
    check_exact(lambda x: x[C > 0], s, varying(X))
    assert (full(indexing.taken(S, by_data().shadow, (6,)))[1] == 5).all()


# -- writing ----------------------------------------------------------------------------------------------------------


def test_the_same_place_written_twice_keeps_both():
    s = indexing.put(Run(), constant(C), [Index(constant([1, 1]))], varying(X[:2]), accumulate=False)
    lo, hi, kind = full(s)
    assert (lo[1] == 0).all()
    assert (hi[1] == 1).all()
    assert (kind[1] == VARIES).all()
    assert (kind[[0, 2, 3, 4, 5]] >= FIXED).all()


def test_a_constant_and_a_number_of_the_input_at_one_place_leave_it_open():
    values = ranked((2, 4), 0, np.arange(2))
    kind = np.array([[VARIES], [PLAIN]], np.uint8)
    for order in (kind, kind[::-1]):
        v = Operand(X[:2], Shadow(values.shape, values.lo, values.hi, order))
        s = indexing.put(Run(), constant(C), [Index(constant([1, 1]))], v, accumulate=False)
        assert (full(s)[2][1] == VARIES).all()


def test_what_is_overwritten_is_forgotten():
    values = Operand(C[:3], uniform((3, 4), VARIES, 1, 1))
    s = indexing.put(Run(), varying(X), [Index(constant(I))], values, accumulate=False)
    assert full(s)[0][:, 0].tolist() == [1, 1, 1, 3, 1, 5]
    assert full(s)[1][:, 0].tolist() == [1, 1, 1, 3, 1, 5]
    s = indexing.put(Run(), varying(X), [Index(constant(I))], constant(np.zeros((3, 4))), accumulate=False)
    assert (full(s)[2][I] == ZERO).all()


@pytest.mark.parametrize("accumulate", [False, True])
def test_put_at_known_places(accumulate):
    def f(x):
        out = C.copy()
        np.add.at(out, I, x[I] + (0 if accumulate else -C[I]))
        return out

    values = Operand(X[I], ranked((3, 4), 0, I))
    s = indexing.put(Run(), constant(C), [Index(constant(I))], values, accumulate)
    check_exact(f, s, varying(X))


def test_a_number_put_where_a_mask_is_true_is_a_selection():
    run, mask = Run(), Index(varying(X[:, 0] > 0), mask=True)
    s = indexing.put(run, varying(X), [mask], constant(0.0), accumulate=False)
    check_exact(lambda x: np.where(x[:, :1] > 0, 0.0, x), s, varying(X))
    known = Index(constant(C > 0), mask=True)
    s = indexing.put(run, varying(X), [known], constant(0.5), accumulate=False)
    check_exact(lambda x: np.where(C > 0, 0.5, x), s, varying(X))


def test_put_at_data_may_hit_any_place():
    s = indexing.put(Run(), constant(C), [Index(by_data())], varying(X), accumulate=False)
    assert (full(s)[0] == 0).all()
    assert (full(s)[1] == 5).all()
    s = indexing.put(Run(), constant(C), [Index(by_data())], constant(C), accumulate=False)
    assert join_all([s]) == (0, 5)


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(("axis", "shape"), [(0, (3, 4)), (0, (3, 2)), (1, (3, 1))])
def test_scattered_at_known_places(axis, shape, accumulate):
    where = np.broadcast_to(I[:, None], shape) % X.shape[axis]

    def f(x):
        out = C.copy()
        for place in np.ndindex(*shape):
            target = list(place)
            target[axis] = where[place]
            out[tuple(target)] = x[place] + (out[tuple(target)] if accumulate else 0)
        return out

    s = indexing.scattered(Run(), constant(C), constant(where), varying(X), axis, accumulate)
    check_exact(f, s, varying(X))


def test_scattered_at_data_reaches_no_further_than_the_index():
    index = Operand(at(X)[:2, None], ranked((2, 1), 0, np.arange(2)))
    s = indexing.scattered(Run(), constant(C), index, varying(X), 0, accumulate=False)
    assert (full(s)[1][:, 0] == 1).all()
    assert (full(s)[1][:, 1:] < 0).all()
    number = indexing.scattered(Run(), constant(C), index, 2.0, 0, accumulate=False)
    assert (full(number)[1][:, 0] == 1).all()


def test_nothing_is_written_at_an_empty_index():
    x = varying(X)
    assert indexing.scattered(Run(), x, constant(np.zeros(0, int)), constant(C), 0, False) is x.shadow


def test_slices_written():
    s = indexing.slices_written(Run(), constant(C), constant(I), Operand(X[I], ranked((3, 4), 0, I)), 0, False)

    def f(x):
        out = C.copy()
        out[I] = x[I]
        return out

    check_exact(f, s, varying(X))
    number = indexing.slices_written(Run(), varying(X), constant(I), 2.0, 0, False)
    assert (full(number)[2] == np.where(np.isin(np.arange(6), I), PLAIN, VARIES)[:, None]).all()
    loose = indexing.slices_written(Run(), constant(C), by_data(), varying(X), 0, True)
    assert join_all([loose]) == (0, 5)
    assert (full(loose)[0] == 0).all()
    unknown = Operand(at(X), uniform((6,), VARIES))
    assert join_all([indexing.slices_written(Run(), constant(C), unknown, varying(X), 0, True)]) == (0, 5)
