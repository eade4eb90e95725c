"""Contractions, without a tensor library."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.model.trace.domain import ZERO, full
from attnproof.causal.model.trace.transfer import contractions as transfer
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from shadow_probe import Run, check, elements, intervals

NUMBERS = arrays.arrays(float, (3, 3), elements=st.sampled_from([-2.0, 0.0, 1.0]))
FLAGS = arrays.arrays(bool, (3, 3))


@given(NUMBERS, FLAGS, NUMBERS, FLAGS)
def test_a_product_of_matrices_drops_what_zeros_kill(x, p, y, q):
    a, b, run = elements(x, p), elements(y, q, first=9), Run()
    check(np.matmul, transfer.matrix_product(run, a, b, (3, 3)), a, b)
    killing = (not p.all() and (x[~p] == 0).any() and q.any()) or (not q.all() and (y[~q] == 0).any() and p.any())
    assert ("zeros" in run.told) == ("finite" in run.told) == killing


def test_a_triangular_matrix_of_weights_looks_back():
    weights, x = elements(np.tril(np.ones((3, 3))), False), elements(np.ones((3, 1)), True)
    assert intervals(transfer.matrix_product(Run(), weights, x, (3, 1))) == [[0, 0], [0, 1], [0, 2]]
    assert intervals(transfer.matrix_product(Run(), weights, elements(np.ones(3), True), (3,))) == [
        [0, 0],
        [0, 1],
        [0, 2],
    ]


@given(NUMBERS, FLAGS, arrays.arrays(float, (2, 3), elements=st.sampled_from([0.0, 1.0])), st.booleans())
def test_a_linear_layer_is_a_product_with_the_transpose(x, p, w, with_bias):
    a, weight = elements(x, p), elements(w, False)
    bias = elements([1.0, 0.0], [True, False], first=9) if with_bias else None
    got = transfer.linear(Run(), a, weight, bias, (3, 2), real=True)
    tensors = (a, weight, bias) if bias else (a, weight)
    check(lambda x, w, b=0.0: x @ w.T + b, got, *tensors)


def test_an_empty_sum_is_zero():
    empty = elements(np.ones((2, 0)), True), elements(np.ones((0, 2)), True)
    assert (full(transfer.matrix_product(Run(), *empty, (2, 2)))[2] == ZERO).all()


def substitute(a, b, upper):
    """The solution of a triangular system, row by row."""
    x = np.zeros_like(b)
    for i in reversed(range(3)) if upper else range(3):
        rest = range(i + 1, 3) if upper else range(i)
        x[i] = (b[i] - sum(a[i, k] * x[k] for k in rest)) / a[i, i]
    return x


@given(FLAGS, arrays.arrays(bool, (3, 2)), st.booleans())
def test_substitution_reads_the_rows_before(p, q, upper):
    a, b = elements(np.eye(3) * 2 + 1, p), elements(np.ones((3, 2)), q, first=9)
    got = transfer.substitution(a.shadow, b.shadow, upper, (3, 2))
    check(lambda a, b: substitute(a, b, upper), got, a, b)


@given(FLAGS, arrays.arrays(bool, (2, 3)))
def test_distances_join_two_rows(p, q):
    a, b = elements(np.eye(3), p), elements(np.ones((2, 3)), q, first=9)
    got = transfer.distances(a.shadow, b.shadow, (3, 2))
    check(lambda a, b: np.abs(a[:, None] - b[None]).max(-1), got, a, b)


@given(arrays.arrays(bool, 3), arrays.arrays(bool, 2))
def test_an_outer_product_joins_two_numbers(p, q):
    a, b = elements(np.ones(3), p), elements(np.ones(2), q, first=3)
    check(np.outer, transfer.outer(a.shadow, b.shadow, (3, 2)), a, b)


@given(arrays.arrays(bool, (2, 2, 2)))
def test_batches_of_matrices_stay_apart(p):
    a = elements(np.stack([np.eye(2), 2 * np.eye(2)]), p)
    for function, shape in ((np.linalg.inv, (2, 2, 2)), (np.linalg.det, (2,))):
        check(function, transfer.whole_matrices([a.shadow], shape), a)
    b = elements(np.ones((2, 2, 1)), True, first=8)
    check(np.linalg.solve, transfer.whole_matrices([a.shadow, b.shadow], (2, 2, 1)), a, b)
    every = transfer.whole_matrices([elements(np.ones((2, 2, 2)), True).shadow], (2,))
    assert intervals(every) == [[0, 3], [4, 7]]


def test_rows_of_groups_read_themselves_and_all_weights():
    rows, weights = elements(np.ones((3, 2)), True, first=10), elements(np.ones((2, 2, 2)), False)
    assert intervals(transfer.grouped(rows.shadow, [weights.shadow], (3, 1))) == [[10, 11], [12, 13], [14, 15]]
    learned = elements(np.ones((2, 2, 2)), True)
    assert intervals(transfer.grouped(rows.shadow, [learned.shadow], (3, 1))) == [[0, 11], [0, 13], [0, 15]]


@pytest.mark.parametrize("beta", [0, 1, 2.5])
def test_a_bias_times_zero_is_not_read(beta):
    product, bias = elements([1.0, 2.0], [True, False]), elements([3.0, 4.0], True, first=2)
    got = transfer.plus(product.known(), bias, beta, real=True)
    check(lambda p, b: p + beta * b if beta else p, got, product, bias)
    assert intervals(got) == ([[0, 0], None] if beta == 0 else [[0, 2], [3, 3]])
