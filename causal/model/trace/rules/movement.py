"""Operations that move, copy, join or cut elements and compute nothing: the shadow moves the same way.

The operation itself is applied to the three arrays of the shadow, expanded without copying (stride 0 where they are
compressed), so an axis along which nothing varies stays free. Reshapes work on the compressed arrays directly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..domain import (
    FIXED,
    NONE_HI,
    NONE_LO,
    POSITIVE,
    RANK,
    VARIES,
    ZERO,
    Array,
    Shadow,
    align,
    compress,
    full,
    reshape,
    uniform,
)
from ..registry import names, rule
from ..transfer.elementwise import assemble, known, select

SAME = names("detach alias lift_fresh lift alias_copy detach_copy lift_fresh_copy _conj_physical _pin_memory")


@rule(
    "aten.view.default", "aten._unsafe_view", "aten._reshape_copy",
    fails="never", sees_sign=False, zero_from_zero=True, carries=True,
)  # fmt: skip
@rule("aten.view_copy", fails="never", sees_sign=False, zero_from_zero=True)
def reshaped(call: Any) -> Shadow:
    """Row-major order is kept."""
    return reshape(call["self"].shadow, tuple(call.value.shape))


@rule("aten.clone", fails="never", sees_sign=False, zero_from_zero=True, carries=True)
@rule(*SAME, fails="never", sees_sign=False, zero_from_zero=True)
def same(call: Any) -> Shadow:
    """The same elements."""
    return call["self"].shadow


@rule("aten._to_copy", fails="never", sees_sign=False, zero_from_zero=True, carries=True)
def converted(call: Any) -> Shadow:
    """Another type: rounding and truncation are functions of the element. Constants are looked at again."""
    x = call["self"]
    if call.value.dtype == x.value.dtype:
        return x.shadow
    s = x.shadow
    if call.value.dtype.is_floating_point and x.value.dtype.is_floating_point:
        return s
    kind = np.where(s.kind >= FIXED, np.uint8(FIXED), np.uint8(VARIES))
    kind = np.where(s.kind == ZERO, np.uint8(ZERO), kind)
    if call.value.dtype.is_floating_point or str(call.value.dtype) == "torch.bool":
        kind = np.where(s.kind == POSITIVE, np.uint8(POSITIVE), kind)
    return Shadow(s.shape, s.lo, s.hi, kind)


def spread(shadow: Shadow) -> list[Any]:
    """lo, hi and kind as torch tensors of the tensor's own shape, without copying."""
    return [as_torch(a).expand(shadow.shape) for a in (shadow.lo, shadow.hi, shadow.kind)]


def as_torch(array: Array) -> Any:
    """A torch tensor that shares the array's memory where it may."""
    import torch

    return torch.from_numpy(array if array.flags.c_contiguous and array.flags.writeable else array.copy())


def gathered(tensor: Any) -> Array:
    """A torch tensor as a NumPy array, axes of stride 0 cut to size 1."""
    for axis in range(tensor.dim()):
        if tensor.stride(axis) == 0 and tensor.shape[axis] > 1:
            tensor = tensor.narrow(axis, 0, 1)
    array: Array = tensor.numpy()
    return array


def shadows_of(parts: list[Any], squeeze: bool) -> Shadow:
    """The shadow from three torch tensors."""
    shape = tuple(parts[0].shape)
    lo, hi, kind = (compress(gathered(p)) if squeeze else gathered(p) for p in parts)
    return Shadow(shape, lo, hi, kind)


def moved(call: Any, squeeze: bool = False) -> Any:
    """Apply the operation to the shadows of its tensor arguments, one part (lo, hi, kind) at a time."""
    operands = call.operands()
    triples = [spread(o.shadow) for o in operands]
    results = [call.replay(*(t[i] for t in triples)) for i in range(3)]
    if isinstance(results[0], (list, tuple)):
        return tuple(shadows_of(list(parts), squeeze) for parts in zip(*results, strict=True))
    return shadows_of(results, squeeze)


