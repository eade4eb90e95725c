"""Random programs over sequences of any length, in JAX, and what they really read, by trying."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from length_masks import masks
from length_steps import RARE

WIDTH = 4
BLOCK = 4
Step = Callable[[Any], Any]


def _weights(rng: random.Random) -> Any:
    return jnp.asarray(np.random.default_rng(rng.randrange(1 << 30)).normal(size=(WIDTH, WIDTH)) * 0.6, jnp.float32)


def _places(x: Any) -> Any:
    return jnp.arange(x.shape[0])


def linear(rng: random.Random) -> Step:
    w = _weights(rng)
    return lambda x: x @ w


def pointwise(rng: random.Random) -> Step:
    return rng.choice([jnp.tanh, jax.nn.relu, jax.nn.gelu, lambda x: jnp.exp(-(x**2)), jnp.sin, lambda x: x * x])


def normed(rng: random.Random) -> Step:
    return lambda x: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def shifted(rng: random.Random) -> Step:
    k, back = rng.choice([1, 2, 3]), rng.random() < 0.7

    def step(x: Any) -> Any:
        n = x.shape[0]
        y = jnp.pad(x, ((k, 0), (0, 0)) if back else ((0, k), (0, 0)))
        return lax.slice(y, (0, 0), (n, WIDTH)) if back else lax.slice(y, (k, 0), (n + k, WIDTH))

    return step


def rolled(rng: random.Random) -> Step:
    def step(x: Any) -> Any:
        n = x.shape[0]
        return jnp.concatenate([lax.slice(x, (n - 1, 0), (n, WIDTH)), lax.slice(x, (0, 0), (n - 1, WIDTH))])

    return step


def running(rng: random.Random) -> Step:
    f, reverse = rng.choice([lax.cumsum, lax.cummax, lax.cumlogsumexp]), rng.random() < 0.2
    return lambda x: f(x, axis=0, reverse=reverse) / (8.0 if f is lax.cumsum else 1.0)


def flipped(rng: random.Random) -> Step:
    return lambda x: jnp.flip(x, 0)


def mask_of(rng: random.Random) -> Callable[[Any, Any], Any]:
    """A rule over a query's and a key's place."""
    return rng.choice(masks(rng, BLOCK, jnp.logical_not)[1])


def attention(rng: random.Random) -> Step:
    q, k, v = (_weights(rng) for _ in range(3))
    rule, how = mask_of(rng), rng.choice(["-inf", "finite", "finite", "added", "zeroed", "linear"])

    def step(x: Any) -> Any:
        t = _places(x)
        mask = rule(t[:, None], t[None, :])
        s = (x @ q) @ (x @ k).T / 2.0
        if how == "linear":
            return jnp.where(mask, jnp.tanh(s), 0.0) @ (x @ v)
        if how == "added":
            s = s + (1.0 - mask.astype(jnp.float32)) * -1e9
        else:
            s = jnp.where(mask, s, -jnp.inf if how == "-inf" else -1e30)
        w = jax.nn.softmax(s, -1)
        return (jnp.where(mask, w, 0.0) if how == "zeroed" else w) @ (x @ v)

    return step


def blocks(rng: random.Random) -> Step:
    """Means, running totals or orders inside blocks, of this block or of the one before."""
    how = rng.choice(["mean", "cumsum", "last", "before", "flip"])

    def step(x: Any) -> Any:
        m = x.shape[0] // BLOCK
        y = x.reshape(m, BLOCK, WIDTH)
        if how == "cumsum":
            return jnp.cumsum(y, 1).reshape(m * BLOCK, WIDTH)
        if how == "flip":
            return jnp.flip(y, 1).reshape(m * BLOCK, WIDTH)
        z = y.mean(1, keepdims=True) if how != "last" else y[:, BLOCK - 1 :]
        if how == "before":
            z = lax.slice(jnp.pad(z, ((1, 0), (0, 0), (0, 0))), (0, 0, 0), (m, 1, WIDTH))
        return jnp.broadcast_to(z, (m, BLOCK, WIDTH)).reshape(m * BLOCK, WIDTH)

    return step


def convolved(rng: random.Random) -> Step:
    width = rng.choice([2, 3])
    before = rng.choice([width - 1, width - 1, width - 2, 0])
    dilation = rng.choice([1, 1, 2])
    w = jnp.asarray(np.random.default_rng(rng.randrange(1 << 30)).normal(size=(WIDTH, WIDTH, width)), jnp.float32)

    def step(x: Any) -> Any:
        pads = [(before * dilation, (width - 1 - before) * dilation)]
        return lax.conv_general_dilated(x.T[None], w, (1,), pads, rhs_dilation=(dilation,))[0].T

    return step


def recurrent(rng: random.Random) -> Step:
    w, reverse, late = _weights(rng), rng.random() < 0.2, rng.random() < 0.5

    def step(x: Any) -> Any:
        def once(h: Any, row: Any) -> Any:
            new = jnp.tanh(h @ w + row)
            return new, (h if late else new)

        return lax.scan(once, jnp.zeros(WIDTH), x, reverse=reverse)[1]

    return step


def counted(rng: random.Random) -> Step:
    """A loop that counts its steps and looks where it stands."""
    ahead = rng.choice([-1, 0, 0, 1])

    def step(x: Any) -> Any:
        def once(carry: Any, _: Any) -> Any:
            k, h = carry
            row = lax.dynamic_slice(x, (k + ahead, 0), (1, WIDTH))[0]
            return (k + 1, 0.5 * h + row), h + row

        return lax.scan(once, (jnp.int32(0), jnp.zeros(WIDTH)), _places(x))[1]

    return step


def gathered(rng: random.Random) -> Step:
    where = rng.choice([
        lambda t, n: jnp.maximum(t - 1, 0), lambda t, n: jnp.minimum(t + 1, n - 1), lambda t, n: t // 2,
        lambda t, n: n - 1 - t, lambda t, n: t - t % BLOCK, lambda t, n: t // BLOCK * BLOCK - 1, lambda t, n: 0 * t,
        lambda t, n: 2 * t, lambda t, n: t - 1,
    ])  # fmt: skip
    mode = rng.choice([None, "clip", "fill"])
    return lambda x: jnp.nan_to_num(jnp.take(x, where(_places(x), x.shape[0]), axis=0, mode=mode))


def chosen(rng: random.Random) -> Step:
    """One of two by the place."""
    a, b = shifted(rng), running(rng)
    rule = rng.choice([lambda t: t % 2 == 0, lambda t: t < 3, lambda t: t % BLOCK == BLOCK - 1])
    return lambda x: jnp.where(rule(_places(x))[:, None], a(x), b(x))


def pooled(rng: random.Random) -> Step:
    f = rng.choice([jnp.mean, jnp.max, jnp.min])
    return lambda x: x + 0.1 * f(x, axis=0, keepdims=True)


def ordered(rng: random.Random) -> Step:
    return rng.choice([lambda x: jnp.sort(x, 0), lambda x: x + 0.0 * x + jnp.argmax(x, 0).astype(jnp.float32)])


def rated(rng: random.Random) -> Step:
    """A running mean, by the number of places so far."""
    return lambda x: jnp.cumsum(x, 0) / (_places(x)[:, None] + 1)


KINDS = [
    (linear, 2), (pointwise, 2), (normed, 2), (shifted, 3), (rolled, 0.5), (running, 2), (flipped, 0.5), (attention, 5),
    (blocks, 2), (convolved, 2), (recurrent, 2), (counted, 1), (gathered, 2), (chosen, 2), (pooled, 0.4),
    (ordered, 0.4), (rated, 1),
]  # fmt: skip


EVERY = [*KINDS, *RARE]


def program(seed: int) -> tuple[str, Step]:
    """A program of one to four steps, some of them beside what they change; and what it is made of."""
    rng = random.Random(seed)
    kinds = rng.choices([k for k, _ in EVERY], [w for _, w in EVERY], k=rng.choice([1, 2, 2, 3, 4]))
    steps = [(kind(rng), rng.random() < 0.5) for kind in kinds]

    def run(x: Any) -> Any:
        for step, beside in steps:
            y = step(x)
            x = x + y if beside else y
        return x

    return " → ".join(k.__name__ for k in kinds), run


def reads(run: Step, lengths: Sequence[int], seed: int = 0) -> dict[int, np.ndarray]:
    """For each row of the output the latest row of the input that changes it, −1 for none; by changing each in turn.

    At several lengths at once, since compiling is what takes the time.
    """
    rng = np.random.default_rng(seed)
    several = jax.jit(lambda xs: [jax.vmap(run)(x) for x in xs])
    found = {n: np.full(n, -1) for n in lengths}
    for scale, other in ((1.0, 1.0), (0.1, 3.0)):
        for n, after in zip(lengths, several([_changed(rng, n, scale, other) for n in lengths]), strict=True):
            after = np.asarray(after)
            before = after[n]  # as it is
            for j in range(n):
                same = (before == after[j]) | (np.isnan(before) & np.isnan(after[j]))
                found[n] = np.where(~same.all(axis=1), np.maximum(found[n], j), found[n])
    return found


def _changed(rng: np.random.Generator, n: int, scale: float, other: float) -> np.ndarray:
    """A sequence with each of its rows changed in turn, and as it is."""
    x = np.repeat(rng.normal(size=(1, n, WIDTH)).astype(np.float32) * scale, n + 1, 0)
    for j in range(n):
        x[j, j] = rng.normal(size=WIDTH) * other
    return x
