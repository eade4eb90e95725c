"""Published models that read ahead though they are said to be causal, each found by one command.

    python benchmarks/gallery.py                        run every row whose release is installed, and compare
    python benchmarks/gallery.py --old FOLDER           those of older releases as well, from a folder made by
        pip install --no-deps --target FOLDER transformers==5.17.0 huggingface-hub==1.33.0
    python benchmarks/gallery.py --old FOLDER --write   write docs/gallery.md and its pictures

A row is the command that a reader can type, run as it stands. The exit status is 1 when a verdict is not `REFUTED`, its
witness does not replay, or another operation is blamed than the row says.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
OLD = "transformers==5.17.0"
ISSUES = "https://github.com/huggingface/transformers/issues/"


# -- the models, as their users would make them, small ----------------------------------------------------------------

DECODER = {
    "vocab_size": 50,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


def tokens(n: int = 8) -> Any:
    """A sequence of n tokens, one of each."""
    import torch

    return torch.arange(n)[None] + 3


def decoder(name: str, **sizes: Any) -> Any:
    """A model of transformers with a causal head, and tokens."""
    import torch
    import transformers

    torch.manual_seed(0)
    configuration = getattr(transformers, f"{name}Config")(**DECODER, **sizes)
    return getattr(transformers, f"{name}ForCausalLM")(configuration).eval(), (tokens(),)


def roformer() -> Any:
    return decoder("RoFormer", is_decoder=True, embedding_size=32)


def rembert() -> Any:
    return decoder("RemBert", is_decoder=True, input_embedding_size=32, output_embedding_size=32)


def megatron_bert() -> Any:
    return decoder("MegatronBert", is_decoder=True)


def bigbird() -> Any:
    return decoder("BigBird", is_decoder=True, attention_type="original_full", sep_token_id=2)


def doge() -> Any:
    return decoder("Doge", num_key_value_heads=2, keep_window_size=4, attn_implementation="sdpa")


def linformer() -> Any:
    import torch
    from linformer_pytorch import LinformerLM

    torch.manual_seed(0)
    sizes = {"input_size": 8, "channels": 32, "dim_k": 4, "dim_ff": 64, "nhead": 4, "depth": 2}
    return LinformerLM(num_tokens=50, **sizes, causal=True).eval(), (tokens(),)


def reformer() -> Any:
    import torch
    from reformer_pytorch import ReformerLM

    torch.manual_seed(0)
    sizes = {"dim": 32, "depth": 2, "heads": 4, "ff_chunks": 1, "max_seq_len": 16, "n_hashes": 2, "bucket_size": 4}
    return ReformerLM(num_tokens=50, **sizes, causal=True).eval(), (tokens(16),)


def tcn() -> Any:
    import torch
    from pytorch_tcn import TCN

    torch.manual_seed(0)
    model = TCN(4, [8, 8], kernel_size=3, causal=True, use_norm="batch_norm", dropout=0.0, input_shape="NLC")
    return model.train(), (torch.randn(1, 8, 4),)


def encoder_layer() -> Any:
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).eval()
    return lambda x: layer(x, is_causal=True), (torch.randn(1, 8, 8),)


# -- what is said of them ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A model, the release that holds the leak, why it leaks, where it enters, and what mends it."""

    factory: str
    model: str
    release: str
    why: str
    operation: str
    module: str
    options: str = ""
    issue: str = ""
    mended: str = ""

    @property
    def command(self) -> str:
        return " ".join(filter(None, ["attnproof model", f"benchmarks/gallery.py:{self.factory}", self.options]))


def bert_like(factory: str, model: str, module: str) -> Row:
    """The four decoders of one issue."""
    why = "It is a decoder (`is_decoder=True`), and was given the mask of an encoder, which lets every token see all."
    return Row(factory, model, OLD, why, "aten._softmax", module, "--output logits", "48745", "5.18.0")


ROWS = (
    bert_like("roformer", "RoFormerForCausalLM", "roformer.encoder.layer.0.attention.self"),
    bert_like("rembert", "RemBertForCausalLM", "rembert.encoder.layer.0.attention.self"),
    bert_like("megatron_bert", "MegatronBertForCausalLM", "bert.encoder.layer.0.attention.self"),
    bert_like("bigbird", "BigBirdForCausalLM", "bert.encoder.layer.0.attention.self"),
    Row(
        "doge",
        "DogeForCausalLM under sdpa",
        OLD,
        "Its own mask takes the place of the causal one, and picks the largest of all keys, later ones among them.",
        "aten.topk",
        "model.layers.0.self_attn",
        "--output logits",
        "48748",
        "5.18.0",
    ),
    Row(
        "linformer",
        "LinformerLM(causal=True)",
        "linformer-pytorch==0.19.3",
        "Keys and values are compressed over all positions before anything is masked.",
        "aten.mm",
        "linformer.seq.0.fn.heads.0.E",
    ),
    Row(
        "reformer",
        "ReformerLM(causal=True)",
        "reformer-pytorch==1.4.4",
        "Which keys are compared depends on all of them, since tokens are sorted by their hashes.",
        "aten.sort",
        "reformer.layers.blocks.0.f.net.fn.lsh_attn",
    ),
    Row(
        "tcn",
        'TCN(causal=True, use_norm="batch_norm") in training',
        "pytorch-tcn==1.2.3",
        "In training mode the statistics of the batch are taken over all times.",
        "aten.native_batch_norm",
        "network.0.norm1",
        "--mode train",
    ),
    Row(
        "encoder_layer",
        "nn.TransformerEncoderLayer with is_causal=True alone",
        "torch==2.13.0",
        "The flag is a hint that the mask is causal; none was given, so that there is nothing to hint at.",
        "aten._transformer_encoder_layer_fwd",
        "",
    ),
)


