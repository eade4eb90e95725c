from __future__ import annotations

import threading
from fractions import Fraction

import numpy as np
import pytest
import sympy
from attnproof.numeric.enclosure import (
    ball_attention,
    ball_compressed,
    decimals,
    exact_bias,
    precision,
    sharpen,
    singular_values,
)
from attnproof.numeric.exact import exact_matrix, exact_rows, rational
from flint import arb, arb_mat, ctx, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need

from numeric import oracle

HALF = [[Fraction(1, 2), Fraction(1, 2), 0], [0, 0, 1]]


def full():
    return ball_attention([[1]], [[1], [2], [3]], [[10], [20], [30]])[0, 0]


def short():
    return ball_compressed([[1]], [[1], [2], [3]], [[10], [20], [30]], HALF, HALF)[0, 0]


@pytest.mark.claim("T1")
def test_the_article_to_any_number_of_digits():
    e = sympy.E
    y = 10 * (1 + 2 * e + 3 * e**2) / (1 + e + e**2)
    short_y = 15 * (1 + 2 * e ** sympy.Rational(3, 2)) / (1 + e ** sympy.Rational(3, 2))
    assert decimals(full, 4) == "25.7521…"
    for places in (1, 20, 200):
        for compute, exact in ((full, y), (short, short_y), (lambda: short() - full(), short_y - y)):
            digits = str(sympy.floor((exact * 10**places).evalf(places + 30)))
            assert decimals(compute, places).replace(".", "").replace("…", "") == digits


def test_decimals_are_cut_and_never_guessed():
    assert decimals(lambda: arb(2).sqrt(), 0) == "1…"
    assert decimals(lambda: -arb(2).sqrt() / 100, 3) == "-0.014…"
    with pytest.raises(ValueError, match="places = 3 are not settled within cap_bits = 500 bits"):
        decimals(lambda: (arb(2).sqrt()) ** 2, 3, cap_bits=500)
    with pytest.raises(ValueError, match="digits = 5 are not certain within cap_bits = 300 bits"):
        sharpen(lambda: arb(2).sqrt() ** 2 - 2, 5, cap_bits=300)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, 3),
        (0.1, Fraction(0.1)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.int8(-3), -3),
        (sympy.Rational(2, 7), Fraction(2, 7)),
        (sympy.Float(0.1), Fraction(0.1)),
        (sympy.Float(1, 30) / 3, Fraction(int(sympy.Rational(sympy.Float(1, 30) / 3).p), 2**104)),
        (True, 1),
    ],
)
def test_numbers_are_taken_exactly(value, exact):
    found = rational(value)
    assert Fraction(int(found.p), int(found.q)) == exact


def test_what_is_no_exact_number():
    for bad in (float("nan"), float("inf"), np.float32(np.inf)):
        with pytest.raises(ValueError, match="is not finite; ball arithmetic needs finite numbers"):
            rational(bad)
    for bad in ("1", 1j, None, sympy.sqrt(2), sympy.Symbol("x")):
        with pytest.raises(TypeError, match="is no exact number; pass ints, floats, Fractions"):
            rational(bad)
    with pytest.raises(ValueError, match="M has rows of lengths"):
        exact_rows([[1, 2], [3]])
    with pytest.raises(ValueError, match="M has one axis"):
        exact_rows([1, 2])
    with pytest.raises(ValueError, match=r"M has shape \(2,\); pass a matrix"):
        exact_rows(np.ones(2))
    with pytest.raises(TypeError, match="M is a dict; pass an array or a nested list"):
        exact_rows({})
    with pytest.raises(ValueError, match=r"M\[1, 0\] = nan is not finite"):
        exact_rows([[1, 2], [float("nan"), 0]])
    for bits in (0, 1.5, True):
        with pytest.raises(ValueError, match="is no precision; pass a whole number of at least 2"), precision(bits):
            pass


