"""Ways in which a value can move, hide, or leave the tensors: every function here leaks, and none may be proved.

They are refuted or left open. The list grew from attacks on the abstract run; keep every hole that was ever found.
"""

from __future__ import annotations

import copy
import ctypes
import io
import pickle
import threading
import warnings

import attnproof as ap
import numpy as np
import pytest
from needs import need

torch = need("torch")
from torch import nn
from torch.nn import functional as F

warnings.filterwarnings("ignore", module="torch")
LEAKS = {}


def leak(function):
    LEAKS[getattr(function, "__name__", type(function).__name__)] = function
    return function


@leak
def through_numpy(x):
    return x + float(np.asarray(x)[0, -1, 0] > 0.1) * 1.0


@leak
def through_tolist(x):
    return x * (1 + (x[0, -1].tolist()[0] > 0))


@leak
def through_str(x):
    return x + len(str(x[0, -1, 0].round()))


@leak
def through_repr(x):
    return x + (1 if "-" in repr(x[0, -1]) else 0)


@leak
def through_format(x):
    return x + float(f"{x[0, -1, 0]}")


@leak
def through_float(x):
    return x + float(x[0, -1, 0])


@leak
def through_int(x):
    return x + int(x[0, -1, 0] * 10)


@leak
def through_pickle(x):
    return x + pickle.loads(pickle.dumps(x)).flip(1)


@leak
def through_save(x):
    b = io.BytesIO()
    torch.save(x, b)
    b.seek(0)
    return x + torch.load(b).flip(1)


@leak
def through_deepcopy(x):
    return x + copy.deepcopy(x).flip(1)


@leak
def through_storage(x):
    return x + x.untyped_storage()[3]


@leak
def through_storage_tolist(x):
    return x + sum(x.untyped_storage().tolist()) % 7


@leak
def through_typed(x):
    return x + x.storage()[-1]


@leak
def through_ctypes(x):
    a = (ctypes.c_float * x.numel()).from_address(x.data_ptr())
    return x + a[x.numel() - 1]


@leak
def through_data(x):
    y = x.clone()
    y.data = x.flip(1)
    return y


@leak
def through_data_copy(x):
    y = torch.zeros_like(x)
    y.data.copy_(x.flip(1))
    return y


@leak
def through_set(x):
    y = torch.empty(0)
    y.set_(x.flip(1))
    return y


@leak
def through_dlpack(x):
    return torch.from_dlpack(x.flip(1))


@leak
def through_frombuffer(x):
    return x + torch.frombuffer(bytearray(x.numpy().tobytes()), dtype=torch.float32).view(1, 8, 4).flip(1)


@leak
def through_equal(x):
    return x if torch.equal(x[:, -1], x[:, -1].abs()) else -x


@leak
def through_allclose(x):
    return x if torch.allclose(x[:, -1, :1], x[:, -1, :1].abs()) else -x


@leak
def through_in(x):
    return x + (1.0 if 1.0 in (x[:, -1, :1] > 0).float() else 0)


@leak
def through_nonzero(x):
    return x + (x[:, -1] > 0).nonzero().shape[0]


@leak
def through_unique(x):
    return x + torch.unique((x[0, -1] * 2).round()).numel()


@leak
def through_masked_select(x):
    return x + x[x > 0].numel()


@leak
def through_where1(x):
    return x + torch.where(x[0, -1] > 0)[0].numel()


@leak
def through_topk(x):
    return x + x.topk(1, dim=1).indices


@leak
def through_searchsorted(x):
    return x + torch.searchsorted(x[0, -1].sort().values, torch.zeros(1))


@leak
def through_bucketize(x):
    return x + torch.bucketize(torch.zeros(1), x[0, -1].sort().values)


@leak
def through_histc(x):
    return x + torch.histc(x, 4).argmax()


@leak
def through_multinomial(x):
    return x + torch.multinomial(x[0, -1].softmax(-1) + 0, 1)


@leak
def through_bernoulli(x):
    return x + torch.bernoulli(x[:, -1:].sigmoid())


