"""linear-attention-transformer 0.19.1: models whose verdict is known (models.csv)."""

from cases.models import case
from linear_attention_transformer import LinearAttentionTransformerLM


@case(n=32, tokens=50)
def lat_causal(dtype):
    model = LinearAttentionTransformerLM(
        num_tokens=50, dim=32, depth=2, max_seq_len=32, heads=4, dim_head=8, causal=True, use_axial_pos_emb=False
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def lat_causal_axially(dtype):
    model = LinearAttentionTransformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        causal=True,
        attend_axially=True,
        local_attn_window_size=8,
        use_axial_pos_emb=False,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def lat_causal_axialpos(dtype):
    model = LinearAttentionTransformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        causal=True,
        local_attn_window_size=8,
        use_axial_pos_emb=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def lat_causal_blindspot4(dtype):
    model = LinearAttentionTransformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        causal=True,
        blindspot_size=4,
        use_axial_pos_emb=False,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def lat_causal_local(dtype):
    model = LinearAttentionTransformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        causal=True,
        n_local_attn_heads=2,
        local_attn_window_size=8,
        use_axial_pos_emb=False,
        use_rotary_emb=False,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def lat_causal_local_blind4_shift(dtype):
    model = LinearAttentionTransformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        causal=True,
        n_local_attn_heads=2,
        local_attn_window_size=8,
        blindspot_size=4,
        use_axial_pos_emb=False,
        shift_tokens=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def lat_causal_pkm(dtype):
    """Product-key memory: topk routing per token."""
    model = LinearAttentionTransformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        causal=True,
        pkm_layers=(1,),
        pkm_num_keys=16,
        use_axial_pos_emb=False,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def lat_causal_rev(dtype):
    model = LinearAttentionTransformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        causal=True,
        reversible=True,
        ff_chunks=2,
        ff_glu=True,
        use_axial_pos_emb=False,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def lat_causal_rotary(dtype):
    model = LinearAttentionTransformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        causal=True,
        use_axial_pos_emb=False,
        use_rotary_emb=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def lat_off(dtype):
    model = LinearAttentionTransformerLM(
        num_tokens=50, dim=32, depth=2, max_seq_len=32, heads=4, dim_head=8, causal=False, use_axial_pos_emb=False
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
