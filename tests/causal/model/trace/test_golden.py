# ruff: noqa: B008 - a table
"""Golden dependency patterns of whole models: the first and last position that each output can depend on."""

from __future__ import annotations

from needs import need

torch = need("torch")

import pytest
import torch.nn.functional as F
from attnproof.causal import trace
from torch import nn

N, D = 12, 8
T = range(N)


def window(width):
    i = torch.arange(N)
    return (i[None] > i[:, None]) | (i[None] <= i[:, None] - width)


class Attention(nn.Module):
    """One head; `hide` says which keys a query does not see."""

    def __init__(self, hide, how="fill"):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.register_buffer("hide", hide)
        self.how = how

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if self.how == "sdpa":
            return x + self.o(F.scaled_dot_product_attention(q, k, v, attn_mask=~self.hide))
        s = q @ k.transpose(-1, -2) / D**0.5
        if self.how == "bias":
            s = s + torch.zeros_like(s).masked_fill(self.hide, -torch.inf)
        elif self.how == "fill":
            s = s.masked_fill(self.hide, -torch.inf)
        else:
            s = torch.where(self.hide, torch.finfo(s.dtype).min, s)
        return x + self.o(s.softmax(-1) @ v)


class Scan(nn.Module):
    """A selective state space in its sequential form, with a causal depthwise convolution in front."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(D, D, 3, groups=D, padding=2)
        self.a, self.b, self.c, self.norm = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.LayerNorm(D)

    def forward(self, x):
        u = F.silu(self.conv(self.norm(x).mT)[..., :N].mT)
        a, b = torch.sigmoid(self.a(u)), self.b(u)
        h, out = torch.zeros_like(u[:, 0]), []
        for t in range(u.shape[1]):
            h = a[:, t] * h + b[:, t]
            out.append(h * self.c(u)[:, t])
        return x + torch.stack(out, 1)


class Linear(nn.Module):
    """Linear attention in chunks of 4: inside a chunk with a mask, before it through a state."""

    def forward(self, x):
        state = torch.zeros(x.shape[0], D, D)
        out = torch.empty_like(x)
        for s in range(0, N, 4):
            c = x[:, s : s + 4]
            inside = (c @ c.mT).tril() @ c
            out[:, s : s + 4] = inside + c @ state
            state = state + c.mT @ c
        return out


def gpt(layers=2):
    layer = nn.TransformerEncoderLayer(D, 2, 16, batch_first=True)
    stack = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
    mask = nn.Transformer.generate_square_subsequent_mask(N)
    return lambda x: stack(x, mask=mask, is_causal=True)


def decoder():
    layer = nn.TransformerDecoderLayer(D, 2, 16, batch_first=True).eval()
    mask = nn.Transformer.generate_square_subsequent_mask(N)
    return lambda x: layer(x, torch.ones(1, 5, D), tgt_mask=mask)


def blocks(x):
    b = x.reshape(1, 3, 4, D)
    return (b @ b.transpose(-1, -2)).softmax(-1).matmul(b).reshape(1, N, D)


def first(reach):
    return [max(0, t - reach) for t in T]


def first_or(model):
    return lambda x: model(x)[0]


PREFIX = ([0] * N, list(T))
FULL = ([0] * N, [N - 1] * N)
GOLDEN = {
    "decoder layer": (decoder(), PREFIX),
    "gpt in training": (gpt(), PREFIX),
    "attention by filling": (Attention(window(N)), PREFIX),
    "attention by a bias": (Attention(window(N), "bias"), PREFIX),
    "attention by a finite number": (Attention(window(N), "where"), PREFIX),
    "attention by a kernel": (Attention(window(N), "sdpa"), PREFIX),
    "a sliding window of 3": (Attention(window(3)), (first(2), list(T))),
    "two sliding windows of 3": (nn.Sequential(Attention(window(3)), Attention(window(3))), (first(4), list(T))),
    "unmasked attention": (Attention(torch.zeros(N, N, dtype=torch.bool)), FULL),
    "bert layer": (nn.TransformerEncoderLayer(D, 2, 16, batch_first=True).eval(), FULL),
    "causal convolution": (
        lambda x, c=nn.Conv1d(D, D, 3): c(F.pad(x.mT, (4, 0))[..., :-2]).mT,
        (first(4), [max(t - 2, -1) for t in T]),
    ),
    "dilated convolution": (
        lambda x, c=nn.Conv1d(D, D, 3, dilation=2): c(F.pad(x.mT, (4, 0))).mT,
        ([t % 2 if t < 4 else t - 4 for t in T], list(T)),
    ),
    "same convolution": (
        lambda x, c=nn.Conv1d(D, D, 3, padding=1): c(x.mT).mT,
        (first(1), [min(t + 1, N - 1) for t in T]),
    ),
    "lstm": (first_or(nn.LSTM(D, D, 2, batch_first=True)), PREFIX),
    "gru": (first_or(nn.GRU(D, D, 2, batch_first=True)), PREFIX),
    "bidirectional": (first_or(nn.GRU(D, D, bidirectional=True, batch_first=True)), FULL),
    "scan": (Scan(), PREFIX),
    "chunked linear attention": (Linear(), PREFIX),
    "blocks of four": (blocks, ([t // 4 * 4 for t in T], [t // 4 * 4 + 3 for t in T])),
    "token shift": (lambda x: torch.cat([F.pad(x, (0, 0, 1, -1))[..., :4], x[..., 4:]], -1), (first(1), list(T))),
    "lower triangular mixing": (lambda x, w=nn.Parameter(torch.ones(N, N)): w.tril() @ x, PREFIX),
    "feed-forward": (nn.Sequential(nn.LayerNorm(D), nn.Linear(D, 16), nn.GELU(), nn.Linear(16, D)), (list(T), list(T))),
    "batch norm": (lambda x, n=nn.BatchNorm1d(D).eval(): n(x.mT).mT, (list(T), list(T))),
    "batch norm in training": (lambda x, n=nn.BatchNorm1d(D): n(x.mT).mT, FULL),
    "instance norm": (lambda x: F.instance_norm(x.mT).mT, FULL),
    "reversed scan": (lambda x: x.flip(1).cumsum(1).flip(1), (list(T), [N - 1] * N)),
    "sorting": (lambda x: x.sort(1)[0], FULL),
    "next token": (lambda x: x.roll(-1, 1), ([(t + 1) % N for t in T], [(t + 1) % N for t in T])),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_pattern(name):
    model, (earliest, latest) = GOLDEN[name]
    x = torch.randn(1, N, D, generator=torch.Generator().manual_seed(0))
    run = trace.run(model, (x,))
    lo, hi = run.outputs[0].along(1)
    assert run.unknown == ()
    assert run.complete
    assert hi.tolist() == latest
    assert [a if a <= b else 0 for a, b in zip(lo.tolist(), hi.tolist(), strict=True)] == earliest
