"""nystrom-attention 0.0.14: models whose verdict is known (models.csv)."""

from cases.models import case
from nystrom_attention import NystromAttention, Nystromformer


@case(n=32, width=32)
def nystrom_attn(dtype):
    """No causal option."""
    model = NystromAttention(dim=32, dim_head=8, heads=4, num_landmarks=8, residual_conv_kernel=5)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def nystromformer(dtype):
    model = Nystromformer(dim=32, depth=2, dim_head=8, heads=4, num_landmarks=8, attn_values_residual_conv_kernel=5)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
