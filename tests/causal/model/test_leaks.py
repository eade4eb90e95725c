"""Operations of every kind that carry a later position, and state between them: whatever the rule, none is proved.

What cuts across the files of the tracer stands here; the list grew from attacks on the abstract run, and every hole
that was ever found is kept.
"""

from __future__ import annotations

import copy

import pytest
from needs import need

torch = need("torch")
from leaks import never_proved
from torch import nn
from torch.nn import functional as F


@torch.jit.script
def flipped_by_script(x):
    return x.flip(1)


cache = {}
gru = nn.GRU(4, 4, batch_first=True)


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.register_forward_hook(lambda module, inputs, output: output + inputs[0].flip(1))

    def forward(self, x):
        return self.linear(x)


class Buffered(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(1, 8, 4))

    def forward(self, x):
        self.kept.copy_(x.flip(1))
        return x + self.kept


class Attribute(nn.Module):
    def forward(self, x):
        self.kept = x.flip(1)
        return x + self.kept


def through_data(x):
    y = x.clone()
    y.data = x.flip(1)
    return y


def through_data_copy(x):
    y = torch.zeros_like(x)
    y.data.copy_(x.flip(1))
    return y


def through_set(x):
    y = torch.empty(0)
    y.set_(x.flip(1))
    return y


def through_grad(x):
    with torch.enable_grad():
        y = x.clone().requires_grad_()
        z = y.sum() ** 2
        (g,) = torch.autograd.grad(z, y)
    return x + g


def through_backward_hook(x):
    with torch.enable_grad():
        y = x.clone().requires_grad_()
        (y.cumsum(1) ** 2).sum().backward()
    return x + y.grad


def through_inplace_view(x):
    y = x.clone()
    y[:, :1].add_(y[:, -1:])
    return y


def through_inplace_t(x):
    y = x.clone()
    y.mT[..., 0] += y.mT[..., -1]
    return y


def through_out(x):
    y = torch.empty_like(x)
    torch.add(x, x.mean(1, keepdim=True), out=y)
    return y


def through_indexput(x):
    y = x.clone()
    y[:, torch.arange(8)] = x[:, torch.arange(7, -1, -1)]
    return y


def through_resize(x):
    y = x.flip(1).clone()
    return y.resize_(1, 8, 4)


def through_bn_twice(x):
    rm = torch.zeros(4)
    rv = torch.ones(4)
    F.batch_norm(x.mT, rm, rv, training=True)
    return F.batch_norm(x.mT, rm, rv, training=False).mT


def through_setitem_mask(x):
    y = x.clone()
    y[(x[:, -1:] > 0).expand_as(x)] = 0
    return y


def through_stats_dict(x):
    cache.clear()
    cache["k"] = x.flip(1)
    return x + cache["k"]


def through_zip(x):
    y = x.clone()
    for a, b in zip(y[0], x[0].flip(0), strict=False):
        a.copy_(b)
    return y


def through_swap(x):
    y = x.clone()
    z = x.flip(1).clone()
    torch.utils.swap_tensors(y, z)
    return y


def through_out_slice(x):
    y = torch.zeros(1, 8, 4)
    torch.mul(x[:, -1], 2, out=y[:, 0])
    return y


def through_sdpa_bool_T(x):
    m = torch.ones(8, 8).triu().bool()
    return F.scaled_dot_product_attention(x, x, x, attn_mask=m)


