"""Reading a projection exactly, whatever array library it lives in, and saying which axis holds the slots.

A float is the dyadic rational that it is, an integer or a `Fraction` is itself; nothing is rounded. Arrays on a GPU or
in a Dask graph stay where they are: only the few rows and columns that the exact criterion asks for come to the host.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError, ArgumentTypeError
from ...symbolic.ratio import ratio
from .sparse import Sparse, take_sparse

if TYPE_CHECKING:
    from ...aliases import ArrayLike

LAYOUTS = ("slots-first", "positions-first")
NATIVE = ("float16", "float32", "float64")
TORCH_ONLY = ("torch.bfloat16", "torch.float8_e4m3fn", "torch.float8_e5m2")
MOST_DIGITS = 4000  # of a decimal: what Python writes out without being asked to
BITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}


@dataclass(frozen=True)
class Labelled:
    """Floats in a NumPy type that contains theirs, with the name of their own: how bfloat16 comes from a file."""

    data: np.ndarray
    dtype: str


@dataclass(frozen=True)
class Entries:
    """A projection, slots first, entry by entry exact.

    Attributes: `name` ("F" or "E", for messages); `data`, shape (r, n): a NumPy array of floats, an object array of
    `Fraction`s, a `Sparse`, or an array of another library (see `where`); `dtype`, the arithmetic that a head would
    use: "float16", "bfloat16", "float32" or "float64", or "exact" for integers and fractions; `where`: "host",
    "device", "dask" or "sparse"; `layout` as it was given or read; `guessed` whether the shape alone decided it.
    """

    name: str
    data: Any
    dtype: str
    where: str
    layout: str
    guessed: bool

    @property
    def shape(self) -> tuple[int, int]:
        """(slots, positions)."""
        return int(self.data.shape[0]), int(self.data.shape[1])

    @property
    def is_exact(self) -> bool:
        """Whether the entries are held as `Fraction`s rather than floats."""
        return self.where == "host" and self.data.dtype == object

    def block(self, slots: Any = slice(None), positions: Any = slice(None)) -> np.ndarray:
        """Rows and columns on the host: floats in an own dtype that holds them exactly, or Fractions.

        `slots` and `positions` are slices or ascending integer arrays.
        """
        if self.where == "sparse":
            return self._dense(slots, positions)
        data = _taken(_taken(self.data, 0, slots, self.where), 1, positions, self.where)
        return _native(to_host(data))

    def _dense(self, slots: Any, positions: Any) -> np.ndarray:
        try:
            return _native(self.data.dense(slots, positions))
        except MemoryError as error:
            problem = f"is sparse, fails T10, and T11 would hold {error} at once"
            raise ArgumentError(self.name, problem, f"pass {self.name}.toarray() where that fits") from None

    def fractions(self, slots: Any, positions: Any) -> list[list[Fraction]]:
        """The same rows and columns as `Fraction`s."""
        none = Fraction(0)  # most entries are
        return [[Fraction(x) if x else none for x in row] for row in self.block(slots, positions).tolist()]

    def place(self, slot: int, position: int) -> str:
        """How the user wrote this entry: F[s, j] in their own layout."""
        first, second = (slot, position) if self.layout == "slots-first" else (position, slot)
        return f"{self.name}[{first}, {second}]"


def read(array: ArrayLike, name: str = "F", layout: str | None = None) -> Entries:
    """A projection of any array library, nested lists, Fractions or a SymPy matrix as `Entries`.

    Raises TypeError for complex, boolean or non-numeric entries and ValueError for another number of axes, an unknown
    layout, or a square or tall array whose layout is not named.

    >>> read([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]).shape
    (2, 3)
    """
    if isinstance(array, Entries):
        return array
    data, dtype, where = _take(array, name)
    if len(data.shape) != 2:
        raise ValueError(f"{name} has shape {tuple(data.shape)}; pass a 2-D array, (slots, positions) or its transpose")
    if any(isinstance(side, float) and math.isnan(side) for side in data.shape):
        raise ValueError(
            f"{name} has the unknown shape {data.shape}; call compute_chunk_sizes() on the Dask array first"
        )
    rows, columns = (int(side) for side in data.shape)
    if layout is not None and layout not in LAYOUTS:
        raise ArgumentError("layout", "is unknown", f"pass {' or '.join(map(repr, LAYOUTS))}", layout)
    if layout is None and rows >= columns:
        shape = "square" if rows == columns else "taller than wide"
        raise ArgumentError(
            "layout",
            f"cannot be read off {name} of shape ({rows}, {columns}), which is {shape}",
            f"pass layout='slots-first' (r = {rows}, n = {columns}) or 'positions-first' (r = {columns}, n = {rows})",
            None,
        )
    if layout == "positions-first":
        data = data.T
    return Entries(name, data, dtype, where, layout or "slots-first", layout is None)


def to_host(data: Any) -> np.ndarray:
    """A (small) array of any library as NumPy, dtype unchanged, but for torch's bfloat16, which becomes float32."""
    if isinstance(data, np.ndarray):
        return data
    if hasattr(data, "compute"):
        return to_host(data.compute())
    if hasattr(data, "detach"):
        data = data.detach().cpu()
        return np.asarray(data.float().numpy() if str(data.dtype) in TORCH_ONLY else data.numpy())
    if type(data).__module__.startswith("cupy"):
        return np.asarray(data.get())
    try:
        return np.asarray(data)
    except (TypeError, ValueError, RuntimeError):
        return np.from_dlpack(data)


