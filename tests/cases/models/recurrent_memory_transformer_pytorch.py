"""recurrent-memory-transformer-pytorch 0.7.0."""

from cases.models import first_output, tokens
from recurrent_memory_transformer_pytorch import RecurrentMemoryTransformer, RecurrentMemoryTransformerWrapper

SMALL = {"dim": 32, "num_tokens": 50, "depth": 2, "num_memory_tokens": 4, "dim_head": 8, "heads": 4}
WHOLE = SMALL | {"seq_len": 32}
SEGMENTS = SMALL | {"seq_len": 8, "causal": True}

rmt_causal = tokens(lambda: RecurrentMemoryTransformer(**WHOLE, causal=True), first_output)
rmt_causal_flash = tokens(lambda: RecurrentMemoryTransformer(**WHOLE, causal=True, use_flash_attn=True), first_output)
rmt_causal_memcausal_flash = tokens(
    lambda: RecurrentMemoryTransformer(**WHOLE, causal=True, memory_not_causal=False, use_flash_attn=True),
    first_output,
)
rmt_off = tokens(lambda: RecurrentMemoryTransformer(**WHOLE, causal=False), first_output)
rmt_wrapper_causal = tokens(
    lambda: RecurrentMemoryTransformerWrapper(
        RecurrentMemoryTransformer(**SEGMENTS, rotary_pos_emb=True, abs_pos_emb=False, enhanced_xl_recurrence=True)
    ),
    first_output,
)
rmt_wrapper_causal_memcausal_flash = tokens(
    lambda: RecurrentMemoryTransformerWrapper(
        RecurrentMemoryTransformer(**SEGMENTS, memory_not_causal=False, use_xl_memories=True, use_flash_attn=True)
    ),
    first_output,
)
