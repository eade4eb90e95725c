"""PyTorch's operations on lists of tensors: each item by itself, with the items at its place in other lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..domain import ZERO, Shadow, uniform
from ..registry import rule
from ..transfer.elementwise import pointwise
from ..transfer.reductions import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import torch

    from ..calls import TorchCall


def lists(text: str) -> tuple[str, ...]:
    """Names of operations on lists, out of place and in place."""
    return tuple(f"aten._foreach_{word}{end}" for word in text.split() for end in ("", "_"))


def for_each(call: TorchCall, join: Callable[[tuple[int, ...], Iterable[Shadow]], Shadow]) -> tuple[Shadow, ...]:
    """What `join` makes of the operands of every item; a tensor beside the lists counts for all of them."""
    given = [call[name] for name in call.info.positions]
    beside = [g.shadow for g in given if hasattr(g, "shadow")]
    found = []
    for i, result in enumerate(_results(call)):
        own = [g[i].shadow for g in given if isinstance(g, list) and i < len(g) and hasattr(g[i], "shadow")]
        found.append(join(tuple(result.shape), [*own, *beside]))
    return tuple(found)


def _results(call: TorchCall) -> Sequence[torch.Tensor]:
    """The results, or the targets where the operation writes them."""
    value: Any = call.raw("self") if call.info.written else call.value
    return list(value)


@rule("aten._foreach_clone", fails="never", sees_sign=False)
@rule(
    *lists("abs add asin acos atan ceil clamp_max clamp_min copy cos cosh erf erfc exp expm1 floor frac lerp"),
    *lists("log log10 log1p log2 maximum minimum mul neg round sigmoid sign sin sinh sqrt sub tan tanh trunc addcmul"),
    fails="whole numbers", sees_sign=False, branch_cut=True,
)  # fmt: skip
@rule(
    *lists("div addcdiv pow reciprocal rsqrt lgamma"),
    fails="whole numbers", sees_sign=False, branch_cut=True, divides=True,
)  # fmt: skip
def elements(call: TorchCall) -> tuple[Shadow, ...]:
    """Element by element."""
    return for_each(call, pointwise)


@rule(
    "aten._foreach_norm", "aten._foreach_max", "aten._foreach_powsum", "aten._foreach_mm", fails="any", sees_sign=False
)
def numbers(call: TorchCall) -> tuple[Shadow, ...]:
    """Everything of an item."""
    return for_each(call, whole)


@rule(*lists("zero"), fails="never", sees_sign=False)
def zeros(call: TorchCall) -> tuple[Shadow, ...]:
    """Exact zeros, whatever the items held."""
    return tuple(uniform(tuple(t.shape), ZERO) for t in _results(call))