def _native(array: np.ndarray) -> np.ndarray:
    """Floats in a type of NumPy's own that holds them exactly; objects as they are."""
    if array.dtype == object or array.dtype.name in NATIVE:
        return array
    if array.dtype.name == "bfloat16" or array.dtype.name.startswith("float8"):
        return array.astype(np.float32)
    raise TypeError(f"entries of dtype {array.dtype} cannot be taken exactly; pass float16, float32 or float64")


def exact(x: Any, place: str) -> Fraction:
    """One number as a Fraction; TypeError or ValueError that names its place.

    >>> exact(0.1, "F[0, 0]") == Fraction(0.1)
    True
    """
    if isinstance(x, Decimal) and x.is_finite() and abs(x.adjusted()) > MOST_DIGITS:
        raise ValueError(f"{place} = {x} has over {MOST_DIGITS} digits as a fraction; scale the projection down")
    if isinstance(x, (bool, np.bool_)):
        raise TypeError(f"{place} = {x} is a boolean; pass numbers here, masks go to visible")
    try:
        found = ratio(x)
    except (OverflowError, ValueError):
        raise ValueError(f"{place} = {x} is not finite; a projection holds finite numbers, replace it") from None
    if found is not None:
        return Fraction(*found)
    if isinstance(x, numbers.Complex) and not isinstance(x, numbers.Real):
        raise TypeError(f"{place} = {x} is complex; projections are real, pass the real part if that is what you mean")
    if _is_sympy(x):
        raise TypeError(f"{place} = {x} is not a rational number; pass a Rational, or float(...) to round it yourself")
    raise TypeError(f"{place} = {x!r} is of type {type(x).__name__}, not a real number; pass floats, ints or Fractions")


# -- from each library ----------------------------------------------------------------------------------------------


def _take(array: ArrayLike, name: str) -> tuple[Any, str, str]:
    """(data, dtype, where) of anything that a user passes."""
    import array_api_compat as compat

    if isinstance(array, Labelled):
        return array.data, array.dtype, "host"
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, and a masked entry has no value; pass {name}.filled(0) or the like")
    refuse_abstract(array, name)
    if (sparse := take_sparse(array, name)) is not None:
        return _take_sparse(*sparse, name)
    if _is_flint(array):
        return _take_nested([list(row) for row in array.tolist()], name)
    if compat.is_torch_array(array):
        return _take_torch(array, name)
    if compat.is_dask_array(array) or compat.is_cupy_array(array):
        data, label = _stays(array, name)
        return data, label, "dask" if compat.is_dask_array(array) else "device"
    if compat.is_jax_array(array):
        on_host = all(device.platform == "cpu" for device in array.devices())
        if not on_host:
            return (*_stays(array, name), "device")
        return _take_numpy(np.asarray(array), name)
    if isinstance(array, np.ndarray):
        return _take_numpy(array.view(np.ndarray), name)  # a np.matrix would index otherwise
    if compat.is_array_api_obj(array):  # another library of the standard
        return (*_stays(array, name), "device")
    if _is_sympy(array) and hasattr(array, "tolist") and hasattr(array, "shape"):
        return _objects(array.tolist(), name, tuple(array.shape)), "exact", "host"
    if isinstance(array, (list, tuple)):
        return _take_nested(array, name)
    converted = None if isinstance(array, (str, bytes)) else np.asarray(array)
    if converted is None or (converted.dtype == object and converted.ndim == 0):
        hint = f", for instance {name}.toarray()" if hasattr(array, "toarray") else " or nested lists of numbers"
        raise TypeError(f"{name} is of type {type(array).__name__}; pass a 2-D array{hint}")
    return _take_numpy(converted, name)


