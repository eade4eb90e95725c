"""Everything that compression does to one head on given inputs, in one report (T2, T6, T7, T8)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .attention import compressed_attention, full_attention, slot_weights, softmax
from .error import certified_error

if TYPE_CHECKING:
    from ..aliases import Array

SMALL = 64  # positions up to which the enclosure is worth its time


@dataclass(frozen=True)
class Compression:
    """What was achieved, what no projection of r slots could beat, and what was lost.

    `mixing` is ‖A − BF‖_F; `best` the least of rank r and `best_softmax` the least of a mixing whose B has row sums 1;
    `output` is ‖Y − Ȳ‖_F and `output_relative` its share of ‖Y‖_F; `invisible` is the share of ‖V‖_F² along ker F,
    which no B can bring back (T7); `mass` is per slot the mass it carries before normalisation over the mass its
    positions carry in full attention, averaged over queries (T2; None for slots that are no weighted means), and
    `corrected` is ‖Y − Ȳ‖_F after adding log m to each slot's score (None where that has no meaning); `enclosure`
    brackets `output` rigorously for small inputs.
    """

    n: int
    r: int
    mixing: float
    best: float
    best_softmax: float
    output: float
    output_relative: float
    invisible: float
    mass: tuple[float | None, ...]
    corrected: float | None
    enclosure: str | None

    @property
    def ratio(self) -> float | None:
        """Achieved over best; None ("exact") when the best is 0."""
        return self.mixing / self.best if self.best > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with the ratio."""
        return {**asdict(self), "ratio": self.ratio}


def compression_report(Q: Array, K: Array, V: Array, E: Array, F: Array) -> Compression:
    """The report for one head: Q (m, d), K (n, d), V (n, d_v), E and F (r, n), NumPy arrays of one head.

    Forms the (m, n) weights and their SVD: for sizes that one machine can factor. Raises as `arrays.read` does.

    >>> half = np.array([[0.5, 0.5, 0], [0, 0, 1]])
    >>> K = np.array([[1.0], [2], [3]])
    >>> found = compression_report(np.ones((1, 1)), K, 10 * K, half, half)
    >>> round(found.output, 4), round(found.corrected, 2), round(found.mass[0], 3)
    (1.5115, 0.38, 0.443)
    """
    Q, K, V, E, F = (np.asarray(x, float) for x in (Q, K, V, E, F))
    Y, small = full_attention(Q, K, V), compressed_attention(Q, K, V, E, F)
    scores = Q @ K.T / math.sqrt(Q.shape[-1])
    A, B = softmax(scores), slot_weights(Q, K, E)
    r = len(F)
    size = float(np.linalg.norm(Y))
    error = float(np.linalg.norm(Y - small))
    mass, lengths = _mass(scores, E)
    corrected = None
    if lengths is not None:
        lifted = softmax(Q @ (E @ K).T / math.sqrt(Q.shape[-1]) + np.log(lengths))
        corrected = float(np.linalg.norm(Y - lifted @ (F @ V)))
    exact = certified_error(Q, K, V, E, F).frobenius if max(K.shape[0], Q.shape[0]) <= SMALL else None
    return Compression(
        n=len(K),
        r=r,
        mixing=float(np.linalg.norm(A - B @ F)),
        best=_tail(A, r),
        best_softmax=_tail(A - A.mean(0), r - 1),
        output=error,
        output_relative=error / size if size else math.nan,
        invisible=invisible_share(F, V),
        mass=mass,
        corrected=corrected,
        enclosure=None if exact is None else exact.str(12),
    )


def invisible_share(F: Array, V: Array) -> float:
    """The share of ‖V‖_F² in the kernel of F: what no slot weights can bring back (T7).

    >>> invisible_share(np.array([[0.5, 0.5]]), np.array([[1.0], [-1.0]]))
    1.0
    """
    total = float(np.sum(V * V))
    kept = np.linalg.pinv(F) @ (F @ V)
    return min(1.0, max(0.0, float(np.sum((V - kept) ** 2)) / total)) if total else 0.0


def _tail(A: Array, r: int) -> float:
    """The Frobenius distance to the nearest matrix of rank r; 0 when the rest is rounding."""
    values = np.linalg.svd(A, compute_uv=False)
    rest = values[max(r, 0) :]
    noise = max(A.shape) * np.finfo(float).eps * values.max(initial=0.0)
    return float(np.linalg.norm(rest[rest > noise]))


def _mass(scores: Array, E: Array) -> tuple[tuple[float | None, ...], Array | None]:
    """T2 per slot, and the number of positions each averages where all slots are uniform means."""
    means = (E >= 0).all(1) & np.isclose(E.sum(1), 1, rtol=1e-9, atol=0)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    found: list[float | None] = []
    for row, is_mean in zip(E, means, strict=True):
        if not is_mean:
            found.append(None)
            continue
        carried = np.exp(scores @ row - scores.max(-1))
        found.append(float((carried / weights[:, row > 0].sum(-1)).mean()))
    counts = (E > 0).sum(1)
    uniform = means.all() and all(np.allclose(row[row > 0], 1 / m) for row, m in zip(E, counts, strict=True))
    return tuple(found), counts.astype(float) if uniform else None
