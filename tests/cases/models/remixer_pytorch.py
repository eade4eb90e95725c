"""remixer-pytorch 0.0.3: models whose verdict is known (models.csv)."""

from cases.models import case
from remixer_pytorch import RemixerBlock


@case(n=32, width=32)
def remixer_causal(dtype):
    model = RemixerBlock(dim=32, seq_len=32, causal=True)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def remixer_off(dtype):
    model = RemixerBlock(dim=32, seq_len=32, causal=False)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
