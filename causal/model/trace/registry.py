"""Rules: one function per operation, found by the operation's name.

A rule takes a `Call` and returns the shadow of the output (a tuple for several outputs). It must be *sound*: an output
element's interval holds every rank that its value can depend on, and a kind is claimed only if it always holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from .transfer import context

RuleFunction = Callable[[Any], Any]  # takes a Call


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of an operation beside the shadows of its results. Every default is the cautious one.

    Attributes:
      fails: whether the values of its operands can make it raise, so that a program that catches the error learns of
        them: "never", only those of "whole numbers" (a division by 0, an index out of range), or "any" values.
      sees_sign: whether its result tells +0 from −0. None: nobody said, so it may.
      branch_cut: whether it does so for complex numbers only, as on the cut of a logarithm.
      divides: whether a zero of either sign makes it infinite, as in 1 / ±0 = ±∞.
      moves: whether its results are elements of its operands, and constants of its own: so that a zero among them comes
        from a zero that went in.
      zero_from_zero: the same of a function computed element by element. By rounding, or by a slope of 0, it may
        be 0 elsewhere in a run, which is looked for.
      pointwise: whether each element of its results is one and the same function of the operands' elements at the same
        place.
      carries: whether it brings together no elements of different positions: it moves, copies or adds what stands at
        the same place. Where a leak is blamed on one operation, these are passed over.
      reads: whether its result is a number or truth value for Python, made of its operands' values.
      numbers_by_shape: whether the numbers among its results follow from shapes and types alone.
      shaped_by: the argument whose values decide how large the result is; "" for all, where any do.
      shaped_by_masks: the same of an argument of which only truth values do, and whole numbers do not.
      overlaps: whether, written in place, it is right even where another operand shares the target's memory.
      silent: whether it gives no result that could have a shadow.
      layout: how its results lie in memory: as their shapes alone say, mostly row by row ("rows"), as its shape
        function says ("kept"), or as its kernel likes ("own"). By default that function is right where all operands
        lie row by row: measured over PyTorch's own samples of all operations.
    """

    fails: Literal["never", "whole numbers", "any"] = "any"
    sees_sign: bool | None = None
    branch_cut: bool = False
    divides: bool = False
    moves: bool = False
    zero_from_zero: bool = False
    carries: bool = False
    pointwise: bool = False
    reads: bool = False
    numbers_by_shape: bool = False
    shaped_by: str = ""
    shaped_by_masks: str = ""
    overlaps: bool = False
    silent: bool = False
    layout: Literal["rows", "kept", "own", "by rows"] = "by rows"


@dataclass(frozen=True)
class Rule(Facts):
    """A rule for the operations named `names` ("aten.add", "mylib.scan", or with the overload "aten.add.Tensor").

    `function` takes a `Call` and returns the shadow of the result, a tuple of them for several. The other fields say
    what else holds of every one of these operations.

    >>> scan = Rule(("mylib::scan",), lambda call: call["x"].shadow, fails="never")
    >>> scan.fails, scan.sees_sign
    ('never', None)
    """

    names: tuple[str, ...]
    function: RuleFunction


class Operand(context.Operand, Protocol):
    """A tensor argument: what a transfer function knows of it, and the tensor itself."""

    value: Any


class Call(context.Context, Protocol):
    """One call of an operation, as a rule sees it: what a transfer function may ask and tell, and the arguments.
    `call["dim"]` is an argument by its name in the schema, defaults filled in.
    """

    name: str
    value: Any  # what the concrete run returned

    def __getitem__(self, name: str) -> Any:
        """The argument; tensors come as `Operand`s (also inside lists)."""
        ...

    def operands(self) -> Sequence[Operand]:
        """Every tensor argument, lists flattened, in order."""
        ...


BUILT_IN: dict[str, Rule] = {}
WITHOUT_RULE: dict[str, Facts] = {}
UNKNOWN = Facts()
VIEW = Facts(sees_sign=False)  # another view of the same elements computes nothing


def rule(*names: str, **facts: Any) -> Callable[[RuleFunction], RuleFunction]:
    """Register a built-in rule; for your own operation, pass `Rule(("mylib::scan"), function)` to `run(rules=…)`.

    Names are "namespace.operation" or "namespace.operation.overload", `facts` the other fields of `Rule`. Where some of
    the operations that one function serves differ in their facts, it is decorated once for each.
    """

    def register(function: RuleFunction) -> RuleFunction:
        made = Rule(names, function, **facts)
        for name in names:
            if name in BUILT_IN:
                raise ValueError(f"name = {name!r} already has a rule; give each operation one rule")
            BUILT_IN[name] = made
        return function

    return register


def without_rule(*names: str, **facts: Any) -> None:
    """Register facts (see `Facts`) of operations that have no rule."""
    WITHOUT_RULE.update(dict.fromkeys(names, Facts(**facts)))


def find(names: Iterable[str], extra: Sequence[Rule] = ()) -> Rule | None:
    """The rule for the first of `names` that has one; `extra` rules come first."""
    wanted = list(names)
    own: Mapping[str, Rule] = {n.replace("::", "."): r for r in reversed(extra) for n in r.names}
    for table in (own, BUILT_IN):
        for name in wanted:
            if name in table:
                return table[name]
    return None


def facts_of(names: Iterable[str], view: bool = False) -> Facts:
    """What is known of an operation without a rule, which may be a `view`."""
    return next((WITHOUT_RULE[name] for name in names if name in WITHOUT_RULE), VIEW if view else UNKNOWN)


def names(text: str) -> tuple[str, ...]:
    """The words of a text as names of PyTorch's own operations.

    >>> names("add mul")
    ('aten.add', 'aten.mul')
    """
    return tuple(f"aten.{word}" for word in text.split())
