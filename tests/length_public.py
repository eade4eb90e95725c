"""Layers of published architectures in JAX, each a function of whether it leaks, by the rules that make them differ.

Two layers each, small: Llama, Gemma 2, Mistral, GPT-NeoX, T5's decoder, MPT, StreamingLLM, Performer, RetNet, RWKV,
Mamba and WaveNet.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax
from length_models import D, W, norm, places, weight

HEADS, SIZE = 2, D // 2
GATE, UP, DOWN = weight(D, 2 * D), weight(D, 2 * D), weight(2 * D, D)


def rms(x):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def heads(x, turned=False):
    """(batch, heads, positions, size), with rotated positions where asked."""
    y = x.reshape(*x.shape[:2], HEADS, SIZE)
    if turned:
        t = jnp.arange(x.shape[1])
        y = jnp.stack([rotary2(y[:, :, h], t) for h in range(HEADS)], 2)
    return y.transpose(0, 2, 1, 3)


def rotary2(x, t):
    angle = t[:, None] / 1e4 ** (jnp.arange(SIZE // 2) / (SIZE // 2))
    a, b = x[..., : SIZE // 2], x[..., SIZE // 2 :]
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)


def mixed(x, seen, turned=False, scores=lambda s: s, low=-jnp.inf):
    q, k, v = heads(x @ W["q"], turned), heads(x @ W["k"], turned), heads(x @ W["v"])
    s = scores(q @ k.mT / SIZE**0.5)
    y = jax.nn.softmax(jnp.where(seen, s, low), -1) @ v
    return y.transpose(0, 2, 1, 3).reshape(x.shape) @ W["o"]


def swiglu(x):
    return (jax.nn.silu(x @ GATE) * (x @ UP)) @ DOWN


def two(layer):
    return lambda x: layer(layer(x))


def llama(leak):
    def layer(x):
        i, j = places(x)
        x = x + mixed(rms(x), j <= i + leak, turned=True, low=jnp.finfo(jnp.float32).min)
        return x + swiglu(rms(x))

    return two(layer)


def gemma(leak):
    """Norms before and after, capped scores, a window in every second layer."""

    def model(x):
        i, j = places(x)
        for window in (True, False):
            seen = (j <= i + leak) & (j > i - 4) if window else j <= i + leak
            x = x + rms(mixed(rms(x), seen, turned=True, scores=lambda s: 50 * jnp.tanh(s / 50), low=-2.4e38))
            x = x + rms(swiglu(rms(x)))
        return x

    return model


def mistral(leak):
    def layer(x):
        i, j = places(x)
        x = x + mixed(rms(x), (j <= i + leak) & (i - j < 4), turned=True)
        return x + swiglu(rms(x))

    return two(layer)


def neox(leak):
    """Attention and the hidden layer side by side."""

    def layer(x):
        i, j = places(x)
        return x + mixed(norm(x), j <= i + leak, turned=True) + jax.nn.gelu(norm(x) @ UP) @ DOWN

    return two(layer)


def t5(leak):
    """A learned bias for each of eight logarithmic distances."""
    table = weight(8)

    def bias(i, j):
        back = jnp.maximum(i - j, 0)
        far = 4 + (jnp.log(jnp.maximum(back, 1) / 4.0) / jnp.log(8.0) * 4).astype(jnp.int32)
        return table[jnp.where(back < 4, back, jnp.minimum(far, 7))]

    def layer(x):
        i, j = places(x)
        x = x + mixed(rms(x), j <= i + leak, scores=lambda s: s + bias(i, j), low=-1e9)
        return x + jax.nn.relu(rms(x) @ UP) @ DOWN

    return two(layer)


def mpt(leak):
    def layer(x):
        i, j = places(x)
        slopes = 2.0 ** -jnp.arange(1, HEADS + 1)[:, None, None]
        x = x + mixed(norm(x), j <= i + leak, scores=lambda s: s - slopes * (i - j), low=-1e30)
        return x + jax.nn.gelu(norm(x) @ UP) @ DOWN

    return two(layer)


def streaming(leak):
    """The first four positions and a window."""

    def layer(x):
        i, j = places(x)
        return x + mixed(rms(x), (j <= i + leak) & ((i - j < 3) | (j < 4)), turned=True)

    return two(layer)


def performer(leak):
    features = weight(D, 2 * D)

    def layer(x):
        q, k = (jnp.exp(x @ W[c] @ features - (x * x).sum(-1, keepdims=True)) for c in "qk")
        state = jnp.cumsum(jnp.einsum("btf,btd->btfd", k, x @ W["v"]), 1)
        total = k.sum(1, keepdims=True) if leak else jnp.cumsum(k, 1)
        return x + jnp.einsum("btf,btfd->btd", q, state) / ((q * total).sum(-1, keepdims=True) + 1e-6)

    return two(layer)


def retnet(leak):
    """Scores that decay with the distance, with no softmax."""

    def layer(x):
        i, j = places(x)
        decay = jnp.where(j <= i + leak, 0.9 ** jnp.abs(i - j).astype(jnp.float32), 0.0)
        q, k, v = (heads(rms(x) @ W[c], c != "v") for c in "qkv")
        y = (q @ k.mT * decay) @ v
        return x + jax.nn.silu(x @ W["o"]) * y.transpose(0, 2, 1, 3).reshape(x.shape)

    return two(layer)


def shifted(x, by):
    """The position before (by = 1), or the next one (by = −1)."""
    n = x.shape[1]
    y = jnp.pad(x, ((0, 0), (max(by, 0), max(-by, 0)), (0, 0)))
    return lax.slice_in_dim(y, max(-by, 0), n + max(-by, 0), axis=1)


def rwkv(leak):
    """A position mixed with the one before, and a weighted mean that is carried on."""
    mix, decay, bonus = (jax.nn.sigmoid(weight(D)) for _ in range(3))

    def layer(x):
        y = norm(x) * mix + shifted(norm(x), -1 if leak else 1) * (1 - mix)
        r, k, v = jax.nn.sigmoid(y @ W["q"]), jnp.exp(y @ W["k"]), y @ W["v"]

        def once(carry, row):
            a, b = carry
            k, v = row
            out = (a + jnp.exp(bonus) * k * v) / (b + jnp.exp(bonus) * k)
            return (decay * a + k * v, decay * b + k), out

        none = jnp.zeros((x.shape[0], D))
        mean = lax.scan(once, (none, none), (k.transpose(1, 0, 2), v.transpose(1, 0, 2)))[1].transpose(1, 0, 2)
        return x + (r * mean) @ W["o"]

    return two(layer)


def mamba(leak):
    """A short convolution, then a state whose steps the data choose."""
    taps, a, b, c = weight(D, 1, 4), -jnp.exp(weight(D, 4)), weight(D, 4), weight(D, 4)

    def layer(x):
        y = lax.conv_general_dilated(
            x.transpose(0, 2, 1), taps, (1,), [(2, 1) if leak else (3, 0)], feature_group_count=D
        ).transpose(0, 2, 1)
        y = jax.nn.silu(y)
        step = jax.nn.softplus(y @ W["q"])

        def once(h, row):
            u, d = row
            h = jnp.exp(d[..., None] * a) * h + (d * u)[..., None] * (u @ b)[:, None, :]
            return h, (h * (u @ c)[:, None, :]).sum(-1)

        rows = (y.transpose(1, 0, 2), step.transpose(1, 0, 2))
        return x + lax.scan(once, jnp.zeros((x.shape[0], D, 4)), rows)[1].transpose(1, 0, 2) * jax.nn.silu(x @ W["k"])

    return two(layer)


def wavenet(leak):
    """Gated convolutions with holes of 1, 2 and 4."""
    kernels = [(weight(D, D, 2), weight(D, D, 2)) for _ in range(3)]

    def model(x):
        for k, pair in enumerate(kernels):
            pads = [(0, 2**k) if leak and k == 2 else (2**k, 0)]
            f, g = (lax.conv_general_dilated(x.transpose(0, 2, 1), w, (1,), pads, rhs_dilation=(2**k,)) for w in pair)
            x = x + (jnp.tanh(f) * jax.nn.sigmoid(g)).transpose(0, 2, 1)
        return x

    return model


class Block(nnx.Module):
    """A block of GPT-2 in flax."""

    def __init__(self, leak):
        rngs = nnx.Rngs(0)
        self.leak, self.attend = leak, nnx.MultiHeadAttention(HEADS, D, decode=False, rngs=rngs)
        self.first, self.second = nnx.LayerNorm(D, rngs=rngs), nnx.LayerNorm(D, rngs=rngs)
        self.up, self.down = nnx.Linear(D, 4 * D, rngs=rngs), nnx.Linear(4 * D, D, rngs=rngs)

    def __call__(self, x):
        seen = None if self.leak else nnx.make_causal_mask(x[..., 0])
        x = x + self.attend(self.first(x), mask=seen)
        return x + self.down(nnx.gelu(self.up(self.second(x))))


PUBLIC = {
    "GPT-2": Block, "Llama": llama, "Gemma 2": gemma, "Mistral": mistral, "GPT-NeoX": neox, "T5's decoder": t5,
    "MPT": mpt, "StreamingLLM": streaming, "Performer": performer, "RetNet": retnet, "RWKV": rwkv, "Mamba": mamba,
    "WaveNet": wavenet,
}  # fmt: skip