def test_entries_of_every_library_are_the_same(backend, rng):
    values = rng.standard_normal((3, 4))
    if backend.traced:
        jax = need("jax")
        with pytest.raises(TypeError, match=r"M is traced by jax\.jit and has no values"):
            jax.jit(lambda M: exact_rows(M))(backend.array(values))
        return
    before = backend.computes
    found = exact_matrix(backend.array(values))
    assert backend.computes - before == int(backend.lazy)
    assert found == fmpq_mat(3, 4, [rational(float(x)) for x in values.ravel()])
    assert exact_matrix(sympy.Matrix([[1, sympy.Rational(1, 3)]])) == exact_matrix([[1, Fraction(1, 3)]])


def test_half_precision_is_exact_too():
    torch = need("torch")
    x = torch.tensor([[0.1, -3.0]], dtype=torch.bfloat16)
    assert exact_rows(x) == exact_rows(x.double())
    types = need("ml_dtypes")
    assert exact_rows(np.array([[0.1]], types.bfloat16)) == exact_rows(x.double()[:, :1])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_balls_contain_what_floats_find(seed):
    rng = np.random.default_rng(seed)
    Q, K, V, E, F = oracle.head(rng, n=5, r=2)
    bias = np.where(rng.random((5, 2)) < 0.3, -np.inf, rng.standard_normal((5, 2)))
    with precision(100):
        balls = ball_attention(Q, K, V), ball_compressed(Q, K, V, E, F, bias)
    with np.errstate(all="ignore"):
        floats = oracle.weights(Q, K) @ V, oracle.slots(Q, K, E, bias) @ F @ V
    for ball, value in zip(balls, floats, strict=True):
        for x, y in zip(ball.entries(), value.ravel(), strict=True):
            assert float(x.rad()) < 1e-20
            assert abs(float(x.mid()) - y) < 1e-11


def test_masks_in_balls():
    assert exact_bias([[True, False]], 1, 2) == [[0, None]]
    assert exact_bias(np.array([[0.5, -np.inf]]), 1, 2)[0][1] is None
    with pytest.raises(ValueError, match=r"bias has shape \(1, 2\); pass \(m, r\) = \(2, 2\)"):
        exact_bias([[0, 0]], 2, 2)
    with pytest.raises(ValueError, match=r"bias\[0, 1\] = inf is not finite"):
        exact_bias([[0, np.inf]], 1, 2)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=1, max_size=5))
def test_singular_values_are_enclosed_repeated_and_zero_ones_too(rows):
    with precision(100):
        found = singular_values(rows)
    exact = np.linalg.svd(np.array(rows, float), compute_uv=False)
    assert len(found) == min(len(rows), 3)
    for ball, value in zip(found, exact, strict=True):
        assert float(ball.rad()) < 1e-25
        assert abs(float(ball.mid()) - value) < 1e-7  # a zero value comes out of NumPy as the root of its rounding
    gram = sympy.Matrix(rows)
    gram = gram * gram.T if len(rows) <= 3 else gram.T * gram
    with precision(100):
        assert sum((x * x for x in found), arb(0)).overlaps(arb(int(gram.trace())))
        product = arb(1)
        for x in found:
            product *= x * x
        assert product.overlaps(arb(int(gram.det())))


def test_too_little_precision_says_so():
    with pytest.raises(ValueError, match="too low to verify the decomposition; raise it"), precision(100):
        singular_values(arb_mat(2, 2, [arb("0 +/- inf")] * 4))


def test_two_threads_at_two_precisions():
    """Each sees its own precision at every step, whatever the other does meanwhile."""
    seen: dict[int, set[int]] = {60: set(), 900: set()}
    start = threading.Barrier(2)
    before = ctx.prec

    def work(bits):
        start.wait()
        for _ in range(300):
            with precision(bits):
                seen[bits].add((arb(1) / 3).rel_accuracy_bits())
                with precision(2 * bits):
                    assert ctx.prec == 2 * bits
                assert ctx.prec == bits

    threads = [threading.Thread(target=work, args=(bits,)) for bits in seen]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(seen[60]) == len(seen[900]) == 1
    assert min(seen[900]) > 800 > 100 > max(seen[60])
    assert ctx.prec == before


def test_the_precision_comes_back_after_an_error():
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), precision(77):
        raise ZeroDivisionError
    assert ctx.prec == before
