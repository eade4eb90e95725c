"""The library, device and shapes of the inputs, and one clear sentence when they do not fit.

Every function of this floor takes its namespace from its inputs, imports no library that the caller did not, leaves
data on its device, and never writes to an input. What `read` refuses is the same on every backend; where values are
not there yet it waits for them: on Dask the check of finite entries is part of the one compute, and under `jax.jit` it
is off, because a traced value cannot raise.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import array_api_compat as compat
import numpy as np

if TYPE_CHECKING:
    from ..aliases import ArrayLike

HALF = ("float16", "bfloat16", "half")
CHUNK_BYTES = 1 << 24  # of one temporary block: large enough for matrix products, small beside an input
LEAST_ROWS = 64  # of a block of weights, however wide: thinner matrix products are slow
DEVICE_FACTOR = 32  # an accelerator, or a loop that jit unrolls, wants fewer and larger blocks


def read(shapes: Mapping[str, str], *, open_below: Sequence[str] = (), **arrays: ArrayLike) -> tuple[Any, Any]:
    """The namespace of the arrays and the arrays themselves, checked, in one floating-point dtype.

    `shapes` gives the last axes by name, `{"B": "m r", "F": "r n"}`; equal names are equal sizes, `r` is at most `n`,
    and leading axes (batch, heads) broadcast. None stays None. Half precision is widened (exactly) to float32, whole
    numbers to the library's widest float, mixed precisions to the widest. Names in `open_below` may hold −∞ (additive
    masks).

    Raises TypeError for something that is no array, for mixed libraries, and for a dtype that is not real floating
    point; ValueError for mixed devices, wrong shapes, empty axes, r > n, entries that are not finite and whole numbers
    that no float holds exactly. Each names the argument and both shapes.

    >>> import numpy as np
    >>> xp, (B, F) = read({"B": "m r", "F": "r n"}, B=np.ones((4, 2)), F=np.ones((2, 4)))
    >>> xp.__name__
    'array_api_compat.numpy'
    >>> read({"B": "m r", "F": "r n"}, B=np.ones((4, 2)), F=np.ones((3, 4)))
    Traceback (most recent call last):
    ...
    ValueError: F has shape (3, 4), read as (r, n): r = 3, but B has shape (4, 2) with r = 2; make them agree
    """
    given = {name: x for name, x in arrays.items() if x is not None}
    xp = _one_library(given)
    _one_device(given)
    _fit(given, shapes)
    given = {name: _floating(xp, name, x) for name, x in given.items()}
    dtype = xp.result_type(*given.values())
    for name, x in given.items():
        x = x if x.dtype == dtype else xp.astype(x, dtype)
        given[name] = _finite(xp, name, x, name in open_below)
    return xp, tuple(given.get(name) for name in arrays)


def is_traced(x: ArrayLike) -> bool:
    """Whether the array is a tracer of `jax.jit` (or grad, vmap): it has a shape but no values.

    >>> import numpy as np
    >>> is_traced(np.ones(3))
    False
    """
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(x, jax.core.Tracer)


def has_values(x: ArrayLike) -> bool:
    """Whether the values can be looked at now: neither lazy nor traced nor on a device without memory."""
    if compat.is_torch_array(x):
        return x.device.type != "meta"
    return not compat.is_dask_array(x) and not is_traced(x)


def like(xp: Any, values: ArrayLike, x: ArrayLike) -> ArrayLike:
    """NumPy values as an array of x's library, dtype and device.

    >>> import numpy as np
    >>> like(compat.array_namespace(np.ones(1)), [1, 2], np.ones(1, np.float32)).dtype
    dtype('float32')
    """
    device = None if is_traced(x) or compat.is_dask_array(x) else compat.device(x)
    return xp.asarray(values, dtype=x.dtype, device=device)


def rows_per_block(x: ArrayLike, width: int) -> int:
    """How many rows of `width` entries, over all leading axes of `x`, make one block of CHUNK_BYTES bytes.

    The block is DEVICE_FACTOR times as large off the CPU and under jit.
    """
    batch = int(np.prod(x.shape[:-2], dtype=np.int64)) if x.ndim > 2 else 1
    room = CHUNK_BYTES * (1 if is_on_cpu(x) else DEVICE_FACTOR)
    return max(1, room // max(1, batch * width * itemsize(x)))


def is_on_cpu(x: ArrayLike) -> bool:
    """Whether the array lies in the memory of the CPU (a traced one counts as elsewhere).

    >>> import numpy as np
    >>> is_on_cpu(np.ones(1))
    True
    """
    if is_traced(x):
        return False
    device = compat.device(x)
    kind = getattr(device, "type", None) or getattr(device, "platform", None) or str(device)
    return "cpu" in str(kind).lower()


def itemsize(x: ArrayLike) -> int:
    """Bytes of one entry.

    >>> import numpy as np
    >>> itemsize(np.ones(1, np.float32))
    4
    """
    return int(compat.array_namespace(x).finfo(x.dtype).bits) // 8


def blocks(length: int, step: int) -> list[slice]:
    """Consecutive slices of at most `step` that cover `range(length)`.

    >>> blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(a, b) for a, b in pairwise([*range(0, length, step), length])]