VIEWS = names(
    """
    t transpose permute expand slice select unsqueeze squeeze split split_with_sizes unbind diagonal unfold
    """
)


@rule(*VIEWS, fails="never", sees_sign=False, zero_from_zero=True)
def view(call: Any) -> Any:
    """A strided view of the same elements."""
    return moved(call)


COPIES = names(
    """
    rot90 unsafe_split unsafe_split_with_sizes permute_copy transpose_copy expand_copy slice_copy select_copy
    unsqueeze_copy squeeze_copy t_copy unbind_copy split_copy split_with_sizes_copy unfold_copy diagonal_copy
    channel_shuffle pixel_shuffle pixel_unshuffle diagonal_scatter
    """
)


@rule(
    *names("repeat flip roll stack slice_scatter select_scatter"),
    fails="never", sees_sign=False, zero_from_zero=True, carries=True,
)  # fmt: skip
@rule(*COPIES, fails="never", sees_sign=False, zero_from_zero=True)
def copied(call: Any) -> Any:
    """The same elements in another order, repeated or left out."""
    return moved(call, squeeze=True)


@rule("aten.cat", fails="never", sees_sign=False, zero_from_zero=True, carries=True)
def cat(call: Any) -> Shadow:
    """Joined end to end; operands that are empty and one-dimensional do not count."""
    shape = tuple(call.value.shape)
    axis = range(len(shape))[call["dim"]]
    shadows = [o.shadow for o in call["tensors"] if len(o.shape) == len(shape) and o.shape[axis]]
    parts = []
    for arrays in zip(*((s.lo, s.hi, s.kind) for s in shadows), strict=True):
        sizes = [max(a.shape[d] for a in arrays) for d in range(len(shape))]
        pieces = []
        for a, s in zip(arrays, shadows, strict=True):
            target = list(sizes)
            target[axis] = s.shape[axis]
            pieces.append(np.broadcast_to(a, target))
        parts.append(compress(np.concatenate(pieces, axis)))
    if not parts:
        return uniform(shape, FIXED)
    return Shadow(shape, *parts)


