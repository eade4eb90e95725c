"""PyTorch's operations that read and write at indices (see `transfer.indexing`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ..domain import FIXED, VARIES, Shadow, join_all, uniform
from ..registry import rule
from ..transfer import indexing
from ..transfer.indexing import Index

if TYPE_CHECKING:
    from ..calls import TorchCall


def indices_of(given: list[Any]) -> list[Index | None]:
    """Tensors for some of the axes; whole bytes count as truth values, as they do in PyTorch."""
    return [None if i is None else Index(i, mask=i.value.dtype in (torch.bool, torch.uint8)) for i in given]


def axis_of(call: TorchCall, axes: int) -> int:
    """The argument `dim`, counted from the front."""
    return int(call["dim"]) % max(1, axes)


@rule("aten.index", fails="whole numbers", sees_sign=False, shaped_by_masks="indices")
@rule("aten._unsafe_index", fails="whole numbers", sees_sign=False)
def index(call: TorchCall) -> Shadow:
    """x[i, j, …] with tensors for some of the axes."""
    return indexing.picked(call["self"].shadow, indices_of(call["indices"]), tuple(call.value.shape))


@rule("aten.gather", fails="whole numbers", sees_sign=False)
def gather(call: TorchCall) -> Shadow:
    """out[…, i, …] = x[…, index[…, i, …], …]."""
    shape = tuple(call.value.shape)
    return indexing.gathered(call["self"].shadow, call["index"], axis_of(call, len(shape)), shape)


@rule("aten.index_select", fails="whole numbers", sees_sign=False, carries=True)
def rows(call: TorchCall) -> Shadow:
    """Whole slices along one axis."""
    x = call["self"]
    return indexing.rows(x.shadow, call["index"], axis_of(call, len(x.shape)), tuple(call.value.shape))


@rule("aten.embedding", fails="whole numbers", sees_sign=False, layout="rows")
def embedding(call: TorchCall) -> Shadow:
    """Rows of a table."""
    return indexing.rows(call["weight"].shadow, call["indices"], 0, tuple(call.value.shape))


@rule("aten._embedding_bag", "aten._embedding_bag_forward_only", fails="whole numbers", sees_sign=False)
def bags(call: TorchCall) -> tuple[Shadow, ...]:
    """Sums of rows; what comes beside them serves the backward pass and joins everything."""
    first, *rest = call.value if isinstance(call.value, (tuple, list)) else [call.value]
    weights = call["per_sample_weights"]
    weights = None if weights is None else weights.shadow
    shadows = call["weight"].shadow, call["indices"].shadow
    everything = join_all(o.shadow for o in call.operands())
    result = indexing.bags(*shadows, weights, call["offsets"], tuple(first.shape))
    return (result, *(uniform(tuple(v.shape), VARIES, *everything) for v in rest))


# -- writing ----------------------------------------------------------------------------------------------------------


@rule("aten.index_put", "aten._unsafe_index_put", "aten._index_put_impl", fails="whole numbers", sees_sign=False)
def index_put(call: TorchCall) -> Shadow:
    """x[i, j, …] = values (or += with accumulate)."""
    return indexing.put(call, call["self"], indices_of(call["indices"]), call["values"], bool(call["accumulate"]))


@rule("aten.scatter", "aten.scatter_add", "aten.scatter_reduce", fails="whole numbers", sees_sign=False)
def scatter(call: TorchCall) -> Shadow:
    """out[…, index[…, i, …], …] = (or +=) src[…, i, …]."""
    x = call["self"]
    source = call["src"] if call.has("src") else call["value"]
    accumulate = call.name != "aten.scatter" or (call.has("reduce") and call["reduce"] is not None)
    return indexing.scattered(call, x, call["index"], source, axis_of(call, len(x.shape)), accumulate)


@rule(
    "aten.index_add", "aten.index_copy", "aten.index_fill", "aten.index_reduce", fails="whole numbers", sees_sign=False
)
def index_write(call: TorchCall) -> Shadow:
    """Whole slices along one axis written or added at indices."""
    x = call["self"]
    source = call["source"] if call.has("source") else call["value"]
    accumulate = call.name in ("aten.index_add", "aten.index_reduce")
    return indexing.slices_written(call, x, call["index"], source, axis_of(call, len(x.shape)), accumulate)


@rule("aten.take", fails="whole numbers", sees_sign=False)
def take(call: TorchCall) -> Shadow:
    """Flat reads."""
    x, i = call.operands()
    return indexing.taken(x.shadow, i.shadow, tuple(call.value.shape))


@rule("aten.embedding_renorm", fails="whole numbers", sees_sign=False)
@rule("aten.put", fails="whole numbers", sees_sign=False)
def put(call: TorchCall) -> Shadow:
    """Flat writes."""
    x, *others = (o.shadow for o in call.operands())
    return indexing.everywhere(x, others)


@rule("aten.masked_select", fails="whole numbers", sees_sign=False, shaped_by="mask")
def masked_select(call: TorchCall) -> Shadow:
    """With a constant mask, the elements it names in order."""
    return indexing.kept(call["self"].shadow, call["mask"], tuple(call.value.shape))


@rule("aten.nonzero", fails="whole numbers", sees_sign=False)
@rule("aten.repeat_interleave.Tensor", fails="whole numbers", sees_sign=False, shaped_by="repeats")
def places(call: TorchCall) -> Shadow:
    """Places of true elements of a constant mask (others are refused before: the shape would depend on values)."""
    return uniform(tuple(call.value.shape), FIXED)
