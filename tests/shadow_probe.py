"""Transfer functions against brute force on small arrays, in NumPy alone: a tensor that remembers which of its elements
vary, a run that notes what it is told, and a check that changes the elements one by one.
"""

from __future__ import annotations

import numpy as np
from attnproof.causal.model.trace.domain import (
    BIG,
    BIG_MASK,
    FIXED,
    MASKED,
    NEGINF,
    NONE_HI,
    NONE_LO,
    PLAIN,
    POSITIVE,
    VARIES,
    ZERO,
    Shadow,
    full,
)


class Tensor:
    """An `Operand`: element number i (row-major) depends on rank `first + i` where it varies, else it is a constant.

    `above`: the elements that vary are above 0 (kind POSITIVE); `lowered`: they are scores lowered by a large constant.
    """

    def __init__(self, numbers, varies, first=0, above=False, lowered=False):
        self.numbers = np.asarray(numbers, float)
        self.varies = np.broadcast_to(np.asarray(varies, bool), self.numbers.shape)
        self.first, self.above, self.lowered = first, above, lowered

    @property
    def shape(self):
        return self.numbers.shape

    @property
    def ranks(self):
        return np.arange(self.numbers.size, dtype=np.int32).reshape(self.shape) + np.int32(self.first)

    def _shadow(self, constants):
        loose = POSITIVE if self.above else MASKED if self.lowered else VARIES
        lo, hi = np.where(self.varies, self.ranks, NONE_LO), np.where(self.varies, self.ranks, NONE_HI)
        kind = np.where(self.varies, loose, constants).astype(np.uint8)
        return Shadow(self.shape, lo.astype(np.int32), hi.astype(np.int32), kind)

    @property
    def shadow(self):
        return self._shadow(FIXED)

    def known(self):
        x = self.numbers
        kinds = np.where(x == 0, ZERO, np.where(x == -np.inf, NEGINF, np.where(x <= BIG_MASK, BIG, PLAIN)))
        return self._shadow(kinds)

    def array(self):
        return self.numbers


class Run:
    """A `Context` that notes what it is told; `value` is the concrete output, for what is masked."""

    finite_masks, last = True, 99

    def __init__(self, value=None, below=True):
        self.value, self.below = value, below
        self.told = []

    def zeros_used(self, *operands):
        self.told.append("zeros")

    def values_used(self, *operands):
        self.told.append("values")

    def masked_zero(self, where, *, constant=None, alone=False):
        self.told.append("masked")
        return where & (self.value == 0)

    def masked_below(self, scores, masked, axes):
        self.told.append("below")
        return self.below

    def must_be_finite(self, operand):
        self.told.append("finite")

    def nonzero_denominator(self):
        self.told.append("denominator")

    def starved(self, rows):
        self.told.append("starved")

    def noise(self, steered=False):
        self.told.append("noise")


def check(function, shadow, *tensors, values=(-3.0, -1.0, 0.5, 2.0, 7.0)):
    """Whether `shadow` is sound for `function` (arrays to an array): no output outside an element's interval moves with
    the element, and every kind holds whatever the elements are.
    """
    lo, hi, kind = full(shadow)
    base = np.asarray(function(*(t.numbers for t in tensors)))
    assert base.shape == shadow.shape
    _kinds_hold(kind, base)
    for place, tensor in enumerate(tensors):
        for index in np.argwhere(tensor.varies):
            rank = tensor.ranks[tuple(index)]
            for value in values:
                numbers = [t.numbers.copy() for t in tensors]
                numbers[place][tuple(index)] = abs(value) if tensor.above else value
                got = np.asarray(function(*numbers))
                moved = ~((got == base) | (np.isnan(got) & np.isnan(base)))
                assert not (moved & ~((lo <= rank) & (rank <= hi))).any(), (place, index, value)
                assert not (moved & (kind >= FIXED)).any(), (place, index, value)
                _kinds_hold(kind, got)
    return shadow


def _kinds_hold(kind, numbers):
    assert (numbers[kind == ZERO] == 0).all()
    assert (numbers[kind == POSITIVE] > 0).all()
    assert (numbers[kind == NEGINF] == -np.inf).all()


def intervals(shadow):
    """[lo, hi] of every element, None where it depends on nothing."""
    lo, hi, _ = full(shadow)
    return [None if a > b else [int(a), int(b)] for a, b in zip(lo.reshape(-1), hi.reshape(-1), strict=True)]
