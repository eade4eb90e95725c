"""reformer-pytorch 1.4.4: models whose verdict is known (models.csv)."""

from cases.models import case
from reformer_pytorch import LSHSelfAttention, Reformer, ReformerLM


@case(n=32, tokens=50)
def reformer_causal(dtype):
    """LSH; rotations drawn per forward, seed fixed."""
    model = ReformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        bucket_size=4,
        n_hashes=2,
        ff_chunks=1,
        causal=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def reformer_causal_fullattn(dtype):
    model = ReformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        bucket_size=4,
        n_hashes=2,
        ff_chunks=1,
        causal=True,
        use_full_attn=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def reformer_causal_fullthres(dtype):
    model = ReformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        bucket_size=4,
        n_hashes=2,
        ff_chunks=1,
        causal=True,
        full_attn_thres=64,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def reformer_causal_local2(dtype):
    model = ReformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        bucket_size=4,
        n_hashes=2,
        ff_chunks=1,
        causal=True,
        n_local_attn_heads=2,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def reformer_causal_nodup_rotperhead(dtype):
    model = Reformer(
        dim=32,
        depth=2,
        heads=4,
        bucket_size=4,
        n_hashes=4,
        ff_chunks=1,
        causal=True,
        lsh_allow_duplicate_attention=False,
        random_rotations_per_head=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def reformer_causal_onebucket(dtype):
    """N == 2*bucket_size: one LSH round covers all."""
    model = ReformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        bucket_size=16,
        n_hashes=2,
        ff_chunks=1,
        causal=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def reformer_lsh_layer_causal(dtype):
    model = LSHSelfAttention(dim=32, heads=4, bucket_size=4, n_hashes=2, causal=True)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def reformer_lsh_noacross(dtype):
    """Attend_across_buckets=False."""
    model = LSHSelfAttention(dim=32, heads=4, bucket_size=4, n_hashes=1, causal=True, attend_across_buckets=False)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def reformer_off(dtype):
    model = ReformerLM(
        num_tokens=50,
        dim=32,
        depth=2,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        bucket_size=4,
        n_hashes=2,
        ff_chunks=1,
        causal=False,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