def refuse_abstract(array: Any, name: str) -> None:
    """TypeError for what stands for numbers that are not there, and for what is no one array."""
    kind, module = type(array), type(array).__module__
    if module.startswith("jax.") and hasattr(array, "todense"):  # a sparse array, whose numbers may be traced
        array = array.data
        module = type(array).__module__
    if module.partition(".")[0] == "jax" and isinstance(array, _jax_tracer()):
        raise ArgumentTypeError(name, "is traced by JAX and has no values", "check it outside jit, grad and vmap")
    if not module.startswith("torch") or not hasattr(array, "layout"):
        return
    import torch

    if getattr(array, "is_nested", False):
        problem, remedy = "is a nested tensor, rows of several lengths", "pass a 2-D tensor, zeros where a row ends"
        raise ArgumentTypeError(name, problem, remedy)
    if array.is_quantized:
        raise ArgumentTypeError(name, f"is quantized ({array.dtype})", f"pass {name}.dequantize()")
    if torch._C._functorch.is_functorch_wrapped_tensor(array) or "FakeTensor" in kind.__name__:
        problem = f"is a {kind.__name__} inside a transformation or a trace, which holds no numbers of its own"
        raise ArgumentTypeError(name, problem, "check it outside vmap, grad, compile and fake modes")


def _jax_tracer() -> Any:
    import jax

    return jax.core.Tracer


def _take_numpy(array: np.ndarray, name: str) -> tuple[Any, str, str]:
    kind, label = array.dtype.kind, array.dtype.name
    if kind == "O":
        if array.ndim != 2:
            shape = array.shape
            raise ValueError(f"{name} is an object array of shape {shape}; pass a 2-D array of numbers")
        return _objects(array.tolist(), name, array.shape), "exact", "host"
    _refuse(name, label)
    if kind in "iu":
        if array.size == 0 or max(abs(int(array.min())), abs(int(array.max()))) <= 2**53:
            return array.astype(np.float64), "exact", "host"
        return _objects(array.tolist(), name, array.shape), "exact", "host"
    if label in NATIVE:
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")), label, "host"
    if kind == "f":  # extended precision: exact as fractions
        return _objects([list(row) for row in np.atleast_2d(array)], name, array.shape), "exact", "host"
    if label == "bfloat16" or label.startswith("float8"):  # ml_dtypes
        return array.astype(np.float32), _label(label), "host"
    raise TypeError(f"{name} has dtype {array.dtype}, which is no real number; pass floats, ints or Fractions")


def _take_sparse(found: Sparse, label: str, name: str) -> tuple[Any, str, str]:
    _refuse(name, label)
    if label.startswith(("int", "uint")):
        return replace(found, values=found.values.astype(np.float64)), "exact", "sparse"
    if label not in BITS and not label.startswith("float8"):
        raise TypeError(f"{name} has dtype {label}, whose sparse entries are not taken; pass {name}.toarray()")
    return found, _label(label), "sparse"


def _take_torch(array: ArrayLike, name: str) -> tuple[Any, str, str]:
    if array.device.type == "meta":
        raise TypeError(f"{name} is on the meta device and holds no numbers; pass a tensor with data")
    label = str(array.dtype).removeprefix("torch.")
    array = array.detach().resolve_conj().resolve_neg()
    _refuse(name, label)
    if label.startswith(("int", "uint")):
        return _take_numpy(array.cpu().numpy(), name)
    if array.device.type != "cpu":
        return (*_stays(array, name), "device")
    if label in NATIVE:
        return array.numpy(), label, "host"
    return array.float().numpy(), _label(label), "host"


