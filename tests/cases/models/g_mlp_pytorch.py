"""g-mlp-pytorch 0.1.5: models whose verdict is known (models.csv)."""

from cases.models import case
from g_mlp_pytorch.g_mlp_pytorch import gMLP, gMLPBlock
from torch import nn


@case(n=32, width=32)
def gmlp_block_causal(dtype):
    model = gMLPBlock(dim=32, dim_ff=64, seq_len=32, heads=2, causal=True)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def gmlp_causal(dtype):
    model = gMLP(num_tokens=50, dim=32, depth=2, seq_len=32, heads=2, causal=True)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def gmlp_causal_act_tanh(dtype):
    model = gMLP(num_tokens=50, dim=32, depth=2, seq_len=32, heads=2, causal=True, act=nn.Tanh())
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def gmlp_causal_attn(dtype):
    model = gMLP(num_tokens=50, dim=32, depth=2, seq_len=32, heads=2, causal=True, attn_dim=8)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def gmlp_causal_circulant(dtype):
    model = gMLP(num_tokens=50, dim=32, depth=2, seq_len=32, heads=2, causal=True, circulant_matrix=True)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def gmlp_causal_shift(dtype):
    model = gMLP(num_tokens=50, dim=32, depth=2, seq_len=32, heads=2, causal=True, shift_tokens=2)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def gmlp_off(dtype):
    """Spatial weights start at 1e-3/n: leak is small at init."""
    model = gMLP(num_tokens=50, dim=32, depth=2, seq_len=32, heads=2, causal=False)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
