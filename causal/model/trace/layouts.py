"""How results lie in memory, where that may be otherwise than in the run: then `reshape` may give a view or a copy.

Attention takes its math path in a run, and a fused kernel outside, which lays its result out as it likes. Without
values the layout is what a shape function says, which kernels follow where all that they are given lies row by row. A
result whose layout is not certain is loose, and so is what is made of it. Nobody knows what shares memory with it, so
that it must not be written into, and what lies where must not be asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from .calls import TorchCall
    from .ledger import Ledger
    from .shadows import Shadows

ASKS = {"stride", "is_contiguous", "dim_order", "_is_view", "is_set_to", "untyped_storage", "storage"}
"""Functions that tell how a tensor lies, or beside what."""


class Layouts:
    """Which tensors of one run are loose."""

    def __init__(self, ledger: Ledger, shadows: Shadows) -> None:
        self.ledger, self.shadows = ledger, shadows

    def made(self, call: TorchCall, outputs: Sequence[torch.Tensor], numbers: bool) -> None:
        """An operation has made these; `numbers`: they were computed."""
        layout = call.info.facts.layout
        if layout == "rows":
            return
        operands = call.operands()
        loose = any(o.memory is not None and o.memory.is_loose for o in operands)
        if not (loose or numbers or self.shadows.has_values):
            loose = layout == "own" or call.info.rule is None
            loose = loose or (layout == "by rows" and not all(o.value.is_contiguous() for o in operands))
        if loose:
            self.loosen(outputs)

    def loosen(self, tensors: Sequence[torch.Tensor]) -> None:
        """These, and all in their memory, may lie otherwise."""
        for tensor in tensors:
            memory = self.shadows.memory_of(tensor)
            if memory is not None:
                memory.is_loose = True

    def are_loose(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether one of these may lie otherwise."""
        memories = map(self.shadows.memory_of, tensors)
        return any(memory is not None and memory.is_loose for memory in memories)

    def used(self, tensors: Sequence[torch.Tensor], how: str) -> None:
        """Something rests on how these lie, or on what lies beside them."""
        if self.are_loose(tensors):
            how += " a tensor whose layout is not certain"
            if not self.shadows.has_values:
                self.ledger.need(how)
            self.ledger.unseen(how)
