"""The operation that is blamed is the one that moves or mixes positions, not the sum after it."""

from __future__ import annotations

from needs import need

need("jax")

import attnproof as ap
import jax.numpy as jnp
import pytest

LEAKS = {
    "concatenate": lambda x: jnp.roll(x, -2, 1) * 0.1,
    "rev": lambda x: x[:, ::-1],
    "pad": lambda x: jnp.pad(x[:, 1:], ((0, 0), (0, 1), (0, 0))),
    "gather": lambda x: x[:, jnp.arange(11, -1, -1)],
    "reduce_sum": lambda x: 1e-3 * x.mean(1, keepdims=True),
    "reduce_max": lambda x: x.max(1, keepdims=True),
    "dot_general": lambda x: jnp.ones((12, 12)) @ x,
}


@pytest.mark.parametrize("operation", LEAKS)
def test_the_operation_that_does_it_is_named(operation):
    x = jnp.sin(jnp.arange(48.0) ** 2).reshape(1, 12, 4)
    verdict = ap.check_model(lambda x: x.cumsum(1) + LEAKS[operation](x), x)
    assert verdict.details["blame"]["entry"]["operation"] == operation
