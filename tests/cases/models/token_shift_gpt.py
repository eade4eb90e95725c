"""token-shift-gpt 0.0.2: models whose verdict is known (models.csv)."""

import torch
from cases.models import case
from token_shift_gpt import TokenShiftGPT


@case(n=32, tokens=50)
def token_shift_gpt(dtype):
    model = TokenShiftGPT(num_tokens=50, dim=64, max_seq_len=32, depth=2)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50, dtype=torch.float32)
def token_shift_gpt_f32(dtype):
    model = TokenShiftGPT(num_tokens=50, dim=64, max_seq_len=32, depth=2)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
