"""reformer-pytorch 1.4.4."""

from cases.models import numbers, tokens
from reformer_pytorch import LSHSelfAttention, Reformer, ReformerLM

SMALL = {"dim": 32, "depth": 2, "heads": 4, "ff_chunks": 1}
LM = SMALL | {"num_tokens": 50, "max_seq_len": 32, "dim_head": 8, "n_hashes": 2}
CAUSAL = LM | {"bucket_size": 4, "causal": True}
LAYER = {"dim": 32, "heads": 4, "bucket_size": 4, "causal": True}

reformer_causal = tokens(lambda: ReformerLM(**CAUSAL))
reformer_causal_fullattn = tokens(lambda: ReformerLM(**CAUSAL, use_full_attn=True))
reformer_causal_fullthres = tokens(lambda: ReformerLM(**CAUSAL, full_attn_thres=64))
reformer_causal_local2 = tokens(lambda: ReformerLM(**CAUSAL, n_local_attn_heads=2))
reformer_causal_nodup_rotperhead = numbers(
    lambda: Reformer(
        **SMALL,
        bucket_size=4,
        n_hashes=4,
        causal=True,
        lsh_allow_duplicate_attention=False,
        random_rotations_per_head=True,
    )
)
reformer_causal_onebucket = tokens(lambda: ReformerLM(**LM, bucket_size=16, causal=True))
reformer_lsh_layer_causal = numbers(lambda: LSHSelfAttention(**LAYER, n_hashes=2))
reformer_lsh_noacross = numbers(lambda: LSHSelfAttention(**LAYER, n_hashes=1, attend_across_buckets=False))
reformer_off = tokens(lambda: ReformerLM(**LM, bucket_size=4, causal=False))
