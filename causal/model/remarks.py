"""What a verdict adds for the reader: proofs about nothing, and what to try when one stays open."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..boundary import Boundary
from .reach import Reach


def vacuous(found: Reach, boundary: Boundary) -> list[str]:
    """Warnings about outputs that cannot see what they may: an over-masked model is causal and useless.

    >>> earliest = latest = np.arange(3)
    >>> vacuous(Reach(earliest, latest, None), Boundary.prefix(3))
    ['warning: no output can depend on any position but its own, though the boundary allows the past']
    """
    if boundary.n < 2 or boundary.stands is None:
        return []
    stands = np.asarray(boundary.stands)
    some = found.latest >= 0
    if not some.any():
        return ["warning: no output can depend on the varied input at all"]
    may = np.array([bool(boundary.allowed_row(t)[: stands[t]].any()) for t in range(boundary.queries)])
    if not may.any():
        return []
    notes = []
    past = some & (found.earliest < stands)
    if not past[may].any():
        notes.append("warning: no output can depend on any position but its own, though the boundary allows the past")
    elif not past[may].all():
        from ..spans import shown

        blind = np.flatnonzero(may & ~past)
        notes.append(f"warning: outputs {shown(blind)} cannot depend on any earlier position")
    if boundary.horizon is not None and boundary.kind in ("prefix", "strict", "lagged"):
        lag = (boundary.horizon - found.latest)[some & (boundary.horizon >= 0)]
        if lag.size and lag.min() > 0:
            notes.append(f"warning: no output can depend on the last {int(lag.min())} positions that it may use")
    return notes


EXPERTS = (
    "tokens are sorted or counted by expert, which intervals cannot follow back; where the library offers it, let each "
    "token gather its own experts' weights (transformers: experts_implementation='batched_mm') and check that"
)
NESTED = (
    "nested tensors pack the positions by a padding mask that depends on the input; build nn.TransformerEncoder with "
    "enable_nested_tensor=False"
)
REMEDIES = {
    "aten._grouped_mm": EXPERTS,
    "aten._nested_tensor_from_mask": NESTED,
    "aten._nested_tensor_from_mask_left_aligned": NESTED,
}


def remedies(operations: Iterable[str]) -> list[str]:
    """A sentence for each known way out, given the names of the operations that ran.

    >>> remedies(["aten.add", "aten._grouped_mm"])[0].split(",")[0]
    'tokens are sorted or counted by expert'
    """
    return list(dict.fromkeys(REMEDIES[name] for name in operations if name in REMEDIES))
