"""linear-attention-transformer 0.19.1."""

from cases.models import tokens
from linear_attention_transformer import LinearAttentionTransformerLM as LM

SMALL = {"num_tokens": 50, "dim": 32, "depth": 2, "max_seq_len": 32, "heads": 4, "dim_head": 8}
CAUSAL = SMALL | {"causal": True, "use_axial_pos_emb": False}
LOCAL = CAUSAL | {"n_local_attn_heads": 2, "local_attn_window_size": 8}

lat_causal = tokens(lambda: LM(**CAUSAL))
lat_causal_axially = tokens(lambda: LM(**CAUSAL, attend_axially=True, local_attn_window_size=8))
lat_causal_axialpos = tokens(lambda: LM(**SMALL, causal=True, local_attn_window_size=8, use_axial_pos_emb=True))
lat_causal_blindspot4 = tokens(lambda: LM(**CAUSAL, blindspot_size=4))
lat_causal_local = tokens(lambda: LM(**LOCAL, use_rotary_emb=False))
lat_causal_local_blind4_shift = tokens(lambda: LM(**LOCAL, blindspot_size=4, shift_tokens=True))
lat_causal_pkm = tokens(lambda: LM(**CAUSAL, pkm_layers=(1,), pkm_num_keys=16))
lat_causal_rev = tokens(lambda: LM(**CAUSAL, reversible=True, ff_chunks=2, ff_glu=True))
lat_causal_rotary = tokens(lambda: LM(**CAUSAL, use_rotary_emb=True))
lat_off = tokens(lambda: LM(**SMALL, causal=False, use_axial_pos_emb=False))
