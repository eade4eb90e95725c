"""token-shift-gpt 0.0.2."""

import torch
from cases.models import tokens
from token_shift_gpt import TokenShiftGPT

SMALL = {"num_tokens": 50, "dim": 64, "max_seq_len": 32, "depth": 2}

token_shift_gpt = tokens(lambda: TokenShiftGPT(**SMALL))
token_shift_gpt_f32 = tokens(lambda: TokenShiftGPT(**SMALL), dtype=torch.float32)
