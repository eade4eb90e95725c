"""Which of the tensors that a model returns are checked, and how they lie side by side in one array of rows.

Checked is every tensor with as many places along its output axis as there are queries, whole numbers and truth values
too; the others (caches, losses, pooled vectors) are named and not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from .dense import dense
from .kept import attributes
from .reachable import reachable
from .setting import ModelError
from .ways import slots_of

if TYPE_CHECKING:
    from torch import Tensor

    from ..boundary import Boundary

Chosen = int | str | Sequence[int | str] | None


class Shaped(Protocol):
    """An output of any library, as far as choosing needs to know it."""

    @property
    def shape(self) -> Sequence[int]:
        """Its shape."""
        ...

    def dim(self) -> int:
        """The number of its axes."""
        ...

    def is_floating_point(self) -> bool:
        """Whether it holds real numbers."""
        ...

    def is_complex(self) -> bool:
        """Whether it holds complex numbers."""
        ...


@dataclass(frozen=True)
class Checked:
    """One output that is checked: its `path`, its `axis` of queries, its `columns` among the rows of all outputs.

    `whole`: its entries are whole numbers or truth values, which know no rounding.
    """

    path: str
    axis: int
    columns: slice
    whole: bool


@dataclass(frozen=True)
class Outputs:
    """The outputs that are checked, the paths of all others, and the rows (queries, features) of those checked."""

    checked: tuple[Checked, ...]
    unchecked: tuple[str, ...]
    rows: Any

    @property
    def paths(self) -> tuple[str, ...]:
        """Where the checked ones sit in what the model returns."""
        return tuple(c.path for c in self.checked)

    @property
    def first(self) -> Checked:
        """The first floating one, else the first."""
        return next((c for c in self.checked if not c.whole), self.checked[0])


def tensors(result: Any) -> dict[str, Tensor]:
    """The tensors that a model returned, by path; ModelError where there is none."""
    import torch

    from .trace.pytree import TreeError, leaves

    try:
        found = {path: t for path, t in leaves(result) if isinstance(t, torch.Tensor)}
    except TreeError as error:
        raise ModelError(error.name, error.problem, error.remedy) from None
    if not found:
        raise ModelError(
            "the model",
            f"returned {type(result).__name__} and no tensor",
            "wrap it in a function that returns the tensor to check",
        )
    nested = [path for path, t in found.items() if t.is_nested]
    if nested:
        raise ModelError(f"output{nested[0]}", "is a nested tensor, which has no axis", "return it padded")
    return found


def first_of(found: Mapping[str, Shaped], axis: int, wanted: str | None = None) -> str:
    """The path `wanted`, else the first floating tensor that has the axis, else the first that has it; ModelError."""
    if wanted is not None and wanted in found:
        return wanted
    usable = [path for path, t in found.items() if _has(t, axis)]
    if not usable:
        path, t = next(iter(found.items()))
        raise ModelError(
            "output_axis",
            f"is no axis of output{path}, whose shape is {tuple(t.shape)}",
            "pass the axis of the output that holds queries",
            axis,
        )
    return next((path for path in usable if _is_real(found[path])), usable[0])


def with_places(found: Mapping[str, Shaped], axis: int, places: int) -> list[str]:
    """The paths of the tensors that have so many places along the axis."""
    return [path for path, t in found.items() if _has(t, axis) and t.shape[axis] == places]


def items(chosen: Any) -> list[int | str]:
    """What `outputs=` chooses, one by one; ModelError for nothing, and for what is no index or key."""
    found = [chosen] if isinstance(chosen, (int, str)) or not isinstance(chosen, Iterable) else list(chosen)
    wrong = next((i for i in found if not isinstance(i, (int, str)) or isinstance(i, bool)), None)
    if wrong is not None or not found:
        shown = chosen if wrong is None else wrong
        raise ModelError("outputs", "is no index or key", "choose some outputs by index or key, or leave it out", shown)
    return found


def named(result: Any, item: int | str) -> list[str]:
    """The paths of the tensors that an index, key or path of `outputs=` names; ModelError where it names none."""
    from .trace.pytree import node_of

    node = node_of(result)
    return among(tensors(result), [""] if node is None else list(node.keys), item)


def among(found: Mapping[str, Shaped], keys: Sequence[str], item: int | str) -> list[str]:
    """The paths of those outputs that an index, key or path names, given the ends of the paths of the topmost ones."""
    if isinstance(item, str):
        tops = [p for p in (*keys, *found) if p in (item, f".{item}", f"[{item!r}]")]
    else:
        tops = list(keys[item : item + 1]) if item >= 0 else []
    under = [p for p in found for top in tops if p == top or p.startswith((f"{top}[", f"{top}."))]
    if not under:
        names = ", ".join(f"output{p}" for p in found)
        raise ModelError("outputs", "names no tensor among what the model returned", f"choose from {names}", item)
    return list(dict.fromkeys(under))


def choose(
    result: Any,
    axis: int,
    boundary: Boundary,
    given: bool,
    chosen: Chosen,
    shorter: Callable[[bool], Mapping[str, Tensor] | None],
    values: bool = True,
) -> Outputs:
    """The outputs to check: those `chosen`, else all with a place for every query; ModelError where there is none.

    `given`: the boundary was the caller's. `shorter` gives what the model returns for one position less, or one element
    of the batch (None where it does not run): a tensor that keeps its places then, while others lose one, may have them
    by chance, as a hidden state (layers, batch, width) has where the batch is as large as the sequence is long. Without
    `values` only their shapes are known.
    """
    found = tensors(result)
    groups = None if chosen is None else [named(result, item) for item in items(chosen)]
    paths = to_check(found, groups, axis, boundary, given, shorter)
    return _laid_out(found, axis, paths, concealed(result), values)


def to_check(
    found: Mapping[str, Any],
    chosen: Sequence[Sequence[str]] | None,
    axis: int,
    boundary: Boundary,
    given: bool,
    shorter: Callable[[bool], Mapping[str, Any] | None],
) -> list[str]:
    """The paths of the outputs to check, given their shapes and the paths that each choice names (see `choose`)."""
    groups = [list(found)] if chosen is None else chosen
    fitting = with_places(found, axis, boundary.queries)
    for group in groups:  # none of those chosen is passed over
        if not set(group) & set(fitting):
            raise _disagreement({p: found[p] for p in group}, axis, boundary, given)
    paths = [p for p in fitting if any(p in group for group in groups)]
    lone = all(axis in (-1, found[p].dim() - 1) for p in paths)  # one number a place: perhaps a pooled vector
    if chosen is None and (len(paths) > 1 or lone) and boundary.queries == boundary.n:
        paths = [p for p in paths if p not in _by_chance(found, paths, axis, boundary.n, shorter)]
    return paths


def _by_chance(
    found: Mapping[str, Shaped],
    paths: Sequence[str],
    axis: int,
    n: int,
    shorter: Callable[[bool], Mapping[str, Shaped] | None],
) -> list[str]:
    """Which of the outputs have n places along the axis, but not for positions; ModelError where that is unclear."""
    less = dict(shorter(False) or {})
    kept = [p for p in with_places(less, axis, n) if p in paths]
    if not kept:
        return []
    if not set(with_places(less, axis, n - 1)) & set(paths):  # padded to a fixed length, or vectors of n features
        vector = next((p for p in kept if less[p].shape == found[p].shape and axis in (-1, less[p].dim() - 1)), None)
        if vector is None:
            return []
        raise _unclear(vector, axis, n)
    fewer = dict(shorter(True) or {})
    for path in kept:
        positions_elsewhere = less[path].shape != found[path].shape
        if not positions_elsewhere and path not in with_places(fewer, axis, n - 1):
            raise _unclear(path, axis, n)
    return kept


def _unclear(path: str, axis: int, n: int) -> ModelError:
    """Why nobody can tell whether an output's places are queries."""
    return ModelError(
        f"output{path}",
        f"has {n} places along axis {axis} for {n - 1} positions, too, so that they may be no queries",
        "choose the outputs to check with outputs=",
        mentions=("outputs",),
    )


