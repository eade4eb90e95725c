"""Ranks: numerical ones on arrays, and certified ones, with the minor that proves the lower bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import array_api_compat as compat
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz, fmpz_mat, nmod_mat

from ..symbolic.precision import precision
from .arrays import has_leading, host_values, over_leading
from .exact import exact_matrix, exact_rows
from .spectrum import relative_spectrum

if TYPE_CHECKING:
    from ..aliases import ArrayLike

CAP_BITS = 1 << 13
PRIMES = ((1 << 61) - 1, 4611686018427387847, 9223372036854775783)


def mixing_rank(B: ArrayLike, F: ArrayLike, rtol: float | None = None) -> Any:
    """The numerical rank of `B F`: how many singular values exceed `rtol` times the largest; integers of shape (…).

    `rtol` is max(m, n) times the precision of the dtype unless given. A numerical rank is no certificate:
    `rank.certified_rank` gives one. Memory, Dask, jit and errors as in `mixing_spectrum`; a negative `rtol` is a
    ValueError.

    >>> import numpy as np
    >>> int(mixing_rank(np.ones((5, 2)), np.array([[1.0, 0, 0], [0, 1, 0]])))
    1
    """
    if rtol is not None and not rtol >= 0:
        raise ValueError(f"rtol = {rtol} is no tolerance; pass a number of at least 0")
    values = relative_spectrum(B, F).values
    xp = compat.array_namespace(values)
    tolerance = max(B.shape[-2], F.shape[-1]) * xp.finfo(values.dtype).eps if rtol is None else rtol
    return xp.sum(xp.astype(values > tolerance * values[..., :1], xp.int32), axis=-1)


@dataclass(frozen=True)
class CertifiedRank:
    """What is known of a rank: `lower ≤ rank ≤ upper`, each bound with its reason.

    `rows` and `columns` name the minor whose determinant was shown not to be 0; `bits` is the ball precision at which
    it was, None where the entries are exact. `rank` is None as long as the bounds differ.

    >>> print(certified_rank([[1, 2], [2, 4]]))
    rank 1: at least 1, the minor of rows (0,) and columns (0,) is not 0; at most 1, exact elimination over ℚ
    """

    lower: int
    upper: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    bits: int | None
    why_lower: str
    why_upper: str

    @property
    def rank(self) -> int | None:
        """The rank, or None when it is not settled."""
        return self.lower if self.lower == self.upper else None

    def __str__(self) -> str:
        known = f"rank {self.lower}" if self.rank is not None else f"rank unknown, {self.lower} to {self.upper}"
        return f"{known}: at least {self.lower}, {self.why_lower}; at most {self.upper}, {self.why_upper}"


def certified_rank(M: ArrayLike, *, at_most: tuple[int, str] | None = None, cap_bits: int = CAP_BITS) -> Any:
    """Bounds on the rank of M that are proofs: a minor that is not 0 below, algebra or exact entries above.

    M is one of

    * exact entries: an array (floats are the dyadic rationals they are; leading axes give an object array of results),
      a nested list, a SymPy or FLINT matrix. The minor is found modulo a prime; the upper bound is exact elimination.
    * a function `M(bits)` that returns an `arb_mat` of enclosures at that precision, or one `arb_mat`. The minor is
      picked by elimination with complete pivoting; the precision doubles until its ball determinant excludes 0 or
      `cap_bits` is reached. Balls never bound a rank from above: that is min(m, n), or `at_most = (k, reason)` where
      algebra says so (T3: `(r, "T3")`).

    When the bounds do not meet, `rank` is None: never a guess. Raises ValueError for entries that are not finite or
    no matrix, TypeError for what has no exact entries. Runs on the CPU; a lazy array is computed once.

    >>> certified_rank([[1, 2], [3, 4]]).rank
    2
    >>> from flint import arb, arb_mat
    >>> thirds = lambda bits: arb_mat([[arb(1) / 3, arb(2) / 3], [arb(1) / 7, arb(2) / 7]])
    >>> print(certified_rank(thirds, cap_bits=256).rank)
    None
    """
    if isinstance(M, arb_mat):
        return _from_balls(lambda _: M, (M.nrows(), M.ncols()), at_most, (max(64, ctx.prec),))
    if callable(M):
        steps = _steps(cap_bits)
        with precision(steps[0]):
            first = M(steps[0])
        return _from_balls(M, (first.nrows(), first.ncols()), at_most, steps)
    if has_leading(2, M):
        return over_leading(lambda one: certified_rank(one, at_most=at_most), 2, M=M)
    return _from_exact(exact_rows(M), at_most)


def exact_determinant(M: ArrayLike) -> Fraction:
    """The determinant of a square matrix of exact entries (floats are the dyadic rationals they are), by FLINT.

    Raises ValueError for a matrix that is not square or has an entry that is not finite.

    >>> exact_determinant([[1, 2], [3, 4]])
    Fraction(-2, 1)
    """
    exact = exact_matrix(M)
    if exact.nrows() != exact.ncols():
        raise ValueError(f"M has shape ({exact.nrows()}, {exact.ncols()}); only a square matrix has a determinant")
    value = exact.det()
    return Fraction(int(value.p), int(value.q))


def certified_mixing_rank(B: ArrayLike, F: ArrayLike) -> Any:
    """The exact rank of `B F` for exact B (…, m, r) and F (…, r, n), without the m × n product.

    B is replaced by a basis of its rows, F by a basis of its columns, which leaves the rank alone; T3 bounds it by r.
    Raises as `certified_rank` does, and ValueError when the inner sizes differ.

    >>> certified_mixing_rank([[1, 0], [1, 1], [1, 2]], [[1, 1, 0], [0, 0, 1]]).rank
    2
    """
    if has_leading(2, B, F):
        return over_leading(certified_mixing_rank, 2, B=B, F=F)
    b, f = _integers(exact_rows(B, "B")), _integers(exact_rows(F, "F"))
    if b.ncols() != f.nrows():
        raise ValueError(
            f"B has shape {(b.nrows(), b.ncols())}, F has shape {(f.nrows(), f.ncols())}: r = {b.ncols()} against "
            f"{f.nrows()}; make them agree"
        )
    rows, columns = _exact_minor(b)[0], _exact_minor(f)[1]
    core = fmpz_mat([[b[i, k] for k in range(b.ncols())] for i in rows]) if rows else fmpz_mat(0, b.ncols())
    side = fmpz_mat(f.nrows(), len(columns), [f[k, j] for k in range(f.nrows()) for j in columns])
    inner = _from_integers(core * side, (f.nrows(), "T3"))
    at = tuple(rows[i] for i in inner.rows), tuple(columns[j] for j in inner.columns)
    return CertifiedRank(inner.lower, inner.upper, *at, None, _minor_words(*at), inner.why_upper)


def certified_softmax_rank(x: ArrayLike, y: ArrayLike, *, cap_bits: int = 1 << 16) -> Any:
    """The rank of `softmax(x yᵀ)`, the softmax of rank-one logits (T5): as many as there are distinct x and distinct y.

    x of shape (…, m) and y of shape (…, n): arrays, or lists of exact numbers. Below: the softmax is `exp(x_i y_j)`
    with rows scaled by positive numbers, and the ball determinant of one row per distinct x and one column per
    distinct y (as many as the fewer) is shown not to be 0 at the precision `bits` that it needed. Above: equal x give
    equal rows, equal y equal columns. If `cap_bits` is not enough the rank is None. Raises ValueError for entries
    that are not finite.

    >>> certified_softmax_rank(range(8), range(8)).rank
    8
    >>> certified_softmax_rank([0, 1, 1], [0, 1, 2]).rank
    2
    """
    if has_leading(1, x, y):
        return over_leading(partial(certified_softmax_rank, cap_bits=cap_bits), 1, x=x, y=y)
    xs, ys = _vector(x, "x"), _vector(y, "y")
    rows, columns = _distinct(xs), _distinct(ys)
    size = min(len(rows), len(columns))
    rows, columns = rows[:size], columns[:size]
    fewer = "x" if size == len(_distinct(xs)) else "y"

    # Shifting x and y scales rows and columns by positive numbers and keeps the exponentials, so the precision, small.
    middle_x, middle_y = (sum((v[i] for i in kept), fmpq(0)) / max(1, size) for v, kept in ((xs, rows), (ys, columns)))

    # Extremes first, as complete pivoting would take them: the determinant then needs far fewer bits.
    rows = sorted(rows, key=lambda i: abs(xs[i] - middle_x), reverse=True)
    columns = sorted(columns, key=lambda j: abs(ys[j] - middle_y), reverse=True)

    def exponentials(bits: int) -> arb_mat:
        return arb_mat(size, size, [arb((xs[i] - middle_x) * (ys[j] - middle_y)).exp() for i in rows for j in columns])

    known = (size, f"{fewer} has {size} distinct entries")
    inner = _from_balls(exponentials, (size, size), known, _steps(cap_bits))
    at = tuple(sorted(rows[i] for i in inner.rows)), tuple(sorted(columns[j] for j in inner.columns))
    return CertifiedRank(inner.lower, inner.upper, *at, inner.bits, _minor_words(*at, inner.bits), inner.why_upper)


# -- exact entries ----------------------------------------------------------------------------------------------------


def _from_exact(rows: list[list[fmpq]], at_most: tuple[int, str] | None) -> CertifiedRank:
    return _from_integers(_integers(rows), at_most)


def _integers(rows: list[list[fmpq]]) -> fmpz_mat:
    """Integer rows with the same rank and the same vanishing minors: each row times its common denominator."""
    width = len(rows[0]) if rows else 0
    cleared: list[fmpz] = []
    for row in rows:
        common = fmpz(1)
        for x in row:
            common = common * x.q // common.gcd(x.q)
        cleared += [x.p * (common // x.q) for x in row]
    return fmpz_mat(len(rows), width, cleared)


def _from_integers(M: fmpz_mat, at_most: tuple[int, str] | None) -> CertifiedRank:
    rows, columns = _exact_minor(M)
    size, full = len(rows), min(M.nrows(), M.ncols())
    why = "the smaller side" if size == full else "exact elimination over ℚ"
    if at_most is not None and at_most[0] == size < full:
        why = at_most[1]
    return CertifiedRank(size, size, tuple(rows), tuple(columns), None, _minor_words(rows, columns), why)


def _exact_minor(M: fmpz_mat) -> tuple[list[int], list[int]]:
    """Rows and columns of a largest minor that is not 0.

    The rank modulo a prime is at most the rank, and a minor that is not 0 there is not 0. It is compared with the exact
    rank unless it is full; a prime that divides all the largest minors is replaced by the next.
    """
    full = min(M.nrows(), M.ncols())
    exact: int | None = None
    for prime in PRIMES:
        reduced = nmod_mat(M, prime)
        columns, rows = _pivots(reduced), _pivots(reduced.transpose())
        if len(columns) == full:
            return rows, columns
        exact = M.rank() if exact is None else exact
        if len(columns) == exact:
            return rows, columns
    columns, rows = _pivots(fmpq_mat(M)), _pivots(fmpq_mat(M.transpose()))
    return rows, columns


def _pivots(M: ArrayLike) -> list[int]:
    reduced, rank = M.rref()
    found, column = [], 0
    for i in range(rank):
        while int(reduced[i, column] != 0) == 0:
            column += 1
        found.append(column)
    return found


# -- balls ------------------------------------------------------------------------------------------------------------


def _from_balls(
    M: Callable[[int], arb_mat], shape: tuple[int, int], at_most: tuple[int, str] | None, steps: Sequence[int]
) -> CertifiedRank:
    full = min(shape)
    upper, why = (full, "the smaller side") if at_most is None or at_most[0] > full else at_most
    best: tuple[list[int], list[int]] = ([], [])
    order: tuple[list[int], list[int]] | None = None
    at: int | None = None
    for bits in steps:
        with precision(bits):
            balls = M(bits)
            if upper == shape[0] == shape[1]:
                every = list(range(upper))
                if _excludes_zero((_minor(balls, *order) if order else balls).det()):
                    best, at = (every, every), bits
                    break
                if order and bits != steps[-1]:
                    continue  # more bits first: elimination would only find a smaller minor
            rows, columns = _picked(balls, upper)
            order = (_completed(rows, shape[0]), _completed(columns, shape[1]))
            while rows and not _excludes_zero(_minor(balls, rows, columns).det()):
                rows, columns = rows[:-1], columns[:-1]
            if len(rows) > len(best[0]):
                best, at = (rows, columns), bits
        if len(best[0]) == upper:
            break
    found = tuple(sorted(best[0])), tuple(sorted(best[1]))
    words = _minor_words(*found, at)
    if len(best[0]) < upper:
        words += f" and no larger one excludes 0 up to {steps[-1]} bits"
    return CertifiedRank(len(best[0]), upper, *found, at, words, why)


def _steps(cap_bits: int) -> tuple[int, ...]:
    """The precisions to try: 64 bits and its doublings up to the cap."""
    steps = tuple(64 << k for k in range(32) if 64 << k <= cap_bits)
    if not steps:
        raise ValueError(f"cap_bits = {cap_bits} leaves no precision to try; pass at least 64")
    return steps


def _picked(balls: arb_mat, most: int) -> tuple[list[int], list[int]]:
    """Rows and columns of a minor, by elimination with complete pivoting; it stops where every entry may be 0."""
    left = dict(enumerate(balls.tolist()))
    open_columns = list(range(balls.ncols()))
    rows: list[int] = []
    columns: list[int] = []
    while left and open_columns and len(rows) < most:
        size, i, j = max((left[i][j].abs_lower(), i, j) for i in left for j in open_columns)
        if not size > 0:
            break
        pivot_row = left.pop(i)
        inverse = 1 / pivot_row[j]
        open_columns.remove(j)
        rows.append(i)
        columns.append(j)
        for row in left.values():
            factor = row[j] * inverse
            for k in open_columns:
                row[k] = row[k] - factor * pivot_row[k]
    return rows, columns


def _completed(first: list[int], size: int) -> list[int]:
    return first + [i for i in range(size) if i not in first]


def _minor(balls: arb_mat, rows: Sequence[int], columns: Sequence[int]) -> arb_mat:
    return arb_mat(len(rows), len(columns), [balls[i, j] for i in rows for j in columns])


def _excludes_zero(ball: arb) -> bool:
    return bool(ball > 0) or bool(ball < 0)


def _minor_words(rows: Sequence[int], columns: Sequence[int], bits: int | None = None) -> str:
    if not rows:
        return "no minor was shown to differ from 0"
    at = "" if bits is None else f", by balls at {bits} bits"
    if len(rows) > 6:
        return f"a minor of order {len(rows)} is not 0{at}"
    return f"the minor of rows {tuple(rows)} and columns {tuple(columns)} is not 0{at}"


def _vector(values: ArrayLike, name: str) -> list[fmpq]:
    if hasattr(values, "dtype"):
        (values,) = host_values((name, values))
    return exact_rows([list(values)], name)[0]


def _distinct(values: Sequence[fmpq]) -> list[int]:
    seen: dict[tuple[int, int], int] = {}
    for i, x in enumerate(values):
        seen.setdefault((int(x.p), int(x.q)), i)
    return list(seen.values())