# -- running them -----------------------------------------------------------------------------------------------------


def is_installed(release: str, old: Path | None) -> bool:
    """Is this very release here, or in the folder of older ones?"""
    name, _, version = release.partition("==")
    folders = {"path": [str(old)]} if release == OLD and old else {}
    found = ((d.metadata["Name"].lower().replace("_", "-"), d.version) for d in distributions(**folders))
    return any(own == name and held.partition("+")[0] == version for own, held in found)


def run(row: Row, old: Path | None) -> tuple[Row, Any, float, str]:
    """The row, the verdict of its command, the seconds that it took, and what was wrong with it."""
    from attnproof import Verdict

    path = [str(old)] if row.release == OLD else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([*path, *filter(None, [os.environ.get("PYTHONPATH")])])
    picture = PICTURES / f"{row.factory}.png"
    command = [sys.executable, "-m", "attnproof.cli", *row.command.split()[1:], "--format", "json"]
    if ARGUMENTS.write:
        command += ["--save", str(picture)]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    seconds = time.perf_counter() - started
    if done.returncode != 1:
        return row, None, seconds, f"left with {done.returncode}: {(done.stderr or done.stdout)[-300:]}"
    verdict = Verdict.from_json(done.stdout)
    return row, verdict, seconds, wrong(row, verdict)


def wrong(row: Row, verdict: Any) -> str:
    """What the verdict says otherwise than the row; empty where nothing is."""
    entry = verdict.details["blame"]["entry"]
    if (entry["operation"], entry["module"] or "") != (row.operation, row.module):
        return f"blames {entry['operation']} in {entry['module']}"
    replayed = any(evidence.kind == "replay" and evidence.ok for evidence in verdict.evidence)
    return "" if verdict.status.name == "REFUTED" and replayed else verdict.headline()


HEAD = """<!-- Written by `python benchmarks/gallery.py --old FOLDER --write`; CI runs every row. -->

# Leaks of published models

Each of these is published as causal, and reads ahead. One command finds it, names the line, and hands back two inputs
that anyone can replay; CI runs every row. From a checkout with PyTorch and the release that a row names
(`pip install --no-deps --target old transformers==5.17.0 huggingface-hub==1.33.0` and `PYTHONPATH=old`, where a newer
one is installed). In the pictures a row is an output and a column an input; right of the diagonal nothing should be
read.

| model | release | mended in |
|---|---|---|
"""


def page(results: list[tuple[Row, Any, float, str]]) -> str:
    """docs/gallery.md."""
    lines = [
        f"| [{row.model}](#{anchor(row)}) | {row.release.replace('==', ' ')} | {mended(row)} |" for row, *_ in results
    ]
    return HEAD + "\n".join(lines) + "\n\n" + "\n".join(entry(row, verdict) for row, verdict, *_ in results)


def anchor(row: Row) -> str:
    return row.factory.replace("_", "-")


def mended(row: Row) -> str:
    if not row.mended:
        return "no release"
    return f"{row.mended} ([issue {row.issue}]({ISSUES}{row.issue}))"


def entry(row: Row, verdict: Any) -> str:
    """A part of the page: command, why, witness, place, picture."""
    place = verdict.details["blame"]["entry"]
    file, number = Path(place["line"].rpartition(":")[0]), place["line"].rpartition(":")[2]
    within = f" of `{row.module}`" if row.module else ""
    return f"""## {row.factory.replace("_", " ")}

`{row.model}`, {row.release.replace("==", " ")}. {row.why}

```bash
{row.command}
```

**REFUTED**: {verdict.witness.describe()}. It enters at `{row.operation}`{within}
(line {number} of `{file.stem}`).

![Which output of {row.model} reads which input](gallery/{row.factory}.png)
"""


def main() -> int:
    """Run the rows that can be run; the status is 1 where one is wrong, and with --all where one could not be run."""
    rows = [row for row in ROWS if is_installed(row.release, ARGUMENTS.old)]
    for row in set(ROWS) - set(rows):
        print(f"– {row.model}: {row.release} is not here")
    if ARGUMENTS.write:
        PICTURES.mkdir(exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda row: run(row, ARGUMENTS.old), rows))
    for row, verdict, seconds, fault in results:
        said = fault or f"REFUTED, {verdict.witness.describe()}"
        print(f"{'✗' if fault else '✓'} {row.model} ({row.release}): {said} ({seconds:.0f} s)")
    failed = sum(bool(fault) for *_, fault in results)
    if ARGUMENTS.write and not failed and len(rows) == len(ROWS):
        PAGE.write_text(page(results), encoding="utf-8")
    print(f"{len(results)} of {len(ROWS)} rows run, {failed} wrong")
    return int(failed > 0 or (ARGUMENTS.all and len(rows) < len(ROWS)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--old", type=Path, help="a folder that holds the older releases")
    parser.add_argument("--all", action="store_true", help="fail where the release of a row is not here")
    parser.add_argument("--write", action="store_true", help="write docs/gallery.md and its pictures")
    ARGUMENTS = parser.parse_args()
    sys.exit(main())
