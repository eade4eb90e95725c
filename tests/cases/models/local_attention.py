"""local-attention 1.11.2: models whose verdict is known (models.csv)."""

from cases.models import case
from local_attention import LocalAttention, LocalMHA, LocalTransformer


@case(n=32, width=32)
def local_attn_causal_lookfwd(dtype):
    model = LocalAttention(window_size=8, causal=True, look_backward=1, look_forward=0, dim=32)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, x, x)

    return model, run


@case(n=30, width=32)
def local_attn_causal_sharedqk(dtype):
    model = LocalAttention(window_size=8, causal=True, shared_qk=True, dim=32, autopad=True)
    model = model.eval().to(dtype)

    def run(x):
        return model(x, x, x)

    return model, run


@case(n=32, width=32)
def local_mha_causal_exact(dtype):
    model = LocalMHA(
        dim=32,
        window_size=8,
        dim_head=8,
        heads=4,
        causal=True,
        exact_windowsize=True,
        prenorm=True,
        qk_rmsnorm=True,
        gate_values_per_head=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def local_mha_off(dtype):
    model = LocalMHA(dim=32, window_size=8, dim_head=8, heads=4, causal=False)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def local_transformer_causal(dtype):
    model = LocalTransformer(
        num_tokens=50, max_seq_len=32, dim=32, depth=2, local_attn_window_size=8, dim_head=8, heads=4, causal=True
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def local_transformer_causal_dynpos(dtype):
    model = LocalTransformer(
        num_tokens=50,
        max_seq_len=32,
        dim=32,
        depth=2,
        local_attn_window_size=8,
        dim_head=8,
        heads=4,
        causal=True,
        use_dynamic_pos_bias=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def local_transformer_causal_xpos(dtype):
    model = LocalTransformer(
        num_tokens=50,
        max_seq_len=32,
        dim=32,
        depth=2,
        local_attn_window_size=8,
        dim_head=8,
        heads=4,
        causal=True,
        use_xpos=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def local_transformer_off(dtype):
    model = LocalTransformer(
        num_tokens=50, max_seq_len=32, dim=32, depth=2, local_attn_window_size=8, dim_head=8, heads=4, causal=False
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
