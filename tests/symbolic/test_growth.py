"""Leading terms, limits and orders against SymPy's own limits on random rational functions."""

from __future__ import annotations

import pytest
import sympy
from attnproof.symbolic.exact import Undecidable
from attnproof.symbolic.growth import leading_term, limit, same_limit, same_order
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import exp, log, sqrt

N, A = sympy.symbols("n a", positive=True)
pytestmark = pytest.mark.claim("T9")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ((2 * N**2 + N) / (N**2 + log(N)), 2),
        (log(N) ** 3 / sqrt(N), 0),
        (N / log(N), sympy.oo),
        ((1 - N) / log(N), -sympy.oo),
        (N**5 / exp(N), 0),
        ((A * N + 1) / (2 * N), A / 2),
        (0 * N, 0),
    ],
)
def test_limits(expression, value):
    assert limit(expression, N) == value
    assert same_limit(expression, value, N) == 0
    assert same_limit(expression, 7, N) != 0


@settings(max_examples=30, deadline=None)
@given(*(st.lists(st.integers(-4, 4), min_size=1, max_size=4) for _ in range(2)))
def test_rational_functions_have_sympy_s_limit(top, bottom):
    numerator, denominator = (sum(c * N**i for i, c in enumerate(part)) for part in (top, bottom))
    if denominator == 0:
        return
    assert limit(numerator / denominator, N) == sympy.limit(numerator / denominator, N, sympy.oo)


def test_orders():
    assert same_order(3 * N * log(N) + N, N * log(N), N)
    assert not same_order(N ** sympy.Rational(3, 2), N * log(N), N)
    assert str(leading_term(A * N**2 + N, N)) == "a · (n)^2"
    assert leading_term(N - N, N) is None
    assert same_order(N - N, 0, N)
    assert not same_order(N - N, N, N)


def test_parameters_that_could_change_the_order_are_refused():
    b = sympy.Symbol("b", real=True)
    with pytest.raises(Undecidable, match="may vanish"):
        limit(N / (b * N + 1), N)
    with pytest.raises(Undecidable, match="infinite"):
        limit(b * N, N)
    assert not same_order(b * N, N, N)
    with pytest.raises(Undecidable):
        limit(exp(A * N), N)
