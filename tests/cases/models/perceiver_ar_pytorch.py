"""perceiver-ar-pytorch 0.0.10."""

from cases.models import tokens
from perceiver_ar_pytorch import PerceiverAR

perceiver_ar = tokens(
    lambda: PerceiverAR(num_tokens=50, dim=32, depth=2, max_seq_len=32, cross_attn_seq_len=16, dim_head=32, heads=4),
    first_query=16,
)
