"""Architectures of transformers as two small layers with random weights, by their names."""

from __future__ import annotations

from typing import Any

import transformers as hf

SMALL = {
    "num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "vocab_size": 64,
    "num_key_value_heads": 2, "max_position_embeddings": 128, "use_cache": False, "pad_token_id": None,
    "bos_token_id": None, "eos_token_id": None,
}  # fmt: skip
EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "Mistral": {"sliding_window": 8}, "Qwen2": {}, "Qwen3": {"head_dim": 8}, "Gemma": {"head_dim": 8},
    "Gemma2": {"head_dim": 8, "sliding_window": 8}, "Gemma3": {"head_dim": 8, "sliding_window": 8}, "Phi3": {},
    "GPTNeoX": {}, "GPTJ": {"rotary_dim": 4}, "CodeGen": {"rotary_dim": 4}, "GPTBigCode": {}, "OpenAIGPT": {},
    "GPTNeo": {"window_size": 8, "attention_types": [[["global", "local"], 1]]}, "CTRL": {"dff": 64},
    "OPT": {"ffn_dim": 64, "word_embed_proj_dim": 32}, "XGLM": {"ffn_dim": 64}, "Bloom": {}, "Falcon": {},
    "Falcon, ALiBi": {"alibi": True}, "Mpt": {"max_seq_len": 128}, "Bert": {"is_decoder": True}, "StableLm": {},
    "Cohere": {}, "Olmo2": {}, "Starcoder2": {}, "Granite": {}, "Nemotron": {}, "T5": {"d_kv": 8, "d_ff": 64},
    "Mixtral": {"num_local_experts": 4}, "Mixtral, batched_mm": {"num_local_experts": 4},
    "Qwen2Moe, batched_mm": {"num_experts": 4, **EXPERTS}, "Mamba": {"state_size": 4},
    "Mamba2": {"state_size": 4, "num_heads": 8, "head_dim": 8, "n_groups": 2, "chunk_size": 4}, "Rwkv": {},
}  # fmt: skip


def built(name: str) -> Any:
    """The model, in eval mode; of T5 the decoder beside an input of five tokens."""
    kind, _, how = name.partition(", ")
    settings = getattr(hf, f"{kind}TextConfig", None) or getattr(hf, f"{kind}Config")
    heads = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
    of = next(found for head in heads if (found := getattr(hf, f"{kind}{head}", None)))
    names = getattr(settings, "attribute_map", {})
    model = of(settings(**{names.get(k, k): v for k, v in SMALL.items()} | ARCHITECTURES[name])).eval()
    if how == "batched_mm":
        model.set_experts_implementation(how)
    return model
