"""Number formats, as JAX or as PyTorch names them."""

from __future__ import annotations

from typing import Any

import numpy as np

REAL, WHOLE, COMPLEX = "real", "whole", "complex"
PLACE_BYTES = 4  # of whole numbers that may stand for places


def is_torch(dtype: Any) -> bool:
    """Whether it is PyTorch's."""
    return hasattr(dtype, "is_floating_point")


def sort_of(dtype: Any) -> str:
    """What a number format holds: "real", "complex", or "whole" numbers (truth values and random keys among them)."""
    if is_torch(dtype):
        return COMPLEX if dtype.is_complex else REAL if dtype.is_floating_point else WHOLE
    from jax import numpy as jnp

    if jnp.issubdtype(dtype, np.complexfloating):
        return COMPLEX
    return REAL if jnp.issubdtype(dtype, np.floating) else WHOLE


def name_of(dtype: Any) -> str:
    """Its name, as "float32"."""
    return str(dtype).removeprefix("torch.")


def is_truth(dtype: Any) -> bool:
    """Whether it holds truth values."""
    return name_of(dtype) == "bool"


def is_signed(dtype: Any) -> bool:
    """Whether it is a whole number that may be below 0 and as large as a place: others wrap around."""
    if is_torch(dtype):
        return sort_of(dtype) == WHOLE and dtype.is_signed and not is_truth(dtype) and dtype.itemsize >= PLACE_BYTES
    from jax import numpy as jnp

    return bool(jnp.issubdtype(dtype, np.signedinteger)) and dtype.itemsize >= PLACE_BYTES


def exact(dtype: Any) -> int:
    """The whole numbers up to here are floating numbers of this format without rounding."""
    if is_torch(dtype):
        import torch

        return int(2 / torch.finfo(dtype).eps)
    from jax import numpy as jnp

    return int(2 ** (jnp.finfo(dtype).nmant + 1))  # type: ignore[no-untyped-call]
