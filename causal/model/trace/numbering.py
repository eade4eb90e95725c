"""Value numbers: two tensors of different runs have the same one only if the same operations made them of the same.

Tensors are numbered by what their storage holds: an input, a tensor from before the run, numbers from Python, or what
an operation with these arguments wrote there. Random draws are told apart by where the
generator stands. Numbers are shared by all runs
that use one `Table`, so that they can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ..age import is_new
from .course import PLAIN
from .domain import FIXED
from .memory import UNSEEN
from .pytree import tensors_of
from .shadows import geometry_of

if TYPE_CHECKING:
    from .ledger import Ledger
    from .memory import Memory
    from .records import Operation
    from .schema import Info
    from .shadows import Shadows

MOST = 1 << 16  # bytes of numbers from Python that are compared


class Table:
    """A number for each thing, the same for equal ones."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, thing: Hashable) -> int:
        """The number."""
        return self._numbers.setdefault(thing, len(self._numbers))


class Numbering:
    """The value numbers of one run.

    `lost`: something was seen of which nobody knows how it was made. `outcomes`: the truth values that reads of data
    are made to give, by the number of what is read; `asked`: what was read, in order, with the outcome; `since`: how
    many operations ran since the `last` read that was asked for the first time.
    """

    ledger: Ledger  # of the run

    def __init__(self, table: Table, outcomes: Mapping[int, bool]) -> None:
        self.table, self.outcomes = table, outcomes
        self.asked: dict[int, bool] = {}
        self.lost = False
        self.since = 0
        self.last: Operation | None = None

    def name(self, shadows: Shadows, tensor: torch.Tensor, what: Hashable) -> None:
        """What a tensor holds when the run begins."""
        memory = shadows.memory_of(tensor)
        if memory is not None:
            memory.number = self.table.of(("given", what))

    def of(self, shadows: Shadows, tensor: torch.Tensor) -> int:
        """The number of a tensor."""
        memory = shadows.memory_of(tensor)
        number: int | None = UNSEEN
        if memory is not None and memory.exposed:
            number = self._held(memory, tensor)
        elif memory is not None:
            if memory.number is None:
                memory.number = self._found(memory, tensor)
            number = memory.number
        if number == UNSEEN:
            self.lost = True
            return UNSEEN
        return self.table.of((number, geometry_of(tensor), tensor.is_neg(), tensor.is_conj()))

    def _found(self, memory: Memory, tensor: torch.Tensor) -> int:
        """Of a storage that no operation was seen to make."""
        if memory.older and not is_new(tensor):
            return self.table.of(("older", tensor.untyped_storage()._cdata))
        return UNSEEN if memory.older else self._held(memory, tensor)

    def _held(self, memory: Memory, tensor: torch.Tensor) -> int:
        """Of constants, by what they are now."""
        storage = tensor.untyped_storage()
        if storage.nbytes() > MOST or not bool((memory.kinds >= FIXED).all()):
            return UNSEEN
        held = torch.empty(0, dtype=torch.uint8).set_(storage.cpu(), 0, (storage.nbytes(),), (1,))
        return self.table.of(("numbers", bytes(held.tolist())))

    def read(self, shadows: Shadows, tensor: torch.Tensor, value: bool, operation: Operation) -> bool:
        """The outcome of a read of a truth value, by this operation."""
        number = self.of(shadows, tensor)
        if number not in self.asked:
            self.asked[number] = self.outcomes.get(number, value)
            self.since, self.last = 0, operation
        return self.asked[number]

    @property
    def is_steered(self) -> bool:
        """Whether the program read more of the input than truth values."""
        return any(r.source == "input" and not r.is_truth for r in self.ledger.reads.values())

    def numbered(self, shadows: Shadows, info: Info, args: Any, kwargs: Any, call: Callable[[], Any]) -> Any:
        """Make the call, and number what it returns and writes."""
        self.since += 1
        key = self.table.of((info.names, self._key(shadows, (list(args), dict(kwargs))), self._draw(info)))
        targets = [v for name in info.written for v in self._argument(info, name, args, kwargs)]
        before = [(t, self.of(shadows, t), geometry_of(t)) for t in targets]
        value = call()
        for tensor, old, geometry in before:
            memory = shadows.memory_of(tensor)
            if memory is not None:
                memory.number = self.table.of(("written", old, memory.number, geometry, key))
        for at, tensor in enumerate(tensors_of(value)):
            memory = shadows.memory_of(tensor)
            if memory is not None and memory.number in (None, UNSEEN):
                memory.number = self.table.of(("made", key, at))
        return value

    def _draw(self, info: Info) -> Hashable:
        """Where the generator stands that a random operation is about to ask."""
        return bytes(torch.default_generator.get_state().tolist()) if info.is_random else None

    def _argument(self, info: Info, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
        at = info.positions[name]
        value = kwargs[name] if name in kwargs else args[at] if at < len(args) else None
        return tensors_of(value)

    def _key(self, shadows: Shadows, value: Any) -> Hashable:
        if isinstance(value, torch.Tensor):
            return "tensor", self.of(shadows, value)
        if isinstance(value, (list, tuple)):
            return (type(value).__name__, *(self._key(shadows, v) for v in value))
        if isinstance(value, dict):
            return tuple((k, self._key(shadows, v)) for k, v in sorted(value.items()))
        if type(value) not in PLAIN:
            self.lost = True
        return type(value).__name__, repr(value)
