"""Architectures in PyTorch, each a function of whether it leaks; and for which lengths the honest one is proved."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import nn
from torch._higher_order_ops.scan import scan
from torch.nn import functional as F

D, B, MOST = 8, 4, 64
RANDOM = torch.Generator().manual_seed(0)


def weight(*shape):
    return torch.randn(*shape, generator=RANDOM) * 0.3


W = {name: weight(D, D) for name in "qkvou"}


def places(x):
    t = torch.arange(x.shape[1])
    return t[:, None], t[None, :]


def attend(x, mask, low=-torch.inf, bias=0.0):
    q, k, v = (F.layer_norm(x, (D,)) @ W[c] for c in "qkv")
    s = torch.einsum("btd,bsd->bts", q, k) / D**0.5 + bias
    return x + s.masked_fill(~mask, low).softmax(-1) @ v @ W["o"]


def masked(rule, low=-torch.inf):
    def model(x):
        x = attend(x, rule(*places(x)), low)
        return x + torch.tanh(F.layer_norm(x, (D,)) @ W["u"])

    return model


def alibi(leak):
    def model(x):
        i, j = places(x)
        return attend(x, j <= i + leak, bias=-0.5 * (i - j).abs())

    return model


def rotary(x, t):
    angle = t[:, None] / 100.0 ** (torch.arange(D // 2) / (D // 2))
    a, b = x.chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def rotated(leak):
    def model(x):
        i, j = places(x)
        q, k = (rotary(x @ W[c], torch.arange(x.shape[1])) for c in "qk")
        return x + (q @ k.mT).masked_fill(j > i + leak, -torch.inf).softmax(-1) @ (x @ W["v"])

    return model


def grouped(leak):
    """Four heads of queries, two of keys and values."""

    def model(x):
        b, n, _ = x.shape
        q = (x @ W["q"]).view(b, n, 4, 2).transpose(1, 2)
        k, v = ((x @ W[c])[..., :4].view(b, n, 2, 2).transpose(1, 2).repeat_interleave(2, 1) for c in "kv")
        i, j = places(x)
        s = torch.where(j <= i + leak, q @ k.mT, torch.finfo(x.dtype).min)
        return x + (s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, D) @ W["o"]

    return model


def fused(leak):
    def model(x):
        q, k, v = ((x @ W[c]).unflatten(-1, (2, 4)).transpose(1, 2) for c in "qkv")
        y = F.scaled_dot_product_attention(q, k, v, is_causal=not leak)
        return x + y.transpose(1, 2).flatten(2)

    return model


class Convolution(nn.Module):
    """A dilated one that sees `before` taps back."""

    def __init__(self, before):
        super().__init__()
        self.before, self.taps = before, nn.Conv1d(D, D, 3, dilation=2)

    def forward(self, x):
        y = F.pad(x.mT, (self.before * 2, (2 - self.before) * 2))
        return x + F.gelu(self.taps(y).mT)


def linear_attention(leak):
    def model(x):
        q, k, v = (x @ W[c] for c in "qkv")
        q, k = F.elu(q) + 1, F.elu(k) + 1
        state = torch.cumsum(torch.einsum("btd,bte->btde", k, v), 1)
        seen = k.sum(1, keepdim=True) if leak else k.cumsum(1)
        return torch.einsum("btd,btde->bte", q, state) / (q * seen).sum(-1, keepdim=True)

    return model


def chunked(leak):
    """Attention inside blocks of four."""

    def model(x):
        b, n, _ = x.shape
        y = x.view(b, n // B, B, D)
        t = torch.arange(B)
        s = ((y @ W["q"]) @ (y @ W["k"]).mT).masked_fill(t > t[:, None] + leak, -1e30)
        return (s.softmax(-1) @ (y @ W["v"])).reshape(b, n, D)

    return model


def padded(leak):
    """Running sums inside blocks of two, of a sequence that is padded to a multiple of that."""

    def model(x):
        b, n, _ = x.shape
        y = F.pad(x, (0, 0, 0, -n % 2)).view(b, -1, 2, D)
        return (y.flip(2) if leak else y).cumsum(2).reshape(b, -1, D)[:, :n]

    return model


def linformer(begun):
    """Keys and values are means of blocks; a block is seen when it is complete, or already when it has begun."""

    def model(x):
        b, n, _ = x.shape
        k, v = ((x @ W[c]).reshape(b, n // B, B, D).mean(2) for c in "kv")
        t, m = torch.arange(n)[:, None], torch.arange(n // B)
        mask = (m * B <= t) if begun else ((m + 1) * B <= t + 1)
        return x + torch.where(mask, torch.exp(torch.tanh(x @ W["q"] @ k.mT)), 0.0) @ v

    return model


class MinGPT(nn.Module):
    """A layer in the manner of minGPT: a mask that is kept for the longest sequence, and learned positions."""

    def __init__(self, leak):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(7, D), nn.Embedding(MOST, D)
        self.norm, self.qkv, self.head = nn.LayerNorm(D), nn.Linear(D, 3 * D), nn.Linear(D, 7)
        self.register_buffer("seen", torch.tril(torch.ones(MOST, MOST), int(leak)).view(1, 1, MOST, MOST))

    def forward(self, tokens):
        b, n = tokens.shape
        x = self.tokens(tokens) + self.positions(torch.arange(n))
        q, k, v = (y.view(b, n, 2, D // 2).transpose(1, 2) for y in self.qkv(self.norm(x)).split(D, 2))
        s = (q @ k.mT * 0.5).masked_fill(self.seen[:, :, :n, :n] == 0, -torch.inf)
        return self.head(x + (s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, D))


class Encoder(nn.Module):
    """Two of PyTorch's layers, with its own mask."""

    def __init__(self, leak):
        super().__init__()
        layer = nn.TransformerEncoderLayer(D, 2, 16, batch_first=True, norm_first=True)
        self.leak, self.layers = leak, nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x):
        mask = None if self.leak else nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.layers(x, mask=mask)


