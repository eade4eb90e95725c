"""Brute force against the run over jaxprs: what moves when a position does, and what an element holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from attnproof.causal.model.trace.domain import NEGINF, POSITIVE, ZERO, full
from attnproof.causal.model.trace.jaxpr.frontend import Given, recorded, traced
from attnproof.causal.model.trace.policy import Policy
from attnproof.causal.model.trace.records import Trace


def claimed(f: Callable[..., Any], x: Any, *parameters: Any, axis: int = 0, policy: Policy | None = None) -> Trace:
    """What the run says of f(x, *parameters)."""
    given = [Given("x", "input", x), *(Given(f"p{i}", "parameter", p) for i, p in enumerate(parameters))]
    recording, _ = recorded(f, given, axis)
    return traced(recording, policy or Policy())


def plain(value: Any) -> np.ndarray:
    """The numbers, random keys among them."""
    if jnp.issubdtype(value.dtype, jax.dtypes.extended):
        value = jax.random.key_data(value)
    return np.asarray(value)


def others(x: Any, j: int, seed: int) -> Any:
    """x with another position j."""
    rng = np.random.default_rng(seed)
    old = np.asarray(x[j])
    if x.dtype == bool:
        new = ~old
    elif jnp.issubdtype(x.dtype, jnp.integer):
        new = (old + rng.integers(1, 4, old.shape)) % 5
    else:
        new = old * 0 + rng.uniform(0.1, 0.9, old.shape) * (1 if seed % 2 else rng.choice([-1, 1], old.shape))
        if jnp.issubdtype(x.dtype, jnp.complexfloating):
            new = new + 1j * rng.uniform(0.1, 0.9, old.shape)
    return x.at[j].set(new.astype(x.dtype))


def wrong(f: Callable[[Any], Any], x: Any, draws: int = 2, positive: bool = False, policy: Policy | None = None) -> str:
    """What is wrong with the claims about f at x, "" where nothing is."""
    trace = claimed(f, x, policy=policy)
    run = jax.jit(f)
    before = [plain(v) for v in jax.tree.leaves(run(x))]
    if any(v.dtype.kind in "fc" and (np.isnan(v).any() or (v == np.inf).any()) for v in before):
        return ""
    for k, (value, output) in enumerate(zip(before, trace.outputs, strict=True)):
        if value.shape != output.shadow.shape:
            continue  # data of random keys
        _, _, kind = full(output.shadow)
        if (value[kind == ZERO] != 0).any():
            return f"output {k}: an exact 0 is {value[kind == ZERO]}"
        if value.dtype.kind == "f" and (value[kind == POSITIVE] < 0).any():
            return f"output {k}: below 0"
        if value.dtype.kind == "f" and (value[kind == NEGINF] > -1e30).any():
            return f"output {k}: not −∞"
    for j in range(x.shape[0]):
        for seed in range(draws):
            other = others(x, j, 100 * j + seed + positive)
            other = jnp.abs(other) if positive else other
            after = [plain(v) for v in jax.tree.leaves(run(other))]
            for k, (a, b, output) in enumerate(zip(before, after, trace.outputs, strict=True)):
                if a.shape != output.shadow.shape or (b.dtype.kind in "fc" and np.isnan(b).any()):
                    continue
                lo, hi, _ = full(output.shadow)
                outside = (a != b) & ((lo > j) | (hi < j))
                if outside.any():
                    where = tuple(int(i) for i in np.argwhere(outside)[0])
                    return f"output {k} at {where} moves with {j}, said to reach [{lo[where]}, {hi[where]}]"
    return ""
