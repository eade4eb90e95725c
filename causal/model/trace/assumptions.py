"""What a proof from a run rests on, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .records import FINITE
from .rules.attention import KERNELS

if TYPE_CHECKING:
    import torch

    from .ledger import Ledger
    from .policy import Policy
    from .subject import Subject

FUSED = {"aten._native_multi_head_attention", "aten._transformer_encoder_layer_fwd"}


def assumptions(
    ledger: Ledger,
    subject: Subject,
    policy: Policy,
    inputs: Sequence[torch.Tensor],
    others: Sequence[torch.Tensor],
) -> tuple[str, ...]:
    """What a proof from this run rests on, in sentences."""
    said = [
        FINITE,
        "the model is a pure function of its inputs: what it keeps from earlier calls does not depend on them, and no "
        "thread that was running before takes part",
        f"shapes as run: {', '.join(str(tuple(t.shape)) for t in inputs)}, with positions along axis "
        f"{subject.sequence_axis}",
        *ledger.assumptions,
    ]
    if FUSED & set(ledger.counts):
        said.append(
            "the fused path of nn.MultiheadAttention, taken without gradients, computes what its plain path does"
        )
    if "aten._safe_softmax" in ledger.counts or any(k in ledger.counts for k in KERNELS):
        said.append("fused kernels of scaled_dot_product_attention compute what its math path does")
    if policy.others == "given" and others:
        said.append("the other inputs keep the values given")
    elif not all(is_real(t) for t in others):
        said.append("the other inputs of whole numbers and truth values keep the values given")
    if any(r.source != "input" for r in ledger.reads.values()):
        said.append("the program takes the route that the stored parameters and the random draws give")
    return tuple(said)


def is_real(tensor: torch.Tensor) -> bool:
    """Whether it holds floating or complex numbers."""
    return tensor.is_floating_point() or tensor.is_complex()
