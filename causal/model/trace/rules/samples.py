"""Samples of images, maxima sent back, distances between rows (see `transfer.samples`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..registry import rule
from ..transfer import losses, samples
from ..transfer.reductions import whole
from .losses import is_each

if TYPE_CHECKING:
    from ..calls import TorchCall
    from ..domain import Shadow


@rule("aten.max_unpool2d", "aten.max_unpool3d", fails="any", sees_sign=False)
def sent_back(call: TorchCall) -> Shadow:
    """Maxima at the places where they stood, in each channel of each image."""
    shape = tuple(call.value.shape)
    spatial = 2 if call.name == "aten.max_unpool2d" else 3
    return samples.by_leading_axes([o.shadow for o in call.operands()], len(shape) - spatial, shape)


@rule("aten.grid_sampler_2d", "aten.grid_sampler_3d", fails="never", sees_sign=False)
def sampled(call: TorchCall) -> Shadow:
    """An image at the points of a grid."""
    return samples.at_points(call["input"].shadow, call["grid"].shadow, tuple(call.value.shape))


@rule("aten.fractional_max_pool2d", "aten.fractional_max_pool3d", fails="any", sees_sign=False)
def drawn_windows(call: TorchCall) -> tuple[Shadow, ...]:
    """The largest of windows that random numbers place, in each channel of each image; and where they stood."""
    x = call["self"].shadow
    lead = len(x.shape) - (2 if call.name == "aten.fractional_max_pool2d" else 3)
    where = whole((1,) * len(x.shape), (call["random_samples"].shadow,))
    return tuple(samples.by_leading_axes([x, where], lead, tuple(v.shape)) for v in call.value)


@rule("aten.affine_grid_generator", fails="never", sees_sign=False)
def grid(call: TorchCall) -> Shadow:
    """The points at which to read each image, by its matrix."""
    return samples.by_leading_axes([call["theta"].shadow], 1, tuple(call.value.shape))


@rule("aten._pdist_forward", fails="never", sees_sign=False)
def distances(call: TorchCall) -> Shadow:
    """How far apart every two rows lie."""
    return samples.between_rows(call["self"].shadow, tuple(call.value.shape))


@rule("aten.multi_margin_loss", fails="whole numbers", sees_sign=False)
def margins(call: TorchCall) -> Shadow:
    """How far the scores of other classes come near that of a row's target."""
    weight = call["weight"]
    weights = [] if weight is None else [weight.shadow]
    shape = tuple(call.value.shape)
    return losses.of_rows(call["self"].shadow, call["target"].shadow, weights, shape, is_each(call))
