"""Numbers of any kind as the exact rationals that they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from ..symbolic.ratio import ratio
from .arrays import host_values

if TYPE_CHECKING:
    from ..aliases import ArrayLike

# -- exact entries ----------------------------------------------------------------------------------------------------


def rational(value: Any, name: str = "value") -> fmpq:
    """The exact rational that a number is: int, float, Fraction, NumPy scalar, FLINT or SymPy rational.

    Raises ValueError for NaN and infinities, TypeError for anything that is not a rational number.

    >>> from fractions import Fraction
    >>> rational(0.5), rational(Fraction(1, 3)), rational(0.1) == fmpq(1, 10)
    (1/2, 1/3, False)
    """
    if type(value) is int or isinstance(value, (fmpq, fmpz)):
        return fmpq(value)
    try:
        found = ratio(value)
    except (OverflowError, ValueError):
        raise ValueError(f"{name} = {value} is not finite; ball arithmetic needs finite numbers") from None
    if found is not None:
        return fmpq(*found)
    raise TypeError(f"{name} = {value!r} is no exact number; pass ints, floats, Fractions or rational SymPy numbers")


def exact_rows(M: ArrayLike, name: str = "M") -> list[list[fmpq]]:
    """The entries of a matrix as exact rationals, row by row.

    `M` is a 2-D array of any library on the CPU, a nested list of numbers, a SymPy matrix with rational entries, or a
    FLINT matrix. A lazy array is computed, once. Raises ValueError for another number of axes, ragged rows or
    an entry that is not finite, TypeError for entries that are no rational numbers.

    >>> exact_rows([[1, 0.5]])
    [[1, 1/2]]
    """
    if isinstance(M, (fmpq_mat, fmpz_mat)):
        return [[fmpq(x) for x in row] for row in M.tolist()]
    if hasattr(M, "tolist") and hasattr(M, "shape") and not hasattr(M, "dtype"):  # SymPy
        rows = M.tolist()
    elif isinstance(M, Sequence) and not isinstance(M, str):
        rows = [list(row) if isinstance(row, Iterable) and not isinstance(row, str) else row for row in M]
        if not all(isinstance(row, list) for row in rows):
            raise ValueError(f"{name} has one axis; pass a matrix, a list of rows")
        if len({len(row) for row in rows}) > 1:
            raise ValueError(f"{name} has rows of lengths {sorted({len(row) for row in rows})}; make them equal")
    else:
        (values,) = host_values((name, M))
        if values.ndim != 2:
            raise ValueError(f"{name} has shape {values.shape}; pass a matrix, two axes")
        rows = values.tolist() if values.dtype.kind in "fiub" and values.dtype.itemsize <= 8 else list(values)
    return [[rational(x, f"{name}[{i}, {j}]") for j, x in enumerate(row)] for i, row in enumerate(rows)]


def exact_matrix(M: ArrayLike, name: str = "M") -> fmpq_mat:
    """The same as a FLINT matrix over ℚ.

    >>> exact_matrix([[1, 2], [3, 4]]).det()
    -2
    """
    if isinstance(M, fmpq_mat):
        return M
    if isinstance(M, fmpz_mat):
        return fmpq_mat(M)
    rows = exact_rows(M, name)
    width = len(rows[0]) if rows else tuple(getattr(M, "shape", (0, 0)))[1]
    return fmpq_mat(len(rows), width, [x for row in rows for x in row])
