"""recurrent-memory-transformer-pytorch 0.7.0: models whose verdict is known (models.csv)."""

from cases.models import case
from recurrent_memory_transformer_pytorch import RecurrentMemoryTransformer, RecurrentMemoryTransformerWrapper


@case(n=32, tokens=50)
def rmt_causal(dtype):
    """Memory_not_causal=True (default)."""
    model = RecurrentMemoryTransformer(
        dim=32, num_tokens=50, depth=2, num_memory_tokens=4, dim_head=8, heads=4, seq_len=32, causal=True
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)[0]

    return model, run


@case(n=32, tokens=50)
def rmt_causal_flash(dtype):
    model = RecurrentMemoryTransformer(
        dim=32,
        num_tokens=50,
        depth=2,
        num_memory_tokens=4,
        dim_head=8,
        heads=4,
        seq_len=32,
        causal=True,
        use_flash_attn=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)[0]

    return model, run


@case(n=32, tokens=50)
def rmt_causal_memcausal_flash(dtype):
    model = RecurrentMemoryTransformer(
        dim=32,
        num_tokens=50,
        depth=2,
        num_memory_tokens=4,
        dim_head=8,
        heads=4,
        seq_len=32,
        causal=True,
        memory_not_causal=False,
        use_flash_attn=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)[0]

    return model, run


@case(n=32, tokens=50)
def rmt_off(dtype):
    model = RecurrentMemoryTransformer(
        dim=32, num_tokens=50, depth=2, num_memory_tokens=4, dim_head=8, heads=4, seq_len=32, causal=False
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)[0]

    return model, run


@case(n=32, tokens=50)
def rmt_wrapper_causal(dtype):
    """4 segments of 8 with XL + recurrent memory."""
    model = RecurrentMemoryTransformerWrapper(
        RecurrentMemoryTransformer(
            dim=32,
            num_tokens=50,
            depth=2,
            num_memory_tokens=4,
            dim_head=8,
            heads=4,
            seq_len=8,
            causal=True,
            rotary_pos_emb=True,
            abs_pos_emb=False,
            enhanced_xl_recurrence=True,
        )
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)[0]

    return model, run


@case(n=32, tokens=50)
def rmt_wrapper_causal_memcausal_flash(dtype):
    """Flash: is_causal with L != S."""
    model = RecurrentMemoryTransformerWrapper(
        RecurrentMemoryTransformer(
            dim=32,
            num_tokens=50,
            depth=2,
            num_memory_tokens=4,
            dim_head=8,
            heads=4,
            seq_len=8,
            causal=True,
            memory_not_causal=False,
            use_xl_memories=True,
            use_flash_attn=True,
        )
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)[0]

    return model, run
