"""Plain NumPy formulas, written out once more and independently, for small arrays."""

from __future__ import annotations

import numpy as np


def softmax(scores):
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.nan_to_num(weights / weights.sum(-1, keepdims=True))


def weights(Q, K):
    return softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))


def slots(Q, K, E, bias=0.0):
    return softmax(Q @ np.swapaxes(E @ K, -1, -2) / np.sqrt(Q.shape[-1]) + bias)


def head(rng, *lead, m=None, n=10, d=3, v=2, r=4):
    """Random Q, K, V, E, F."""
    shapes = ((m or n, d), (n, d), (n, v), (r, n), (r, n))
    return [rng.standard_normal((*lead, *shape)) for shape in shapes]
