"""PyTorch's derivatives, where a program takes them on its way (see `transfer.derivatives`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ..domain import VARIES, ZERO, join_all, uniform
from ..registry import names, rule
from ..transfer import derivatives, indexing, samples
from ..transfer.convolution import Windows, convolved, pooled
from ..transfer.elementwise import pointwise
from ..transfer.reductions import whole
from .convolution import each, spatial
from .elementwise import generic
from .through import as_tensor

if TYPE_CHECKING:
    from ..calls import TorchCall
    from ..domain import Array, Shadow

ELEMENTS = names(
    """
    silu_backward gelu_backward tanh_backward sigmoid_backward threshold_backward leaky_relu_backward elu_backward
    hardtanh_backward mish_backward hardswish_backward hardsigmoid_backward softplus_backward native_dropout_backward
    hardshrink_backward softshrink_backward rrelu_with_noise_backward _prelu_kernel_backward
    mse_loss_backward smooth_l1_loss_backward huber_loss_backward soft_margin_loss_backward
    binary_cross_entropy_backward _standard_gamma_grad _dirichlet_grad
    """
)


@rule(*ELEMENTS, fails="whole numbers", sees_sign=False, pointwise=True)
@rule("aten.logit_backward", fails="whole numbers", sees_sign=False, pointwise=True, divides=True)
def of_elements(call: TorchCall) -> Any:
    """Element by element; of a mean, each counts alike."""
    return generic(call)


def tensors(call: TorchCall) -> list[torch.Tensor]:
    """The results that were asked for."""
    found = call.value if isinstance(call.value, (tuple, list)) else [call.value]
    return [v for v in found if isinstance(v, torch.Tensor)]


def shadows(call: TorchCall, *which: str) -> list[Shadow]:
    """Those of the operands of these names that were given."""
    return [call[name].shadow for name in which if call.has(name) and call[name] is not None]


def first_and_whole(call: TorchCall, first: Shadow, wanted: bool) -> tuple[Shadow, ...]:
    """The derivative by the input, where it was asked for, and those by parameters, which join everything."""
    everything = [o.shadow for o in call.operands()]
    rest = tensors(call)[1 if wanted else 0 :]
    return (*([first] if wanted else []), *(whole(tuple(v.shape), everything) for v in rest))


@rule(
    *names("_pdist_backward _segment_reduce_backward _embedding_bag_backward _embedding_bag_dense_backward"),
    *names("_embedding_bag_per_sample_weights_backward _ctc_loss_backward _weight_norm_interface"),
    *names("_weight_norm_interface_backward mkldnn_rnn_layer_backward masked_scatter_backward"),
    *names("_unsafe_masked_index _unsafe_masked_index_put_accumulate"),
    fails="any", sees_sign=False,
)  # fmt: skip
def of_everything(call: TorchCall) -> Any:
    """Each result joins everything."""
    given = [o.shadow for o in call.operands()]
    made = tuple(whole(tuple(v.shape), given) for v in tensors(call))
    return made if isinstance(call.value, (tuple, list)) else made[0]


# -- sums of what was moved -------------------------------------------------------------------------------------------


@rule(
    *names("col2im unfold_backward slice_backward select_backward diagonal_backward"),
    *names("reflection_pad1d_backward reflection_pad2d_backward reflection_pad3d_backward"),
    *names("replication_pad1d_backward replication_pad2d_backward replication_pad3d_backward"),
    *names("_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward"),
    *names("upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward"),
    *names("_upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward _upsample_nearest_exact3d_backward"),
    fails="never", sees_sign=False,
)  # fmt: skip
def added_up(call: TorchCall) -> Shadow:
    """Elements sent back to where they came from, and added there; a second operand lends its shape alone."""
    first, *rest = call.operands()
    lent = [torch.zeros(o.shape, dtype=torch.float64) for o in rest]

    def sent(array: Array) -> Array:
        found: Array = call.replay(as_tensor(array), *lent).numpy()
        return found

    return derivatives.added_up(first.shadow, sent)


@rule(
    *names("upsample_linear1d_backward upsample_bilinear2d_backward upsample_trilinear3d_backward"),
    *names("upsample_bicubic2d_backward _upsample_bilinear2d_aa_backward _upsample_bicubic2d_aa_backward"),
    *names("_upsample_lanczos2d_aa_backward"),
    fails="never", sees_sign=False,
)  # fmt: skip
def of_interpolation(call: TorchCall) -> Shadow:
    """All along the axes but the first two counts."""
    return samples.by_leading_axes([o.shadow for o in call.operands()], 2, tuple(call.value.shape))


@rule("aten.grid_sampler_2d_backward", "aten.grid_sampler_3d_backward", fails="never", sees_sign=False)
def of_samples(call: TorchCall) -> tuple[Shadow, ...]:
    """Images stay apart."""
    given = [o.shadow for o in call.operands()]
    return tuple(samples.by_leading_axes(given, 1, tuple(v.shape)) for v in tensors(call))


@rule("aten.max_pool2d_with_indices_backward", "aten.max_pool3d_with_indices_backward", fails="any", sees_sign=False)
@rule("aten.avg_pool2d_backward", "aten.avg_pool3d_backward", fails="never", sees_sign=False)
def of_pool(call: TorchCall) -> Shadow:
    """An element reads the windows that hold it, and where their largest elements stood."""
    count, x = spatial(call), call["self"]
    kernel = each(call["kernel_size"], count)
    dilation = each(call["dilation"] if call.has("dilation") else 1, count)
    windows = Windows(kernel, each(call["stride"] or kernel, count), each(call["padding"], count), dilation, True)
    given = shadows(call, "grad_output", "indices")
    return pooled(pointwise(given[0].shape, given), windows, tuple(x.shape[-count:]))


@rule(
    *names("adaptive_max_pool2d_backward adaptive_max_pool3d_backward"),
    *names("fractional_max_pool2d_backward fractional_max_pool3d_backward"),
    fails="any", sees_sign=False,
)  # fmt: skip
def of_maxima(call: TorchCall) -> Shadow:
    """In each channel of each image, anything."""
    shape = tuple(call.value.shape)
    return samples.by_leading_axes(shadows(call, "grad_output", "indices"), len(shape) - spatial(call), shape)


@rule("aten.embedding_dense_backward", fails="whole numbers", sees_sign=False)
def of_table(call: TorchCall) -> Shadow:
    """Rows added up at the places that they were read from."""
    gradient, index, shape = call["grad_output"].shadow, call["indices"], tuple(call.value.shape)
    if not index.shadow.is_fixed:
        return whole(shape, (gradient, index.shadow))
    slots = indexing.slots_of(shape)[indexing.within(index.array(), shape[0])]
    return indexing.written(uniform(shape, ZERO), slots, gradient, accumulate=True)


# -- contractions -----------------------------------------------------------------------------------------------------


@rule("aten.convolution_backward", fails="never", sees_sign=False)
def of_convolution(call: TorchCall) -> tuple[Shadow, ...]:
    """By the input, the transposed convolution, with the same weights."""
    if not call["output_mask"][0]:
        return first_and_whole(call, uniform((), VARIES), False)
    weight, shape = call["weight"], call["input"].shape
    count = len(weight.shape) - 2
    stride, padding, dilation = (each(call[n], count) for n in ("stride", "padding", "dilation"))
    windows = Windows(weight.shape[2:], stride, padding, dilation, not call["transposed"])
    gradient = call["grad_output"].shadow
    return first_and_whole(call, convolved(call, gradient, weight, None, windows, call["groups"], shape), True)


@rule("aten._cdist_backward", fails="never", sees_sign=False)
def of_distances(call: TorchCall) -> Shadow:
    """By the first rows."""
    rows = shadows(call, "grad", "x1", "cdist")
    return derivatives.of_distances(rows, call["x2"].shadow, tuple(call.value.shape))


# -- rows -------------------------------------------------------------------------------------------------------------


@rule("aten.nll_loss_backward", "aten.nll_loss2d_backward", fails="whole numbers", sees_sign=False)
@rule("aten.multi_margin_loss_backward", "aten.multilabel_margin_loss_backward", fails="any", sees_sign=False)
def of_scores(call: TorchCall) -> Shadow:
    """The scores of a row read its target, and where margins count the other scores."""
    shape = tuple(call.value.shape)
    rows = shadows(call, "grad_output", "target", *([] if "nll" in call.name else ["self"]))
    others = shadows(call, "weight", "total_weight")
    return derivatives.of_rows(rows, min(1, len(shape) - 1), shape, others)


@rule("aten.native_layer_norm_backward", "aten._fused_rms_norm_backward", fails="never", sees_sign=False)
def of_layer_norm(call: TorchCall) -> tuple[Shadow, ...]:
    """By the input, row by row."""
    shape = call["input"].shape
    axes = tuple(range(len(shape) - len(call["normalized_shape"]), len(shape)))
    rows = shadows(call, "grad_out", "input", "mean", "rstd")
    first = derivatives.of_norm(rows, axes, shape, shadows(call, "weight"))
    return first_and_whole(call, first, bool(call["output_mask"][0]))


@rule("aten.native_group_norm_backward", fails="never", sees_sign=False)
def of_group_norm(call: TorchCall) -> tuple[Shadow, ...]:
    """By the input, each element of the batch apart."""
    rows = shadows(call, "grad_out", "input", "mean", "rstd")
    parameters = [whole((1,), (p,)) for p in shadows(call, "weight")]
    first = samples.by_leading_axes([*rows, *parameters], 1, call["input"].shape)
    return first_and_whole(call, first, bool(call["output_mask"][0]))


@rule("aten.native_batch_norm_backward", "aten.batch_norm_backward", fails="never", sees_sign=False)
def of_batch_norm(call: TorchCall) -> tuple[Shadow, ...]:
    """By the input: with running statistics element by element, with those of the batch everything."""
    gradient, *rest = (o.shadow for o in call.operands())
    if call["train"] if call.has("train") else call["update"]:
        return first_and_whole(call, whole(gradient.shape, [gradient, *rest]), bool(call["output_mask"][0]))
    used = shadows(call, "weight", "running_mean", "running_var")
    first = pointwise(gradient.shape, [gradient, *(whole((), (s,)) for s in used)])
    return first_and_whole(call, first, bool(call["output_mask"][0]))


@rule(
    *names("_fake_quantize_learnable_per_tensor_affine_backward"),
    *names("_fake_quantize_learnable_per_channel_affine_backward"),
    fails="any", sees_sign=False,
)  # fmt: skip
def of_quantising(call: TorchCall) -> tuple[Shadow, ...]:
    """By the input element by element, by scales and zero points all of it."""
    given = shadows(call, "grad", "self")
    parameters = [whole((), (s,)) for s in shadows(call, "scale", "zero_point")]
    return first_and_whole(call, pointwise(given[0].shape, given + parameters), True)


# -- gates ------------------------------------------------------------------------------------------------------------


@rule("aten.glu_backward", "aten.glu_backward_jvp", fails="whole numbers", sees_sign=False)
def of_gate(call: TorchCall) -> Shadow:
    """Both halves read both."""
    shape = tuple(call.value.shape)
    return derivatives.of_gate([o.shadow for o in call.operands()], call["dim"] % len(shape), shape)


@rule("aten.glu_jvp", fails="whole numbers", sees_sign=False)
def along_gate(call: TorchCall) -> Shadow:
    """How a gate's result changes with its input."""
    shape = tuple(call.value.shape)
    return derivatives.through_gate([o.shadow for o in call.operands()], call["dim"] % len(shape), shape)


@rule("aten.log_sigmoid_backward", fails="whole numbers", sees_sign=False)
def of_log_sigmoid(call: TorchCall) -> Shadow:
    """Element by element; what the kernel kept lies as the input does, or is empty."""
    shape = tuple(call.value.shape)
    given = [o.shadow for o in call.operands() if 0 not in o.shape or 0 in shape]
    beside = [s if s.shape == shape else uniform((), VARIES, *join_all([s])) for s in given]
    return pointwise(shape, beside)
