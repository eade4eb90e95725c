"""Softmax and norms (see `transfer.normalising`)."""

from __future__ import annotations

from typing import Any

from ..domain import VARIES, Shadow, reshape, uniform
from ..registry import rule
from ..transfer import normalising as transfer
from ..transfer.elementwise import pointwise
from ..transfer.reductions import reduced


@rule("aten._softmax", "aten._safe_softmax", fails="never", sees_sign=False)
def softmax(call: Any) -> Shadow:
    """exp(x) / Σ exp(x) over one axis."""
    x = call["self"].known()
    return transfer.softmax(call, x, call["dim"] % max(1, len(x.shape)), call.name == "aten._safe_softmax")


@rule("aten._log_softmax", fails="never", sees_sign=False)
def log_softmax(call: Any) -> Shadow:
    """x − log Σ exp(x) over one axis."""
    x = call["self"]
    return transfer.log_softmax(call, x, call["dim"] % max(1, len(x.shape)))


@rule("aten._softmax_backward_data", "aten._log_softmax_backward_data", fails="never", sees_sign=False)
def softmax_derivative(call: Any) -> Shadow:
    """Each element reads its row of both."""
    x, rank = call["grad_output"], len(call.value.shape)
    axis = call["dim"] % max(1, rank)
    row = tuple(1 if a == axis else n for a, n in enumerate(x.shape))
    shadows = [x.shadow, call["output"].shadow]
    return pointwise(x.shape, [reduced(s, (axis,), row) for s in shadows] if rank else shadows)


@rule("aten.renorm", fails="never", sees_sign=False)
def renormalised(call: Any) -> Shadow:
    """Each slice along an axis is scaled by its own norm."""
    x, axis = call["self"].shadow, call["dim"] % len(call.value.shape)
    rest = tuple(a for a in range(len(x.shape)) if a != axis)
    norm = reduced(x, rest, tuple(n if a == axis else 1 for a, n in enumerate(x.shape)))
    return pointwise(x.shape, [x, norm])


def given(call: Any, *which: str) -> list[Any]:
    """The operands of these names that the operation has and was given."""
    return [call[name] for name in which if call.has(name) and call[name] is not None]


@rule("aten.native_layer_norm", "aten._fused_rms_norm", fails="never", sees_sign=False)
def layer_norm(call: Any) -> Any:
    """Layer and RMS norm; beside the output a row's mean and deviation."""
    parameters = [p.shadow for p in given(call, "weight", "bias")]
    out, statistic = transfer.layer_norm(call["input"].shadow, len(call["normalized_shape"]), parameters)
    if not isinstance(call.value, (tuple, list)):
        return out
    return (out, *(reshape(statistic, tuple(v.shape)) for v in call.value[1:]))


@rule("aten.native_group_norm", fails="never", sees_sign=False)
def group_norm(call: Any) -> Any:
    """Group norm; beside the output a group's mean and deviation."""
    parameters = [p.shadow for p in given(call, "weight", "bias")]
    out, statistic = transfer.group_norm(call["input"].shadow, call["group"], parameters)
    return out, statistic, statistic


def _batch_norm(call: Any, training: bool) -> tuple[Shadow, list[Shadow], Shadow]:
    """Output, the running mean and variance as they are afterwards, and the batch's."""
    running = [r.shadow for r in given(call, "running_mean", "running_var")]
    parameters = [p.shadow for p in given(call, "weight", "bias")]
    return transfer.batch_norm(call["input"].shadow, running, parameters, training)


def _statistics(call: Any, statistic: Shadow, values: Any) -> list[Shadow]:
    """The batch's mean and deviation, where they are returned; a workspace may depend on anything."""

    def of(value: Any) -> Shadow:
        shape = tuple(value.shape)
        if value.numel() == statistic.shape[0]:
            return reshape(statistic, shape)
        return uniform(shape, VARIES, 0, call.last) if value.numel() else uniform(shape, VARIES)

    return [of(v) for v in values]


@rule("aten.native_batch_norm", "aten.cudnn_batch_norm", "aten.miopen_batch_norm", fails="never", sees_sign=False)
def batch_norm(call: Any) -> Any:
    """Running statistics are written although the schema does not say so."""
    training = bool(call["training"])
    out, after, statistic = _batch_norm(call, training)
    if training:
        for target, shadow in zip(given(call, "running_mean", "running_var"), after, strict=True):
            call.assign(target, shadow)
    rest = [uniform(tuple(v.shape), VARIES, 0, call.last) for v in call.value[3:]]
    return (out, *_statistics(call, statistic, call.value[1:3]), *rest)


@rule(
    "aten._native_batch_norm_legit_no_training",
    "aten._batch_norm_no_update",
    "aten._native_batch_norm_legit.no_stats",
    fails="never",
    sees_sign=False,
)
def batch_norm_pure(call: Any) -> Any:
    """Without writes: evaluation mode, or the batch's own statistics without a running mean."""
    out, _, statistic = _batch_norm(call, call.name == "aten._native_batch_norm_legit")
    return (out, *_statistics(call, statistic, call.value[1:]))


@rule("aten._native_batch_norm_legit", "aten._batch_norm_with_update", fails="never", sees_sign=False)
def batch_norm_legit(call: Any) -> Any:
    """Targets first (running mean and variance), then the outputs."""
    training = bool(call["training"]) if call.has("training") else True
    out, after, statistic = _batch_norm(call, training)
    return (*after, out, *_statistics(call, statistic, call.value[1:]))
