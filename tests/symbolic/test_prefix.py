"""The criteria of T10–T12 on small heads: against the definition, and under what must not change a verdict."""

from __future__ import annotations

import pytest
import sympy
from attnproof.symbolic.attention import article_projection, compressed_attention
from attnproof.symbolic.field import is_zero
from attnproof.symbolic.prefix import Head, product_example, separating, unit
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Matrix, Rational

pytestmark = pytest.mark.claim("T10", "T11", "T12")
SMALL = st.sampled_from([-1, 0, 0, 1, 2])


@st.composite
def heads(draw, largest_n=3):
    n, r = draw(st.integers(2, largest_n)), draw(st.integers(1, 4))
    first = draw(st.integers(1, n - 1))
    e, f = ([[draw(SMALL) for _ in range(n)] for _ in range(r)] for _ in range(2))
    plant = draw(st.sampled_from(["nothing", "blind", "equal rows", "constant column", "product"]))
    if plant in ("blind", "constant column"):
        f = [[x if j < first else 0 for j, x in enumerate(row)] for row in f]
    if plant == "constant column":
        e = [[x if j < first else e[0][j] for j, x in enumerate(row)] for row in e]
    if plant == "equal rows":
        e = [e[0]] * r
        for j in range(first, n):
            f[-1][j] = -sum(row[j] for row in f[:-1])
    if plant == "product":
        a, b, values = [draw(SMALL), 3], [draw(SMALL), 4], [draw(SMALL), draw(SMALL)]
        e = [[x] + [0] * (n - 2) + [z] for x in a for z in b]
        f = [[values[i]] + [0] * (n - 1) for i in range(2) for _ in range(2)]
        first = n - 1
    seen = draw(st.sets(st.integers(0, len(e) - 1), min_size=1)) if draw(st.booleans()) else range(len(e))
    return Head.of(e, f, seen=sorted(seen), forbidden=range(first, n))


@settings(max_examples=80, deadline=None)
@given(heads())
def test_criteria_agree_with_the_definition(h):
    truth = h.safe_by_definition()
    assert h.safe_by_criterion() == truth == h.safe_by_steps()
    assert truth or not h.safe_by_support()
    leak = h.witness()
    assert (leak is None) == truth
    assert leak is None or leak.replays()


@settings(max_examples=30, deadline=None)
@given(heads(largest_n=2), st.randoms(use_true_random=False))
def test_what_leaves_the_verdict_as_it_is(h, rng):
    order = list(h.seen)
    rng.shuffle(order)
    shift = Matrix(h.e)
    for s in h.seen:
        shift[s, h.n - 1] += Rational(3, 2)  # a constant on a column of E over the visible slots
    for other in (
        Head(h.e, h.f, tuple(order), h.forbidden),
        Head(h.e, h.f * Rational(-7, 3), h.seen, h.forbidden),
        Head(shift, h.f, h.seen, h.forbidden),
    ):
        assert other.safe_by_criterion() == h.safe_by_criterion()


def test_the_output_is_that_of_the_head_itself():
    h = Head.of(article_projection(), [[1, 2, 0], [0, 1, 3]], forbidden=[1, 2])
    kappa, v = [Rational(1), Rational(2), Rational(-1)], [Rational(4), Rational(0), Rational(5)]
    own = compressed_attention([[1]], Matrix(kappa), Matrix(v), h.e, h.f)[0, 0]
    assert is_zero(own - h.output(kappa, v))


def test_a_query_that_sees_nothing_is_safe():
    h = Head.of(article_projection(), seen=[], forbidden=[1, 2])
    assert h.safe_by_definition()
    assert h.safe_by_criterion()
    assert h.safe_by_support()
    assert h.witness() is None


def test_errors():
    with pytest.raises(ValueError, match=r"both must be \(r, n\)"):
        Head.of([[1, 2]], [[1, 2, 3]], forbidden=[1])
    with pytest.raises(ValueError, match="rational entries"):
        Head.of([[sympy.Symbol("x"), 1]], forbidden=[1])


def test_small_parts():
    assert unit(3, 1, 2) == (0, 2, 0)
    assert separating([(1, 0), (0, 1), (1, 1)]) == (1, 2)
    assert "position 1 moves the output" in str(product_example((0, 0)).witness())