def concealed(result: Any) -> list[str]:
    """The paths of what a model returned that holds or makes tensors where nobody looks: objects, sets, generators, and
    attributes of tensors and containers.

    >>> import torch
    >>> y = torch.zeros(2)
    >>> y.more = torch.zeros(2)
    >>> concealed((y, 3, {torch.zeros(2)}, (t for t in [])))
    ['[0].more', '[2]', '[3]']
    """
    import torch

    from .trace.pytree import leaves

    shown = {id(t) for _, t in leaves(result) if issubclass(type(t), torch.Tensor)}

    def hides(value: Any) -> bool:
        if hasattr(type(value), "__next__"):
            return True
        return any(issubclass(type(v), torch.Tensor) and id(v) not in shown for v in reachable(value))

    return list(dict.fromkeys(path for path, value in _beside(result, "", 0) if hides(value)))


def _beside(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    """What a structure holds beside its nodes and tensors, by path: other leaves, and attributes of both."""
    import torch

    from .trace.pytree import node_of

    node = node_of(value, depth)
    if node is None and not issubclass(type(value), torch.Tensor):
        yield path, value
        return
    keys, children = ((), ()) if node is None else (node.keys, node.children)
    own = {id(child) for child in children}
    if not hasattr(type(value), "__tensor_flatten__"):  # whose attributes are the tensors that it is made of
        held = {d.__name__: getattr(value, d.__name__, None) for d in slots_of(type(value))} | (attributes(value) or {})
        yield from ((f"{path}.{name}", v) for name, v in held.items() if id(v) not in own)
    for key, child in zip(keys, children, strict=True):
        yield from _beside(child, path + key, depth + 1)


def _laid_out(
    found: dict[str, Tensor], axis: int, paths: Sequence[str], hidden: Sequence[str], values: bool
) -> Outputs:
    """The outputs at the paths side by side; those of the other tensors, and hidden ones, are named."""
    checked, start = [], 0
    for path in paths:
        t = found[path]
        width = _told_rows(found, axis, path, values).shape[1]
        checked.append(Checked(path, axis % t.dim(), slice(start, start + width), not _is_real(t)))
        start += width
    others = (*(p for p in found if p not in paths), *hidden)
    return Outputs(tuple(checked), others, side_by_side(found, axis, paths, values))


def side_by_side(found: dict[str, Tensor], axis: int, paths: Sequence[str], values: bool = True) -> Tensor:
    """The rows (queries, features) of the outputs at the paths, detached; several as float64."""
    import torch

    missing = [p for p in paths if p not in found]
    if missing:
        raise ModelError(
            f"output{missing[0]}",
            "is there for one input and missing for another",
            "the model must return the same structure when only values change",
        )
    parts = [_told_rows(found, axis, p, values) for p in paths]
    if len(parts) == 1:
        return parts[0]
    if len({part.shape[0] for part in parts}) > 1:
        raise ModelError(
            "the model's outputs",
            f"have {', '.join(str(part.shape[0]) for part in parts)} positions where they had as many each",
            "they must keep their shapes when only values change",
        )
    return torch.cat([part.to(parts[0].device).double() for part in parts], 1)


def _told_rows(found: dict[str, Tensor], axis: int, path: str, values: bool) -> Tensor:
    """The rows of one output; ModelError where it holds no numbers that can be compared."""
    y = found[path]
    if y.is_meta and values:
        raise ModelError(f"output{path}", "has a shape and no values", "return it on a device with values")
    try:
        return rows(y, axis)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        raise ModelError(
            f"output{path}",
            f"is a {type(y).__name__} of {y.dtype} whose entries cannot be compared ({type(error).__name__})",
            "return a plain tensor",
        ) from error


def rows(y: Tensor, axis: int) -> Tensor:
    """One output as (queries, features), complex numbers as two reals, whole numbers and truth values as float64."""
    import torch

    axis %= y.dim()
    y = dense(y)
    if y.is_complex():
        y = torch.view_as_real(y)
    elif not y.is_floating_point():
        y = y.double()
    y = y.movedim(axis, 0)
    return y.reshape(y.shape[0], -1)


def _disagreement(found: Mapping[str, Shaped], axis: int, boundary: Boundary, given: bool) -> ModelError:
    """Why no output can be checked: what its first floating one and the boundary say of the number of queries."""
    y = found[first_of(found, axis)]
    axis, places, n = axis % y.dim(), y.shape[axis], boundary.n
    if given:
        return ModelError(
            "boundary",
            f"has {boundary.queries} queries, the output {places} positions along axis {axis}",
            "make them agree or pass output_axis",
            mentions=("output_axis",),
        )
    remedy = (
        f"say where they stand with boundary=Boundary.prefix({n}, queries={places}) or Boundary.relation(matrix), "
        "or pass output_axis"
        if places <= n
        else f"say what each may use with boundary=Boundary.relation(matrix) of shape ({places}, {n}), or pass "
        "output_axis"
    )
    return ModelError(
        "the output",
        f"has {places} positions along axis {axis} and the input {n}",
        remedy,
        mentions=("boundary", "output_axis"),
    )


def _has(t: Shaped, axis: int) -> bool:
    return -t.dim() <= axis < t.dim()


def _is_real(t: Shaped) -> bool:
    return t.is_floating_point() or t.is_complex()
