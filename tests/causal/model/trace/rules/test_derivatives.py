"""Derivatives that a program takes on its way: of elements, rows, windows, sums; against brute force."""

from __future__ import annotations

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
import torch.nn.functional as F
from tensor_probe import check, normal, tensors

A = torch.ops.aten
X = normal(6, 16)
NEAR = normal(6, 4, seed=1)
TARGET = torch.tensor([0, 3, 1, 2, 0, 1])
SETS = torch.tensor([[0, 2, -1, 0], [3, -1, 0, 0], [1, 2, 3, -1], [0, -1, 1, 1], [2, 0, -1, 3], [1, -1, 0, 0]])
SCALE = torch.tensor([0.1])


def slope(function):
    """The derivative by x of the sum of squares of what a function gives, so that what comes back differs by place."""

    def along(x):
        with torch.enable_grad():
            z = x.detach().clone().requires_grad_()
            results = [t for t in tensors(function(z)) if t.requires_grad]
            return torch.autograd.grad(sum((t * t).sum() for t in results), z)[0]

    return along


def tangent(function):
    """A result and how it changes with x."""
    return lambda x: torch.func.jvp(lambda y: function(y), (x,), (x * x,))


def image(x):
    return x[:, :4].reshape(6, 1, 2, 2)


def cube(x):
    return x[:, :8].reshape(6, 1, 2, 2, 2)


def line(x):
    return x[:, :4].T[None]


def plane(x):
    return x[:, :4][None, None]


def rows(x):
    return x[:, :4]


EXACT = {
    "activations": slope(lambda x: [
        F.silu(x), F.gelu(x), x.tanh(), x.sigmoid(), F.threshold(x, 0.1, 0.0), F.leaky_relu(x), F.elu(x), F.mish(x),
        F.hardtanh(x), F.hardswish(x), F.hardsigmoid(x), F.softplus(x), F.hardshrink(x), F.softshrink(x),
        F.logsigmoid(x), F.prelu(x, torch.tensor([0.1], dtype=x.dtype)), x.sigmoid().logit(),
    ]),
    "losses of elements": slope(lambda x: [
        f(rows(x).sigmoid(), NEAR.sigmoid(), reduction="none")
        for f in (F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.soft_margin_loss, F.binary_cross_entropy)
    ]),
    "gates": slope(lambda x: F.glu(x)),
    "along a diagonal": tangent(lambda x: [torch.diagonal_copy(x), torch.expand_copy(x, (2, 6, 16))]),
    "along a factor": tangent(lambda x: [torch.add(x, torch.ones(16, dtype=x.dtype), alpha=2)]),
    "along a gate": tangent(lambda x: [F.glu(x), F.glu(x.T, 0)]),
    "rows of a norm": slope(lambda x: [F.layer_norm(x, (16,)), F.layer_norm(x, (16,), normal(16), normal(16))]),
    "targets": slope(lambda x: [
        F.cross_entropy(rows(x), TARGET, normal(4).abs(), reduction="none"),
        F.cross_entropy(x.reshape(6, 4, 2, 2), TARGET[:, None, None].expand(6, 2, 2), reduction="none"),
        F.multi_margin_loss(rows(x), TARGET, reduction="none"),
        F.multilabel_margin_loss(rows(x), SETS, reduction="none"),
    ]),
    "windows": slope(lambda x: [F.avg_pool1d(line(x), 2, 1), F.avg_pool2d(plane(x), 2, padding=1)]),
    "reflected": slope(lambda x: F.pad(line(x), (3, 0), mode="reflect")),
    "convolutions": slope(lambda x: [
        F.conv1d(F.pad(line(x), (2, 0)), normal(3, 4, 3)),
        F.conv1d(line(x), normal(4, 2, 3), normal(4), groups=2, padding=1),
        F.conv_transpose1d(line(x), normal(4, 2, 3), padding=1),
    ]),
    "overlapping pieces": lambda x: [
        F.fold(F.unfold(x[None, None, :, :4], (2, 4)), (6, 4), (2, 4)),
        slope(lambda y: y.unfold(0, 3, 1))(x),
    ],
    "rows of a table": lambda x: torch.autograd.grad(
        (F.embedding(torch.tensor([3, 0, 3]), z := x.detach().clone().requires_grad_()) * x[:3]).sum(), z
    )[0] if torch.is_grad_enabled() else A.embedding_dense_backward(x[:3], torch.tensor([3, 0, 3]), 5, -1, False),
    "distances": slope(lambda x: [torch.cdist(x[None, :, :4], normal(1, 3, 4)), torch.cdist(rows(x), NEAR)]),
    "cut out": lambda x: [
        A.slice_backward(rows(x), [6, 9], 1, 2, 6, 1),
        A.select_backward(rows(x), [6, 3, 4], 1, 2),
        A.diagonal_backward(rows(x), [6, 5, 5], 1, 1, 2),
    ],
}  # fmt: skip

