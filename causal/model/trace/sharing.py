"""What rules found, kept for equal calls: of a model's many layers, all but the first few are alike.

A rule's result follows from the operation, its plain arguments, the shapes, types and shadows of its tensors, and from
what the run answers when it is asked: to look at a constant, say. So every question is kept with its answer. Where a
call is like one before, the same questions are put to the run again, in order: as long as the answers are the same, the
rule would go on as before, and what it found is the same. What a rule only reports (a condition, a row that sees
nothing) is a question without an answer, and so is told for the new place, too.

That holds of a run without values, in which a rule can see no number but those it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from .course import PLAIN
from .deferred import Deferred
from .domain import FIXED, Array, Shadow

if TYPE_CHECKING:
    from .calls import TorchCall, TorchOperand

ASKED = {
    "assign", "finite_mask", "masked_alike", "masked_below", "must_be_finite", "noise", "nonzero_denominator",
    "mask_seen", "masked_twice", "starved", "still_masks", "values_used", "zeros_used",
}  # fmt: skip
KEPT = 1 << 29  # bytes of large arrays that are kept for calls to come; beyond, all is forgotten


class Unlike(Exception):
    """The call cannot be compared with others."""


class Place(NamedTuple):
    """An operand of whatever call it is, counted in order."""

    at: int


class Question(NamedTuple):
    """A method of the call, or of one of its operands, and its arguments."""

    method: str
    about: Place | None
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()

    def put(self, call: TorchCall) -> Any:
        """The answer of this call."""
        operands = call.operands()

        def own(value: Any) -> Any:
            return operands[value.at] if isinstance(value, Place) else value

        asked = call if self.about is None else own(self.about)
        return getattr(asked, self.method)(*map(own, self.args), **{k: own(v) for k, v in self.kwargs})


@dataclass
class Step:
    """What a rule asks next, and what it does then: by the answer's name, the next step or the result."""

    question: Question
    after: dict[Hashable, Step | list[Shadow]] = field(default_factory=dict)


class Sharing:
    """The results of one run."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew: where layers are not alike, what was found is of no use to the next."""
        self.known: dict[Hashable, Step | list[Shadow]] = {}
        self.names = Names()
        self.large: dict[int, Array] = {}

    def results(self, call: TorchCall) -> list[Shadow]:
        """What the call's rule finds."""
        assert call.info.rule is not None
        rule = call.info.rule.function
        try:
            key = self._key(call, rule)
        except Unlike:
            return as_list(rule(call))
        before = [o.shadow for o in call.operands()]  # a look at constants changes them
        found = self.known.get(key)
        while isinstance(found, Step):
            found = found.after.get(self.names.of(found.question.put(call)))
        if found is None:
            asked = AskedCall(call, before, self.names)
            found = as_list(rule(asked))
            asked.let_go()
            self._keep(key, asked.steps, found)
        return list(found)

    def _keep(self, key: Hashable, steps: Iterable[tuple[Question, Hashable]], results: list[Shadow]) -> None:
        after = self.known
        for question, answer in steps:
            step = after.setdefault(key, Step(question))
            assert isinstance(step, Step)  # a rule is a function: the same answers lead to the same question
            assert step.question[:2] == question[:2]
            after, key = step.after, answer
        after[key] = results
        self.large |= {id(k): k for k in (s.kind for s in results) if isinstance(k, Deferred)}
        if sum(kind.size for kind in self.large.values()) > KEPT:  # of one byte each
            self.forget()

    def _key(self, call: TorchCall, rule: Callable[..., Any]) -> Hashable:
        operands = {id(o.value): i for i, o in enumerate(call.operands())}

        def plain(value: Any) -> Hashable:
            if isinstance(value, torch.Tensor):
                return Place(operands[id(value)])
            if isinstance(value, (list, tuple)):
                return (type(value), *map(plain, value))
            if type(value) not in PLAIN:
                raise Unlike
            return type(value), repr(value)  # as numbers, True, 1 and 1.0 are equal, and 0.0 and −0.0

        given = tuple(map(plain, call.args)), tuple((k, plain(v)) for k, v in sorted(call.kwargs.items()))
        tensors = tuple((o.shape, o.value.dtype, self.names.of(o.shadow)) for o in call.operands())
        return call.info.names, rule, given, tensors, _looks(call.value)


