"""Large arrays that are put off: elementwise functions of arrays that broadcast together, computed in blocks.

The scores of n queries and n keys have n × n intervals. Yet each is the join of a query's and a key's, emptied where a
mask hides it, and soon a reduction leaves one number for each query. `Deferred` keeps the parts and what is to be done
with them, and computes it block by block when it is reduced. It behaves as the array itself, through NumPy's protocols
for other libraries' arrays (NEP 13, 18): what it has no short cut for, it computes whole.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Array = np.ndarray
Where = tuple[slice, ...]

LARGE = 1 << 19  # elements from which a result is put off
BLOCK = 1 << 17  # elements that are computed at a time: they stay in the processor's cache
MOST_STEPS = 100  # functions in a row that are put off
WORTH_A_TABLE = 8  # functions in a row that take longer than to look their result up
MOST_BYTES = 4  # for each element, that the arrays which they are applied to may take

ABSORBING: dict[Any, bool] = {np.logical_or: True, np.logical_and: False}


def late(function: Callable[..., Any], *operands: Any) -> Array:
    """The elementwise `function` (a ufunc, or `np.where`) of arrays and numbers, put off where the result is large.

    >>> late(np.minimum, np.array([[1], [5]]), np.array([[3, 4]]))
    array([[1, 1],
           [3, 4]])
    """
    operands = tuple(np.asarray(o) if isinstance(o, (list, tuple)) else o for o in operands)
    shape = np.broadcast_shapes(*(o.shape for o in operands if _is_array(o)))
    if math.prod(shape) < LARGE:
        return cast("Array", function(*operands))
    return cast("Array", Deferred(shape, function, operands))


def held(array: Array) -> Array:
    """The array, computed now, in a form whose functions are put off where it is large. Equal ones are kept once."""
    if array.size < LARGE or (isinstance(array, Deferred) and array.function is None):
        return array
    new = Deferred(array.shape, None, (np.asarray(array),))
    for known in list(KEPT.values()):
        if known.shape == new.shape and known.dtype == new.dtype and bool((known == new).all()):
            return cast("Array", known)
    KEPT[id(new)] = new
    return cast("Array", new)


class Deferred(NDArrayOperatorsMixin):
    """`function` of `operands`, of `shape`; without a function, the one operand itself.

    `byte`: the one array of bytes (kinds are bytes) that it is a function of, where there is no other array. Then it is
    a table of 256 results, whatever the function takes.
    """

    __slots__ = ("__weakref__", "_byte", "_table", "answers", "dtype", "function", "name", "operands", "shape", "steps")

    def __init__(self, shape: Sequence[int], function: Callable[..., Any] | None, operands: Sequence[Any]) -> None:
        self.shape, self.function = tuple(shape), function
        self.operands = tuple(_aligned(o, len(shape)) for o in operands)
        samples = (np.empty(0, o.dtype) if _is_array(o) else o for o in self.operands)
        self.dtype: np.dtype[Any] = next(iter(samples)).dtype if function is None else function(*samples).dtype
        self.name: Any = None  # what `sharing` calls it
        self.steps, self._byte, self._table = 0, cast("Deferred | None", None), cast("Array | None", None)
        self.answers: dict[tuple[np.ufunc, bytes], Any] = {}
        if function is not None and self._is_long():
            self.function, self.operands = None, (np.asarray(self),)
        self._byte = None if self.function is None else self._one_byte()

    @property
    def byte(self) -> Deferred | None:
        """See above; an array of bytes itself is its own."""
        if self.function is None:  # not kept: an object that holds itself is given back late
            return self if self.dtype.itemsize == 1 and self.operands[0].shape == self.shape else None
        return self._byte

    def _one_byte(self) -> Deferred | None:
        large = [o for o in self.operands if _is_array(o) and o.size > 1]
        found = {id(b): b for b in (o.byte if isinstance(o, Deferred) else None for o in large)}
        one = next(iter(found.values())) if len(found) == 1 else None
        return one if one is not None and one.shape == self.shape else None

    @property
    def ndim(self) -> int:
        """How many axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements."""
        return math.prod(self.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Those of the array computed whole."""
        return tuple(math.prod(self.shape[a + 1 :]) * self.dtype.itemsize for a in range(self.ndim))

    def _is_long(self) -> bool:
        """Whether it is better computed whole."""
        steps: dict[int, Any] = {}
        waiting: list[Any] = [self]
        while waiting:
            step = waiting.pop()
            if id(step) not in steps:
                steps[id(step)] = step
                waiting += [o for o in step.operands if _is_array(o)] if isinstance(step, Deferred) else []
        kept = sum(s.nbytes for s in steps.values() if isinstance(s, np.ndarray))
        self.steps = len(steps)
        return len(steps) > MOST_STEPS or kept > MOST_BYTES * self.size

    # -- tables -------------------------------------------------------------------------------------------------------

    def table(self) -> Array:
        """Its value for each value of `byte`."""
        if self._table is None:
            if self.function is None:
                self._table = np.arange(256, dtype=np.uint8).astype(self.dtype)
            else:
                self._table = self.function(*map(_entries, self.operands))
        return self._table

    # -- computing ----------------------------------------------------------------------------------------------------

    def part(self, where: Where, done: dict[int, Array] | None = None) -> Array:
        """The elements in one slice for each axis (of size 1, maybe, where nothing varies)."""
        done = {} if done is None else done
        found = done.get(id(self))
        if found is None and self.byte is not None and self.dtype.itemsize == 1 and self.steps > WORTH_A_TABLE:
            found = done[id(self)] = _looked_up(self.table(), self.byte.operands[0][where])
        if found is None:
            parts = [_part(o, where, done) for o in self.operands]
            found = parts[0] if self.function is None else FASTER.get(self.function, self.function)(*parts)
            done[id(self)] = found
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self.function is None:
            whole = np.broadcast_to(self.operands[0], self.shape)
        else:
            whole = np.empty(self.shape, self.dtype)
            for where in blocks(self.shape):
                whole[where] = self.part(where)
        if dtype is not None and whole.dtype != dtype:
            return whole.astype(dtype)
        return whole.copy() if copy and self.function is None else whole

    def _reduced(self, ufunc: np.ufunc, axis: Any = 0, keepdims: bool = False, **options: Any) -> Any:
        if axis is None and self.byte is not None and ufunc in ABSORBING and not keepdims:
            return self.byte.answer(ufunc, self.table(), self)
        return self._reduced_over(ufunc, range(self.ndim) if axis is None else axis, keepdims, **options)

    def answer(self, ufunc: np.ufunc, table: Array, of: Deferred) -> Any:
        """Whether any or all of what follows from these bytes by the table is true; it is asked again and again."""
        question = ufunc, table.tobytes()
        if question not in self.answers:
            self.answers[question] = of._reduced_over(ufunc, range(of.ndim))
        return self.answers[question]

    def _reduced_over(self, ufunc: np.ufunc, axis: Any, keepdims: bool = False, **options: Any) -> Any:
        axes = [axis] if isinstance(axis, int) else axis
        axes = tuple(operator.index(a) % self.ndim for a in axes)
        result: Array | None = None
        for where in blocks(self.shape):
            whole = np.broadcast_to(self.part(where), [_length(s, n) for s, n in zip(where, self.shape, strict=True)])
            first = all(where[a].start == 0 for a in axes)
            new = ufunc.reduce(whole, axis=axes, keepdims=True, **(options if first else {}))
            if result is None:
                result = np.empty([1 if a in axes else n for a, n in enumerate(self.shape)], new.dtype)
            place = tuple(slice(0, 1) if a in axes else s for a, s in enumerate(where))
            result[place] = new if first else ufunc(result[place], new)
            if result.size == 1 and result.flat[0] == ABSORBING.get(ufunc):
                break
        assert result is not None
        return result if keepdims else result.reshape([n for a, n in enumerate(self.shape) if a not in axes])[()]

    def min(self, axis: Any = None, **options: Any) -> Any:
        """As an array's."""
        return self._reduced(np.minimum, axis, **options)

    def max(self, axis: Any = None, **options: Any) -> Any:
        """As an array's."""
        return self._reduced(np.maximum, axis, **options)

    def any(self, axis: Any = None, **options: Any) -> Any:
        """As an array's."""
        return self._reduced(np.logical_or, axis, **options)

    def all(self, axis: Any = None, **options: Any) -> Any:
        """As an array's."""
        return self._reduced(np.logical_and, axis, **options)

    def sum(self, axis: Any = None, **options: Any) -> Any:
        """As an array's."""
        return self._reduced(np.add, axis, **options)

    # -- the same elements in another shape ---------------------------------------------------------------------------

    def _moved(self, axes: Sequence[int | None], done: dict[int, Deferred]) -> Deferred:
        """With axis `axes[a]` as axis a, a new one of size 1 for None; those left out have size 1."""

        def moved(operand: Any) -> Any:
            if isinstance(operand, Deferred):
                return operand._moved(axes, done)
            if not _is_array(operand):
                return operand
            kept = [a for a in axes if a is not None]
            order = [*kept, *(a for a in range(operand.ndim) if a not in kept)]
            return np.transpose(operand, order).reshape([1 if a is None else operand.shape[a] for a in axes])

        if id(self) not in done:
            shape = [1 if a is None else self.shape[a] for a in axes]
            done[id(self)] = Deferred(shape, self.function, [moved(o) for o in self.operands])
        return done[id(self)]

    def reshape(self, *shape: Any) -> Any:
        """As an array's; put off where only axes of size 1 come and go."""
        new = tuple(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        if new == self.shape:
            return self
        old = iter([a for a, n in enumerate(self.shape) if n != 1])
        if [n for n in new if n != 1] == [n for n in self.shape if n != 1]:
            return self._moved([None if n == 1 else next(old) for n in new], {})
        return held(np.asarray(self).reshape(new))

    def swapaxes(self, a: int, b: int) -> Deferred:
        """As an array's."""
        axes: list[int | None] = list(range(self.ndim))
        axes[a], axes[b] = axes[b], axes[a]
        return self._moved(axes, {})

    def take(self, indices: Any, axis: int) -> Array:
        """As an array's; of one place only that is computed."""
        if isinstance(indices, list) and len(indices) == 1:
            place = indices[0] % self.shape[axis]
            where = [slice(0, n) for n in self.shape]
            where[axis] = slice(place, place + 1)
            shape = [1 if a == axis else n for a, n in enumerate(self.shape)]
            return np.broadcast_to(self.part(tuple(where)), shape)
        return cast("Array", np.asarray(self).take(indices, axis))

    def astype(self, dtype: Any) -> Array:
        """As an array's."""
        if self.dtype == bool:
            return late(np.where, self, np.dtype(dtype).type(1), np.dtype(dtype).type(0))
        return held(np.asarray(self).astype(dtype))

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    # -- NumPy's protocols --------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and not options and ufunc.nout == 1:
            return late(ufunc, *inputs)
        if method == "reduce" and options.keys() <= {"axis", "keepdims", "initial"}:
            return self._reduced(ufunc, **options)
        return getattr(ufunc, method)(*_computed(inputs), **options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.where and len(args) == 3:
            return late(np.where, *args)
        if function is np.swapaxes:
            return self.swapaxes(*args[1:], **kwargs)
        if function is np.broadcast_to and not kwargs:
            return self._broadcast(tuple(args[1]))
        return function(*_computed(args), **{k: _computed(v) for k, v in kwargs.items()})

    def _broadcast(self, shape: tuple[int, ...]) -> Deferred:
        return self if shape == self.shape else Deferred(shape, self.function, self.operands)


KEPT: WeakValueDictionary[int, Deferred] = WeakValueDictionary()  # what was computed whole, and is in use


def blocks(shape: Sequence[int]) -> Iterator[Where]:
    """Slices that cut an array of this shape into blocks of `BLOCK` elements at most, in row-major order."""
    axis, rest = len(shape) - 1, 1
    while axis > 0 and rest * shape[axis] <= BLOCK:
        rest, axis = rest * shape[axis], axis - 1
    step = max(1, BLOCK // rest)
    whole = tuple(slice(0, n) for n in shape[axis + 1 :])
    for lead in np.ndindex(*shape[:axis]):
        before = tuple(slice(i, i + 1) for i in lead)
        for start in range(0, shape[axis], step):
            yield (*before, slice(start, min(start + step, shape[axis])), *whole)


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, Deferred)) and value.ndim > 0


def _aligned(operand: Any, axes: int) -> Any:
    if not _is_array(operand) or operand.ndim == axes:
        return operand
    return operand.reshape((1,) * (axes - operand.ndim) + operand.shape)


def _part(operand: Any, where: Where, done: dict[int, Array]) -> Any:
    if not _is_array(operand):
        return operand
    own = tuple(slice(0, 1) if n == 1 else s for s, n in zip(where, operand.shape, strict=True))
    return operand.part(own, done) if isinstance(operand, Deferred) else operand[own]


def _entries(operand: Any) -> Any:
    if isinstance(operand, Deferred):
        return operand.table()
    return operand.reshape(-1)[0] if _is_array(operand) else operand


def _looked_up(table: Array, kinds: Array) -> Array:
    found = kinds.tobytes().translate(table.tobytes())  # much faster than NumPy's own look-up
    return np.frombuffer(found, table.dtype).reshape(kinds.shape)


def _where(condition: Array, a: Any, b: Any) -> Array:
    """`np.where`, in a third of the time."""
    result = np.empty(np.broadcast_shapes(np.shape(condition), np.shape(a), np.shape(b)), np.result_type(a, b))
    result[...] = b
    np.copyto(result, a, where=condition)
    return result


def _extreme(ufunc: np.ufunc) -> Callable[[Any, Any], Array]:
    """The larger or smaller of two; where a column meets a row, NumPy takes ten times as long as to fill one in."""

    def of(a: Any, b: Any) -> Array:
        column, other = (b, a) if np.shape(a)[-1:] != (1,) else (a, b)
        if np.shape(column)[-1:] != (1,):
            return cast("Array", ufunc(a, b))
        result = np.empty(np.broadcast_shapes(np.shape(column), np.shape(other)), np.result_type(a, b))
        result[...] = column
        return cast("Array", ufunc(result, other, out=result))

    return of


FASTER: dict[Callable[..., Any], Callable[..., Any]] = {
    np.where: _where,
    np.minimum: _extreme(np.minimum),
    np.maximum: _extreme(np.maximum),
}


def _length(where: slice, size: int) -> int:
    return len(range(*where.indices(size)))


def _computed(value: Any) -> Any:
    if isinstance(value, Deferred):
        return np.asarray(value)
    return type(value)(map(_computed, value)) if type(value) in (list, tuple) else value
