"""Rules: one function per primitive, found by the primitive's name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Rule = Callable[[Any], Any]  # takes a JaxCall, gives a shadow for each result (a single one as it is)


@dataclass(frozen=True, kw_only=True)
class Binding:
    """A primitive's rule with what is known of it beside the shadows of its results.

    `sees_sign`: its results tell +0 from −0, at least for complex numbers on a branch cut ("complex"). `divides`: the
    operand (a function of the call, where its parameters tell) of which a zero of either sign makes it infinite.
    `moves`: its results are elements of its operands. `carries`: they bring together what stands at the same place, as
    a sum does. `draws`: its results are not to be computed, even where its operands are constants, as random numbers.
    `whole`: the rule gives operands, as those of loops do.
    """

    rule: Rule
    sees_sign: bool | str = False
    divides: int | Callable[[Any], int | None] | None = None
    moves: bool = False
    carries: bool = False
    draws: bool = False
    whole: bool = False


BINDINGS: dict[str, Binding] = {}


def primitive(names: str, **facts: Any) -> Callable[[Rule], Rule]:
    """Registers a rule for the primitives of these names (separated by blanks)."""

    def register(rule: Rule) -> Rule:
        for name in names.split():
            assert name not in BINDINGS, f"{name} has two rules"
            BINDINGS[name] = Binding(rule=rule, **facts)
        return rule

    return register
