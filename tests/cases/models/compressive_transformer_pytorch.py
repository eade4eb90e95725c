"""compressive-transformer-pytorch 0.4.0: models whose verdict is known (models.csv)."""

import torch
from cases.models import case
from compressive_transformer_pytorch import CompressiveTransformer


@case(n=32, tokens=50)
def compressive(dtype):
    model = CompressiveTransformer(
        num_tokens=50, dim=32, seq_len=32, depth=2, heads=4, mem_len=32, cmem_len=8, cmem_ratio=4
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)[0]

    return model, run


@case(n=32, tokens=50)
def compressive_mem(dtype):
    """Two segments of 16 chained through memory."""
    model = CompressiveTransformer(
        num_tokens=50, dim=32, seq_len=16, depth=2, heads=4, mem_len=16, cmem_len=8, cmem_ratio=4
    )
    model = model.eval().to(dtype)

    def run(x):
        o1, m, _ = model(x[:, :16])
        o2, m, _ = model(x[:, 16:], memories=m)
        return torch.cat((o1, o2), 1)

    return model, run


@case(n=32, tokens=50)
def compressive_nogru(dtype):
    model = CompressiveTransformer(
        num_tokens=50,
        dim=32,
        seq_len=32,
        depth=2,
        heads=4,
        mem_len=32,
        cmem_len=8,
        cmem_ratio=4,
        gru_gated_residual=False,
        ff_glu=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)[0]

    return model, run
