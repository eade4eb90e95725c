"""nystrom-attention 0.0.14."""

from cases.models import numbers
from nystrom_attention import NystromAttention, Nystromformer

SMALL = {"dim": 32, "dim_head": 8, "heads": 4, "num_landmarks": 8}

nystrom_attn = numbers(lambda: NystromAttention(**SMALL, residual_conv_kernel=5))
nystromformer = numbers(lambda: Nystromformer(**SMALL, depth=2, attn_values_residual_conv_kernel=5))
