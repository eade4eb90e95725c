"""Fused attention kernels: softmax(q kᵀ / √d + bias) v and whole layers around it, composed from the rules of the
parts.

While a model is traced, `scaled_dot_product_attention` takes its math path, so that every part is seen, except where
it is causal and without a mask: then a fused kernel may run, and its rows join prefixes, without a matrix of scores.
These rules serve programs that call a kernel directly, too, and the fused path of `nn.MultiheadAttention` and
`nn.TransformerEncoderLayer`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..domain import (
    BIG,
    FIXED,
    NEGINF,
    NONE_HI,
    NONE_LO,
    VARIES,
    ZERO,
    Array,
    Shadow,
    align,
    join_all,
    join_intervals,
    kinds_from,
    uniform,
    without,
)
from ..registry import names, rule
from ..transfer.contractions import contract, sweep
from ..transfer.elementwise import assemble
from ..transfer.normalising import softmax

KERNELS = names(
    """
    _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention
    _scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention
    _scaled_dot_product_fused_attention_overrideable
    """
)


def transposed(s: Shadow) -> Shadow:
    """Last two axes swapped."""
    shape = (*s.shape[:-2], s.shape[-1], s.shape[-2])
    return Shadow(shape, *(np.swapaxes(a, -1, -2) for a in (s.lo, s.hi, s.kind)))


@rule(*KERNELS, fails="never", sees_sign=False, numbers_by_shape=True)
def attention(call: Any) -> Any:
    """Scores, bias, causal mask (aligned at the first position), softmax, weighted sum."""
    q, k, v = call["query"], call["key"], call["value"]
    bias = next((call[n] for n in ("attn_mask", "attn_bias") if call.has(n)), None)
    outputs = list(call.value) if isinstance(call.value, (tuple, list)) else [call.value]
    shape = tuple(outputs[0].shape)
    x, y, z = (o.shadow if call["is_causal"] and bias is None else o.known() for o in (q, k, v))
    if y.shape[:-2] != x.shape[:-2]:  # grouped queries: join the heads of the keys and values
        y, z = (_joined_heads(s, x.shape[1]) for s in (y, z))
    if call["is_causal"] and bias is None:
        out = _prefixes(x, y, z, shape)
        rest = _rest(outputs, int(out.hi.max(initial=NONE_HI)))
        return (out, *rest) if isinstance(call.value, (tuple, list)) else out
    lo, hi, kind = contract(call, q, k, x, transposed(y))
    scores = assemble((*x.shape[:-1], y.shape[-2]), lo, hi, kinds_from(kind >= FIXED))
    axes = len(scores.shape)
    if bias is not None:
        b = bias.known()
        a, c = join_intervals([scores, b], axes)
        hidden = align((b.kind == ZERO) if _is_bool(bias) else (b.kind == NEGINF), axes)
        scores = assemble(scores.shape, a, c, np.where(hidden, np.uint8(NEGINF), np.uint8(VARIES)))
        call.values_used(bias)
        if (b.kind == BIG).any():
            dropped = call.masked_zero(align(b.kind == BIG, axes), None, _weights(call, q, k, bias))
            scores = without(scores, dropped, NEGINF)
    if call["is_causal"]:
        scores = without(scores, ~np.tri(scores.shape[-2], scores.shape[-1], 0, bool), NEGINF)
    weights = softmax(call, scores, axes - 1, safe=True)
    weights = Shadow(
        weights.shape, weights.lo, weights.hi, np.where(weights.kind == ZERO, weights.kind, np.uint8(VARIES))
    )
    lo, hi, kind = contract(call, q, v, weights, z)
    out = assemble(shape, lo, hi, np.where(kind == ZERO, kind, np.uint8(VARIES)))
    last = max(int(weights.hi.max(initial=NONE_HI)), int(hi.max(initial=NONE_HI)))
    return (out, *_rest(outputs, last)) if isinstance(call.value, (tuple, list)) else out


def _rest(outputs: list[Any], last: int) -> list[Shadow]:
    """What a kernel returns beside the result: sums for the backward pass, the state of its random numbers."""
    return [
        uniform(tuple(value.shape), VARIES, 0, last) if value.numel() else uniform(tuple(value.shape), FIXED)
        for value in outputs[1:]
        if hasattr(value, "shape")
    ]


def _prefixes(q: Shadow, k: Shadow, v: Shadow, shape: tuple[int, ...]) -> Shadow:
    """Causal attention without a mask: row i joins query i and the keys and values 0…i; row 0 is value 0 alone."""
    rows, keys = q.shape[-2], k.shape[-2]
    parts = []
    for a, b, c, reduce in ((q.lo, k.lo, v.lo, np.minimum), (q.hi, k.hi, v.hi, np.maximum)):
        seen = reduce(reduce.reduce(b, axis=-1, keepdims=True), c)  # (…, keys, features): both halves of each term
        seen = np.broadcast_to(seen, (*seen.shape[:-2], keys, seen.shape[-1]))
        joined = reduce.accumulate(seen, axis=-2)
        joined = np.take(joined, np.minimum(np.arange(rows), keys - 1), axis=-2)
        result = reduce(joined, reduce.reduce(a, axis=-1, keepdims=True))
        result[..., :1, :] = c[..., :1, :]
        parts.append(result)
    fixed = q.is_fixed and k.is_fixed and v.is_fixed
    return assemble(shape, parts[0], parts[1], kinds_from(np.full((1,) * len(shape), fixed)))


def _is_bool(operand: Any) -> bool:
    return str(operand.value.dtype) == "torch.bool"


def _joined_heads(s: Shadow, heads: int) -> Shadow:
    kind = kinds_from((s.kind >= FIXED).all(1, keepdims=True))
    return Shadow((s.shape[0], heads, *s.shape[2:]), s.lo.min(1, keepdims=True), s.hi.max(1, keepdims=True), kind)


def _weights(call: Any, q: Any, k: Any, bias: Any) -> Any:
    """The attention weights of the concrete run, to see which of them are exactly 0."""
    scale = call["scale"] if call.has("scale") and call["scale"] is not None else 1 / math.sqrt(q.shape[-1])
    key = k.value
    if key.shape[1] != q.shape[1]:
        key = key.repeat_interleave(q.shape[1] // key.shape[1], 1)
    scores = q.value @ key.transpose(-1, -2) * scale
    if not _is_bool(bias):
        scores = scores + bias.value
    if call["is_causal"]:
        n, m = scores.shape[-2:]
        scores = scores.masked_fill(scores.new_ones(n, m).triu(1).bool(), -math.inf)
    return scores.softmax(-1)


# -- whole layers: rows (batch, positions, 1) -------------------------------------------------------------------------


def _rows(s: Shadow) -> tuple[Array, Array]:
    return s.lo.min(-1, keepdims=True), s.hi.max(-1, keepdims=True)


def _hidden(call: Any, mask: Any, queries: int, keys: int) -> Array:
    """Pairs that the mask hides in every head, shape (batch or 1, queries or 1, keys or 1).

    Two axes are (queries, keys) where `mask_type` is 0 and (batch, keys) where it is 1; without it what both readings
    hide.
    """
    if mask is None:
        return np.zeros((1, 1, 1), bool)
    s = mask.known()
    true = (s.kind >= FIXED) & (s.kind != ZERO) if _is_bool(mask) else s.kind == NEGINF
    call.values_used(mask)
    if (s.kind == BIG).any() and not _is_bool(mask):  # exact in the fused path; conditional in the plain one
        call.finite_mask(mask.value)
        true = true | (s.kind == BIG)
    if len(s.shape) == 2:
        given = call["mask_type"] if call.has("mask_type") else None
        pairs, padding = true[None], true[:, None, :]
        if given == 0:
            return pairs  # type: ignore[no-any-return]
        if given == 1 or s.shape != (queries, keys):
            return padding  # type: ignore[no-any-return]
        return pairs & padding  # type: ignore[no-any-return]
    if len(s.shape) == 4:
        return true.all(1)  # type: ignore[no-any-return]
    return true.all(0, keepdims=True)  # type: ignore[no-any-return]


def _attend(q: tuple[Array, Array], kv: tuple[Array, Array], hidden: Array) -> tuple[Array, Array]:
    lo = np.minimum(q[0], sweep(hidden, kv[0], NONE_LO, np.minimum))
    hi = np.maximum(q[1], sweep(hidden, kv[1], NONE_HI, np.maximum))
    return lo, hi


def _with(rows: tuple[Array, Array], others: list[Any]) -> tuple[Array, Array]:
    lo, hi = join_all(o.shadow for o in others)
    return np.minimum(rows[0], np.int32(lo)), np.maximum(rows[1], np.int32(hi))


@rule("aten._native_multi_head_attention", fails="never", sees_sign=False)
def native_attention(call: Any) -> Any:
    """Projections of each row, masked attention, projection; the mask counts where it hides exactly (true, or −∞)."""
    q, k, v, mask = call["query"], call["key"], call["value"], call["mask"]
    a, b = _rows(k.shadow), _rows(v.shadow)
    keys = np.minimum(a[0], b[0]), np.maximum(a[1], b[1])
    hidden = _hidden(call, mask, q.shape[1], k.shape[1])
    others = [o for o in call.operands() if o not in (q, k, v)]
    rows = _with(_attend(_rows(q.shadow), keys, hidden), others)
    kind = np.zeros((1, 1, 1), np.uint8)
    outputs = [Shadow(tuple(call.value[0].shape), *rows, kind)]
    for value in call.value[1:]:
        if value is not None and hasattr(value, "shape"):
            outputs.append(uniform(tuple(value.shape), VARIES, int(rows[0].min()), int(rows[1].max())))
    return tuple(outputs)


@rule("aten._transformer_encoder_layer_fwd", fails="never", sees_sign=False)
def native_layer(call: Any) -> Shadow:
    """Attention, and functions of each row."""
    x, mask = call["src"], call["mask"]
    n = x.shape[1]
    others = [o for o in call.operands() if o is not x]
    rows = _rows(x.shadow)
    rows = _with(_attend(rows, rows, _hidden(call, mask, n, n)), others)
    return Shadow(tuple(call.value.shape), *rows, np.zeros((1, 1, 1), np.uint8))
