"""Projections along the sequence axis that a user would try: pooling, picking, mixing at random, fitting to data."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

KINDS = ("mean", "strided", "random", "fitted")


def pooling(n: int, r: int) -> np.ndarray:
    """Means over r consecutive blocks of nearly equal length, shape (r, n). ValueError unless 1 ≤ r ≤ n.

    >>> pooling(4, 2).tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    """
    _fits(n, r)
    block = np.arange(n) * r // n
    rows = (block[None, :] == np.arange(r)[:, None]).astype(float)
    means: np.ndarray = rows / rows.sum(1, keepdims=True)
    return means


def strided(n: int, r: int) -> np.ndarray:
    """r positions picked evenly, the last of each block, shape (r, n).

    >>> strided(4, 2).tolist()
    [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    _fits(n, r)
    rows = np.zeros((r, n))
    rows[np.arange(r), (np.arange(1, r + 1) * n) // r - 1] = 1
    return rows


def gaussian(n: int, r: int, seed: int = 0) -> np.ndarray:
    """Independent normal entries of variance 1/r, shape (r, n): the projection of the paper's proof.

    >>> gaussian(8, 2).shape
    (2, 8)
    """
    _fits(n, r)
    drawn: np.ndarray = np.random.default_rng(seed).standard_normal((r, n)) / np.sqrt(r)
    return drawn


def fitted(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The value projection F that minimises Σ ‖A − B F‖_F² over pairs of weights A (n, n), B (n, r), full and of slots.

    Normal equations with the pseudo-inverse, so slots that nobody weighs stay 0. ValueError for no pairs.

    >>> B = np.array([[1.0], [1.0]])
    >>> fitted([(np.array([[1.0, 0.0], [0.0, 1.0]]), B)]).tolist()
    [[0.5, 0.5]]
    """
    gram = cross = None
    for A, B in pairs:
        gram, cross = B.T @ B + (0 if gram is None else gram), B.T @ A + (0 if cross is None else cross)
    if gram is None or cross is None:
        raise ValueError("pairs is empty; pass at least one pair of full and slot weights")
    best: np.ndarray = np.linalg.pinv(gram, rcond=1e-10, hermitian=True) @ cross
    return best


def _fits(n: int, r: int) -> None:
    if not 1 <= r <= n:
        raise ValueError(f"r = {r} slots do not fit n = {n} positions; choose 1 ≤ r ≤ n")
