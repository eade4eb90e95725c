"""Scans: output i of a running sum, product, maximum or log-sum-exp joins the inputs 0…i along the axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..domain import FIXED, POSITIVE, ZERO, Array, Shadow, kinds_from
from .elementwise import above_zero, assemble

if TYPE_CHECKING:
    from .context import Context, Operand


def prefix(s: Shadow, axis: int) -> Shadow:
    """The join of each element with all before it along `axis`."""
    if not s.shape:
        return Shadow(s.shape, s.lo, s.hi, kinds_from(s.kind >= FIXED))
    lo: Array = np.minimum.accumulate(s.lo, axis)
    hi: Array = np.maximum.accumulate(s.hi, axis)
    fixed: Array = np.logical_and.accumulate(s.kind >= FIXED, axis)
    return assemble(s.shape, lo, hi, kinds_from(fixed))


def running_sum(x: Shadow, axis: int) -> Shadow:
    """A prefix join; a running sum of numbers above 0 stays above 0."""
    result = prefix(x, axis)
    return above_zero(result) if x.shape and (x.kind == POSITIVE).all() else result


def running_product(run: Context, operand: Operand, axis: int) -> Shadow:
    """A prefix join; a running product stays 0 after an exact 0."""
    result = prefix(operand.shadow, axis)
    if not operand.shape:
        return result
    zero = np.logical_or.accumulate(operand.known().kind == ZERO, axis)
    if not zero.any():
        return result
    run.zeros_used(operand)
    return assemble(result.shape, result.lo, result.hi, np.where(zero, np.uint8(ZERO), result.kind))
