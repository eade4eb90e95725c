"""More steps of random programs at every length: what few models do, and what a rule is easily wrong about."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

WIDTH = 4
BLOCK = 4
Step = Callable[[Any], Any]


def places(x: Any) -> Any:
    return jnp.arange(x.shape[0])


def branched(rng: random.Random) -> Step:
    """One of two branches, by a number of the data, or by the length."""
    asks = rng.choice([lambda x: x[0, 0] > 0, lambda x: x.sum() > 0, lambda x: jnp.array(x.shape[0]) > 6])
    late = rng.random() < 0.5
    return lambda x: lax.cond(asks(x), lambda y: jnp.cumsum(y, 0), lambda y: y[::-1] if late else -y, x)


def sliced(rng: random.Random) -> Step:
    """A row at a place that is computed: from the length, from the data, or beyond the end."""
    where = rng.choice([
        lambda x: x.shape[0] // 2, lambda x: x.shape[0] + 3, lambda x: -1, lambda x: jnp.argmax(x[:, 0]),
        lambda x: (x[0, 0] * 3).astype(jnp.int32), lambda x: 0,
    ])  # fmt: skip
    return lambda x: x + lax.dynamic_slice(x, (where(x), 0), (1, WIDTH))


def written(rng: random.Random) -> Step:
    """A row written at a place, known or not; rows added at places."""
    how = rng.choice(["slice", "data", "scatter", "add", "column"])

    def step(x: Any) -> Any:
        n = x.shape[0]
        row = x[:1] * 2
        if how == "slice":
            return lax.dynamic_update_slice(x, row, (n // 2, 0))
        if how == "data":
            return lax.dynamic_update_slice(x, row, ((x[0, 1] * 2).astype(jnp.int32), 0))
        if how == "scatter":
            return x.at[places(x) // 2].set(x)
        if how == "add":
            return x.at[jnp.minimum(places(x) + 1, n - 1)].add(x)
        return x.at[:, 0].set(jnp.cumsum(x[:, 1], 0))

    return step


def steered(rng: random.Random) -> Step:
    """Rows at places that the data name, near their own or anywhere."""
    near = rng.random() < 0.5

    def step(x: Any) -> Any:
        t, n = places(x), x.shape[0]
        at = (jnp.tanh(x[:, 0]) * 2).astype(jnp.int32) + (t if near else 0)
        return jnp.take(x, jnp.clip(at, 0, t if near else n - 1), axis=0)

    return step


def strided(rng: random.Random) -> Step:
    """Every second row, and each of them twice."""
    first = rng.choice([0, 1])

    def step(x: Any) -> Any:
        n = x.shape[0]
        y = lax.slice(jnp.pad(x, ((0, 1), (0, 0))), (first, 0), (n + first, WIDTH), (2, 1))
        return lax.slice(jnp.repeat(y, 2, axis=0), (0, 0), (n, WIDTH))

    return step


def rest(rng: random.Random) -> Step:
    """Blocks of a sequence that is padded to whole ones, before or behind."""
    front, f = rng.random() < 0.3, rng.choice([jnp.cumsum, lambda y, axis: y - y.mean(axis, keepdims=True)])

    def step(x: Any) -> Any:
        n = x.shape[0]
        more = -n % BLOCK
        y = jnp.pad(x, ((more, 0) if front else (0, more), (0, 0)))
        z = f(y.reshape(-1, BLOCK, WIDTH), 1).reshape(-1, WIDTH)
        return lax.slice(z, (more, 0), (n + more, WIDTH)) if front else lax.slice(z, (0, 0), (n, WIDTH))

    return step


def both(rng: random.Random) -> Step:
    """Reductions over two axes at once: of all, or of blocks."""
    f, whole = rng.choice([jnp.sum, jnp.max, jnp.prod]), rng.random() < 0.3

    def step(x: Any) -> Any:
        if whole:
            return x * 0.5 + f(jnp.tanh(x), axis=(0, 1))
        m = x.shape[0] // BLOCK
        y = jnp.tanh(x.reshape(m, BLOCK, WIDTH))
        return (y + f(y, axis=(1, 2), keepdims=True)).reshape(m * BLOCK, WIDTH)

    return step


def looped(rng: random.Random) -> Step:
    """A loop whose state is a whole array, or which ends when the data say so."""
    how = rng.choice(["array", "fori", "while"])

    def step(x: Any) -> Any:
        n = x.shape[0]
        if how == "array":

            def once(held: Any, t: Any) -> Any:
                held = lax.dynamic_update_slice(held, lax.dynamic_slice(x, (t, 0), (1, WIDTH)), (t, 0))
                return held, held.sum(0)

            return lax.scan(once, jnp.zeros_like(x), places(x))[1]
        if how == "fori":
            return lax.fori_loop(0, 3, lambda k, y: jnp.tanh(y + jnp.pad(y, ((1, 0), (0, 0)))[:n]), x)
        return lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, jnp.cumsum(s[1], 0)), (0, x))[1]

    return step


def ranked(rng: random.Random) -> Step:
    """The order of the rows, or of the numbers in one."""
    return rng.choice([
        lambda x: x + jnp.argsort(x, 0), lambda x: jnp.sort(x, 1), lambda x: lax.top_k(x, WIDTH)[0],
        lambda x: x + jnp.argmin(x, 1, keepdims=True), lambda x: x - jnp.median(x, 1, keepdims=True),
        lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1),
    ])  # fmt: skip


def odd_mask(rng: random.Random) -> Callable[[Any, Any], Any]:
    """A rule over places whose whole numbers are negative, narrow, shifted, multiplied or counted."""
    w = rng.choice([2, 3, 5])
    return rng.choice([
        lambda i, j: (i - j) // w >= 0, lambda i, j: (j - i) % w == 0, lambda i, j: lax.rem(i - j, w + 0 * i) >= 0,
        lambda i, j: lax.div(j - i, w + 0 * i) <= 0, lambda i, j: (j - i) // w < 0,
        lambda i, j: jnp.sign(i - j) >= 0, lambda i, j: jnp.abs(i - j) <= w,
        lambda i, j: (j & 3) <= (i & 3), lambda i, j: (j >> 1) <= (i >> 1), lambda i, j: j <= (i ^ 1),
        lambda i, j: i * j % 3 == 0, lambda i, j: (j <= i) & (i * i >= j),
        lambda i, j: j.astype(jnp.int8) <= i.astype(jnp.int8),
        lambda i, j: j.astype(jnp.uint32) + 1 <= i.astype(jnp.uint32),
        lambda i, j: i.astype(jnp.uint32) - j.astype(jnp.uint32) < 3,
        lambda i, j: j.astype(jnp.uint8) * 100 <= i.astype(jnp.uint8) * 100,
        lambda i, j: i.astype(jnp.float32) - j.astype(jnp.float32) >= 0, lambda i, j: j / 2 <= i / 2,
        lambda i, j: j.astype(jnp.bfloat16) <= i.astype(jnp.bfloat16), lambda i, j: (j <= i).astype(jnp.int32) > 0,
        lambda i, j: (j + i) % 2 * (j <= i) > 0, lambda i, j: jnp.clip(j, 1, w) <= i,
        lambda i, j: jnp.minimum(j, w) <= i,
        lambda i, j: (j <= i) ^ (j == 0), lambda i, j: jnp.where(i < w, j <= i, j < i), lambda i, j: ~(j > i) | (i < 0),
        lambda i, j: jnp.cumsum((j <= i).astype(jnp.int32), 1) <= i + 1, lambda i, j: (j <= i) == (i >= 0),
        lambda i, j: jnp.int32(2**31 - 1) - i >= jnp.int32(2**31 - 1) - j, lambda i, j: j * 2**29 <= i * 2**29,
    ])  # fmt: skip


def odd_attention(rng: random.Random) -> Step:
    """Attention whose mask is made, or put on, in an unusual way."""
    rule = odd_mask(rng)
    how = rng.choice([
        "log", "weak", "twice", "negated", "maximum", "manual", "times", "min", "scaled", "shifted", "double", "half",
        "raw",
    ])  # fmt: skip

    def step(x: Any) -> Any:
        t = places(x)
        mask = rule(t[:, None], t[None, :])
        f, s = mask.astype(jnp.float32), jnp.tanh(x @ x.T)
        if how == "log":
            w = jax.nn.softmax(s + jnp.log(f), -1)
        elif how == "weak":
            w = jax.nn.softmax(jnp.where(mask, s, -50.0), -1)
        elif how == "twice":
            w = jax.nn.softmax(jnp.where(mask, s - 1e9 * (1 - f), -1e9), -1)
        elif how == "negated":
            w = jax.nn.softmax(-jnp.where(mask, s, 1e9), -1)
        elif how == "maximum":
            w = jax.nn.softmax(jnp.maximum(jnp.where(mask, s, -jnp.inf), -1e30), -1)
        elif how == "manual":
            e = jnp.exp(s - s.max(-1, keepdims=True)) * f
            w = e / (e.sum(-1, keepdims=True) + 1e-6)
        elif how == "times":
            w = s * f * f
        elif how == "min":
            w = jnp.exp(jnp.minimum(s, jnp.where(mask, 1.0, -jnp.inf)))
        elif how == "scaled":
            w = jax.nn.softmax(jnp.where(mask, s, -1e4) / 10, -1)
        elif how == "shifted":
            w = jax.nn.softmax(jnp.where(mask, s, -1e9) + 1e9, -1)
        elif how == "double":
            w = jax.nn.softmax(jnp.where(mask, jax.nn.softmax(jnp.where(mask, s, -1e9), -1), -1e9), -1)
        elif how == "half":
            w = jax.nn.softmax(jnp.where(mask, s, -1e9).astype(jnp.bfloat16), -1).astype(jnp.float32)
        else:
            w = jnp.where(mask, s, jnp.finfo(jnp.float32).min)
            w = jnp.exp(w) / (1 + jnp.exp(w).sum(-1, keepdims=True))
        return w @ x

    return step


def matrices(rng: random.Random) -> Step:
    """Products with matrices of zeros and ones."""
    return rng.choice([
        lambda x: jnp.eye(x.shape[0], k=-1) @ x, lambda x: jnp.eye(x.shape[0], k=1) @ x,
        lambda x: jnp.tri(x.shape[0], k=-1) @ x, lambda x: jnp.triu(jnp.ones((x.shape[0],) * 2)).T @ x,
        lambda x: jnp.tril(x @ x.T) @ x, lambda x: jnp.tril(x @ x.T, 1) @ x,
    ])  # fmt: skip


def windows(rng: random.Random) -> Step:
    """Sums and maxima over windows, and convolutions with strides or holes in the input."""
    k, before = rng.choice([2, 3]), rng.random() < 0.6
    pads = [(k - 1, 0) if before else (0, k - 1), (0, 0)]
    init, f = rng.choice([(0.0, lax.add), (-jnp.inf, lax.max)])
    return lambda x: lax.reduce_window(x, init, f, (k, 1), (1, 1), pads)


def converted(rng: random.Random) -> Step:
    """Through another format and back."""
    return rng.choice([
        lambda x: x.astype(jnp.bfloat16).astype(jnp.float32), lambda x: (x > 0).astype(jnp.float32) + x,
        lambda x: (x * 10).astype(jnp.int8).astype(jnp.float32), lambda x: x + jnp.cumsum(x > 0, 0),
        lambda x: lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.int32), jnp.float32),
        lambda x: jnp.exp(lax.stop_gradient(x) * 0.1), lambda x: jnp.cumprod(jnp.tanh(x), 0),
    ])  # fmt: skip


def differed(rng: random.Random) -> Step:
    """Differences of neighbours, with a row put before or behind."""
    back = rng.random() < 0.6
    return lambda x: jnp.diff(x, axis=0, **({"prepend": x[:1]} if back else {"append": x[-1:]}))


def turned(rng: random.Random) -> Step:
    """Positions and width change places, and back."""
    f = rng.choice([jnp.tanh, lambda y: y - y.mean(0, keepdims=True), lambda y: jnp.cumsum(y, 1), jnp.flipud])
    return lambda x: f(x.T).T


def sparse_state(rng: random.Random) -> Step:
    """A recurrence that counts, forgets, or keeps the largest."""
    how, reverse = rng.choice(["forgets", "largest", "first", "two"]), rng.random() < 0.2
    weights = jnp.asarray(np.random.default_rng(rng.randrange(1 << 30)).normal(size=(WIDTH, WIDTH)) * 0.5, jnp.float32)

    def step(x: Any) -> Any:
        def once(carry: Any, row: Any) -> Any:
            k, a, b = carry
            if how == "forgets":
                a = jnp.where(k % BLOCK == 0, 0.0, a) * 0.5 + row
            elif how == "largest":
                a = jnp.maximum(a, row)
            elif how == "first":
                a = jnp.where(k == 0, row, a)
            else:
                a, b = jnp.tanh(b @ weights), row
            return (k + 1, a, b), a + b

        return lax.scan(once, (jnp.int32(0), jnp.zeros(WIDTH), jnp.zeros(WIDTH)), x, reverse=reverse)[1]

    return step


RARE = [
    (branched, 1), (sliced, 1), (written, 1.5), (steered, 1), (strided, 1), (rest, 1), (both, 1), (looped, 1),
    (ranked, 1), (odd_attention, 8), (matrices, 1.5), (windows, 1), (converted, 1), (differed, 1), (turned, 1),
    (sparse_state, 2),
]  # fmt: skip