@rule("aten.constant_pad_nd", fails="never", sees_sign=False, zero_from_zero=True, carries=True)
def constant_pad(call: Any) -> Shadow:
    """A border of constants (of 0 most often); a negative width cuts."""
    x, pad = call["self"].shadow, list(call["pad"])
    shape = tuple(call.value.shape)
    fill = known(call, call["value"])
    arrays = [x.lo, x.hi, x.kind]
    for i in range(len(pad) // 2):
        axis = len(shape) - 1 - i
        before, after = pad[2 * i], pad[2 * i + 1]
        if before == 0 and after == 0:
            continue
        for which, (a, value) in enumerate(zip(arrays, (fill.lo, fill.hi, fill.kind), strict=True)):
            target = list(a.shape)
            target[axis] = x.shape[axis]
            a = np.broadcast_to(a, target)
            a = a[(slice(None),) * axis + (slice(max(0, -before), target[axis] - max(0, -after)),)]
            widths = [(0, 0)] * len(shape)
            widths[axis] = (max(0, before), max(0, after))
            arrays[which] = np.pad(a, widths, constant_values=value.reshape(-1)[0])
    return Shadow(shape, *(compress(a) for a in arrays))


@rule("aten.im2col", fails="never", sees_sign=False, zero_from_zero=True, carries=True)
@rule(
    "aten.reflection_pad1d", "aten.reflection_pad2d", "aten.reflection_pad3d", "aten.replication_pad1d",
    "aten.replication_pad2d", "aten.replication_pad3d",
    "aten.upsample_nearest1d", "aten.upsample_nearest2d", "aten._upsample_nearest_exact1d",
    fails="never", sees_sign=False, zero_from_zero=True,
)  # fmt: skip
def transported(call: Any) -> Shadow:
    """Each output element is one input element or 0: numbers that name the elements are sent through the operation."""
    import torch

    (x,) = call.operands()
    names = torch.arange(1, x.value.numel() + 1, dtype=torch.float64).reshape(x.shape)
    which = call.replay(names).numpy().astype(np.int64)
    parts = []
    for a, empty in zip(full(x.shadow), (NONE_LO, NONE_HI, ZERO), strict=True):
        flat = np.concatenate([np.array([empty], a.dtype), a.reshape(-1)])
        parts.append(compress(flat[which]))
    return Shadow(tuple(call.value.shape), *parts)


@rule("aten.tril", "aten.triu", fails="never", sees_sign=False, zero_from_zero=True)
def triangle(call: Any) -> Shadow:
    """The elements on one side of a diagonal; exact zeros on the other."""
    x = call["self"].shadow
    rows, columns = x.shape[-2:]
    keep = np.tri(rows, columns, call["diagonal"] if call.name == "aten.tril" else call["diagonal"] - 1, bool)
    keep = keep if call.name == "aten.tril" else ~keep
    keep = align(keep, len(x.shape))
    lo, hi = np.where(keep, x.lo, RANK(NONE_LO)), np.where(keep, x.hi, RANK(NONE_HI))
    return Shadow(x.shape, lo, hi, np.where(keep, x.kind, np.uint8(ZERO)))


@rule("aten.diag_embed", "aten.block_diag", fails="never", sees_sign=False, zero_from_zero=True)
def diagonal(call: Any) -> Shadow:
    """The elements, and exact zeros elsewhere."""
    operands = call.operands()
    triples = [spread(o.shadow) for o in operands]
    # 0 is where nothing was put: shift every part so that 0 means an empty interval and an exact zero.
    shifts = (NONE_LO, NONE_HI, ZERO)
    parts = []
    for i, shift in enumerate(shifts):
        sent = [t[i].long() - shift for t in triples]
        back = call.replay(*sent) + shift
        parts.append(back.numpy().astype(np.uint8 if i == 2 else RANK))
    lo, hi, kind = (compress(p) for p in parts)
    return assemble(tuple(call.value.shape), lo, hi, kind)


@rule("aten.copy_", fails="never", sees_sign=False, zero_from_zero=True, carries=True, overlaps=True)
@rule("aten.copy", fails="never", sees_sign=False, zero_from_zero=True, carries=True)
def overwrite(call: Any) -> Shadow:
    """The source, broadcast, in the target's type."""
    target = call["self"]
    source = call["src"]
    s = source.shadow
    if source.value.dtype != target.value.dtype:
        s = _converted(s, source.value.dtype, target.value.dtype)
    axes = len(target.shape)
    lo, hi, kind = (align(a.reshape(a.shape[max(0, a.ndim - axes) :]), axes) for a in (s.lo, s.hi, s.kind))
    return Shadow(target.shape, lo, hi, kind)


def _converted(s: Shadow, old: Any, new: Any) -> Shadow:
    if new.is_floating_point and old.is_floating_point:
        return s
    kind = np.where(s.kind >= FIXED, np.uint8(FIXED), np.uint8(VARIES))
    kind = np.where(s.kind == ZERO, np.uint8(ZERO), kind)
    return Shadow(s.shape, s.lo, s.hi, kind)


@rule("aten.masked_scatter", fails="never", sees_sign=False, zero_from_zero=True)
def masked_scatter(call: Any) -> Shadow:
    """Elements of the source in the order of the mask's true entries: any of them, wherever the mask may be true."""
    target, mask, source = call["self"], call["mask"], call["source"]
    shape = tuple(call.value.shape)
    if mask.shadow.is_fixed:
        lo, hi = int(source.shadow.lo.min()), int(source.shadow.hi.max())
        from types import SimpleNamespace

        any_of_it = uniform(shape, VARIES, lo, hi)
        return select(call, mask, SimpleNamespace(known=lambda: any_of_it), target, shape)
    s = [o.shadow for o in (mask, source)]
    lo = min(int(a.lo.min()) for a in s)
    hi = max(int(a.hi.max()) for a in s)
    t = target.shadow
    return assemble(
        shape, np.minimum(t.lo, RANK(lo)), np.maximum(t.hi, RANK(hi)), np.zeros((1,) * len(shape), np.uint8)
    )
