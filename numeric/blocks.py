"""One computation over blocks of positions, at once on an array in memory and as tasks on a Dask array.

A function of this floor is written in terms of `parts` (one value per block of positions), `merge` (a tree over them)
and `call`. On arrays in memory these run at once; where an input is a Dask array they build tasks, and the caller's
one `compute` runs them on whatever scheduler it has. A task sees blocks as plain arrays of the library inside the
Dask array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import array_api_compat as compat
import numpy as np

from ..libraries import library

if TYPE_CHECKING:
    from ..aliases import ArrayLike

FAN_IN = 8


def is_lazy(x: Any) -> bool:
    """Whether x is a Dask array (its tasks are built here) or a task built here.

    >>> import numpy as np
    >>> is_lazy(np.ones(2))
    False
    """
    return compat.is_dask_array(x) or _is_task(x)


def _is_task(x: Any) -> bool:
    return type(x).__module__ == "dask.delayed"


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """`function(*arguments)`, or the task of it when an argument is lazy; a Dask array among them arrives whole.

    >>> call(lambda a, b: a + b, 1, 2)
    3
    """
    if not any(is_lazy(x) or (isinstance(x, (list, tuple)) and any(map(is_lazy, x))) for x in arguments):
        return function(*arguments)
    from dask.delayed import delayed

    return delayed(function, traverse=False)(*(_task(x) for x in arguments))


def whole(x: ArrayLike) -> ArrayLike:
    """x in one piece: itself in memory, else the task that gathers its blocks."""
    return _task(x)


def split(x: ArrayLike, axis: int, step: int | None = None) -> list[Any]:
    """Blocks of x along one axis: the chunks of a Dask array, as tasks; else slices of `step` (None: x itself).

    >>> import numpy as np
    >>> [b.shape for b in split(np.ones((5, 2)), 0, 2)]
    [(2, 2), (2, 2), (1, 2)]
    """
    if not compat.is_dask_array(x):
        length = x.shape[axis]
        starts = range(0, length, step) if step else [0]
        index: list[Any] = [slice(None)] * x.ndim
        found = []
        for a in starts:
            index[axis] = slice(a, min(length, a + step) if step else length)
            found.append(x[tuple(index)])
        return found
    axis %= x.ndim
    x = x.rechunk({a: -1 for a in range(x.ndim) if a != axis})
    return list(x.to_delayed().ravel())


def merge(combine: Callable[[Sequence[Any]], Any], parts: list[Any]) -> Any:
    """`combine` over the parts, as a tree of at most FAN_IN at a time where they are tasks.

    >>> merge(sum, [1, 2, 3])
    6
    """
    while len(parts) > FAN_IN and any(map(is_lazy, parts)):
        parts = [call(combine, parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return call(combine, parts)


def array(task: Any, shape: tuple[int, ...], dtype: Any, like: ArrayLike) -> ArrayLike:
    """The result as an array: itself when computed, else a Dask array of this shape and dtype over the task."""
    if not is_lazy(task):
        return task
    import dask.array as da

    return da.from_delayed(task, shape, dtype=dtype, meta=like._meta)


def join(parts: list[Any], axis: int, shapes: list[tuple[int, ...]], dtype: Any, like: ArrayLike) -> ArrayLike:
    """Blocks side by side along `axis`, in one array of the library of `like`."""
    if not any(map(is_lazy, parts)):
        return parts[0] if len(parts) == 1 else compat.array_namespace(like).concat(parts, axis=axis)
    import dask.array as da

    return da.concatenate([array(p, s, dtype, like) for p, s in zip(parts, shapes, strict=True)], axis=axis)


def lengths(x: ArrayLike, axis: int) -> list[int]:
    """The sizes of the chunks of a Dask array along one axis; the one length of an array in memory."""
    return list(x.chunks[axis]) if compat.is_dask_array(x) else [x.shape[axis]]


def _task(x: Any) -> Any:
    """What a task may take as an argument: a Dask array becomes one task that gathers it."""
    if compat.is_dask_array(x):
        return x.rechunk(-1).to_delayed().ravel()[0]
    if isinstance(x, (list, tuple)):
        return [_task(y) for y in x]
    return x


def from_npy(path: str, chunk: int, axis: int = -1) -> ArrayLike:
    """A `.npy` file as a Dask array in chunks of `chunk` along `axis`, each read where and when a task needs it.

    Only the path travels: a memory map inside a Dask graph would be pickled whole. Every worker must see the path.
    Raises ImportError without Dask, OSError for a missing file, ValueError for one that holds objects or is no
    `.npy`, for a chunk that is no positive number, and for an axis that the array has not.

    >>> import numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/f.npy", np.ones((2, 10)))
    ...     from_npy(f"{folder}/f.npy", 4).chunks
    ((2,), (4, 4, 2))
    """
    da = library("dask.array", "from_npy")
    if isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1:
        raise ValueError(f"chunk = {chunk!r} is no length; pass a whole number of at least 1")
    header = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(header, np.ndarray):
        raise ValueError(f"path = {path!r} holds several arrays; save one of them as .npy")
    if not -header.ndim <= axis < header.ndim:
        raise ValueError(f"axis = {axis} is not one of the {header.ndim} axes of {path!r}, of shape {header.shape}")
    axis %= header.ndim
    chunks = tuple(
        (chunk,) * (s // chunk) + ((s % chunk,) if s % chunk or not s else ()) if a == axis else (s,)
        for a, s in enumerate(header.shape)
    )
    return da.map_blocks(
        _read, path, chunks=chunks, dtype=header.dtype, meta=np.empty((0,) * header.ndim, header.dtype)
    )


def _read(path: str, block_info: Any = None) -> ArrayLike:
    place = block_info[None]["array-location"]
    return np.array(np.load(path, mmap_mode="r", allow_pickle=False)[tuple(slice(a, b) for a, b in place)])
