"""What an operation of ATen does, said in operations that have rules: `Call` is what a lowering sees of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import torch
from torch.utils import _pytree as pytree

from .. import equation, integers
from ..equation import Equation, Unfollowed
from ..formats import is_signed
from ..integers import solver
from ..registering import into
from ..shadow import LengthShadow, constant, is_size, moved, total

if TYPE_CHECKING:
    from ..shadow import Size
    from .sizes import AtenSizes

Lowering = Callable[["Call"], Any]  # gives an array for each result (a single one as it is)
LOWERINGS: dict[str, Lowering] = {}
BEHIND = 2**62  # what PyTorch writes for a slice that goes on to the end is more
aten = into(LOWERINGS)  # by the names of operations, as "add.Tensor"


@dataclass(frozen=True)
class Tensor:
    """An array of the graph."""

    shadow: LengthShadow
    dtype: torch.dtype

    @property
    def shape(self) -> tuple[Size, ...]:
        """Its shape."""
        return self.shadow.shape


class Run(equation.Run, Protocol):
    """The run that an operation is part of (see `walk.AtenRun`)."""

    @property
    def dims(self) -> AtenSizes:
        """The sizes that are symbols."""
        ...

    def follow(self, e: Equation) -> list[LengthShadow]:
        """The results of an operation that has a rule."""
        ...

    def drawn(self) -> None:
        """Random numbers were drawn."""
        ...


class Call:
    """One operation with its arguments by the names of the schema: arrays, sizes as numbers or terms, and numbers."""

    def __init__(self, run: Run, name: str, arguments: dict[str, Any], results: Sequence[Any]) -> None:
        self.run, self.name, self._arguments = run, name, arguments
        self._results = list(results)  # as PyTorch's shape functions give them

    def __getitem__(self, name: str) -> Any:
        return self._arguments[name]

    def get(self, name: str, default: Any = None) -> Any:
        """An argument, or what stands for it where it was not given."""
        found = self._arguments.get(name)
        return default if found is None else found

    @cached_property
    def shapes(self) -> list[tuple[Size, ...]]:
        """The shapes of the results."""
        return [self.run.dims.shape(v.shape) for v in self._results]

    @property
    def shape(self) -> tuple[Size, ...]:
        """That of the (first) result."""
        return self.shapes[0]

    @property
    def dtype(self) -> torch.dtype:
        """The number format of the (first) result."""
        found: torch.dtype = self._results[0].dtype
        return found

    @property
    def dtypes(self) -> list[torch.dtype]:
        """The number formats of the results."""
        return [v.dtype for v in self._results]

    @property
    def x(self) -> Tensor:
        """The first array."""
        return self.tensor(next(iter(self._arguments.values())))

    def axis(self, of: Tensor, name: str = "dim") -> int:
        """An axis of an array, counted from its start."""
        return int(self[name]) % max(1, len(of.shape))

    def axes(self, of: Tensor, name: str = "dim") -> tuple[int, ...]:
        """Axes of an array; all of them where none was named."""
        given = self.get(name)
        if given is None or given == []:
            return tuple(range(len(of.shape)))
        return tuple(int(a) % max(1, len(of.shape)) for a in (given if isinstance(given, (list, tuple)) else [given]))

    # -- making arrays ------------------------------------------------------------------------------------------------

    def several(
        self, name: str, operands: Sequence[Tensor], shapes: Sequence[Sequence[Size]], dtypes: Sequence[torch.dtype],
        **params: Any,
    ) -> list[Tensor]:  # fmt: skip
        """The results of an operation that has a rule."""
        e = Equation(
            self.run, name, params, [x.shadow for x in operands], [tuple(s) for s in shapes], dtypes,
            [x.dtype for x in operands], said=f"aten.{self.name.partition('.')[0]}",
        )  # fmt: skip
        return [Tensor(s, d) for s, d in zip(self.run.follow(e), dtypes, strict=True)]

    def do(
        self, name: str, *operands: Tensor, shape: Sequence[Size] | None = None, dtype: torch.dtype | None = None,
        **params: Any,
    ) -> Tensor:  # fmt: skip
        """The one result of an operation that has a rule: of this one's shape and format, unless said otherwise."""
        wanted = self.shape if shape is None else tuple(shape)
        return self.several(name, operands, [wanted], [dtype or self.dtype], **params)[0]

    def tensor(self, value: Any, dtype: torch.dtype | None = None) -> Tensor:
        """An array as it is; a number or a size as one without axes."""
        if isinstance(value, Tensor):
            return value
        if solver.is_expr(value):
            known = Tensor(constant((), whole=value, zero=solver.simplify(value == 0)), torch.int64)
            return known if dtype is None else self.cast(known, dtype)
        for python, kind in ((bool, torch.bool), (int, torch.int64), (float, torch.float32)):
            if isinstance(value, python):
                return Tensor(self.run.uniform(value, (), dtype or kind), dtype or kind)
        if isinstance(value, complex):
            return Tensor(constant(()), dtype or torch.complex64)
        raise Unfollowed(f"takes {type(value).__name__}, which is not followed")

    def full(self, value: Any, shape: Sequence[Size], dtype: torch.dtype) -> Tensor:
        """One number everywhere."""
        return Tensor(moved(self.tensor(value, dtype).shadow, shape, []), dtype)

    def cast(self, x: Tensor, dtype: torch.dtype) -> Tensor:
        """The same in another number format."""
        return x if x.dtype == dtype else self.do("convert_element_type", x, shape=x.shape, dtype=dtype)

    def stretched(self, x: Tensor, shape: Sequence[Size]) -> Tensor:
        """As PyTorch broadcasts: axes from the right, those of size 1 stretched."""
        if not x.shape or tuple(map(str, x.shape)) == tuple(map(str, shape)):
            return x
        axes = tuple(range(len(shape) - len(x.shape), len(shape)))
        return self.do("broadcast_in_dim", x, shape=shape, dtype=x.dtype, broadcast_dimensions=axes)

    def reshaped(self, x: Tensor, shape: Sequence[Size]) -> Tensor:
        """The elements in row-major order in another shape."""
        return self.do("reshape", x, shape=shape, dtype=x.dtype)

    def kept(self, x: Tensor, axes: Sequence[int], of: Sequence[Size]) -> Tensor:
        """What a reduction of an array of shape `of` left, with axes of size 1 where it removed some."""
        left = tuple(a for a in range(len(of)) if a not in axes)
        shape = tuple(1 if a in axes else d for a, d in enumerate(of))
        return self.do("broadcast_in_dim", x, shape=shape, dtype=x.dtype, broadcast_dimensions=left)

    def full_of(self, x: Tensor) -> LengthShadow:
        """A single number, in every place of the result."""
        return moved(x.shadow, self.shape, [])

    def noise(self, k: int) -> Tensor:
        """The k-th result as numbers that depend on no position, whatever they are."""
        return Tensor(LengthShadow(self.shapes[k]), self._results[k].dtype)

    def unknown(self, why: str) -> NoReturn:
        """What may depend on all that some operand depends on; the operation is named with the reason."""
        raise Unfollowed(why)

    def everything(self) -> list[Tensor]:
        """The same without naming it."""
        shadows = [v.shadow for v in pytree.tree_leaves(list(self._arguments.values())) if isinstance(v, Tensor)]
        every = [total(shape, shadows, self.run.last) for shape in self.shapes]
        return [Tensor(s, dtype) for s, dtype in zip(every, self.dtypes, strict=True)]

    def alike(self, values: Sequence[Any], dtype: torch.dtype | None = None) -> list[Tensor]:
        """Operands of an elementwise operation, in one format and in the shape of the result (or single numbers)."""
        kind = dtype or self.dtype
        given = [self.cast(v, kind) if isinstance(v, Tensor) else self._number(v, kind) for v in values]
        if all(not x.shape for x in given):
            given = [Tensor(moved(x.shadow, self.shape, []), kind) for x in given]
        return [self.stretched(x, self.shape) for x in given]

    def _number(self, value: Any, dtype: torch.dtype) -> Tensor:
        if isinstance(value, float) and value.is_integer() and is_signed(dtype):
            value = int(value)
        return self.tensor(value, dtype)


def common(a: Any, b: Any) -> torch.dtype:
    """The format in which PyTorch computes with two arrays, or an array and a number."""

    def kind(value: Any) -> Any:
        if isinstance(value, Tensor):
            return torch.empty((1,) * len(value.shape), dtype=value.dtype, device="meta")
        return 0 if solver.is_expr(value) else value

    return torch.result_type(kind(a), kind(b))


def size_one(size: Size) -> bool:
    """Whether it is 1 at every length."""
    return is_size(size, 1)


def place(op: Call, value: Any, size: Size) -> Any:
    """A place of an axis that may be counted from its end, moved inside (as slices do)."""
    if isinstance(value, int) and value >= 0 and isinstance(size, int):
        return min(value, size)
    if isinstance(value, int) and value >= BEHIND:
        return size
    start, end = integers.whole(value), integers.whole(size)
    counted = solver.If(start < 0, start + end, start)
    return op.run.dims.linear(solver.If(counted < 0, 0, solver.If(counted > end, end, counted)))