def host_values(*named: tuple[str, Any]) -> tuple[np.ndarray, ...]:
    """Arrays as NumPy arrays, for exact and ball arithmetic on the CPU. Lazy ones are computed together, once.

    Raises TypeError for what is no array or is traced, ValueError for data on another device: nothing is moved
    silently.

    >>> host_values(("x", np.ones(2)))[0].tolist()
    [1.0, 1.0]
    """
    found = [x for _, x in named]
    if any(compat.is_dask_array(x) for x in found):
        from dask.base import compute

        found = list(compute(*found))
    return tuple(_host(name, x) for (name, _), x in zip(named, found, strict=True))


def has_leading(axes: int, *arrays: ArrayLike) -> bool:
    """Whether some array has more than `axes` axes; nested lists never have."""
    return any(getattr(x, "ndim", axes) > axes for x in arrays)


def over_leading(function: Callable[..., Any], axes: int, **arrays: ArrayLike) -> np.ndarray:
    """An object array of `function(*slices)` over the leading axes, which broadcast; the last `axes` axes go to it.

    For exact and ball arithmetic: the arrays are brought together as NumPy's, lazy ones in one compute; None stays
    None. Raises ValueError, naming all shapes, when leading axes do not broadcast.

    >>> over_leading(lambda M: int(M.sum()), 2, M=np.ones((3, 2, 2))).tolist()
    [4, 4, 4]
    """
    named = [(name, x if hasattr(x, "dtype") else np.asarray(x)) for name, x in arrays.items() if x is not None]
    values = host_values(*named)
    try:
        lead = np.broadcast_shapes(*(x.shape[: x.ndim - axes] for x in values))
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for (name, _), x in zip(named, values, strict=True))
        raise ValueError(f"the leading axes of {shapes} do not broadcast; make them equal or 1") from None
    spread = {n: np.broadcast_to(x, lead + x.shape[x.ndim - axes :]) for (n, _), x in zip(named, values, strict=True)}
    found = np.empty(lead, object)
    for index in np.ndindex(*lead):
        found[index] = function(*(spread[name][index] if name in spread else None for name in arrays))
    return found


