"""Exact rank, determinant, null space and inverse against SymPy's DomainMatrix and against their definitions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
from attnproof.symbolic import rank
from attnproof.symbolic.exact import Undecidable
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Matrix, Rational, Symbol, exp
from sympy.polys.matrices import DomainMatrix

T = Symbol("t")
pytestmark = pytest.mark.claim("T3", "T5", "T7", "T8")

entries = st.sampled_from([0, 0, 1, -1, 2, Rational(1, 2), T, T + 1, T**2, 1 / (1 + T)])
rational_entries = st.sampled_from([0, 0, 1, -1, 2, Rational(1, 2)])


def matrices(of, rows, columns):
    return st.lists(of, min_size=rows * columns, max_size=rows * columns).map(lambda x: Matrix(rows, columns, x))


def shapes(of):
    return st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(lambda s: matrices(of, *s))


@settings(max_examples=60, deadline=None)
@given(st.one_of(shapes(entries), shapes(rational_entries)))
def test_rank_and_null_space(m):
    expected = DomainMatrix.from_Matrix(m).to_field().rank()
    assert rank.rank(m) == expected
    kernel = rank.null_space(m)
    assert kernel.shape == (m.cols, m.cols - expected)
    assert all(sympy.cancel(e) == 0 for e in m * kernel)
    assert kernel.cols == 0 or rank.rank(kernel) == kernel.cols
    assert len(rank.independent_rows(m)) == expected
    assert rank.rank(m.extract(rank.independent_rows(m), list(range(m.cols)))) == expected


@settings(max_examples=40, deadline=None)
@given(st.one_of(matrices(entries, 3, 3), matrices(rational_entries, 4, 4), matrices(entries, 2, 2)))
def test_determinant_and_inverse(m):
    expected = DomainMatrix.from_Matrix(m).to_field()
    det = expected.domain.to_sympy(expected.det())
    assert sympy.cancel(rank.det(m) - det) == 0
    if det == 0:
        with pytest.raises(ZeroDivisionError):
            rank.inverse(m)
    else:
        assert (m * rank.inverse(m)).applyfunc(sympy.cancel) == sympy.eye(m.rows)


def test_large_determinants_take_the_elimination_path():
    x = sympy.symbols("x0:8")
    m = Matrix(8, 8, lambda i, j: x[i] ** j if i < 2 else Rational(i + 1) ** j)
    expected = sympy.expand(m.det(method="berkowitz"))
    assert sympy.expand(rank.det(m) - expected) == 0
    m[7, :] = m[6, :]
    assert rank.det(m) == 0
    assert rank.rank(m) == 7


def test_exponentials_count_as_transcendental():
    assert rank.rank([[1, exp(1)], [exp(1), exp(2)]]) == 1
    assert rank.rank([[1, exp(1)], [exp(1), exp(2) + Rational(1, 10**40)]]) == 2
    assert rank.null_space([[exp(T), exp(2 * T)]]) == Matrix([-exp(T), 1])


def test_inputs():
    assert rank.as_matrix(np.array([[0.5, 1]])) == Matrix([[Rational(1, 2), 1]])
    assert rank.as_matrix([[Fraction(1, 3)]]) == Matrix([[Rational(1, 3)]])
    assert rank.rank(np.eye(3)) == 3
    assert rank.rank(Matrix.zeros(0, 3)) == 0
    assert rank.det(Matrix.zeros(0, 0)) == 1
    for bad in ([1, 2], [[1], [1, 2]], np.ones(3)):
        with pytest.raises((ValueError, TypeError)):
            rank.as_matrix(bad)
    with pytest.raises(ValueError, match="only a square"):
        rank.det([[1, 2]])
    with pytest.raises(ValueError, match="only a square"):
        rank.inverse([[1, 2]])


def test_spans():
    assert rank.same_span(Matrix([[1, 0], [0, 1]]), Matrix([[1, 1], [1, -1]]))
    assert not rank.same_span(Matrix([1, 0]), Matrix([0, 1]))
    assert not rank.same_span(Matrix([1, 0]), Matrix([1, 0, 0]))
    assert rank.same_span(Matrix.zeros(2, 0), Matrix.zeros(2, 0))
    assert not rank.same_span(Matrix.zeros(2, 0), Matrix([1, 0]))


@settings(max_examples=30, deadline=None)
@given(shapes(rational_entries))
def test_row_space_projector_is_the_pseudo_inverse_product(f):
    p = rank.row_space_projector(f)
    numeric = np.array(f.tolist(), dtype=float)
    assert np.allclose(np.array(p.tolist(), dtype=float), np.linalg.pinv(numeric) @ numeric)


def test_minors_and_padding():
    b, f = rank.symbolic("b", 3, 2), rank.symbolic("f", 2, 3)
    assert list(rank.minors(b * f, 3)) == [0]
    assert all(m != 0 for m in rank.minors(b * f, 2))
    left, right = rank.padded(b, f)
    assert left.shape == right.shape == (3, 3)
    assert left * right == b * f


@pytest.mark.parametrize(
    "entries", [[1, 2], np.ones(3), np.ones((2, 2, 2)), [[1, 2], [3]], [[1, 2], 3], [[[1]]], 1, "12"]
)
@pytest.mark.parametrize("function", [rank.as_matrix, rank.rank, rank.det])
def test_what_is_no_matrix_is_one_sentence(entries, function):
    with pytest.raises(ValueError, match="the entries do not form a matrix; pass rows of equal length"):
        function(entries)


def test_a_singular_matrix_has_no_inverse_over_the_rationals_either():
    with pytest.raises(ZeroDivisionError, match="the matrix is singular over ℚ"):
        rank.inverse([[1, 2], [2, 4]])


@pytest.mark.parametrize("exchanges", [0, 1, 2])
def test_a_determinant_by_elimination_keeps_the_sign_of_row_exchanges(exchanges):
    t = sympy.Symbol("t")
    rows = sympy.eye(7)
    rows[6, 6] = t
    for k in range(exchanges):
        rows.row_swap(2 * k, 2 * k + 1)
    assert rank.det(rows) == (-1) ** exchanges * t


ROOT, I = sympy.sqrt(2), sympy.I
algebraic = st.sampled_from([0, 1, -1, Rational(1, 2), ROOT, 1 + ROOT, I, ROOT * I, sympy.GoldenRatio])


@settings(max_examples=25, deadline=None)
@given(matrices(algebraic, 3, 3))
def test_number_fields_are_decided(m):
    """Rank, kernel, determinant and inverse agree with each other exactly, and with complex floats."""
    kernel = rank.null_space(m)
    assert kernel.cols == 3 - rank.rank(m)
    assert all(abs(complex(e)) < 1e-9 for e in m * kernel)
    assert len(rank.independent_rows(m)) == rank.rank(m)
    value = rank.det(m)
    assert abs(complex(value) - complex(m.evalf().det())) < 1e-9
    assert (rank.rank(m) == 3) == (value != 0)
    if value != 0:
        assert all(abs(complex(e)) < 1e-9 for e in m * rank.inverse(m) - sympy.eye(3))


def test_numbers_that_cancel_in_a_number_field_or_with_pi():
    assert rank.rank([[ROOT, 2], [1, ROOT]]) == rank.rank([[I, 1], [-1, I]]) == 1
    assert rank.rank([[sympy.sqrt(3 + 2 * ROOT), 1], [1 + ROOT, 1]]) == 1
    assert rank.rank([[sympy.sqrt(2) * sympy.sqrt(3), 1], [sympy.sqrt(6), 1]]) == 1
    assert rank.rank([[sympy.pi, 1], [sympy.pi**2, sympy.pi]]) == 1
    assert rank.rank([[sympy.pi, 1], [Rational(22, 7), 1]]) == 2
    assert rank.det([[sympy.pi, 1], [1, sympy.pi]]) == sympy.pi**2 - 1


@pytest.mark.parametrize("entry", [sympy.log(2), ROOT + sympy.pi, ROOT * T, sympy.pi + sympy.E, sympy.cos(1)])
def test_what_no_field_here_holds_is_refused_in_a_sentence(entry):
    with pytest.raises(Undecidable, match="; write a symbol for"):
        rank.rank([[entry, 1], [1, entry]])


@pytest.mark.parametrize(
    "build", [lambda x: x.tolist(), lambda x: x, lambda x: x / 8, lambda x: sympy.Matrix(x.tolist())]
)
def test_numbers_go_to_flint_without_sympy(build):
    rng = np.random.default_rng(0)
    M = rng.integers(-9, 10, (6, 4)) @ rng.integers(-9, 10, (4, 6))
    assert rank.rank(build(M)) == 4
    square = rng.integers(-9, 10, (5, 5))
    exact = sympy.Matrix(square.tolist()).det()
    assert rank.det(build(square)) in (exact, exact / 8**5)


@pytest.mark.parametrize("bad", [[[1, 2], [3]], [[1.0, float("nan")]], [], [[]], [1, 2]])
def test_the_short_way_to_flint_changes_no_answer_and_no_error(bad, monkeypatch):
    def outcome():
        try:
            return rank.rank(bad)
        except (TypeError, ValueError) as error:
            return str(error)

    found = outcome()
    monkeypatch.setattr(rank, "_numbers", lambda _: None)
    assert outcome() == found
