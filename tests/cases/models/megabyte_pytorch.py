"""MEGABYTE-pytorch 0.3.6: models whose verdict is known (models.csv)."""

from cases.models import case
from MEGABYTE_pytorch import MEGABYTE


@case(n=32, tokens=50)
def megabyte(dtype):
    model = MEGABYTE(num_tokens=50, dim=(32, 16), dim_head=8, heads=2, depth=(2, 1), max_seq_len=(8, 4))
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def megabyte_3stage(dtype):
    model = MEGABYTE(num_tokens=50, dim=(32, 16, 16), dim_head=8, heads=2, depth=(1, 1, 1), max_seq_len=(4, 4, 2))
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def megabyte_flash(dtype):
    model = MEGABYTE(
        num_tokens=50, dim=(32, 16), dim_head=8, heads=2, depth=(2, 1), max_seq_len=(8, 4), flash_attn=True
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def megabyte_posemb(dtype):
    model = MEGABYTE(
        num_tokens=50, dim=(32, 16), dim_head=8, heads=2, depth=(2, 1), max_seq_len=(8, 4), pos_emb=True, rel_pos=True
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
