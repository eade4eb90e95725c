"""st-moe-pytorch 0.1.8: models whose verdict is known (models.csv)."""

from cases.models import case
from st_moe_pytorch import MoE


@case(n=32, width=32)
def st_moe(dtype):
    model = MoE(dim=32, num_experts=4, gating_top_n=2, is_distributed=False)
    model = model.eval().to(dtype)

    def run(x):
        return model(x).outputs

    return model, run


@case(n=32, width=32)
def st_moe_cap1(dtype):
    model = MoE(
        dim=32, num_experts=4, gating_top_n=2, capacity_factor_eval=1.0, threshold_eval=0.0, is_distributed=False
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x).outputs

    return model, run
