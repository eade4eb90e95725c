"""Exact rank, determinant, null space and inverse over ℚ and over function fields, and the argument about minors (T3).

Over ℚ everything is FLINT's, over number fields SymPy's. Entries with symbols or exponentials are put over a common
denominator per row and eliminated without fractions (Bareiss 1968) over FLINT's polynomials, so no zero test is ever a
guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import sympy
from flint import fmpq, fmpq_mat, fmpq_mpoly, fmpz, fmpz_mat
from sympy import Expr, Matrix, Rational

from .exact import exact
from .field import Field, Quotient, remainder
from .number_field import determinant, echelon, over_number_field

if TYPE_CHECKING:
    from ..aliases import MatrixLike


def as_matrix(entries: MatrixLike) -> Matrix:
    """A SymPy matrix with exact entries from nested lists, arrays or matrices; floats as the dyadic rationals they are.

    Raises ValueError unless the entries form a two-dimensional array, TypeError for what is no number.

    >>> as_matrix([[0.5, 1]])
    Matrix([[1/2, 1]])
    """
    if isinstance(entries, sympy.MatrixBase):
        return Matrix(entries.rows, entries.cols, [exact(e) for e in entries.flat()])
    rows = entries.tolist() if hasattr(entries, "tolist") else entries
    table = [list(row) for row in rows] if _is_nested(rows) and all(map(_is_nested, rows)) else None
    if table is None or len({len(row) for row in table}) > 1 or any(_is_nested(e) for row in table for e in row):
        raise ValueError("the entries do not form a matrix; pass rows of equal length")
    return Matrix(len(table), len(table[0]) if table else 0, [exact(e) for row in table for e in row])


def _is_nested(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, Expr))


def _rational(matrix: Matrix) -> fmpq_mat | None:
    """The matrix for FLINT, or None when some entry is not rational."""
    corners = (matrix[0, 0], matrix[-1, -1]) if matrix.rows and matrix.cols else ()
    if not all(isinstance(e, Rational) for e in corners):
        return None  # before SymPy looks for a domain that holds all entries, which takes long for symbols
    held = matrix.to_DM()
    entries, size = held.to_list_flat(), (matrix.rows, matrix.cols)
    if held.domain.is_ZZ:
        return fmpq_mat(fmpz_mat(*size, [int(e) for e in entries]))
    if held.domain.is_QQ:
        return fmpq_mat(*size, [fmpq(int(e.numerator), int(e.denominator)) for e in entries])
    return None


def _numbers(entries: MatrixLike) -> fmpz_mat | fmpq_mat | None:
    """Whole numbers or floats in rows of one length, or a SymPy matrix of rationals, for FLINT; None for all else."""
    if isinstance(entries, sympy.MatrixBase):
        return _rational(entries)
    rows = entries.tolist() if hasattr(entries, "tolist") else entries
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        return None
    kinds = set().union(*(map(type, row) for row in rows))
    if len({len(row) for row in rows}) > 1 or not kinds <= {int, float}:
        return None
    if kinds == {int}:
        return fmpz_mat(rows)
    try:
        pairs = [[x.as_integer_ratio() for x in row] for row in rows]
    except (OverflowError, ValueError):  # infinity and NaN, which `as_matrix` names
        return None
    scale = max(q for row in pairs for _, q in row)  # a power of two, as all denominators are
    return fmpq_mat(fmpz_mat([[p * (scale // q) for p, q in row] for row in pairs])) / fmpz(scale)


def _from_flint(matrix: fmpq_mat) -> Matrix:
    return Matrix(matrix.nrows(), matrix.ncols(), [Rational(int(e.p), int(e.q)) for e in matrix.entries()])


def _cleared(field: Field, matrix: Matrix) -> tuple[list[list[fmpq_mpoly]], fmpq_mpoly]:
    """Rows times their common denominators, and the product of those denominators."""
    rows, scale = [], field.one.num
    for i in range(matrix.rows):
        elements = [field.element(matrix[i, j]) for j in range(matrix.cols)]
        common = field.one.num
        for e in elements:
            common = common * (e.den / common.gcd(e.den))
        rows.append([e.num * (common / e.den) for e in elements])
        scale *= common
    return rows, scale


def _echelon(rows: list[list[fmpq_mpoly]], one: fmpq_mpoly) -> tuple[list[list[fmpq_mpoly]], list[int], int]:
    """Bareiss elimination: the echelon rows, the pivot columns and the sign of the row exchanges."""
    rows = [list(row) for row in rows]
    pivots: list[int] = []
    flips, last, top = 1, one, 0
    for column in range(len(rows[0]) if rows else 0):
        nonzero = [i for i in range(top, len(rows)) if not rows[i][column].is_zero()]
        if not nonzero:
            continue
        best = min(nonzero, key=lambda i: len(rows[i][column].to_dict()))
        if best != top:
            rows[top], rows[best] = rows[best], rows[top]
            flips = -flips
        pivot = rows[top][column]
        for i in range(top + 1, len(rows)):
            head = rows[i][column]
            rows[i] = [(pivot * a - head * b) / last for a, b in zip(rows[i], rows[top], strict=True)]
        last = pivot
        pivots.append(column)
        top += 1
        if top == len(rows):
            break
    return rows, pivots, flips


def rank(matrix: MatrixLike) -> int:
    """The exact rank of a matrix over ℚ, a number field, or the field that its symbols and exponentials generate.

    >>> t = sympy.Symbol("t")
    >>> rank([[1, t], [t, t**2]]), rank([[1, 2], [3, 4]]), rank([[sympy.sqrt(2), 2], [1, sympy.sqrt(2)]])
    (1, 2, 1)
    """
    if (flint := _numbers(matrix)) is not None:
        return int(flint.rank())
    m = as_matrix(matrix)
    if (flint := _rational(m)) is not None:
        return int(flint.rank())
    if (numbers := over_number_field(m)) is not None:
        return int(numbers.rank())
    field = Field(m)
    return len(_echelon(_cleared(field, m)[0], field.one.num)[1])


def det(matrix: MatrixLike) -> Expr:
    """The exact determinant, as a reduced fraction. Raises ValueError for a matrix that is not square.

    >>> x, y = sympy.symbols("x y")
    >>> det([[1, x], [1, y]])
    -x + y
    """
    flint = _numbers(matrix)
    m = as_matrix(matrix) if flint is None else Matrix.zeros(flint.nrows(), flint.ncols())
    if m.rows != m.cols:
        raise ValueError(f"the matrix has shape {m.shape}; only a square one has a determinant")
    flint = _rational(m) if flint is None else flint
    if flint is not None:
        value = fmpq(flint.det())
        return Rational(int(value.p), int(value.q))
    if (numbers := over_number_field(m)) is not None:
        return determinant(numbers)
    field = Field(m)
    rows, scale = _cleared(field, m)
    return field.expression(Quotient.reduced(_expanded(field, rows), scale))


def det_differs(matrix: MatrixLike, value: Any) -> Expr:
    """The determinant less `value`, in normal form: the expression 0 iff they are equal.

    Decided in the field of both, so that a determinant with many terms is never written out.

    >>> x, y = sympy.symbols("x y")
    >>> det_differs([[1, x], [1, y]], y - x), det_differs([[1, x], [1, y]], y)
    (0, -x)
    """
    m = as_matrix(matrix)
    if m.rows != m.cols or _rational(m) is not None or over_number_field(m) is not None:
        return remainder(det(m), value)
    field = Field([*m.flat(), value])
    rows, scale = _cleared(field, m)
    return field.expression(Quotient.reduced(_expanded(field, rows), scale) - field.element(value))


def _expanded(field: Field, rows: list[list[fmpq_mpoly]]) -> fmpq_mpoly:
    """The determinant: by Laplace expansion with shared minors while that is cheap, else by Bareiss."""
    n, one = len(rows), field.one.num
    if n > 6:
        echelon, pivots, flips = _echelon(rows, one)
        return echelon[-1][-1] * flips if len(pivots) == n else one * 0

    @cache
    def below(top: int, columns: tuple[int, ...]) -> fmpq_mpoly:
        if top == n:
            return one
        total = one * 0
        for k, c in enumerate(columns):
            if not rows[top][c].is_zero():
                part = rows[top][c] * below(top + 1, columns[:k] + columns[k + 1 :])
                total = total - part if k % 2 else total + part
        return total

    return below(0, tuple(range(n)))


def null_space(matrix: MatrixLike) -> Matrix:
    """A basis of {v : M v = 0} as the columns of an (n, n − rank) matrix.

    >>> null_space([[sympy.Rational(1, 2), sympy.Rational(1, 2), 0], [0, 0, 1]])
    Matrix([
    [-1],
    [ 1],
    [ 0]])
    """
    m = as_matrix(matrix)
    flint = _rational(m)
    if flint is not None:
        reduced, count = flint.rref()
        table = _from_flint(reduced)
        pivots = [next(j for j in range(m.cols) if table[i, j] != 0) for i in range(count)]

        def looked_up(i: int, j: int) -> Expr:
            return table[i, j]

        entry: Callable[[int, int], Expr] = looked_up
    elif (numbers := over_number_field(m)) is not None:
        solved, pivots = echelon(numbers)
        entry = lambda i, j: solved[i, j]  # noqa: E731
    else:
        field = Field(m)
        rows, pivots, _ = _echelon(_cleared(field, m)[0], field.one.num)
        entry = _solved(field, rows, pivots)
    free = [j for j in range(m.cols) if j not in pivots]
    basis = Matrix.zeros(m.cols, len(free))
    for k, j in enumerate(free):
        basis[j, k] = 1
        for i, p in enumerate(pivots):
            basis[p, k] = -entry(i, j)
    return basis


def _solved(field: Field, rows: list[list[fmpq_mpoly]], pivots: list[int]) -> Callable[[int, int], Expr]:
    """Entries of the reduced echelon form, by back-substitution in the field."""
    quotients = [[Quotient.reduced(e, field.one.num) for e in row] for row in rows[: len(pivots)]]
    for i in reversed(range(len(pivots))):
        head = quotients[i][pivots[i]]
        quotients[i] = [e / head for e in quotients[i]]
        for above in range(i):
            factor = quotients[above][pivots[i]]
            quotients[above] = [a - factor * b for a, b in zip(quotients[above], quotients[i], strict=True)]
    return lambda i, j: field.expression(quotients[i][j])


def inverse(matrix: MatrixLike) -> Matrix:
    """The exact inverse. Raises ZeroDivisionError when the matrix is singular, ValueError when it is not square.

    >>> inverse([[1, 2], [3, 4]])
    Matrix([
    [ -2,    1],
    [3/2, -1/2]])
    """
    m = as_matrix(matrix)
    if m.rows != m.cols:
        raise ValueError(f"the matrix has shape {m.shape}; only a square one has an inverse")
    flint = _rational(m)
    if flint is not None:
        try:
            return _from_flint(flint.inv())
        except ZeroDivisionError:
            raise ZeroDivisionError("the matrix is singular over ℚ") from None
    n = m.rows
    kernel = null_space(m.row_join(-Matrix.eye(n)))  # [M | −I] (X; Y) = 0 says M X = Y
    if kernel.cols != n or kernel[n:, :] != Matrix.eye(n):
        raise ZeroDivisionError("the matrix is singular over its field")
    return kernel[:n, :]


def same_span(left: Matrix, right: Matrix) -> bool:
    """Whether the columns of the two matrices span the same space.

    >>> same_span(Matrix([1, -1]), Matrix([-2, 2]))
    True
    """
    if left.rows != right.rows:
        return False
    together = rank(left.row_join(right)) if left.cols + right.cols else 0
    return together == (rank(left) if left.cols else 0) == (rank(right) if right.cols else 0)


def row_space_projector(projection: MatrixLike) -> Matrix:
    """F⁺F, the orthogonal projector (n, n) onto the row space of F (r, n), over ℚ or a function field.

    From a basis G of the row space it is Gᵀ(GGᵀ)⁻¹G; over a field of functions the entries must be real.

    >>> row_space_projector([[1, 1, 0], [2, 2, 0]])
    Matrix([
    [1/2, 1/2, 0],
    [1/2, 1/2, 0],
    [  0,   0, 0]])
    """
    f = as_matrix(projection)
    basis = f.extract(independent_rows(f), list(range(f.cols)))
    if basis.rows == 0:
        return Matrix.zeros(f.cols, f.cols)
    return basis.T * inverse(basis * basis.T) * basis


def independent_rows(matrix: MatrixLike) -> list[int]:
    """The first rows that form a basis of the row space.

    >>> independent_rows([[0, 0], [1, 1], [2, 2], [0, 1]])
    [1, 3]
    """
    m = as_matrix(matrix).T
    flint = _rational(m)
    if flint is None:
        if m.rows and (numbers := over_number_field(m)) is not None:
            return echelon(numbers)[1]
        field = Field(m)
        return _echelon(_cleared(field, m)[0], field.one.num)[1] if m.rows else []
    reduced, count = flint.rref()
    return [next(j for j in range(m.cols) if reduced[i, j] != 0) for i in range(count)]


def minors(matrix: MatrixLike, order: int) -> Iterator[Expr]:
    """All minors of the given order, row sets outermost.

    >>> list(minors([[1, 2], [2, 4]], 2))
    [0]
    """
    m = as_matrix(matrix)
    for rows in combinations(range(m.rows), order):
        for columns in combinations(range(m.cols), order):
            yield det(m.extract(list(rows), list(columns)))


def symbolic(name: str, rows: int, columns: int, **assumptions: bool) -> Matrix:
    """A matrix of independent symbols name_{ij}.

    >>> symbolic("b", 1, 2)
    Matrix([[b_{00}, b_{01}]])
    """
    return Matrix(rows, columns, lambda i, j: sympy.Symbol(f"{name}_{{{i}{j}}}", **assumptions))


def padded(b: Matrix, f: Matrix) -> tuple[Matrix, Matrix]:
    """B (r+1, r) with a zero column and F (r, r+1) with a zero row: two square matrices with the same product (T3)."""
    return b.row_join(Matrix.zeros(b.rows, 1)), f.col_join(Matrix.zeros(1, f.cols))
