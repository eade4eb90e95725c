"""transformers 5.24.0: models whose verdict is known (models.csv)."""

import torch
from cases.models import case
from transformers import (
    BertConfig,
    BertLMHeadModel,
    BigBirdConfig,
    BigBirdForCausalLM,
    BloomConfig,
    BloomForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    InformerConfig,
    InformerModel,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PatchTSTConfig,
    PatchTSTModel,
    ProphetNetConfig,
    ProphetNetForConditionalGeneration,
    RecurrentGemmaConfig,
    RecurrentGemmaForCausalLM,
    ReformerConfig,
    ReformerForMaskedLM,
    ReformerModelWithLMHead,
    T5Config,
    T5ForConditionalGeneration,
    XLMConfig,
    XLMWithLMHeadModel,
    XLNetConfig,
    XLNetLMHeadModel,
)


@case(n=64, tokens=50)
def bigbird_causal_block_cross(dtype):
    """With add_cross_attention the class switches itself to original_full."""
    config = BigBirdConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=0,
        is_decoder=True,
        add_cross_attention=True,
        attention_type="block_sparse",
        block_size=2,
        num_random_blocks=1,
    )
    config._attn_implementation = "eager"
    model = BigBirdForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_bert_lmhead_notdecoder(dtype):
    """BertLMHeadModel without is_decoder=True: warns only."""
    config = BertConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=80,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=0,
    )
    config._attn_implementation = "eager"
    model = BertLMHeadModel(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x).logits

    return model, run


@case(n=64, tokens=50)
def hf_bigbird_causal_block(dtype):
    """Is_decoder + block_sparse: is the causal flag silently ignored?."""
    config = BigBirdConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=0,
        is_decoder=True,
        attention_type="block_sparse",
        block_size=2,
        num_random_blocks=1,
    )
    config._attn_implementation = "eager"
    model = BigBirdForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x).logits

    return model, run


@case(n=32, tokens=50)
def hf_bloom(dtype):
    config = BloomConfig(vocab_size=50, hidden_size=32, n_layer=2, n_head=4, hidden_dropout=0.0, attention_dropout=0.0)
    config._attn_implementation = "eager"
    model = BloomForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_gemma3_text(dtype):
    config = Gemma3TextConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
        head_dim=8,
        sliding_window=4,
        query_pre_attn_scalar=8,
        layer_types=["sliding_attention", "full_attention"],
    )
    config._attn_implementation = "eager"
    model = Gemma3ForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_gemma3_text_bidir(dtype):
    config = Gemma3TextConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
        head_dim=8,
        sliding_window=4,
        query_pre_attn_scalar=8,
        use_bidirectional_attention=True,
    )
    config._attn_implementation = "eager"
    model = Gemma3ForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_gpt2(dtype):
    config = GPT2Config(
        vocab_size=50,
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=64,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
    )
    config._attn_implementation = "eager"
    model = GPT2LMHeadModel(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_gpt2_sdpa(dtype):
    config = GPT2Config(
        vocab_size=50,
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=64,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
    )
    config._attn_implementation = "sdpa"
    model = GPT2LMHeadModel(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=16)
def hf_informer_prob(dtype):
    """Teacher-forced decoder: future_values varied, past fixed. ProbSparse attention in the decoder."""
    config = InformerConfig(
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
    model = InformerModel(config)
    pv = torch.randn(1, 18, dtype=dtype)
    pt = torch.randn(1, 18, 1, dtype=dtype)
    po = torch.ones(1, 18, dtype=dtype)
    ft = torch.randn(1, 16, 1, dtype=dtype)
    model = model.eval().to(dtype)

    def run(x):
        return model(
            past_values=pv,
            past_time_features=pt,
            past_observed_mask=po,
            future_values=x,
            future_time_features=ft,
            use_cache=False,
        ).last_hidden_state

    return model, run


@case(n=32, tokens=50)
def hf_llama_nextinput_norm(dtype):
    """Dynamic NTK rope: depends on the sequence length (not on values)."""
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=16,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
        rope_parameters={"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0},
    )
    config._attn_implementation = "eager"
    model = LlamaForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_llama_noncausal_flag(dtype):
    """Config.is_causal = False."""
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
    )
    config._attn_implementation = "sdpa"
    config.is_causal = False
    model = LlamaForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_llama_padmask_keepall(dtype):
    """User passes a 4-D all-zeros additive mask: replaces the causal mask."""
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
    )
    config._attn_implementation = "sdpa"
    model = LlamaForCausalLM(config)
    mask4 = torch.zeros(1, 1, 32, 32, dtype=dtype)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, attention_mask=mask4, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_llama_sdpa(dtype):
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
    )
    config._attn_implementation = "sdpa"
    model = LlamaForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_mamba(dtype):
    config = MambaConfig(
        vocab_size=50,
        hidden_size=32,
        state_size=8,
        num_hidden_layers=2,
        use_mambapy=False,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    config._attn_implementation = "eager"
    model = MambaForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_mixtral(dtype):
    """MoE topk routing per token."""
    config = MixtralConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
        num_local_experts=4,
        num_experts_per_tok=2,
    )
    config._attn_implementation = "eager"
    model = MixtralForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_opt(dtype):
    config = OPTConfig(
        vocab_size=50,
        hidden_size=32,
        ffn_dim=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        word_embed_proj_dim=32,
        dropout=0.0,
    )
    config._attn_implementation = "eager"
    model = OPTForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, width=2, output_axis=2)