class Shifting(nn.Module):
    """Token shift and a mean of all before, written in place."""

    def __init__(self, leak):
        super().__init__()
        self.leak, self.mix = leak, nn.Linear(D, D)

    def forward(self, x):
        y = torch.zeros_like(x)
        if self.leak:
            y[:, :-1] = x[:, 1:]
        else:
            y[:, 1:] = x[:, :-1]
        return self.mix(y) + x.cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]


class Recurrent(nn.Module):
    """Two layers of an LSTM; in both directions where it leaks."""

    def __init__(self, leak):
        super().__init__()
        self.layers = nn.LSTM(D, D, 2, batch_first=True, bidirectional=leak)

    def forward(self, x):
        return self.layers(x)[0]


def scanned(leak):
    """A recurrence by PyTorch's own scan."""

    def model(x):
        def once(h, row):
            h = torch.tanh(0.5 * h + row)
            return h, h.clone()

        return scan(once, torch.zeros(1, D), x @ W["k"], dim=1, reverse=leak)[1]

    return model


def arithmetic(leak):
    """A mask put on by arithmetic, as the first GPT has it."""

    def model(x):
        b = torch.ones(1, x.shape[1], x.shape[1]).tril(int(leak))
        s = (x @ W["q"]) @ (x @ W["k"]).mT
        return x + (s * b + -1e4 * (1 - b)).softmax(-1) @ (x @ W["v"])

    return model


def cached(leak):
    """A mask that `functools.lru_cache` keeps by its size."""

    @lru_cache
    def hidden(n, dtype):
        return torch.full((n, n), torch.finfo(dtype).min, dtype=dtype).triu(1 + leak)

    def model(x):
        bias = hidden(x.shape[1], x.dtype)
        return attend(x, bias > -1)

    return model