def _stays(array: ArrayLike, name: str) -> tuple[Any, str]:
    """An array that stays where it is, and its arithmetic; integers become float64, which the scan checks to fit."""
    import array_api_compat as compat

    label = str(array.dtype).rsplit(".", 1)[-1]
    _refuse(name, label)
    if label in BITS or label.startswith("float8"):
        return array, _label(label)
    if label.startswith(("int", "uint")):
        xp = compat.array_namespace(array)
        return xp.astype(array, xp.float64), "exact"
    raise TypeError(
        f"{name} has dtype {array.dtype} and is not held by NumPy; pass floats of at most 64 bits, or NumPy"
    )


def _take_nested(rows: Any, name: str) -> tuple[Any, str, str]:
    table = [list(row) if isinstance(row, (list, tuple, np.ndarray)) else row for row in rows]
    if not all(isinstance(row, list) for row in table):
        shape = np.shape(np.array(rows, dtype=object))
        raise ValueError(f"{name} has shape {shape}; pass a 2-D array, (slots, positions) or its transpose")
    widths = sorted({len(row) for row in table})
    if len(widths) > 1:
        raise ValueError(f"{name} has rows of lengths {widths[0]} and {widths[-1]}; make all rows equally long")
    shape = (len(table), widths[0] if widths else 0)
    if all(type(x) is float or type(x) is np.float64 for row in table for x in row):
        return np.array(table, np.float64).reshape(shape), "float64", "host"
    if any(isinstance(x, (list, tuple, np.ndarray)) and np.ndim(x) for row in table for x in row):
        raise ValueError(f"{name} has more than two axes; pass a 2-D array, (slots, positions) or its transpose")
    return _objects(table, name, shape), "exact", "host"


def _objects(rows: list[list[Any]], name: str, shape: tuple[int, ...]) -> np.ndarray:
    data = np.empty(shape, object)
    for s, row in enumerate(rows):
        for j, x in enumerate(row):
            data[s, j] = exact(x, f"{name}[{s}, {j}]")
    return data


def _refuse(name: str, dtype: str) -> None:
    if dtype == "bool":
        raise TypeError(f"{name} has dtype bool; pass numbers, for instance {name}.astype(float): masks go to visible")
    if dtype.startswith("complex"):
        raise TypeError(f"{name} has dtype {dtype}; projections are real, pass {name}.real if that is what you mean")


def _label(dtype: str) -> str:
    """The arithmetic of a dtype: integers count as exact, 8-bit floats are stored so but computed in bfloat16."""
    if dtype in BITS:
        return dtype
    return "bfloat16" if dtype.startswith("float8") else "exact"


def _is_sympy(x: Any) -> bool:
    return type(x).__module__.split(".")[0] == "sympy"


def _is_flint(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "flint" and hasattr(x, "nrows")


def _taken(data: Any, axis: int, index: Any, where: str) -> Any:
    """Rows (axis 0) or columns (axis 1) in the array's own library; a contiguous run is a slice and copies nothing."""
    if isinstance(index, slice):
        index = slice(*index.indices(int(data.shape[axis])))  # the standard lets no slice reach past the end
    else:
        index = np.asarray(index, np.int64)
        if index.size and np.array_equal(index, np.arange(index[0], index[0] + index.size)):
            index = slice(int(index[0]), int(index[0]) + index.size)
        elif where == "device":
            import array_api_compat as compat

            xp = compat.array_namespace(data)
            return xp.take(data, xp.asarray(index, device=compat.device(data)), axis=axis)
    return data[index, :] if axis == 0 else data[:, index]


def like(result: np.ndarray, original: Any) -> Any:
    """`result` as the kind of thing that `original` is: a nested list, a matrix of SymPy or FLINT; else unchanged."""
    if isinstance(original, (list, tuple)):
        return result.tolist()
    if _is_sympy(original):
        import sympy

        build: Callable[..., Any] = type(original)
        return build(*result.shape, [sympy.Rational(x.numerator, x.denominator) for x in result.ravel()])
    if _is_flint(original):
        return type(original)(*result.shape, list(result.ravel()))
    return result


def read_pair(F: ArrayLike, E: ArrayLike | None, layout: str | None) -> list[Entries]:
    """[F] or [F, E] as Entries of one shape; ValueError when the shapes differ."""
    values = read(F, "F", layout)
    if E is None or E is F:
        return [values]
    keys = read(E, "E", layout if layout is not None or isinstance(E, Entries) else None)
    if keys.shape != values.shape:
        raise ValueError(f"E has shape {keys.shape} and F {values.shape}, slots first; make them agree")
    return [values, keys]
