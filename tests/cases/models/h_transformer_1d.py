"""h-transformer-1d 0.1.9."""

from cases.models import tokens
from h_transformer_1d import HTransformer1D

SMALL = {"num_tokens": 50, "dim": 32, "depth": 2, "heads": 4, "dim_head": 8}
LONG = SMALL | {"max_seq_len": 64}

htransformer_causal_n32b2 = tokens(lambda: HTransformer1D(**SMALL, max_seq_len=32, block_size=2, causal=True))
htransformer_causal_n50 = tokens(lambda: HTransformer1D(**LONG, block_size=4, causal=True), n=50)
htransformer_causal_n64b4 = tokens(lambda: HTransformer1D(**LONG, block_size=4, causal=True), n=64)
htransformer_causal_n64b8 = tokens(lambda: HTransformer1D(**LONG, block_size=8, causal=True), n=64)
htransformer_causal_rev = tokens(lambda: HTransformer1D(**LONG, block_size=4, causal=True, reversible=True), n=64)
htransformer_causal_shift = tokens(lambda: HTransformer1D(**LONG, block_size=4, causal=True, shift_tokens=True), n=64)
htransformer_off = tokens(lambda: HTransformer1D(**LONG, block_size=4, causal=False), n=64)
