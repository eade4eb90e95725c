"""Ball arithmetic: enclosures of attention, determinants and singular values that hold whatever the rounding does.

Entries are taken exactly (a float is the dyadic rational it is), so an enclosure speaks of the very matrices given.
The precision is set with `precision` (symbolic/precision.py) and decides only how narrow an enclosure is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from flint import arb, arb_mat, ctx, fmpq

from ..symbolic.precision import precision
from .arrays import host_values
from .exact import exact_matrix, rational

if TYPE_CHECKING:
    from ..aliases import ArrayLike

CAP_BITS = 1 << 16


def ball_matrix(M: ArrayLike, name: str = "M") -> arb_mat:
    """The matrix as balls at the current precision; balls are passed through.

    >>> ball_matrix([[0.5]])[0, 0] == 0.5
    True
    """
    return M if isinstance(M, arb_mat) else arb_mat(exact_matrix(M, name))


# -- attention --------------------------------------------------------------------------------------------------------


def ball_softmax(scores: arb_mat, bias: Sequence[Sequence[fmpq | None]] | None = None) -> arb_mat:
    """Row-wise softmax in balls. A bias of None hides an entry, which then weighs 0; a row with nothing visible is 0.

    >>> with precision(53):
    ...     ball_softmax(arb_mat([[0, 0]]))[0, 1].contains(0.5)
    True
    """
    rows, columns = scores.nrows(), scores.ncols()
    found: list[arb] = []
    for i in range(rows):
        added = [fmpq(0)] * columns if bias is None else bias[i]
        shifted = {j: scores[i, j] + b for j, b in enumerate(added) if b is not None}
        if not shifted:
            found += [arb(0)] * columns
            continue
        top = max((s.mid() for s in shifted.values()), key=float)
        weights = {j: (s - top).exp() for j, s in shifted.items()}
        total = sum(weights.values(), arb(0))
        found += [weights[j] / total if j in weights else arb(0) for j in range(columns)]
    return arb_mat(rows, columns, found)


def exact_bias(bias: ArrayLike, m: int, r: int) -> list[list[fmpq | None]] | None:
    """A mask as exact numbers, None where hidden: booleans say what is visible, numbers are added, −∞ hides.

    Raises ValueError unless the shape is (m, r) and no entry is NaN or +∞.

    >>> exact_bias([[0.5, float("-inf")]], 1, 2)
    [[1/2, None]]
    """
    if bias is None:
        return None
    rows = [list(row) for row in (host_values(("bias", bias))[0] if hasattr(bias, "dtype") else bias)]
    if len(rows) != m or any(len(row) != r for row in rows):
        raise ValueError(f"bias has shape ({len(rows)}, {len(rows[0]) if rows else 0}); pass (m, r) = ({m}, {r})")
    return [[_bias(x, f"bias[{i}, {j}]") for j, x in enumerate(row)] for i, row in enumerate(rows)]


def _bias(x: Any, name: str) -> fmpq | None:
    if isinstance(x, bool) or str(getattr(x, "dtype", "")) == "bool":
        return fmpq(0) if x else None
    return None if x == -math.inf else rational(x, name)


def ball_scores(Q: arb_mat, K: arb_mat) -> arb_mat:
    """The scaled scores `Q Kᵀ / √d` for Q (m, d) and K (n, d), in balls."""
    return Q * K.transpose() * (1 / arb(Q.ncols()).sqrt())


def ball_attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike) -> arb_mat:
    """Full attention `softmax(Q Kᵀ/√d) V`: an enclosure, shapes (m, d), (n, d), (n, d_v) to (m, d_v).

    >>> with precision(80):
    ...     y = ball_attention([[1]], [[1], [2], [3]], [[10], [20], [30]])[0, 0]
    >>> decimals(lambda: y, 4)
    '25.7521…'
    """
    q, k, v = (ball_matrix(M, name) for M, name in ((Q, "Q"), (K, "K"), (V, "V")))
    attended: arb_mat = ball_softmax(ball_scores(q, k)) * v
    return attended


def ball_compressed(
    Q: ArrayLike, K: ArrayLike, V: ArrayLike, E: ArrayLike, F: ArrayLike, bias: ArrayLike = None
) -> arb_mat:
    """Compressed attention `softmax(Q (E K)ᵀ/√d + bias) (F V)`: an enclosure, E and F of shape (r, n), slots first.

    >>> half = [[0.5, 0.5, 0], [0, 0, 1]]
    >>> compute = lambda: ball_compressed([[1]], [[1], [2], [3]], [[10], [20], [30]], half, half)[0, 0]
    >>> decimals(compute, 4)
    '27.2636…'
    """
    q, k, v, e, f = (ball_matrix(M, name) for M, name in zip((Q, K, V, E, F), "QKVEF", strict=True))
    attended: arb_mat = ball_softmax(ball_scores(q, e * k), exact_bias(bias, q.nrows(), e.nrows())) * (f * v)
    return attended


# -- raising the precision --------------------------------------------------------------------------------------------


def sharpen(compute: Callable[[], Any], digits: int = 15, cap_bits: int = CAP_BITS) -> Any:
    """`compute()` at growing precision until every ball that it returns has `digits` certain significant digits.

    `compute` returns a ball, a sequence of balls, or an `arb_mat`; a ball that is exactly 0 counts as certain.
    Raises ValueError when `cap_bits` bits are not enough, naming both.

    >>> sharpen(lambda: arb(2).sqrt(), 30).str(30, radius=False)
    '1.41421356237309504880168872421'
    """
    needed = int(digits * 3.33) + 2
    bits = max(64, 2 * needed)
    while bits <= cap_bits:
        with precision(bits):
            found = compute()
            if all(x.is_zero() or x.rel_accuracy_bits() >= needed for x in _balls(found)):
                return found
        bits *= 2
    raise ValueError(
        f"digits = {digits} are not certain within cap_bits = {cap_bits} bits; raise cap_bits or ask for fewer"
    )


def decimals(compute: Callable[[], arb], places: int, cap_bits: int = CAP_BITS) -> str:
    """The number that `compute()` encloses, cut (not rounded) after `places` decimal places, every digit certain.

    Raises ValueError when the digits are not settled within `cap_bits` bits (a number that ends there exactly).

    >>> decimals(lambda: arb(2).sqrt(), 10)
    '1.4142135623…'
    >>> decimals(lambda: -arb(1) / 3, 3)
    '-0.333…'
    """
    bits = 64 + 4 * places
    while bits <= cap_bits:
        with precision(bits):
            x = compute()
            whole = (abs(x) * arb(10) ** places).floor().unique_fmpz()
            if whole is not None and (x > 0 or x < 0 or x.is_zero()):
                digits = str(int(whole)).rjust(places + 1, "0")
                sign = "-" if x < 0 else ""
                point = f".{digits[len(digits) - places :]}" if places else ""
                return f"{sign}{digits[: len(digits) - places]}{point}…"
        bits *= 2
    raise ValueError(f"places = {places} are not settled within cap_bits = {cap_bits} bits; ask for fewer places")


def _balls(found: Any) -> Iterable[arb]:
    if isinstance(found, arb):
        return [found]
    return found.entries() if isinstance(found, arb_mat) else found


# -- norms and singular values ----------------------------------------------------------------------------------------


def frobenius(M: arb_mat) -> arb:
    """The Frobenius norm, in balls.

    >>> frobenius(arb_mat([[3, 4]])).contains(5)
    True
    """
    return sum((x * x for x in M.entries()), arb(0)).nonnegative_part().sqrt()


def singular_values(M: ArrayLike) -> list[arb]:
    """Enclosures of the min(m, n) singular values, largest first, repeated and zero ones included.

    With V the approximate eigenvectors of H, the smaller of MᵀM and MMᵀ, everything is verified in balls (at twice
    the precision, since roots are wanted): `‖VᵀV − 1‖ ≤ β` gives `λ_i(VᵀHV) ∈ [1 − β, 1 + β] λ_i(H)` (Ostrowski), and
    `|λ_i(G) − g_i| ≤ ‖G − diag g‖_F` for G = VᵀHV with its diagonal sorted (Weyl). That copes with repeated and zero
    values, on which FLINT's isolation of eigenvalues can fail. Meant for up to some tens of rows. Raises ValueError
    when the precision is too low to verify anything.

    >>> with precision(100):
    ...     [s.contains(w) for s, w in zip(singular_values([[0, 2], [1, 0]]), (2, 1))]
    [True, True]
    """
    from .precision import context

    with precision(2 * ctx.prec + 20):
        balls = ball_matrix(M)
        tall = balls if balls.nrows() >= balls.ncols() else balls.transpose()
        n = tall.ncols()
        if not n:
            return []
        mp = context(bits=ctx.prec)
        middle = [[mp.mpf(x.mid()._mpf_) for x in row] for row in (tall.transpose() * tall).tolist()]
        _, vectors = mp.eigsy(mp.matrix(middle))
        V = arb_mat(n, n, [_exact(vectors[i, j]) for i in range(n) for j in range(n)])
        beta = frobenius(V.transpose() * V - _identity(n)).upper()
        turned = tall * V
        G = turned.transpose() * turned
        off = frobenius(arb_mat(n, n, [G[i, j] if i != j else arb(0) for i in range(n) for j in range(n)])).upper()
        if not (beta < 1 and off.is_finite()):
            raise ValueError(f"the precision of {ctx.prec} bits is too low to verify the decomposition; raise it")
        lows, highs = (sorted((end(G[i, i]) for i in range(n)), reverse=True) for end in (arb.lower, arb.upper))
        found = []
        for low, high in zip(lows, highs, strict=True):
            least, most = ((low - off) / (1 + beta)).lower(), ((high + off) / (1 - beta)).upper()
            found.append((least if least > 0 else arb(0)).union(most).nonnegative_part().sqrt())
    return found


def _exact(x: Any) -> arb:
    """The ball of radius 0 at an mpmath number."""
    sign, mantissa, exponent, _ = x._mpf_
    return arb((-int(mantissa) if sign else int(mantissa), int(exponent)))


def _identity(n: int) -> arb_mat:
    return arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
