"""How results lie in memory, where that may be otherwise than in the run: then `reshape` may give a view or a copy.

Attention takes its math path in a run, and a fused kernel outside, which lays its result out as it likes. Without
values the layout is what a shape function says, which kernels follow where all that they are given lies row by row. A
result whose layout is not certain is loose, and so is what is made of it. Nobody knows what shares memory with it, so
that it must not be written into, and what lies where must not be asked.

One that `zeros_like` or the like has just made stands apart: it shares its memory with nothing, however it lies. It may
be written into until something is made of it that is a view or a copy, as it lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .registry import names

if TYPE_CHECKING:
    import torch

    from .calls import TorchCall
    from .ledger import Ledger
    from .shadows import Shadows

ASKS = {"stride", "is_contiguous", "dim_order", "_is_view", "is_set_to", "untyped_storage", "storage"}
"""Functions that tell how a tensor lies, or beside what."""
NEW = names("zeros_like ones_like full_like empty_like")
VIEWS = names("select slice transpose permute t unsqueeze squeeze expand unbind split split_with_sizes")  # never copies
COPIES = names("clone _to_copy view_copy _unsafe_view _reshape_copy")  # by `reshape`, `contiguous`, `to`: or views


class Layouts:
    """Which tensors of one run are loose."""

    def __init__(self, ledger: Ledger, shadows: Shadows) -> None:
        self.ledger, self.shadows = ledger, shadows

    def made(self, call: TorchCall, outputs: Sequence[torch.Tensor], numbers: bool) -> None:
        """An operation has made these; `numbers`: they were computed."""
        layout, operands = call.info.facts.layout, call.operands()
        if call.name in COPIES:
            self.mixed([o.value for o in operands])
        if layout == "rows":
            return
        loose = any(o.memory is not None and o.memory.is_loose for o in operands)
        if not (loose or numbers or self.shadows.has_values):
            loose = layout == "own" or call.info.rule is None
            loose = loose or (layout == "by rows" and not all(o.value.is_contiguous() for o in operands))
        if not loose:
            return
        self.loosen(outputs)
        memory = self.shadows.memory_of(outputs[0]) if call.name in NEW else None
        if memory is not None:
            memory.is_apart = True

    def mixed(self, tensors: Sequence[torch.Tensor]) -> None:
        """Something was made of these that may be a view or a copy."""
        for tensor in tensors:
            memory = self.shadows.memory_of(tensor)
            if memory is not None:
                memory.is_apart = False

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

    def written(self, tensors: Sequence[torch.Tensor], how: str) -> None:
        """These are written into."""
        memories = [(t, self.shadows.memory_of(t)) for t in tensors]
        self.used([t for t, memory in memories if memory is None or not memory.is_apart], how)

    def used(self, tensors: Sequence[torch.Tensor], how: str) -> None:
        """Something rests on how these lie, or on what lies beside them."""
        if self.are_loose(tensors):
            how += " a tensor whose layout is not certain"
            if not self.shadows.has_values:
                self.ledger.need(how)
            self.ledger.unseen(how)
