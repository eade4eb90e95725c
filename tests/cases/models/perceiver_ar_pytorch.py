"""perceiver-ar-pytorch 0.0.10: models whose verdict is known (models.csv)."""

from cases.models import case
from perceiver_ar_pytorch import PerceiverAR


@case(n=32, tokens=50, first_query=16)
def perceiver_ar(dtype):
    """Outputs only for positions 16..31."""
    model = PerceiverAR(num_tokens=50, dim=32, depth=2, max_seq_len=32, cross_attn_seq_len=16, dim_head=32, heads=4)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
