"""Random programs for JAX: functions of x (5 positions, 3 features) made of steps that keep its shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

N, D = 5, 3
Step = Callable[..., Any]
Arrays = list[Any]


def one_of(rng: np.random.Generator, *choices: Any) -> Any:
    """One of several, each as likely as any other."""
    return choices[rng.integers(len(choices))]


def places(x: Any) -> Any:
    """Whole numbers below N, made of x."""
    return jnp.floor(jnp.abs(x[:, 0]) * 7).astype(jnp.int32) % N


def lower(rng: np.random.Generator) -> np.ndarray:
    """A random mask, most often triangular."""
    mask = np.tril(np.ones((N, N), bool), int(rng.integers(-1, 2)))
    return mask if rng.random() < 0.8 else rng.random((N, N)) < 0.6


def holed(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random numbers with zeros among them."""
    return (rng.normal(size=shape) * (rng.random(shape) < 0.6)).astype(np.float32)


def softmax(rng: np.random.Generator) -> Step:
    mask, low = lower(rng), float(rng.choice([-np.inf, -np.inf, -1e9]))
    return lambda x, y: jax.nn.softmax(jnp.where(mask | np.eye(N, dtype=bool), x @ y.T, low), -1) @ y


def sums(rng: np.random.Generator) -> Step:
    a = holed(rng, N, N) * lower(rng)
    return lambda x, y: a @ x + y


def features(rng: np.random.Generator) -> Step:
    w = holed(rng, D, D)
    return lambda x, y: jnp.tanh(x @ w) * y


def gathered(rng: np.random.Generator) -> Step:
    index = rng.integers(0, N, N)
    return one_of(
        rng,
        lambda x, y: x[index],
        lambda x, y: x[places(y)],
        lambda x, y: jnp.take_along_axis(x, jnp.argsort(y, 1), 1),
    )


def scattered(rng: np.random.Generator) -> Step:
    index, k = rng.integers(0, N, N), int(rng.integers(N))
    return one_of(
        rng,
        lambda x, y: x.at[index].add(y),
        lambda x, y: x.at[k].set(y[-1]),
        lambda x, y: jnp.zeros((N, D)).at[places(x)].max(y),
        lambda x, y: lax.dynamic_update_slice(x, y[:2], (k, 0)),
    )


def moved(rng: np.random.Generator) -> Step:
    k, axis = int(rng.integers(1, N)), int(rng.integers(2))
    return one_of(
        rng,
        lambda x, y: jnp.roll(x, k, axis),
        lambda x, y: x[::-1],
        lambda x, y: jnp.concatenate([y[k:], x[:k]]),
        lambda x, y: jnp.pad(x, ((k, 0), (0, 0)))[:N],
        lambda x, y: x.reshape(-1)[::-1].reshape(N, D),
        lambda x, y: x.T.reshape(N, D),
        lambda x, y: lax.dynamic_slice(jnp.concatenate([x, y]), (k, 0), (N, D)),
    )


def linear(a: Arrays, b: Arrays) -> Arrays:
    """Two steps of y ← a y + b as one."""
    return [b[0] * a[0], b[0] * a[1] + b[1]]


def along(rng: np.random.Generator) -> Step:
    axis, backwards = int(rng.integers(2)), bool(rng.integers(2))
    scan = one_of(rng, lax.cumsum, lax.cummax, lax.cummin, lax.cumlogsumexp, lax.cumprod)
    reduce = one_of(rng, jnp.sum, jnp.max, jnp.mean, jnp.min)
    return one_of(
        rng,
        lambda x, y: scan(jnp.tanh(x), axis, backwards),
        lambda x, y: jnp.tanh(x) - reduce(jnp.tanh(y), axis, keepdims=True),
        lambda x, y: lax.associative_scan(linear, [jnp.tanh(x), y], backwards)[1],
        lambda x, y: jnp.sort(x, axis),
    )


def controlled(rng: np.random.Generator) -> Step:
    k, backwards, w = int(rng.integers(N)), bool(rng.integers(2)), holed(rng, D, D)

    def step(state: Any, row: Any) -> tuple[Any, Any]:
        state = jnp.tanh(state @ w + row)
        return state, state * row

    def rolled(x: Any, y: Any) -> Any:
        going = lambda c: c[0] < jnp.abs(x[k, 0]) * 3  # noqa: E731
        return lax.while_loop(going, lambda c: (c[0] + 1, jnp.roll(c[1], 1, 0)), (0.0, y))[1]

    return one_of(
        rng,
        lambda x, y: lax.scan(step, y[k], x, reverse=backwards)[1],
        lambda x, y: lax.cond(x[k, 0] > 0, lambda v: v * y, lambda v: v + y[::-1], x),
        lambda x, y: lax.fori_loop(1, N, lambda i, v: v.at[i].add(jnp.tanh(v[i - 1])), x),
        rolled,
        lambda x, y: jnp.where(x > y, x, y[::-1]),
        lambda x, y: jax.checkpoint(lambda v: jnp.sin(v) * y)(x),
        lambda x, y: jax.vmap(lambda a, b: a * b.sum())(x, y),
    )


def pointwise(rng: np.random.Generator) -> Step:
    z = holed(rng, N, 1)
    return one_of(
        rng,
        lambda x, y: x * y,
        lambda x, y: x - y,
        lambda x, y: x * z,
        lambda x, y: jnp.tanh(x) + y * z,
        lambda x, y: jax.nn.relu(x) + jax.nn.gelu(y),
        lambda x, y: x / (1 + y * y),
        lambda x, y: jnp.exp(jnp.tanh(x)) * z,
        lambda x, y: (x > 0).astype(jnp.float32) * y,
        lambda x, y: jnp.minimum(x, y),
        lambda x, y: x.astype(jnp.bfloat16).astype(jnp.float32),
    )


def convolved(rng: np.random.Generator) -> Step:
    w, left = holed(rng, D, D, 3), int(rng.integers(3))
    return lambda x, y: lax.conv_general_dilated(x.T[None], w, (1,), [(left, 2 - left)])[0].T + y


STEPS = [softmax, sums, features, gathered, scattered, moved, along, controlled, pointwise, convolved]


def program(seed: int) -> tuple[Callable[[Any], Any], Any]:
    """A function of 2 to 7 steps, and its input."""
    rng = np.random.default_rng(seed)
    steps = [(one_of(rng, *STEPS)(rng), *rng.integers(8, size=2)) for _ in range(rng.integers(2, 8))]

    def run(x: Any) -> Any:
        made: Arrays = [x]
        for step, a, b in steps:
            made.append(step(made[max(len(made) - 1 - a % 2, 0)], made[b % len(made)]))
        return made[-1], made[len(made) // 2]

    return run, jnp.asarray(rng.uniform(0.1, 0.9, (N, D)) * rng.choice([-1, 1], (N, D)), jnp.float32)
