"""Attention as exact expressions, softmax, costs and evaluation in balls."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from attnproof.symbolic import attention, cost, softmax
from attnproof.symbolic.ball import enclosure
from attnproof.symbolic.exact import Undecidable
from attnproof.symbolic.field import is_zero
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Matrix, Rational, Symbol, exp

pytestmark = pytest.mark.claim("T1", "T5", "T9", "T18")
NUMBERS = st.integers(-4, 4).map(lambda k: k / 2)


def float_head(q, k, v, e, f, visible=None):
    scores = q @ (e @ k).T / np.sqrt(q.shape[1])
    if visible is not None:
        scores = np.where(visible, scores, -np.inf)
    w = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (w / w.sum(axis=1, keepdims=True)) @ (f @ v)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_exact_heads_agree_with_floats(data):
    n, r = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    d, dv = data.draw(st.sampled_from([1, 4])), data.draw(st.integers(1, 2))
    q, k, v, e, f = (
        np.array(data.draw(st.lists(NUMBERS, min_size=rows * columns, max_size=rows * columns))).reshape(rows, columns)
        for rows, columns in ((n, d), (n, d), (n, dv), (r, n), (r, n))
    )
    mask = np.array([[data.draw(st.booleans()) or s == 0 for s in range(r)] for _ in range(n)])
    exact = attention.compressed_attention(q, k, v, e, f, visible=mask.tolist())
    assert np.allclose(np.array(exact.evalf(), dtype=float), float_head(q, k, v, e, f, mask))
    full = attention.full_attention(q, k, v)
    assert np.allclose(np.array(full.evalf(), dtype=float), float_head(q, k, v, np.eye(n), np.eye(n)))
    mixed = attention.mixing(q, k, e, f, visible=mask.tolist()) * Matrix(v).applyfunc(sympy.nsimplify)
    assert all(is_zero(a - b) for a, b in zip(mixed, exact, strict=True))


def test_scores_with_a_symbol_for_the_root_of_d():
    s = Symbol("s", positive=True)
    weights = attention.full_weights([[1, 2]], [[1, 0], [0, 1]], scale=s)
    assert is_zero(weights[0] - 1 / (1 + exp(1 / s)))


def test_shape_errors():
    with pytest.raises(ValueError, match="K has shape"):
        attention.scores([[1, 2]], [[1]])
    with pytest.raises(ValueError, match="V has shape"):
        attention.full_attention([[1]], [[1]], [[1], [2]])
    with pytest.raises(ValueError, match="F has shape"):
        attention.compressed_attention([[1]], [[1]], [[1]], [[1]], [[1, 2]])
    with pytest.raises(ValueError, match="softmax is over nothing"):
        softmax.row_softmax([[1, 2]], [[False, False]])


def test_the_example_is_the_article_s():
    x = attention.article_example()
    assert x.compressed_keys == Matrix([Rational(3, 2), 3])
    assert x.compressed_values == Matrix([15, 30])
    assert is_zero(x.output_compressed - x.output_full - x.error)


def test_keys_go_through_e_and_values_through_f():
    e, f = Matrix([[1, 0, 0]]), Matrix([[0, 0, 1]])
    x = attention.Example(Matrix([[1]]), Matrix([1, 2, 3]), Matrix([10, 20, 30]), e, f)
    assert x.compressed_keys == Matrix([1])
    assert x.compressed_values == Matrix([30])
    assert x.output_compressed == 30


def test_costs():
    assert cost.macs(cost.full_head(4, 2, 3)) == 4 * 4 * 5
    assert cost.macs(cost.compressed_head(4, 2, 2, 3)) == 2 * 4 * 2 * 5
    assert cost.extra_parameters(8, 2) == 32
    assert cost.extra_parameters(8, 2, shared=True) == 16
    assert cost.speedup(4, 2, 7, 5) == 1
    assert cost.speedup(4, 3, 7, 5) < 1 < cost.speedup(4, 1, 7, 5)


def test_balls_contain_and_leave_the_precision_alone():
    before = ctx.prec
    x = Symbol("x")
    ball = enclosure(exp(x) + sympy.tanh(x) ** 2 / sympy.sqrt(x), 200, {x: Rational(1, 2)})
    assert ctx.prec == before
    assert ball.rad() < arb("1e-50")
    with ctx.workprec(300):
        assert ball.overlaps(arb(1).exp().sqrt() + (arb("0.5").tanh()) ** 2 / arb("0.5").sqrt())
    with pytest.raises(Undecidable, match="cannot be evaluated"):
        enclosure(sympy.gamma(x), 64, {x: 1})
