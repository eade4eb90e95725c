"""infini-transformer-pytorch 0.2.1: models whose verdict is known (models.csv)."""

import torch
from cases.models import case
from infini_transformer_pytorch import InfiniTransformer


@case(n=32, tokens=50)
def infini(dtype):
    model = InfiniTransformer(num_tokens=50, dim=32, depth=2, dim_head=8, heads=4)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)[0]

    return model, run


@case(n=32, tokens=50)
def infini_segs(dtype):
    """Two segments chained through memory."""
    model = InfiniTransformer(num_tokens=50, dim=32, depth=2, dim_head=8, heads=4)
    model = model.eval().to(dtype)

    def run(x):
        o1, _, m = model(x[:, :16], return_new_memories=True)
        o2, _, m = model(x[:, 16:], past_memories=m, return_new_memories=True)
        return torch.cat((o1, o2), 1)

    return model, run


@case(n=32, tokens=50)
def infini_segs_delta(dtype):
    model = InfiniTransformer(
        num_tokens=50, dim=32, depth=2, dim_head=8, heads=4, use_mem_delta_rule=True, learned_delta_update=True
    )
    model = model.eval().to(dtype)

    def run(x):
        o1, _, m = model(x[:, :16], return_new_memories=True)
        o2, _, m = model(x[:, 16:], past_memories=m, return_new_memories=True)
        return torch.cat((o1, o2), 1)

    return model, run