def _host(name: str, x: ArrayLike) -> np.ndarray:
    if isinstance(x, np.ndarray):
        return x
    if not compat.is_array_api_obj(x):
        raise TypeError(f"{name} is a {type(x).__name__}; pass an array or a nested list of numbers")
    if is_traced(x):
        raise TypeError(f"{name} is traced by jax.jit and has no values; call this function outside jit")
    if compat.is_torch_array(x):
        if x.device.type != "cpu":
            raise ValueError(f"{name} lies on {x.device}, exact arithmetic runs on the CPU; pass {name}.cpu()")
        x = x.detach()
        x = x.float() if str(x.dtype).endswith(("bfloat16", "float16")) else x
        return np.asarray(x.resolve_conj().numpy())
    if compat.is_cupy_array(x):
        raise ValueError(f"{name} lies on a CUDA device, exact arithmetic runs on the CPU; pass cupy.asnumpy({name})")
    if compat.is_jax_array(x) and any(d.platform != "cpu" for d in x.devices()):
        raise ValueError(
            f"{name} lies on {compat.device(x)}, exact arithmetic runs on the CPU; pass jax.device_get({name})"
        )
    return np.asarray(x)


# -- the checks, in the order in which they are made ------------------------------------------------------------------


def _one_library(given: Mapping[str, Any]) -> Any:
    for name, x in given.items():
        if not compat.is_array_api_obj(x) or isinstance(x, np.generic):
            raise TypeError(
                f"{name} is a {type(x).__name__}, not an array; pass an array of NumPy, PyTorch, JAX, CuPy or Dask, "
                f"for instance numpy.asarray({name}, dtype=float)"
            )
    spaces = {name: compat.array_namespace(x) for name, x in given.items()}
    (first, xp), *others = spaces.items()
    for name, other in others:
        if other is not xp:
            raise TypeError(
                f"{first} of shape {_shape(given[first])} is an array of {_library(xp)}, "
                f"{name} of shape {_shape(given[name])} one of {_library(other)}; convert one of them"
            )
    return xp


def _one_device(given: Mapping[str, Any]) -> None:
    devices = {name: compat.device(x) for name, x in given.items() if not is_traced(x)}
    for (first, here), (name, there) in pairwise(devices.items()):
        if here != there:
            raise ValueError(
                f"{first} of shape {_shape(given[first])} lies on {here}, "
                f"{name} of shape {_shape(given[name])} on {there}; move one of them"
            )


def _fit(given: Mapping[str, Any], shapes: Mapping[str, str]) -> None:
    sizes: dict[str, tuple[int, str]] = {}
    for name, x in given.items():
        axes, shape = shapes[name].split(), _shape(x)
        form = f"({', '.join(axes)}{',' if len(axes) == 1 else ''})"
        if len(shape) < len(axes):
            raise ValueError(f"{name} has shape {shape}; pass {form}, after any leading axes such as batch and heads")
        if any(size != size for size in shape):
            raise ValueError(f"{name} has shape {shape} with unknown sizes; call compute_chunk_sizes() on it first")
        if 0 in shape:
            raise ValueError(f"{name} has shape {shape}, an axis of length 0; pass at least one entry along every axis")
        for axis, size in zip(axes, shape[len(shape) - len(axes) :], strict=True):
            before, whose = sizes.setdefault(axis, (size, name))
            if before != size:
                raise ValueError(
                    f"{name} has shape {shape}, read as {form}: {axis} = {size}, but {whose} has shape "
                    f"{_shape(given[whose])} with {axis} = {before}; make them agree"
                )
    if "r" in sizes and "n" in sizes and sizes["r"][0] > sizes["n"][0]:
        (r, slots), (n, positions) = sizes["r"], sizes["n"]
        both = f"{slots} has shape {_shape(given[slots])}"
        both += "" if slots == positions else f" and {positions} has shape {_shape(given[positions])}"
        raise ValueError(f"{both}: r = {r} slots exceed n = {n} positions; pass slots first, (r, n) with r ≤ n")
    leads = {name: _shape(x)[: len(_shape(x)) - len(shapes[name].split())] for name, x in given.items()}
    first, *others = leads
    for name in others:
        if any(a != b and 1 not in (a, b) for a, b in zip(leads[first][::-1], leads[name][::-1], strict=False)):
            raise ValueError(
                f"{first} has shape {_shape(given[first])} and {name} has shape {_shape(given[name])}: leading axes "
                f"{leads[first]} and {leads[name]} do not broadcast; make them equal or 1"
            )