def hf_patchtst(dtype):
    """Patch 1 so that patch index = time."""
    config = PatchTSTConfig(
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
    model = PatchTSTModel(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(past_values=x).last_hidden_state

    return model, run


@case(n=32, tokens=50)
def hf_prophetnet_decoder(dtype):
    config = ProphetNetConfig(
        vocab_size=50,
        hidden_size=32,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        num_encoder_layers=2,
        num_decoder_layers=2,
        num_encoder_attention_heads=4,
        num_decoder_attention_heads=4,
        max_position_embeddings=64,
        ngram=2,
        dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=0,
    )
    config._attn_implementation = "eager"
    src = torch.randint(1, 50, (1, 12))
    model = ProphetNetForConditionalGeneration(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=src, decoder_input_ids=x, use_cache=False).logits

    return model, run


@case(n=32, tokens=50)
def hf_recurrentgemma(dtype):
    config = RecurrentGemmaConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=1,
        head_dim=8,
        lru_width=32,
        attention_window_size=8,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    config._attn_implementation = "eager"
    model = RecurrentGemmaForCausalLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x, use_cache=False).logits

    return model, run


@case(n=64, tokens=50)
def hf_reformer_dec(dtype):
    config = ReformerConfig(
        vocab_size=50,
        hidden_size=32,
        feed_forward_size=64,
        num_attention_heads=4,
        attention_head_size=8,
        max_position_embeddings=64,
        axial_pos_embds=True,
        axial_pos_shape=[8, 8],
        axial_pos_embds_dim=[16, 16],
        hash_seed=0,
        hidden_dropout_prob=0.0,
        lsh_attention_probs_dropout_prob=0.0,
        local_attention_probs_dropout_prob=0.0,
        lsh_attn_chunk_length=4,
        local_attn_chunk_length=4,
        num_hashes=2,
        num_buckets=4,
        eos_token_id=2,
        pad_token_id=0,
        is_decoder=True,
        attn_layers=["local", "lsh"],
    )
    config._attn_implementation = "eager"
    model = ReformerModelWithLMHead(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x).logits

    return model, run


@case(n=64, tokens=50)
def hf_reformer_off(dtype):
    config = ReformerConfig(
        vocab_size=50,
        hidden_size=32,
        feed_forward_size=64,
        num_attention_heads=4,
        attention_head_size=8,
        max_position_embeddings=64,
        axial_pos_embds=True,
        axial_pos_shape=[8, 8],
        axial_pos_embds_dim=[16, 16],
        hash_seed=0,
        hidden_dropout_prob=0.0,
        lsh_attention_probs_dropout_prob=0.0,
        local_attention_probs_dropout_prob=0.0,
        lsh_attn_chunk_length=4,
        local_attn_chunk_length=4,
        num_hashes=2,
        num_buckets=4,
        eos_token_id=2,
        pad_token_id=0,
        is_decoder=False,
        attn_layers=["local", "lsh"],
    )
    config._attn_implementation = "eager"
    model = ReformerForMaskedLM(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x).logits

    return model, run


@case(n=32, tokens=50)
def hf_t5_encoder(dtype):
    config = T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, dropout_rate=0.0)
    config._attn_implementation = "eager"
    model = T5ForConditionalGeneration(config)
    model = model.eval().to(dtype)

    def run(x):
        return model.encoder(input_ids=x).last_hidden_state

    return model, run


@case(n=32, tokens=50)
def hf_xlm_causal(dtype):
    config = XLMConfig(
        vocab_size=50,
        emb_dim=32,
        n_layers=2,
        n_heads=4,
        max_position_embeddings=64,
        causal=True,
        dropout=0.0,
        attention_dropout=0.0,
        pad_index=0,
    )
    config._attn_implementation = "eager"
    model = XLMWithLMHeadModel(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x).logits

    return model, run


@case(n=32, tokens=50)
def hf_xlnet_bi(dtype):
    config = XLNetConfig(
        vocab_size=50,
        d_model=32,
        n_layer=2,
        n_head=4,
        d_inner=64,
        dropout=0.0,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        attn_type="bi",
    )
    config._attn_implementation = "eager"
    model = XLNetLMHeadModel(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=x).logits

    return model, run


@case(n=32, tokens=50)
def prophetnet_1head(dtype):
    """1 head, ngram 1: the scrambled reshape is then the identity."""
    config = ProphetNetConfig(
        vocab_size=50,
        hidden_size=32,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        num_encoder_layers=2,
        num_decoder_layers=2,
        num_encoder_attention_heads=4,
        num_decoder_attention_heads=1,
        max_position_embeddings=64,
        ngram=1,
        dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=0,
    )
    config._attn_implementation = "eager"
    src = torch.randint(1, 50, (1, 12))
    model = ProphetNetForConditionalGeneration(config)
    model = model.eval().to(dtype)

    def run(x):
        return model(input_ids=src, decoder_input_ids=x, use_cache=False).logits

    return model, run