LEAKS = {
    "deepcopy": lambda x: x + copy.deepcopy(x).flip(1),
    "data": through_data,
    "data_copy": through_data_copy,
    "set": through_set,
    "nonzero": lambda x: x + (x[:, -1] > 0).nonzero().shape[0],
    "unique": lambda x: x + torch.unique((x[0, -1] * 2).round()).numel(),
    "masked_select": lambda x: x + x[x > 0].numel(),
    "where1": lambda x: x + torch.where(x[0, -1] > 0)[0].numel(),
    "topk": lambda x: x + x.topk(1, dim=1).indices,
    "searchsorted": lambda x: x + torch.searchsorted(x[0, -1].sort().values, torch.zeros(1)),
    "bucketize": lambda x: x + torch.bucketize(torch.zeros(1), x[0, -1].sort().values),
    "histc": lambda x: x + torch.histc(x, 4).argmax(),
    "multinomial": lambda x: x + torch.multinomial(x[0, -1].softmax(-1) + 0, 1),
    "bernoulli": lambda x: x + torch.bernoulli(x[:, -1:].sigmoid()),
    "normal": lambda x: x + torch.normal(x.flip(1), 1.0),
    "grad": through_grad,
    "backward_hook": through_backward_hook,
    "vmap": lambda x: torch.func.vmap(lambda v: v.flip(0))(x),
    "jvp": lambda x: torch.func.jvp(lambda v: v.flip(1) ** 2, (x,), (torch.ones_like(x),))[1],
    "func_grad": lambda x: x + torch.func.grad(lambda v: v.sum() ** 3)(x),
    "checkpoint": lambda x: torch.utils.checkpoint.checkpoint(lambda v: v.flip(1), x, use_reentrant=False),
    "script2": lambda x: flipped_by_script(x),
    "sparse": lambda x: torch.sparse.mm(x[0].flip(0).to_sparse(), torch.eye(4))[None],
    "sparse2": lambda x: x + x[0].to_sparse().values().sum(),
    "nested": lambda x: x + torch.nested.nested_tensor([x[0, -1]]).to_padded_tensor(0.0)[0],
    "quant": lambda x: torch.quantize_per_tensor(x.flip(1), 0.1, 0, torch.qint8).dequantize(),
    "view_dtype": lambda x: x + x.flip(1).view(torch.int32) % 3,
    "complex": lambda x: torch.view_as_real(torch.view_as_complex(x.flip(1).reshape(1, 8, 2, 2).contiguous())).reshape(
        1, 8, 4
    ),
    "asstrided": lambda x: x.contiguous().as_strided((1, 8, 4), (32, 0, 1), 28),
    "inplace_view": through_inplace_view,
    "inplace_t": through_inplace_t,
    "out": through_out,
    "indexput": through_indexput,
    "scatter": lambda x: torch.zeros_like(x).scatter_(1, torch.arange(7, -1, -1)[None, :, None].expand(1, 8, 4), x),
    "indexcopy": lambda x: torch.zeros_like(x).index_copy_(1, torch.arange(7, -1, -1), x),
    "resize": through_resize,
    "foreach": lambda x: torch._foreach_add([x.flip(1)], 1.0)[0],
    "rot90": lambda x: x.rot90(2, (1, 2)),
    "cdist": lambda x: x + torch.cdist(x, x).sum(-1, keepdim=True),
    "einsum": lambda x: torch.einsum("bnd,mn->bmd", x, torch.ones(8, 8)),
    "cumsum_flip": lambda x: x.flip(1).cumsum(1).flip(1),
    "cummax_ix": lambda x: x.flip(1).cummax(1).indices.flip(1) + x,
    "linalg": lambda x: x + torch.linalg.solve(x[0].T @ x[0] + torch.eye(4), torch.ones(4)),
    "svd": lambda x: x + torch.linalg.svdvals(x[0]),
    "interp": lambda x: F.interpolate(
        x.mT, size=8, mode="linear", align_corners=False, recompute_scale_factor=None
    ).mT.flip(1),
    "interp2": lambda x: F.interpolate(F.interpolate(x.mT, size=4, mode="linear"), size=8).mT,
    "gridsample": lambda x: F.grid_sample(
        x[:, None], torch.rand(1, 8, 4, 2, generator=torch.Generator().manual_seed(1)) * 2 - 1
    )[:, 0],
    "unfold": lambda x: F.pad(x, (0, 0, 0, 2)).unfold(1, 3, 1).sum(-1),
    "maxpool": lambda x: F.max_pool1d(x.mT, 3, 1, 1).mT,
    "adaptive": lambda x: x + F.adaptive_avg_pool1d(x.mT, 1).mT,
    "bag": lambda x: x + F.embedding_bag((x[0] > 0).long(), torch.arange(8.0).view(2, 4)).mean(0),
    "embedding": lambda x: x + F.embedding((x.flip(1) > 0).long()[..., 0], torch.arange(8.0).view(2, 4)),
    "onehot": lambda x: x + F.one_hot((x.flip(1)[..., 0] > 0).long(), 4),
    "bn_twice": through_bn_twice,
    "setitem_mask": through_setitem_mask,
    "lerp": lambda x: torch.lerp(x, x.flip(1), 0.5),
    "0weight": lambda x: x + 1e-09 * x.flip(1),
    "stats_dict": through_stats_dict,
    "unbind": lambda x: torch.stack(x.unbind(1)[::-1], 1),
    "scalar_div": lambda x: x / x[0, -1, 0],
    "pow": lambda x: 2.0 ** x.flip(1),
    "clamp_t": lambda x: x.clamp(max=x[:, -1:]),
    "zip": through_zip,
    "swap": through_swap,
    "out_slice": through_out_slice,
    "sdpa_bool_T": through_sdpa_bool_T,
    "addmm_zero_beta": lambda x: torch.baddbmm(x.flip(1), x, torch.eye(4)[None], beta=0.001),
    "prod0": lambda x: x * (1 + x[:, -1:].sign()),
    "gumbel": lambda x: F.gumbel_softmax(x.flip(1), hard=True),
    "rfft": lambda x: torch.fft.fft(x, dim=1).abs(),
    "stft": lambda x: (
        torch.fft.ifft(
            torch.fft.fft(x, dim=1) * torch.randn(8, 1, generator=torch.Generator().manual_seed(0)), dim=1
        ).real
    ),
    "repeat_interleave": lambda x: x + torch.repeat_interleave(torch.ones(2), (x[0, -1, :2] > 0).long()).sum(),
    "narrow_t": lambda x: x + x.narrow(1, (x[0, -1, 0] > 0).long(), 1),
    "tril_neg": lambda x: (x @ x.mT).tril(1) @ x,
    "masked_scatter": lambda x: torch.zeros_like(x).masked_scatter(x > 0, x),
    "take": lambda x: x.take(torch.arange(31, -1, -1)).view(1, 8, 4),
    "tensordot": lambda x: torch.tensordot(torch.ones(8, 8), x[0], 1)[None],
    "renorm": lambda x: x.renorm(2, 2, 1.0),
    "groupnorm": lambda x: F.group_norm(x.mT, 2).mT,
    "wn": lambda x: torch._weight_norm(x.mT[0], torch.ones(4, 1)).T[None],
    "kthvalue": lambda x: x + x.kthvalue(2, 1, keepdim=True).values,
    "quantile": lambda x: x + x.quantile(0.3, 1, keepdim=True),
    "mode": lambda x: x + (x * 2).round().mode(1, keepdim=True).values,
    "gru_rev": lambda x: gru(x.flip(1))[0].flip(1),
    "hook": Hooked(),
    "buffer": Buffered(),
    "attribute": Attribute(),
}


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.filterwarnings("ignore")
def test_no_leak_is_proved(name):
    never_proved(LEAKS[name], width=4)
