"""What the schema of an operation says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .registry import Facts, Rule, facts_of, find

DECLARE = {"aten", "prim", "prims"}  # namespaces in which every operation declares what it writes


class Info:
    """What the schema of an operation says, looked up once."""

    def __init__(self, function: Any, extra: Sequence[Rule]) -> None:
        schema = function._schema
        self.function = function
        self.namespace, base = schema.name.split("::")
        overload = schema.overload_name or "default"
        self.name = f"{self.namespace}.{base}"
        self.names = (f"{self.name}.{overload}", self.name)
        self.positions: dict[str, int] = {}
        self.defaults: dict[str, Any] = {}
        self.written: list[str] = []
        for i, argument in enumerate(schema.arguments):
            self.positions[argument.name] = i
            self.defaults[argument.name] = argument.default_value
            if argument.alias_info is not None and argument.alias_info.is_write:
                self.written.append(argument.name)
        self.is_view = not self.written and any(r.alias_info is not None for r in schema.returns)
        tags = getattr(function, "tags", ())
        self.is_random = torch.Tag.nondeterministic_seeded in tags
        self.moves_itself = torch.Tag.inplace_view in tags  # transpose_, set_: another geometry over the same storage
        self.dynamic = torch.Tag.dynamic_output_shape in tags
        self.rule = find(self.names, extra)
        self.facts: Facts = self.rule or facts_of(self.names, self.is_view)
        # other libraries' schemas are what their authors wrote: c10d's declare none of the writes of its collectives
        self.undeclared = self.namespace not in DECLARE and not self.written and self.rule is None
        self.is_own = self.namespace in DECLARE
        self.makes = "device" in self.positions and not any("Tensor" in str(a.type) for a in schema.arguments)
        self.foreign_rule = self.rule is not None and any(self.rule is rule for rule in extra)
        self.sends = "c10d" in self.namespace  # with other processes, whose results come in when they come
        self.functional: Any = None
        if self.written == ["self"] and self.rule is None and base.endswith("_") and not base.endswith("__"):
            self.functional = _functional(getattr(getattr(torch.ops, self.namespace), base[:-1], None), schema)


def _functional(packet: Any, schema: Any) -> Any:
    """The overload that computes out of place what an operation of this schema does in place; None without one."""
    types = [str(a.type) for a in schema.arguments]
    for overload in packet.overloads() if packet is not None else ():
        found = getattr(packet, overload)
        if [str(a.type) for a in found._schema.arguments] == types:
            return found
    return None
