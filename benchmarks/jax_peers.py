"""Checks of JAX models beside asdex, which finds the sparsity of Jacobians: who is right, and how long each takes.

    python -m venv elsewhere && elsewhere/bin/pip install asdex
    python -m benchmarks.jax_peers --asdex elsewhere/bin/python

asdex runs in an environment of its own, on the very same functions of 64 positions: "leak" where its pattern has an
entry beyond the diagonal, "causal" where it has none. The truth is known by construction. Each time is that of a second
call, without imports. Asdex answers another question, whether a derivative can differ from 0: what no derivative shows
(comparisons, rounding, places of the largest) is no fault of its own, but no answer to this one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

N, D = 64, 4
SEEN = np.tril(np.ones((N, N), bool))
TAPS = np.random.default_rng(0).normal(size=(D, D, 3)).astype(np.float32)
Function = Callable[[Any], Any]


def attention(x: Any, seen: Any, low: float) -> Any:
    return jax.nn.softmax(jnp.where(seen, x @ x.T, low), -1) @ x


def convolved(x: Any, left: int) -> Any:
    return lax.conv_general_dilated(x.T[None], TAPS, (1,), [(left, 2 - left)])[0].T


def recurrence(x: Any, backwards: bool) -> Any:
    return lax.scan(lambda s, row: (jnp.tanh(s + row),) * 2, jnp.zeros(D), x, reverse=backwards)[1]


FUNCTIONS: dict[str, tuple[Function, bool]] = {
    "cumulative sum": (lambda x: jnp.cumsum(x, 0), True),
    "sum from the end": (lambda x: lax.cumsum(x, 0, reverse=True), False),
    "attention, −∞ mask": (lambda x: attention(x, SEEN, -jnp.inf), True),
    "attention, mask one further": (lambda x: attention(x, np.roll(SEEN, 1, 1), -jnp.inf), False),
    "attention, −1e9 mask": (lambda x: attention(x, SEEN, -1e9), True),
    "dot_product_attention(is_causal)": (
        lambda x: jax.nn.dot_product_attention(*[x[:, None]] * 3, is_causal=True),
        True,
    ),
    "tril @ x": (lambda x: SEEN.astype(np.float32) @ x, True),
    "(x xᵀ · tril) x": (lambda x: (x @ x.T * SEEN) @ x, True),
    "convolution from the left": (lambda x: convolved(x, 2), True),
    "convolution around": (lambda x: convolved(x, 1), False),
    "recurrence": (lambda x: recurrence(x, False), True),
    "recurrence backwards": (lambda x: recurrence(x, True), False),
    "norm of features": (lambda x: (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1), True),
    "where(next > 0)": (lambda x: jnp.where(jnp.roll(x, -1, 0) > 0, x, -x), False),
    "round(next)": (lambda x: x + jnp.round(jnp.roll(x, -1, 0)), False),
    "x at the largest": (lambda x: x * (jnp.argmax(x, 0) == jnp.arange(D)), False),
    "sign(sum)": (lambda x: x * jnp.sign(x.sum(0)), False),
    "the largest so far": (lambda x: lax.cummax(x, 0), True),
}


def given() -> Any:
    return jnp.asarray(np.random.default_rng(1).normal(size=(N, D)), jnp.float32)


def by_asdex() -> dict[str, tuple[str, float]]:
    import asdex

    found = {}
    for name, (f, _) in FUNCTIONS.items():
        try:
            asdex.jacobian_sparsity(f, given())
            started = time.perf_counter()
            pattern = np.asarray(asdex.jacobian_sparsity(f, given()).todense()) != 0
            took = time.perf_counter() - started
            reach = pattern.reshape(N, -1, N, D).any((1, 3))
            found[name] = ("leak" if np.triu(reach, 1).any() else "causal", took)
        except Exception as error:
            found[name] = (type(error).__name__, 0.0)
    return found


def by_attnproof() -> dict[str, tuple[str, float]]:
    import attnproof as ap

    found = {}
    for name, (f, _) in FUNCTIONS.items():
        ap.check_model(f, given(), sequence_axis=0)
        started = time.perf_counter()
        status = ap.check_model(f, given(), sequence_axis=0).status.name
        words = {"PROVED": "causal", "PROVED_IF": "causal if", "REFUTED": "leak"}
        found[name] = (words.get(status, status), time.perf_counter() - started)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--asdex", metavar="PYTHON", help="a Python that imports asdex and jax")
    options.add_argument("--only", choices=["asdex"], help="print what asdex says, as JSON")
    asked = options.parse_args()
    if asked.only:
        print(json.dumps(by_asdex()))
        return
    ours, theirs = by_attnproof(), {}
    if asked.asdex:
        told = subprocess.run([asked.asdex, __file__, "--only", "asdex"], capture_output=True, text=True, check=True)
        theirs = json.loads(told.stdout.splitlines()[-1])
    wrong = [0, 0]
    print(f"{'function (64 positions)':34s} {'truth':8s} {'attnproof':>18s} {'asdex':>18s}")
    for name, (_, causal) in FUNCTIONS.items():
        truth, cells = "causal" if causal else "leak", []
        for i, (said, took) in enumerate((ours[name], theirs.get(name, ("–", 0.0)))):
            fault = said not in (truth, f"{truth} if", "–")
            wrong[i] += fault
            cells.append(f"{said}{' ✗' if fault else ''} {took:6.2f} s")
        print(f"{name:34s} {truth:8s} {cells[0]:>18s} {cells[1]:>18s}")
    print(f"wrong: attnproof {wrong[0]}, asdex {wrong[1]} of {len(FUNCTIONS)} (jax {jax.__version__})")
    sys.exit(bool(wrong[0]))


if __name__ == "__main__":
    main()
