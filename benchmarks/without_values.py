"""What a proof costs that runs the program without values: beside a forward pass, and where none could run.

    python benchmarks/without_values.py            GPT-2 small; a Llama of 70 billion parameters; 32 layers with a mask;
                                                   DeepSeek-V3 and Mixtral 8×22B
    python benchmarks/without_values.py --quick    two layers of each

One core; each row in a process of its own, so that its peak memory is its own, and a forward beside what is compared
with it; seconds are those of the processor. The models are those of `transformers`, made from a configuration: GPT-2
with weights, the others without.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LLAMA_70B = {
    "model_type": "llama",
    "vocab_size": 128256,
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "max_position_embeddings": 8192,
    "dtype": "bfloat16",
}
LLAMA_7B_MASKED = {"model_type": "llama", "max_position_embeddings": 8192, "attn_implementation": "eager"}
# DeepSeek-V3 is what its configuration class says in silence; Mixtral 8×22B
EXPERTS: dict[str, dict[str, Any]] = {
    "DeepSeek-V3": {"model_type": "deepseek_v3", "num_hidden_layers": 61},
    "Mixtral 8×22B": {
        "model_type": "mixtral", "vocab_size": 32768, "hidden_size": 6144, "intermediate_size": 16384,
        "num_hidden_layers": 56, "num_attention_heads": 48, "num_key_value_heads": 8, "num_local_experts": 8,
        "num_experts_per_tok": 2,
    },
}  # fmt: skip
CLASSES = {"llama": "LlamaForCausalLM", "deepseek_v3": "DeepseekV3ForCausalLM", "mixtral": "MixtralForCausalLM"}
QUICK = {
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
}


def against_a_forward(n: int, layers: int) -> dict[str, float]:
    """GPT-2 small with weights: seconds of a forward, of the proof alone, and of the whole call."""
    import attnproof as ap
    import torch
    from attnproof.causal import trace
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(n_layer=layers, use_cache=False)).eval()
    tokens = torch.randint(0, 50257, (1, n))

    def forward() -> None:
        with torch.no_grad():
            model(tokens)

    ap.check_model(model, tokens[:, :2])  # what the first check of all loads
    one = seconds(forward)
    proof = min(seconds(lambda: trace.run(model, (tokens,), sequence_axis=1, values=False)) for _ in range(2))
    verdicts: list[Any] = []
    whole = seconds(lambda: verdicts.append(ap.check_model(model, tokens)))
    one = min(one, seconds(forward))
    return {"forward": one, "proof": proof, "whole": whole, "proved": float(verdicts[0].status.name == "PROVED")}


def from_a_configuration(entries: dict[str, Any], n: int) -> dict[str, float]:
    """A model without weights: seconds of the whole call, and the peak of memory above the process before it."""
    import attnproof as ap
    import transformers
    from attnproof.causal.model import from_configuration

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "config.json")
        file.write_text(json.dumps(entries))
        model, make_input, vocabulary = from_configuration(getattr(transformers, CLASSES[entries["model_type"]]), file)
    before = peak()
    verdicts: list[Any] = []
    took = seconds(
        lambda: verdicts.append(ap.check_model(model, lengths=[n], make_input=make_input, vocabulary=vocabulary))
    )
    said = verdicts[0]
    return {
        "seconds": took,
        "memory": peak() - before,
        "parameters": float(sum(p.numel() for p in model.parameters())),
        "proved": float(said.status.name in ("PROVED", "PROVED_IF")),
    }


def seconds(work: Callable[[], Any]) -> float:
    """Seconds that one call takes of the processor: on one core, those of the clock where nothing else runs."""
    started = time.process_time()
    work()
    return time.process_time() - started


def peak() -> float:
    """The most memory that this process has held, in MiB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


# -- the rows -----------------------------------------------------------------------------------------------------


def isolated(name: str, *arguments: Any) -> dict[str, float]:
    """One of the two measurements above in a fresh process on one core."""
    command = [sys.executable, __file__, "--measure", name, json.dumps(arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"measuring {name} failed:\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    assert found["proved"], "the models of this benchmark must be proved"
    return found


def rows(quick: bool) -> None:
    """The table; every figure with the bound that it is to keep."""
    n, long = (64, 128) if quick else (1024, 8192)
    m = isolated("against_a_forward", n, 2 if quick else 12)
    print(f"GPT-2 small, n = {n}: one forward takes {m['forward']:.2f} s")
    print(f"    proof without values        {m['proof'] / m['forward']:8.3f} forwards   (at most 0.1)")
    print(f"    check_model, whole call     {m['whole'] / m['forward']:8.3f} forwards   (at most 2.5)", flush=True)
    masked = LLAMA_7B_MASKED | {"num_hidden_layers": 32}
    for what, entries, most in (("as it is", LLAMA_70B, 4), ("its mask explicit", masked, 10)):
        m = isolated("from_a_configuration", entries | (QUICK if quick else {}), long)
        layers = QUICK["num_hidden_layers"] if quick else entries["num_hidden_layers"]
        print(f"Llama, {m['parameters'] / 1e9:.1f} billion parameters, {layers} layers, n = {long}, {what}")
        print(f"    check_model, whole call     {m['seconds']:8.2f} s          (at most {most})")
        print(f"    memory above the process    {m['memory']:8.0f} MiB        (at most 1024)", flush=True)
    for what, entries in EXPERTS.items():
        m = isolated(
            "from_a_configuration", entries | ({"num_hidden_layers": 4} if quick else {}), 128 if quick else 2048
        )
        print(f"{what}, {m['parameters'] / 1e9:.1f} billion parameters, n = {128 if quick else 2048}")
        print(f"    check_model, whole call     {m['seconds']:8.2f} s          (at most 30)", flush=True)


def main() -> None:
    """The rows, or one measurement in this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two layers each")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.measure:
        rows(options.quick)
        return
    import torch

    torch.set_num_threads(1)
    name, arguments = options.measure
    work = {f.__name__: f for f in (against_a_forward, from_a_configuration)}[name]
    print(json.dumps(work(*json.loads(arguments))))


if __name__ == "__main__":
    main()
