"""Random modules: layers, masks, gates, buffers, views and in-place writes, some of which look ahead.

`module(seed)` is a module from (1, N, D) to (1, N, D) whose parameters may be redrawn with `redraw`. What it does
follows from the seed alone, never from values.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

N, D = 6, 4
Act = Callable[[nn.Module, torch.Tensor], torch.Tensor]


class Layer(nn.Module):
    """A function of itself and x, with parts that it may use."""

    def __init__(self, act: Act, rng: random.Random) -> None:
        super().__init__()
        self.act = act
        self.a, self.b = nn.Linear(D, D), nn.Linear(D, D)
        self.k = rng.choice((1, 2, 3))
        self.width = rng.choice((2, 3, 4))
        self.conv = nn.Conv1d(D, D, self.width, dilation=rng.choice((1, 2)))
        self.rnn = rng.choice((nn.GRU, nn.LSTM, nn.RNN))(D, D, batch_first=True)
        self.heads = nn.MultiheadAttention(D, 2, batch_first=True)
        self.norm = rng.choice((nn.LayerNorm(D), nn.RMSNorm(D), nn.Identity()))
        self.mix = nn.Parameter(torch.randn(N, N))
        self.gate = nn.Parameter(torch.zeros(D) if rng.random() < 0.5 else torch.randn(D))
        self.register_buffer("mask", mask(rng))
        self.register_buffer("kept", torch.zeros(1, N, D))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(self, x)


def mask(rng: random.Random) -> torch.Tensor:
    """What a query may not see: the causal mask, a wrong one, or one of a window."""
    full = torch.ones(N, N, dtype=torch.bool)
    return rng.choice((full.triu(1), full.triu(1), full.triu(2), full.triu(1) | full.tril(-3), full.triu(0).T))


def attention(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    scores = m.a(x) @ m.b(x).mT / D**0.5
    return scores.masked_fill(m.mask, -torch.inf).softmax(-1).nan_to_num() @ x


def by_hand(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    scores = (m.a(x) @ m.b(x).mT).clamp(-5, 5)
    weights = scores.exp() * ~m.mask
    return weights @ x / (weights.sum(-1, keepdim=True) + 1)


def fused(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    y = m.a(x).reshape(1, N, 2, D // 2).transpose(1, 2)
    return F.scaled_dot_product_attention(y, y, y, is_causal=True).transpose(1, 2).reshape(1, N, D)


def heads(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return m.heads(x, x, x, attn_mask=torch.ones(N, N, dtype=torch.bool).triu(m.k), need_weights=False)[0]


def convolution(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    reach = (m.width - 1) * m.conv.dilation[0]
    return m.conv(F.pad(x.mT, (reach, 0))).mT


def centred(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    reach = (m.width - 1) * m.conv.dilation[0]
    return m.conv(F.pad(x.mT, (reach // 2, reach - reach // 2))).mT


def shifted(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return F.pad(x, (0, 0, m.k, 0))[:, :N]


def loop(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    out, state = torch.empty_like(x), torch.zeros_like(x[:, 0])
    for t in range(N):
        state = torch.tanh(m.a(state) + x[:, t])
        out[:, t] = state
    return out


def scan(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    for t in range(m.k, N):
        y[:, t] += 0.5 * y[:, t - m.k]
    return y


def windows(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return F.pad(x, (0, 0, m.k, 0)).unfold(1, m.k + 1, 1).mean(-1)


def overlapping(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Windows written over one another: which wins is unsaid."""
    y = x.clone()
    y[0, :, 0].unfold(0, 2, 1).copy_(m.a(x)[0, : N - 1, :2])
    return y


def blocks(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    y = x.reshape(1, N // m.k, m.k, D)
    return (y + m.gate * y.cumsum(2)).reshape(1, N, D)


def kept(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    m.kept[:, : m.k] = x[:, : m.k].tanh()
    return x + m.gate * m.kept


def chosen(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return torch.where(m.mask[:, :1], x, m.a(x)).index_select(1, torch.arange(N).clamp(max=N - m.k))


def looked_up(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return F.embedding((m.a(x)[..., 0].sigmoid() * 3).long(), m.b.weight)


def best(m: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return x * (torch.cummax(x, 1)[0] > m.gate)


STEPS: list[Act] = [
    attention, attention, by_hand, fused, heads, convolution, centred, shifted, loop, scan, windows, overlapping,
    blocks, kept, chosen, looked_up, best,
    lambda m, x: m.a(x).relu() * m.b(x),
    lambda m, x: m.rnn(x)[0],
    lambda m, x: m.rnn(x.flip(1))[0].flip(1),
    lambda m, x: torch.tril(m.mix, m.k - 1) @ x,
    lambda m, x: m.mix.masked_fill(m.mask, 0.0) @ x,
    lambda m, x: torch.einsum("qk,bkd->bqd", m.mix.tril(), x),
    lambda m, x: x.cumsum(1) / torch.arange(1, N + 1, dtype=x.dtype)[:, None],
    lambda m, x: x.logcumsumexp(1),
    lambda m, x: x + m.gate * x.flip(1),
    lambda m, x: x + m.gate * x.mean(1, keepdim=True),
    lambda m, x: torch.cat([x[:, :m.k], m.a(x[:, m.k :])], 1),
    lambda m, x: x.roll(m.k, 1) * m.mask[:, :1],
    lambda m, x: F.dropout(x, 0.5, training=False) - x.amax(-1, keepdim=True),
    lambda m, x: torch.fft.irfft(torch.fft.rfft(x, dim=-1), n=D, dim=-1),
    lambda m, x: m.a(x.mT.contiguous().view(1, N, D)),
    lambda m, x: x.sort(1)[0],
]  # fmt: skip


class Stack(nn.Module):
    """Layers one after the other, with or without residuals and norms."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(rng.choice(STEPS), rng) for _ in range(rng.randint(1, 3)))
        self.residual = [rng.random() < 0.6 for _ in self.layers]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer, residual in zip(self.layers, self.residual, strict=True):
            y = layer(layer.norm(x))
            x = x + y if residual else y
        return x


def module(seed: int) -> nn.Module:
    """The module of a seed, in float64 and eval mode."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return Stack(random.Random(seed)).double().eval()


def redraw(model: nn.Module, g: torch.Generator) -> None:
    """Other numbers in every parameter; buffers as they were made."""
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=g, dtype=p.dtype) * 0.5)
