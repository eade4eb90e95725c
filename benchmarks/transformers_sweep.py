"""check_model on every causal language model of transformers, each shrunk by one generic rule, beside brute force.

    python benchmarks/transformers_sweep.py                 every class: a table, and what was decided
    python benchmarks/transformers_sweep.py Mixtral Qwen    classes by prefix
    python benchmarks/transformers_sweep.py Doge --attention sdpa
    python benchmarks/transformers_sweep.py --json rows.json --markdown docs/transformers.md

Classes that the rows of a file given by --json hold already are not run again.

The brute force knows nothing of the checker: it replaces the tokens after a position by others and looks whether an
earlier logit moves, in float64, with the parameters as initialised and with numbers added to every one. The exit status
is 1 when a verdict contradicts it: a model proved whose logits moved, or one refuted whose witness does not replay.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from processes import isolated  # noqa: E402
from transformers_page import page, reason  # noqa: E402

POSITIONS = 12
VOCABULARY = 50
TIMEOUT = 240.0
LARGEST = 4_000_000  # numbers in a parameter of a model that counts as shrunk

# The first pattern that a field's name matches gives its size. What none matches keeps its default.
SIZES = {
    r"(.*_)?vocab(_size)?|vocab_size_per_layer_input|n_vocab": VOCABULARY,
    r"(.*_)?codebook_size": 64,  # a power of two
    r"(.*_)?(conv_channels|out_channel)": 32,
    r"layer_types|layers_block_type|mlp_layer_types|block_types|attn_layers|.*_layers_types": "kinds",
    r"num_nextn_predict_layers|num_mtp_.*|mtp_.*": 0,
    r"(num_)?(hidden_)?(n_)?(encoder_|decoder_)?layers?|num_(encoder_|decoder_)?layers|n_layers?|num_blocks": 2,
    r"num_kv_shared_layers|first_k_dense_replace|num_dense_layers": 1,
    r"(.*_)?(num_key_value_heads|n_head_kv|num_kv_heads|num_key_value_attention_heads|num_global_key_value_heads)": 2,
    r"(.*_)?n_groups|mamba_n_groups": 1,
    r"n_group|topk_group|num_expert_group": 1,
    r"mamba_n_heads|mamba_num_heads": 8,
    r"n_heads": 4,
    r"(.*_)?(num_attention_heads|attention_heads|n_head|n_heads|num_heads|num_v_heads|num_value_heads|num_k_heads"
    r"|num_key_heads|index_n_heads|num_query_heads)": 4,
    r"rotary_dim|attention_head_size|(.*_)?(head_dim|d_head|mamba_d_head|kv_channels|head_size|d_kv)|qk_.*_head_dim|v_head_dim"
    r"|(.*_)?(k|v|key|value)_head_dim": 8,
    r"(.*_)?q_lora_rank|(.*_)?kv_lora_rank|o_lora_rank|(.*)lora_rank.*|.*low_rank.*": 8,
    r"(num_|n_)(routed_|local_)?experts|moe_num_experts|num_experts|n_routed_experts|moe_num_experts": 4,
    r"num_experts_per_tok(en)?|moe_topk|moe_k|top_k_experts|moe_top_k|num_selected_experts": 2,
    r"zero_expert_num|n_shared_experts|moe_num_shared_experts|num_shared_experts": 1,
    r"(.*_)?(d_state|state_size|ssm_state_size)": 8,
    r"(.*_)?(intermediate_size|ffn_dim|ffn_hidden_size|d_ff|n_inner|feed_forward_size|dim_ff|mamba_intermediate"
    r"|intermediate_size_mlp|lru_width|expert_dim|dff|d_inner|mamba_d_ssm|expert_ffn_hidden_size|dense_ffn_dim)": 64,
    r"(.*_)?(hidden_size(_global)?|d_model|n_embd|embed_dim|hidden_dim|model_dim|embedding_size|emb_dim|word_embed_proj_dim"
    r"|input_embedding_size|output_embedding_size|decoder_hidden_size|hidden_size_per_layer_input|block_dim)": 32,
    r"max_position_embeddings|max_target_positions|max_source_positions|n_positions|max_seq_len|seq_length|n_ctx"
    r"|max_sequence_length": 64,
    r"sliding_window(_size)?|attention_chunk_size|local_attention|attention_window_size|window_size": 4,
    r"index_topk|index_top_k": 4,
    r"(mamba_)?chunk_size": 4,
    r"bos_token_id": 1,
    r"eos_token_id": 2,
    r"pad_token_id|decoder_start_token_id": 0,
}
# What a class asks for besides.
QWEN4_EXP = {
    "indexer_n_heads": 2, "indexer_kv_heads": 1, "indexer_head_dim": 8, "indexer_budget": 4,
    "indexer_compress_ratio": 2,
}  # fmt: skip
GEMMA3N = {
    "num_kv_shared_layers": 0, "intermediate_size": 64, "layer_types": ["sliding_attention", "full_attention"],
    "activation_sparsity_pattern": [0.0, 0.0],
}  # fmt: skip
ZAMBA = {
    "attention_hidden_size": 64, "attention_head_dim": 16, "num_hidden_layers": 6,
    "layers_block_type": ["linear_attention", "hybrid"] * 3,
}  # fmt: skip
REFORMER = {
    "axial_pos_shape": [8, 8], "axial_pos_embds_dim": [16, 16], "attn_layers": ["local", "lsh"], "num_buckets": 4,
    "local_attn_chunk_length": 4, "lsh_attn_chunk_length": 4, "hash_seed": 0,
}  # fmt: skip
SPECIAL: dict[str, dict[str, Any]] = {
    "DeepseekV2Config": {"num_experts_per_tok": 2, "n_routed_experts": 4},
    "Dots1Config": {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1},
    "GPTNeoConfig": {"attention_types": [[["global", "local"], 1]]},
    "Gemma3nTextConfig": GEMMA3N,
    "Gemma4TextConfig": {"num_kv_shared_layers": 0},
    "Gemma4UnifiedTextConfig": {"num_kv_shared_layers": 0},
    "GraniteMoeHybridConfig": {"layer_types": ["mamba", "attention"]},
    "HunYuanDenseV1Config": {"head_dim": 8},
    "HunYuanMoEV1Config": {"head_dim": 8},
    "Lfm2MoeConfig": {"layer_types": ["conv", "full_attention"]},
    "LongcatFlashConfig": {"head_dim": 8, "qk_head_dim": 16},
    "Mamba2Config": {"num_heads": 8},
    "MinistralConfig": {"head_dim": 8},
    "Mistral4Config": {"head_dim": 16, "qk_head_dim": 16},
    "NemotronConfig": {"head_dim": 8, "num_key_value_heads": 4},
    "Qwen4ExpTextConfig": QWEN4_EXP,
    "ReformerConfig": REFORMER,
    "XmodConfig": {"default_language": "en_XX"},
    "Zamba2Config": {"attention_hidden_size": 64, "attention_head_dim": 16},
    "ZambaConfig": ZAMBA,
    "ZayaConfig": {"num_experts_per_tok": 1},
}


def size_of(name: str, default: Any) -> Any:
    """What a field of a configuration is set to; the default where no pattern fits."""
    if isinstance(default, dict):
        return {key: size_of(str(key), value) for key, value in default.items()}
    if name == "num_codebooks" and isinstance(default, int):  # the sequence itself, or others beside it
        return default if default >= POSITIONS else 1
    for pattern, size in SIZES.items():
        if re.fullmatch(pattern, name):
            if size == "kinds":
                return list(dict.fromkeys(default)) if isinstance(default, (list, tuple)) else default
            if isinstance(default, bool) or not isinstance(default, (int, type(None), list)):
                return default
            if isinstance(default, list):
                return [size] * len(default) if default and all(type(v) is int for v in default) else default
            if default is None and not name.endswith("_token_id"):
                return None
            return size
    return default


def shrunk(kind: Any) -> Any:
    """A configuration of the class with every size that is known by its name made small."""
    from transformers import PreTrainedConfig

    default = kind()
    given = {}
    for name, value in list(vars(default).items()):
        if name.startswith("_") or name in ("transformers_version", "architectures"):
            continue
        if isinstance(value, PreTrainedConfig):
            given[name] = shrunk(type(value))
        else:
            small = size_of(name, value)
            if small is not value and small != value:
                given[name] = small
    heads, own = "num_attention_heads", "num_key_value_heads"
    if own in given and vars(default).get(heads) == vars(default).get(own):
        given[own] = 4
    types = [len(v) for n, v in given.items() if isinstance(v, list) and "type" in n]
    names = [n for n in ("num_hidden_layers", "num_layers", "n_layers", "n_layer") if hasattr(default, n)]
    if types and names:
        given[names[0]] = max(2, *types)
        for n, v in list(given.items()):
            if isinstance(v, list) and "type" in n:
                given[n] = (v * 8)[: given[names[0]]]
    given |= SPECIAL.get(kind.__name__, {})
    return kind(**given)


def model_of(name: str, attention: str = "eager") -> Any:
    """The model, shrunk, without dropout, on the CPU."""
    import torch
    import transformers

    model = getattr(transformers, name)
    config = shrunk(model.config_class)
    if hasattr(config, "is_decoder"):
        config.is_decoder = True
    config._attn_implementation = attention
    with torch.device("meta"):
        large = {n: tuple(p.shape) for n, p in model(config).named_parameters() if p.numel() > LARGEST / 16}
    if large:
        raise ValueError(f"not shrunk: {dict(list(large.items())[:3])}")
    torch.manual_seed(0)
    return model(config).eval()


def logits(model: Any, x: Any) -> Any:
    """The logits of a run without a cache."""
    takes = inspect.signature(model.forward).parameters
    options = {"use_cache": False} if "use_cache" in takes else {}
    return model(input_ids=x, **options).logits


def moved(model: Any, tokens: Any) -> float:
    """By how much the logits up to a position move when the tokens after it are replaced, at most.

    Where there are fewer logits than tokens, they belong to the last of these.
    """
    import torch

    worst = 0.0
    with torch.no_grad():
        before = logits(model, tokens)
        missing = tokens.shape[1] - before.shape[1]
        for cut in range(missing, tokens.shape[1] - 1):
            other = tokens.clone()
            other[:, cut + 1 :] = torch.randint(3, VOCABULARY, other[:, cut + 1 :].shape)
            gap = (logits(model, other) - before)[:, : cut + 1 - missing].abs()
            worst = max(worst, float(torch.nan_to_num(gap, nan=1.0).max()))
    return worst


def brute(model: Any, tokens: Any) -> dict[str, float]:
    """`moved` with the parameters as they are and with noise on each, in float64."""
    import torch

    found = {"stored": moved(model, tokens)}
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.is_floating_point():
                parameter.add_(0.3 * torch.randn_like(parameter))
    found["jittered"] = moved(model, tokens)
    return found


def judge(name: str, attention: str = "eager") -> dict[str, Any]:
    """One class: the verdict, the seconds it took, why, and by how much brute force moved what it must not."""
    import attnproof as ap
    import torch

    torch.set_num_threads(1)
    model = model_of(name, attention)
    tokens = torch.randint(3, VOCABULARY, (1, POSITIONS))
    with torch.no_grad():
        boundary = ap.Boundary.prefix(POSITIONS, queries=logits(model, tokens).shape[1])
    started = time.perf_counter()
    verdict = ap.check_model(lambda x: logits(model, x), tokens, boundary=boundary, vocabulary=VOCABULARY)
    row = {
        "verdict": verdict.status.name,
        "seconds": time.perf_counter() - started,
        "forwards": verdict.details["runs"][0]["forwards"],
        "reasons": list(verdict.reasons),
        "conditions": [c.text for c in verdict.conditions],
        "replays": verdict.witness is None or verdict.witness.replay(),
        "blame": verdict.details["blame"] and verdict.details["blame"]["entry"],
    }
    try:
        with torch.no_grad():
            assert logits(model.double(), tokens).isfinite().all()
        row["moved"], row["precision"] = brute(model, tokens), "float64"
    except Exception:  # grouped products, and models that name a precision, run in float32 only
        row["moved"], row["precision"] = brute(model_of(name, attention), tokens), "float32"
    return row


MOVES = {"float64": 1e-9, "float32": 1e-3}  # more than rounding leaves, of logits around 1


def wrong(row: dict[str, Any]) -> bool:
    """Whether the verdict contradicts the truth."""
    moves = max(row.get("moved", {}).values(), default=0.0) > MOVES[row.get("precision", "float64")]
    if row["verdict"] == "REFUTED":
        return not row["replays"]
    return row["verdict"] in ("PROVED", "PROVED_IF") and moves


def imported() -> None:
    """Import what every class needs, so that the processes forked from this one have it."""
    import attnproof as ap
    import torch
    import transformers

    torch.set_num_threads(1)
    assert transformers.PreTrainedModel
    ap.check_model(lambda x: x.cumsum(1), torch.randn(1, 3, 2))


def classes() -> list[str]:
    """Every causal language model of the installed transformers."""
    import transformers
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as table

    named = {n for n in dir(transformers) if n.endswith("ForCausalLM") and not n.startswith("Auto")}
    heads = {n for n in table.values() if isinstance(n, str) and hasattr(transformers, n)}
    return sorted(named | {n for n in heads if not n.endswith("ForConditionalGeneration")})


def main() -> int:
    """The table; 1 when a verdict is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefixes", nargs="*", help="classes whose name begins with one of these")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds per class")
    parser.add_argument("--attention", default="eager", help="the implementation that transformers is asked for")
    parser.add_argument("--json", type=Path, help="rows that are known, and where every row is written")
    parser.add_argument("--markdown", type=Path, help="write the table as a page, too")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    import transformers

    transformers.logging.set_verbosity_error()
    imported()
    table = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    for name in classes():
        if name in table or (options.prefixes and not name.startswith(tuple(options.prefixes))):
            continue
        row = table[name] = isolated(judge, name, options.attention, timeout=options.timeout, verdict="verdict")
        moves = ", ".join(f"{v:.1e}" for v in row.get("moved", {}).values())
        said = "WRONG " * wrong(row) + reason(row)[:120]
        print(f"{name:38} {row['verdict']:10} {row.get('seconds', 0):7.1f} {moves:18} {said}", flush=True)
        if options.json:
            options.json.write_text(json.dumps(table, indent=1))
    if options.markdown:
        options.markdown.write_text(page(table, transformers.__version__, POSITIONS, wrong), encoding="utf-8")
    return int(any(wrong(row) for row in table.values()))


if __name__ == "__main__":
    sys.exit(main())