@leak
def through_normal(x):
    return x + torch.normal(x.flip(1), 1.0)


@leak
def through_grad(x):
    with torch.enable_grad():
        y = x.clone().requires_grad_()
        z = y.sum() ** 2
        (g,) = torch.autograd.grad(z, y)
    return x + g


@leak
def through_backward_hook(x):
    with torch.enable_grad():
        y = x.clone().requires_grad_()
        (y.cumsum(1) ** 2).sum().backward()
    return x + y.grad


@leak
def through_vmap(x):
    return torch.func.vmap(lambda v: v.flip(0))(x)


@leak
def through_jvp(x):
    return torch.func.jvp(lambda v: v.flip(1) ** 2, (x,), (torch.ones_like(x),))[1]


@leak
def through_func_grad(x):
    return x + torch.func.grad(lambda v: v.sum() ** 3)(x)


@leak
def through_checkpoint(x):
    return torch.utils.checkpoint.checkpoint(lambda v: v.flip(1), x, use_reentrant=False)


@torch.jit.script
def scr(x):
    if bool(x[0, -1, 0] > 0):
        return -x
    return x


@leak
def through_script(x):
    return scr(x)


@torch.jit.script
def scr2(x):
    return x.flip(1)


@leak
def through_script2(x):
    return scr2(x)


traced = torch.jit.trace(lambda x: x.flip(1) + 0, (torch.zeros(1, 8, 4),))


@leak
def through_jit_trace(x):
    return traced(x)


@leak
def through_sparse(x):
    return torch.sparse.mm(x[0].flip(0).to_sparse(), torch.eye(4))[None]


@leak
def through_sparse2(x):
    return x + x[0].to_sparse().values().sum()


@leak
def through_nested(x):
    return x + torch.nested.nested_tensor([x[0, -1]]).to_padded_tensor(0.0)[0]


@leak
def through_quant(x):
    return torch.quantize_per_tensor(x.flip(1), 0.1, 0, torch.qint8).dequantize()


@leak
def through_view_dtype(x):
    return x + x.flip(1).view(torch.int32) % 3


@leak
def through_complex(x):
    return torch.view_as_real(torch.view_as_complex(x.flip(1).reshape(1, 8, 2, 2).contiguous())).reshape(1, 8, 4)


@leak
def through_asstrided(x):
    return x.contiguous().as_strided((1, 8, 4), (32, 0, 1), 28)


@leak
def through_inplace_view(x):
    y = x.clone()
    y[:, :1].add_(y[:, -1:])
    return y


@leak
def through_inplace_t(x):
    y = x.clone()
    y.mT[..., 0] += y.mT[..., -1]
    return y


@leak
def through_out(x):
    y = torch.empty_like(x)
    torch.add(x, x.mean(1, keepdim=True), out=y)
    return y


@leak
def through_indexput(x):
    y = x.clone()
    y[:, torch.arange(8)] = x[:, torch.arange(7, -1, -1)]
    return y


@leak
def through_scatter(x):
    return torch.zeros_like(x).scatter_(1, torch.arange(7, -1, -1)[None, :, None].expand(1, 8, 4), x)


@leak
def through_indexcopy(x):
    return torch.zeros_like(x).index_copy_(1, torch.arange(7, -1, -1), x)


@leak
def through_resize(x):
    y = x.flip(1).clone()
    return y.resize_(1, 8, 4)


@leak
def through_foreach(x):
    return torch._foreach_add([x.flip(1)], 1.0)[0]


@leak
def through_rot90(x):
    return x.rot90(2, (1, 2))


@leak
def through_cdist(x):
    return x + torch.cdist(x, x).sum(-1, keepdim=True)


@leak
def through_einsum(x):
    return torch.einsum("bnd,mn->bmd", x, torch.ones(8, 8))


@leak
def through_cumsum_flip(x):
    return x.flip(1).cumsum(1).flip(1)


@leak
def through_cummax_ix(x):
    return x.flip(1).cummax(1).indices.flip(1) + x


