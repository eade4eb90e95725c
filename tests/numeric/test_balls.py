"""Enclosures of exact expressions: they contain, they narrow, and they print only digits that are certain."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy
from attnproof.numeric.balls import Enclosure, at_digits, confirm, decimals, enclose, root_sum_squares, singular_values
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Matrix, Rational, exp, sqrt

pytestmark = pytest.mark.claim("T1", "T6")


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.fractions(-5, 5, max_denominator=40), st.fractions(-3, 3, max_denominator=9))
def test_enclosures_contain_the_value_and_are_as_narrow_as_asked(digits, a, b):
    expression = exp(Rational(a.numerator, a.denominator)) - Rational(b.numerator, b.denominator)
    found = enclose(expression, digits)
    with mpmath.workdps(digits + 40):
        value = mpmath.exp(mpmath.mpf(a.numerator) / a.denominator) - mpmath.mpf(b.numerator) / b.denominator
        sample = Fraction(int(value.man)) * Fraction(2) ** int(value.exp) * (-1 if value < 0 else 1)
    slack = Fraction(1, 10 ** (digits + 20))
    assert found.lower - slack <= sample <= found.upper + slack
    assert found.width * 10**digits <= max(abs(found.lower), abs(found.upper))


@settings(max_examples=60, deadline=None)
@given(st.fractions(-1000, 1000), st.fractions(0, 1), st.integers(1, 12))
def test_printed_digits_are_certain(low, width, digits):
    text = decimals(low, low + width / 10**digits, digits)
    if text.endswith("…"):
        shown = text[:-1].rstrip(".")
        places = len(shown.partition(".")[2])
        for end in (low, low + width / 10**digits):
            cut = int(abs(end) * 10**places)
            assert Fraction(shown) == Fraction(-cut if shown.startswith("-") else cut, 10**places)
    elif "±" not in text:
        assert width == 0
        assert Fraction(text) == low


@pytest.mark.parametrize(
    ("ends", "digits", "text"),
    [
        ((Fraction(5), Fraction(5)), 4, "5"),
        ((Fraction(-1, 4), Fraction(-1, 4)), 4, "-0.25"),
        ((Fraction(1, 3), Fraction(1, 3)), 4, "0.3333…"),
        ((Fraction(-1, 3), Fraction(-1, 3)), 4, "-0.3333…"),
        ((Fraction(1, 700), Fraction(1, 700)), 3, "0.00142…"),
        ((Fraction(-1, 10**9), Fraction(1, 10**9)), 4, "0 ± 1.0e-09"),
        ((Fraction(499999, 10**5), Fraction(500001, 10**5)), 4, "5 ± 1.0e-05"),
        ((Fraction(1234567), Fraction(1234568)), 3, "1234567.5 ± 5.0e-01"),
    ],
)
def test_how_intervals_print(ends, digits, text):
    assert decimals(*ends, digits) == text


def test_the_process_wide_precision_is_left_alone():
    before, mp_before = ctx.prec, mpmath.mp.prec
    enclose(exp(1), 100)
    at_digits(exp(1), 100)
    singular_values([[1, 2], [3, 4]], 50)
    assert (ctx.prec, mpmath.mp.prec) == (before, mp_before)


def test_two_arithmetics_confirm_each_other(monkeypatch):
    assert str(confirm(sqrt(2), 20)).startswith("1.414213562373095048")
    monkeypatch.setattr("attnproof.numeric.balls.at_digits", lambda expression, digits: mpmath.mpf("1.4142"))
    with pytest.raises(ArithmeticError, match="lies outside"):
        confirm(sqrt(2), 20)


def test_values_of_symbols_and_a_hidden_zero():
    x = sympy.Symbol("x")
    assert enclose(exp(x), 20, {x: Rational(1, 2)}).overlaps(enclose(sqrt(sympy.E), 20))
    zero = enclose(sympy.Add(exp(1) ** 2, -exp(2) * 1, evaluate=False), 10)
    assert zero.contains(0)
    assert zero.width < Fraction(1, 10**30)


@pytest.mark.parametrize("bad", [0, -3, 1.5, True])
def test_digits_that_are_none(bad):
    with pytest.raises(ValueError, match="pass a whole number from 1"):
        enclose(exp(1), bad)


def test_no_enclosure_of_what_is_not_finite():
    with pytest.raises(ArithmeticError, match="not finite"):
        enclose(1 / sympy.Add(exp(1), -exp(1), evaluate=False), 5)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.data())
def test_singular_values_match_numpy(rows, columns, data):
    import numpy as np

    cells = st.integers(-3, 3)
    m = Matrix(rows, columns, data.draw(st.lists(cells, min_size=rows * columns, max_size=rows * columns)))
    found = singular_values(m, 15)
    expected = np.linalg.svd(np.array(m.tolist(), dtype=float), compute_uv=False)
    assert len(found) == min(rows, columns)
    for enclosure, value in zip(found, expected, strict=True):
        assert float(enclosure.lower) - 1e-7 <= value <= float(enclosure.upper) + 1e-7
    total = root_sum_squares(found, 15)
    assert total.lower**2 <= sum(x**2 for x in m) <= total.upper**2


def test_enclosures_compare():
    a, b = Enclosure(Fraction(1), Fraction(2), 3), Enclosure(Fraction(2), Fraction(3), 3)
    assert a.overlaps(b)
    assert not a.overlaps(Enclosure(Fraction(5), Fraction(6), 3))
    assert float(a) == 1.5
    assert root_sum_squares([], 10).upper == 0