def _floating(xp: Any, name: str, x: ArrayLike) -> ArrayLike:
    kind = getattr(x.dtype, "name", None) or str(x.dtype).rsplit(".", 1)[-1]
    if kind in HALF:
        return x.float() if compat.is_torch_array(x) else xp.astype(x, xp.float32)
    if kind.startswith(("int", "uint")):
        return _whole(xp, name, x)
    if kind not in ("float32", "float64"):
        raise TypeError(
            f"{name} of shape {_shape(x)} has dtype {kind} where real floating point is needed; pass float32 or float64"
        )
    return x


def _whole(xp: Any, name: str, x: ArrayLike) -> ArrayLike:
    """Integers as the widest floats that the library has, each exactly; on Dask checked in its tasks."""
    if compat.is_dask_array(x):
        lazy: Any = x
        return lazy.map_blocks(partial(_whole, np, name), dtype=np.float64, meta=np.empty((0,) * x.ndim))
    wide = xp.float64
    if compat.is_jax_array(x):
        wide = sys.modules["jax"].dtypes.canonicalize_dtype(wide)  # float32 unless 64 bits are enabled
    floats = xp.astype(x, wide)
    most = round(2 / float(xp.finfo(floats.dtype).eps))
    if has_values(x) and math.prod(x.shape) and float(xp.max(xp.abs(floats))) >= most:
        problem = f"has integers of {most} or more, which {str(floats.dtype).rsplit('.', 1)[-1]} rounds"
        raise ValueError(f"{name} of shape {_shape(x)} {problem}; pass fewer bits")
    return floats


def _finite(xp: Any, name: str, x: ArrayLike, open_below: bool) -> ArrayLike:
    """x itself, once its entries are finite; on Dask, x with the check built in."""
    if compat.is_dask_array(x):
        lazy: Any = x
        return lazy.map_blocks(partial(_finite_block, name, x.shape, open_below), dtype=x.dtype, meta=lazy._meta)
    if has_values(x):
        _refuse(xp, name, x, open_below, _shape(x), (0,) * x.ndim)
    return x


def _finite_block(
    name: str, shape: tuple[int, ...], open_below: bool, block: ArrayLike, block_info: Any = None
) -> ArrayLike:
    if not block.size or block_info is None or 0 not in block_info:
        return block
    corner = tuple(a for a, _ in block_info[0]["array-location"])
    _refuse(compat.array_namespace(block), name, block, open_below, shape, corner)
    return block


def _refuse(
    xp: Any, name: str, x: ArrayLike, open_below: bool, shape: tuple[int, ...], corner: tuple[int, ...]
) -> None:
    """ValueError naming the first entry that is not finite; a finite sum shows in one pass that there is none."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not open_below and bool(xp.isfinite(xp.sum(x))):
            return
    bad = ~(xp.isfinite(x) | (x == -xp.inf)) if open_below else ~xp.isfinite(x)
    if not bool(xp.any(bad)):
        return
    flat = int(xp.argmax(xp.reshape(xp.astype(bad, xp.int8), (-1,))))
    index = tuple(int(i) for i in np.unravel_index(flat, _shape(x)))
    where = ", ".join(str(a + b) for a, b in zip(index, corner, strict=True))
    wanted = "is neither finite nor −inf" if open_below else "is not finite"
    raise ValueError(f"{name}[{where}] = {float(x[index])} in {name} of shape {shape} {wanted}; clean the data first")


def _shape(x: ArrayLike) -> tuple[int, ...]:
    return tuple(x.shape)


def _library(xp: Any) -> str:
    name: str = xp.__name__
    return name.replace("array_api_compat.", "").replace("jax.numpy", "jax").replace("dask.array", "dask")
