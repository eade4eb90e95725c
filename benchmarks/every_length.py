"""Proofs for every length, model by model: for which lengths, from how many statements, in which time.

    python -m benchmarks.every_length [--language torch | transformers]

Beside each: the slowest statement, and one check at n = 12 alone. Seconds of the solvers are by the clock, others those
of the processor. The last rows of JAX are one architecture with two and with twelve layers, those of PyTorch GPT-2 and
Llama from configurations.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import attnproof as ap
import jax.numpy as jnp
from attnproof import Verdict
from length_models import MODELS, B, D, given, masked
from length_public import PUBLIC


def deep(layers: int) -> object:
    """Attention with a finite mask and a hidden layer, several times."""
    layer = masked(lambda i, j: j <= i, -1e30)

    def model(x: jnp.ndarray) -> jnp.ndarray:
        for _ in range(layers):
            x = layer(x)
        return x

    return model


def only(rule: Callable[[Any, Any], Any]) -> object:
    """Attention without the position itself: nothing is added to what was there."""

    def model(x: jnp.ndarray) -> jnp.ndarray:
        t = jnp.arange(x.shape[1])
        return jnp.where(rule(t[:, None], t[None, :]), jnp.exp(jnp.tanh(x.sum(-1)))[:, None, :], 0.0) @ x

    return model


def seconds(model: object, x: object, **keywords: object) -> tuple[Verdict, float]:
    """A verdict, and the seconds of processors that it took."""
    began = time.process_time()
    verdict = ap.check_model(model, x, sequence_axis=1, replay="never", **keywords)  # type: ignore[arg-type]
    return verdict, time.process_time() - began


def row(name: str, model: object, x: object, boundary: str = "prefix", **keywords: object) -> str:
    """One line of the table."""
    _, one = seconds(model, x, boundary=boundary, **keywords)
    verdict, whole = seconds(model, x, boundary=boundary, lengths="all", **keywords)
    found = verdict.details["every_length"]
    spoken = verdict.about.split(" for ")[-1]
    asked = found["obligations"]
    slowest = max((o["seconds"] for o in asked), default=0.0)
    return (
        f"| {name} | {boundary} | {spoken} | {verdict.status.name} | {len(asked)} | {found['solver_seconds']:.2f} | "
        f"{slowest:.2f} | {whole:.1f} | {one:.1f} |"
    )


HEAD = (
    "| model | boundary | proved for | verdict | statements | both solvers | the slowest | in all | n = 12 alone |",
    "|---|---|---|---|---|---|---|---|---|",
)
BOUNDED = {
    "weights of 0 from t on": (lambda i, j: j < i, -jnp.inf, "strict"),
    "mask of −∞ inside documents": (lambda i, j: (j <= i) & (j // B == i // B), -jnp.inf, "documents-of:4"),
    "mask of −1e30 inside documents": (lambda i, j: (j <= i) & (j // B == i // B), -1e30, "documents-of:4"),
    "mask of −∞ by whole blocks": (lambda i, j: j // B <= i // B, -jnp.inf, "blocks:4"),
}


def jax_rows() -> None:
    """Models of `tests/length_models`, two layers of published architectures, and boundaries."""
    for name, (build, _) in MODELS.items():
        extra = {"vocabulary": 7} if name == "flax" else {}
        print(row(name, build(False), given(name), **extra), flush=True)
    for name, build in PUBLIC.items():
        print(row(f"{name}, two layers", build(False), given("full")), flush=True)
    for name, (rule, low, boundary) in BOUNDED.items():
        model = only(rule) if boundary == "strict" else masked(rule, low)
        print(row(name, model, given("full"), boundary), flush=True)
    for layers in (2, 12):
        print(row(f"{layers} layers, width {D}", deep(layers), given("full")), flush=True)


def torch_rows() -> None:
    """Models of `tests/length_models_torch`, and two of transformers."""
    import length_models_torch as models
    import torch
    import transformers

    for name, (build, _) in models.MODELS.items():
        extra = {"vocabulary": 7} if name == "kept mask" else {}
        print(row(name, build(False), models.given(name), **extra), flush=True)
    tokens = torch.arange(12)[None]
    llama = transformers.LlamaConfig(
        num_hidden_layers=12,
        hidden_size=256,
        intermediate_size=512,
        num_attention_heads=8,
        num_key_value_heads=2,
        use_cache=False,
    )
    gpt2 = transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False)).eval()
    print(row("GPT-2 small of transformers", gpt2, tokens, outputs="logits", vocabulary=256), flush=True)
    print(
        row("Llama, 12 layers", transformers.LlamaForCausalLM(llama).eval(), tokens, outputs="logits", vocabulary=256),
        flush=True,
    )


def transformers_rows() -> None:
    """Architectures of transformers, two small layers each."""
    import torch
    from length_transformers import ARCHITECTURES, built

    print("| architecture | verdict | proved for, or why it is open | seconds |", "|---|---|---|---|", sep="\n")
    tokens = torch.arange(12)[None]
    for name in ARCHITECTURES:
        torch.manual_seed(0)
        model, began = built(name), time.process_time()
        given = (tokens[:, :5], None, tokens) if name == "T5" else (tokens,)
        verdict = ap.check_model(
            model, *given, vary=2 * (name == "T5"), sequence_axis=1, outputs="logits", vocabulary=60, replay="never",
            lengths="all",
        )  # fmt: skip
        found = verdict.details.get("every_length", {}).get("ranges") or [verdict.reasons[0].split(" open: ")[-1]]
        print(
            f"| {name} | {verdict.status.name} | {', '.join(found)} | {time.process_time() - began:.1f} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--language", choices=("jax", "torch", "transformers"), default="jax")
    language = parser.parse_args().language
    if language == "transformers":
        transformers_rows()
        return
    print(*HEAD, sep="\n")
    if language == "jax":
        jax_rows()
    else:
        torch_rows()


if __name__ == "__main__":
    main()
