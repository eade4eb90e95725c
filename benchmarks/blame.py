"""Which operation does it? Faults planted in public architectures, and where `check_model` says that the future enters.

    python -m benchmarks.blame                  192 faults: refuted, the right layer, the right operation and line
    python -m benchmarks.blame gpt2 llama       some architectures

Eight kinds of fault are added to the output of each of three layers of eight small architectures of `transformers` (the
protocol of arXiv:2608.22876, which finds the layer by two forwards). Each fault is one line of `FAULTS`, so that the
right answer is that line of this file. The exit status is 1 when a fault is missed or blamed on something else.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import attnproof as ap
import torch
from torch.nn import functional as F

WIDTH, HEADS, LENGTH, LAYERS, TOKENS = 32, 4, 24, 3, 50
SMALL = {"hidden_size": WIDTH, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "vocab_size": TOKENS,
         "intermediate_size": 48, "max_position_embeddings": 64}  # fmt: skip
GROUPED = {**SMALL, "num_key_value_heads": 2}


def block_mean(h: torch.Tensor) -> torch.Tensor:
    """The mean of each block of four positions, at every position of the block."""
    return h.unflatten(1, (-1, 4)).mean(2).repeat_interleave(4, 1)


def symmetric(h: torch.Tensor) -> torch.Tensor:
    """A convolution that sees one position on each side."""
    return F.conv1d(h.mT, torch.full((h.shape[-1], 1, 3), 0.3).to(h), padding=1, groups=h.shape[-1]).mT


def reversed_scan(h: torch.Tensor) -> torch.Tensor:
    """The sum of everything from here to the end."""
    return h.flip(1).cumsum(1).flip(1)


@dataclass(frozen=True)
class Fault:
    """A function of a layer's output (batch, positions, width) to be added to it, and the operation that does it."""

    function: Callable[[torch.Tensor], torch.Tensor]
    operation: str

    @property
    def line(self) -> str:
        """'…/blame.py:12' of the line that does it: the last of a function."""
        code = self.function.__code__
        return f"{code.co_filename}:{max(line for *_, line in code.co_lines() if line)}"


FAULTS = {
    "mean": Fault(lambda h: h.mean(1, keepdim=True), "aten.mean"),
    "norm": Fault(lambda h: h.norm(dim=1, keepdim=True), "aten.linalg_vector_norm"),
    "maximum": Fault(lambda h: h.amax(1, keepdim=True), "aten.amax"),
    "shift": Fault(lambda h: h.roll(-1, 1), "aten.roll"),
    "reversed scan": Fault(reversed_scan, "aten.cumsum"),
    "symmetric convolution": Fault(symmetric, "aten.convolution"),
    "block mean": Fault(block_mean, "aten.mean"),
    "small mean": Fault(lambda h: 1e-6 * h.mean(1, keepdim=True), "aten.mean"),
}

ARCHITECTURES = {
    "llama": ("Llama", GROUPED),
    "mistral": ("Mistral", GROUPED),
    "qwen2": ("Qwen2", GROUPED),
    "gemma": ("Gemma", {**GROUPED, "head_dim": 8}),
    "phi": ("Phi", SMALL),
    "gpt2": ("GPT2", {"n_embd": WIDTH, "n_head": HEADS, "n_layer": LAYERS, "vocab_size": TOKENS, "n_positions": 64}),
    "neox": ("GPTNeoX", SMALL),
    "opt": ("OPT", {**SMALL, "ffn_dim": 48, "word_embed_proj_dim": WIDTH}),
}


def architecture(name: str) -> tuple[torch.nn.Module, str, torch.nn.ModuleList]:
    """A small language model with random parameters, and its layers with their name."""
    import transformers

    kind, sizes = ARCHITECTURES[name]
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(getattr(transformers, f"{kind}Config")(**sizes)).eval()
    layers = next((k, m) for k, m in model.named_modules() if isinstance(m, torch.nn.ModuleList) and len(m) == LAYERS)
    return model, *layers


def planted(layer: torch.nn.Module, fault: Fault) -> Any:
    """The fault added to the layer's output by a hook, which the result removes."""

    def add(module: torch.nn.Module, given: Any, y: Any) -> Any:
        if isinstance(y, tuple):
            return (y[0] + fault.function(y[0]), *y[1:])
        return y + fault.function(y)

    return layer.register_forward_hook(add)


@dataclass(frozen=True)
class Answer:
    """What the verdict says about one fault."""

    status: str
    entry: dict[str, str] | None
    refuted: bool
    layer: bool
    line: bool

    def __str__(self) -> str:
        said = self.entry and f"{self.entry['operation']} in {self.entry['module']} ({self.entry['line']})"
        return f"{self.status}, {said}"


def answer(model: torch.nn.Module, of_layers: str, layer: int, fault: Fault) -> Answer:
    """The verdict on a model with a planted fault."""
    tokens = torch.randint(0, TOKENS, (1, LENGTH), generator=torch.Generator().manual_seed(1))
    verdict = ap.check_model(lambda ids: model(input_ids=ids, use_cache=False).logits, tokens, vocabulary=TOKENS)
    entry = (verdict.details["blame"] or {}).get("entry")
    return Answer(
        verdict.status.name,
        entry,
        verdict.status.name == "REFUTED" and verdict.witness is not None and verdict.witness.replay(),
        entry is not None and f"{entry['module']}.".startswith(f"{of_layers}.{layer}."),
        entry is not None and (entry["operation"], entry["line"]) == (fault.operation, fault.line),
    )


def answers(names: list[str]) -> Iterator[tuple[str, Answer]]:
    """Every fault in every layer of the architectures, one after the other."""
    for name in names:
        model, of_layers, layers = architecture(name)
        for k, layer in enumerate(layers):
            for kind, fault in FAULTS.items():
                hook = planted(layer, fault)
                try:
                    yield f"{name}, layer {k}, {kind}", answer(model, of_layers, k, fault)
                finally:
                    hook.remove()


def main() -> int:
    """What was blamed wrongly, and three figures; 1 when one of them falls short."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*ARCHITECTURES, []], help="architectures (all)")
    names = parser.parse_args().names or list(ARCHITECTURES)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    found = []
    for what, one in answers(names):
        found.append(one)
        if not (one.refuted and one.layer and one.line):
            print(f"{what}: {one}", flush=True)
    for kind in ("refuted", "layer", "line"):
        print(f"{sum(getattr(one, kind) for one in found):4} of {len(found)} {TOLD[kind]}")
    return 0 if all(one.refuted and one.layer and one.line for one in found) else 1


TOLD = {
    "refuted": "refuted, with a witness that replays",
    "layer": "with the layer",
    "line": "with the operation and its line",
}

if __name__ == "__main__":
    sys.exit(main())
