"""transformers 5.24.0."""

import torch
import transformers
from cases.models import Recipe, numbers, tokens

VOCABULARY = {"vocab_size": 50}
NO_SPECIAL = {"bos_token_id": None, "eos_token_id": None}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
LAYERS = VOCABULARY | {"hidden_size": 32, "num_hidden_layers": 2}
HEADS = LAYERS | {"num_attention_heads": 4}
POSITIONS = HEADS | {"max_position_embeddings": 64}
BERT = HEADS | {
    "intermediate_size": 64,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "pad_token_id": 0,
}
BIGBIRD = BERT | {
    "max_position_embeddings": 64,
    "is_decoder": True,
    "attention_type": "block_sparse",
    "block_size": 2,
    "num_random_blocks": 1,
}
GPT2 = (
    VOCABULARY
    | NO_SPECIAL
    | {
        "n_embd": 32,
        "n_layer": 2,
        "n_head": 4,
        "n_positions": 64,
        "resid_pdrop": 0.0,
        "embd_pdrop": 0.0,
        "attn_pdrop": 0.0,
    }
)
LLAMA = POSITIONS | NO_SPECIAL | {"intermediate_size": 64, "num_key_value_heads": 2, "pad_token_id": None}
GEMMA3 = LLAMA | {"head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 8}
PROPHETNET = (
    VOCABULARY
    | SPECIAL
    | {
        "hidden_size": 32,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "num_encoder_layers": 2,
        "num_decoder_layers": 2,
        "num_encoder_attention_heads": 4,
        "max_position_embeddings": 64,
        "dropout": 0.0,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
        "decoder_start_token_id": 0,
    }
)
REFORMER = VOCABULARY | {
    "hidden_size": 32,
    "feed_forward_size": 64,
    "num_attention_heads": 4,
    "attention_head_size": 8,
    "max_position_embeddings": 64,
    "axial_pos_embds": True,
    "axial_pos_shape": [8, 8],
    "axial_pos_embds_dim": [16, 16],
    "hash_seed": 0,
    "hidden_dropout_prob": 0.0,
    "lsh_attention_probs_dropout_prob": 0.0,
    "local_attention_probs_dropout_prob": 0.0,
    "lsh_attn_chunk_length": 4,
    "local_attn_chunk_length": 4,
    "num_hashes": 2,
    "num_buckets": 4,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "attn_layers": ["local", "lsh"],
}


def logits(model, x):
    return model(input_ids=x).logits


def uncached_logits(model, x, **others):
    return model(input_ids=x, use_cache=False, **others).logits


def made(model, config, attention="eager"):
    """The model of a class with a configuration and one of its implementations of attention."""
    config._attn_implementation = attention
    return model(config)


def bigbird(**options):
    return made(transformers.BigBirdForCausalLM, transformers.BigBirdConfig(**BIGBIRD, **options))


def gemma3(**options):
    return made(transformers.Gemma3ForCausalLM, transformers.Gemma3TextConfig(**GEMMA3, **options))


def gpt2(attention):
    return made(transformers.GPT2LMHeadModel, transformers.GPT2Config(**GPT2), attention)


def llama(attention, **options):
    return made(transformers.LlamaForCausalLM, transformers.LlamaConfig(**LLAMA | options), attention)


def reformer(model, **options):
    return made(model, transformers.ReformerConfig(**REFORMER, **options))


bigbird_causal_block_cross = tokens(lambda: bigbird(add_cross_attention=True), uncached_logits, n=64)
hf_bert_lmhead_notdecoder = tokens(
    lambda: made(transformers.BertLMHeadModel, transformers.BertConfig(**BERT, max_position_embeddings=80)), logits
)
hf_bigbird_causal_block = tokens(bigbird, logits, n=64)
hf_bloom = tokens(
    lambda: made(
        transformers.BloomForCausalLM,
        transformers.BloomConfig(
            **VOCABULARY, hidden_size=32, n_layer=2, n_head=4, hidden_dropout=0.0, attention_dropout=0.0
        ),
    ),
    uncached_logits,
)
hf_gemma3_text = tokens(lambda: gemma3(layer_types=["sliding_attention", "full_attention"]), uncached_logits)
hf_gemma3_text_bidir = tokens(lambda: gemma3(use_bidirectional_attention=True), uncached_logits)
hf_gpt2 = tokens(lambda: gpt2("eager"), uncached_logits)
hf_gpt2_sdpa = tokens(lambda: gpt2("sdpa"), uncached_logits)
hf_llama_nextinput_norm = tokens(
    lambda: llama(
        "eager",
        max_position_embeddings=16,
        rope_parameters={"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0},
    ),
    uncached_logits,
)
hf_llama_noncausal_flag = tokens(lambda: llama("sdpa", is_causal=False), uncached_logits)
hf_llama_padmask_keepall = tokens(lambda: llama("sdpa"), uncached_logits).beside(
    attention_mask=lambda dtype: torch.zeros(1, 1, 32, 32, dtype=dtype)
)
hf_llama_sdpa = tokens(lambda: llama("sdpa"), uncached_logits)
hf_mamba = tokens(
    lambda: made(
        transformers.MambaForCausalLM, transformers.MambaConfig(**LAYERS, **SPECIAL, state_size=8, use_mambapy=False)
    ),
    uncached_logits,
)
hf_mixtral = tokens(
    lambda: made(
        transformers.MixtralForCausalLM,
        transformers.MixtralConfig(**LLAMA, num_local_experts=4, num_experts_per_tok=2),
    ),
    uncached_logits,
)
hf_opt = tokens(
    lambda: made(
        transformers.OPTForCausalLM,
        transformers.OPTConfig(**POSITIONS, ffn_dim=64, word_embed_proj_dim=32, dropout=0.0),
    ),
    uncached_logits,
)
hf_recurrentgemma = tokens(
    lambda: made(
        transformers.RecurrentGemmaForCausalLM,
        transformers.RecurrentGemmaConfig(
            **HEADS | SPECIAL | {"num_hidden_layers": 3},
            intermediate_size=64,
            num_key_value_heads=1,
            head_dim=8,
            lru_width=32,
            attention_window_size=8,
        ),
    ),
    uncached_logits,
)
hf_reformer_dec = tokens(lambda: reformer(transformers.ReformerModelWithLMHead, is_decoder=True), logits, n=64)
hf_reformer_off = tokens(lambda: reformer(transformers.ReformerForMaskedLM, is_decoder=False), logits, n=64)
hf_xlm_causal = tokens(
    lambda: made(
        transformers.XLMWithLMHeadModel,
        transformers.XLMConfig(
            **VOCABULARY,
            emb_dim=32,
            n_layers=2,
            n_heads=4,
            max_position_embeddings=64,
            causal=True,
            dropout=0.0,
            attention_dropout=0.0,
            pad_index=0,
        ),
    ),
    logits,
)
hf_xlnet_bi = tokens(
    lambda: made(
        transformers.XLNetLMHeadModel,
        transformers.XLNetConfig(
            **VOCABULARY, **SPECIAL, d_model=32, n_layer=2, n_head=4, d_inner=64, dropout=0.0, attn_type="bi"
        ),
    ),
    logits,
)


@tokens(
    lambda: made(
        transformers.T5ForConditionalGeneration,
        transformers.T5Config(**VOCABULARY, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, dropout_rate=0.0),
    )
).run_by
def hf_t5_encoder(model, x):
    return model.encoder(input_ids=x).last_hidden_state


@numbers(
    lambda: transformers.PatchTSTModel(
        transformers.PatchTSTConfig(
            num_input_channels=2,
            context_length=32,
            patch_length=1,
            patch_stride=1,
            d_model=16,
            num_hidden_layers=2,
            num_attention_heads=4,
            ffn_dim=32,
            scaling=None,
            dropout=0.0,
            do_mask_input=False,
        )
    ),
    width=2,
    output_axis=2,
).run_by
def hf_patchtst(model, x):
    return model(past_values=x).last_hidden_state


@(
    Recipe(
        lambda: transformers.InformerModel(
            transformers.InformerConfig(
                prediction_length=16,
                context_length=16,
                lags_sequence=[1, 2],
                num_time_features=1,
                input_size=1,
                d_model=16,
                encoder_layers=1,
                decoder_layers=2,
                encoder_attention_heads=2,
                decoder_attention_heads=2,
                encoder_ffn_dim=32,
                decoder_ffn_dim=32,
                scaling=None,
                dropout=0.0,
                attention_dropout=0.0,
                activation_dropout=0.0,
                encoder_layerdrop=0.0,
                decoder_layerdrop=0.0,
                attention_type="prob",
                sampling_factor=1,
                distil=False,
            )
        ),
        n=16,
    )
    .beside(
        past_values=lambda dtype: torch.randn(1, 18, dtype=dtype),
        past_time_features=lambda dtype: torch.randn(1, 18, 1, dtype=dtype),
        past_observed_mask=lambda dtype: torch.ones(1, 18, dtype=dtype),
        future_time_features=lambda dtype: torch.randn(1, 16, 1, dtype=dtype),
    )
    .run_by
)
def hf_informer_prob(model, x, **others):
    return model(future_values=x, use_cache=False, **others).last_hidden_state


def prophetnet(heads, ngram):
    """ProphetNet's decoder on a source that is drawn before its weights."""

    def run(model, x, source):
        return model(input_ids=source, decoder_input_ids=x, use_cache=False).logits

    return tokens(
        lambda: made(
            transformers.ProphetNetForConditionalGeneration,
            transformers.ProphetNetConfig(**PROPHETNET, num_decoder_attention_heads=heads, ngram=ngram),
        ),
        run,
        others_first=True,
    ).beside(source=lambda _: torch.randint(1, 50, (1, 12)))


hf_prophetnet_decoder = prophetnet(heads=4, ngram=2)
prophetnet_1head = prophetnet(heads=1, ngram=1)
