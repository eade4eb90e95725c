"""hourglass-transformer-pytorch 0.0.6: models whose verdict is known (models.csv)."""

from cases.models import case
from hourglass_transformer_pytorch import HourglassTransformerLM


@case(n=32, tokens=50)
def hourglass_causal(dtype):
    model = HourglassTransformerLM(
        num_tokens=50, dim=32, max_seq_len=32, heads=4, dim_head=8, depth=(1, 2, 1), shorten_factor=4, causal=True
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def hourglass_causal_linear(dtype):
    model = HourglassTransformerLM(
        num_tokens=50,
        dim=32,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        depth=(1, 2, 1),
        shorten_factor=4,
        updown_sample_type="linear",
        causal=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def hourglass_causal_nested(dtype):
    model = HourglassTransformerLM(
        num_tokens=50,
        dim=32,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        depth=(1, (1, 1, 1), 1),
        shorten_factor=(2, 4),
        causal=True,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def hourglass_causal_noresample(dtype):
    model = HourglassTransformerLM(
        num_tokens=50,
        dim=32,
        max_seq_len=32,
        heads=4,
        dim_head=8,
        depth=(1, 2, 1),
        shorten_factor=4,
        causal=True,
        attn_resampling=False,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def hourglass_off(dtype):
    model = HourglassTransformerLM(
        num_tokens=50, dim=32, max_seq_len=32, heads=4, dim_head=8, depth=(1, 2, 1), shorten_factor=4, causal=False
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
