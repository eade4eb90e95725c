"""Does a sequence-compressed head look ahead? The verdict on a pair of projections, a mask and a boundary.

The support criterion (T10) comes first: one pass over the memory. Where it fails, the exact criterion (T11) decides,
and a leak comes with a witness (T12) that has been replayed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ArgumentError
from ..verdict import LeakBound, Status, Verdict, accept_or_raise
from .decide import Reading, judge, unjudged, up_to
from .entries import read_pair
from .support import supports
from .visible import boundary_of, read_visible, visible_to

if TYPE_CHECKING:
    from ...aliases import ArrayLike
    from ..boundary import Boundary
    from .visible import SafeMask


def check_projection(
    F: ArrayLike,
    E: ArrayLike | None = None,
    *,
    layout: str | None = None,
    visible: ArrayLike | SafeMask | str | None = None,
    boundary: Boundary | str | None = None,
    tolerance: float = 0,
    weights: Sequence[ArrayLike] | None = None,
) -> Verdict:
    """Whether a head with values F V and keys E K gives every query only what the boundary allows it.

    `F`, `E` (None: E = F): (r, n) slots first or (n, r) positions first, as `layout` says ("slots-first",
    "positions-first"; None only where an array is wider than tall). Any array library, sparse or not, nested lists,
    Fractions, SymPy; floats are taken exactly. r = 0 is `PROVED` with every query starved, n = 0 is `PROVED` because
    nothing can be read.

    `visible`: None (every query sees every slot), a boolean (queries, r) array, True for visible, an additive bias of
    that shape (−inf hides, a finite number does not), a `SafeMask`, or "largest". `boundary`: a `Boundary`, a
    text such as "strict" or "lag:2", or None for the prefix boundary.
    `tolerance` > 0 accepts, conditionally, leaks whose bound per unit of value and per unit of score and `|V|` stays
    within it, all forbidden values and scores moved at once (T19). `weights` are W_Q, W_K (m, d) and W_V (m, d_v),
    without biases, of a layer with keys X W_K and values X W_V: a reason then says what follows for it (T20). Four are
    W_Q, W_K (H, m, d), W_V (H, m, d_v) and W_O (H, d_v, p) of H heads that share E and F: the reason says whether what
    they leak cancels (T22).

    The verdict is PROVED by T10, or by T11 where rounding cannot undo what cancels, PROVED_IF under real arithmetic by
    T11 elsewhere, PROVED_IF under a condition on scores where only a finite bias hides what leaks, and REFUTED with a
    witness that has been replayed. It is never UNDECIDED: T11 decides.

    Raises ValueError or TypeError, in one sentence, for shapes, layouts, masks and numbers that do not fit.

    >>> from fractions import Fraction
    >>> verdict = check_projection([[Fraction(1, 2), Fraction(1, 2), 0], [0, 0, 1]])
    >>> print(verdict.witness.describe())
    output 0 changes from 0 to 1/4 when value 1 changes from 0 to 1
    >>> check_projection([[1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0]], visible="largest").headline()
    'PROVED: 2 slots over 4 positions, E = F'
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, np.number)) or not tolerance >= 0:
        raise ArgumentError("tolerance", "is no bound", "pass a number ≥ 0", tolerance)
    if weights is None:
        return _check(F, E, layout, visible, boundary, float(tolerance))[0]
    if len(weights) == 4:
        from .several_heads import of_layer, read_heads

        heads = read_heads(weights)
        return of_layer(*_check(F, E, layout, visible, boundary, float(tolerance)), heads)
    from .self_attention import model_case, of_model  # needs SymPy

    case = model_case(weights)
    return of_model(_check(F, E, layout, visible, boundary, float(tolerance))[0], case)


def _check(
    F: ArrayLike,
    E: ArrayLike | None,
    layout: str | None,
    visible: ArrayLike | SafeMask | str | None,
    boundary: Boundary | str | None,
    tolerance: float,
) -> tuple[Verdict, Reading]:
    start = time.perf_counter()
    matrices = read_pair(F, E, layout)
    values, keys = matrices[0], matrices[-1]
    given = read_visible(visible, values.shape[0])
    where = boundary_of(given, boundary, values.shape[1])
    support, scans = supports(matrices, where)
    sees = visible_to(given, support)
    failing = sees.violations(support)
    starved = sees.starved()
    seconds = time.perf_counter() - start
    reading = Reading(values, keys, support, sees, (scans[-1], scans[0]), failing)
    base = unjudged(reading, starved, seconds)
    if len(failing):
        return judge(reading, base, tolerance), reading
    verdict = replace(base, status=Status.PROVED, claims=("T10", *(("T13",) if sees.rule is support else ())))
    return (up_to(verdict, LeakBound(0.0, 0.0), tolerance) if tolerance else verdict), reading


def assert_prefix_safe(
    F: ArrayLike,
    E: ArrayLike | None = None,
    *,
    layout: str | None = None,
    visible: ArrayLike | SafeMask | str | None = None,
    boundary: Boundary | str | None = None,
    tolerance: float = 0,
    accept: Sequence[str] = ("PROVED",),
    suppress: str | None = None,
) -> Verdict:
    """`check_projection`, as an assertion for tests: the verdict, or an AssertionError that shows it.

    `accept` names the statuses that pass; `suppress` is a reason to let any verdict pass, which is shown with it.
    Raises PrefixLeakError for a leak, NotProvedError for another status, and what `check_projection` raises.

    >>> assert_prefix_safe([[1.0, 0.0], [1.0, 0.0]], layout="slots-first").status.name
    'PROVED'
    """
    verdict = check_projection(F, E, layout=layout, visible=visible, boundary=boundary, tolerance=tolerance)
    return accept_or_raise(verdict, accept, suppress)
