"""g-mlp-pytorch 0.1.5."""

from cases.models import numbers, tokens
from g_mlp_pytorch.g_mlp_pytorch import gMLP, gMLPBlock
from torch import nn

SMALL = {"num_tokens": 50, "dim": 32, "depth": 2, "seq_len": 32, "heads": 2}

gmlp_block_causal = numbers(lambda: gMLPBlock(dim=32, dim_ff=64, seq_len=32, heads=2, causal=True))
gmlp_causal = tokens(lambda: gMLP(**SMALL, causal=True))
gmlp_causal_act_tanh = tokens(lambda: gMLP(**SMALL, causal=True, act=nn.Tanh()))
gmlp_causal_attn = tokens(lambda: gMLP(**SMALL, causal=True, attn_dim=8))
gmlp_causal_circulant = tokens(lambda: gMLP(**SMALL, causal=True, circulant_matrix=True))
gmlp_causal_shift = tokens(lambda: gMLP(**SMALL, causal=True, shift_tokens=2))
gmlp_off = tokens(lambda: gMLP(**SMALL, causal=False))
