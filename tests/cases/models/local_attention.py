"""local-attention 1.11.2."""

from cases.models import numbers, tokens
from local_attention import LocalAttention, LocalMHA, LocalTransformer

MHA = {"dim": 32, "window_size": 8, "dim_head": 8, "heads": 4}
TRANSFORMER = {
    "num_tokens": 50,
    "max_seq_len": 32,
    "dim": 32,
    "depth": 2,
    "local_attn_window_size": 8,
    "dim_head": 8,
    "heads": 4,
}


def of_itself(model, x):
    return model(x, x, x)


local_attn_causal_lookfwd = numbers(
    lambda: LocalAttention(window_size=8, causal=True, look_backward=1, look_forward=0, dim=32), of_itself
)
local_attn_causal_sharedqk = numbers(
    lambda: LocalAttention(window_size=8, causal=True, shared_qk=True, dim=32, autopad=True), of_itself, n=30
)
local_mha_causal_exact = numbers(
    lambda: LocalMHA(
        **MHA, causal=True, exact_windowsize=True, prenorm=True, qk_rmsnorm=True, gate_values_per_head=True
    )
)
local_mha_off = numbers(lambda: LocalMHA(**MHA, causal=False))
local_transformer_causal = tokens(lambda: LocalTransformer(**TRANSFORMER, causal=True))
local_transformer_causal_dynpos = tokens(
    lambda: LocalTransformer(**TRANSFORMER, causal=True, use_dynamic_pos_bias=True)
)
local_transformer_causal_xpos = tokens(lambda: LocalTransformer(**TRANSFORMER, causal=True, use_xpos=True))
local_transformer_off = tokens(lambda: LocalTransformer(**TRANSFORMER, causal=False))