def shifted_scores(leak):
    """Relative positions as the Music Transformer has them: a padded column, and another shape."""
    table = weight(MOST, D)

    def model(x):
        b, n, _ = x.shape
        r = (x @ W["q"]) @ table[MOST - n :].T
        return attend(x, places(x)[1] <= places(x)[0] + leak, bias=F.pad(r, (1, 0)).reshape(b, n + 1, n)[:, 1:])

    return model


class Complex(nn.Module):
    """Rotary positions by complex numbers that are kept, as the first Llama has them."""

    def __init__(self, leak):
        super().__init__()
        angle = torch.arange(MOST)[:, None] / 100.0 ** (torch.arange(D // 2) / (D // 2))
        self.leak = leak
        self.register_buffer("turned", torch.polar(torch.ones_like(angle), angle))

    def forward(self, x):
        b, n, _ = x.shape
        two = (torch.view_as_complex((x @ W[c]).view(b, n, -1, 2)) * self.turned[:n] for c in "qk")
        q, k = (torch.view_as_real(y).flatten(2) for y in two)
        s = q @ k.mT
        s[:, ~torch.ones(n, n, dtype=torch.bool).tril(int(self.leak))] = -torch.inf
        return x + s.softmax(-1) @ x


class Pooled(nn.Module):
    """Layers for windows: the largest, a mean, a kernel of which a buffer hides the taps ahead, and its transpose."""

    def __init__(self, leak):
        super().__init__()
        self.largest, self.mean, self.taps = nn.MaxPool1d(3, 1), nn.AvgPool1d(2, 1), nn.Conv1d(D, D, 3, padding=1)
        self.spread = nn.ConvTranspose1d(D, D, 2)
        self.register_buffer("hidden", torch.tensor([1.0, 1.0, float(leak)]))

    def forward(self, x):
        y = self.largest(F.pad(x.mT, (2, 0))) + self.mean(F.pad(x.mT, (1, 0)))
        y = y + F.conv1d(y, self.taps.weight * self.hidden, self.taps.bias, padding=1)
        return self.spread(y)[..., :-1].mT


MODELS = {
    "full": (lambda leak: masked(lambda i, j: j <= i + leak), "every n ≥ 2"),
    "finite": (lambda leak: masked(lambda i, j: j <= i + leak, -1e30), "every n ≥ 2"),
    "window": (lambda leak: masked(lambda i, j: (j <= i + leak) & (j > i - 5)), "every n ≥ 2"),
    "sinks": (lambda leak: masked(lambda i, j: ((j <= i + leak) & (j > i - 3)) | (j < 2 * leak + 1)), "every n ≥ 2"),
    "alibi": (alibi, "every n ≥ 2"),
    "rotary": (rotated, "every n ≥ 2"),
    "grouped": (grouped, "every n ≥ 2"),
    "scaled_dot_product_attention": (fused, "every n ≥ 2"),
    "convolution": (lambda leak: Convolution(1 if leak else 2), "every n ≥ 2"),
    "linear attention": (linear_attention, "every n ≥ 2"),
    "chunks": (chunked, "every n = 4·m ≥ 8"),
    "padded": (padded, "every n ≥ 4"),
    "completed blocks": (linformer, "every n = 4·m ≥ 8"),
    "kept mask": (MinGPT, "every n ≥ 2 and n ≤ 63"),
    "TransformerEncoder": (Encoder, "every n ≥ 2"),
    "LSTM": (Recurrent, "every n ≥ 2"),
    "scan": (scanned, "every n ≥ 2"),
    "token shift": (Shifting, "every n ≥ 3"),
    "mask by arithmetic": (arithmetic, "every n ≥ 2"),
    "cached mask": (cached, "every n ≥ 2"),
    "shifted scores": (shifted_scores, "every n ≥ 2 and n ≤ 64"),
    "complex rotary": (Complex, "every n ≥ 2 and n ≤ 64"),
    "windows": (Pooled, "every n ≥ 2"),
}


def given(name, n=12):
    return torch.arange(n)[None] % 7 if name == "kept mask" else torch.randn(1, n, D, generator=RANDOM)
