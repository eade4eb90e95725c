"""Arrays near an end of their float type: brought near 1 by powers of two, which rounds nothing, and results refused
that left the type on the way.

Both need values: under `jax.jit` nothing is brought near 1, and a Dask array is measured chunk by chunk in its tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import array_api_compat as compat
import numpy as np

from .arrays import has_values, like

if TYPE_CHECKING:
    from ..aliases import ArrayLike

FAR = 4  # a size whose exponent is within this fraction of the type's range is squared and summed as it is


def near_one(X: ArrayLike) -> tuple[ArrayLike, np.ndarray | None]:
    """X = Y · 2^k for each of its matrices, the largest entry of Y near 1, and k (…); X and None where it is so anyway.

    >>> import numpy as np
    >>> Y, k = near_one(np.array([[3e-310, 0.0]]))
    >>> float(Y[0, 0]) == 3e-310 * 2.0**960, int(k)
    (True, -960)
    """
    if not has_values(X):
        return X, None
    xp = compat.array_namespace(X)
    kind = xp.finfo(X.dtype)
    most = int(np.frexp(float(kind.max))[1])
    size = to_numpy(xp.maximum(xp.max(X, axis=(-2, -1)), -xp.min(X, axis=(-2, -1))))
    power = np.where(size > 0, np.frexp(size.astype(np.float64))[1], 0)
    if np.all(np.abs(power) <= most // FAR):
        return X, None
    edge = most - most // 16
    power = np.clip(power, -edge, edge)  # 2^power and its inverse are numbers that no library takes for 0
    return X * like(xp, np.ldexp(1.0, -power), X)[..., None, None], power


def powers(*found: np.ndarray | None) -> np.ndarray | None:
    """The exponents of a product, from those of its factors."""
    some = [k for k in found if k is not None]
    return sum(some[1:], some[0]) if some else None


def restored(x: ArrayLike, power: np.ndarray | None, axes: int = 0) -> ArrayLike:
    """x · 2^power, `axes` axes of x after those of `power`, in two steps: ±∞ and 0 only where the result is so.

    >>> import numpy as np
    >>> float(restored(np.array(3.0), np.array(-1074)))
    1.5e-323
    """
    if power is None:
        return x
    xp = compat.array_namespace(x)
    half = power // 2
    with np.errstate(over="ignore"):
        for part in (half, power - half):
            x = x * like(xp, np.ldexp(1.0, part), x)[(..., *[None] * axes)]
    return x


def least(x: ArrayLike) -> float:
    """The smallest positive number of x's float type, by which a result near 0 may be off."""
    kind = compat.array_namespace(x).finfo(x.dtype)
    return float(kind.smallest_normal) * float(kind.eps)


def refuse_overflow(results: Sequence[ArrayLike], what: str, remedy: str) -> None:
    """ValueError unless every entry is finite, where values are there: `what` left the range of its float type."""
    for x in results:
        if not has_values(x):
            continue
        xp = compat.array_namespace(x)
        with np.errstate(over="ignore", invalid="ignore"):
            finite = bool(xp.isfinite(xp.sum(x))) or bool(xp.all(xp.isfinite(x)))
        if not finite:
            kind = str(x.dtype).rsplit(".", 1)[-1]
            raise ValueError(f"{what} overflows in {kind}; {remedy}")


def to_numpy(x: ArrayLike) -> np.ndarray:
    """A small array of any library as NumPy's."""
    if compat.is_torch_array(x):
        return np.asarray(x.detach().cpu().numpy())
    if compat.is_cupy_array(x):
        return np.asarray(x.get())
    try:
        return np.asarray(x)
    except RuntimeError:  # on a device from which NumPy does not take arrays whole
        flat = compat.array_namespace(x).reshape(x, (-1,))
        return np.array([float(flat[i]) for i in range(flat.shape[0])]).reshape(tuple(x.shape))