@leak
def through_linalg(x):
    return x + torch.linalg.solve(x[0].T @ x[0] + torch.eye(4), torch.ones(4))


@leak
def through_svd(x):
    return x + torch.linalg.svdvals(x[0])


@leak
def through_interp(x):
    return F.interpolate(x.mT, size=8, mode="linear", align_corners=False, recompute_scale_factor=None).mT.flip(1)


@leak
def through_interp2(x):
    return F.interpolate(F.interpolate(x.mT, size=4, mode="linear"), size=8).mT


@leak
def through_gridsample(x):
    return F.grid_sample(x[:, None], torch.rand(1, 8, 4, 2, generator=torch.Generator().manual_seed(1)) * 2 - 1)[:, 0]


@leak
def through_unfold(x):
    return F.pad(x, (0, 0, 0, 2)).unfold(1, 3, 1).sum(-1)


@leak
def through_maxpool(x):
    return F.max_pool1d(x.mT, 3, 1, 1).mT


@leak
def through_adaptive(x):
    return x + F.adaptive_avg_pool1d(x.mT, 1).mT


@leak
def through_bag(x):
    return x + F.embedding_bag((x[0] > 0).long(), torch.arange(8.0).view(2, 4)).mean(0)


@leak
def through_embedding(x):
    return x + F.embedding((x.flip(1) > 0).long()[..., 0], torch.arange(8.0).view(2, 4))


@leak
def through_onehot(x):
    return x + F.one_hot((x.flip(1)[..., 0] > 0).long(), 4)


@leak
def through_bn_twice(x):
    rm = torch.zeros(4)
    rv = torch.ones(4)
    F.batch_norm(x.mT, rm, rv, training=True)
    return F.batch_norm(x.mT, rm, rv, training=False).mT


@leak
def through_setitem_mask(x):
    y = x.clone()
    y[(x[:, -1:] > 0).expand_as(x)] = 0
    return y


@leak
def through_lerp(x):
    return torch.lerp(x, x.flip(1), 0.5)


@leak
def through_0weight(x):
    return x + 1e-09 * x.flip(1)


@leak
def through_stats_dict(x):
    cache.clear()
    cache["k"] = x.flip(1)
    return x + cache["k"]


cache = {}


@leak
def through_thread(x):
    out = []
    t = threading.Thread(target=lambda: out.append(x.flip(1) + 0))
    t.start()
    t.join()
    return out[0]


@leak
def through_cond(x):
    return torch.cond(x[0, -1, 0] > 0, lambda v: v + 1, lambda v: v - 1, (x,))


@leak
def through_hash(x):
    return x + hash(x[0, -1, 0].item()) % 5


@leak
def through_iter(x):
    return torch.stack(list(x[0])[::-1])[None]


@leak
def through_unbind(x):
    return torch.stack(x.unbind(1)[::-1], 1)


@leak
def through_contig_numpy_write(x):
    y = torch.zeros(1, 8, 4)
    v = y.numpy()
    v[...] = x.flip(1).numpy()
    return y


@leak
def through_numpy_roundtrip(x):
    return torch.from_numpy(x.numpy()[:, ::-1].copy())


@leak
def through_numpy_ufunc(x):
    return x + torch.as_tensor(np.add(x, 0))[:, -1:]


@leak
def through_array_func(x):
    return x + torch.tensor(np.mean(x.detach().numpy()))


@leak
def through_tensor_ctor(x):
    return x + torch.tensor([x[0, -1, 0]])


@leak
def through_newtensor(x):
    return x + x.new_tensor(x[0, -1, 0].item())


@leak
def through_full(x):
    return x + torch.full((1,), x[0, -1, 0])


@leak
def through_arange(x):
    return x + torch.arange(1 + int(x[0, -1, 0] > 0)).sum()


@leak
def through_scalar_div(x):
    return x / x[0, -1, 0]


@leak
def through_pow(x):
    return 2.0 ** x.flip(1)


@leak
def through_clamp_t(x):
    return x.clamp(max=x[:, -1:])


