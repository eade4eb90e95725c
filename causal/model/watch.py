"""What one native run shows beside its output: the coarsest float, random draws, the table that takes the tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from . import draws
from .trace.mode import Mode
from .trace.pytree import leaves
from .trace.schema import DECLARE

EMBEDDINGS = {
    torch.ops.aten.embedding.default,
    torch.ops.aten._embedding_bag.default,
    torch.ops.aten._embedding_bag_forward_only.default,
}


@dataclass(frozen=True)
class Table:
    """A table that whole numbers made of the tokens index: its `rows`, and how far the largest index is above the
    largest token (`offset`); `plain` where they are the tokens themselves.
    """

    rows: int
    offset: int
    plain: bool


class Beyond(Exception):
    """A table was asked for a row that it does not have."""


class Watcher(Mode):
    """The dispatch mode that looks on while a model runs on `x`.

    `epsilon` is the spacing of the coarsest float in use, `random` whether anything was drawn, `steered` whether a draw
    took as many random numbers as its values asked for, `tables` are those that take `x`, or whole numbers made of it,
    `unbounded` names the first thing that held +∞, NaN, or −∞ where no mask puts it.
    Where it is `strict`, a row that a table lacks raises Beyond before it is looked up, which may end all use of a GPU.
    `before_write` is told of every tensor that an operation may write.
    """

    def __init__(
        self, x: torch.Tensor, strict: bool = False, before_write: Callable[[torch.Tensor], None] | None = None
    ) -> None:
        super().__init__()
        self.x, self.strict, self.before_write = x, strict, before_write
        self.epsilon = torch.finfo(x.dtype).eps if x.is_floating_point() else 0.0
        self.random = self.steered = False
        self.unbounded = "a number that is not finite, in the input" if _is_unbounded(x) else ""
        self.tables: set[Table] = set()
        self.made: dict[int, torch.Tensor] = {}  # whole numbers made of x, by their storage, which they keep alive
        self.fresh: set[int] = set()  # storages of numbers that the run computed
        self.follow(x)

    def follow(self, t: torch.Tensor) -> None:
        """Count a tensor of whole numbers as made of `x`."""
        if _is_whole(t):
            self.made[t.untyped_storage()._cdata] = t

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        keywords = kwargs or {}
        if self.made:
            self._look(func, args, keywords)
        if self.before_write is not None:
            for t in may_write(func, args, keywords):
                self.before_write(t)
        result = func(*args, **keywords)
        self.steered |= draws.is_steered(func)
        self.random |= torch.Tag.nondeterministic_seeded in getattr(func, "tags", ())
        made = bool(self.made) and any(self._is_made(t) for _, t in leaves((list(args), keywords)))
        for _, t in leaves(result):
            if not isinstance(t, torch.Tensor):
                continue
            if t.is_floating_point() or t.is_complex():
                self.epsilon = max(self.epsilon, torch.finfo(t.dtype).eps)
                computed = not (self.unbounded or _is_view(func) or "empty" in str(func))  # which holds what was there
                if computed and _is_unbounded(t, (list(args), keywords)):
                    self.unbounded = f"a number that is not finite, made by {func}"
                if self.made and t.layout is torch.strided and not t.is_nested and not _is_view(func):
                    self.fresh.add(t.untyped_storage()._cdata)
            elif made:
                self.follow(t)
        return result

    def _is_made(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and _is_whole(value) and value.untyped_storage()._cdata in self.made

    def _look(self, func: Any, args: Any, keywords: Any) -> None:
        """Note the table that an operation reads by whole numbers made of the tokens."""
        table, index = self._lookup(func, args)
        if table is None or not self._is_made(index) or index.dtype is torch.bool or not index.numel():
            return
        rows, x = table.shape[0], self.x.reshape(-1)
        least = -rows if func is torch.ops.aten.index.Tensor else 0
        if self.strict and not least <= int(index.min()) <= int(index.max()) < rows:
            raise Beyond
        plain = index.numel() == x.numel() and bool(torch.equal(index.reshape(-1), x))
        self.tables.add(Table(rows, 0 if plain else int(index.max()) - int(x.max()), plain))

    def _lookup(self, func: Any, args: Any) -> tuple[Any, Any]:
        """What an operation looks up along its first axis, and by what; nothing where it does not, or computed it."""
        if func in EMBEDDINGS:
            return args[0], args[1]
        if func is torch.ops.aten.index.Tensor:
            table, index = args[0], args[1][0]
        elif func is torch.ops.aten.index_select.default and args[1] == 0:
            table, index = args[0], args[2]
        else:
            return None, None
        own = table.is_floating_point() and table.untyped_storage()._cdata not in self.fresh
        return (table, index) if own else (None, None)


def may_write(func: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    """The tensors that an operation is to write, or all that it is given where its schema may be silent about that."""
    schema = getattr(func, "_schema", None)
    if schema is None or schema.name.split("::")[0] not in DECLARE or "batch_norm" in schema.name:
        given: Any = [list(args), dict(keywords)]
    elif not schema.is_mutable:
        return
    else:
        at = enumerate(schema.arguments)
        written = [(i, a.name) for i, a in at if a.alias_info is not None and a.alias_info.is_write]
        given = [args[i] if i < len(args) else keywords.get(name) for i, name in written]
    yield from (t for _, t in leaves(given) if isinstance(t, torch.Tensor))


def _is_unbounded(t: torch.Tensor, given: Any = ()) -> bool:
    """Whether a tensor holds +∞ or NaN, or −∞ that was in nothing `given` to what made it (a mask's was)."""
    numbers = _floats(t)
    if numbers is None or math.isfinite(float(numbers.sum())):
        return False
    least, most = _ends(numbers)
    if -math.inf < least <= most < math.inf:
        return False  # only their sum is out of range
    if not most < math.inf or math.isnan(least):
        return True
    kept = (v for _, v in leaves(given) if v is not t)
    return not any(_least(v) == -math.inf if isinstance(v, torch.Tensor) else v == -math.inf for v in kept)


def _least(t: torch.Tensor) -> float:
    numbers = _floats(t)
    return 0.0 if numbers is None else _ends(numbers)[0]


def _ends(numbers: torch.Tensor) -> tuple[float, float]:
    least, most = torch.aminmax(numbers)
    return float(least), float(most)


def _floats(t: torch.Tensor) -> torch.Tensor | None:
    """The numbers of a plain tensor of floats; None where there are none."""
    if t.layout is not torch.strided or t.is_nested or t.is_quantized or t.is_meta or not t.numel():
        return None
    numbers = torch.view_as_real(t.detach().resolve_conj()) if t.is_complex() else t.detach()
    if not numbers.is_floating_point():
        return None
    return numbers if numbers.itemsize > 1 else numbers.float()


def _is_view(func: Any) -> bool:
    """Whether an operation's results lie in what it was given."""
    schema = getattr(func, "_schema", None)
    return schema is not None and any(r.alias_info is not None for r in schema.returns)


def _is_whole(t: torch.Tensor) -> bool:
    return not (t.is_floating_point() or t.is_complex()) and t.layout is torch.strided and not t.is_nested
