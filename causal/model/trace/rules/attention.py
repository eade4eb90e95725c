"""PyTorch's fused attention kernels and layers (see `transfer.attention`).

While a model is traced, `scaled_dot_product_attention` takes its math path, so that every part is seen, except where
it is causal and without a mask: then a fused kernel may run, and its rows join prefixes, without a matrix of scores.
These rules serve programs that call a kernel directly, too, and the fused path of `nn.MultiheadAttention` and
`nn.TransformerEncoderLayer`.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from ..domain import FIXED, VARIES, Array, Shadow, uniform
from ..registry import names, rule
from ..transfer import attention as transfer
from ..transfer.attention import Bias, Rows, attended, attended_rows, rows_of

if TYPE_CHECKING:
    from ..calls import TorchCall, TorchOperand

KERNELS = names(
    """
    _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention
    _scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention
    _scaled_dot_product_fused_attention_overrideable
    """
)


@rule(*KERNELS, fails="never", sees_sign=False, numbers_by_shape=True)
def attention(call: TorchCall) -> tuple[Shadow, ...]:
    """The result, and what a kernel returns beside it: sums for the backward pass, the state of its random numbers."""
    q, k, v = call["query"], call["key"], call["value"]
    first, *rest = call.value if isinstance(call.value, (tuple, list)) else [call.value]
    given = next((call[n] for n in ("attn_mask", "attn_bias") if call.has(n)), None)
    bias = None
    if given is not None:

        def dropped(where: Array) -> Array:
            return call.masked_zero(where, value=functools.partial(weights_of, call, q, k, given))

        bias = Bias(given, is_boolean(given), dropped)
    out, last = attended(call, q, k, v, bias, bool(call["is_causal"]), tuple(first.shape))
    beside = (
        uniform(tuple(t.shape), VARIES, 0, last) if t.numel() else uniform(tuple(t.shape), FIXED)
        for t in rest
        if isinstance(t, torch.Tensor)
    )
    return (out, *beside)


def is_boolean(operand: TorchOperand) -> bool:
    """Whether a mask holds truth values."""
    return operand.value.dtype == torch.bool


def weights_of(call: TorchCall, q: TorchOperand, k: TorchOperand, bias: TorchOperand) -> torch.Tensor:
    """The attention weights of the concrete run, to see which of them are exactly 0."""
    scale = call["scale"] if call.has("scale") and call["scale"] is not None else 1 / math.sqrt(q.shape[-1])
    key = k.value
    if key.shape[1] != q.shape[1]:
        key = key.repeat_interleave(q.shape[1] // key.shape[1], 1)
    scores = q.value @ key.transpose(-1, -2) * scale
    if not is_boolean(bias):
        scores = scores + bias.value
    if call["is_causal"]:
        n, m = scores.shape[-2:]
        scores = scores.masked_fill(scores.new_ones(n, m).triu(1).bool(), -math.inf)
    return scores.softmax(-1)


def hidden_pairs(call: TorchCall, mask: TorchOperand | None, queries: int, keys: int) -> Array:
    """Pairs that the mask hides in every head; `mask_type` says how two axes are read."""
    if mask is None:
        return np.zeros((1, 1, 1), bool)
    told = functools.partial(call.finite_mask, mask.value)
    return transfer.hidden_pairs(call, mask, is_boolean(mask), reading_of(call), (queries, keys), told)


def reading_of(call: TorchCall) -> Literal["pairs", "padding"] | None:
    """How two axes of the call's mask are read."""
    readings: dict[int | None, Literal["pairs", "padding"]] = {0: "pairs", 1: "padding"}
    return readings.get(call["mask_type"]) if call.has("mask_type") else None


def beside(call: TorchCall) -> list[Rows]:
    """The rows of the call's mask, where it has one: one that data made says which keys count."""
    mask = call["mask"]
    return [] if mask is None else [transfer.rows_of_mask(mask.known(), reading_of(call))]


@rule("aten._native_multi_head_attention", fails="never", sees_sign=False)
def native_attention(call: TorchCall) -> tuple[Shadow, ...]:
    """Projections of each row, masked attention, projection; the mask counts where it hides exactly (true, or −∞).

    The weights of a query, (batch, queries, keys) or with heads before the queries, use no more than its output does.
    """
    q, k, v = call["query"], call["key"], call["value"]
    hidden = hidden_pairs(call, call["mask"], q.shape[1], k.shape[1])
    others = [o.shadow for o in call.operands() if o not in (q, k, v, call["mask"])]
    first, *rest = call.value
    kv, shape = rows_of(k.shadow, v.shadow), tuple(first.shape)
    out = attended_rows(rows_of(q.shadow), kv, hidden, beside(call), others, shape)
    return (out, *(_weights(tuple(t.shape), out) for t in rest if isinstance(t, torch.Tensor)))


def _weights(shape: tuple[int, ...], out: Shadow) -> Shadow:
    lo, hi = out.lo, out.hi
    if len(shape) not in (3, 4) or shape[-2] != out.shape[1]:  # none were asked for
        return uniform(shape, VARIES, int(lo.min()), int(hi.max()))
    if len(shape) == 4:
        lo, hi = lo[:, None], hi[:, None]
    return Shadow(shape, lo, hi, np.zeros((1,) * len(shape), np.uint8))


@rule("aten._transformer_encoder_layer_fwd", fails="never", sees_sign=False)
def native_layer(call: TorchCall) -> Shadow:
    """Attention, and functions of each row."""
    x = call["src"]
    rows = rows_of(x.shadow)
    others = [o.shadow for o in call.operands() if o not in (x, call["mask"])]
    hidden = hidden_pairs(call, call["mask"], x.shape[1], x.shape[1])
    return attended_rows(rows, rows, hidden, beside(call), others, tuple(call.value.shape))
