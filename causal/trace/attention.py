"""Fused attention kernels: softmax(q kᵀ / √d + bias) v, composed from the rules of its parts.

While a model is traced, `scaled_dot_product_attention` takes its math path, so that every part is seen; these rules serve
programs that call a kernel directly. A finite bias has no special meaning here, since the weights are not at hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .domain import BIG, FIXED, MASKED, NEGINF, VARIES, ZERO, Shadow, align, join_intervals, kinds_from, uniform, without
from .contractions import contract
from .elementwise import assemble
from .normalising import softmax_shadow
from .registry import rule

KERNELS = """
    _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention
    _scaled_dot_product_cudnn_attention _scaled_dot_product_fused_attention_overrideable _scaled_dot_product_attention_math
    """.split()


def transposed(s: Shadow) -> Shadow:
    """Last two axes swapped."""
    shape = (*s.shape[:-2], s.shape[-1], s.shape[-2])
    return Shadow(shape, *(np.swapaxes(a, -1, -2) for a in (s.lo, s.hi, s.kind)))


@rule(*(f"aten.{name}" for name in KERNELS))
def attention(call: Any) -> Any:
    """Scores, bias, causal mask (aligned at the first position), softmax, weighted sum."""
    q, k, v = call["query"], call["key"], call["value"]
    bias = next((call[n] for n in ("attn_mask", "attn_bias") if call.has(n)), None)
    outputs = list(call.value) if isinstance(call.value, (tuple, list)) else [call.value]
    shape = tuple(outputs[0].shape)
    x, y, z = q.known(), k.known(), v.known()
    if y.shape[:-2] != x.shape[:-2]:  # grouped queries: join the heads of the keys and values
        y, z = (Shadow((*x.shape[:2], *s.shape[2:]), s.lo.min(1, keepdims=True), s.hi.max(1, keepdims=True),
                       kinds_from((s.kind >= FIXED).all(1, keepdims=True))) for s in (y, z))  # fmt: skip
    lo, hi, kind = contract(call, q, k, x, transposed(y))
    scores = assemble((*x.shape[:-1], y.shape[-2]), lo, hi, np.where(kind >= FIXED, np.uint8(FIXED), np.uint8(VARIES)))
    axes = len(scores.shape)
    if bias is not None:
        b = bias.known()
        a, c = join_intervals([scores, b], axes)
        fixed = (scores.kind >= FIXED) & (align(b.kind, axes) >= FIXED)
        hidden = align((b.kind == ZERO) if str(bias.value.dtype) == "torch.bool" else (b.kind == NEGINF), axes)
        scores = assemble(scores.shape, a, c, np.where(hidden, np.uint8(NEGINF), kinds_from(fixed)))
    if call["is_causal"]:
        future = ~np.tri(scores.shape[-2], scores.shape[-1], 0, bool)
        scores = without(scores, future, NEGINF)
    loose = np.isin(scores.kind, (MASKED, BIG))
    scores = Shadow(scores.shape, scores.lo, scores.hi, np.where(loose, np.uint8(VARIES), scores.kind))
    weights = softmax_shadow(call, scores, axes - 1, safe=True)
    weights = Shadow(weights.shape, weights.lo, weights.hi, np.where(weights.kind == ZERO, weights.kind, np.uint8(VARIES)))
    lo, hi, kind = contract(call, q, v, weights, z)
    out = assemble(shape, lo, hi, np.where(kind == ZERO, kind, np.uint8(VARIES)))
    rest = []
    for value in outputs[1:]:
        if not hasattr(value, "shape"):
            continue
        size = tuple(value.shape)
        last = int(weights.hi.max()) if weights.hi.size else -1
        rest.append(uniform(size, VARIES, 0, max(last, int(hi.max()))) if value.numel() else uniform(size, FIXED))
    return (out, *rest) if isinstance(call.value, (tuple, list)) else out
