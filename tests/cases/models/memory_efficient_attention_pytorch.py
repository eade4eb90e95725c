"""memory-efficient-attention-pytorch 0.1.6: models whose verdict is known (models.csv)."""

from cases.models import case
from memory_efficient_attention_pytorch import Attention, FlashAttention


@case(n=32, width=32)
def memeff_causal(dtype):
    """Checkpointed bucketed attention."""
    model = Attention(dim=32, heads=4, dim_head=8, causal=True, memory_efficient=True, q_bucket_size=8, k_bucket_size=8)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def memeff_flash_causal(dtype):
    """Custom autograd.Function, in-place."""
    model = FlashAttention(dim=32, heads=4, dim_head=8, causal=True, q_bucket_size=8, k_bucket_size=8)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def memeff_off(dtype):
    model = Attention(dim=32, heads=4, dim_head=8, causal=False)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
