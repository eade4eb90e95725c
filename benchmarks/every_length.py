"""Proofs for every length, model by model: for which lengths, from how many statements, in which time.

    python -m benchmarks.every_length [--language torch]

Seconds are those of the processor. Beside each: one check at n = 12 alone. The last rows of JAX are one architecture
with two and with twelve layers, those of PyTorch GPT-2 and Llama from configurations.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import attnproof as ap
import jax.numpy as jnp  # noqa: TC002
from length_models import MODELS, D, given, masked


def deep(layers: int) -> object:
    """Attention with a finite mask and a hidden layer, several times."""
    layer = masked(lambda i, j: j <= i, -1e30)

    def model(x: jnp.ndarray) -> jnp.ndarray:
        for _ in range(layers):
            x = layer(x)
        return x

    return model


def row(name: str, model: object, x: object, **keywords: object) -> str:
    """One line of the table."""
    began = time.process_time()
    ap.check_model(model, x, replay="never", **keywords)  # type: ignore[arg-type]
    one = time.process_time() - began
    began = time.process_time()
    verdict = ap.check_model(model, x, replay="never", lengths="all", **keywords)  # type: ignore[arg-type]
    whole = time.process_time() - began
    found = verdict.details["every_length"]
    spoken = verdict.about.split(" for ")[-1]
    return (
        f"| {name} | {spoken} | {verdict.status.name} | {len(found['obligations'])} | {found['solver_seconds']:.2f} | "
        f"{whole:.1f} | {one:.1f} |"
    )


def jax_rows() -> None:
    """Models of `tests/length_models`."""
    for name, (build, _) in MODELS.items():
        extra = {"vocabulary": 7} if name == "flax" else {}
        print(row(name, build(False), given(name), **extra), flush=True)
    for layers in (2, 12):
        print(row(f"{layers} layers, width {D}", deep(layers), given("full")), flush=True)


def torch_rows() -> None:
    """Models of `tests/length_models_torch`, and two of transformers."""
    import length_models_torch as models
    import torch
    import transformers

    for name, (build, _) in models.MODELS.items():
        extra = {"vocabulary": 7} if name == "kept mask" else {}
        print(row(name, build(False), models.given(name), sequence_axis=1, **extra), flush=True)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--language", choices=("jax", "torch"), default="jax")
    language = parser.parse_args().language
    print("| model | proved for | verdict | statements | seconds of both solvers | seconds in all | n = 12 alone |")
    print("|---|---|---|---|---|---|---|")
    if language == "jax":
        jax_rows()
    else:
        torch_rows()


if __name__ == "__main__":
    main()
