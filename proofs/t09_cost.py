"""T9: what compression saves, counted from the shapes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Rational, Symbol

from ..symbolic import cost, derivation, growth
from ..symbolic.derivation import Derivation
from .claim import Claim, Scale, expect

if TYPE_CHECKING:
    import random


def _written(expression: sympy.Expr) -> str:
    """An expression of a regime as a person writes it.

    >>> n = sympy.Symbol("n")
    >>> _written(n * sympy.log(n)), _written(n ** sympy.Rational(3, 2))
    ('n log n', 'n^{3/2}')
    """
    text = str(sympy.sstr(expression))
    marks = {"**(3/2)": "^{3/2}", "**": "^", "log(n)": "log n", "sqrt(n)": "√n", "alpha": "α", "*": " "}
    for mark, said in marks.items():
        text = text.replace(mark, said)
    return text


def derive() -> Derivation:
    """The cost formulas, the ratio and break-even, the four growth regimes, the end-to-end speed-up and its limits."""
    n, r, d, dv, c, w, a = sympy.symbols("n r d d_v c D alpha", positive=True)
    k = sympy.symbols("k", positive=True)
    full, small = cost.macs(cost.full_head(n, d, dv)), cost.macs(cost.compressed_head(n, r, d, dv))
    gain = cost.speedup(n, r, c, w)
    ratio = cost.arithmetic_ratio(n, r, d, dv)
    steps: list[derivation.Step | derivation.Lemma] = [
        derivation.identity(
            "full: n² d for the scores, n² d_v for the values",
            full,
            n**2 * d + n**2 * dv,
            "from the shapes",
            shown=r"n\cdot d\cdot n+n\cdot n\cdot d_v",
        ),
        derivation.identity(
            "compressed: r n d + r n d_v to compress, n r d + n r d_v to attend",
            small,
            r * n * d + r * n * dv + n * r * d + n * r * dv,
            "from the shapes",
            shown=r"rnd+rnd_v+nrd+nrd_v",
        ),
        derivation.identity("the arithmetic ratio is 2r/n, whatever the widths", ratio, 2 * r / n, "divide"),
        derivation.identity(
            "break-even at r = n/2",
            ratio.subs(r, n / 2),
            1,
            "2r/n = 1",
            shown=r"\frac{rnd+rnd_v+nrd+nrd_v}{n^2d+n^2d_v}\Big|_{r=n/2}",
        ),
        derivation.positive(
            "below it, r = n/2 − k, compressed costs less", full - small.subs(r, n / 2 - k), "full − compressed"
        ),
        derivation.positive(
            "above it, r = n/2 + k, it costs more", small.subs(r, n / 2 + k) - full, "compressed − full"
        ),
        derivation.identity(
            "the coefficient array shrinks to r/n of its size",
            cost.compressed_coefficients(n, r) / cost.full_coefficients(n),
            r / n,
            "n r against n²",
            shown=r"\frac{n\cdot r}{n\cdot n}",
        ),
        derivation.identity(
            "extra parameters: 2 r n", cost.extra_parameters(n, r), 2 * r * n, "E and F", shown=r"r\cdot n+r\cdot n"
        ),
        derivation.identity(
            "half of it when E = F",
            2 * cost.extra_parameters(n, r, shared=True),
            cost.extra_parameters(n, r),
            "one matrix",
            shown=r"2\,(r\cdot n)",
        ),
    ]
    for name, (slots, reference) in cost.regimes(n, a).items():
        steps.append(
            derivation.order(
                f"r {name}: the arithmetic is Θ({_written(reference)})",
                small.subs(r, slots),
                reference,
                n,
                f"r = {_written(slots)}, widths fixed; leading term",
                latex=rf"r={sympy.latex(slots)}:\quad 2nr(d+d_v)=\Theta({sympy.latex(reference)})",
            )
        )
        steps.append(
            derivation.limit(
                f"r {name}: per position it {'is bounded' if name == 'bounded' else 'grows without bound'}",
                small.subs(r, slots) / n,
                n,
                2 * slots * (d + dv) if name == "bounded" else sympy.oo,
                "linear in n iff r stays bounded",
            )
        )
    near = 1 - gain
    steps += [
        derivation.lemma(
            "Arithmetic is linear in n iff r stays bounded, for every sequence of r.",
            "2 n r D ≤ C n iff r ≤ C/(2D)",
            "linear_iff_bounded",
        ),
        derivation.identity(
            "end to end, with linear work c n and D = d + d_v over all heads",
            gain,
            (c * n + n**2 * w) / (c * n + 2 * n * r * w),
            "from the shapes",
            shown=r"\frac{\text{linear}+\text{full}}{\text{linear}+\text{compressed}}",
        ),
        derivation.identity(
            "the speed-up is exactly 1 at n = 2r",
            gain.subs(n, 2 * r),
            1,
            "equal arithmetic",
            shown=r"\frac{cn+Dn^2}{cn+2Dnr}\Big|_{n=2r}",
        ),
        derivation.positive(
            "it is below 1 for n < 2r (r = n/2 + k)", 1 - gain.subs(r, n / 2 + k), "1 − speed-up, positive coefficients"
        ),
        derivation.positive("above 1 for n > 2r (n = 2r + k)", gain.subs(n, 2 * r + k) - 1, "likewise"),
        derivation.identity(
            "|speed-up − 1| = D|n − 2r|/(c + 2rD): near 1 while c is much larger than max(n, 2r) D",
            near,
            w * (2 * r - n) / (c + 2 * r * w),
            "cancel n",
        ),
        derivation.limit("it tends to 1 as c grows", gain, c, 1, "n, r, D fixed"),
        derivation.limit("unbounded as n → ∞ with r fixed", gain, n, sympy.oo, "n² against n"),
        derivation.limit("r = αn: it tends to 1/(2α)", gain.subs(r, a * n), n, 1 / (2 * a), "leading coefficients"),
        derivation.identity(
            "and differs from that by c(1 − 2α)/(2α(c + 2αnD))",
            1 / (2 * a) - gain.subs(r, a * n),
            c * (1 - 2 * a) / (2 * a * (c + 2 * a * n * w)),
            "so for α ≤ ½ it is at most 1/(2α); for α > ½ it lies between 1/(2α) and 1",
        ),
        derivation.positive(
            "at most 1/(2α) for α < ½ (α = 1/(2 + k))",
            (1 / (2 * a) - gain.subs(r, a * n)).subs(a, 1 / (2 + k)),
            "positive coefficients",
            latex="",
        ),
        derivation.positive(
            "at least 1/(2α) for α > ½ (α = ½ + k)",
            -(1 / (2 * a) - gain.subs(r, a * n)).subs(a, Rational(1, 2) + k),
            "positive coefficients",
            latex="",
        ),
    ]
    return Derivation("T9: what compression saves", tuple(steps))


class Counted:
    """A number that counts the multiplications done with it."""

    done = 0

    def __mul__(self, other: Any) -> Counted:
        Counted.done += 1
        return self

    def __add__(self, other: Any) -> Counted:
        return self


def count_product(a: list[list[Counted]], b: list[list[Counted]]) -> list[list[Counted]]:
    """A matrix product by three loops."""
    found = []
    for row in a:
        entries = []
        for j in range(len(b[0])):
            total = row[0] * b[0][j]
            for x, other in zip(row[1:], b[1:], strict=True):
                total = total + x * other[j]
            entries.append(total)
        found.append(entries)
    return found


def _array(rows: int, columns: int) -> list[list[Counted]]:
    return [[Counted() for _ in range(columns)] for _ in range(rows)]


def counted_macs(n: int, r: int, d: int, dv: int) -> tuple[int, int]:
    """Multiplications of a full and of a compressed head, counted while the matrix products are done."""

    def transposed(m: list[list[Counted]]) -> list[list[Counted]]:
        return [list(column) for column in zip(*m, strict=True)]

    q, keys, v = _array(n, d), _array(n, d), _array(n, dv)
    Counted.done = 0
    count_product(count_product(q, transposed(keys)), v)
    full, Counted.done = Counted.done, 0
    short_keys, short_values = count_product(_array(r, n), keys), count_product(_array(r, n), v)
    count_product(count_product(q, transposed(short_keys)), short_values)
    return full, Counted.done


def property_check(rng: random.Random) -> str:
    """The formulas against multiplications counted one by one, and the growth regimes against large n."""
    count = 20
    for _ in range(count):
        n, r, d, dv = (rng.randint(1, 6) for _ in range(4))
        formula = cost.macs(cost.full_head(n, d, dv)), cost.macs(cost.compressed_head(n, r, d, dv))
        counted = counted_macs(n, r, d, dv)
        expect(formula == counted, f"formulas {formula}, counted {counted} for n = {n}, r = {r}, d = {d}, d_v = {dv}")
        gain = cost.speedup(n, r, rng.randint(1, 50), d + dv)
        expect((gain < 1) == (n < 2 * r) and (gain == 1) == (n == 2 * r), f"speed-up {gain} at n = {n}, r = {r}")
    n, a = Symbol("n", positive=True), Symbol("alpha", positive=True)
    orders = [
        growth.leading_term(cost.macs(cost.compressed_head(n, r, 1, 1)), n) for r, _ in cost.regimes(n, a).values()
    ]
    exponents = [order.exponents for order in orders if order]
    expect(
        len(set(exponents)) == 4 and sorted(exponents) == exponents, f"the regimes are not in rising order: {exponents}"
    )
    return f"{count} random shapes: every multiplication counted agrees with the formulas; four regimes of rising order"


def scale_check(scale: Scale) -> str:
    """The sizes of the arrays that a compressed head holds, on the library asked for, against the formulas."""
    import numpy as np

    from ..numeric.attention import slot_weights

    n = 20_000 if scale.n is None else scale.n
    r, d = min(64, n), 8
    rng = np.random.default_rng(scale.seed)
    q, keys, e = (scale.array(rng.standard_normal(shape)) for shape in ((n, d), (n, d), (r, n)))
    coefficients = math.prod(slot_weights(q, keys, e).shape)
    expect(coefficients == cost.compressed_coefficients(n, r), f"{coefficients} coefficients for n = {n}, r = {r}")
    parameters = 2 * math.prod(e.shape)
    expect(parameters == cost.extra_parameters(n, r), f"{parameters} parameters for n = {n}, r = {r}")
    share = coefficients / int(cost.full_coefficients(n))
    return f"n = {n}, r = {r}: {coefficients} coefficients held, {share:.3g} of n²; {parameters} extra parameters"


CLAIM = Claim(
    id="T9",
    title="What compression saves",
    statement="Arithmetic shrinks to 2r/n, coefficients to r/n; linear in n iff r is bounded; slower for n < 2r.",
    latex=r"\frac{2nr(d+d_v)}{n^2(d+d_v)}=\frac{2r}{n},\qquad\text{speed-up}=\frac{cn+n^2D}{cn+2nrD}",
    source="article, 'Two conditions behind the saving'",
    derive=derive,
    property=property_check,
    scale=scale_check,
    theorems=(
        "compressed_macsE",
        "macs_ratio",
        "break_even",
        "coefficients_ratio",
        "linear_iff_bounded",
        "quadratic",
        "not_linear_at_n",
        "square_root_slots",
        "logarithmic_slots",
        "slower_iff",
        "speedup_unbounded",
        "speedup_capped",
        "speedup_cap_needs_half",
    ),
    reading=(
        "Arithmetic, not time: an exact attention that never stores the n × n array already has linear memory, and a "
        "smaller array is not a measured speed-up. `attnproof cost --measure` measures."
    ),
)
