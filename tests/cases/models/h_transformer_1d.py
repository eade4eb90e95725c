"""h-transformer-1d 0.1.9: models whose verdict is known (models.csv)."""

from cases.models import case
from h_transformer_1d import HTransformer1D


@case(n=32, tokens=50)
def htransformer_causal_n32b2(dtype):
    model = HTransformer1D(
        num_tokens=50, dim=32, depth=2, heads=4, dim_head=8, max_seq_len=32, block_size=2, causal=True
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=50, tokens=50)
def htransformer_causal_n50(dtype):
    """N=50 padded to 64."""
    model = HTransformer1D(
        num_tokens=50, dim=32, depth=2, heads=4, dim_head=8, max_seq_len=64, block_size=4, causal=True
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=64, tokens=50)
def htransformer_causal_n64b4(dtype):
    model = HTransformer1D(
        num_tokens=50, dim=32, depth=2, heads=4, dim_head=8, max_seq_len=64, block_size=4, causal=True
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=64, tokens=50)
def htransformer_causal_n64b8(dtype):
    model = HTransformer1D(
        num_tokens=50, dim=32, depth=2, heads=4, dim_head=8, max_seq_len=64, block_size=8, causal=True
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=64, tokens=50)
def htransformer_causal_rev(dtype):
    model = HTransformer1D(
        num_tokens=50, dim=32, depth=2, heads=4, dim_head=8, max_seq_len=64, block_size=4, causal=True, reversible=True
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=64, tokens=50)
def htransformer_causal_shift(dtype):
    model = HTransformer1D(
        num_tokens=50,
        dim=32,
        depth=2,
        heads=4,
        dim_head=8,
        max_seq_len=64,
        block_size=4,
        causal=True,
        shift_tokens=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=64, tokens=50)
def htransformer_off(dtype):
    model = HTransformer1D(
        num_tokens=50, dim=32, depth=2, heads=4, dim_head=8, max_seq_len=64, block_size=4, causal=False
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