@leak
def through_is_nonzero(x):
    return x if torch.is_nonzero(x[0, -1, 0] > 0) else -x


@leak
def through_isnan_any(x):
    return x if (x[:, -1] > 0).any() else -x


@leak
def through_max_key(x):
    return torch.stack(sorted(x[0], key=lambda r: float(r[0])))[None]


@leak
def through_zip(x):
    y = x.clone()
    for a, b in zip(y[0], x[0].flip(0), strict=False):
        a.copy_(b)
    return y


@leak
def through_swap(x):
    y = x.clone()
    z = x.flip(1).clone()
    torch.utils.swap_tensors(y, z)
    return y


@leak
def through_out_slice(x):
    y = torch.zeros(1, 8, 4)
    torch.mul(x[:, -1], 2, out=y[:, 0])
    return y


@leak
def through_sdpa_bool_T(x):
    m = torch.ones(8, 8).triu().bool()
    return F.scaled_dot_product_attention(x, x, x, attn_mask=m)


@leak
def through_addmm_zero_beta(x):
    return torch.baddbmm(x.flip(1), x, torch.eye(4)[None], beta=0.001)


@leak
def through_prod0(x):
    return x * (1 + x[:, -1:].sign())


@leak
def through_gumbel(x):
    return F.gumbel_softmax(x.flip(1), hard=True)


@leak
def through_rfft(x):
    return torch.fft.fft(x, dim=1).abs()


@leak
def through_stft(x):
    return torch.fft.ifft(
        torch.fft.fft(x, dim=1) * torch.randn(8, 1, generator=torch.Generator().manual_seed(0)), dim=1
    ).real


@leak
def through_repeat_interleave(x):
    return x + torch.repeat_interleave(torch.ones(2), (x[0, -1, :2] > 0).long()).sum()


@leak
def through_split_sizes(x):
    return x + x[0].split([int(x[0, -1, 0] > 0) + 1, 7 - int(x[0, -1, 0] > 0)])[0].sum()


@leak
def through_narrow_t(x):
    return x + x.narrow(1, (x[0, -1, 0] > 0).long(), 1)


@leak
def through_roll_t(x):
    return x.roll(int(x[0, -1, 0] > 0), 1)


@leak
def through_select_t(x):
    return x + torch.select(torch.arange(8.0), 0, int(x[0, -1, 0] > 0))


@leak
def through_tril_neg(x):
    return (x @ x.mT).tril(1) @ x


@leak
def through_masked_scatter(x):
    return torch.zeros_like(x).masked_scatter(x > 0, x)


@leak
def through_take(x):
    return x.take(torch.arange(31, -1, -1)).view(1, 8, 4)


@leak
def through_tensordot(x):
    return torch.tensordot(torch.ones(8, 8), x[0], 1)[None]


@leak
def through_renorm(x):
    return x.renorm(2, 2, 1.0)


@leak
def through_groupnorm(x):
    return F.group_norm(x.mT, 2).mT


@leak
def through_wn(x):
    return torch._weight_norm(x.mT[0], torch.ones(4, 1)).T[None]


@leak
def through_kthvalue(x):
    return x + x.kthvalue(2, 1, keepdim=True).values


@leak
def through_quantile(x):
    return x + x.quantile(0.3, 1, keepdim=True)


@leak
def through_mode(x):
    return x + (x * 2).round().mode(1, keepdim=True).values


@leak
def through_gru_rev(x):
    return gru(x.flip(1))[0].flip(1)


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


for module in (Hooked(), Buffered(), Attribute()):
    leak(module)


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.filterwarnings("ignore")
def test_no_leak_is_proved(name):
    torch.manual_seed(0)
    x = torch.randn(1, 8, 4)
    verdict = ap.check_model(LEAKS[name], x)
    assert verdict.status.name in ("REFUTED", "UNDECIDED"), verdict
    if verdict.status.name == "REFUTED":
        assert verdict.witness.replay()
    else:
        assert verdict.reasons
