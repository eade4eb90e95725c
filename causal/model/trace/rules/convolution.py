"""PyTorch's convolutions and pooling (see `transfer.convolution`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..registry import names, rule
from ..transfer.convolution import Windows, convolved, convolved_in_time, interpolated, pooled, pooled_evenly

if TYPE_CHECKING:
    from ..calls import TorchCall
    from ..domain import Shadow


def each(value: Any, count: int) -> list[int]:
    """One number for each of `count` axes; a single one stands for all."""
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def spatial(call: TorchCall) -> int:
    """Over how many axes an operation named after them works."""
    return 3 if "3d" in call.name else 2


def first_shape(call: TorchCall) -> tuple[int, ...]:
    """The shape of the first output."""
    return tuple((call.value[0] if isinstance(call.value, (tuple, list)) else call.value).shape)


def for_each_output(call: TorchCall, result: Shadow) -> Shadow | tuple[Shadow, ...]:
    """Where a pool tells the places of the largest numbers, too, they depend on the window as the numbers do."""
    return (result, result) if isinstance(call.value, (tuple, list)) else result


@rule(
    "aten.convolution", "aten._convolution", "aten.convolution_overrideable", "aten.mkldnn_convolution",
    fails="never", sees_sign=False,
)  # fmt: skip
def convolution(call: TorchCall) -> Shadow:
    """Any number of spatial axes, groups, strides, dilations, padding; transposed or not."""
    x, w, bias = call["input"] if call.has("input") else call["self"], call["weight"], call["bias"]
    kernel = w.shape[2:]
    stride, padding, dilation = (each(call[n], len(kernel)) for n in ("stride", "padding", "dilation"))
    transposed = bool(call["transposed"]) if call.has("transposed") else False
    windows = Windows(kernel, stride, padding, dilation, transposed)
    groups = call["groups"] if call.has("groups") else 1
    offset = None if bias is None else bias.shadow
    return convolved(call, x.shadow, w, offset, windows, groups, tuple(call.value.shape))


@rule("aten.conv_tbc", fails="never", sees_sign=False)
def convolution_in_time(call: TorchCall) -> Shadow:
    """Of (time, batch, channels)."""
    weight = call["weight"]
    parameters = [weight.shadow, call["bias"].shadow]
    return convolved_in_time(call["self"].shadow, parameters, weight.shape[0], call["pad"], tuple(call.value.shape))


@rule(
    "aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices", "aten.avg_pool2d", "aten.avg_pool3d",
    fails="never", sees_sign=False,
)  # fmt: skip
def pool(call: TorchCall) -> Shadow | tuple[Shadow, ...]:
    """The largest or the mean of a window; without a stride, windows lie side by side."""
    count = spatial(call)
    kernel = each(call["kernel_size"], count)
    dilation = each(call["dilation"] if call.has("dilation") else 1, count)
    windows = Windows(kernel, each(call["stride"] or kernel, count), each(call["padding"], count), dilation)
    return for_each_output(call, pooled(call["self"].shadow, windows, first_shape(call)[-count:]))


@rule(
    "aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d", "aten.adaptive_max_pool2d", "aten.adaptive_max_pool3d",
    fails="never", sees_sign=False,
)  # fmt: skip
def adaptive_pool(call: TorchCall) -> Shadow | tuple[Shadow, ...]:
    """Windows that divide an axis evenly."""
    return for_each_output(call, pooled_evenly(call["self"].shadow, first_shape(call)[-spatial(call) :]))


@rule(
    *names("upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d"),
    *names("_upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa"),
    fails="never", sees_sign=False,
)  # fmt: skip
def interpolation(call: TorchCall) -> Shadow:
    """Weighted means of neighbours along all axes but the first two."""
    return interpolated(call["self"].shadow, tuple(call.value.shape))
