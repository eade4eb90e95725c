"""Decide T11 for one question, and show a leak by a witness (T12): cheap refutations first, then the decision
procedure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .columns import Columns, per_strip
from .counterexample import Head, keys_witness, telling_columns, values_witness
from .exact import Leak, Question, keys_leak, open_thresholds, values_leak
from .support import NOTHING

if TYPE_CHECKING:
    from .entries import Entries
    from .witness import ProjectionWitness

FEW = 64  # positions looked at before the whole row is
ENOUGH = 100  # random keys, each drawn from a box twice as wide; a single one fails with vanishing probability


class Decider:
    """E and F, with the exact columns of the slots that were asked about last: questions often share them."""

    def __init__(self, E: Entries, F: Entries) -> None:
        self.E, self.F = E, F
        self._slots = b""
        self._columns: tuple[Columns, Columns] | None = None

    def columns(self, slots: np.ndarray) -> tuple[Columns, Columns]:
        """E and F on some slots."""
        if self._columns is None or slots.tobytes() != self._slots:
            keys = Columns(self.E, slots)
            self._slots, self._columns = slots.tobytes(), (keys, keys if self.F is self.E else Columns(self.F, slots))
        return self._columns


def find_leak(question: Question, decider: Decider, reads: np.ndarray) -> ProjectionWitness | None:
    """A witness that some query of the question leaks, or None, which proves that none does (in real arithmetic).

    `reads` (r,) is the highest rank that each slot's row of F reads, as far as the scan knows it; it only saves time.
    """
    E, F = decider.E, decider.F
    head = Head(E, F, question.slots, question.bias)
    found = _first_entry(question, head, E, F, reads)
    if found is not None:
        return found
    keys, values = decider.columns(question.slots)
    leak = values_leak(question, keys, values)
    if leak is not None:
        columns = telling_columns(keys.block, question.bias)
        return _shown(leak, values_witness(head, leak.query, leak.j, columns, ENOUGH))
    thresholds = open_thresholds(question, keys, values)
    if not len(thresholds):
        return None
    found = _first_step(question, head, keys, values)
    if found is not None:
        return found
    leak = keys_leak(question, keys, values, thresholds)
    if leak is None:
        return None
    assert leak.i is not None
    return _shown(leak, keys_witness(head, leak.query, leak.j, leak.i, leak.columns, ENOUGH))


def _shown(leak: Leak, witness: ProjectionWitness | None) -> ProjectionWitness:
    """The witness, which T12 promises; its absence must never be read as safety."""
    if witness is None:
        raise AssertionError(
            f"{leak} has no witness after {ENOUGH} random keys: a fault of attnproof, please report it"
        )
    return witness


def _first_entry(question: Question, head: Head, E: Entries, F: Entries, reads: np.ndarray) -> ProjectionWitness | None:
    """The fast path of (1): the first forbidden entry of F that a visible slot reads, a few keys to single it out."""
    t = int(question.queries[0])
    horizon = int(question.horizons[0])
    suspects = question.slots[(reads[question.slots] > horizon) & (reads[question.slots] != NOTHING)]
    if not len(suspects):
        return None
    forbidden = question.rank > horizon
    j = _first_read(F, suspects, forbidden)
    if j is None:
        return None
    found = values_witness(head, t, j, [])
    if found is not None:
        return found
    n = len(forbidden)
    few = np.unique(np.linspace(0, n - 1, min(n, FEW)).astype(np.int64))
    few = np.unique(np.append(few[: FEW // 2], np.arange(min(n, FEW // 2))))
    columns = [int(few[m]) for m in telling_columns(E.block(question.slots, few), question.bias)]
    return values_witness(head, t, j, columns, tries=3)


def _first_read(F: Entries, slots: np.ndarray, forbidden: np.ndarray) -> int | None:
    """The first forbidden position that some of the slots read, or, far out, the first that the first slot reads."""
    near = np.flatnonzero(forbidden)[: per_strip(len(slots))]
    for some in (near[:FEW], near[FEW:]):
        hits = np.asarray(F.block(slots, some) != 0, bool).any(axis=0)
        if hits.any():
            return int(some[hits.argmax()])
    hits = np.asarray((F.block(slots[:1])[0] != 0) & forbidden, bool)
    return int(hits.argmax()) if hits.any() else None


def _first_step(question: Question, head: Head, keys: Columns, values: Columns) -> ProjectionWitness | None:
    """The fast path of (2): the latest moving column of E against the earliest moving columns of F."""
    moving_keys = np.flatnonzero(~keys.constant)
    moving_values = np.flatnonzero(~values.constant)
    late = moving_keys[np.argsort(-question.rank[moving_keys].astype(np.float64), kind="stable")[:3]]
    soon = moving_values[np.argsort(question.rank[moving_values], kind="stable")[:3]]
    for j in late.tolist():
        for i in soon.tolist():
            query = question.first_query(j, i)
            if query is not None:
                found = keys_witness(head, query, j, i, [], tries=0)
                if found is not None:
                    return found
    return None