LOOSE = {
    "positions normalised": lambda x: A.native_layer_norm_backward(
        x.T, normal(16, 6), [6], normal(16, 1), normal(16, 1).abs(), None, None, [True, False, False]
    )[0],
    "images": slope(lambda x: [
        F.max_pool2d(image(x), 2), F.max_pool1d(line(x), 2, 1), F.max_pool3d(cube(x), 2), F.avg_pool3d(cube(x), 2),
        F.adaptive_avg_pool2d(x.reshape(6, 1, 4, 4), (3, 2)), F.adaptive_avg_pool3d(cube(x), (2, 1, 2)),
        F.adaptive_max_pool2d(x.reshape(6, 1, 4, 4), (3, 2)), F.adaptive_max_pool3d(cube(x), (2, 1, 1)),
        F.group_norm(x.reshape(6, 4, 4), 2), F.group_norm(x.reshape(6, 4, 4), 2, normal(4), normal(4)),
    ]),
    "drawn windows": slope(lambda x: [
        F.fractional_max_pool2d(x.reshape(6, 1, 4, 4), 2, 2, _random_samples=normal(6, 1, 2).sigmoid()),
        F.fractional_max_pool3d(
            cube(x), 1, 1, _random_samples=normal(6, 1, 3).sigmoid()
        ),
    ]),
    "borders": slope(lambda x: [
        F.pad(x.reshape(6, 1, 4, 4), (1, 2, 1, 1), mode=mode) for mode in ("reflect", "replicate")
    ] + [
        F.pad(cube(x), (1, 1, 1, 1, 1, 0), mode=mode) for mode in ("reflect", "replicate")
    ] + [F.pad(line(x), (2, 1), mode="replicate")]),
    "sizes": slope(lambda x: [
        F.interpolate(line(x), scale_factor=2.0, mode="linear"),
        *(F.interpolate(image(x), scale_factor=2.0, mode=mode) for mode in ("bilinear", "bicubic")),
        *(F.interpolate(image(x), scale_factor=2.0, mode=mode, antialias=True) for mode in ("bilinear", "bicubic")),
        F.interpolate(cube(x), scale_factor=2.0, mode="trilinear"),
        *(F.interpolate(f(x), scale_factor=2.0, mode=mode)
          for f in (line, image, cube) for mode in ("nearest", "nearest-exact")),
    ]),
    "lanczos": lambda x: A._upsample_lanczos2d_aa_backward(
        A._upsample_lanczos2d_aa(x.reshape(6, 1, 4, 4), [3, 2], False, None, None), [3, 2], [6, 1, 4, 4], False, None,
        None,
    ),
    "points": slope(lambda x: [
        F.grid_sample(x.reshape(6, 1, 4, 4), x[:, :12].reshape(6, 3, 2, 2).tanh(), align_corners=False),
        F.grid_sample(x.reshape(6, 2, 2, 2, 2), x[:, :3].reshape(6, 1, 1, 1, 3).tanh(), align_corners=False),
        F.grid_sample(normal(6, 1, 3, 3), F.affine_grid(x[:, :6].reshape(6, 2, 3), (6, 1, 2, 2), False),
                      align_corners=False),
    ]),
    "one batch": slope(lambda x: [
        F.batch_norm(x, None, None, training=True), F.batch_norm(x, normal(16), normal(16).abs(), normal(16)),
        F.instance_norm(x.reshape(6, 2, 8)),
    ]),
    "a batch with statistics": lambda x: A.batch_norm_backward(
        x, x, normal(16), normal(16), normal(16).abs(), normal(16), normal(16).abs(), True, 1e-5, [True, True, True],
        torch.empty(0, dtype=torch.uint8),
    ),
    "everything": slope(lambda x: [
        F.pdist(x), torch.segment_reduce(x, "sum", lengths=torch.tensor([2, 4])),
        F.embedding_bag(torch.tensor([0, 2, 1]), x, torch.tensor([0, 1])),
        F.ctc_loss(x.reshape(6, 4, 4).log_softmax(-1), TARGET[1:5, None].clamp(1), torch.full((4,), 6),
                   torch.full((4,), 1), reduction="none"),
    ]),
    "rounded": slope(lambda x: [
        torch._fake_quantize_learnable_per_tensor_affine(
            x.float(), SCALE.clone().requires_grad_(), SCALE * 0, -8, 7, 1.0).double(),
        torch._fake_quantize_learnable_per_channel_affine(
            x.float(), SCALE.expand(16).clone().requires_grad_(), SCALE.expand(16) * 0, 1, -8, 7, 1.0
        ).double(),
    ]),
    "random slopes": lambda x: [
        A.rrelu_with_noise_backward(x, x + 1, normal(6, 16).abs(), 0.1, 0.3, True, False),
        A.native_dropout_backward(x, x > 0, 2.0), A._standard_gamma_grad(x.abs() + 0.1, x.abs() + 0.2),
        A._dirichlet_grad(x.sigmoid(), x.abs() + 0.5, x.abs() + 2.0),
        A.glu_backward_jvp(x, x[:, :8], x + 1, x[:, 8:], x * 2, 1), A._prelu_kernel_backward(x, x * x, x + 1),
    ],
    "bags": lambda x: [
        A._embedding_bag_dense_backward(x[:2], torch.tensor([0, 2, 1]), torch.tensor([0, 0, 1]), torch.tensor([2, 1]),
                                        torch.tensor([0, 0]), 4, False, 0, None),
        A._embedding_bag_per_sample_weights_backward(x[:2], normal(4, 16), torch.tensor([0, 2, 1]),
                                                     torch.tensor([0, 2]), torch.tensor([0, 0, 1]), 0),
    ],
    "norms of weights": slope(lambda x: torch._weight_norm(x, normal(6, 1), 0)),
    "by masks": lambda x: [
        A.masked_scatter_backward(x, x[:, :] > 0, [96]),
        A._unsafe_masked_index(x, x[:3] > 0, [torch.tensor([0, 2, 1])], 0.0),
        A._unsafe_masked_index_put_accumulate(x, x[:3] > 0, [torch.tensor([0, 2, 1])], normal(3, 16)),
    ],
    "rows of a table that data chose": lambda x: A.embedding_dense_backward(x, (x[:, 0] > 0).long(), 3, -1, False),
    "an axis without elements": slope(lambda x: torch.linalg.solve_triangular(x[:, :0] @ x[:, :0].mT, x, upper=False,
                                                                              unitriangular=True)),
}  # fmt: skip

