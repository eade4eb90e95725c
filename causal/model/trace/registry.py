"""Rules: one function per operation, found by the operation's name.

A rule takes a `Call` and returns the shadow of the output (a tuple for several outputs). It must be *sound*: an output
element's interval holds every rank that its value can depend on, and a kind is claimed only if it always holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .domain import Shadow

RuleFunction = Callable[[Any], Any]  # takes a Call


@dataclass(frozen=True)
class Rule:
    """A rule for the operations named `names` ("aten.add", "mylib.scan", or with the overload "aten.add.Tensor")."""

    names: tuple[str, ...]
    function: RuleFunction


class Operand(Protocol):
    """A tensor argument: its concrete value, its shadow, and the shadow with the constants looked at."""

    value: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        ...

    @property
    def shadow(self) -> Shadow:
        """The shadow, constants possibly not looked at (kind FIXED)."""
        ...

    def known(self) -> Shadow:
        """The shadow with every known constant looked at: no element is of kind FIXED."""
        ...


class Call(Protocol):
    """One call of an operation, as a rule sees it. `call["dim"]` is an argument by its name in the schema, defaults
    filled in.
    """

    name: str
    value: Any  # what the concrete run returned

    def __getitem__(self, name: str) -> Any:
        """The argument; tensors come as `Operand`s (also inside lists)."""
        ...

    def operands(self) -> list[Operand]:
        """Every tensor argument, lists flattened, in order."""
        ...

    def zeros_used(self, *operands: Operand) -> None:
        """To be called when zeros of these operands removed a dependency (they may be a parameter's)."""
        ...

    def values_used(self, *operands: Operand) -> None:
        """To be called when a dependency was left out because of other values of these operands (they may be a
        parameter's).
        """
        ...

    def masked_zero(
        self, where: np.ndarray, constant: float | None = None, value: Any = None, alone: bool = False
    ) -> np.ndarray:
        """Of the output elements in `where`, those that count as exactly 0 thanks to a finite mask; records it."""
        ...


BUILT_IN: dict[str, RuleFunction] = {}


def rule(*names: str) -> Callable[[RuleFunction], RuleFunction]:
    """Register a built-in rule; for your own operation, pass `Rule(("mylib::scan"), function)` to `run(rules=…)`.

    Names are "namespace.operation" or "namespace.operation.overload".
    """

    def register(function: RuleFunction) -> RuleFunction:
        for name in names:
            if name in BUILT_IN:
                raise ValueError(f"name = {name!r} already has a rule; give each operation one rule")
            BUILT_IN[name] = function
        return function

    return register


def find(names: Iterable[str], extra: Sequence[Rule] = ()) -> RuleFunction | None:
    """The rule for the first of `names` that has one; `extra` rules come first."""
    wanted = list(names)
    own: Mapping[str, RuleFunction] = {n.replace("::", "."): r.function for r in reversed(extra) for n in r.names}
    for table in (own, BUILT_IN):
        for name in wanted:
            if name in table:
                return table[name]
    return None


def names(text: str) -> tuple[str, ...]:
    """The words of a text as names of PyTorch's own operations.

    >>> names("add mul")
    ('aten.add', 'aten.mul')
    """
    return tuple(f"aten.{word}" for word in text.split())
