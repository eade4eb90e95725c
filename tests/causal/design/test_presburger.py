"""Symbolic integers: the same rules give Python's answers on integers, arrays, and through both solvers."""

from __future__ import annotations

import numpy as np
import pytest
from attnproof.causal.design.formulas import Formula, formula
from attnproof.causal.design.presburger import Term, application, choose, variable
from attnproof.causal.design.smt import Problem, decide
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need

pytestmark = pytest.mark.claim("T16")

CONSTANTS = st.integers(-7, 7)
NONZERO = CONSTANTS.filter(bool)


@st.composite
def expressions(draw, depth=3):
    """A function of (x, y) in plain Python, that also runs on terms."""
    if depth == 0 or draw(st.booleans()):
        k = draw(CONSTANTS)
        return draw(st.sampled_from([lambda x, y: x, lambda x, y: y, lambda x, y: k]))
    a, b, c = draw(expressions(depth=depth - 1)), draw(expressions(depth=depth - 1)), draw(NONZERO)
    return draw(
        st.sampled_from(
            [
                lambda x, y: a(x, y) + b(x, y),
                lambda x, y: a(x, y) - b(x, y),
                lambda x, y: c * a(x, y),
                lambda x, y: a(x, y) // c,
                lambda x, y: a(x, y) % c,
                lambda x, y: choose(a(x, y) < b(x, y), a(x, y), b(x, y)),
            ]
        )
    )


@settings(max_examples=150, deadline=None)
@given(expressions(), st.integers(-20, 20), st.integers(-20, 20))
def test_terms_compute_what_python_computes(rule, x, y):
    symbolic = rule(variable("x"), variable("y"))
    value = symbolic.evaluate({"x": x, "y": y}) if isinstance(symbolic, Term) else symbolic
    assert value == rule(x, y)
    assert rule(np.array([x]), np.array([y])) == rule(x, y)


@settings(max_examples=25, deadline=None)
@given(expressions(), st.integers(-20, 20), st.integers(-20, 20))
def test_both_solvers_compute_what_python_computes(rule, x, y):
    need("z3")
    need("cvc5")
    value = rule(x, y)
    given_values = (variable("x") == x) & (variable("y") == y)
    differs = formula(rule(variable("x"), variable("y")) != value)
    wrong = Problem("x", {"x": None, "y": None}, (("at", given_values), ("differs", differs)))
    answer = decide(wrong)
    assert answer.status == "unsat"
    assert [e.ok for e in answer.evidence] == [True, True]


@pytest.mark.parametrize("divisor", [-7, -3, -1, 1, 3, 7])
def test_division_of_negatives_is_pythons_in_both_solvers(divisor):
    need("z3")
    need("cvc5")
    x, q, r = variable("x"), variable("q"), variable("r")
    for value in (-8, -7, -1, 0, 1, 6, 7):
        claim = (q == value // divisor) & (r == value % divisor)
        given_values = (x == value) & (q == x // divisor) & (r == x % divisor)
        problem = Problem("division", {"x": None, "q": None, "r": None}, (("given", given_values), ("not", ~claim)))
        assert decide(problem).status == "unsat"


@settings(max_examples=60, deadline=None)
@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 5))
def test_products_and_symbolic_quotients(x, y, p):
    a, b, c = variable("x"), variable("y"), variable("p", 1)
    env = {"x": x, "y": y, "p": p}
    assert (a * b - b * a).evaluate(env) == 0
    assert ((a + 1) * c).evaluate(env) == (x + 1) * p
    assert (a // c).evaluate(env) == x // p
    assert (a % c).evaluate(env) == x % p
    assert (divmod(a, 3)[1] + abs(b) + (-a) + (+b) + (5 - a)).evaluate(env) == x % 3 + abs(y) - x + y + 5 - x


def test_formulas_combine():
    x = variable("x")
    for value in range(-3, 4):
        env = {"x": value}
        assert ((x > 0) ^ (x < 2)).evaluate(env) == ((value > 0) != (value < 2))
        assert ((x >= 0) == (x != 1)).evaluate(env) == ((value >= 0) == (value != 1))
        assert (True & (x == 2) | ~(x <= 1)).evaluate(env) == (value == 2 or not value <= 1)
        assert choose(x < 0, x == -1, True).evaluate(env) == (value == -1 if value < 0 else True)
    assert str(formula(True)) == "true"
    assert str(variable("x") - variable("x") <= 0) == "true"


REFUSED = [
    (lambda x: x / 2, r"^/ is not supported .*; use //$"),
    (lambda x: x**2, r"^\*\* is not supported"),
    (lambda x: 2**x, r"^\*\* is not supported"),
    (lambda x: x << 1, r"^<< is not supported"),
    (lambda x: x >> 1, r"^>> is not supported"),
    (lambda x: x & 1, r"^& between integers is not supported"),
    (lambda x: ~x, r"^~ of an integer is not supported"),
    (lambda x: 0 < x < 3, r"^the truth value of a comparison \(if, and, or, not, min, max, in, a < b < c\)"),
    (lambda x: max(x, 3), r"^the truth value of a comparison"),
    (lambda x: bool(x), r"^the truth value of an integer"),
    (lambda x: range(x), r"^a conversion to int \(range, indexing, int, shifting\) is not supported"),
    (lambda x: [1, 2][x], r"^a conversion to int"),
    (lambda x: float(x), r"^a conversion to float \(math functions\)"),
    (lambda x: x + 0.5, r"^\+ with 0.5 is not supported .*; use whole numbers$"),
    (lambda x: x // 1.5, r"^// with 1.5"),
    (lambda x: x // variable("y"), r"^division by y is not supported .*declared with a least value of 1$"),
    (lambda x: (x < 1) + 1, r"^arithmetic on a comparison"),
    (lambda x: x + (x < 1), r"^arithmetic on a comparison"),
    (lambda x: (x < 1) & 3, r"^& with 3 is not supported .*; join comparisons$"),
    (lambda x: list(x), r"^iteration"),
]


@pytest.mark.parametrize(("rule", "message"), REFUSED)
def test_unsupported_operations_are_named(rule, message):
    with pytest.raises(TypeError, match=message):
        rule(variable("x"))


def test_division_by_zero_is_named():
    with pytest.raises(ZeroDivisionError, match="divide by a constant other than 0"):
        variable("x") // 0


def test_nonlinear_questions_with_an_answer_get_a_model_of_real_multiplication():
    need("z3")
    x, y = variable("x", 2), variable("y", 2)
    answer = decide(Problem("factors", {"x": 2, "y": 2}, (("product", x * y == 91),)))
    assert answer.status == "sat"
    assert answer.model is not None
    assert answer.model["x"] * answer.model["y"] == 91


def test_document_starts_are_those_of_documents():
    """Every model of the axioms is a packing: so `start(3) = 1` and `start(2) = 2` cannot both hold."""
    need("z3")
    need("cvc5")
    n = variable("n", 1)
    start = [application("start", x) for x in (2, 3)]
    given_values = (n == 5) & (start[1] == 1)
    assert decide(Problem("t", {"n": 1}, (("g", given_values & (start[0] == 1)),), ("start",))).status == "sat"
    assert decide(Problem("t", {"n": 1}, (("g", given_values & (start[0] == 2)),), ("start",))).status == "unsat"
    assert isinstance(start[0] == 1, Formula)
