"""Which tensors are kept in another form, in which parts may cancel, and what each operation makes of it.

See `transfer.cancelling` for why. Kept beside the shadows, as notes of each memory that any write to it drops. An
operation that is not named here leaves no form: what is missing costs precision alone. Only runs that take arithmetic
for that of real numbers (`Policy.real`) keep forms, and every shadow that one of them made sharper is a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from .instead import Instead
from .registry import names
from .shadows import geometry_of
from .sharing import as_list
from .transfer import cancelling
from .transfer.cancelling import LONGEST, Mixed, Origin, Parted, Spectrum

if TYPE_CHECKING:
    from .calls import TorchCall, TorchOperand
    from .domain import Shadow
    from .ledger import Ledger


@dataclass(frozen=True, eq=False)
class Form:
    """What else is known of a tensor; `value`: a shadow of it that holds as well."""

    origin: Origin | None = None
    mixed: Mixed | None = None
    parted: Parted | None = None
    spectrum: Spectrum | None = None
    value: Shadow | None = None


NOTHING = Form()
Step = Callable[["Seen"], Form]
Made = TypeVar("Made", bound=Step)
STEPS: dict[str, Step] = {}


def step(text: str) -> Callable[[Made], Made]:
    """Register what operations of PyTorch, named in a text, make of their operands' forms."""

    def register(function: Made) -> Made:
        STEPS.update(dict.fromkeys(names(text), function))
        return function

    return register


class Cancelling:
    """The forms of one run."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def of(self, operand: TorchOperand) -> Form:
        """What is known of an operand."""
        memory, tensor = operand.memory, operand.value
        if memory is None or memory.exposed or not memory.forms or tensor.is_neg() or tensor.is_conj():
            return NOTHING
        found = memory.forms.get(geometry_of(tensor), NOTHING)
        assert isinstance(found, Form)
        return found

    def origin(self, operand: TorchOperand) -> Origin | None:
        """The operand as it is now, by the same name for whoever asks until it is written next."""
        form, memory = self.of(operand), operand.memory
        if form.origin is not None or memory is None or memory.exposed:
            return form.origin
        if operand.value.is_neg() or operand.value.is_conj():
            return None
        made = Origin(cancelling.plain(operand.shadow))
        memory.forms[geometry_of(operand.value)] = replace(form, origin=made)
        return made

    def follow(self, call: TorchCall, outputs: Sequence[torch.Tensor], shadows: list[Shadow]) -> list[Shadow]:
        """The shadows of the results, sharper where parts cancelled; the form is left in `call.form`."""
        found = STEPS.get(call.name)
        if found is None or len(outputs) != 1 or call.info.is_random or not _is_number(outputs[0]):
            return shadows
        seen = Seen(self, call, tuple(outputs[0].shape))
        form = found(seen)
        call.form = form
        if not shadows or outputs[0].is_complex():
            return shadows
        mixed = None if form.mixed is None else form.mixed.shadow(seen.shape)
        for other in form.value, mixed, _rest(form.parted):
            better = cancelling.sharper(shadows[0], other) if other is not None else None
            if better is not None:
                self.ledger.real_arithmetic(call.name)
                shadows = [better]
        return shadows

    def keep(self, call: TorchCall, tensors: Sequence[torch.Tensor]) -> None:
        """The form that was found is that of this tensor, to which the result was written, or of a view."""
        if call.form is None or call.form is NOTHING or len(tensors) != 1:
            return
        (tensor,) = tensors
        memory = call.shadows.memory_of(tensor)
        if memory is not None and _is_number(tensor) and not (tensor.is_neg() or tensor.is_conj()):
            memory.forms[geometry_of(tensor)] = call.form


def _rest(parted: Parted | None) -> Shadow | None:
    return parted.rest if parted is not None and not parted.powers else None


def _is_number(tensor: torch.Tensor) -> bool:
    """Whether it holds numbers of a format whose rounding errors are small."""
    return tensor.dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128)


@dataclass(frozen=True)
class Seen:
    """The call at hand, with what is known of its operands, and the shape of its result."""

    forms: Cancelling
    call: TorchCall
    shape: tuple[int, ...]

    def form(self, operand: Any) -> Form:
        """What is known of an operand; of anything else, nothing."""
        return self.forms.of(operand) if hasattr(operand, "memory") else NOTHING

    def mixed(self, operand: Any, axis: int) -> Mixed | None:
        """The operand as mixed along an axis: of something else, or of itself."""
        found = self.form(operand).mixed
        if found is not None and found.axes[axis] == found.along:
            return found
        if not 1 < operand.shape[axis] <= LONGEST or not operand.shadow.depends:
            return None
        origin = self.forms.origin(operand)
        return None if origin is None else cancelling.itself(origin, axis)

    def parted(self, operand: Any, log: bool) -> Parted:
        """The operand in two parts; without anchors where nothing is known."""
        found = self.form(operand).parted
        if found is not None and found.log == log:
            return found
        return Parted(cancelling.plain(operand.known()), {}, log)

    def anchored(self, operand: Any, exponent: bool) -> Parted | None:
        """The operand as nothing but an anchor, where it is smaller than the result and depends on the input."""
        sizes = (1,) * (len(self.shape) - len(operand.shape)) + tuple(operand.shape)
        if sizes == self.shape or not operand.shadow.depends:
            return None
        origin = self.forms.origin(operand)
        if origin is None:
            return None
        axes = tuple(i if size > 1 else None for i, size in enumerate(operand.shape))
        return Parted(origin.shadow, {(origin, axes, exponent): 1}, exponent)

    def rest(self, instead: Mapping[Any, Shadow]) -> Shadow | None:
        """What the operation's rule finds where operands have other shadows."""
        rule = self.call.info.rule
        if rule is None:
            return None
        return cancelling.plain(as_list(rule.function(Instead(self.call, instead)))[0])
