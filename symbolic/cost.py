"""What a head costs, counted from the shapes of its matrix products (T9). One multiply–add (MAC) is two FLOP."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr


@dataclass(frozen=True)
class Product:
    """A matrix product (rows, inner) · (inner, columns) of a head, by what it is for.

    `of_input` says that the left factor is the layer's input, so that its gradient is not needed in a first layer.
    """

    name: str
    rows: Any
    inner: Any
    columns: Any
    of_input: bool = False

    @property
    def macs(self) -> Expr:
        """Multiply–adds: one per row, column and inner index.

        >>> Product("scores", 4, 2, 4).macs
        32
        """
        return sympy.S(self.rows) * self.inner * self.columns


def full_head(n: Any, d: Any, dv: Any) -> list[Product]:
    """The products of one full head: Q Kᵀ and A V, for n positions, key width d, value width dv."""
    return [Product("scores", n, d, n), Product("mix values", n, n, dv)]


def compressed_head(n: Any, r: Any, d: Any, dv: Any) -> list[Product]:
    """The products of one compressed head with r slots: E K, F V, Q K̄ᵀ and B V̄."""
    return [
        Product("compress keys", r, n, d),
        Product("compress values", r, n, dv),
        Product("scores", n, d, r),
        Product("mix values", n, r, dv),
    ]


def macs(products: Iterable[Product]) -> Expr:
    """Multiply–adds of all products together.

    >>> n, d = sympy.symbols("n d")
    >>> macs(full_head(n, d, d))
    2*d*n**2
    """
    return sympy.Add(*(p.macs for p in products))


def full_coefficients(n: Any) -> Expr:
    """Attention coefficients of full attention: one per query and position."""
    return sympy.S(n) * n


def compressed_coefficients(n: Any, r: Any) -> Expr:
    """Attention coefficients of compressed attention: one per query and slot."""
    return sympy.S(n) * r


def extra_parameters(n: Any, r: Any, shared: bool = False) -> Expr:
    """Parameters of E and F together; half of it when E = F."""
    return (1 if shared else 2) * sympy.S(r) * n


def arithmetic_ratio(n: Any, r: Any, d: Any, dv: Any) -> Expr:
    """Multiply–adds of a compressed head over those of a full one: 2r/n whatever the widths."""
    return macs(compressed_head(n, r, d, dv)) / macs(full_head(n, d, dv))


def speedup(n: Any, r: Any, linear: Any, width: Any) -> Expr:
    """End to end, arithmetic alone: (c n + n² D)/(c n + 2 n r D).

    `linear` is c, the multiply–adds per position of all else in the layer; `width` is D = d + d_v summed over heads.
    """
    c, w = sympy.S(linear), sympy.S(width)
    return (c * n + macs(full_head(n, w, 0))) / (c * n + macs(compressed_head(n, r, w, 0)))


def paper_slots(n: Any, d: Any, epsilon: Any) -> Expr:
    """Slots that Linformer's second theorem asks for, read with Θ = 1 and natural logarithms.

    min{9 d log d, 5 log n}/ε² for relative error ε. The constants are hidden in Θ, so this is a reading, not a theorem.

    >>> round(float(paper_slots(512, 64, sympy.Rational(1, 4))))
    499
    """
    by_width, by_length = 9 * sympy.S(d) * sympy.log(d), 5 * sympy.log(n)
    return sympy.Min(by_width, by_length) / sympy.S(epsilon) ** 2


def paper_threshold(n: Any, d: Any) -> Expr:
    """The ε below which `paper_slots` asks for more slots than there are positions.

    >>> round(float(paper_threshold(512, 64)), 3)
    0.247
    """
    return sympy.sqrt(paper_slots(n, d, 1) / n)


def regimes(n: sympy.Symbol, alpha: sympy.Symbol) -> dict[str, tuple[Expr, Expr]]:
    """How r may grow with n, and what the compressed arithmetic then grows like: name → (r, order).

    >>> n, a = sympy.symbols("n alpha", positive=True)
    >>> regimes(n, a)["square root"]
    (sqrt(n), n**(3/2))
    """
    k = sympy.Symbol("k", positive=True)
    return {
        "bounded": (k, n),
        "logarithmic": (sympy.log(n), n * sympy.log(n)),
        "square root": (sympy.sqrt(n), n ** sympy.Rational(3, 2)),
        "proportional": (alpha * n, n**2),
    }
