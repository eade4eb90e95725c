"""What leaves the tensors for Python while a model runs, each exit an entry in the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from . import signs
from .chosen import Chosen
from .pytree import leaves

if TYPE_CHECKING:
    from .ledger import Ledger
    from .shadows import Shadows

# sequences whose elements are no tensors, or whose tensors `leaves` gives one by one
KNOWN = (
    torch.Tensor,
    np.ndarray,
    np.generic,
    str,
    bytes,
    bytearray,
    memoryview,
    range,
    torch.Size,
    torch.UntypedStorage,
)


class Exits:
    """The exits of one run. `suppressing`: how many `contextlib.suppress` are open."""

    def __init__(self, ledger: Ledger, shadows: Shadows) -> None:
        self.ledger, self.shadows = ledger, shadows
        self.suppressing = 0
        self.chose_kernels = not torch.backends.cuda.flash_sdp_enabled()  # the program says which attention may take
        self.aside = False  # what runs is no operation of the program's
        self._busy = 0
        self.chosen = Chosen(ledger, shadows, self.stepping_aside, lambda: self.suppressing > 0)

    @property
    def is_busy(self) -> bool:
        """Whether an operation is under way."""
        return self._busy > 0

    @contextmanager
    def stepping_aside(self) -> Iterator[None]:
        """While it is open, operations are our own, and run as if nobody looked on."""
        before, self.aside = self.aside, True
        try:
            with self.busy():
                yield
        finally:
            self.aside = before

    def shown(self, tensor: torch.Tensor, how: str, window: bool = False) -> torch.Tensor:
        """The tensor whose values Python looks at: in a run without values, the numbers that it would have with them.

        Raises ValueNeeded where those were not computed. `window`: it may write them, too.
        """
        if self.shadows.has_values or self._busy:
            return tensor
        with self.stepping_aside():
            self.chosen.leaves([tensor])
            found = self.shadows.value(tensor)
            if found is not None:
                memory = self.shadows.memory_of(found, literal=True)  # where nobody has seen it yet
                if window and memory is not None:
                    self.shadows.opened(found, memory)
        if found is None:
            self.ledger.need(how)
        return found

    @contextmanager
    def busy(self) -> Iterator[None]:
        """While it is open, an operation is under way: what happens there is not the program's doing."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1

    @contextmanager
    def idle(self) -> Iterator[None]:
        """While it is open, an operation has handed over to the program: what happens there is its doing."""
        before, self._busy = self._busy, 0
        try:
            yield
        finally:
            self._busy = before

    def escaped(self, tensor: torch.Tensor, how: str, window: bool) -> None:
        """Python looks at the tensor's values; `window`: and keeps looking at its bytes."""
        if self._busy:
            return
        with self.busy():
            self._read(how, [tensor])
            memory = self.shadows.memory_of(tensor)
        if memory is not None and window:
            memory.exposed = True

    def _read(self, how: str, tensors: Sequence[torch.Tensor], is_truth: bool = False) -> None:
        self.ledger.read(how, [self.shadows.of(t) for t in tensors], is_truth)
        self.sign_read(how, tensors)
        for t in tensors:
            self.ledger.values_of(self.shadows.memory_of(t))

    def read_in_python(self, values: Any, how: str) -> None:
        """A constructor takes numbers out of tensors that lie in Python lists, which dispatches nothing."""
        if self._busy:
            return
        found = [v for _, v in leaves(values)]
        tensors = [v for v in found if isinstance(v, torch.Tensor)]
        if tensors:
            is_truth = how == "Tensor.__bool__()" and tensors[0].dtype == torch.bool  # which dispatches a read, too
            with self.busy():
                self._read(how, tensors, is_truth)
        if any(hasattr(v, "__len__") and hasattr(v, "__getitem__") and not isinstance(v, KNOWN) for v in found):
            self.ledger.unseen(f"{how}, through a sequence of its own kind")

    def out_of_sight(self, how: str) -> None:
        """Something runs where the dispatch mode does not see it."""
        if not self._busy and not self.shadows.has_values:
            self.ledger.need(how)
        if not self._busy:
            self.ledger.unseen(how)

    def sign_read(self, how: str, tensors: Sequence[torch.Tensor]) -> None:
        """Python sees the signs of the zeros in these tensors."""
        if any(signs.is_open(self.shadows, t) for t in tensors):
            self.ledger.unseen(f"{how} of a zero whose sign is open")
