"""What a proof of a JAX model costs, beside a jitted forward of the same: GPT-2 small in flax nnx.

    python -m benchmarks.jax_models --n 1024

The proof is `check_model(replay="never")`, on parameters that have shapes and no values; the forward is compiled
before it is timed, with weights. Compare the two times of one run only.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
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


def timed(function: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a call returns, its seconds by the clock, and those of all processors together."""
    wall, busy = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - busy


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--n", type=int, default=1024)
    n = options.parse_args().n
    shapes = nnx.eval_shape(lambda: GPT2(n, nnx.Rngs(0)))
    tokens = jnp.zeros((1, n), jnp.int32)
    given = jax.ShapeDtypeStruct(tokens.shape, tokens.dtype)
    ap.check_model(shapes, given, replay="never")  # the first call imports
    verdict, proof, proof_busy = timed(lambda: ap.check_model(shapes, given, replay="never"))
    model = GPT2(n, nnx.Rngs(0))
    graph, state = nnx.split(model)
    forward = jax.jit(lambda state, tokens: nnx.merge(graph, state)(tokens))
    forward(state, tokens).block_until_ready()
    _, run, run_busy = timed(lambda: forward(state, tokens).block_until_ready())
    print(verdict)
    print(f"proof {proof:.2f} s ({proof_busy:.2f} s of processors), one jitted forward {run:.2f} s ({run_busy:.2f} s)")
    print(f"of a forward the proof takes {proof / run:.2f} by the clock, {proof_busy / run_busy:.2f} of processors")


if __name__ == "__main__":
    main()
