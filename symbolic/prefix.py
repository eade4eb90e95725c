"""Prefix safety of one query, exactly and from the definition: what T10–T12 are derived and tested against.

Everything here is for small matrices with rational entries and follows THEORY word by word; the checker in `causal/`
does the same at scale by other means. One query sees the slots `seen`; positions `forbidden` are not allowed to it.
κ_j = q·k_j/√d is free real for q ≠ 0, so a head is y(κ, v) = Σ_s e^{E[s]·κ} (F[s]·v) / Σ_s e^{E[s]·κ}, s over `seen`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, permutations
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Matrix, Rational, Symbol

from .field import is_zero, remainder
from .rank import as_matrix

if TYPE_CHECKING:
    from ..aliases import MatrixLike

Row = tuple[Rational, ...]


@dataclass(frozen=True)
class Head:
    """What one query depends on: E and F (r, n) with rational entries, the slots it sees, the positions it may not use.

    >>> from .attention import article_projection
    >>> leak = Head.of(article_projection(), forbidden=[1, 2])
    >>> leak.safe_by_support(), leak.safe_by_criterion()
    (False, False)
    >>> print(leak.witness())
    position 1 moves the output from 0 to exp(1/2)/(2*(1 + exp(1/2))), about +0.3112
    """

    e: Matrix
    f: Matrix
    seen: tuple[int, ...]
    forbidden: tuple[int, ...]

    @classmethod
    def of(
        cls, e: MatrixLike, f: MatrixLike = None, *, seen: Iterable[int] | None = None, forbidden: Iterable[int]
    ) -> Head:
        """A head with exact entries; F = E when `f` is None, every slot seen when `seen` is None.

        Raises ValueError when E and F have different shapes or an entry is not rational.
        """
        e_matrix = as_matrix(e)
        f_matrix = e_matrix if f is None else as_matrix(f)
        if e_matrix.shape != f_matrix.shape:
            raise ValueError(f"E has shape {e_matrix.shape} and F {f_matrix.shape}; both must be (r, n)")
        if not all(entry.is_Rational for entry in (*e_matrix.flat(), *f_matrix.flat())):
            raise ValueError("E and F must have rational entries; substitute numbers for their symbols")
        slots = range(e_matrix.rows) if seen is None else seen
        return cls(e_matrix, f_matrix, tuple(slots), tuple(forbidden))

    @property
    def n(self) -> int:
        """Positions."""
        return int(self.e.cols)

    @property
    def allowed(self) -> tuple[int, ...]:
        """The positions that the query may use."""
        return tuple(i for i in range(self.n) if i not in self.forbidden)

    def row(self, s: int) -> Row:
        """E[s] as a tuple: the exponent of slot s."""
        return self.exponents[s]

    @cached_property
    def exponents(self) -> tuple[Row, ...]:
        """The rows of E; entries of a SymPy matrix are slow to look up."""
        return tuple(map(tuple, self.e.tolist()))

    @cached_property
    def carried(self) -> tuple[Row, ...]:
        """The rows of F."""
        return tuple(map(tuple, self.f.tolist()))

    # -- the definition -------------------------------------------------------------------------------------------

    def output(self, kappa: Sequence[Any], v: Sequence[Any]) -> Expr:
        """y(κ, v) for scores κ and one value coordinate v, both of length n."""
        numerator, denominator = self._parts(kappa, v)
        return numerator / denominator

    def _parts(self, kappa: Sequence[Any], v: Sequence[Any]) -> tuple[Expr, Expr]:
        powers = {s: sympy.exp(sympy.Add(*(self.exponents[s][j] * kappa[j] for j in range(self.n)))) for s in self.seen}
        carried = {s: sympy.Add(*(self.carried[s][j] * v[j] for j in range(self.n))) for s in self.seen}
        return sympy.Add(*(powers[s] * carried[s] for s in self.seen)), sympy.Add(*powers.values())

    def safe_by_definition(self) -> bool:
        """Whether y(κ, v) = y(κ′, v′) identically for inputs that agree off `forbidden`; decided, for small n."""
        if not self.seen:
            return True
        kappa, v = (list(sympy.symbols(f"{name}0:{self.n}", real=True)) for name in ("kappa", "v"))
        kappa2, v2 = list(kappa), list(v)
        for j in self.forbidden:
            kappa2[j], v2[j] = Symbol(f"kappa{j}'", real=True), Symbol(f"v{j}'", real=True)
        (n1, d1), (n2, d2) = self._parts(kappa, v), self._parts(kappa2, v2)
        return is_zero(n1 * d2 - n2 * d1)

    # -- the criteria ---------------------------------------------------------------------------------------------

    def safe_by_support(self) -> bool:
        """T10: no seen slot reads a forbidden position."""
        return all(self.exponents[s][j] == 0 and self.carried[s][j] == 0 for s in self.seen for j in self.forbidden)

    def value_violations(self) -> Iterator[tuple[Row, int, Rational]]:
        """T11(1): (row a, position j, Σ F[s,j] over the seen slots with E[s] = a), where that sum is not 0."""
        for j in self.forbidden:
            sums: dict[Row, Rational] = defaultdict(lambda: sympy.S.Zero)
            for s in self.seen:
                sums[self.row(s)] += self.carried[s][j]
            yield from ((a, j, total) for a, total in sums.items() if total != 0)

    def score_violations(self) -> Iterator[tuple[Row, int, int, Rational]]:
        """T11(2): (pair sum c, j, i, Σ (E[s,j] − E[u,j])(F[s,i] − F[u,i]) over the pairs of that sum), where not 0."""
        for j in self.forbidden:
            for i in self.allowed:
                sums: dict[Row, Rational] = defaultdict(lambda: sympy.S.Zero)
                for place, s in enumerate(self.seen):
                    for u in self.seen[place + 1 :]:
                        sums[self._pair(s, u)] += (self.exponents[s][j] - self.exponents[u][j]) * (
                            self.carried[s][i] - self.carried[u][i]
                        )
                yield from ((c, j, i, total) for c, total in sums.items() if total != 0)

    def step_violations(self) -> Iterator[tuple[Row, Rational, int, int, Rational]]:
        """T11(2′): (c, b, j, i, Σ (F[s,i] − F[u,i]) over ordered pairs with E[s]+E[u] = c, E[u,j] = b), where not 0."""
        for j in self.forbidden:
            for i in self.allowed:
                sums: dict[tuple[Row, Rational], Rational] = defaultdict(lambda: sympy.S.Zero)
                for s, u in permutations(self.seen, 2):
                    sums[self._pair(s, u), self.exponents[u][j]] += self.carried[s][i] - self.carried[u][i]
                yield from ((c, b, j, i, total) for (c, b), total in sums.items() if total != 0)

    def _pair(self, s: int, u: int) -> Row:
        return tuple(a + b for a, b in zip(self.row(s), self.row(u), strict=True))

    def safe_by_criterion(self) -> bool:
        """T11 with (2)."""
        return next(self.value_violations(), None) is None and next(self.score_violations(), None) is None

    def safe_by_steps(self) -> bool:
        """T11 with (2′)."""
        return next(self.value_violations(), None) is None and next(self.step_violations(), None) is None

    # -- the witness ----------------------------------------------------------------------------------------------

    def witness(self) -> Leak | None:
        """Two inputs that differ at one forbidden position and move the output (T12), or None for a safe head."""
        value = next(self.value_violations(), None)
        if value is not None:
            j = value[1]
            kappa = separating({self.row(s) for s in self.seen})
            return Leak(self, j, (kappa, kappa), (unit(self.n, j, 0), unit(self.n, j)))
        step = next(self.step_violations(), None)
        if step is None:
            return None
        _, _, j, i, _ = step
        classes = {(*self._pair(s, u), self.exponents[u][j]) for s, u in permutations(self.seen, 2)}
        *kappa_list, delta = separating(classes)
        moved = [x + delta * (place == j) for place, x in enumerate(kappa_list)]
        return Leak(self, j, (tuple(kappa_list), tuple(moved)), (unit(self.n, i), unit(self.n, i)))


@dataclass(frozen=True)
class Leak:
    """Inputs (κ, v) and (κ′, v′) that agree off `position` and give different outputs; with d = 1 and q = 1, κ is K."""

    head: Head
    position: int
    scores: tuple[Row, Row]
    values: tuple[Row, Row]

    @property
    def outputs(self) -> tuple[Expr, Expr]:
        """Both outputs, in ℚ(e^{1/k})."""
        first, second = (self.head.output(k, v) for k, v in zip(self.scores, self.values, strict=True))
        return first, second

    def difference(self) -> Expr:
        """The difference of the outputs in normal form; not 0."""
        before, after = self.outputs
        return remainder(after, before)

    def replays(self) -> bool:
        """Whether the inputs agree off the forbidden position and the outputs differ, decided."""
        pairs = [(a[i], b[i]) for a, b in (self.scores, self.values) for i in range(self.head.n) if i != self.position]
        return self.position in self.head.forbidden and all(a == b for a, b in pairs) and self.difference() != 0

    def __str__(self) -> str:
        before, after = map(sympy.factor, self.outputs)
        return f"position {self.position} moves the output from {before} to {after}, about {float(after - before):+.4f}"


def unit(n: int, i: int, height: int = 1) -> Row:
    """`height` at position i, 0 elsewhere."""
    return tuple(Rational(height * (place == i)) for place in range(n))


def separating(rows: Iterable[Row]) -> Row:
    """A point κ = (1, x, x², …) with a·κ distinct for distinct rows a; x the first whole number that does it.

    >>> separating([(0, 1), (1, 0), (2, -1)])
    (1, 0)
    """
    distinct = {tuple(sympy.sympify(entry) for entry in row) for row in rows}
    width = len(next(iter(distinct), ()))
    for x in count(0):
        kappa = tuple(Rational(x) ** place for place in range(width))
        values = {sum((a * b for a, b in zip(row, kappa, strict=True)), sympy.S.Zero) for row in distinct}
        if len(values) == len(distinct):
            return kappa
    raise AssertionError("unreachable: a polynomial that is not zero has finitely many roots")


def product_example(bump: tuple[int, int] | None = None) -> Head:
    """The four slots of T11: E rows (0,0), (1,0), (0,1), (1,1), F rows f₀, f₁, f₀, f₁ on position 0; forbidden: 1.

    Safe, though neither diagonal pair is safe alone. `bump = (slot, position)` adds 1 to that entry of F.

    >>> product_example().safe_by_criterion(), product_example((3, 0)).safe_by_criterion()
    (True, False)
    """
    e = Matrix([[0, 0], [1, 0], [0, 1], [1, 1]])
    f = Matrix([[2, 0], [5, 0], [2, 0], [5, 0]])
    if bump is not None:
        f[bump] += 1
    return Head.of(e, f, forbidden=[1])
