"""Convolutions and pooling: windows, padding, groups, masked kernels."""

from __future__ import annotations

from needs import need

torch = need("torch")

import pytest
import torch.nn.functional as F
from tensor_probe import check, normal

X = normal(8, 4)
W = normal(3, 4, 3, seed=1)
MASKED = W * torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)


def line(x):
    return x.T[None]


def plane(x):
    return x[None, None]


CASES = {
    "in time": lambda x: [torch.conv_tbc(x[:, None], normal(3, 4, 2), normal(2), pad) for pad in (0, 2)],
    "in time, batches": lambda x: torch.conv_tbc(x.T[:, :, None].contiguous(), normal(2, 1, 2), normal(2), 1),
    "adaptive volume": lambda x: F.adaptive_max_pool3d(plane(x)[None], (1, 4, 2)),
    "lanczos": lambda x: torch.ops.aten._upsample_lanczos2d_aa(x.reshape(8, 1, 2, 2), [3, 3], False, None, None),
    "same": lambda x: F.conv1d(line(x), W, padding=1),
    "causal": lambda x: F.conv1d(F.pad(line(x), (2, 0)), W),
    "chomp": lambda x: F.conv1d(line(x), W, padding=2)[..., :-2],
    "masked kernel": lambda x: F.conv1d(line(x), MASKED, padding=1),
    "strides": lambda x: [F.conv1d(line(x), W, stride=2, padding=1), F.conv1d(line(x), W, dilation=2, padding=2)],
    "groups": lambda x: F.conv1d(line(x), normal(4, 1, 3), normal(4), groups=4, padding=1),
    "unbatched": lambda x: F.conv1d(x.T, W, padding=1),
    "two axes": lambda x: F.conv2d(plane(x), normal(2, 1, 3, 2), padding=(1, 0)),
    "channels are positions": lambda x: F.conv1d(x[None], normal(8, 1, 3), groups=8),
    "channels in two groups": lambda x: F.conv1d(x[None], normal(2, 4, 3), groups=2),
    "transposed": lambda x: [
        F.conv_transpose1d(line(x), normal(4, 2, 3)),
        F.conv_transpose1d(line(x), normal(4, 2, 3), stride=2, padding=1, output_padding=1),
    ],
    "transposed masked": lambda x: F.conv_transpose1d(
        line(x), normal(4, 2, 3) * torch.tensor([1.0, 0, 1], dtype=x.dtype)
    ),
    "max pool": lambda x: [
        F.max_pool1d(line(x), 2, 1),
        F.max_pool2d(plane(x), 2, padding=1),
        F.max_pool1d(line(x), 3, 2, 1, ceil_mode=True),
    ],
    "max pool index": lambda x: F.max_pool1d(line(x), 2, 2, return_indices=True)[1],
    "average": lambda x: [
        F.avg_pool1d(line(x), 2, 1),
        F.avg_pool1d(line(x), 3, 2, 1, ceil_mode=True),
        F.avg_pool2d(plane(x), 2),
    ],
    "volume": lambda x: [
        F.max_pool3d(plane(x)[None], (1, 2, 2)),
        F.avg_pool3d(plane(x)[None], (1, 2, 2)),
        F.conv3d(plane(x)[None], normal(1, 1, 1, 2, 2)),
    ],
    "adaptive": lambda x: [
        F.adaptive_avg_pool1d(line(x), 3),
        F.adaptive_avg_pool2d(plane(x), (3, 2)),
        F.adaptive_max_pool1d(line(x), 3),
        F.adaptive_avg_pool3d(plane(x)[None], (1, 2, 2)),
    ],
    "interpolated": lambda x: [
        F.interpolate(line(x), size=5, mode="linear"),
        *(F.interpolate(plane(x), size=(5, 3), mode=m, antialias=a) for m in ("bilinear", "bicubic") for a in (0, 1)),
        F.interpolate(plane(x)[None], size=(1, 9, 9), mode="trilinear", align_corners=True),
    ],
    "channels interpolated": lambda x: F.interpolate(x[None], scale_factor=2, mode="linear"),
}
LOOSE = {"adaptive volume", "lanczos", "interpolated", "max pool", "max pool index", "adaptive", "volume"}


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name not in LOOSE)
