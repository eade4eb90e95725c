"""memory-efficient-attention-pytorch 0.1.6."""

from cases.models import numbers
from memory_efficient_attention_pytorch import Attention, FlashAttention

SMALL = {"dim": 32, "heads": 4, "dim_head": 8}
BUCKETS = {"q_bucket_size": 8, "k_bucket_size": 8}

memeff_causal = numbers(lambda: Attention(**SMALL, causal=True, memory_efficient=True, **BUCKETS))
memeff_flash_causal = numbers(lambda: FlashAttention(**SMALL, causal=True, **BUCKETS))
memeff_off = numbers(lambda: Attention(**SMALL, causal=False))