def _looks(value: Any) -> Hashable:
    """What a result looks like from outside."""
    if isinstance(value, torch.Tensor):
        if not value.is_meta:
            raise Unlike  # it could be looked at
        return tuple(value.shape), value.dtype
    if isinstance(value, (list, tuple)):
        return (type(value), *map(_looks, value))
    if type(value) not in PLAIN:
        raise Unlike
    return type(value), repr(value)


class Names:
    """A name for each shadow, array and truth value: where two have the same name, they are equal."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, value: Any) -> Hashable:
        """The name; Unlike where there is none."""
        if isinstance(value, (Shadow, Deferred)):
            if value.name is None or value.name[0] is not self:
                object.__setattr__(value, "name", (self, self._number(self._parts(value))))
            return value.name[1]  # type: ignore[no-any-return]
        if isinstance(value, (np.ndarray, np.generic)):
            return self._number((value.dtype.str, value.shape, value.tobytes()))
        if value is None or isinstance(value, (bool, int)):
            return type(value), value
        raise Unlike

    def _number(self, parts: Hashable) -> int:
        return self._numbers.setdefault(parts, len(self._numbers))

    def _parts(self, value: Shadow | Deferred) -> Hashable:
        """What makes it up; large arrays are not compared, so that each has a name of its own."""
        if isinstance(value, Shadow):
            return value.shape, *(self.of(a) for a in (value.lo, value.hi, value.kind))
        if value.function is None:
            return object()
        return value.function, value.shape, *map(self.of, value.operands)


@dataclass(frozen=True)
class Looks:
    """What a rule may see of a tensor."""

    shape: tuple[int, ...]
    dtype: torch.dtype


class AskedOperand:
    """An operand as a rule sees it: what it answers is kept."""

    def __init__(self, call: AskedCall, place: Place, operand: TorchOperand, shadow: Shadow) -> None:
        self._call, self.place, self.shadow = call, place, shadow
        self.shape = operand.shape
        self.value = Looks(operand.shape, operand.value.dtype)

    def known(self) -> Shadow:
        """As the operand's."""
        if (self.shadow.kind == FIXED).any():
            self.shadow = self._call.ask(Question("known", self.place))
        return self.shadow

    def array(self) -> Array:
        """As the operand's."""
        found: Array = self._call.ask(Question("array", self.place))
        return found


class AskedCall:
    """A call as a rule sees it: what it answers is kept, in `steps`."""

    def __init__(self, call: TorchCall, shadows: Iterable[Shadow], names: Names) -> None:
        self._call, self._names = call, names
        self.steps: list[tuple[Question, Hashable]] = []
        self.name, self.info, self.value = call.name, call.info, call.value
        self.last, self.finite_masks = call.last, call.finite_masks
        self.has, self.replay = call.has, call.replay
        given = enumerate(zip(call.operands(), shadows, strict=True))
        self._own = {id(o): AskedOperand(self, Place(i), o, shadow) for i, (o, shadow) in given}

    def __getitem__(self, name: str) -> Any:
        return self._asked(self._call[name])

    def _asked(self, value: Any) -> Any:
        return [self._asked(v) for v in value] if isinstance(value, list) else self._own.get(id(value), value)

    def operands(self) -> list[AskedOperand]:
        """As the call's."""
        return [self._own[id(o)] for o in self._call.operands()]

    def let_go(self) -> None:
        """The operands hold the call and the call holds them: what they take is given back at once."""
        self._own.clear()

    def ask(self, question: Question) -> Any:
        """Put the question, and keep the answer's name."""
        answer = question.put(self._call)
        self.steps.append((question, self._names.of(answer)))
        return answer

    def masked_zero(self, where: Array, *, value: Any = None, **told: Any) -> Any:
        """As the call's. Without values, there is no `value` to be looked at."""
        return self.ask(Question("masked_zero", None, (where,), tuple(told.items())))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in ASKED:
            raise AttributeError(f"{name} is nothing that a rule may ask of a call")

        def ask(*args: Any, **told: Any) -> Any:
            places = [a.place if isinstance(a, AskedOperand) else a for a in args]
            return self.ask(Question(name, None, tuple(places), tuple(told.items())))

        return ask


def as_list(result: Any) -> list[Shadow]:
    """What a rule returned, one shadow for each output that it speaks of."""
    if isinstance(result, Shadow):
        return [result]
    return [r for r in result if r is not None]
