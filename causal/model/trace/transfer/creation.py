"""Fresh tensors: constants, memory that nobody has written yet, and random draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..domain import FIXED, NONE_HI, NONE_LO, VARIES, ZERO, Shadow, join_all, join_intervals, uniform

if TYPE_CHECKING:
    from .context import Context


def constant(shape: tuple[int, ...], ends: Sequence[Shadow]) -> Shadow:
    """Numbers that depend on no tensor, or on all elements of the tensors that give the ends."""
    fixed = all(s.is_fixed for s in ends)
    return uniform(shape, FIXED if fixed else VARIES, *join_all(ends))


def filled(shape: tuple[int, ...], one: Shadow) -> Shadow:
    """One number throughout: a Python number, or a tensor's only element."""
    return uniform(shape, *(int(a.reshape(-1)[0]) for a in (one.kind, one.lo, one.hi)))


def unwritten(run: Context, shape: tuple[int, ...]) -> Shadow:
    """Memory that nobody has written: a kernel out of our sight may fill it, so it may depend on everything."""
    return uniform(shape, VARIES, 0, run.last) if math.prod(shape) else uniform(shape, FIXED)


def drawn(run: Context, shape: tuple[int, ...], parameters: Sequence[Shadow] = (), steered: bool = False) -> Shadow:
    """Random draws: their value is not known, and they depend on the numbers that their distribution is read from,
    element by element. `steered`: how many random numbers a draw takes depends on those.
    """
    run.noise(steered)
    if not parameters:
        return uniform(shape, VARIES)
    return _varying(shape, *join_intervals(parameters, len(shape)))


def drawn_by_rows(run: Context, shape: tuple[int, ...], parameters: Shadow, steered: bool = False) -> Shadow:
    """Each row of the last axis is drawn as one, or each of its draws reads the whole row."""
    run.noise(steered)
    lo = parameters.lo.min(-1, keepdims=True, initial=NONE_LO)
    return _varying(shape, lo, parameters.hi.max(-1, keepdims=True, initial=NONE_HI))


def dropout(run: Context, x: Shadow) -> tuple[Shadow, Shadow]:
    """The input times a random mask, and the mask: the interval of the input; zeros stay zeros. The mask depends on
    nothing.
    """
    run.noise()
    kind = np.where(x.kind == ZERO, np.uint8(ZERO), np.uint8(VARIES))
    return Shadow(x.shape, x.lo, x.hi, kind), uniform(x.shape, VARIES)


def _varying(shape: tuple[int, ...], lo: np.ndarray, hi: np.ndarray) -> Shadow:
    return Shadow(shape, lo, hi, np.zeros((1,) * len(shape), np.uint8))
