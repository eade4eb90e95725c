"""A softmax head in a float type, sums from left to right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np


def rounding(dtype: str) -> Callable[[Any], np.ndarray]:
    """Rounding to nearest in a float type; the result is held in a NumPy type that contains it.

    >>> float(rounding("bfloat16")(1.01))
    1.0078125
    """
    if dtype == "bfloat16":
        return _to_bfloat16
    kind = np.dtype(dtype)
    return lambda x: np.asarray(x).astype(kind)


def _to_bfloat16(x: Any) -> np.ndarray:
    """Round to nearest even on the upper 16 bits of float32; double rounding does no harm at these widths."""
    bits = np.asarray(x).astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def head(
    dtype: str,
    E: Mapping[int, Sequence[Fraction]],
    F: Mapping[int, Sequence[Fraction]],
    inputs: Mapping[str, Mapping[int, Fraction]],
    bias: Sequence[Fraction] | None,
    slots: int,
) -> float:
    """Output of one query with q = d = d_v = 1 in `dtype`: scores E κ + bias, softmax less its maximum, values F v.

    Every operation rounds; sums run over ascending positions, then over ascending slots.
    """
    to = rounding(dtype)
    with np.errstate(all="ignore"):
        scores, amounts = to(np.zeros(slots)), to(np.zeros(slots))
        for j, kappa in sorted(inputs["keys"].items()):
            scores = to(scores + to(to(_floats(E[j])) * to(float(kappa))))
        if bias is not None:
            scores = to(scores + to(_floats(bias)))
        for i, value in sorted(inputs["values"].items()):
            amounts = to(amounts + to(to(_floats(F[i])) * to(float(value))))
        weights = to(np.exp(to(scores - scores.max()).astype(np.float64)))
        total = to(0.0)
        for w in weights:
            total = to(total + w)
        output = to(0.0)
        for share, amount in zip(to(weights / total), amounts, strict=True):
            output = to(output + to(share * amount))
    return float(output)


def _floats(column: Sequence[Fraction]) -> np.ndarray:
    return np.array([float(x) for x in column])
