"""PyTorch's operations that move, copy, join or cut elements (see `transfer.movement`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..domain import FIXED, Shadow, reshape, uniform
from ..registry import names, rule
from ..transfer import movement
from ..transfer.elementwise import known
from .through import as_tensor, through, through_alone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..calls import TorchCall
    from ..domain import Array


SAME = names(
    "detach alias lift_fresh lift alias_copy detach_copy lift_fresh_copy conj_physical _conj_physical _pin_memory"
)


@rule(
    "aten.view.default", "aten._unsafe_view", "aten._reshape_copy",
    fails="never", sees_sign=False, moves=True, carries=True,
)  # fmt: skip
@rule("aten.view_copy", fails="never", sees_sign=False, moves=True)
def reshaped(call: TorchCall) -> Shadow:
    """Row-major order is kept."""
    return reshape(call["self"].shadow, tuple(call.value.shape))


@rule("aten.clone", fails="never", sees_sign=False, moves=True, carries=True, layout="kept")
@rule(*SAME, fails="never", sees_sign=False, moves=True)
def same(call: TorchCall) -> Shadow:
    """The same elements."""
    shadow: Shadow = call["self"].shadow
    return shadow


@rule("aten._to_copy", fails="never", sees_sign=False, zero_from_zero=True, carries=True, layout="kept")
def converted(call: TorchCall) -> Shadow:
    """Another type; between floating formats the shadow stays the same."""
    x: Shadow = call["self"].shadow
    old, new = call["self"].value.dtype, call.value.dtype
    if old == new or (old.is_floating_point and new.is_floating_point):
        return x
    return movement.converted(x, positive=new.is_floating_point or new == torch.bool)


VIEWS = names(
    """
    t transpose permute expand slice select unsqueeze squeeze split split_with_sizes unbind diagonal unfold
    """
)


@rule(*VIEWS, fails="never", sees_sign=False, moves=True)
def view(call: TorchCall) -> tuple[Shadow, ...]:
    """A strided view of the same elements."""
    return movement.moved([o.shadow for o in call.operands()], through(call))


COPIES = names(
    """
    rot90 unsafe_split unsafe_split_with_sizes permute_copy transpose_copy expand_copy slice_copy select_copy
    unsqueeze_copy squeeze_copy t_copy unbind_copy split_copy split_with_sizes_copy unfold_copy diagonal_copy
    narrow_copy channel_shuffle pixel_shuffle pixel_unshuffle diagonal_scatter
    """
)


@rule(
    *names("repeat flip roll stack slice_scatter select_scatter"),
    fails="never", sees_sign=False, moves=True, carries=True,
)  # fmt: skip
@rule(*COPIES, fails="never", sees_sign=False, moves=True)
def copied(call: TorchCall) -> tuple[Shadow, ...]:
    """The same elements in another order, repeated or left out."""
    return movement.moved([o.shadow for o in call.operands()], through(call), squeeze=True)


@rule("aten._pack_padded_sequence", fails="any", sees_sign=False, shaped_by="lengths")
def packed(call: TorchCall) -> tuple[Shadow, ...]:
    """The elements before the end of each sequence, step by step; and how many sequences reach each step."""
    lengths = call["lengths"].value

    def sent(arrays: Sequence[Array]) -> list[Array]:
        return [call.replay(as_tensor(a), lengths)[0].numpy() for a in arrays]

    counts = uniform(tuple(call.value[1].shape), FIXED)
    return (*movement.moved([call["input"].shadow], sent, squeeze=True), counts)


@rule("aten.cat", fails="never", sees_sign=False, moves=True, carries=True)
def cat(call: TorchCall) -> Shadow:
    """Joined end to end; operands that are empty and one-dimensional do not count."""
    shape = tuple(call.value.shape)
    axis = range(len(shape))[call["dim"]]
    shadows = [o.shadow for o in call["tensors"] if len(o.shape) == len(shape) and o.shape[axis]]
    return movement.joined(shadows, axis, shape)


@rule("aten.constant_pad_nd", fails="never", sees_sign=False, moves=True, carries=True)
def constant_pad(call: TorchCall) -> Shadow:
    """A border of constants (of 0 most often); `pad` counts from the last axis, (before, after) each."""
    x, pad = call["self"].shadow, list(call["pad"])
    given = list(zip(pad[::2], pad[1::2], strict=True))
    widths = [(0, 0)] * (len(x.shape) - len(given)) + given[::-1]
    return movement.padded(x, known(call, call["value"]), widths)


@rule("aten.im2col", fails="never", sees_sign=False, moves=True, carries=True)
@rule(
    "aten.reflection_pad1d", "aten.reflection_pad2d", "aten.reflection_pad3d", "aten.replication_pad1d",
    "aten.replication_pad2d", "aten.replication_pad3d",
    "aten.upsample_nearest1d", "aten.upsample_nearest2d", "aten.upsample_nearest3d",
    "aten._upsample_nearest_exact1d", "aten._upsample_nearest_exact2d", "aten._upsample_nearest_exact3d",
    fails="never", sees_sign=False, moves=True,
)  # fmt: skip
def transported(call: TorchCall) -> Shadow:
    """Each output element is one input element or 0."""
    (x,) = call.operands()
    return movement.transported(x.shadow, through_alone(call))


@rule("aten.tril", "aten.triu", fails="never", sees_sign=False, moves=True)
def triangle(call: TorchCall) -> Shadow:
    """The elements on one side of a diagonal."""
    return movement.triangle(call["self"].shadow, call["diagonal"], upper=call.name == "aten.triu")


@rule("aten.diag_embed", "aten.block_diag", "aten._chunk_cat", fails="never", sees_sign=False, moves=True)
def diagonal(call: TorchCall) -> Shadow:
    """The elements, and exact zeros elsewhere: beside a diagonal, or where pieces are filled up."""
    return movement.among_zeros([o.shadow for o in call.operands()], through(call))


@rule("aten.copy_", fails="never", sees_sign=False, zero_from_zero=True, carries=True, overlaps=True)
@rule("aten.copy", fails="never", sees_sign=False, zero_from_zero=True, carries=True)
def overwrite(call: TorchCall) -> Shadow:
    """The source, broadcast, in the target's type."""
    target, source = call["self"], call["src"]
    old, new = source.value.dtype, target.value.dtype
    s = source.shadow
    if old != new and not (old.is_floating_point and new.is_floating_point):
        s = movement.converted(s)
    return movement.broadcast(s, target.shape)


@rule("aten.masked_scatter", fails="never", sees_sign=False, moves=True)
def masked_scatter(call: TorchCall) -> Shadow:
    """Elements of the source wherever the mask is true."""
    shape = tuple(call.value.shape)
    return movement.masked_scatter(call, call["self"], call["mask"], call["source"].shadow, shape)
