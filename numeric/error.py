"""The error of compression, `Y − Ȳ`, for given Q, K, V, E, F: as an enclosure, and in floats at any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import array_api_compat as compat
from flint import arb, arb_mat, fmpq_mat

from ..symbolic.precision import precision
from . import blocks
from .arrays import has_leading, over_leading, read
from .attention import SHAPES, broadcast_lead, mixed, weight_blocks, weights_of_read
from .enclosure import ball_scores, ball_softmax, exact_bias
from .exact import exact_matrix
from .spectrum import norm

if TYPE_CHECKING:
    from ..aliases import ArrayLike

CAP_BITS = 1 << 13
QUERIES = 32  # rows of weights held at a time, in balls
FORMS = {"Q": "(m, d)", "K": "(n, d)", "V": "(n, d_v)", "E": "(r, n)", "F": "(r, n)"}


@dataclass(frozen=True)
class CertifiedError:
    """Enclosures of `‖Y − Ȳ‖` in the Frobenius norm and of its largest entry, of `‖Y‖` likewise, and the bits used.

    `relative` encloses ‖Y − Ȳ‖_F / ‖Y‖_F (not finite where Y may be 0).
    """

    frobenius: arb
    largest: arb
    full_frobenius: arb
    full_largest: arb
    bits: int

    @property
    def relative(self) -> arb:
        """‖Y − Ȳ‖_F / ‖Y‖_F."""
        with precision(self.bits):
            return self.frobenius / self.full_frobenius

    def __str__(self) -> str:
        return (
            f"‖Y − Ȳ‖_F in {self.frobenius.str(10)}, largest entry in {self.largest.str(10)}, "
            f"relative to ‖Y‖_F in {self.relative.str(10)} (balls at {self.bits} bits)"
        )


def certified_error(
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    E: ArrayLike,
    F: ArrayLike,
    *,
    bias: ArrayLike = None,
    digits: int = 10,
    cap_bits: int = CAP_BITS,
) -> Any:
    """Enclosures of the error that compression makes on these very inputs, in the Frobenius and in the max norm.

    Shapes (m, d), (n, d), (n, d_v), (r, n), (r, n); `bias` (m, r), additive with −∞ hiding a slot, or boolean saying
    what is visible. Entries are exact (floats are dyadic rationals). Leading axes give an object array of results.
    The precision doubles until the relative width is below 10^−digits, or the width is below 10^(−digits−20) of ‖Y‖;
    past `cap_bits` the last, wider, enclosure is returned: it holds all the same. m n ball exponentials, memory O(m +
    n).

    A query that sees no slot has output 0. Raises ValueError for shapes that disagree and entries that are not finite.
    Runs on the CPU; lazy arrays are computed together, once.

    >>> half = [[0.5, 0.5, 0], [0, 0, 1]]
    >>> error = certified_error([[1]], [[1], [2], [3]], [[10], [20], [30]], half, half)
    >>> error.largest.str(5, radius=False)
    '1.5115'
    """
    if isinstance(digits, bool) or not isinstance(digits, int) or digits < 1:
        raise ValueError(f"digits = {digits!r} is no number of digits; pass a whole number of at least 1")
    named = dict(zip("QKVEF", (Q, K, V, E, F), strict=True))
    if has_leading(2, *named.values()):

        def one(*head: Any) -> CertifiedError:
            found: CertifiedError = certified_error(*head[:5], bias=head[5], digits=digits, cap_bits=cap_bits)
            return found

        return over_leading(one, 2, **named, bias=bias)
    exact = {name: exact_matrix(x, name) for name, x in named.items()}
    _agree(exact)
    hidden = exact_bias(bias, exact["Q"].nrows(), exact["E"].nrows())
    bits = 64
    while True:
        with precision(bits):
            found = _norms(exact, hidden, bits)
            goal = (
                found.frobenius.upper() * arb(10) ** -digits,
                found.full_frobenius.upper() * arb(10) ** (-digits - 20),
            )
            widths = [2 * found.frobenius.rad(), 2 * found.largest.rad()]
            if all(w <= goal[0] or w <= goal[1] for w in widths) or 2 * bits > cap_bits:
                return found
        bits *= 2


class FloatError(NamedTuple):
    """`‖Y − Ȳ‖_F`, its largest absolute entry, and `‖Y‖_F`, each of shape (…)."""

    frobenius: ArrayLike
    largest: ArrayLike
    full_frobenius: ArrayLike


def compression_error(
    Q: ArrayLike, K: ArrayLike, V: ArrayLike, E: ArrayLike, F: ArrayLike, bias: ArrayLike = None
) -> FloatError:
    """The error of compression in floats, on any array library, a block of queries at a time.

    Shapes as in `attention.compressed_attention`. Peak memory: inputs and about four blocks of 16 MiB. On Dask each
    chunk of queries is a task that holds K, V and the compressed keys and values. Under `jax.jit` the check for
    finite entries is off. Raises as `arrays.read` does.

    >>> import numpy as np
    >>> half = np.array([[0.5, 0.5, 0], [0, 0, 1]])
    >>> K = np.array([[1.0], [2], [3]])
    >>> float(compression_error(np.ones((1, 1)), K, 10 * K, half, half).largest.round(4))
    1.5115
    """
    _, (Q, K, V, E, F, bias) = read(SHAPES, Q=Q, K=K, V=V, E=E, F=F, bias=bias, open_below=("bias",))
    small = mixed(weights_of_read(Q, K, E, bias), F, V)
    lead = broadcast_lead(Q, K, V, small)
    if not any(blocks.is_lazy(x) for x in (Q, K, V, E, F)):
        return _differences(Q, small, K, V)
    small = small.rechunk({small.ndim - 2: Q.chunks[-2]})
    gathered = [blocks.whole(K), blocks.whole(V)]
    pairs = zip(blocks.split(Q, -2), blocks.split(small, -2), strict=True)
    task = blocks.merge(_add, [blocks.call(_differences, q, s, *gathered) for q, s in pairs])
    return FloatError(*(blocks.array(task[i], lead, Q.dtype, Q) for i in range(3)))


def _differences(Q: ArrayLike, small: Any, K: ArrayLike, V: ArrayLike) -> FloatError:
    """Norms and maximum over one chunk of queries."""
    xp = compat.array_namespace(Q, K)
    parts = []
    for rows, weights in weight_blocks(Q, K):
        full = xp.matmul(weights, V)
        off = full - small[..., rows, :]
        parts.append(FloatError(norm(xp, off), xp.max(xp.abs(off), axis=(-2, -1)), norm(xp, full)))
    return _add(parts)


def _add(parts: Sequence[FloatError]) -> FloatError:
    total = parts[0]
    xp = compat.array_namespace(total.largest)
    for p in parts[1:]:
        total = FloatError(
            xp.hypot(total.frobenius, p.frobenius),
            xp.maximum(total.largest, p.largest),
            xp.hypot(total.full_frobenius, p.full_frobenius),
        )
    return total


# -- in balls ---------------------------------------------------------------------------------------------------------


def _agree(exact: dict[str, fmpq_mat]) -> None:
    shapes = {name: (M.nrows(), M.ncols()) for name, M in exact.items()}
    for name, shape in shapes.items():
        if 0 in shape:
            raise ValueError(f"{name} has shape {shape}, an axis of length 0; pass at least one entry along every axis")
    for one, i, two, j in (("K", 1, "Q", 1), ("V", 0, "K", 0), ("E", 1, "K", 0), ("F", 1, "K", 0), ("F", 0, "E", 0)):
        if shapes[one][i] != shapes[two][j]:
            raise ValueError(
                f"{one} has shape {shapes[one]}, read as {FORMS[one]}, but {two} has shape {shapes[two]}, read as "
                f"{FORMS[two]}; make them agree"
            )


def _norms(exact: dict[str, fmpq_mat], bias: ArrayLike, bits: int) -> CertifiedError:
    Q, K, V, E, F = (arb_mat(exact[name]) for name in "QKVEF")
    slots, kept = E * K, F * V
    square, largest, full_square, full_largest = arb(0), arb(0), arb(0), arb(0)
    for start in range(0, Q.nrows(), QUERIES):
        stop = min(Q.nrows(), start + QUERIES)
        part = arb_mat(stop - start, Q.ncols(), [Q[i, j] for i in range(start, stop) for j in range(Q.ncols())])
        full = ball_softmax(ball_scores(part, K)) * V
        small = ball_softmax(ball_scores(part, slots), None if bias is None else bias[start:stop]) * kept
        for a, b in zip(full.entries(), small.entries(), strict=True):
            off = abs(a - b)
            square, largest = square + off * off, largest.max(off)
            full_square, full_largest = full_square + a * a, full_largest.max(abs(a))
    roots = (x.nonnegative_part().sqrt() for x in (square, full_square))
    return CertifiedError(next(roots), largest, next(roots), full_largest, bits)
