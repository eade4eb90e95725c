"""What an exact zero hides: its sign, and that the number it kills must be finite.

0 · x is 0 for every finite x, but −0 for x < 0, and NaN for an infinite one. So a zero that a product made carries no
interval, yet whoever tells +0 from −0 sees x; and a rule that promises a zero, or a −∞, is held to it in the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from .domain import FIXED, NEGINF, ZERO, Shadow, align

if TYPE_CHECKING:
    from .calls import TorchOperand
    from .registry import Facts
    from .schema import Info
    from .shadows import Shadows


def sees(info: Info, operands: Sequence[TorchOperand]) -> str:
    """Whether an operation tells +0 from −0: "sees", "may see", "has no rule and may see", or nothing."""
    facts = info.facts
    if facts.sees_sign is None:
        return "may see" if info.rule is not None else "has no rule and may see"
    cut = facts.branch_cut and any(o.value.is_complex() for o in operands)
    return "sees" if facts.sees_sign or cut else ""


def is_open(shadows: Shadows, tensor: torch.Tensor) -> bool:
    """Whether the tensor holds a known zero that may be −0 or +0, as the input's forbidden values will."""
    memory, shadow = shadows.memory_of(tensor), shadows.of(tensor)
    if memory is None or not memory.signed or not bool((shadow.kind >= FIXED).any()):
        return False
    found = shadows.value(tensor)
    if found is None:
        real = tensor.is_floating_point() or tensor.is_complex()
        taken = real and bool(((shadow.kind == ZERO) | (shadow.kind == FIXED)).any())
        if taken:
            shadows.ledger.want("the sign of a zero")
        return taken
    value = found.detach().resolve_conj().resolve_neg()
    value = torch.view_as_real(value) if value.is_complex() else value
    return value.is_floating_point() and bool((value == 0).any())


def keeps(facts: Facts, operands: Sequence[TorchOperand], tensor: torch.Tensor, shadow: Shadow) -> bool:
    """Whether every 0 and −∞ that a rule promises is one in this run; and no zero of open sign was divided by."""
    if not tensor.is_floating_point() or torch._is_zerotensor(tensor) or tensor.is_meta:
        return True
    signed = [o for o in operands if o.memory is not None and o.memory.signed]
    if facts.divides and signed:
        known = torch.from_numpy(np.asarray(align(shadow.kind, tensor.dim()) >= FIXED)).to(tensor.device)
        infinite = tensor.detach().isinf() & known
        if bool(infinite.any()) and not (facts.pointwise and not any(_meets_zero(infinite, tensor, o) for o in signed)):
            return False
    for kind, number in ((ZERO, 0.0), (NEGINF, -torch.inf)):
        where = np.asarray(shadow.kind == kind)  # of a number it would be a plain truth value
        if where.any():
            wrong = tensor.detach() != number
            promised = torch.from_numpy(np.asarray(align(where, tensor.dim()))).to(tensor.device)
            if bool(wrong.any()) and bool((wrong & promised).any()):
                return False
    return True


def _meets_zero(infinite: torch.Tensor, result: torch.Tensor, operand: TorchOperand) -> bool:
    """Whether an operand may have been 0 where the result is infinite, as it is by overflow as well."""
    value = operand.value.detach()
    if value.is_meta or value.untyped_storage()._cdata == result.untyped_storage()._cdata:
        return True  # its numbers are not there any more
    return bool((infinite & (value == 0)).any())