CASES = EXACT | LOOSE


@pytest.mark.parametrize("name", CASES)
def test_claims_hold(name):
    check(CASES[name], X, exact=name in EXACT)


def test_weights_of_layers_that_recur():
    layer = torch.nn.LSTM(4, 4, batch_first=True, dtype=torch.float64)
    check(slope(lambda x: layer(x[None, :, :4])[0]), X, exact=False)


@pytest.mark.parametrize("causal", [True, False])
def test_weights_learnt_on_the_way(causal):
    """Test-time training: what a block is answered with was learnt on the blocks before, or on it and those after."""
    norm = torch.nn.LayerNorm(4)

    def learns(x):
        weight, answers = torch.eye(4), []
        for block in x.split(2, 1):
            with torch.enable_grad():
                w = weight.detach().requires_grad_()
                seen = block if causal else x
                loss = F.mse_loss(norm(F.silu(seen @ w)), torch.ones_like(seen))
                step = torch.autograd.grad(loss, w)[0]
            if causal:
                answers.append(block @ weight)
            weight = weight - 0.1 * step
            if not causal:
                answers.append(block @ weight)
        return torch.cat(answers, 1)

    found = ap.check_model(learns, torch.randn(1, 6, 4)).status.name
    assert found == ("PROVED" if causal else "REFUTED")


def test_a_derivative_by_windows_reads_later_ones_too():
    """The twin of the causal convolution: its derivative looks ahead, and is refuted where it is what comes out."""
    pads = slope(lambda x: F.conv1d(F.pad(x.mT, (2, 0)), torch.ones(4, 4, 3)).mT)
    assert ap.check_model(pads, torch.randn(1, 6, 4)).status.name == "REFUTED"
    alone = slope(lambda x: F.conv1d(x.mT, torch.ones(4, 4, 1)).mT)
    assert ap.check_model(alone, torch.randn(1, 6, 4), sequence_axis=1).status.name == "PROVED"
