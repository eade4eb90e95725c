"""`out=`, where no rule follows it: the result is computed apart, and copied into the target.

That is what the operation does where the target's memory is its own. Where the target is an operand as well, it is only
so for operations that go element by element, whose kernels read an element before they write it, and refuse operands
that overlap the target in any other way; and for those that `cumsum_` and its like are made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from .memory import overlap
from .pytree import tensors_of
from .registry import find, names
from .shadows import geometry_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .registry import Rule
    from .schema import Info
    from .shadows import Shadows

IN_PLACE = names("cumsum cumprod tril triu")  # what these do in place is `out=` of the operand itself


def without_target(info: Info) -> Any:
    """The overload that returns what an operation writes into its one argument `out`; None without one."""
    if info.written != ["out"] or info.namespace != "aten":
        return None
    packet = getattr(torch.ops.aten, info.name.removeprefix("aten."))
    wanted = [(a.name, str(a.type)) for a in info.function._schema.arguments if a.name != "out"]
    for overload in packet.overloads():
        found = getattr(packet, overload)
        if [(a.name, str(a.type)) for a in found._schema.arguments] == wanted:
            return found
    return None


def computed_apart(
    shadows: Shadows, info: Info, args: Sequence[Any], kwargs: Mapping[str, Any], extra: Sequence[Rule]
) -> Any:
    """The overload that computes the same, where the target is to be written by a copy; else None."""
    if info.written != ["out"] or info.is_random or not isinstance(kwargs.get("out"), torch.Tensor):
        return None
    target = kwargs["out"]
    memory, others = shadows.memory_of(target), tensors_of((list(args), {**kwargs, "out": None}))
    memories = {id(m) for m in (memory, *map(shadows.memory_of, others))}
    if memory is None or target.is_nested or (info.rule is not None and len(memories) == 1 + len(others)):
        return None  # it has no storage, or its rule follows it as it is
    place = geometry_of(target)
    theirs = [geometry_of(t) for t in others if shadows.memory_of(t) is memory]
    touching = [geometry for geometry in theirs if geometry == place or overlap(geometry, place)]
    found = without_target(info)
    if found is None or place.overlaps_itself():
        return None
    same = all(geometry == place for geometry in touching)
    rule = find((f"{info.name}.{found._overloadname}", info.name), extra)
    if touching and not (same and rule is not None and (rule.pointwise or info.name in IN_PLACE)):
        return None
    return found


def fits(value: Any, target: torch.Tensor) -> bool:
    """Whether the result can be copied into the target as it is."""
    return isinstance(value, torch.Tensor) and shape_of(value) == shape_of(target) and value.dtype == target.dtype
