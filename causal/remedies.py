"""What to try when a verdict stays open because of one operation: the same model on a path that can be proved."""

from __future__ import annotations

from collections.abc import Iterable

EXPERTS = (
    "tokens are sorted or counted by expert, which intervals cannot follow back; where the library offers it, let each "
    "token gather its own experts' weights (transformers: experts_implementation='batched_mm') and check that"
)
NESTED = (
    "nested tensors pack the positions by a padding mask that depends on the input; build nn.TransformerEncoder with "
    "enable_nested_tensor=False"
)
REMEDIES = {
    "aten._grouped_mm": EXPERTS,
    "aten._nested_tensor_from_mask": NESTED,
    "aten._nested_tensor_from_mask_left_aligned": NESTED,
}


def remedies(operations: Iterable[str]) -> list[str]:
    """A sentence for each known way out, given the names of the operations that ran.

    >>> remedies(["aten.add", "aten._grouped_mm"])[0].split(",")[0]
    'tokens are sorted or counted by expert'
    """
    return list(dict.fromkeys(REMEDIES[name] for name in operations if name in REMEDIES))
