"""The varied input of a JAX program with other numbers in it, as arrays of NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    from ..setting import Setting


def is_array(x: Any) -> bool:
    """Whether it is an array of JAX or NumPy, or the shape of one."""
    return isinstance(x, (jax.Array, np.ndarray, jax.ShapeDtypeStruct))


def is_inexact(x: Any) -> bool:
    """Whether an array holds real or complex numbers."""
    return bool(jnp.issubdtype(x.dtype, jnp.inexact))


@dataclass(frozen=True)
class ArrayVariation:
    """How the varied input is changed; the positions lie along `axis` (see `..variation.Variation`)."""

    axis: int

    def replaced(self, x: Any, positions: np.ndarray, scale: float, seed: int, vocabulary: int | None) -> np.ndarray:
        """The input with the positions replaced: other tokens, or noise of the input's spread times the scale."""
        array: np.ndarray = np.array(x)
        rows = np.moveaxis(array, self.axis, 0)
        old = rows[positions]
        rng = np.random.default_rng([seed, int(positions[0]), len(positions)])
        if is_inexact(array):
            new = _spread(array) * scale * rng.standard_normal(old.shape)
            if jnp.issubdtype(array.dtype, jnp.complexfloating):
                new = new + 1j * _spread(array) * scale * rng.standard_normal(old.shape)
        else:
            bound = 2 if array.dtype == bool else int(vocabulary or 2)
            new = (old.astype(np.int64) + rng.integers(1, max(bound, 2), old.shape)) % bound
        rows[positions] = new.astype(array.dtype)
        return array

    def mixed(self, x: Any, changed: Any, positions: np.ndarray) -> np.ndarray:
        """The input with the positions of another one."""
        mixed = np.array(x)
        np.moveaxis(mixed, self.axis, 0)[positions] = np.moveaxis(np.asarray(changed), self.axis, 0)[positions]
        return mixed

    def shaken(self, x: Any, epsilon: float, seed: int, wide: bool) -> np.ndarray:
        """The input moved by a few last places, where it holds real numbers; in double precision where `wide`."""
        array: np.ndarray = np.asarray(x)
        if not jnp.issubdtype(array.dtype, jnp.floating):
            return array
        noise = np.random.default_rng(seed).standard_normal(array.shape)
        return (array.astype(np.float64) * (1 + epsilon * noise)).astype(np.float64 if wide else array.dtype)

    def host(self, x: Any, wide: bool = False) -> np.ndarray:
        """The numbers as an array of NumPy, in double precision where it is asked for or NumPy has no such type."""
        x = np.asarray(x)
        real = jnp.issubdtype(x.dtype, jnp.floating)
        return np.array(x.astype(np.float64) if real and (wide or x.dtype.kind == "V") else x)

    def back(self, x: np.ndarray, like: Any, dtype: str, setting: Setting) -> np.ndarray:
        """The numbers of a varied input as one, of its own type in a native run."""
        return np.array(x).astype(jnp.dtype(dtype)) if setting.precision == "native" else np.array(x)

    def type_of(self, x: Any) -> str:
        """The name of the number format."""
        return str(x.dtype)


def _spread(x: np.ndarray) -> float:
    """The root of the mean square of the numbers that are finite, 1 where all are 0."""
    size = np.abs(x).astype(np.float64)
    size = size[np.isfinite(size)]
    rms = float(np.sqrt(np.square(size).mean())) if size.size else 0.0
    return rms if rms > 0 else 1.0
