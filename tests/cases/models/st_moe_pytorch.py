"""st-moe-pytorch 0.1.8."""

from cases.models import numbers
from st_moe_pytorch import MoE

SMALL = {"dim": 32, "num_experts": 4, "gating_top_n": 2, "is_distributed": False}


def outputs(model, x):
    return model(x).outputs


st_moe = numbers(lambda: MoE(**SMALL), outputs)
st_moe_cap1 = numbers(lambda: MoE(**SMALL, capacity_factor_eval=1.0, threshold_eval=0.0), outputs)
