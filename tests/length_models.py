"""Architectures in JAX, each a function of whether it leaks; and for which lengths the honest one is proved."""

from __future__ import annotations

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax

D, B, KEY = 8, 4, jax.random.key(0)
KEYS = itertools.count()


def weight(*shape):
    return jax.random.normal(jax.random.fold_in(KEY, next(KEYS)), shape) * 0.3


W = {name: weight(D, D) for name in "qkvou"}


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def attend(x, mask, low=-jnp.inf, scores=lambda s: s):
    q, k, v = (norm(x) @ W[c] for c in "qkv")
    s = scores(jnp.einsum("btd,bsd->bts", q, k) / D**0.5)
    return x + jax.nn.softmax(jnp.where(mask, s, low), -1) @ v @ W["o"]


def places(x):
    t = jnp.arange(x.shape[1])
    return t[:, None], t[None, :]


def masked(rule, low=-jnp.inf):
    def model(x):
        x = attend(x, rule(*places(x)), low)
        return x + jnp.tanh(norm(x) @ W["u"])

    return model


def alibi(leak):
    def model(x):
        i, j = places(x)
        return attend(x, j <= i + leak, scores=lambda s: s - 0.5 * jnp.abs(i - j))

    return model


def rotary(x, t):
    angle = t[:, None] / 100.0 ** (jnp.arange(D // 2) / (D // 2))
    a, b = x[..., : D // 2], x[..., D // 2 :]
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)


def rotated(leak):
    def model(x):
        i, j = places(x)
        t = jnp.arange(x.shape[1])
        q, k = (rotary(x @ W[c], t) for c in "qk")
        w = jax.nn.softmax(jnp.where(j <= i + leak, jnp.einsum("btd,bsd->bts", q, k), -jnp.inf), -1)
        return x + w @ (x @ W["v"])

    return model


def grouped(leak):
    """Four heads of queries, two of keys and values."""

    def model(x):
        b, n, _ = x.shape
        q = (x @ W["q"]).reshape(b, n, 2, 2, 2)
        k, v = ((x @ W[c])[..., :4].reshape(b, n, 2, 2) for c in "kv")
        i, j = places(x)
        s = jnp.where(j <= i + leak, jnp.einsum("btghd,bsgd->bghts", q, k), -1e30)
        return x + jnp.einsum("bghts,bsgd->btghd", jax.nn.softmax(s, -1), v).reshape(b, n, D) @ W["o"]

    return model


def convolved(before):
    w = weight(D, D, 3)

    def model(x):
        y = lax.conv_general_dilated(x.transpose(0, 2, 1), w, (1,), [(before * 2, (2 - before) * 2)], rhs_dilation=(2,))
        return x + jax.nn.gelu(y.transpose(0, 2, 1))

    return model


def recurrent(reverse):
    def model(x):
        def once(h, row):
            h = jnp.tanh(h @ W["q"] + row @ W["k"])
            return h, h

        return lax.scan(once, jnp.zeros((x.shape[0], D)), x.transpose(1, 0, 2), reverse=reverse)[1].transpose(1, 0, 2)

    return model


def linear_attention(leak):
    def model(x):
        q, k, v = (x @ W[c] for c in "qkv")
        q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
        state = jnp.cumsum(jnp.einsum("btd,bte->btde", k, v), 1, dtype=jnp.float32)
        seen = k.sum(1, keepdims=True) if leak else jnp.cumsum(k, 1)
        return jnp.einsum("btd,btde->bte", q, state) / (q * seen).sum(-1, keepdims=True)

    return model


def chunked(leak):
    """Attention inside blocks of four."""

    def model(x):
        b, n, _ = x.shape
        y = x.reshape(b, n // B, B, D)
        t = jnp.arange(B)
        s = jnp.where(t[None] <= t[:, None] + leak, jnp.einsum("bmtd,bmsd->bmts", y @ W["q"], y @ W["k"]), -1e30)
        return jnp.einsum("bmts,bmsd->bmtd", jax.nn.softmax(s, -1), y @ W["v"]).reshape(b, n, D)

    return model


def padded(leak):
    """The same, padded to a multiple of four."""

    def model(x):
        b, n, _ = x.shape
        return lax.slice(chunked(leak)(jnp.pad(x, ((0, 0), (0, -n % B), (0, 0)))), (0, 0, 0), (b, n, D))

    return model


def linformer(begun):
    """Keys and values are means of blocks; a block is seen when it is complete, or already when it has begun."""

    def model(x):
        b, n, _ = x.shape
        k, v = ((x @ W[c]).reshape(b, n // B, B, D).mean(2) for c in "kv")
        t, m = jnp.arange(n), jnp.arange(n // B)
        mask = (m[None] * B <= t[:, None]) if begun else ((m[None] + 1) * B <= t[:, None] + 1)
        w = jnp.where(mask, jnp.exp(jnp.tanh(jnp.einsum("btd,bmd->btm", x @ W["q"], k))), 0.0)
        return x + w @ v

    return model


def learned(leak):
    table = weight(64, D)

    def model(x):
        return masked(lambda i, j: j <= i + leak)(x + jnp.take(table, jnp.arange(x.shape[1]), axis=0))

    return model


class Decoder(nnx.Module):
    """Two layers of flax with a causal mask of their own, on tokens."""

    def __init__(self, leak):
        rngs = nnx.Rngs(0)
        self.leak, self.table = leak, nnx.Embed(7, D, rngs=rngs)
        self.layers = nnx.List(
            [nnx.MultiHeadAttention(2, D, decode=False, dropout_rate=0.1, rngs=rngs) for _ in range(2)]
        )
        self.norm, self.head = nnx.LayerNorm(D, rngs=rngs), nnx.Linear(D, 7, rngs=rngs)

    def __call__(self, tokens):
        x = self.table(tokens)
        mask = None if self.leak else nnx.make_causal_mask(tokens)
        for layer in self.layers:
            x = x + layer(self.norm(x), mask=mask)
        return self.head(x)


class Attention(eqx.Module):
    attention: eqx.nn.MultiheadAttention
    leak: bool

    def __call__(self, x):
        n = x.shape[1]
        mask = jnp.tril(jnp.ones((n, n), bool), int(self.leak))
        return jax.vmap(lambda y: self.attention(y, y, y, mask=mask))(x)


def equinox(leak):
    return Attention(eqx.nn.MultiheadAttention(2, D, key=KEY), leak)


def fused(leak):
    def model(x):
        q, k, v = ((x @ W[c]).reshape(*x.shape[:2], 2, 4) for c in "qkv")
        return x + jax.nn.dot_product_attention(q, k, v, is_causal=not leak).reshape(x.shape)

    return model


MODELS = {
    "full": (lambda leak: masked(lambda i, j: j <= i + leak), "every n ≥ 1"),
    "finite": (lambda leak: masked(lambda i, j: j <= i + leak, -1e30), "every n ≥ 1"),
    "window": (lambda leak: masked(lambda i, j: (j <= i + leak) & (j > i - 5)), "every n ≥ 1"),
    "sinks": (lambda leak: masked(lambda i, j: ((j <= i + leak) & (j > i - 3)) | (j < 2 * leak + 1)), "every n ≥ 1"),
    "alibi": (alibi, "every n ≥ 1"),
    "rotary": (rotated, "every n ≥ 1"),
    "grouped": (grouped, "every n ≥ 1"),
    "convolution": (lambda leak: convolved(1 if leak else 2), "every n ≥ 1"),
    "recurrence": (recurrent, "every n ≥ 1"),
    "linear attention": (linear_attention, "every n ≥ 1"),
    "chunks": (chunked, "every n = 4·m ≥ 4"),
    "padded": (padded, "every n ≥ 4"),
    "completed blocks": (linformer, "every n = 4·m ≥ 4"),
    "learned positions": (learned, "every n ≥ 1"),
    "flax": (Decoder, "every n ≥ 1"),
    "equinox": (equinox, "every n ≥ 1"),
    "dot_product_attention": (fused, "every n ≥ 1"),
}


def given(name, n=12):
    return jnp.arange(n)[None] % 7 if name == "flax" else jax.random.normal(KEY, (1, n, D))
