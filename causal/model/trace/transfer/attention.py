"""Attention: softmax(q kᵀ / √d + bias) v and whole layers around it, composed from the transfer functions of the parts.

Attention that is causal and without a mask needs no matrix of scores: its rows join prefixes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..domain import (
    BIG,
    FIXED,
    NEGINF,
    NONE_HI,
    NONE_LO,
    RANK,
    VARIES,
    ZERO,
    Array,
    Shadow,
    align,
    join_all,
    join_intervals,
    kinds_from,
    without,
)
from .contractions import contract, sweep
from .elementwise import assemble
from .normalising import softmax

if TYPE_CHECKING:
    from .context import Context, Operand

# -- kernels: queries, keys and values (…, heads, positions, features) ------------------------------------------------


@dataclass(frozen=True)
class Bias:
    """What is added to the scores, or (`boolean`) which of them count.

    `dropped` takes the scores that large finite numbers hide, and says which of them get a weight of exactly 0 in the
    concrete run; it records the condition.
    """

    operand: Operand
    boolean: bool
    dropped: Callable[[Array], Array]


def attended(
    run: Context, q: Operand, k: Operand, v: Operand, bias: Bias | None, causal: bool, shape: tuple[int, ...]
) -> tuple[Shadow, int]:
    """Scores, bias, causal mask (aligned at the first position), softmax, weighted sum; and the largest rank that any
    of the weights or results can depend on, for what a kernel returns beside the result.
    """
    prefixes = causal and bias is None
    x, y, z = (o.shadow if prefixes else o.known() for o in (q, k, v))
    if y.shape[:-2] != x.shape[:-2]:  # grouped queries: join the heads of the keys and values
        y, z = (joined_heads(s, x.shape[1]) for s in (y, z))
    if prefixes:
        out = attended_prefixes(x, y, z, shape)
        return out, int(out.hi.max(initial=NONE_HI))
    lo, hi, kind = contract(run, q, k, x, transposed(y))
    scores = assemble((*x.shape[:-1], y.shape[-2]), lo, hi, kinds_from(kind >= FIXED))
    if bias is not None:
        scores = biased(run, scores, bias)
    if causal:
        scores = without(scores, ~np.tri(scores.shape[-2], scores.shape[-1], 0, bool), NEGINF)
    weights = softmax(run, scores, len(scores.shape) - 1, safe=True)
    weights = Shadow(weights.shape, weights.lo, weights.hi, _zeros_only(weights.kind))
    lo, hi, kind = contract(run, q, v, weights, z)
    out = assemble(shape, lo, hi, _zeros_only(kind))
    return out, max(int(weights.hi.max(initial=NONE_HI)), int(hi.max(initial=NONE_HI)))


def _zeros_only(kind: Array) -> Array:
    """Of what is known of the numbers, only where they are exactly 0."""
    return np.where(kind == ZERO, kind, np.uint8(VARIES))


def transposed(s: Shadow) -> Shadow:
    """Last two axes swapped."""
    shape = (*s.shape[:-2], s.shape[-1], s.shape[-2])
    return Shadow(shape, *(np.swapaxes(a, -1, -2) for a in (s.lo, s.hi, s.kind)))


def joined_heads(s: Shadow, heads: int) -> Shadow:
    """Every one of `heads` heads joins all that there are (axis 1)."""
    kind = kinds_from((s.kind >= FIXED).all(1, keepdims=True))
    return Shadow((s.shape[0], heads, *s.shape[2:]), s.lo.min(1, keepdims=True), s.hi.max(1, keepdims=True), kind)


def biased(run: Context, scores: Shadow, bias: Bias) -> Shadow:
    """Scores with the bias: −∞ where it hides them (false, or −∞), and where a large finite number does, as far as the
    concrete run gives those a weight of exactly 0.
    """
    axes = len(scores.shape)
    b = bias.operand.known()
    lo, hi = join_intervals([scores, b], axes)
    hidden = align((b.kind == ZERO) if bias.boolean else (b.kind == NEGINF), axes)
    scores = assemble(scores.shape, lo, hi, np.where(hidden, np.uint8(NEGINF), np.uint8(VARIES)))
    run.values_used(bias.operand)
    lowered = b.kind == BIG
    return without(scores, bias.dropped(align(lowered, axes)), NEGINF) if lowered.any() else scores


def attended_prefixes(q: Shadow, k: Shadow, v: Shadow, shape: tuple[int, ...]) -> Shadow:
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


# -- whole layers: inputs (batch, positions, features), of which every row counts as one ------------------------------

Rows = tuple[Array, Array]  # lo and hi, (batch, positions, 1)


def rows_of(*shadows: Shadow) -> Rows:
    """The features joined, and the tensors too."""
    lo, hi = [s.lo.min(-1, keepdims=True) for s in shadows], [s.hi.max(-1, keepdims=True) for s in shadows]
    return functools.reduce(np.minimum, lo), functools.reduce(np.maximum, hi)


def hidden_pairs(
    run: Context,
    mask: Operand,
    boolean: bool,
    reading: Literal["pairs", "padding"] | None,
    pairs: tuple[int, int],
    assumed: Callable[[], None],
) -> Array:
    """Pairs (query, key) that the mask hides in every head, shape (batch or 1, queries or 1, keys or 1): where it is
    true (`boolean`) or −∞. A large finite number counts for that, too, on a condition, which `assumed` records.

    Two axes are (queries, keys), `reading` "pairs", or (batch, keys), "padding"; without it what both readings hide.
    """
    s = mask.known()
    hides = (s.kind >= FIXED) & (s.kind != ZERO) if boolean else s.kind == NEGINF
    run.values_used(mask)
    if (s.kind == BIG).any() and not boolean:  # exact in the fused path; conditional in the plain one
        assumed()
        hides = hides | (s.kind == BIG)
    if len(s.shape) == 2:
        by_pairs: Array = hides[None]
        by_key: Array = hides[:, None, :]
        if reading == "pairs":
            return by_pairs
        return by_key if reading == "padding" or s.shape != pairs else by_pairs & by_key
    in_every_head: Array = hides.all(1) if len(s.shape) == 4 else hides.all(0, keepdims=True)
    return in_every_head


def rows_of_mask(mask: Shadow, reading: Literal["pairs", "padding"] | None) -> Rows:
    """What the entries of a mask depend on that count for a query, (batch or 1, queries or 1, 1)."""
    parts = []
    for a, join in ((mask.lo, np.minimum), (mask.hi, np.maximum)):
        of_rows: Array = join.reduce(a, axis=-1, keepdims=True)  # over the keys
        if a.ndim == 4:
            parts.append(join.reduce(of_rows, axis=1))
        elif a.ndim == 2 and reading == "pairs":
            parts.append(of_rows[None])
        elif a.ndim == 2 and reading == "padding":
            parts.append(of_rows[:, None])
        elif a.ndim == 3:
            parts.append(join.reduce(of_rows, axis=0, keepdims=True))
        else:
            parts.append(join.reduce(a, axis=None).reshape(1, 1, 1))
    return parts[0], parts[1]


def attended_rows(
    q: Rows, kv: Rows, hidden: Array, beside: Sequence[Rows], others: Sequence[Shadow], shape: tuple[int, ...]
) -> Shadow:
    """Projections of each row, masked attention, functions of each row: query i joins itself, its row of what stands
    `beside`, the keys and values not hidden from it, and all of the `others`, which are parameters most often.
    """
    low, high = join_all(others)
    lo = np.minimum(np.minimum(q[0], sweep(hidden, kv[0], NONE_LO, np.minimum)), RANK(low))
    hi = np.maximum(np.maximum(q[1], sweep(hidden, kv[1], NONE_HI, np.maximum)), RANK(high))
    for low_rows, high_rows in beside:
        lo, hi = np.minimum(lo, low_rows), np.maximum(hi, high_rows)
    return Shadow(shape, lo, hi, np.zeros((1, 1, 1), np.uint8))
