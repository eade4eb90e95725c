"""Exact expressions: what is taken as it is and what is refused."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sympy
from sympy import Expr, Rational

from .ratio import ratio


class Undecidable(ValueError):
    """The expression is not a rational function of symbols, their roots and logarithms, and exponentials."""


def exact(value: Any) -> Expr:
    """A SymPy expression for an exact value; floats are taken as the dyadic rationals they are.

    Raises ValueError for NaN and infinity, TypeError for what is no number.

    >>> from fractions import Fraction
    >>> exact(0.5), exact(Fraction(1, 3))
    (1/2, 1/3)
    """
    if isinstance(value, Rational):
        return value
    if isinstance(value, Expr):
        return _without_floats(value)
    try:
        found = ratio(value)
    except (OverflowError, ValueError):
        raise ValueError(f"the entry {value} is not a number that can be taken exactly; pass finite numbers") from None
    if found is not None:
        return Rational(*found)
    if hasattr(value, "item") and getattr(value, "size", 1) == 1:
        return exact(value.item())
    read = sympy.sympify(value)
    if not isinstance(read, Expr):
        raise TypeError(f"the entry {value!r} is of type {type(value).__name__}, not a number or an expression")
    return read


@lru_cache(maxsize=1 << 12)  # the entries of a matrix are asked for again and again, and looked through node by node
def _without_floats(value: Expr) -> Expr:
    return value.xreplace({f: Rational(f) for f in value.atoms(sympy.Float)})
