"""What the annotations of this package call an array."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray
"""A NumPy array, of any dtype."""

ArrayLike: TypeAlias = Any
"""An array of any library (NumPy, PyTorch, JAX, CuPy, Dask), or where a function says so a nested list.

No static type holds them all: what they share is the array API standard, and what a function refuses it refuses when it
is called, in a sentence.
"""

MatrixLike: TypeAlias = Any
"""A SymPy matrix, or what `symbolic.rank.as_matrix` makes one of: nested lists or an array of exact entries."""
