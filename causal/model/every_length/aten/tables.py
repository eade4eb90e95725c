"""Tables that a model keeps, read exactly: a causal mask, counted places, or one number everywhere.

A form is read off from a few elements, and taken only where every element of the table is what it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .. import integers
from ..elementwise import BIG
from ..formats import REAL, is_signed, is_truth, sort_of
from ..integers import TRUE, index, solver
from ..run import FULL_MOST
from ..shadow import LengthShadow, constant, picked

if TYPE_CHECKING:
    from ..integers import Truth
    from ..run import LengthRun
    from ..shadow import Size


def read(run: LengthRun, value: Any, shape: tuple[Size, ...]) -> LengthShadow:
    """What is known of a table of these numbers."""
    if value.device.type == "meta" or not value.numel() or value.dtype.is_complex or value.is_sparse:
        return LengthShadow(shape)
    numbers = value.detach().cpu()
    numbers = numbers.float().numpy() if numbers.dtype in (torch.bfloat16, torch.float16) else numbers.numpy()
    first = numbers.reshape(-1)[0]
    if (numbers == first).all():
        return run.uniform(first.item(), shape, value.dtype)
    pattern = two_valued(numbers)
    if pattern is not None:
        truth, a, b = pattern
        return picked(truth, run.uniform(a, shape, value.dtype), run.uniform(b, shape, value.dtype), shape)
    whole = is_truth(value.dtype) or is_signed(value.dtype)
    counted = progression(numbers) if is_signed(value.dtype) else None
    if counted is not None:
        return constant(shape, whole=counted, zero=solver.simplify(counted == 0))
    if whole and numbers.size <= FULL_MOST:
        return run.listed(numbers, shape)
    if sort_of(value.dtype) == REAL and not (np.isfinite(numbers).all() and float(numbers.min()) > -BIG):
        return LengthShadow(shape, unseen=TRUE)  # some of them may be lowered scores
    return constant(shape)


def two_valued(numbers: np.ndarray) -> tuple[Truth, Any, Any] | None:
    """A table of two numbers, and where the first of them stands: at j − i ≤ c, or at i ≤ c; None if it is no such."""
    a, b = numbers.reshape(-1)[0], numbers.reshape(-1)[-1]
    other = numbers[numbers != a]
    b = other.reshape(-1)[0] if other.size else b
    if not ((numbers == a) | (numbers == b)).all():
        return None
    axes = [k for k, size in enumerate(numbers.shape) if size > 1 and _varies(numbers == a, k)]
    places: Any = np.indices(numbers.shape, sparse=True)
    if len(axes) == 1:
        terms = [(places[axes[0]], index(axes[0]))]
    elif len(axes) == 2:
        p, q = axes
        terms = [(places[q] - places[p], index(q) - index(p)), (places[p] - places[q], index(p) - index(q))]
    else:
        return None
    for shown, term in terms:
        at = np.broadcast_to(shown, numbers.shape)[numbers == a]
        for low, high in ((None, int(at.max())), (int(at.min()), int(at.max()))):
            inside = (shown <= high) & (True if low is None else shown >= low)
            if (np.broadcast_to(inside, numbers.shape) == (numbers == a)).all():
                truth = integers.every(term <= high, TRUE if low is None else term >= low)
                return truth, a.item(), b.item()
    return None


def progression(numbers: np.ndarray) -> Any:
    """start + step · place along one axis; None if it is no such."""
    axes = [k for k, size in enumerate(numbers.shape) if size > 1 and _varies(numbers, k)]
    if len(axes) != 1:
        return None
    k = axes[0]
    row = np.moveaxis(numbers, k, 0).reshape(numbers.shape[k], -1)[:, 0]
    start, step = int(row[0]), int(row[1]) - int(row[0])
    places: Any = np.indices(numbers.shape, sparse=True)[k]
    if not (np.broadcast_to(start + step * places, numbers.shape) == numbers).all():
        return None
    return solver.simplify(index(k) * step + start)


def _varies(numbers: np.ndarray, axis: int) -> bool:
    return bool((numbers != numbers.take([0], axis)).any())
