"""Random heads for property tests: planted structure that makes terms cancel, wild scales, masks and boundaries."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attnproof import Boundary
from hypothesis import assume
from hypothesis import strategies as st

SMALL = [-1, 0, 0, 1, 2]
SCALES = [1.0, 1.0, 2.0**-1074, 1e-30, 1e30, 1e300]


def fractions(matrix):
    return [[Fraction(x) for x in row] for row in np.asarray(matrix, object)]


@st.composite
def grids(draw, r, n, entries=SMALL):
    return np.array(draw(st.lists(st.sampled_from(entries), min_size=r * n, max_size=r * n)), float).reshape(r, n)


def product(A, B, G, cut):
    """E, F of every sum of a row of A and one of B, alike in A from `cut` on, where the rows of F are 0."""
    A[:, cut:], G[:, cut:] = A[:1, cut:], 0
    return (A[:, None] + B[None]).reshape(-1, A.shape[1]), np.repeat(G, len(B), axis=0)


def planted(kind, E, F, cut, sign):
    """E, F with structure that makes the terms of the positions from `cut` on cancel; `sign` of the mirrored half."""
    if kind == "shift":
        E[:, cut:], F[:, cut:] = E[:1, cut:], 0
    elif kind == "equal rows":
        F[:, cut:] = 0
        F[:] = F[0]
    elif kind == "cancel":
        E[:] = E[0]
        F[-1, cut:] = -F[:-1, cut:].sum(axis=0)
    elif kind == "symmetric":
        E, F = np.vstack([E, -E]), np.vstack([F, sign * F])
        F[:, cut:] = 0
    return E, F


@st.composite
def heads(draw):
    """E, F and the forbidden positions: random, or with planted structure that makes terms cancel; then perturbed."""
    kind = draw(st.sampled_from(["random", "product", "shift", "equal rows", "cancel", "symmetric"]))
    n = draw(st.integers(1, 4))
    cut = draw(st.integers(0, n))  # positions from `cut` on are forbidden
    r = draw(st.integers(1, 5))
    E, F = draw(grids(r, n)), draw(grids(r, n))
    if kind == "product":
        a, b = draw(st.integers(2, 3)), 2
        E, F = product(draw(grids(a, n)), draw(grids(b, n)), draw(grids(a, n)), cut)
    elif kind != "random":
        E, F = planted(kind, E, F, cut, 1 if kind == "symmetric" and draw(st.booleans()) else -1)
    if draw(st.booleans()):  # scales of columns change nothing, and make floats differ wildly
        E = E * np.array(draw(st.lists(st.sampled_from(SCALES), min_size=n, max_size=n)))
        F = F * np.array(draw(st.lists(st.sampled_from(SCALES), min_size=n, max_size=n)))
    if draw(st.integers(0, 2)) == 0:
        which = E if draw(st.booleans()) else F
        which[draw(st.integers(0, len(E) - 1)), draw(st.integers(0, n - 1))] += draw(
            st.sampled_from([1.0, -1.0, 1e-30])
        )
    assume(np.isfinite(E).all() and np.isfinite(F).all())
    return E, F, cut


def one_query(n, cut):
    """A single query that may use the positions before `cut`."""
    return Boundary.from_times(np.arange(n), [cut - 1])


@st.composite
def cases(draw):
    """A projection with masks, biases and any boundary."""
    E, F, _ = draw(heads())
    r, n = E.shape
    kind = draw(st.sampled_from(["prefix", "strict", "lagged", "documents", "times", "relation", "end"]))
    if kind == "documents":
        first = draw(st.integers(1, n))
        boundary = Boundary.documents([first, n - first] if first < n else [n])
    elif kind == "times":
        m = draw(st.integers(1, 4))
        a = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
        boundary = Boundary.from_times(a, draw(st.lists(st.integers(0, 3), min_size=m, max_size=m)))
    elif kind == "relation":
        m = draw(st.integers(1, 4))
        bits = draw(st.lists(st.booleans(), min_size=m * n, max_size=m * n))
        boundary = Boundary.relation(np.array(bits).reshape(m, n))
    elif kind == "end":
        boundary = Boundary.prefix(n, queries=draw(st.integers(1, n)))
    else:
        boundary = Boundary.lagged(n, {"prefix": 0, "strict": 1}.get(kind, draw(st.integers(0, 3))))
    m = boundary.queries
    bits = draw(st.lists(st.sampled_from([True, True, False]), min_size=m * r, max_size=m * r))
    return E, F, boundary, np.array(bits).reshape(m, r)
