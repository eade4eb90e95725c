"""What a proof of a JAX model costs, beside a jitted forward of the same: GPT-2 small in flax nnx.

    python -m benchmarks.jax_models --n 1024

The proof is `check_model(replay="never")`, on parameters that have shapes and no values; the forward is compiled
before it is timed, with weights. Compare the two times of one run only.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import attnproof as ap
import jax
import jax.numpy as jnp
from flax import nnx


class Block(nnx.Module):
    def __init__(self, width: int, heads: int, rngs: nnx.Rngs) -> None:
        self.attend = nnx.MultiHeadAttention(heads, width, decode=False, rngs=rngs)
        self.first, self.second = nnx.LayerNorm(width, rngs=rngs), nnx.LayerNorm(width, rngs=rngs)
        self.up, self.down = nnx.Linear(width, 4 * width, rngs=rngs), nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x: Any, seen: Any) -> Any:
        x = x + self.attend(self.first(x), mask=seen)
        return x + self.down(nnx.gelu(self.up(self.second(x))))


class GPT2(nnx.Module):
    """GPT-2 small with its sizes: 12 layers of 12 heads, width 768, 50257 tokens."""

    def __init__(self, n: int, rngs: nnx.Rngs) -> None:
        self.tokens, self.places = nnx.Embed(50257, 768, rngs=rngs), nnx.Embed(n, 768, rngs=rngs)
        self.blocks = nnx.List([Block(768, 12, rngs) for _ in range(12)])
        self.last = nnx.LayerNorm(768, rngs=rngs)

    def __call__(self, tokens: Any) -> Any:
        x = self.tokens(tokens) + self.places(jnp.arange(tokens.shape[1]))
        seen = nnx.make_causal_mask(tokens)
        for block in self.blocks:
            x = block(x, seen)
        return self.tokens.attend(self.last(x))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--n", type=int, default=1024)
    n = options.parse_args().n
    shapes = nnx.eval_shape(lambda: GPT2(n, nnx.Rngs(0)))
    tokens = jnp.zeros((1, n), jnp.int32)
    times = []
    for _ in range(2):  # the first call imports
        started = time.perf_counter()
        verdict = ap.check_model(shapes, jax.ShapeDtypeStruct(tokens.shape, tokens.dtype), replay="never")
        times.append(time.perf_counter() - started)
    model = GPT2(n, nnx.Rngs(0))
    graph, state = nnx.split(model)
    forward = jax.jit(lambda state, tokens: nnx.merge(graph, state)(tokens))
    forward(state, tokens).block_until_ready()
    started = time.perf_counter()
    forward(state, tokens).block_until_ready()
    took = time.perf_counter() - started
    print(verdict)
    print(
        f"proof {times[1]:.2f} s (first call {times[0]:.2f} s), one jitted forward {took:.2f} s: {times[1] / took:.2f}"
    )


if __name__ == "__main__":
    main()
