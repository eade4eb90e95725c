"""Matrix identities of symbolic shapes."""

from __future__ import annotations

import pytest
import sympy
from attnproof.symbolic.words import expand, remainder
from sympy import Identity, MatrixSymbol, ZeroMatrix

n, r = sympy.symbols("n r", integer=True, positive=True)
A, B, C = MatrixSymbol("A", n, r), MatrixSymbol("B", r, n), MatrixSymbol("C", n, r)
pytestmark = pytest.mark.claim("T4", "T18")


def test_identities():
    assert remainder((A + C) * B, A * B + C * B) == {}
    assert remainder(A * Identity(r) * B, A * B) == {}
    assert remainder(A - A, ZeroMatrix(n, r)) == {}
    assert remainder(2 * A * B - A * B, A * B) == {}


def test_order_matters_and_the_remainder_is_named():
    square, other = MatrixSymbol("S", n, n), MatrixSymbol("T", n, n)
    assert remainder(square * other, other * square) == {"S·T": 1, "T·S": -1}
    assert remainder(3 * A, A) == {"A": 2}


def test_errors():
    with pytest.raises(ValueError, match="equal shapes"):
        remainder(A, B)
    with pytest.raises(TypeError, match="sum of products"):
        expand(sympy.Transpose(A))
